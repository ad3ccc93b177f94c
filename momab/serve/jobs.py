"""The one queue: what visitors asked for, executed on a few processes in the order of asking.

A job is one press on *Run*: one run, or the runs of a sweep.  Threads take one run after the other,
execute it in a warm worker, have it rendered and keep it.  A cancelled job is killed where it is.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momab.book.execute import Job as Execution
from momab.errors import MomabError
from momab.serve.worker import CancelledError, Worker

_LULL = 1.0  # seconds in which a browser fetches what is done
_WAITING_AT_MOST = 20
_REMEMBERED = 100
Finish = Callable[[Execution, Path], Any]
Report = Callable[[int, int], None]
Asked = Callable[[], bool]


@dataclass
class Task:
    """One run of a job: how far it is."""

    execution: Execution
    state: str = "waiting"  # waiting, running, rendering, done
    done: int = 0
    total: int = 0
    started: float = 0.0


@dataclass
class QueuedJob:
    """What one press on *Run* asked for: its runs, and what becomes of them."""

    page: str
    tasks: list[Task]
    conclude: Callable[[], str]  # once all runs are there: the address that shows them
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: str = "waiting"  # waiting, running, done, failed, cancelled
    message: str = ""
    address: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing happens any more."""
        return self.state in ("done", "failed", "cancelled")


def _execute(worker: Worker, execution: Execution, report: Report, asked: Asked) -> None:
    worker.execute(execution, report, asked)


class Queue:
    """Jobs in the order of asking, and the threads that work them off."""

    def __init__(
        self,
        finish: Finish,
        scratch: Path,
        workers: int = 2,
        known: Callable[[Execution], bool] = lambda execution: False,
        tidy: Callable[[Execution], object] = lambda execution: None,
        execute: Callable[[Worker, Execution, Report, Asked], object] = _execute,
    ) -> None:
        """Start the workers.

        ``finish`` renders and keeps an executed run, given a folder for the time being; ``known``
        says of which runs that is done already; ``tidy`` follows when no reader waits for it;
        ``execute`` executes a run that is not, with the help of a worker.
        """
        self._finish, self._known, self._tidy, self._scratch = finish, known, tidy, scratch
        self._execute = execute
        self._jobs: dict[str, QueuedJob] = {}
        self._changed = threading.Condition()
        self._ending = False
        self._rendering = threading.Lock()
        self._names = itertools.count()
        self._threads = [
            threading.Thread(target=self._work, args=(Worker(scratch / f"kernels-{n}"),))
            for n in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def add(
        self, page: str, executions: Sequence[Execution], conclude: Callable[[], str] = lambda: ""
    ) -> QueuedJob:
        """Put a job at the end of the queue."""
        job = QueuedJob(page, [Task(execution) for execution in executions], conclude)
        with self._changed:
            if sum(not other.over for other in self._jobs.values()) >= _WAITING_AT_MOST:
                raise MomabError(f"{_WAITING_AT_MOST} jobs are waiting; cancel some first.")
            self._jobs[job.id] = job
            for old in [o.id for o in self._jobs.values() if o.over][:-_REMEMBERED]:
                del self._jobs[old]
            self._changed.notify_all()
        return job

    def job(self, id: str) -> QueuedJob | None:
        """A job by its name."""
        return self._jobs.get(id)

    def jobs(self) -> list[QueuedJob]:
        """All jobs that are remembered, in the order of asking."""
        return list(self._jobs.values())

    def ahead(self, job: QueuedJob) -> int:
        """How many jobs must begin before a waiting one does."""
        with self._changed:
            others = list(itertools.takewhile(lambda o: o is not job, self._jobs.values()))
        return sum(not other.over for other in others)

    def cancel(self, id: str) -> bool:
        """Cancel a job; whether there was something to cancel."""
        with self._changed:
            job = self._jobs.get(id)
            if job is None or job.over:
                return False
            job.state = "cancelled"
            self._changed.notify_all()
        return True

    def close(self) -> None:
        """Cancel everything, end the workers and their threads."""
        with self._changed:
            self._ending = True
            for job in self._jobs.values():
                if not job.over:
                    job.state = "cancelled"
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _next(self) -> tuple[QueuedJob, Task] | None:
        """Wait for a task that no worker has taken; None at the end."""
        with self._changed:
            while not self._ending:
                open_tasks = [
                    (job, task) for job in self._jobs.values() if not job.over for task in job.tasks
                ]
                busy = {
                    t.execution.path for _, t in open_tasks if t.state not in ("waiting", "done")
                }
                for job, task in open_tasks:
                    if task.state == "waiting" and task.execution.path not in busy:
                        job.state, task.state = "running", "running"
                        task.started = time.monotonic()
                        return job, task
                self._changed.wait()
        return None

    def _work(self, worker: Worker) -> None:
        """In a thread: one task after the other."""
        try:
            while found := self._next():
                job, task = found
                try:
                    self._do(worker, job, task)
                except CancelledError:
                    self._end(job, "cancelled", "")
                except MomabError as error:
                    self._end(job, "failed", _short(error))
                except Exception as error:  # the next job is not to suffer from it
                    traceback.print_exc()
                    self._end(job, "failed", f"that did not work ({type(error).__name__}).")
                finally:
                    task.state = "done"
                    with self._changed:
                        self._changed.notify_all()
        finally:
            worker.kill()

    def _do(self, worker: Worker, job: QueuedJob, task: Task) -> None:
        execution = task.execution

        def cancelled() -> bool:
            return job.over

        def report(done: int, total: int) -> None:
            task.done, task.total = done, total

        if not self._known(execution):
            if not execution.done:
                self._execute(worker, execution, report, cancelled)
            task.state = "rendering"
            with self._rendering:
                if cancelled():
                    raise CancelledError
                self._finish(execution, self._scratch / f"page-{next(self._names)}")
        task.state = "done"
        with self._changed:
            complete = not job.over and all(other.state == "done" for other in job.tasks)
        if complete:
            job.address = job.conclude()
            self._end(job, "done", "")
            with self._changed:
                self._changed.wait(_LULL)
        self._tidy(execution)

    def _end(self, job: QueuedJob, state: str, message: str) -> None:
        with self._changed:
            if not job.over:
                job.state, job.message = state, message


def _short(error: MomabError) -> str:
    """What a failure says before its traceback, or its list of complaints, gets long."""
    lines = [line for line in str(error).partition("\n\n")[0].splitlines() if line.strip()]
    return " ".join(lines[:2])
