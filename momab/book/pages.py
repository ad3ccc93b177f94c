"""Pages built by Sphinx in a process of its own, which can warm up while notebooks execute.

>>> with closing(PageBuilder(project.root)) as builder:     # doctest: +SKIP
...     execute(jobs)
...     builder.build(stage, site)

What Sphinx complains about comes back as `Complaint` objects that know the file and line.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from momab._util.processes import deaf, end_with_parent
from momab.errors import BuildError

_PER_CELL = 10_000  # myst-nb counts so many lines per cell


@dataclass(frozen=True)
class Order:
    """What to build: a book's folder, where to, and which of its files if not all."""

    source: Path
    output: Path
    strict: bool = True
    only: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Complaint:
    """A warning or an error of a build, and where it belongs; ``page`` is '' if nowhere."""

    page: str
    line: int
    level: str
    message: str
    code: str = ""
    fatal: bool = False

    def describe(self, book: Path) -> str:
        """The complaint as one line that begins with the source file of its place."""
        place = _source_place(book, self.page, self.line)
        code = f" [{self.code}]" if self.code else ""
        return f"{place}: {self.level}: {self.message}{code}" if place else self.message


def _source_place(book: Path, page: str, line: int) -> str:
    """Where a line of a staged page comes from, as in "notebooks/model.md, cell 3"."""
    stem = page.removesuffix(".ipynb")
    staged = book / f"{stem}.ipynb"
    if not page or not staged.is_file():
        place = page if not page or "/" in page else f"book/{page}"
        return f"{place}:{line}" if page and line else place
    number = line // _PER_CELL
    cells = json.loads(staged.read_text(encoding="utf-8"))["cells"]
    if not 1 <= number <= len(cells):
        return f"notebooks/{stem}.md"
    source = cells[number - 1]["metadata"].get("momab_source")
    if source is None:
        return f"notebooks/{stem}.md, cell {number}"
    if source["cell"] is None:
        return f"notebooks/{source['file']}, line {max(line % _PER_CELL, 1)}"
    return f"notebooks/{source['file']}, cell {source['cell']}"


class PageBuilder:
    """A process that builds books; it starts when it is made and ends when it is closed."""

    def __init__(self, book: Path) -> None:
        """Start the process and let it import what the book in this folder needs."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_child, args=(theirs,), daemon=True)
        with deaf():
            self._process.start()
        theirs.close()
        self._pipe.send(book)
        self._rehearsals = 0
        self.steps: dict[str, float] = {}

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.terminate()
        self._process.join()

    def rehearse(self, book: Path, html: Path) -> None:
        """Build a small book and forget it, while others work: the next build is faster."""
        self._pipe.send(Order(book, html, strict=False))
        self._rehearsals += 1

    def build(
        self, book: Path, html: Path, strict: bool = True, only: Sequence[Path] = ()
    ) -> list[Complaint]:
        """Build a book's folder into another; strictly, every complaint becomes a BuildError.

        ``only`` are the files to write, if not all; the others are read for references.
        """
        try:
            self._pipe.send(Order(book, html, strict, tuple(only)))
            for _ in range(self._rehearsals):
                self._pipe.recv()
            self._rehearsals = 0
            complaints: list[Complaint]
            complaints, self.steps = self._pipe.recv()
        except (EOFError, BrokenPipeError):
            raise BuildError("the pages did not build: the process of Sphinx ended.") from None
        if (strict and complaints) or any(complaint.fatal for complaint in complaints):
            said = "\n".join(complaint.describe(book) for complaint in complaints)
            raise BuildError(f"the pages did not build; the last good site stays.\n{said}")
        return complaints


def _child(pipe: Connection) -> None:
    end_with_parent()
    from momab.book.sphinx.child import take_orders

    take_orders(pipe)
