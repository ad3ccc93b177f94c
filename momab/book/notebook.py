"""Notebooks: reading, checking, executing in parallel, and remembering the results.

The only source of a computed page is a MyST notebook ``notebooks/<name>.md``.  To add one:

1. write ``notebooks/<name>.md`` with the kernelspec header of its neighbours, one cell tagged
   ``parameters`` (see `momab.book.parameters`), narrative, calls of `momab`, and pictures shown
   with `momab.figures.show`, which takes the alt text;
2. add ``- file: notebooks/<name>`` to ``_toc.yml`` where it belongs;
3. ``momab run <name>`` shows the page alone, ``momab book`` builds the site.

An executed notebook is kept under ``_build/cache`` by a key made of its code cells, the values
of its parameters, the library definitions that it needs (see
`momab.book.fingerprint`), the files it declares in its header under
``momab: {inputs: [...]}``, the pinned requirements and the Python version.  Editing prose
re-executes nothing.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from momab.book.fingerprint import Library
from momab.book.parameters import Parameter, Values, parse_cell, rewrite_cell
from momab.errors import MomabError

Node = Any  # nbformat.NotebookNode, which has no types

_SCHEMA = 1
_KEEP = 8
_VERSIONS = ("momab", "numpy", "scipy", "pandas", "numba", "matplotlib")


class BuildError(MomabError):
    """The input was fine but a notebook or a page failed; the command exits with code 1."""

    exit_code = 1


@dataclass(frozen=True)
class Project:
    """Where things are: the checkout that holds the book."""

    root: Path
    library: Path = field(default_factory=lambda: Path(__file__).parents[1])

    @property
    def build(self) -> Path:
        """Everything that is made, and may be deleted."""
        return self.root / "_build"

    @property
    def profiles(self) -> Path:
        """The profiles that come with the book."""
        return self.root / "book" / "profiles"

    @cached_property
    def lock(self) -> str:
        """A digest of the pinned requirements."""
        path = self.root / "requirements.txt"
        return hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()

    @cached_property
    def names(self) -> list[str]:
        """The notebooks, in the order of their names."""
        return sorted(path.stem for path in (self.root / "notebooks").glob("*.md"))

    @cached_property
    def pages(self) -> list[str]:
        """The pages of the book, in the order of its contents."""
        import yaml

        def walk(entry: Any) -> Iterator[str]:
            if isinstance(entry, list):
                for item in entry:
                    yield from walk(item)
            elif isinstance(entry, dict):
                for key, value in entry.items():
                    if key in ("root", "file"):
                        yield Path(value).name
                    else:
                        yield from walk(value)

        return list(walk(yaml.safe_load((self.root / "_toc.yml").read_text(encoding="utf-8"))))

    @classmethod
    def find(cls, start: Path | None = None) -> Project:
        """The project around a folder, by default around the current one."""
        start = (start or Path.cwd()).resolve()
        for folder in (start, *start.parents):
            if (folder / "_toc.yml").is_file() and (folder / "notebooks").is_dir():
                return cls(folder)
        raise MomabError(
            "this command works inside a checkout of the book, "
            "in or below the folder that holds _toc.yml and notebooks/."
        )

    def notebook(self, name: str) -> Notebook:
        """Read one notebook."""
        short = Path(name).stem
        if short not in self.names:
            raise MomabError(f"no notebook {name!r}; there are {', '.join(self.names)}.")
        return Notebook.read(self.root / "notebooks" / f"{short}.md")


@dataclass(frozen=True)
class Notebook:
    """A notebook as its source states it."""

    name: str
    path: Path
    node: Node
    parameters: dict[str, Parameter]

    @classmethod
    def read(cls, path: Path) -> Notebook:
        """Read and check a MyST notebook; nothing is executed."""
        import jupytext

        where = f"notebooks/{path.name}"
        try:
            node = jupytext.read(path)
        except Exception as error:
            raise MomabError(f"{where} is not a readable MyST notebook ({error}).") from None
        tagged = [c for c in node.cells if "parameters" in c.metadata.get("tags", [])]
        if len(tagged) != 1 or tagged[0].cell_type != "code":
            raise MomabError(f"{where} must have one code cell tagged 'parameters'.")
        return cls(path.stem, path, node, parse_cell(tagged[0].source, where))

    @property
    def code_cells(self) -> list[Node]:
        """The cells that run."""
        return [cell for cell in self.node.cells if cell.cell_type == "code"]

    @property
    def code(self) -> str:
        """All code cells as one Python text."""
        from IPython.core.inputtransformer2 import TransformerManager

        transform = TransformerManager().transform_cell
        return "\n".join(transform(cell.source) for cell in self.code_cells)

    @property
    def _judges(self) -> str:
        """Code that uses what judges the answers of this notebook, which `check` finds by name."""
        names = re.findall(r"\bcheck\(\s*[\"']([\w-]+)-\d+[\"']", self.code)
        modules = sorted({name.replace("-", "_") for name in names})
        return "".join(
            f"\nfrom momab.exercises import {module}\n{module}.EXERCISES" for module in modules
        )

    def key(self, values: Values, library: Library, lock: str) -> str:
        """The digest under which an execution with these values is kept."""
        try:
            needed = library.fingerprint(self.code + self._judges)
        except SyntaxError as error:
            raise BuildError(f"notebooks/{self.path.name}: {error.msg}: {error.text}") from None
        inputs = self.node.metadata.get("momab", {}).get("inputs", [])
        files = sorted(p for pattern in inputs for p in self.path.parent.glob(pattern))
        parts = [
            _SCHEMA,
            [cell.source for cell in self.code_cells],
            values,
            needed,
            [(p.name, hashlib.sha256(p.read_bytes()).hexdigest()) for p in files],
            lock,
            sys.version_info[:2],
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]

    def line_of(self, source: str) -> int:
        """The line of the source file where a cell's code starts."""
        text = self.path.read_text(encoding="utf-8")
        start = text.find(source.strip())
        return text.count("\n", 0, start) + 1 if start >= 0 else 0

    def with_outputs(self, executed: Node, values: Values) -> Node:
        """The source as it is now, with the outputs and parameter values of an execution."""
        import copy

        node = copy.deepcopy(self.node)
        done = [
            cell
            for cell in executed.cells
            if cell.cell_type == "code"
            and "injected-parameters" not in cell.metadata.get("tags", [])
        ]
        mine = [cell for cell in node.cells if cell.cell_type == "code"]
        for cell, ran in zip(mine, done, strict=True):
            cell.outputs = copy.deepcopy(ran.outputs)
            cell.execution_count = ran.execution_count
            if "parameters" in cell.metadata.get("tags", []):
                cell.source = rewrite_cell(cell.source, values)
        for number, cell in enumerate(node.cells):
            cell.id = f"{self.name}-{number}"
        node.metadata["momab"] = dict(executed.metadata["momab"])
        node.metadata.setdefault("language_info", executed.metadata.get("language_info", {}))
        return node


