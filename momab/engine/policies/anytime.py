r"""Width-guided without a horizon: Algorithm 1 in epochs whose ends square.

**The rule.**  Epoch k ends at :math:`T_k=2^{2^k}`.  In round t (t pulls made, t >= K) the current
epoch is the first with :math:`T_k>\max(t,K)`, and the policy is Algorithm 1 with radius
:math:`\sqrt{c\log T_k/N}`; all samples are kept.  A certificate commits until the epoch ends; then
the races go on with the new radius.  The horizon is never used.  (If the run ends within the
epoch, a commitment is for good, and the engine may write it down in closed form.)

**What it costs.**  Rewards in [0, 1], c >= 2, T > K.  Let objective j have a unique maximiser,
a margin :math:`g_j>0` between its best and second best arm, and let k be the epoch of round
T - 1.  If every interval of the last epoch holds (all arms, objectives and counts up to
:math:`T_k`), then

.. math:: N_a(T)\le 1+\frac{16c\log T_k}{g_j^2}

for every arm that epoch k does not commit to, because a pull that is decided by a race of epoch
k has the width floor of epoch k, and an earlier pull the smaller one of its own epoch, while the
samples are the same; and a commitment of an earlier epoch on whose event its intervals held goes
to an arm of zero Pareto gap.  Since :math:`T_k\le\max(T^2, K^2, 4)`, that is at most twice the
leading term of Algorithm 1 with the horizon known.  An epoch whose intervals fail (probability at
most :math:`2Kd\,T_k^{1-2c}`) costs at most its :math:`T_k` rounds: :math:`2Kd\,T_k^{2-2c}`, which
for c = 2 sums to less than 2Kd/K^2 over all epochs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from momab._util.validate import positive_number
from momab.engine.policies.base import COEFFICIENTS, Certificate, Values, View, selection
from momab.engine.policies.width_guided import certified_objective, race_all, raced_arm
from momab.engine.streams import Coins
from momab.model.numerics import log


@dataclass(frozen=True)
class AnytimeWidthGuided:
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


def epoch_end(t: int) -> int:
    """Return the first 2^(2^k) above t, k = 0, 1, 2, ..."""
    end = 2
    while end <= t:
        end *= end
    return end


@selection(AnytimeWidthGuided)
def select_anytime(policy: AnytimeWidthGuided, view: View, coin: Coins) -> int:
    """Race as Algorithm 1 does, or keep to the epoch's commitment; its coins are those slots."""
    end = epoch_end(view.t)  # t >= K here
    arm, until = view.memory.get("commitment", (-1, 0))
    if view.t < until:
        return int(arm)
    race = view.details = race_all(policy.c * log(end), view, coin)
    j = certified_objective(race, coin)
    if j < 0:
        return raced_arm("widest", race, view, coin)
    arm = int(race.winner[j])
    view.memory["commitment"] = arm, end
    if view.horizon <= end:  # the run ends first
        view.certificate = Certificate(view.t, arm, j)
    return arm
