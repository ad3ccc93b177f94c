r"""KL-UCB, a scalar policy: optimal on one objective, the yardstick of the lower bound.

KL-UCB pulls the arm whose index :math:`\max\{q: N\,\mathrm{kl}(\hat\mu,q)\le\log t\}` is the
largest; on Bernoulli rewards its regret attains the Lai-Robbins constant as T grows.  It looks
at one objective only, so on duplicated coordinates it is a policy for the scalar samples.  No
coin breaks a tie: equal indices go to the arm with the fewest pulls, then to the first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from momab.engine.policies.base import OBJECTIVE_CHOICES, OneObjective, Values, watched_objective
from momab.engine.streams import Coins
from momab.model.numerics import log

PRECISION = 1e-9
"""An index is found from below, to within this."""


def kl_above(p: float, q: float) -> float:
    """kl(p, q) for 0 <= p <= q <= 1, by the logarithm that decisions use."""
    total = 0.0
    if p > 0.0:
        total += p * log(p / q)
    if p < 1.0:
        if q >= 1.0:
            return math.inf
        total += (1.0 - p) * log((1.0 - p) / (1.0 - q))
    return total


def bisected_index(p: float, n: int, level: float) -> float:
    """The largest q >= p with n kl(p, q) <= level, from below, by bisection."""
    # kl(p, q) >= 2 (q - p)^2 says how far it can be
    low, high = p, min(1.0, p + math.sqrt(level / (2.0 * n)))
    if high == 1.0 and n * kl_above(p, high) <= level:
        return high
    while high - low > PRECISION:
        middle = 0.5 * (low + high)
        if n * kl_above(p, middle) <= level:
            low = middle
        else:
            high = middle
    return low


@dataclass(frozen=True)
class KLUCB(OneObjective):
    """KL-UCB with exploration level log t, on one objective; it ignores the others.

    Parameters
    ----------
    objective : int or str, optional
        The objective it looks at: its number, counted from 0; the champion objective ("oracle"),
        which it is told; or one that a coin draws once per run ("random").

    Raises
    ------
    MomabError
        If the objective is none of these; when it plays, if the instance has no such objective.
    """

    family: ClassVar[str] = "kl-ucb"
    title: ClassVar[str] = "KL-UCB"
    style: ClassVar[tuple[str, str]] = ("green", "P")
    good_options: ClassVar[Values] = {"objective": (0, 1, *OBJECTIVE_CHOICES)}
    bad_options: ClassVar[Values] = {"objective": (-1, 0.5, "first", None)}

    def select(self, t: int, coin: Coins) -> int:
        """Choose the largest index; only a random objective needs a coin, slot 1, once."""
        j, level = watched_objective(self, coin), log(t)
        arm, best = 0, -1.0
        for a in range(self.K):
            index = bisected_index(self.means[a, j], self.counts[a], level)
            if index > best or (index == best and self.counts[a] < self.counts[arm]):
                arm, best = a, index
        return arm