@dataclass(frozen=True)
class Job:
    """One notebook to execute with one set of values, and where its result is kept."""

    notebook: Notebook
    values: Values
    key: str
    path: Path

    @property
    def done(self) -> bool:
        """Whether the result is there already."""
        return self.path.is_file()


def plan(project: Project, values: Mapping[str, Values]) -> list[Job]:
    """The jobs for a set of notebooks, each with its cache file."""
    library = Library(project.library)
    jobs = []
    for name, chosen in values.items():
        notebook = project.notebook(name)
        key = notebook.key(chosen, library, project.lock)
        path = project.build / "cache" / f"{notebook.name}-{key}.ipynb"
        jobs.append(Job(notebook, chosen, key, path))
    return jobs


def load(job: Job) -> Node:
    """The executed notebook of a finished job, with today's prose."""
    import nbformat

    job.path.touch()  # recently used
    return job.notebook.with_outputs(nbformat.read(job.path, as_version=4), job.values)


def execute(jobs: Iterable[Job], workers: int | None = None, quiet: bool = False) -> int:
    """Execute what is not in the cache, in parallel; return how many ran.

    Raises BuildError, naming the notebook and the cell, when one fails; what finished before
    stays in the cache.
    """
    todo = [job for job in jobs if not job.done]
    if not todo:
        return 0
    todo[0].path.parent.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    messages = context.Queue()
    workers = min(len(todo), workers or os.cpu_count() or 1)
    pool = ProcessPoolExecutor(workers, context, _start_worker, (messages,))
    try:
        with _progress(todo, quiet) as report:
            futures: dict[Future[None], Job] = {
                pool.submit(_run, job.notebook.node, job.notebook.path, job.values, job.path): job
                for job in todo
            }
            pending = set(futures)
            while pending:
                finished, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
                while not messages.empty():
                    report(*messages.get())
                for future in finished:
                    _raise_failure(futures[future], future)
                    report(futures[future].path.name, -1, 0)
    except BaseException:
        running = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.terminate()
        raise
    pool.shutdown()
    _forget_old(todo)
    return len(todo)


