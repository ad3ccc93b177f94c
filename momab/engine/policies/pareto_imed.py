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
from typing import ClassVar, cast

import numpy as np

from momab._util.validate import FloatArray
from momab.engine.policies.base import TIE, Values, View, one_of, selection, top
from momab.engine.streams import Coins
from momab.model.numerics import log

EVIDENCE = ("max", "sum")


@dataclass(frozen=True)
class ParetoIMED:
    """IMED against the free arm of least price; no coefficient, no horizon.

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


def _logarithms(view: View) -> FloatArray:
    """Return log m, log(1 - m) and h(m) of all means, shape (3, K, d).

    log 0 counts as 0 where m = 0: no arm has a mean below that.
    """
    memory = view.memory
    logs: FloatArray = memory.setdefault("logs", np.zeros((3, view.K, view.d)))
    seen = memory.setdefault("seen", np.zeros(view.K, dtype=np.int64))
    for a in np.flatnonzero(view.counts != seen):
        for j, m in enumerate(view.means[a].tolist()):
            one = log(m) if m > 0.0 else 0.0
            zero = log(1.0 - m) if m < 1.0 else -math.inf
            logs[:, a, j] = one, zero, m * one + (1.0 - m) * zero if m < 1.0 else 0.0
        seen[a] = view.counts[a]
    return logs


def _evidence(policy: ParetoIMED, view: View) -> FloatArray:
    """Return D_b(a) as D[b, a]; the sum is taken in the order of the objectives."""
    log_one, log_zero, h = _logarithms(view)
    m = view.means
    D = np.zeros((view.K, view.K))
    for j in range(view.d):
        p, q = m[:, None, j], m[None, :, j]
        with np.errstate(invalid="ignore"):  # 0 log 0 where p = q = 1, which is not p < q
            kl = h[:, None, j] - (p * log_one[None, :, j] + (1.0 - p) * log_zero[None, :, j])
        kl = np.where(p < q, np.maximum(kl, 2.0 * (q - p) * (q - p)), 0.0)
        D = D + kl if policy.evidence == "sum" else np.maximum(D, kl)
    return D


def _gaps(means: FloatArray) -> FloatArray:
    """Return the Pareto gaps of the empirical means, max over c of min over j of m_c - m_b."""
    gaps = (means[:, None, :] - means[None, :, :]).min(axis=2).max(axis=0)
    return cast(FloatArray, np.where(gaps > TIE, gaps, 0.0))


def _prices(gaps: FloatArray, D: FloatArray) -> FloatArray:
    """Return the price of every free arm, infinite for the others; b runs in index order."""
    with np.errstate(divide="ignore"):
        each = np.where(D > 0.0, 1.0 / D, 0.0)
    prices = np.zeros(len(gaps))
    for b in np.flatnonzero(gaps > 0.0):
        prices += gaps[b] * each[b]
    return np.where(gaps > 0.0, np.inf, prices)


@selection(ParetoIMED)
def select_pareto_imed(policy: ParetoIMED, view: View, coin: Coins) -> int:
    """Slot 0 breaks ties between candidates, slot 1 ties between indices."""
    D = _evidence(policy, view)
    candidate = coin.choose(top(-_prices(_gaps(view.means), D)), slot=0)
    counts = view.counts.tolist()
    index = view.counts * D[:, candidate] + np.array([log(n) for n in counts])
    return coin.choose(top(-index), slot=1)
