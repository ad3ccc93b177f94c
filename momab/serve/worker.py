"""A warm process that executes notebooks one after the other, and can be killed with all it began.

Everything that an execution leaves while it runs (half a notebook, the kernel's connection file)
is in folders that the owner knows, so after a kill nothing is left.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from momab.book.execute import Cells, Failed, Job, raise_failure, run_worker

if TYPE_CHECKING:
    import psutil

_PATIENCE = 0.1  # seconds between two looks at whether a reader cancelled


class CancelledError(Exception):
    """A reader cancelled an execution."""


class Worker:
    """One process for executions; a killed one is replaced."""

    def __init__(self, scratch: Path) -> None:
        """Start the process; ``scratch`` is a folder of its own for what kernels leave."""
        self._scratch = scratch
        self._start()

    def _start(self) -> None:
        self._scratch.mkdir(parents=True, exist_ok=True)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_child, args=(theirs, self._scratch), daemon=False)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return self._process.pid

    def execute(
        self, job: Job, report: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> None:
        """Execute a notebook into the cache; a failing cell is a BuildError."""
        if cancelled():
            raise CancelledError
        job.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._pipe.send((job.notebook.node, job.notebook.path, job.values, job.path))
            while True:
                if cancelled():
                    raise CancelledError
                if not self._pipe.poll(_PATIENCE):
                    continue
                message = self._pipe.recv()
                if not isinstance(message, Cells):
                    raise_failure(job, message)
                    return
                report(message.done, message.total)
        except (EOFError, OSError):
            self._replace(job)
            raise_failure(job, Failed("its process ended"))
        except CancelledError:
            self._replace(job)
            raise

    def _replace(self, job: Job) -> None:
        pid = self.pid
        self.kill()
        for half in job.path.parent.glob(f"{job.path.stem}.{pid}.*"):
            half.unlink(missing_ok=True)
        self._start()

    def kill(self) -> None:
        """End the process, its kernel and all that these began; remove what they left."""
        if self._process.pid is not None and self._process.is_alive():
            kill_tree(self._process.pid)
        self._process.join()
        self._pipe.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def kill_tree(pid: int) -> None:
    """Kill a process and its descendants, none of which can begin another meanwhile.

    Processes that only tidy up shared memory after the others are left to do so; they end
    themselves.
    """
    import psutil

    stopped: dict[int, psutil.Process] = {}
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        while fresh := [p for p in _family(root) if p.pid not in stopped]:
            for process in fresh:
                stopped[process.pid] = process
                with suppress(psutil.NoSuchProcess):
                    process.suspend()
    for process in stopped.values():
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _family(root: psutil.Process) -> list[psutil.Process]:
    import psutil

    found = [root]
    for process in root.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if not any("resource_tracker" in word for word in process.cmdline()):
                found.append(process)
    return found


def _child(pipe: Connection, scratch: Path) -> None:
    """In the process: import what an execution needs, then execute what comes."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner is told, and ends us
    os.environ["JUPYTER_RUNTIME_DIR"] = str(scratch)
    import nbformat
    import papermill  # noqa: F401

    nbformat.v4.new_notebook()
    run_worker(pipe)
