r"""What a policy may use in ``moved`` and ``select``: choices by coins, ties, commitments.

Everything here is written in the *plain-loop subset* of Python: numbers, arrays of numbers that
``start`` has made, loops, conditions, functions of the same kind, :mod:`math`.  CPython runs it
as it stands; numba compiles the same text.

>>> from momab.engine.streams import coins_for
>>> coin = coins_for("greedy", seed=1, run=0)
>>> choose(1, 0, coin)  # a choice among one takes no coin
0
"""

from __future__ import annotations

from typing import Any

from momab._util.validate import BoolArray, FloatArray
from momab.engine.streams import Coins, word

TIE = 1e-12
"""Values this close to the largest are tied with it."""

ARM, OBJECTIVE, SINCE, UNTIL = range(4)
"""What the entries of ``self.commitment`` hold."""


def choose(n: int, slot: int, coin: Coins) -> int:
    """Choose one of 0, ..., n - 1 uniformly by the coin of a slot: (word * n) >> 32."""
    return 0 if n == 1 else (word(coin, slot) * n) >> 32


def choose_among(marked: BoolArray, slot: int, coin: Coins) -> int:
    """Choose uniformly among the indices that are marked."""
    n = 0
    for i in range(marked.size):
        if marked[i]:
            n += 1
    left = choose(n, slot, coin)
    for i in range(marked.size):
        if marked[i]:
            if left == 0:
                return i
            left -= 1
    return -1


def choose_top(values: FloatArray, slot: int, coin: Coins) -> int:
    """Return the index of the largest value; a coin decides among those within TIE of it."""
    best, first, n = values[0], 0, 1
    for i in range(1, values.size):
        if values[i] > best:
            best, first = values[i], i
    for i in range(values.size):
        if i != first and values[i] >= best - TIE:
            n += 1
    if n == 1:
        return first
    left = choose(n, slot, coin)
    for i in range(values.size):
        if values[i] >= best - TIE:
            if left == 0:
                return i
            left -= 1
    return first


def commit(self: Any, t: int, arm: int, objective: int, until: int) -> None:
    """Give all pulls from round t up to round ``until`` to one arm, which an objective proved.

    A commitment to the end of the run is a certificate, and the driver writes it down.
    """
    self.commitment[ARM] = arm
    self.commitment[OBJECTIVE] = objective
    self.commitment[SINCE] = t
    self.commitment[UNTIL] = until
