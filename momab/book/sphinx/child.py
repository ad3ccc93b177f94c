"""Sphinx in a process of its own: it builds what it is told and returns what it complains about.

`momab.book.pages` starts the process and speaks to it.  Complaints are the records of Sphinx's own
log, with their places, so nothing is read off printed text.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import os
import traceback
import warnings
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from docutils import nodes
from jupyter_book.config import get_final_config
from jupyter_book.sphinx import build_sphinx
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.logging import get_node_location, is_suppressed_warning

from momab.book.pages import Complaint, Order
from momab.book.timings import spent, step
from momab.errors import MomabError

_complaints: list[Complaint] = []


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


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen to Sphinx's log; the place to do so is an extension, because Sphinx resets its log."""
    logging.getLogger("sphinx").addHandler(Recorder(app))
    reading = ExitStack()
    app.connect("env-before-read-docs", lambda *_: reading.enter_context(step("read")))
    app.connect("env-updated", lambda *_: reading.close(), priority=0)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def take_orders(pipe: Connection) -> None:
    """Load what builds need, then build what comes through the pipe until it is closed."""
    warnings.simplefilter("ignore")
    os.environ["NO_COLOR"] = "1"
    importlib.import_module("sphinx_book_theme")
    while True:
        try:
            order = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        if isinstance(order, Path):
            _warm(order)
        else:
            spent.clear()
            with step("write"):
                complaints = _build(order)
            pipe.send((complaints, dict(spent)))


def _settings(source: Path, nitpicky: bool) -> dict[str, Any]:
    """The configuration of the book in a folder, with our extension first."""
    contents = (source / "_toc.yml").as_posix()
    overrides: dict[str, Any] = {"external_toc_path": contents, "latex_individualpages": False}
    if nitpicky:
        overrides["nitpicky"] = True
    found, _ = get_final_config(
        user_yaml=source / "_config.yml", cli_config=dict(overrides), sourcedir=source
    )
    return overrides | {"extensions": [__name__, *found["extensions"]]}


def _warm(source: Path) -> None:
    """Import the extensions that the book in a folder will need."""
    for name in _settings(source, False)["extensions"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _build(order: Order) -> list[Complaint]:
    """Build, and return the complaints; a failure is one, too."""
    _complaints.clear()
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            result = build_sphinx(
                order.source,
                order.output,
                noconfig=True,
                path_config=order.source / "_config.yml",
                confoverrides=_settings(order.source, order.strict),
                doctreedir=order.output.parent / ".doctrees",
                filenames=[str(path) for path in order.only],
                freshenv=True,
                warningiserror=order.strict,
                keep_going=True,
                quiet=True,
            )
        except Exception as error:
            result = error
    if isinstance(result, BaseException):
        known = isinstance(result, SphinxError | MomabError)
        text = str(result) if known else "".join(traceback.format_exception(result))
        return [*_complaints, Complaint("", 0, "ERROR", text, fatal=True)]
    if result and not _complaints:
        return [Complaint("", 0, "ERROR", said.getvalue().strip()[-4000:], fatal=True)]
    return list(_complaints)
