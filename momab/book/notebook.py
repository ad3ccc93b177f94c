"""Notebooks: a page, its exercises and its deck, read from the files beside each other.

The only source of a computed page is a MyST notebook ``notebooks/<name>.md``.  To add one:

1. write ``notebooks/<name>.md`` with the kernelspec header of its neighbours, one cell tagged
   ``parameters`` (see `momab.book.parameters`), narrative, and calls of `momab`;
2. add ``- file: notebooks/<name>`` to ``_toc.yml`` where it belongs;
3. ``momab run <name>`` shows the page alone, ``momab book`` builds the site.

It may have companions.  ``<name>.exercises.md`` is a notebook with the same header that starts
with ``## Exercises``; its cells, exercises with their solutions, follow those of the page, and
both run as one notebook.  ``<name>.slides.md`` is plain MyST Markdown without cells: the deck of
the page (``{slide}``, ``{fragment}``, ``{notes}``).  It is not executed, and changing it executes
nothing.  ``<name>.questions.yml`` has the questions that the page asks (`momab.book.questions`).

What an execution depends on is told by `Notebook.key`: the code cells, the values of the
parameters, the library behind the code and the data sets of this machine (see
`momab.book.fingerprint`), the files that the header declares under ``momab: {inputs: [...]}``, the
pinned requirements and the Python version.  Editing prose re-executes nothing.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from momab._util.yaml_files import Open, Strict, fit
from momab.book.fingerprint import Library
from momab.book.parameters import Parameter, Values, parse_cell, rewrite_cell
from momab.book.questions import questions_path, read_questions, without_questions, write_out
from momab.errors import MomabError

Node = Any  # nbformat.NotebookNode, which has no types

_SCHEMA = 3
_HEADER = re.compile(r"\A---\n.*?\n---\n", flags=re.DOTALL)


class Declared(Strict):
    """What the section ``momab`` of a notebook's header may say."""

    inputs: tuple[str, ...] = ()
    edition: str = "student"


class Header(Open):
    """What we read of a notebook's header; the rest is Jupyter's."""

    momab: Declared = Declared()