def _forget_old(jobs: Iterable[Job]) -> None:
    """Keep the most recently used executions of each notebook."""
    for job in jobs:
        stem = job.notebook.name
        length = len(stem) + 1 + 24 + len(".ipynb")
        kept = [p for p in job.path.parent.glob(f"{stem}-*.ipynb") if len(p.name) == length]
        for path in sorted(kept, key=lambda p: p.stat().st_mtime, reverse=True)[_KEEP:]:
            path.unlink(missing_ok=True)


def _raise_failure(job: Job, future: Future[None]) -> None:
    """Explain a failed execution in terms of the source file."""
    from papermill.exceptions import PapermillExecutionError

    error = future.exception()
    if error is None:
        return
    where = f"notebooks/{job.notebook.path.name}"
    if not isinstance(error, PapermillExecutionError):
        raise BuildError(f"{where} could not be executed: {error}") from None
    number = [cell.source for cell in job.notebook.code_cells].index(error.source) + 1
    line = job.notebook.line_of(error.source)
    traceback = "\n".join(error.traceback)
    raise BuildError(
        f"{where}, code cell {number} (line {line}) raised {error.ename}: {error.evalue}\n\n"
        f"{traceback}"
    ) from None


# ---- in the worker processes ---------------------------------------------------------------

_messages: Any = None


def _start_worker(messages: Any) -> None:
    global _messages
    _messages = messages
    os.environ.setdefault("PYTHONHASHSEED", "0")
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")


def _run(node: Node, source: Path, values: Values, path: Path) -> None:
    """Execute one notebook and put the result at ``path``, whole or not at all."""
    import nbformat
    import papermill
    from papermill.engines import NBClientEngine, papermill_engines

    total = sum(cell.cell_type == "code" for cell in node.cells) + 1
    done = 0

    class Reporting(NBClientEngine):  # type: ignore[misc]
        @classmethod
        def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **kwargs: Any) -> Any:
            complete = nb_man.cell_complete

            def cell_complete(cell: Any, *args: Any, **more: Any) -> Any:
                nonlocal done
                done += cell.cell_type == "code"
                _messages.put((path.name, done, total))
                return complete(cell, *args, **more)

            nb_man.cell_complete = cell_complete
            return super().execute_managed_notebook(nb_man, kernel_name, **kwargs)

    papermill_engines.register("momab", Reporting)
    _messages.put((path.name, 0, total))
    started = time.perf_counter()
    executed = papermill.execute_notebook(
        node,
        None,
        values,
        engine_name="momab",
        kernel_name="python3",
        progress_bar=False,
        extra_arguments=["--log-level=50"],  # the kernel comments on loopback and on its own end
        cwd=str(source.parent),
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
def _progress(jobs: list[Job], quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show live progress; the yielded function takes (file, cells done or -1, cells)."""
    if quiet:
        yield lambda file, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    console = Console()
    labels = {job.path.name: job.notebook.name for job in jobs}
    started: dict[str, float] = {}
    columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn(), Elapsed())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        tasks = {
            file: progress.add_task(label, start=False, total=None)
            for file, label in labels.items()
        }

        def report(file: str, done: int, total: int) -> None:
            if done == 0:
                started[file] = time.perf_counter()
                progress.start_task(tasks[file])
            if done >= 0:
                progress.update(tasks[file], completed=done, total=total)
                return
            task = progress.tasks[tasks[file]]
            progress.update(tasks[file], completed=task.total or 1, total=task.total or 1)
            progress.stop_task(tasks[file])
            if not console.is_terminal:
                seconds = time.perf_counter() - started.get(file, time.perf_counter())
                print(f"executed {labels[file]} in {seconds:.1f} s", flush=True)

        yield report
