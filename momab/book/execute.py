"""Notebooks executed in parallel, and the results kept under ``_build/cache``.

An executed notebook is kept by the key of its source and values (`momab.book.notebook`), so only
what has changed runs again.  Each worker is a process of ours that takes one notebook after the
other; a notebook that fails, or Ctrl-C, ends the workers.
"""

from __future__ import annotations

import importlib.metadata
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING

from momab._util.files import require_folder, write_text
from momab._util.processes import end_with_parent, ignore_interrupts
from momab._util.progress import tasks
from momab.book.fingerprint import Library
from momab.book.notebook import Node, Notebook
from momab.book.parameters import Values
from momab.book.project import Project
from momab.book.timings import spent
from momab.errors import BuildError, MomabError

if TYPE_CHECKING:
    from traitlets.config import Config

_KEEP = 8
_YOUNG = 3600.0
_MANY = 8
_COMPILE = """
import time, momab
from momab.engine.policies import as_published, registered
instance = momab.synthetic(delta=0.1, m=1)
policies = [as_published(record, instance) for record in registered()]
momab.simulate(instance, policies, horizon=20, runs=1, seed=0, workers=1, progress=False)
print(time.process_time())
"""
_BOOK = "book.json"
_VERSIONS = ("momab", "numpy", "scipy", "pandas", "numba", "matplotlib")


@dataclass(frozen=True)
class Job:
    """One notebook to execute with one set of values, and where its result is kept."""

    notebook: Notebook
    values: Values
    key: str
    path: Path

    @property
    def done(self) -> bool:
        """Whether the result is there already, whole and readable."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(kept, dict) and bool(kept.get("cells")) and "metadata" in kept

    @property
    def seconds(self) -> float:
        """How long the execution took."""
        kept = json.loads(self.path.read_text(encoding="utf-8"))
        return float(kept["metadata"]["momab"]["seconds"])


def plan_jobs(project: Project, values: Mapping[str, Values]) -> list[Job]:
    """The jobs for a set of notebooks, each with its cache file."""
    library = Library(project.library)
    return [make_job(project, project.notebook(name), v, library) for name, v in values.items()]


def make_job(project: Project, notebook: Notebook, values: Values, library: Library) -> Job:
    """The job of one notebook with these values."""
    key = notebook.key(values, library, project.lock)
    return Job(notebook, values, key, project.build / "cache" / f"{notebook.name}-{key}.ipynb")


def load_executed(job: Job) -> Node:
    """The executed notebook of a finished job, with today's prose."""
    import nbformat

    os.utime(job.path)  # recently used
    return job.notebook.with_outputs(nbformat.read(job.path, as_version=4), job.values)


def execute(jobs: Iterable[Job], workers: int | None = None, quiet: bool = False) -> list[Job]:
    """Execute what is not in the cache, in parallel; return the jobs that ran.

    Raises BuildError, naming the notebook and the cell, when one fails; what finished before
    stays in the cache.
    """
    jobs = list(jobs)
    todo = []
    for job in jobs:
        if job.done:
            os.utime(job.path)  # so that no other command forgets it meanwhile
        else:
            todo.append(job)
    if not todo:
        return []
    todo.sort(key=lambda job: bool({"horizon", "runs"} & job.values.keys()))  # compiled by then
    require_folder(todo[0].path.parent)
    todo[0].path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            _compiling(len(todo)),
            _progress(todo, quiet) as report,
            _workers(min(len(todo), workers or os.cpu_count() or 1)) as pipes,
        ):
            _work_off(todo, pipes, report)
    except KeyboardInterrupt:
        kept = sum(job.done for job in jobs)
        raise KeyboardInterrupt(
            f"stopped; {kept} of {len(jobs)} executed notebooks are kept, and the same command "
            "goes on from there."
        ) from None
    forget_old(todo, {job.path for job in jobs})
    return todo


