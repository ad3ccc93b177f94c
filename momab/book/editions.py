"""The editions of the book: the instructor's has everything, the student's has no solutions.

Both come from the same executed notebooks.  A solution is a ``{solution}`` block, or everything
from ``{solution-start}`` to ``{solution-end}``, cells and their outputs included.  A teaching
note is a block of class ``teaching``.  Speaker notes may give answers away, so they are dropped
with them, and so is a block of class ``repository``, which is about the book's own repository: it
holds the solutions, and students work without it.  All of them are found where the book's own
parser finds them (`momab.book.myst`): in lists, quotations and other blocks too.

Where it is not clear what belongs to an answer, students see less rather than more: an answer
that is never closed hides the rest of its page, and a block around or before it that is not
closed is refused.

No cell outside a solution may run after a solution's cell (`check_order`): a student's page is
then what executing the page without its solutions would give.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator

from momab.book import myst
from momab.book.myst import Directive
from momab.book.notebook import Node
from momab.errors import BuildError, MomabError

EDITIONS = ("instructor", "student")
_ANSWERS = {"solution", "notes"}
_GATES = {"solution-start", "solution-end"}
_IN_RST = ("solution", "teaching", "notes::")


def check_edition(name: str) -> str:
    """The name, if there is such an edition."""
    if name not in EDITIONS:
        raise MomabError(f"there is no edition {name!r}; allowed: {', '.join(EDITIONS)}.")
    return name


def student(node: Node) -> Node:
    """A copy of a notebook without solutions, teaching notes and speaker notes."""
    node = copy.deepcopy(node)
    kept, gate = [], _Gate()
    for cell in node.cells:
        if cell.cell_type == "markdown":
            cell.source = in_the_notebook("\n".join(gate.open_lines(cell.source)).strip())
            if cell.source:
                kept.append(cell)
        elif gate.is_open:
            kept.append(cell)
    node.cells = kept
    return node


def student_text(text: str) -> str:
    """A prose page without solutions and teaching notes."""
    return in_the_notebook("\n".join(_Gate().open_lines(text)) + "\n")


_COMMAND = re.compile(r"(for instance )?`momab run ([\w-]+)((?: -p [^\s`]+)+)`")


def in_the_notebook(text: str) -> str:
    """A text whose commands `momab run`, which need the repository, say what to do without it."""

    def said(found: re.Match[str]) -> str:
        values = ", ".join(f"`{value}`" for value in found[3].split(" -p ")[1:])
        if found[1]:
            return f"for instance {values} in the cell of parameters of its notebook"
        return f"the notebook *{found[2]}* with {values}"

    return _COMMAND.sub(said, text)


class _Gate:
    """Follows a page from text to text: what is open to students, and what is behind the gate."""

    def __init__(self) -> None:
        """Begin at the top of a page."""
        self.is_open = True
        self.label = ""  # of the exercise whose solution we are in
        self._for_good = False

    def open_lines(self, text: str) -> list[str]:
        """The lines of the next text that students may see."""
        lines = text.splitlines()
        hidden = self._hidden(text, len(lines))
        return [line for number, line in enumerate(lines) if number not in hidden]

    def _hidden(self, text: str, count: int) -> set[int]:
        """The numbers of the lines that students may not see."""
        hidden: set[int] = set()
        opened = 0  # where the solution that we are in begins
        for found in myst.walk(text):
            if found.name in _GATES:
                if self.is_open:
                    opened = found.start
                elif found.name == "solution-end":
                    hidden.update(range(opened, found.end))
                hidden.update(range(found.start, found.end))
                self.pass_by(found)
            elif self.is_open and _is_answer(found):
                hidden.update(range(_from(found, text), found.end))
                if not found.closed:
                    self.is_open, self._for_good, opened = False, True, found.start
            elif self.is_open and found.start not in hidden:
                _refuse_unclear(found)
        if not self.is_open:
            hidden.update(range(opened, count))
        return hidden

    def pass_by(self, gate: Directive) -> None:
        """Open or close at the beginning or end of a solution."""
        if gate.name == "solution-start" and self.is_open:
            self.is_open, self.label = False, gate.title
            self._for_good = not gate.closed
        elif gate.name == "solution-end" and not self._for_good:
            self.is_open, self.label = True, ""


def _is_answer(found: Directive) -> bool:
    return found.name in _ANSWERS or bool(found.classes & {"teaching", "repository"})


def _from(found: Directive, text: str) -> int:
    """The line at which an answer begins; attributes in braces above it belong to it."""
    lines = text.splitlines()
    start = found.start
    while start and (above := lines[start - 1].strip(" >")).startswith("{") and above[-1] == "}":
        start -= 1
    return start


def _refuse_unclear(found: Directive) -> None:
    """Refuse a block in which an answer could hide."""
    if not found.closed:
        raise MomabError(
            f"the block {found.lines[0].strip()!r} is never closed, "
            "so it is not clear what students may see."
        )
    if found.problem:
        raise MomabError(
            f"the options of the block {found.lines[0].strip()!r} cannot be read "
            f"({found.problem}), so it is not clear what students may see."
        )
    if found.name == "eval-rst" and any(word in line for line in found.body for word in _IN_RST):
        raise MomabError(
            "a block {eval-rst} seems to have a solution, a teaching note or speaker notes; "
            "write them in Markdown, because nothing looks for them there."
        )


def solution_cells(node: Node) -> Iterator[tuple[str, Node]]:
    """The code cells inside solutions, each with the label of its exercise."""
    gate = _Gate()
    for cell in node.cells:
        if cell.cell_type == "markdown":
            gate.open_lines(cell.source)
        elif cell.cell_type == "code" and not gate.is_open:
            yield gate.label, cell


def solution_of(node: Node, label: str) -> Iterator[tuple[str, str]]:
    """The solution of an exercise: ``("text", Markdown)`` and ``("code", Python)`` in order.

    Cells that only draw or tabulate are left out; computed prose is its output, if there is one.
    """
    gate = _Gate()
    for cell in node.cells:
        if cell.cell_type == "markdown":
            yield from _solution_text(cell.source, gate, label)
        elif cell.cell_type == "code" and gate.label == label:
            if not cell.source.startswith("%%"):
                yield "code", cell.source
            for output in cell.get("outputs", []):
                if said := output.get("data", {}).get("text/markdown"):
                    yield "text", "".join(said)


def _solution_text(text: str, gate: _Gate, label: str) -> Iterator[tuple[str, str]]:
    """What a text says of a solution, which may have begun before it and may end after it."""
    lines, start = text.splitlines(), 0
    for found in myst.walk(text):
        if found.name == "solution" and found.title == label:
            yield "text", "\n".join(found.body)
        if found.name in _GATES:
            if gate.label == label and (said := "\n".join(lines[start : found.start]).strip()):
                yield "text", said
            gate.pass_by(found)
            start = found.end
    if gate.label == label and (said := "\n".join(lines[start:]).strip()):
        yield "text", said


def for_instructors(text: str) -> bool:
    """Whether a page says in its header that it is for the instructor edition alone."""
    return bool(myst.header(text).get("momab", {}).get("edition") == "instructor")


def check_solutions(node: Node, where: str) -> None:
    """Refuse an executed notebook whose solutions fail their own checks, or affect the rest."""
    from bs4 import BeautifulSoup

    check_order(node, where)
    for label, cell in solution_cells(node):
        for output in cell.get("outputs", []):
            shown = "".join(output.get("data", {}).get("text/html", ""))
            if "data-right" not in shown:
                continue
            if BeautifulSoup(shown, "html.parser").select_one('[data-right="false"]'):
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
