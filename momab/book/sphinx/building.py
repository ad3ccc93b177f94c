"""One build: Sphinx is called in this process, and what it complains about is a `BuildError`.

Complaints are the records of Sphinx's own log, with their places, so nothing is read off printed
text.  Sphinx keeps its directives in global variables, so builds come one after the other.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import traceback
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from jupyter_book.config import get_final_config
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace, patch_docutils
from sphinx.util.logging import get_node_location, is_suppressed_warning

from momab.book.timings import step
from momab.errors import BuildError, MomabError

_LINES_PER_CELL = 10_000  # as myst-nb counts
_one_at_a_time = threading.Lock()
_complaints: list[Complaint] = []


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


def build_pages(
    book: Path, html: Path, strict: bool = True, only: Sequence[Path] = ()
) -> list[Complaint]:
    """Build a book's folder into another; strictly, every complaint becomes a BuildError.

    ``only`` are the files to write, if not all; the others are read for references.
    """
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        complaints = _run_sphinx(book, html, strict, only)
    if (strict and complaints) or any(complaint.fatal for complaint in complaints):
        said = "\n".join(complaint.describe(book) for complaint in complaints)
        raise BuildError(f"the pages did not build; the last good site stays.\n{said}")
    return complaints


def _run_sphinx(book: Path, html: Path, strict: bool, only: Sequence[Path]) -> list[Complaint]:
    """Build, and return the complaints; a failure is one, too."""
    contents = (book / "_toc.yml").as_posix()
    settings: dict[str, Any] = {"external_toc_path": contents, "latex_individualpages": False}
    config, _ = get_final_config(
        user_yaml=book / "_config.yml",
        cli_config=settings | ({"nitpicky": True} if strict else {}),
        sourcedir=book,
    )
    config["extensions"] = [__name__, *config["extensions"]]
    _complaints.clear()
    try:
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                srcdir=book,
                confdir=None,
                outdir=html,
                doctreedir=html.parent / ".doctrees",
                buildername="html",
                confoverrides=config,
                status=None,
                warning=None,
                freshenv=True,
            )
            with step("write"), ExitStack() as reading:  # reading is taken out
                app.connect("env-before-read-docs", lambda *_: reading.enter_context(step("read")))
                app.connect("env-updated", lambda *_: reading.close(), priority=1)
                app.build(filenames=[str(path) for path in only])
    except Exception as error:
        known = isinstance(error, SphinxError | MomabError)
        text = str(error) if known else "".join(traceback.format_exception(error))
        return [*_complaints, Complaint("", 0, "ERROR", text, fatal=True)]
    return list(_complaints)


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen to Sphinx's log; the place to do so is an extension, because Sphinx resets its log."""
    logging.getLogger("sphinx").addHandler(Recorder(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class Recorder(logging.Handler):
    """Keeps every warning and error that the book's settings do not suppress."""

    def __init__(self, app: Sphinx) -> None:
        """Listen on behalf of one build."""
        super().__init__(logging.WARNING)
        self.app = app

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record, once."""
        kind, subtype = getattr(record, "type", None), getattr(record, "subtype", None)
        if is_suppressed_warning(kind or "", subtype or "", self.app.config.suppress_warnings):
            return
        code = ".".join(part for part in (kind, subtype) if part)
        page, line = _place(getattr(record, "location", None), self.app)
        fatal = code == "momab.formula"  # a page must not show TeX
        complaint = Complaint(page, line, record.levelname, record.getMessage(), code, fatal)
        if complaint not in _complaints:
            _complaints.append(complaint)


def _place(location: Any, app: Sphinx) -> tuple[str, int]:
    """The file, relative to the book if it is inside, and the line of a record's location.

    Sphinx's records have a pair of page and line, a node, or "file:line" as their location.
    """
    if isinstance(location, nodes.Node):
        location = get_node_location(location)
    if isinstance(location, tuple):
        path, line = app.env.doc2path(location[0]) if location[0] else "", str(location[1] or 0)
    else:
        path, _, line = str(location or "").partition(":")
    path = str(path).removeprefix("<unknown>")
    if os.path.isabs(path):
        inside = Path(path).is_relative_to(app.srcdir)
        path = os.path.relpath(path, app.srcdir if inside else None)
    if line and not line.isdecimal():  # "docstring of momab.book.build:3"
        return f"{path}:{line}", 0
    return path, int(line or 0)


def _source_place(book: Path, page: str, line: int) -> str:
    """Where a line of a staged page comes from, as in "notebooks/model.md, cell 3"."""
    stem = page.removesuffix(".ipynb")
    staged = book / f"{stem}.ipynb"
    if not page or not staged.is_file():
        place = page if not page or "/" in page else f"book/{page}"
        return f"{place}:{line}" if page and line else place
    number = line // _LINES_PER_CELL
    cells = json.loads(staged.read_text(encoding="utf-8"))["cells"]
    if not 1 <= number <= len(cells):
        return f"notebooks/{stem}.md"
    source = cells[number - 1]["metadata"].get("momab_source")
    if source is None:
        return f"notebooks/{stem}.md, cell {number}"
    if source["cell"] is None:
        return f"notebooks/{source['file']}, line {max(line % _LINES_PER_CELL, 1)}"
    return f"notebooks/{source['file']}, cell {source['cell']}"
