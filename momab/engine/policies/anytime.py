r"""Width-guided without a horizon: Algorithm 1 in epochs whose ends square.

**The rule.**  Epoch k ends at :math:`T_k=2^{2^k}`.  In round t (t pulls made, t >= K) the current
epoch is the first with :math:`T_k>\max(t,K)`, and the policy is Algorithm 1 with radius
:math:`\sqrt{c\log T_k/N}`; all samples are kept.  A certificate commits until the epoch ends; then
the races go on with the new radius.  The horizon is never used.  (If the run ends within the
epoch, a commitment is for good, and the engine may write it down in closed form.)

**What it costs.**  Rewards in [0, 1], c > 1, :math:`g=g^\dagger>0`, T > K.  Let
:math:`T_{k_0}` be the first end above K and :math:`T_{k^*}` the first that is at least T.  Then

.. math:: \mathbb E R_T\le K\Delta_{\max}+\frac{32cK\log T_{k^*}}g
   +2Kd\,\Delta_{\max}\sum_{k=k_0}^{k^*}T_k^{2-2c},\qquad \log T_{k^*}\le2\log(T-1),

and for c = 2 the last term is at most :math:`2d\Delta_{\max}/(K+2)`.  *Proof.*  Let
:math:`\Omega_k`: the mean of the first n rewards of every arm is within
:math:`\sqrt{c\log T_k/n}` of its expectation, on every objective, n up to :math:`T_k`.  By
Hoeffding it fails with probability at most :math:`2Kd\,T_k^{1-2c}`, and then the fewer than
:math:`T_k` rounds of the epoch cost at most :math:`\Delta_{\max}` each: the last term.  Lemmas 9
to 11 speak of one round whose intervals hold.  So on :math:`\Omega_k`, in epoch k,
commitments are free, and a raced pull of arm a that
finds N pulls has :math:`\Delta_a\le4\sqrt{c\log T_k/N}` and
:math:`N\le16c\log T_k/g^2`.  Both only grow if :math:`T_k` becomes :math:`T_{k^*}`; and since all
samples are kept, no two pulls of an arm find the same N.  So all good epochs
together cost an arm at most
:math:`\sum_N4\sqrt{c\log T_{k^*}/N}\le32c\log T_{k^*}/g`, N up to
:math:`16c\log T_{k^*}/g^2`: the last epoch's ceiling pays for all.  Finally the epoch before the
last ends at T - 1 or earlier, so :math:`T_{k^*}\le(T-1)^2`; and
:math:`\sum_kT_k^{-2}\le1/(T_{k_0}^2-1)\le1/(K(K+2))`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from momab._util.validate import positive_number
from momab.engine.policies.base import COEFFICIENTS, Policy, Values
from momab.engine.policies.width_guided import WIDEST, WidthGuided, prepare_races
from momab.engine.streams import Coins
from momab.model.numerics import log


@dataclass(frozen=True)
class AnytimeWidthGuided(Policy):
    """Algorithm 1 in epochs that end at 2^(2^k), with every sample kept and no horizon.

    Parameters
    ----------
    c : float, optional
        The confidence coefficient, > 0: the radius of epoch k is sqrt(c log(2^(2^k)) / N).

    Raises
    ------
    MomabError
        If c is not positive.
    """

    c: float = 2.0

    family: ClassVar[str] = "anytime-width-guided"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Anytime Width-guided"
    style: ClassVar[tuple[str, str]] = ("sky", "P")
    good_options: ClassVar[Values] = {"c": COEFFICIENTS}
    bad_options: ClassVar[Values] = {"c": (0, "2", float("nan"))}

    def __post_init__(self) -> None:
        """Validate the options."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))

    def start(self) -> None:
        """Prepare the races of the first epoch; all else is Algorithm 1."""
        self.rule, self.kl = WIDEST, False
        self.end = np.array([epoch_end(self.K)])
        prepare_races(self)

    moved = WidthGuided.moved

    def select(self, t: int, coin: Coins) -> int:
        """Begin an epoch when its time has come, and decide as Algorithm 1."""
        if t >= self.end[0]:
            begin_epoch(self, t)
        return algorithm_1(self, t, coin)


algorithm_1: Any = WidthGuided.select
moved_1: Any = WidthGuided.moved


def epoch_end(t: int) -> int:
    """Return the first 2^(2^k) above t, k = 0, 1, 2, ..."""
    end = 2
    while end <= t:
        end *= end
    return end


def begin_epoch(self: Any, t: int) -> None:
    """Begin the epoch of round t: all radii change, to sqrt(c log(its end) / N)."""
    self.end[0] = epoch_end(t)
    self.clog[0] = self.c * log(self.end[0])
    for a in range(self.K):
        moved_1(self, a)
