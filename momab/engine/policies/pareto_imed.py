r"""Pareto IMED: an index policy that follows the price of an instance.

IMED (Honda and Takemura 2015) pulls the arm with the least
:math:`N_b\,\mathrm{kl}(\hat\mu_b,\max\hat\mu)+\log N_b`.  With several objectives there are
several arms to compare with, so a candidate is chosen first.  Let :math:`\hat\Delta_b` be the
Pareto gaps of the empirical means, and

.. math:: D_b(a)=\sum_j\mathrm{kl}^+(\hat\mu_b^{(j)},\hat\mu_a^{(j)})
   \quad\text{or}\quad \max_j\mathrm{kl}^+(\hat\mu_b^{(j)},\hat\mu_a^{(j)})

the evidence that arm b is not as good as arm a everywhere, where kl+(p, q) is kl(p, q) if p < q
and else 0.  The candidate is the arm of gap zero with the least price
:math:`\sum_b\hat\Delta_b/D_b(a)`; the arm pulled is the one with the least index
:math:`I_b=N_bD_b(a)+\log N_b`, where :math:`I_a=\log N_a`.  There is no coefficient and no
horizon.  With one objective this is IMED.

**Digits.**  With :math:`h(p)=p\log p+(1-p)\log(1-p)`, kl(p, q) is computed as
:math:`h(p)-(p\log q+(1-p)\log(1-q))`, and as :math:`2(q-p)^2`, which it never falls below, where
rounding left less.  So logarithms are needed of the pulled arm's means only, and the evidence
against an arm with a gap is never zero.  It is infinite when q = 1: such a b costs nothing and
its index is infinite.  A gap up to ``TIE`` counts as zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from momab.engine.policies.base import Policy, Values, one_of
from momab.engine.streams import Coins
from momab.engine.tools import TIE, choose_top
from momab.model.numerics import log

EVIDENCE = ("max", "sum")


@dataclass(frozen=True)
class ParetoIMED(Policy):
    """IMED against the arm of gap zero with the least price; no coefficient, no horizon.

    Parameters
    ----------
    evidence : str, optional
        How the divergences of the objectives make one number: their maximum ("max", valid
        whatever the dependence between objectives) or their sum ("sum", for objectives known to
        be independent; on dependent ones it explores too little).

    Raises
    ------
    MomabError
        If the evidence is neither of these.
    """

    evidence: str = "max"

    family: ClassVar[str] = "pareto-imed"
    style: ClassVar[tuple[str, str]] = ("gold", "*")
    good_options: ClassVar[Values] = {"evidence": EVIDENCE}
    bad_options: ClassVar[Values] = {"evidence": ("mean", 1, None)}

    def __post_init__(self) -> None:
        """Validate the options."""
        one_of(self.evidence, EVIDENCE, "evidence")

    @property
    def name(self) -> str:
        """The name that keys the coin stream and the tables."""
        return self.family if self.evidence == "max" else f"{self.family}-{self.evidence}"

    @property
    def label(self) -> str:
        """The name in figures."""
        return "Pareto IMED" if self.evidence == "max" else f"Pareto IMED ({self.evidence})"

    def start(self) -> None:
        """Make the tables; D[a, b] is the evidence D_b(a), arm b in row a."""
        K, d = self.K, self.d
        self.add = self.evidence == "sum"
        self.log_one, self.log_zero = np.zeros((K, d)), np.zeros((K, d))  # log m, log(1 - m)
        self.h = np.zeros((K, d))  # m log m + (1 - m) log(1 - m)
        self.D, self.inverse = np.zeros((K, K)), np.zeros((K, K))  # inverse[b, a] = 1 / D_b(a)
        self.lead = np.zeros((K, K))  # lead[c, b] = min over j of m_c - m_b
        self.gap, self.value, self.log_count = np.zeros(K), np.zeros(K), np.zeros(K)

    def moved(self, arm: int) -> None:
        """A pull moves one arm, and with it one row and one column of every table."""
        bring_up_to_date(self, arm)

    def select(self, t: int, coin: Coins) -> int:
        """Slot 0 breaks ties between candidates, slot 1 ties between indices."""
        find_prices(self)
        candidate = choose_top(self.value, 0, coin)
        for b in range(self.K):
            self.value[b] = -(self.counts[b] * self.D[candidate, b] + self.log_count[b])
        return choose_top(self.value, 1, coin)


def bring_up_to_date(self: Any, arm: int) -> None:
    """Find the logarithms of an arm that has moved, and compare it with all others."""
    self.log_count[arm] = log(self.counts[arm])
    for j in range(self.d):
        m = self.means[arm, j]
        self.log_one[arm, j] = log(m) if m > 0.0 else 0.0  # no arm has a mean below 0
        self.log_zero[arm, j] = log(1.0 - m) if m < 1.0 else -math.inf
        self.h[arm, j] = 0.0
        if m < 1.0:
            self.h[arm, j] = m * self.log_one[arm, j] + (1.0 - m) * self.log_zero[arm, j]
    for b in range(self.K):
        if b != arm:
            compare_arms(self, arm, b)


def compare_arms(self: Any, a: int, b: int) -> None:
    """Compare two arms: the evidence against each, and by how much each leads everywhere."""
    against_a, against_b = 0.0, 0.0
    a_ahead, b_ahead = math.inf, math.inf
    for j in range(self.d):
        x = self.means[b, j] - self.means[a, j]
        if x > 0.0:
            kl = divergence(self, a, b, j)
            against_a = against_a + kl if self.add else max(against_a, kl)
        elif x < 0.0:
            kl = divergence(self, b, a, j)
            against_b = against_b + kl if self.add else max(against_b, kl)
        a_ahead, b_ahead = min(a_ahead, -x), min(b_ahead, x)
    self.lead[a, b], self.lead[b, a] = a_ahead, b_ahead
    self.D[b, a], self.D[a, b] = against_a, against_b
    self.inverse[a, b] = 1.0 / against_a if against_a > 0.0 else 0.0
    self.inverse[b, a] = 1.0 / against_b if against_b > 0.0 else 0.0


def divergence(self: Any, b: int, a: int, j: int) -> float:
    """kl of the means of b and a on objective j, b below a; at least 2 (m_a - m_b)^2."""
    p, q = self.means[b, j], self.means[a, j]
    kl = self.h[b, j] - (p * self.log_one[a, j] + (1.0 - p) * self.log_zero[a, j])
    return max(kl, 2.0 * (q - p) * (q - p))


def find_prices(self: Any) -> None:
    """Write minus the price of every arm of gap zero, minus infinity for the others; b in order."""
    K, gap, value = self.K, self.gap, self.value
    for b in range(K):
        gap[b], value[b] = 0.0, 0.0
    for c in range(K):
        for b in range(K):
            gap[b] = max(gap[b], self.lead[c, b])
    for b in range(K):
        if gap[b] > TIE:
            for a in range(K):
                value[a] += gap[b] * self.inverse[b, a]
    for a in range(K):
        value[a] = -math.inf if gap[a] > TIE else -value[a]
