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

from momab.engine.policies.base import Policy, Values
from momab.engine.policies.pareto_ucb1 import find_front
from momab.engine.streams import Coins, four_words
from momab.engine.tools import choose_among
from momab.model.numerics import log

CELL = 2.0**-32
SQUEEZE = 0.0331


@dataclass(frozen=True)
class ParetoThompson(Policy):
    """Uniform choice on the front of one draw per coordinate from its Beta posterior."""

    name: ClassVar[str] = "pareto-thompson"
    label: ClassVar[str] = "Pareto Thompson"
    style: ClassVar[tuple[str, str]] = ("pink", "v")
    good_options: ClassVar[Values] = {}
    bad_options: ClassVar[Values] = {}

    def start(self) -> None:
        """Make room for the draws."""
        self.vector = np.zeros((self.K, self.d))
        self.member = np.zeros(self.K, dtype=np.bool_)
        self.dominator = np.zeros(self.K, dtype=np.int64)

    def select(self, t: int, coin: Coins) -> int:
        """Slot 0 chooses among the drawn vectors that no other dominates."""
        K, d = self.K, self.d
        for a in range(K):
            for j in range(d):
                total, n = self.sums[a, j], self.counts[a]
                draw = beta_draw(1.0 + total, 1.0 + (n - total), coin, a * d + j, K * d)
                self.vector[a, j] = draw
        find_front(self)
        return choose_among(self.member, 0, coin)


def beta_draw(p: float, q: float, coin: Coins, place: int, places: int) -> float:
    """Draw from Beta(p, q), p, q >= 1, with the words of one of so many places of this round."""
    group = 1 + place
    while True:
        w0, w1, w2, w3 = four_words(coin, group)
        u, v = (2 * w0 + 1) * CELL - 1.0, (2 * w1 + 1) * CELL - 1.0
        s = u * u + v * v
        if s < 1.0:
            scale = math.sqrt(-2.0 * log(s) / s)
            x = gamma_draw(p, u * scale, w2)
            y = gamma_draw(q, v * scale, w3)
            if x > 0.0 and y > 0.0:
                return x / (x + y)
        group += places


def gamma_draw(shape: float, x: float, word: int) -> float:
    """Return a gamma variable of this shape >= 1 from a normal x, or -1 if it is rejected."""
    e = shape - 1.0 / 3.0
    root = 1.0 + x * (1.0 / math.sqrt(9.0 * e))
    if root <= 0.0:
        return -1.0
    g, xx, w = root * root * root, x * x, (word + 0.5) * CELL
    if w < 1.0 - SQUEEZE * (xx * xx) or log(w) < 0.5 * xx + e * (1.0 - g + log(g)):
        return e * g
    return -1.0
