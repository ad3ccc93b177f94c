"""MyST Markdown cut into its directives: as much of its syntax as the book's tools need.

A directive is a fence of colons or backticks with a name in braces.  `pieces` cuts a text into
lines and directives, `exercises` and `solutions` find those of a notebook across its cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

LEVELS = ("warm-up", "standard", "challenge", "research")  # classes of exercises, one each
KINDS = {"programming": "programming", "breaks-hypothesis": "breaks a hypothesis"}

_FENCE = re.compile(r"^(?P<mark>`{3,}|:{3,})(?:\{(?P<name>[\w:-]+)\})?[ \t]*(?P<title>.*)$")
_OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")


@dataclass(frozen=True)
class Directive:
    """A directive with its options; ``lines`` are the source lines from fence to fence."""

    name: str
    title: str
    options: dict[str, str]
    body: list[str]
    lines: list[str]

    @property
    def classes(self) -> set[str]:
        """The words of its ``class`` option."""
        return set(self.options.get("class", "").split())


def pieces(lines: Iterable[str]) -> Iterator[str | Directive]:
    """The lines and the directives of a text, in order.

    What stands inside a directive or an ordinary code fence is not looked at.
    """
    rest = list(lines)
    while rest:
        match = _FENCE.match(rest[0])
        if match is None:
            yield rest.pop(0)
            continue
        mark = match["mark"]
        closing = re.compile(rf"{re.escape(mark[0])}{{{len(mark)},}}\s*")
        end = next((n for n, line in enumerate(rest) if n and closing.fullmatch(line)), len(rest))
        block, rest = rest[: end + 1], rest[end + 1 :]
        if match["name"] is None:
            yield from block
        else:
            yield _directive(match["name"], match["title"].strip(), block, end)


def _directive(name: str, title: str, block: list[str], end: int) -> Directive:
    body, options = block[1:end], {}
    while body and (option := _OPTION.match(body[0])):
        options[option[1]] = option[2].strip()
        body = body[1:]
    while body and not body[0].strip():
        body = body[1:]
    return Directive(name, title, options, body, block)


@dataclass(frozen=True)
class ExerciseText:
    """An exercise as a notebook states it."""

    label: str
    title: str
    classes: frozenset[str]
    body: list[str] = field(repr=False)

    @property
    def programming(self) -> bool:
        """Whether `momab.check` checks it."""
        return "programming" in self.classes

    @property
    def starter(self) -> tuple[str, str]:
        """The starter's code, and its last line, which is the check; ('', '') without one."""
        text = "\n".join(self.body)
        fences = re.findall(r"^```python\n(.*?)^```\s*$", text, flags=re.DOTALL | re.MULTILINE)
        if not fences:
            return "", ""
        code, _, check = fences[-1].rstrip().rpartition("\n")
        return code.rstrip(), check.strip()

    @property
    def answer_name(self) -> str:
        """The expression that the starter's check line hands in."""
        match = re.fullmatch(r"momab\.check\(\"[\w-]+\",\s*(\w+)\)", self.starter[1])
        return match[1] if match else ""


def exercises(node: Any) -> list[ExerciseText]:
    """The exercises of a notebook, in order."""
    found = []
    for cell in node.cells:
        if cell.cell_type == "markdown":
            for piece in pieces(cell.source.splitlines()):
                if isinstance(piece, Directive) and piece.name == "exercise":
                    label = piece.options.get("label", "")
                    found.append(
                        ExerciseText(label, piece.title, frozenset(piece.classes), piece.body)
                    )
    return found
