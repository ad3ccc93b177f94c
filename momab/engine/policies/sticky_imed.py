r"""Sticky Pareto IMED: Pareto IMED with a target that is kept until another is clearly cheaper.

Let n be the least number of pulls of any arm, :math:`s=n^{-1/4}` and :math:`s'=n^{-1/5}`, and

.. math:: \hat S(a)=\sum_b\hat\Delta_b/(\hat D_b(a)+s)

over all arms b, where :math:`\hat D_a(a)=0`.  The target z stays while
:math:`\hat S(z)\le(1+s')\min\hat S`, the minimum over the arms of empirical gap zero; otherwise it
becomes an arm that attains the minimum.  The candidate is z if its empirical gap is zero, and
otherwise the arm with the largest least lead over z.  The index is that of Pareto IMED.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.streams import Coins
from momab.engine.tools import TIE, choose_top


@dataclass(frozen=True)
class StickyIMED(ParetoIMED):
    """Pareto IMED that stays with its target until another one is clearly cheaper.

    Parameters
    ----------
    evidence : str, optional
        As for :class:`ParetoIMED`: "max" or "sum".

    Raises
    ------
    MomabError
        If the evidence is neither of these.
    """

    family: ClassVar[str] = "sticky-imed"
    style: ClassVar[tuple[str, str]] = ("olive", "*")

    @property
    def label(self) -> str:
        """The name in figures."""
        return "Sticky Pareto IMED" + ("" if self.evidence == "max" else f" ({self.evidence})")

    def start(self) -> None:
        """Make the tables of Pareto IMED; the target is -1 before the first decision."""
        super().start()
        self.target = np.array([-1])

    def select(self, t: int, coin: Coins) -> int:
        """Slot 0 breaks ties between targets, slot 1 between indices, slot 2 between leads."""
        candidate = candidate_of_target(self, coin)
        for b in range(self.K):
            self.value[b] = -(self.counts[b] * self.D[candidate, b] + self.log_count[b])
        return choose_top(self.value, 1, coin)


def candidate_of_target(self: Any, coin: Coins) -> int:
    """Keep the target or change it; return it, or an arm above it on every objective."""
    K, gap, value = self.K, self.gap, self.value
    least = self.counts[0]
    for b in range(K):
        gap[b], value[b] = 0.0, 0.0
        least = min(least, self.counts[b])
        for c in range(K):
            gap[b] = max(gap[b], self.lead[c, b])
    slack = 1.0 / math.sqrt(math.sqrt(least))
    for b in range(K):
        if gap[b] > TIE:
            for a in range(K):
                value[a] += gap[b] / (self.D[a, b] + slack)
    z = self.target[0]
    kept = value[z] if z >= 0 else math.inf
    cheapest = math.inf
    for a in range(K):
        if gap[a] > TIE:
            value[a] = math.inf
        cheapest = min(cheapest, value[a])
    if not kept <= (1.0 + 1.0 / fifth_root(least)) * cheapest:
        for a in range(K):
            value[a] = -value[a]
        z = choose_top(value, 0, coin)
        self.target[0] = z
    if gap[z] > TIE:
        for c in range(K):
            value[c] = self.lead[c, z]
        z = choose_top(value, 2, coin)
    return z


def fifth_root(n: int) -> float:
    """The fifth root of a number n >= 1 by Newton's method from above; no library power."""
    x = math.sqrt(math.sqrt(n))
    lower = (4.0 * x + n / (x * x * x * x)) / 5.0
    while lower < x:
        x = lower
        lower = (4.0 * x + n / (x * x * x * x)) / 5.0
    return x
