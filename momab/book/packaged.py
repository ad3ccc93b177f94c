"""The pages that come with the student package, run with other values without Sphinx.

The student package (`momab.course.student`) holds the pages of the student edition as notebooks
under ``momab/pages``, without outputs and without anything that students may not see.  There
`momab run` executes such a notebook and writes it, to be opened in JupyterLab; a checkout of the
book has no such folder, and builds a page (`momab.book.single_page`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from momab._util.extras import PAGES
from momab.book.parameters import (
    Parameter,
    Settings,
    Values,
    parse_cell,
    read_assignments,
    read_profile,
    resolve,
    rewrite_cell,
    sweep,
    value_text,
)
from momab.errors import MomabError


class Pages:
    """The notebooks of a folder."""

    def __init__(self, folder: Path = PAGES) -> None:
        """Look into a folder, by default that of the student package."""
        self.folder = folder

    @property
    def names(self) -> list[str]:
        """The pages, in the order of their names."""
        return sorted(path.stem for path in self.folder.glob("*.ipynb"))

    def read(self, name: str) -> Any:
        """The notebook of a page."""
        import nbformat

        if Path(name).stem not in self.names:
            raise MomabError(f"no notebook {name!r}; there are {', '.join(self.names)}.")
        return nbformat.read(self.folder / f"{Path(name).stem}.ipynb", as_version=4)

    def parameters(self, name: str) -> dict[str, Parameter]:
        """The parameters of a page."""
        return parse_cell(_parameters_cell(self.read(name)).source, name)

    def run(
        self,
        name: str,
        profile: str = "quick",
        assignments: Iterable[str] = (),
        output: Path | None = None,
    ) -> list[Path]:
        """Execute a page, once per combination of values; return the notebooks written."""
        import nbformat

        node, name = self.read(name), Path(name).stem
        runs = self._values(name, profile, assignments)
        output = output or Path("runs") / name
        output.mkdir(parents=True, exist_ok=True)
        written = []
        for values in runs:
            page = nbformat.from_dict(node)
            cell = _parameters_cell(page)
            cell.source = rewrite_cell(cell.source, values)
            _execute(page, name)
            path = output / f"{_stem(name, values, runs)}.ipynb"
            nbformat.write(page, path)
            written.append(path)
        return written

    def _values(self, name: str, profile: str, assignments: Iterable[str]) -> list[Values]:
        book = {name: self.parameters(name)}
        general = read_profile(profile, self.folder)
        first = Settings(
            {n: v for n, v in general.everywhere.items() if n in book[name]},
            {name: general.per_notebook.get(name, {})},
        )
        found = []
        for settings in sweep(read_assignments(assignments)):
            if others := set(settings.per_notebook) - {name}:
                raise MomabError(f"this runs {name} alone, not {min(others)}.")
            mine: Mapping[str, object] = settings.per_notebook.get(name, {})
            second = Settings({}, {name: {**settings.everywhere, **mine}})
            found.append(resolve(book, [first, second])[name])
        return found


def _parameters_cell(node: Any) -> Any:
    return next(c for c in node.cells if "parameters" in c.metadata.get("tags", []))


def _stem(name: str, values: Values, runs: Sequence[Values]) -> str:
    """A file name that tells the notebooks of a sweep apart."""
    varying = [n for n in values if len({str(other[n]) for other in runs}) > 1]
    parts = [f"{n}={value_text(values[n])}" for n in varying]
    return re.sub(r"[^\w.=-]+", "-", "_".join([name, *parts]))


def _execute(node: Any, name: str) -> None:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    try:
        quiet = ["--Application.log_level=ERROR"]
        client = NotebookClient(node, timeout=None, kernel_name="python3", extra_arguments=quiet)
        client.execute()
    except CellExecutionError as error:
        raise MomabError(f"{name}: a cell failed ({error.ename}: {error.evalue}).") from None
