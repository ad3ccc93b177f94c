"""`--dask`: the same digits on a cluster, also when a worker dies; who is not there is missed."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from momab import MomabError
from momab._util import cluster
from momab.book import execute
from tests import tiny
from tests.command import run
from tests.conftest import ROOT
from tests.waiting import PATIENCE, until

distributed = pytest.importorskip("distributed", reason="skipped: needs momab[dask]")
SHORT = ("simulate", "zero-gap", "--policy", "pareto-ucb1", "-T", "1e2", "-n", "4")


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    """A cluster of two worker processes on this machine."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as found:
        yield found


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


@pytest.mark.parametrize(
    ("address", "arguments"),
    [
        ("tcp://127.0.0.1:9", SHORT),
        ("nowhere", ("reproduce", "table2")),
        ("gopher://127.0.0.1:1", ("run", "zero-gap")),
    ],
)
def test_a_scheduler_that_does_not_answer_is_one_sentence(
    address, arguments, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    # one that is never answered may lock the next one out when it is collected
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: pytest.fail("a client is left"))
    assert run(monkeypatch, *arguments, "-o", tmp_path, "--dask", address) == 2
    said = capsys.readouterr().err
    assert f"no Dask scheduler answers at {address!r}" in said
    assert said.count("\n") == 1
    assert cluster.VARIABLE not in os.environ
    assert not list(tmp_path.iterdir())


class Client:
    """A client whose scheduler has as many workers as it is told."""

    def __init__(self, workers: int, status: str = "running") -> None:
        self.workers, self.status = workers, status

    def scheduler_info(self) -> dict[str, Any]:
        return {"workers": dict.fromkeys(range(self.workers))}


def test_a_scheduler_that_ends_amid_the_work_is_one_sentence():
    def play() -> Iterator[int]:
        yield 1
        raise distributed.client.FutureCancelledError("play-1", "scheduler-connection-lost")

    seen = []
    with pytest.raises(MomabError, match="the Dask scheduler has ended; start it again"):
        seen += cluster.watched(play, Client(2))
    got = cluster.watched(play, Client(2))
    assert next(got) == 1
    assert list(cluster.watched(lambda: [1, 2], Client(2))) == [1, 2]
    with pytest.raises(ZeroDivisionError):
        list(cluster.watched(lambda: (1 // n for n in (1, 0)), Client(2)))


def test_a_cluster_without_workers_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(cluster, "LOOK", 0.01)
    monkeypatch.setattr(cluster, "ALONE", 0.05)
    ended = Event()

    def play() -> Iterator[int]:
        yield 1
        ended.wait()

    got = cluster.watched(play, Client(0))
    assert next(got) == 1
    with pytest.raises(MomabError, match="has had no workers for"):
        next(got)
    ended.set()


@pytest.mark.slow
def test_the_commands_give_the_same_tables(local, monkeypatch, capsys, tmp_path):
    address = local.scheduler_address
    for name, more in (("here", ()), ("there", ("--dask", address))):
        out = tmp_path / name
        assert run(monkeypatch, *SHORT, "-o", out / "simulate", *more) == 0
        small = ("-T", "100", "-n", "2", "-o", out / "reproduce")
        assert run(monkeypatch, "reproduce", "table2", *small, *more) == 0
    for part in ("simulate", "reproduce"):
        here, there = (tables(tmp_path / name / part) for name in ("here", "there"))
        assert here == there
        assert here


@pytest.mark.slow
def test_the_simulations_of_a_page_go_to_the_cluster(local, tmp_path):
    book = tiny.make(tmp_path / "tiny")
    code = "simulate(zero_gap(), ParetoUCB1(), horizon=50, runs=2, seed=seed).runs"
    tiny.write(
        book,
        "other",
        "from momab import ParetoUCB1, simulate\nfrom momab.model.instances import zero_gap",
        f"print({code}['pareto_regret'].sum())",
    )

    def printed() -> str:
        shutil.rmtree(book / "_build", ignore_errors=True)
        [job] = execute.plan_jobs(tiny.project(book), {"other": {"seed": 1}})
        assert len(execute.execute([job], workers=1, quiet=True)) == 1
        return "".join(c.outputs[0].text for c in execute.load_executed(job).cells[-1:])

    with distributed.Client(local, set_as_default=False) as client:
        before = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
        with cluster.on_cluster(local.scheduler_address):
            there = printed()
        after = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
        assert after > before, "the cluster played"
        here = printed()
        last = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
        assert last == after, "and not where none is named"
    assert here == there
    assert re.fullmatch(r"\d+\.\d+\n", here)


@pytest.mark.slow
def test_a_worker_that_dies_changes_no_digit(local, tmp_path):
    long = ("simulate", "zero-gap", "--policy", "pareto-ucb1", "-T", "1e6", "-n", "64")
    command = [sys.executable, "-m", "momab", *long, "-o"]
    subprocess.run([*command, tmp_path / "here"], check=True, cwd=ROOT, capture_output=True)
    there = [*command, tmp_path / "there", "--dask", local.scheduler_address]
    with (
        distributed.Client(local, set_as_default=False) as client,
        subprocess.Popen(there, cwd=ROOT, stdout=subprocess.DEVNULL) as running,
    ):
        pieces = tmp_path / "there/store"
        until(lambda: running.poll() is not None or list(pieces.glob("*/*.npz")), "a first piece")
        assert running.poll() is None, "it ended before a worker could die"
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        assert running.poll() is None, "it ended before the worker died"
        assert running.wait(PATIENCE) == 0
    assert tables(tmp_path / "there") == tables(tmp_path / "here")
