"""Other arguments for the same exercise, drawn from the counter streams.

A `Draw` is a stream of random numbers that depends on a seed, on a name and on an exercise, and on
nothing else.  A `Varier` turns an argument of a call into another one of the same kind.  What
belongs together changes together: within one call, arguments that share a letter for an axis are
permuted alike along it, and all means are moved by one increasing map of [0, 1], so that order,
ties, zeros and ones remain what they were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from momab.engine.streams import philox

Varier = Callable[["Change", Any], Any]
Arguments = tuple[Any, ...]
Vary = Sequence[Varier] | Callable[["Draw", Arguments], Arguments]


class Draw:
    """A stream of numbers for one student's answer to an exercise."""

    def __init__(self, seed: int, who: str, exercise: str) -> None:
        """Start the stream of a seed (64 bits), a name and an exercise."""
        words = hashlib.sha256(f"{who}\0{exercise}".encode()).digest()
        self._place = [int.from_bytes(words[n : n + 4], "little") for n in (0, 4, 8)]
        self._seed = seed & (2**64 - 1)
        self._next = 0

    def word(self) -> int:
        """The next 32 bits."""
        block, lane = divmod(self._next, 4)
        self._next += 1
        return int(philox((block, *self._place), self._seed)[lane])

    def between(self, low: float, high: float) -> float:
        """A number of an interval."""
        return low + (high - low) * (self.word() + 0.5) / 2**32

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + (self.word() * (high - low + 1) >> 32)

    def choose(self, items: Sequence[Any]) -> Any:
        """One of some items."""
        return items[self.whole(0, len(items) - 1)]

    def order(self, size: int) -> list[int]:
        """A permutation."""
        left = list(range(size))
        return [left.pop(self.whole(0, len(left) - 1)) for _ in range(size)]


class Change:
    """How the arguments of one call change together."""

    def __init__(self, draw: Draw) -> None:
        """Draw the increasing map; orders and factors are drawn when they are asked for."""
        self.draw = draw
        self._bend = draw.between(0.05, 0.3) * draw.choose([-1, 1])
        self._orders: dict[str, list[int]] = {}
        self._factors: dict[str, float] = {}

    def order(self, axis: str, size: int) -> list[int]:
        """The permutation of an axis."""
        return self._orders.setdefault(axis, self.draw.order(size))

    def factor(self, name: str) -> float:
        """The factor of some arguments."""
        return self._factors.setdefault(name, self.draw.between(0.8, 1.25))

    def bent(self, value: float) -> float:
        """The increasing map; it keeps 0 and 1."""
        return float(value + self._bend * value * (1 - value))


def _permuted(change: Change, value: Any, axes: str, entry: Callable[[float], float]) -> Any:
    """The entries changed, equal ones equally, and the axes permuted; lists remain lists."""
    table = np.asarray(value)
    known = {number: entry(number) for number in dict.fromkeys(table.ravel().tolist())}
    moved = np.array([known[number] for number in table.ravel().tolist()], dtype=table.dtype)
    moved = moved.reshape(table.shape)
    for number, axis in enumerate(axes):
        if axis != ".":
            moved = moved.take(change.order(axis, table.shape[number]), axis=number)
    return moved.tolist() if isinstance(value, list) else moved


def unit(axes: str = "") -> Varier:
    """Means in [0, 1]: a table with these axes, or a number.  An axis ``.`` keeps its order."""
    if not axes:
        return lambda change, value: change.bent(value)
    return lambda change, value: _permuted(change, value, axes, change.bent)


def sizes(axes: str) -> Varier:
    """Positive numbers, each with a factor of its own; zeros stay."""
    return lambda change, value: _permuted(
        change, value, axes, lambda x: x * change.draw.between(0.8, 1.25)
    )


def counts(axes: str) -> Varier:
    """Whole numbers, at least 1 where they were."""
    return lambda change, value: _permuted(
        change, value, axes, lambda x: max(min(x, 1), round(x * change.draw.between(0.7, 1.5)))
    )


def moved(axes: str) -> Varier:
    """The same entries in another order."""
    return lambda change, value: _permuted(change, value, axes, lambda x: x)


def index_of(axis: str) -> Varier:
    """An index into an axis, or several: they follow the permutation."""

    def follow(change: Change, value: Any) -> Any:
        order = change._orders[axis]
        if isinstance(value, np.ndarray):
            return np.array([order.index(n) for n in value.tolist()], dtype=value.dtype)
        if isinstance(value, list):
            return [order.index(n) for n in value]
        return order.index(value)

    return follow


def near(low: float = 0.8, high: float = 1.25, most: float = float("inf")) -> Varier:
    """A number times a factor."""
    return lambda change, value: min(value * change.draw.between(low, high), most)


def whole(low: float = 0.7, high: float = 1.5) -> Varier:
    """A whole number, roughly as large; at least 1 if it was."""
    return lambda change, value: max(min(value, 1), round(value * change.draw.between(low, high)))


def alike(name: str) -> Varier:
    """A number times the factor that all of this name share."""
    return lambda change, value: value * change.factor(name)


def keep(change: Change, value: Any) -> Any:
    """As it is."""
    return value


def varied(vary: Vary, draw: Draw, arguments: Arguments) -> Arguments:
    """Another call like this one."""
    if callable(vary):
        return vary(draw, arguments)
    change = Change(draw)
    return tuple(varier(change, value) for varier, value in zip(vary, arguments, strict=True))
