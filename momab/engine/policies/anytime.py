r"""Width-guided without a horizon: Algorithm 1 in epochs whose ends square.

**The rule.**  Epoch k ends at :math:`T_k=2^{2^k}`.  In round t (t pulls made, t >= K) the current
epoch is the first with :math:`T_k>\max(t,K)`, and the policy is Algorithm 1 with radius
:math:`\sqrt{c\log T_k/N}`; all samples are kept.  A certificate commits until the epoch ends; then
the races go on with the new radius.  The horizon is never used.  (If the run ends within the
epoch, a commitment is for good, and the engine may write it down in closed form.)

The chapter on small coefficients proves what that costs: at c = 2 at most twice the leading term
of Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from momab._util.validate import positive_number
from momab.engine.policies.base import COEFFICIENTS, Policy, Values
from momab.engine.policies.width_guided import WidthGuided
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

    objective_rule: ClassVar[str] = "widest"
    certificate: ClassVar[str] = "hoeffding"
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
        """Prepare the races; the radius is that of the first epoch."""
        start_1(self)
        self.end = np.array([epoch_end(self.K)])
        self.clog = np.array([self.c * log(self.end[0])])

    moved = WidthGuided.moved

    def select(self, t: int, coin: Coins) -> int:
        """Begin an epoch when its time has come, and decide as Algorithm 1."""
        if t >= self.end[0]:
            begin_epoch(self, t)
        return algorithm_1(self, t, coin)


start_1: Any = WidthGuided.start
moved_1: Any = WidthGuided.moved
algorithm_1: Any = WidthGuided.select


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
