"""How commands describe what they made: the RO-Crate of a run, from what was typed."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

import typer

_ABOUT_THE_MACHINE = {"output", "store", "workers", "data_dir", "dask", "as_json", "csv", "table"}
"""What does not decide a digit, or is an input with a digest."""


def describe_run(
    context: typer.Context, folder: Path, outputs: Iterable[Path], inputs: Iterable[Path] = ()
) -> Path:
    """Write the crate of a command that has run: all its parameters, also those by default."""
    from momab._util.crate import write_crate
    from momab.engine.provenance import provenance_versions

    parameters = {
        name: list(value) if isinstance(value, list | tuple) else value
        for name, value in context.params.items()
        if name not in _ABOUT_THE_MACHINE and value is not None
    }
    versions = provenance_versions()
    parameters["source"] = versions.pop("source")  # a digest of what decides the digits
    command = shlex.join(["momab", *sys.argv[1:]])
    return write_crate(folder, command, parameters, inputs, outputs, versions)


def page_files(pages: Iterable[Path]) -> list[Path]:
    """Pages, and the notebooks beside them."""
    pages = list(pages)
    notebooks = [page.with_suffix(".ipynb") for page in pages]
    return pages + [path for path in notebooks if path.is_file()]


def page_source(notebook: str) -> list[Path]:
    """The source of a page."""
    from momab.book.project import Project

    return [Project.find().notebook(notebook).path]
