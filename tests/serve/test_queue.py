"""The queue of `momab serve`, with workers that execute nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from momab.errors import BuildError, MomabError
from momab.serve import jobs
from momab.serve.app import report
from momab.serve.jobs import Queue, QueuedJob
from momab.serve.worker import CancelledError
from tests.waiting import until


class Stage:
    """Executions that wait until a test lets them go on, and what became of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.going: dict[str, threading.Event] = {}
        self.began: list[str] = []
        self.stopped: list[str] = []
        self.kept: list[str] = []
        self.wrong: dict[str, Exception] = {}

    def execution(self, name: str, go: bool = False) -> Any:
        event = self.going.setdefault(name, threading.Event())
        if go:
            event.set()
        return SimpleNamespace(path=self.folder / name, done=False)

    def execute(self, execution: Any, tell: Callable[..., None], cancelled: Any) -> None:
        name = execution.path.name
        self.began.append(name)
        tell(1, 2)
        until(lambda: self.going[name].is_set() or cancelled(), "leave to go on")
        if cancelled():
            self.stopped.append(name)
            raise CancelledError
        if name in self.wrong:
            raise self.wrong[name]

    def finish(self, execution: Any, folder: Path) -> None:
        self.kept.append(execution.path.name)

    def known(self, execution: Any) -> bool:
        return execution.path.name in self.kept


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage(tmp_path)
    worker = SimpleNamespace(execute=stage.execute, kill=lambda: None)
    monkeypatch.setattr(jobs, "Worker", lambda scratch: worker)
    monkeypatch.setattr(jobs, "_LULL", 0.0)
    return stage


@pytest.fixture
def queue(stage: Stage, tmp_path: Path) -> Iterator[Queue]:
    """A queue with a single worker."""
    with closing(Queue(stage.finish, tmp_path, 1, stage.known)) as queue:
        yield queue


def over(job: QueuedJob) -> str:
    until(lambda: job.over, "the end of a job")
    return job.state


def test_jobs_wait_for_each_other(stage: Stage, queue: Queue) -> None:
    first = queue.add("index", [stage.execution("a")], lambda: "/a")
    second = queue.add("index", [stage.execution("b", go=True)], lambda: "/b")
    until(lambda: first.tasks[0].done, "the first cell")
    assert (first.state, second.state, queue.ahead(second)) == ("running", "waiting", 1)
    said = report(queue, second)
    assert (said["state"], said["ahead"], said["tasks"][0]["state"]) == ("waiting", 1, "waiting")
    stage.going["a"].set()
    assert (over(first), over(second)) == ("done", "done")
    assert (first.address, second.address, stage.kept) == ("/a", "/b", ["a", "b"])


def test_a_cancelled_job_leaves_its_place(stage: Stage, queue: Queue) -> None:
    running, waiting, last = (
        queue.add("index", [stage.execution(name, go=name == "c")]) for name in "abc"
    )
    until(lambda: running.tasks[0].done, "the first cell")
    assert [queue.cancel(job.id) for job in (waiting, running)] == [True, True]
    assert over(last) == "done"
    assert (running.state, waiting.state, stage.kept) == ("cancelled", "cancelled", ["c"])
    assert (stage.began, stage.stopped) == (["a", "c"], ["a"])
    assert not queue.cancel(running.id)
    assert not queue.cancel("nobody")


def test_the_same_run_is_executed_once_and_two_workers_work_at_once(
    stage: Stage, tmp_path: Path
) -> None:
    with closing(Queue(stage.finish, tmp_path, 2, stage.known)) as queue:
        twins = [queue.add("index", [stage.execution("a")]) for _ in range(2)]
        sweep = queue.add("index", [stage.execution("b"), stage.execution("c", go=True)])
        until(lambda: {"a", "b"} <= set(stage.began), "two at once")
        stage.going["b"].set()
        assert over(sweep) == "done"
        assert not any(job.over for job in twins)
        stage.going["a"].set()
        assert [over(job) for job in twins] == ["done", "done"]
    assert sorted(stage.began) == ["a", "b", "c"]


def test_a_failure_is_one_sentence_and_the_worker_goes_on(
    stage: Stage, queue: Queue, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.wrong = {"a": BuildError("cell 3 raised.\n\nTraceback"), "b": ValueError("oops")}
    made = [queue.add("index", [stage.execution(name, go=True)]) for name in "abc"]
    assert [over(job) for job in made] == ["failed", "failed", "done"]
    assert made[0].message == "cell 3 raised."
    assert made[1].message == "that did not work (ValueError)."
    assert "oops" in capsys.readouterr().err


def test_the_queue_is_bounded_and_ends(stage: Stage, queue: Queue) -> None:
    made = [queue.add("index", [stage.execution("a")]) for _ in range(20)]
    with pytest.raises(MomabError, match=r"^20 jobs are waiting; cancel some first\.$"):
        queue.add("index", [stage.execution("a")])
    queue.close()
    assert {job.state for job in made} == {"cancelled"}
    assert not any(thread.is_alive() for thread in queue._threads)
    assert stage.kept == []
