"""A layered drawing of who uses whom: what is used stands above what uses it.

A row holds nodes with chains of the same length below them, at most so many; each is sorted by the
mean place of what its nodes use.  Lines are drawn behind the boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Uses = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Sizes:
    """Lengths of a drawing, in pixels: a box, and the gaps between boxes and between rows."""

    width: float = 128
    height: float = 74
    gap: float = 12
    between: float = 38


@dataclass(frozen=True)
class Line:
    """A line from what is used to what uses it, in the language of SVG."""

    used: str
    user: str
    path: str


@dataclass(frozen=True)
class Drawing:
    """Where the boxes are (their upper left corners), and the lines between them."""

    places: Mapping[str, tuple[float, float]]
    lines: tuple[Line, ...]
    width: float
    height: float


def draw(uses: Uses, columns: int = 5, sizes: Sizes | None = None) -> Drawing:
    """Lay out an acyclic graph; ``uses`` lists for every node what it uses."""
    sizes = sizes or Sizes()
    direct = without_shortcuts(uses)
    filled = rows(direct, columns)
    step, pitch = sizes.width + sizes.gap, sizes.height + sizes.between
    width = step * max(map(len, filled)) - sizes.gap
    places: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(filled):
        left = (width - step * len(row) + sizes.gap) / 2
        places |= {name: (left + step * i, pitch * number) for i, name in enumerate(row)}
    lines = tuple(
        Line(used, user, _curve(places[used], places[user], sizes))
        for user, others in direct.items()
        for used in others
    )
    return Drawing(places, lines, width, pitch * len(filled) - sizes.between)


def ancestors(uses: Uses) -> dict[str, set[str]]:
    """For every node all that it uses, directly or not."""
    found: dict[str, set[str]] = {}

    def collect(name: str) -> set[str]:
        if name not in found:
            found[name] = set(uses[name]).union(*(collect(other) for other in uses[name]))
        return found[name]

    for name in uses:
        collect(name)
    return found


def without_shortcuts(uses: Uses) -> dict[str, list[str]]:
    """The same graph without arrows that follow from others."""
    behind = ancestors(uses)
    return {
        name: [
            other
            for other in dict.fromkeys(used)
            if not any(other in behind[third] for third in used if third != other)
        ]
        for name, used in uses.items()
    }


def rows(uses: Uses, columns: int) -> list[list[str]]:
    """The rows from above, each with at most so many nodes, below all that these use."""
    behind = ancestors(uses)
    depth: dict[str, int] = {}
    for name in sorted(uses, key=lambda name: len(behind[name])):
        depth[name] = 1 + max((depth[other] for other in uses[name]), default=-1)
    found: list[list[str]] = []
    place: dict[str, float] = {}
    for level in range(max(depth.values()) + 1):
        nodes = [name for name in uses if depth[name] == level]
        mean = {n: sum(place[o] for o in uses[n]) / max(len(uses[n]), 1) for n in nodes}
        nodes.sort(key=mean.__getitem__)
        count = -(-len(nodes) // columns)
        for part in range(count):
            row = nodes[part::count]
            found.append(row)
            place |= {name: i - (len(row) - 1) / 2 for i, name in enumerate(row)}
    return found


def _curve(used: tuple[float, float], user: tuple[float, float], sizes: Sizes) -> str:
    """From the middle of a box's lower edge to that of another's upper edge."""
    (x, y), (nx, ny) = used, user
    x, nx, y = x + sizes.width / 2, nx + sizes.width / 2, y + sizes.height
    middle = (y + ny) / 2
    return f"M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {nx:.1f} {middle:.1f} {nx:.1f} {ny:.1f}"
