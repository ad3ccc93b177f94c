"""`--dask`: the same digits on a cluster, also when a worker dies; who is not there is missed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from momab._util import cluster
from momab.book import build as pipeline
from momab.book.project import Project
from tests import tiny
from tests.command import run
from tests.conftest import ROOT

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


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "gopher://127.0.0.1:1"])
@pytest.mark.parametrize("arguments", [SHORT, ("reproduce", "table2"), ("run", "zero-gap")])
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


def test_the_simulations_of_a_page_go_to_the_cluster(local, tmp_path):
    book = tiny.make(tmp_path / "tiny")
    code = "simulate(zero_gap(), ParetoUCB1(), horizon=50, runs=2, seed=seed).runs"
    tiny.write(
        book,
        "other",
        "from momab import ParetoUCB1, simulate\nfrom momab.model.instances import zero_gap",
        f"print({code}['pareto_regret'].sum())",
    )

    def printed() -> list[str]:
        shutil.rmtree(book / "_build", ignore_errors=True)
        site = pipeline.build(Project(book, book / "momab_tiny"), workers=1, quiet=True).site
        return re.findall(r"<pre>.*?</pre>", (site / "other.html").read_text(), re.DOTALL)

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
    assert re.search(r">\d+\.\d", here[-1]), here


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
        while not list((tmp_path / "there/store").glob("*/*.npz")):
            assert running.poll() is None, "it ended before a worker could die"
            time.sleep(0.05)
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        assert running.poll() is None, "it ended before the worker died"
        assert running.wait(timeout=300) == 0
    assert tables(tmp_path / "there") == tables(tmp_path / "here")