@contextmanager
def _compiling(notebooks: int) -> Iterator[None]:
    """Beside many notebooks, one process compiles all policies, so that no two kernels do."""
    if notebooks < _MANY or find_spec("numba") is None:
        yield
        return
    with ignore_interrupts():
        process = subprocess.Popen([sys.executable, "-c", _COMPILE], stdout=subprocess.PIPE)
    try:
        yield
    finally:
        if process.poll() is None:
            process.terminate()
        seconds, _ = process.communicate()
        spent["compile, beside the notebooks"] = float(seconds or 0)


def keep_for_book(jobs: Iterable[Job]) -> None:
    """Note that these executions are the book's pages, which no run may push out."""
    jobs = list(jobs)
    if jobs:
        names = sorted(job.path.name for job in jobs)
        write_text(jobs[0].path.parent / _BOOK, json.dumps(names, indent=0) + "\n")


def _of_the_book(cache: Path) -> set[Path]:
    """The executions that the last build of the book was made of."""
    try:
        names = json.loads((cache / _BOOK).read_text(encoding="utf-8"))
        return {cache / str(name) for name in names}
    except (OSError, ValueError, TypeError):
        return set()


@dataclass(frozen=True)
class Cells:
    """A worker's message: so many code cells of its notebook are done."""

    done: int
    total: int


@dataclass(frozen=True)
class Finished:
    """A worker's message: its notebook is executed, and kept."""


@dataclass(frozen=True)
class CellFailed:
    """A worker's message: a cell of its notebook raised."""

    source: str
    name: str
    value: str
    traceback: str


@dataclass(frozen=True)
class Failed:
    """A worker's message: its notebook could not be executed at all."""

    reason: str


@contextmanager
def _workers(size: int) -> Iterator[list[Connection]]:
    """Worker processes, each at the other end of a pipe; they end with the block."""
    context = multiprocessing.get_context("spawn")
    processes, pipes = [], []
    try:
        for _ in range(size):
            mine, theirs = context.Pipe()
            process = context.Process(target=run_worker, args=(theirs,), daemon=False)
            with ignore_interrupts():
                process.start()
            theirs.close()
            processes.append(process)
            pipes.append(mine)
        yield pipes
    except BaseException:
        for process in processes:
            process.terminate()
        raise
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.join()


def _work_off(
    todo: Sequence[Job], pipes: Sequence[Connection], report: Callable[[Job, int, int], None]
) -> None:
    """Give every worker one job after the other, and listen to what they say."""
    waiting = list(reversed(todo))
    busy: dict[Connection, Job] = {}

    def hand_out(pipe: Connection) -> None:
        if waiting:
            job = busy[pipe] = waiting.pop()
            pipe.send((job.notebook.node, job.notebook.path, job.values, job.path))

    for pipe in pipes:
        hand_out(pipe)
    while busy:
        ready = wait(list(busy))
        for pipe, job in [item for item in busy.items() if item[0] in ready]:
            try:
                message = pipe.recv()
            except EOFError:
                message = Failed("its process ended")
            if isinstance(message, Cells):
                report(job, message.done, message.total)
                continue
            raise_failure(job, message)
            report(job, -1, 0)
            del busy[pipe]
            hand_out(pipe)


def raise_failure(job: Job, message: object) -> None:
    """Explain a failed execution in terms of the source file.

    A cell that raises MomabError says in one sentence what is wrong with the values it was given.
    """
    if isinstance(message, CellFailed) and message.name == MomabError.__name__:
        raise MomabError(f"notebooks/{job.notebook.path.name}: {message.value}")
    if isinstance(message, CellFailed):
        raise BuildError(
            f"{job.notebook.describe(message.source)} raised {message.name}: {message.value}\n\n"
            f"{message.traceback}"
        )
    if isinstance(message, Failed):
        raise BuildError(
            f"notebooks/{job.notebook.path.name} could not be executed: {message.reason}"
        )


def forget_old(jobs: Iterable[Job], needed: set[Path]) -> None:
    """Keep the most recently used executions of each notebook, and those that are needed.

    What was used within the last hour may be needed by a command that still runs.
    """
    young = time.time() - _YOUNG
    jobs = list(jobs)
    needed = needed | _of_the_book(jobs[0].path.parent) if jobs else needed
    for stem, folder in {(job.notebook.name, job.path.parent) for job in jobs}:
        length = len(stem) + 1 + 24 + len(".ipynb")
        found = {}
        for path in folder.glob(f"{stem}-*.ipynb"):
            with suppress(OSError):
                if len(path.name) == length:
                    found[path] = path.stat().st_mtime
        for path in sorted(found, key=found.__getitem__, reverse=True)[_KEEP:]:
            if path not in needed and found[path] < young:
                path.unlink(missing_ok=True)


