r"""MOSS, the policy of the worst case, on one number for each reward vector.

MOSS (Audibert and Bubeck 2009) pulls the arm with the largest
:math:`m+\sqrt{\tfrac{4\sigma^2}N\log^+\tfrac T{KN}}`, where m is the mean of numbers with variance
proxy :math:`\sigma^2`.  Here such a number is the average of the objectives of a reward vector,
with :math:`\sigma^2=1/(4d)` if they are independent, or its first objective, with
:math:`\sigma^2=1/4` whatever the dependence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momab.engine.policies.base import Policy, Values, one_of
from momab.engine.streams import Coins
from momab.engine.tools import choose_top
from momab.model.numerics import log

NUMBERS = ("average", "first")


@dataclass(frozen=True)
class MOSS(Policy):
    """MOSS on the average of all objectives, or on the first one.

    Parameters
    ----------
    number : str, optional
        What it looks at: the average of the objectives ("average", for objectives known to be
        independent), or the first objective ("first", valid whatever the dependence).

    Raises
    ------
    MomabError
        If the number is neither of these.
    """

    number: str = "average"

    family: ClassVar[str] = "moss"
    style: ClassVar[tuple[str, str]] = ("crimson", "h")
    good_options: ClassVar[Values] = {"number": NUMBERS}
    bad_options: ClassVar[Values] = {"number": ("last", 0, None)}

    def __post_init__(self) -> None:
        """Validate the options."""
        one_of(self.number, NUMBERS, "number")

    @property
    def name(self) -> str:
        """The name that keys the coin stream and the tables."""
        return self.family if self.number == "average" else f"{self.family}-{self.number}"

    @property
    def label(self) -> str:
        """The name in figures."""
        return "MOSS" if self.number == "average" else "MOSS (first objective)"

    def start(self) -> None:
        """Settle how many objectives count; the index of every arm."""
        self.seen = self.d if self.number == "average" else 1
        self.index = np.zeros(self.K)

    def moved(self, arm: int) -> None:
        """Average the means of the arm that was pulled, objectives in order; find its index."""
        total = 0.0
        for j in range(self.seen):
            total += self.means[arm, j]
        spread = max(0.0, log(self.T / (self.K * self.counts[arm])))
        self.index[arm] = total / self.seen + math.sqrt(spread / (self.seen * self.counts[arm]))

    def select(self, t: int, coin: Coins) -> int:
        """Slot 0 breaks ties of the index."""
        return choose_top(self.index, 0, coin)