@dataclass(frozen=True)
class Notebook:
    """A notebook as its source states it.

    ``own`` says how many of its cells stand in the page; the rest are the exercises.
    """

    name: str
    path: Path
    node: Node
    parameters: dict[str, Parameter]
    own: int

    @classmethod
    def read(cls, path: Path) -> Notebook:
        """Read and validate a MyST notebook and its exercises; nothing is executed."""
        where = f"notebooks/{path.name}"
        node = _read_cells(path)
        own = len(node.cells)
        fit(dict(node.metadata), Header, f"the header of {where}")
        if (companion := path.with_suffix(".exercises.md")).is_file():
            node.cells += _read_cells(companion).cells
        tagged = [c for c in node.cells if "parameters" in c.metadata.get("tags", [])]
        if len(tagged) != 1 or tagged[0].cell_type != "code":
            raise MomabError(f"{where} must have one code cell tagged 'parameters'.")
        return cls(path.stem, path, node, parse_cell(tagged[0].source, where), own)

    def alone(self) -> Notebook:
        """The page without its exercises and questions."""
        node = copy.copy(self.node)
        node.cells = copy.deepcopy(self.node.cells[: self.own])
        for cell in node.cells:
            if cell.cell_type == "markdown":
                cell.source = without_questions(cell.source)
        return replace(self, node=node)

    @property
    def exercises_path(self) -> Path:
        """The file with its exercises, which need not exist."""
        return self.path.with_suffix(".exercises.md")

    @property
    def slides_path(self) -> Path:
        """The file with its deck, which need not exist."""
        return self.path.with_suffix(".slides.md")

    @property
    def text(self) -> str:
        """The source of the page and its exercises as one MyST notebook."""
        page = self.asked(self.path.read_text(encoding="utf-8"))
        if not self.exercises_path.is_file():
            return page
        rest = _HEADER.sub("", self.exercises_path.read_text(encoding="utf-8"))
        return f"{page.rstrip()}\n\n{rest.lstrip()}"

    def asked(self, text: str) -> str:
        """A text of the page with its questions written out."""
        if "{question}" not in text:
            return text
        return write_out(text, self.name, read_questions(questions_path(self.path)))

    @property
    def slides(self) -> str:
        """The deck's source; '' without one."""
        path = self.slides_path
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    @property
    def code_cells(self) -> list[Node]:
        """The cells that run."""
        return [cell for cell in self.node.cells if cell.cell_type == "code"]

    @cached_property
    def code(self) -> str:
        """The text of all code cells."""
        return "\n".join(cell.source for cell in self.code_cells)

    @property
    def inputs(self) -> list[Path]:
        """The files that the header declares."""
        patterns = fit(dict(self.node.metadata), Header, self.path.name).momab.inputs
        return sorted(p for pattern in patterns for p in self.path.parent.glob(pattern))

    @property
    def named(self) -> str:
        """Its code, with the names of the chapters whose exercises it checks."""
        judged = re.findall(r"\bcheck\(\s*[\"']([\w-]+)-\d+[\"']", self.code)
        return "\n".join([self.code, *(name.replace("-", "_") for name in judged)])

    def key(self, values: Values, library: Library, lock: str) -> str:
        """The digest under which an execution with these values is kept."""
        parts = [
            _SCHEMA,
            [cell.source for cell in self.code_cells],
            values,
            library.fingerprint(self.named),
            [(p.name, hashlib.sha256(p.read_bytes()).hexdigest()) for p in self.inputs],
            lock,
            sys.version_info[:2],
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]

    def place_of(self, number: int) -> tuple[Path, int]:
        """The file of a cell, and its number there; cells count from 1."""
        if number <= self.own:
            return self.path, number
        return self.exercises_path, number - self.own

    def describe(self, source: str) -> str:
        """Where a code cell stands, as in "notebooks/model.md, code cell 3 (line 40)"."""
        cells = self.node.cells
        index = next(n for n, c in enumerate(cells) if c.cell_type == "code" and c.source == source)
        path = self.place_of(index + 1)[0]
        first = 0 if path == self.path else self.own
        number = sum(c.cell_type == "code" for c in cells[first : index + 1])
        text = path.read_text(encoding="utf-8")
        start = text.find(source.strip())
        line = text.count("\n", 0, start) + 1 if start >= 0 else 0
        return f"notebooks/{path.name}, code cell {number} (line {line})"

    def with_outputs(self, executed: Node, values: Values) -> Node:
        """The source as it is now, with the outputs and parameter values of an execution."""
        node = copy.deepcopy(self.node)
        done = [
            cell
            for cell in executed.cells
            if cell.cell_type == "code"
            and "injected-parameters" not in cell.metadata.get("tags", [])
        ]
        mine = [cell for cell in node.cells if cell.cell_type == "code"]
        for cell, ran in zip(mine, done, strict=True):
            kept = [out for out in ran.outputs if out.get("name") != "stderr"]  # warnings
            cell.outputs = copy.deepcopy(kept)
            cell.execution_count = ran.execution_count
            if "parameters" in cell.metadata.get("tags", []):
                cell.source = rewrite_cell(cell.source, values)
        for number, cell in enumerate(node.cells):
            cell.id = f"{self.name}-{number}"
            if cell.cell_type == "markdown":
                cell.source = self.asked(cell.source)
        node.metadata["momab"] = dict(executed.metadata["momab"])
        node.metadata.setdefault("language_info", executed.metadata.get("language_info", {}))
        return node


def shown_code(source: str) -> str:
    """The Python of a cell as a reader wants it: a figure or a table without its caption."""
    first, _, text = source.strip().partition("\n")
    match = re.match(r"%%(?:prose|figure|table)\b(.*)", first)
    if match is None:
        return source
    expression = re.split(r"\s--\w", match[1])[0].strip()
    if expression or not first.startswith("%%figure"):
        return expression
    return re.split(r"^---[ \t]*$", text, maxsplit=1, flags=re.MULTILINE)[0].strip()


def _read_cells(path: Path) -> Node:
    """A MyST file as a notebook."""
    import jupytext

    try:
        return jupytext.read(path)
    except Exception as error:
        raise MomabError(
            f"notebooks/{path.name} is not a readable MyST notebook ({error})."
        ) from None