# ---- in the worker processes ---------------------------------------------------------------


def run_worker(pipe: Connection) -> None:
    """Execute what comes through the pipe until it is closed."""
    os.environ.setdefault("PYTHONHASHSEED", "0")
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    end_with_parent()
    from papermill.exceptions import PapermillExecutionError

    while True:
        try:
            node, source, values, path = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        message: Finished | CellFailed | Failed = Finished()
        try:
            _run_cells(node, source, values, path, pipe)
        except PapermillExecutionError as error:
            traceback = "\n".join(error.traceback)
            message = CellFailed(error.source, error.ename, error.evalue, traceback)
        except KeyboardInterrupt:
            return
        except Exception as error:
            message = Failed(str(error) or type(error).__name__)
        pipe.send(message)


def _run_cells(node: Node, source: Path, values: Values, path: Path, pipe: Connection) -> None:
    """Execute one notebook and put the result at ``path``, whole or not at all."""
    import nbformat
    import papermill

    total = sum(cell.cell_type == "code" for cell in node.cells) + 1
    done = 0

    def count(cell: Node, cell_index: int, **_: object) -> None:
        nonlocal done
        done += cell.cell_type == "code"
        pipe.send(Cells(done, total))

    pipe.send(Cells(0, total))
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="momab-") as private:
        executed = papermill.execute_notebook(
            node,
            None,
            values,
            kernel_name="python3",
            progress_bar=False,
            extra_arguments=["--log-level=50"],  # the kernel comments on its own end
            cwd=str(source.parent),
            on_cell_executed=count,
            config=_connection(private),
        )
    executed.metadata["momab"] = {
        "parameters": values,
        "seconds": round(time.perf_counter() - started, 2),
        "versions": versions(),
    }
    del executed.metadata["papermill"]
    for cell in executed.cells:
        cell.metadata.pop("papermill", None)
    partial = path.with_suffix(f".{os.getpid()}.part")
    nbformat.write(executed, partial)
    os.replace(partial, path)


def _connection(private: str) -> Config:
    """How client and kernel talk: by sockets in a folder of their own where there are such sockets.

    With numbered ports, two clients that start at once may choose the same one and read each other.
    """
    from traitlets.config import Config

    if os.name != "posix" or len(private) > 80:  # the path of a socket has about 100 characters
        return Config()
    file = os.path.join(private, "kernel.json")
    return Config(KernelManager={"transport": "ipc", "connection_file": file})


def versions() -> dict[str, str]:
    """The versions that a page's numbers depend on."""
    found = {"python": platform.python_version()}
    for package in _VERSIONS:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


# ---- the progress display ------------------------------------------------------------------


@contextmanager
def _progress(jobs: Sequence[Job], quiet: bool) -> Iterator[Callable[[Job, int, int], None]]:
    """Show live progress; the yielded function takes (job, cells done or -1, cells).

    Without a terminal, every executed notebook is one line on standard output.
    """
    labels = [job.notebook.name for job in jobs]
    if len(set(labels)) < len(labels):  # a sweep
        labels = [f"{name} ({number})" for number, name in enumerate(labels, start=1)]
    started: dict[Path, float] = {}
    with tasks(labels, quiet=True if quiet else None) as bars:
        lines = {job.path: bars[label] for job, label in zip(jobs, labels, strict=True)}

        def report(job: Job, done: int, total: int) -> None:
            started.setdefault(job.path, time.perf_counter())
            if done >= 0:
                lines[job.path].update(done, total)
                return
            lines[job.path].finish()
            if not quiet and not sys.stderr.isatty():
                seconds = time.perf_counter() - started[job.path]
                print(f"executed {job.notebook.name} in {seconds:.1f} s", flush=True)

        yield report
