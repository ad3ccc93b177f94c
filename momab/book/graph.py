"""A layered drawing of who uses whom, after Sugiyama: rows, order within them, places, lines.

What is used stands above what uses it.  Rows have a bounded number of boxes, so that the drawing
is as wide as a page and not wider; lines that skip rows pass between their boxes, those from one
box together.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Uses = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Sizes:
    """Lengths of a drawing, in pixels."""

    width: float = 128
    height: float = 74
    gap: float = 12
    lane: float = 10
    """Between lines that pass through a row, and between a line and a box."""
    between: float = 38
    """Between two rows."""


@dataclass(frozen=True)
class Line:
    """A line from what is used to what uses it: points at which it is vertical."""

    used: str
    user: str
    points: tuple[tuple[float, float], ...]

    @property
    def path(self) -> str:
        """The line in the language of SVG."""
        (x, y), *rest = self.points
        pieces = [f"M{x:.1f} {y:.1f}"]
        for nx, ny in rest:
            middle = (y + ny) / 2
            pieces.append(f"C{x:.1f} {middle:.1f} {nx:.1f} {middle:.1f} {nx:.1f} {ny:.1f}")
            x, y = nx, ny
        return "".join(pieces)


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
    row_of = rows(direct, columns)
    chains = _chains(direct, row_of)
    lanes = _lanes(row_of, chains)
    order = _ordered(lanes, chains)
    x = _abscissae(order, chains, sizes)
    left = min(x.values()) - sizes.lane
    left = min(left, min(x[name] for name in row_of) - sizes.width / 2)
    pitch = sizes.height + sizes.between
    places = {name: (x[name] - sizes.width / 2 - left, pitch * row) for name, row in row_of.items()}
    lines = tuple(_line(chain, x, left, row_of, sizes, pitch) for chain in chains)
    width = max([place[0] for place in places.values()]) + sizes.width
    width = max(width, *(point[0] + 2 for line in lines for point in line.points), 0)
    return Drawing(places, lines, width, pitch * (max(row_of.values()) + 1) - sizes.between)


# ---- rows ----------------------------------------------------------------------------------


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


def rows(uses: Uses, columns: int) -> dict[str, int]:
    """The row of every node, below all that it uses, with at most so many nodes in a row.

    Nodes are placed from the first row on, those with the longest chain of users first; then
    each moves down towards its users as far as there is room, which shortens lines.
    """
    users: dict[str, list[str]] = {name: [] for name in uses}
    for name, used in uses.items():
        for other in used:
            users[other].append(name)
    depth: dict[str, int] = {}

    def below(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max((below(user) for user in users[name]), default=-1)
        return depth[name]

    rank = {name: number for number, name in enumerate(uses)}
    missing = {name: len(set(used)) for name, used in uses.items()}
    ready = [(-below(name), rank[name], name) for name in uses if not missing[name]]
    heapq.heapify(ready)
    row_of: dict[str, int] = {}
    filled: dict[int, int] = {}
    while ready:
        _, _, name = heapq.heappop(ready)
        row = 1 + max((row_of[other] for other in uses[name]), default=-1)
        while filled.get(row, 0) >= columns:
            row += 1
        row_of[name] = row
        filled[row] = filled.get(row, 0) + 1
        for user in users[name]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, (-below(user), rank[user], user))
    for name in sorted(row_of, key=lambda name: -row_of[name]):
        last = min((row_of[user] for user in users[name]), default=row_of[name] + 1) - 1
        for row in range(last, row_of[name], -1):
            if filled.get(row, 0) < columns:
                filled[row_of[name]] -= 1
                row_of[name] = row
                filled[row] = filled.get(row, 0) + 1
                break
    kept = {row: number for number, row in enumerate(sorted(set(row_of.values())))}
    return {name: kept[row_of[name]] for name in uses}


# ---- order within rows ---------------------------------------------------------------------

Stop = tuple[str, int]
"""A place in a row through which lines from a node pass: all of them share it."""


@dataclass(frozen=True)
class _Chain:
    """A line with its stops: a node, the rows that it skips, a node."""

    used: str
    user: str
    stops: tuple[Stop, ...]

    @property
    def all(self) -> tuple[str | Stop, ...]:
        return (self.used, *self.stops, self.user)


def _chains(uses: Uses, row_of: Mapping[str, int]) -> list[_Chain]:
    return [
        _Chain(
            other,
            name,
            tuple((other, row) for row in range(row_of[other] + 1, row_of[name])),
        )
        for name, used in uses.items()
        for other in used
    ]


def _lanes(row_of: Mapping[str, int], chains: Iterable[_Chain]) -> list[list[str | Stop]]:
    """What stands in each row, boxes and passing lines."""
    lanes: list[list[str | Stop]] = [[] for _ in range(max(row_of.values()) + 1)]
    for name, row in row_of.items():
        lanes[row].append(name)
    for stop in dict.fromkeys(stop for chain in chains for stop in chain.stops):
        lanes[stop[1]].append(stop)
    return lanes


def _neighbours(
    chains: Iterable[_Chain],
) -> tuple[dict[str | Stop, list[str | Stop]], dict[str | Stop, list[str | Stop]]]:
    """For everything in a row what it is joined to in the row above, and below."""
    above: dict[str | Stop, list[str | Stop]] = {}
    below: dict[str | Stop, list[str | Stop]] = {}
    for upper, lower in dict.fromkeys(pair for chain in chains for pair in pairwise(chain.all)):
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    return above, below


def _ordered(
    lanes: Sequence[Sequence[str | Stop]], chains: Sequence[_Chain], sweeps: int = 24
) -> list[list[str | Stop]]:
    """Sort the rows by the mean place of neighbours, down and up; keep what crosses least."""
    above, below = _neighbours(chains)
    now = [list(lane) for lane in lanes]
    best, least = [list(lane) for lane in now], _crossings(now, below)
    for sweep in range(sweeps):
        down = sweep % 2 == 0
        joined = above if down else below
        for lane in now[1:] if down else now[-2::-1]:
            place = {what: i / len(row) for row in now for i, what in enumerate(row)}
            key = {
                what: sum(place[other] for other in joined[what]) / len(joined[what])
                if what in joined
                else place[what]
                for what in lane
            }
            lane.sort(key=lambda what, key=key: key[what])  # type: ignore[misc]
        if (found := _crossings(now, below)) < least:
            best, least = [list(lane) for lane in now], found
    return best


def _crossings(
    order: Sequence[Sequence[str | Stop]], below: Mapping[str | Stop, Sequence[str | Stop]]
) -> int:
    """How many pairs of lines cross."""
    count = 0
    for upper, lower in pairwise(order):
        place = {what: i for i, what in enumerate(lower)}
        ends = [sorted(place[other] for other in below.get(what, [])) for what in upper]
        seen: list[int] = []
        for targets in ends:
            count += sum(earlier > target for target in targets for earlier in seen)
            seen += targets
    return count


# ---- places --------------------------------------------------------------------------------


def _abscissae(
    order: Sequence[Sequence[str | Stop]], chains: Sequence[_Chain], sizes: Sizes, rounds: int = 60
) -> dict[str | Stop, float]:
    """The middle of everything in a row: near its neighbours, in order, without overlaps.

    No row is wider than the one with the most in it.
    """
    above, below = _neighbours(chains)
    apart = [_separations(lane, sizes) for lane in order]
    edges = [(_half(lane[0], sizes), _half(lane[-1], sizes)) for lane in order]
    whole = max(sum(steps) + sum(edge) for steps, edge in zip(apart, edges, strict=True))
    x: dict[str | Stop, float] = {}
    for lane, steps, (first, last) in zip(order, apart, edges, strict=True):
        room = (whole - sum(steps) - first - last) / len(lane)
        at = first + room / 2
        for what, step in zip(lane, [*steps, 0.0], strict=True):
            x[what] = at
            at += step + room
    rows_in_turn = list(zip(order, apart, edges, strict=True))
    for number in range(rounds):
        for lane, steps, (first, last) in rows_in_turn if number % 2 == 0 else rows_in_turn[::-1]:
            wanted = []
            for what in lane:
                joined = [x[other] for other in (*above.get(what, ()), *below.get(what, ()))]
                wanted.append(sum(joined) / len(joined) if joined else x[what])
            x.update(zip(lane, spread(wanted, steps, first, whole - last), strict=True))
    return x


def _half(what: str | Stop, sizes: Sizes) -> float:
    return sizes.width / 2 if isinstance(what, str) else sizes.lane / 2


def _separations(lane: Sequence[str | Stop], sizes: Sizes) -> list[float]:
    half = [sizes.width / 2 if isinstance(what, str) else 0.0 for what in lane]
    return [
        a + b + (sizes.gap if isinstance(one, str) and isinstance(two, str) else sizes.lane)
        for (one, a), (two, b) in pairwise(zip(lane, half, strict=True))
    ]


def spread(wanted: Sequence[float], apart: Sequence[float], low: float, high: float) -> list[float]:
    """The places nearest to the wanted ones, in squares, each so far after the last, within limits.

    With the distances taken off this is isotonic regression: neighbours that are out of order are
    pooled at their mean, and what is beyond the limits is moved onto them.
    """
    offsets = [0.0]
    for step in apart:
        offsets.append(offsets[-1] + step)
    pools: list[tuple[float, int]] = []
    for value in (want - offset for want, offset in zip(wanted, offsets, strict=True)):
        total, size = value, 1
        while pools and pools[-1][0] / pools[-1][1] > total / size:
            more, others = pools.pop()
            total, size = total + more, size + others
        pools.append((total, size))
    end = high - offsets[-1]
    flat = [min(max(total / size, low), end) for total, size in pools for _ in range(size)]
    return [value + offset for value, offset in zip(flat, offsets, strict=True)]


def _line(
    chain: _Chain,
    x: Mapping[str | Stop, float],
    left: float,
    row_of: Mapping[str, int],
    sizes: Sizes,
    pitch: float,
) -> Line:
    points = [(x[chain.used] - left, pitch * row_of[chain.used] + sizes.height)]
    for stop in chain.stops:
        top = pitch * stop[1]
        points += [(x[stop] - left, top), (x[stop] - left, top + sizes.height)]
    points.append((x[chain.user] - left, pitch * row_of[chain.user]))
    return Line(chain.used, chain.user, tuple(points))
