"""The editions of the book: the instructor's has everything, the student's has no solutions.

Both come from the same executed notebooks.  A solution is a ``{solution}`` block, or everything
from ``{solution-start}`` to ``{solution-end}``, cells and their outputs included.  A teaching
note is an admonition of class ``teaching``.  Speaker notes may give answers away, so they are
dropped with them.

No cell outside a solution may run after a solution's cell (`check_order`): a student's page is
then what executing the page without its solutions would give.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator

from momab.book.myst import Directive, pieces
from momab.book.notebook import Node
from momab.errors import BuildError, MomabError

EDITIONS = ("instructor", "student")


def check_edition(name: str) -> str:
    """The name, if there is such an edition."""
    if name not in EDITIONS:
        raise MomabError(f"there is no edition {name!r}; allowed: {', '.join(EDITIONS)}.")
    return name


def student(node: Node) -> Node:
    """A copy of a notebook without solutions, teaching notes and speaker notes."""
    node = copy.deepcopy(node)
    kept, inside = [], False
    for cell in node.cells:
        if cell.cell_type == "markdown":
            lines, inside = _without_answers(cell.source.splitlines(), inside)
            cell.source = "\n".join(lines).strip()
            if cell.source:
                kept.append(cell)
        elif not inside:
            kept.append(cell)
    node.cells = kept
    return node


def student_text(text: str) -> str:
    """A prose page without solutions and teaching notes."""
    return "\n".join(_without_answers(text.splitlines(), False)[0]) + "\n"


_ANSWERS = re.compile(
    r"\{(?:solution(?:-start|-end)?|notes)\}|^:class:.*\bteaching\b", re.MULTILINE
)


def _without_answers(lines: list[str], inside: bool) -> tuple[list[str], bool]:
    """The lines that stay, and whether the text ends inside a solution."""
    kept: list[str] = []
    for piece in pieces(lines):
        if isinstance(piece, Directive):
            if piece.name == "solution-start":
                inside = True
            elif piece.name == "solution-end":
                inside = False
            elif not inside and not _answers(piece):
                _check_inside(piece)
                kept += piece.lines
        elif not inside:
            kept.append(piece)
    return kept, inside


def _check_inside(piece: Directive) -> None:
    """Refuse a solution or a note inside another block, where nothing looks for it."""
    if found := _ANSWERS.search("\n".join(piece.body)):
        raise MomabError(
            f"{found[0]} stands inside the block {piece.lines[0]!r}; solutions, teaching notes and "
            f"speaker notes must not be inside other blocks."
        )


def _answers(piece: Directive) -> bool:
    return piece.name in ("solution", "notes") or "teaching" in piece.classes


def solution_cells(node: Node) -> Iterator[tuple[str, Node]]:
    """The code cells inside solutions, each with the label of its exercise."""
    label = ""
    for cell in node.cells:
        if cell.cell_type == "code":
            if label:
                yield label, cell
            continue
        for piece in pieces(cell.source.splitlines()):
            if isinstance(piece, Directive) and piece.name.startswith("solution-"):
                label = piece.title if piece.name == "solution-start" else ""


def for_instructors(text: str) -> bool:
    """Whether a page says in its header that it is for the instructor edition alone."""
    import yaml

    header = re.match(r"---\n(.*?)\n---\n", text, flags=re.DOTALL)
    said = yaml.safe_load(header[1]) if header else {}
    return bool(said.get("momab", {}).get("edition") == "instructor")


def check_solutions(node: Node, where: str) -> None:
    """Refuse an executed notebook whose solutions fail their own checks, or affect the rest."""
    check_order(node, where)
    for label, cell in solution_cells(node):
        for output in cell.get("outputs", []):
            if 'data-right="false"' in "".join(output.get("data", {}).get("text/html", "")):
                raise BuildError(f"{where}: the solution of {label} fails its own check.")


def check_order(node: Node, where: str) -> None:
    """Refuse a notebook in which a cell outside a solution runs after a solution's cell."""
    inside = [id(cell) for _, cell in solution_cells(node)]
    seen = False
    for cell in node.cells:
        if cell.cell_type == "code":
            if seen and id(cell) not in inside:
                raise MomabError(
                    f"{where}: a code cell outside the solutions follows a solution's cell "
                    f"({cell.source.strip().splitlines()[0]!r}); move it before the exercises."
                )
            seen = seen or id(cell) in inside
