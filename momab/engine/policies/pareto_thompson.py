r"""Pareto Thompson sampling: a uniform choice on the front of a sample from the posterior.

Every coordinate of every arm has its own Beta posterior, :math:`\mathrm{Beta}(1+S, 1+N-S)` with
the sum S of its N rewards in [0, 1], taken as they are.  Each round draws one number per
coordinate and chooses uniformly among the arms whose drawn vectors no other one dominates.

**The sampler.**  X / (X + Y) is Beta(p, q) when X and Y are independent gamma variables of shapes
p and q.  An attempt at both takes four words.  The first two, put in the middle of their cells in
(-1, 1), are a point (u, v); inside the unit disc, with :math:`s=u^2+v^2`, the numbers
:math:`(u, v)\sqrt{-2\log(s)/s}` are independent and normal (the polar method).  Each of them makes
one gamma variable as Marsaglia and Tsang (2000) do: with :math:`e = p-1/3` and
:math:`g=(1+x/\sqrt{9e})^3`, eg is one if g > 0 and
:math:`\log w<x^2/2+e(1-g+\log g)`, which is certain when :math:`w<1-0.0331x^4`; w is the third
word, for Y the fourth, in the middle of its cell in (0, 1).  Unless the point is in the disc and
both are accepted, the attempt is thrown away as a whole.  The two halves are accepted
independently of each other, so what is left are two independent gamma variables.

**The words.**  Slot 0 of a round is the choice among arms.  Attempt k at coordinate
i = a d + j takes slots 4 g, ..., 4 g + 3, one block, of the group g = 1 + k K d + i.  No two
attempts share a word, and none of them waits for another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momab._util.validate import FloatArray
from momab.engine.policies.base import Values, View, nondominated, selection
from momab.engine.streams import Coins
from momab.model.numerics import log

CELL = 2.0**-32
SQUEEZE = 0.0331


@dataclass(frozen=True)
class ParetoThompson:
    """Uniform choice on the front of one draw per coordinate from its Beta posterior."""

    name: ClassVar[str] = "pareto-thompson"
    label: ClassVar[str] = "Pareto Thompson"
    style: ClassVar[tuple[str, str]] = ("pink", "v")
    good_options: ClassVar[Values] = {}
    bad_options: ClassVar[Values] = {}


def _gamma(shape: float, x: float, word: int) -> float | None:
    """Return a gamma variable of this shape >= 1 from a normal x, or None if it is rejected."""
    e = shape - 1.0 / 3.0
    root = 1.0 + x * (1.0 / math.sqrt(9.0 * e))
    if root <= 0.0:
        return None
    g, xx, w = root * root * root, x * x, (word + 0.5) * CELL
    if w < 1.0 - SQUEEZE * (xx * xx) or log(w) < 0.5 * xx + e * (1.0 - g + log(g)):
        return e * g
    return None


def _attempt(p: float, q: float, words: list[int]) -> float | None:
    """Return a Beta(p, q) variable, or None if the attempt is thrown away."""
    u, v = (2 * words[0] + 1) * CELL - 1.0, (2 * words[1] + 1) * CELL - 1.0
    s = u * u + v * v
    if s >= 1.0:
        return None
    scale = math.sqrt(-2.0 * log(s) / s)
    x, y = _gamma(p, u * scale, words[2]), _gamma(q, v * scale, words[3])
    return None if x is None or y is None else x / (x + y)


def beta_draw(p: float, q: float, coin: Coins, place: int, places: int) -> float:
    """Draw from Beta(p, q), p, q >= 1, with the words of one of so many places of this round."""
    drawn, group = None, 1 + place
    while drawn is None:
        drawn = _attempt(p, q, [coin.word(4 * group + lane) for lane in range(4)])
        group += places
    return drawn


@selection(ParetoThompson)
def select_pareto_thompson(policy: ParetoThompson, view: View, coin: Coins) -> int:
    """Slot 0 chooses among the drawn vectors that no other dominates."""
    K, d = view.K, view.d
    drawn: FloatArray = np.zeros((K, d))
    for a, (n, row) in enumerate(zip(view.counts.tolist(), view.sums.tolist())):
        for j, total in enumerate(row):
            drawn[a, j] = beta_draw(1.0 + total, 1.0 + (n - total), coin, a * d + j, K * d)
    return coin.choose(np.flatnonzero(nondominated(drawn)), slot=0)
