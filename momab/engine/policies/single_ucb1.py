r"""UCB1 on one objective: what a scalar policy does that ignores the others.

It pulls the arm whose index :math:`\hat\mu + \sqrt{c\log t/N}` on the objective is the largest; t
counts the pulls made.  With c = 2 this is the textbook's UCB1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momab._util.validate import positive_number
from momab.engine.policies.base import (
    COEFFICIENTS,
    OBJECTIVE_CHOICES,
    OneObjective,
    Values,
    watched_objective,
)
from momab.engine.streams import Coins
from momab.engine.tools import choose_top
from momab.model.numerics import log


@dataclass(frozen=True)
class SingleUCB1(OneObjective):
    """UCB1 with index mean + sqrt(c log t / N), on one objective; it ignores the others.

    Parameters
    ----------
    objective : int or str, optional
        The objective it looks at: its number, counted from 0; the champion objective ("oracle"),
        which it is told; or one that a coin draws once per run ("random").
    c : float, optional
        The confidence coefficient, > 0.

    Raises
    ------
    MomabError
        If an option is none of these; when it plays, if the instance has no such objective.
    """

    c: float = 2.0

    family: ClassVar[str] = "single-ucb1"
    title: ClassVar[str] = "Single UCB1"
    style: ClassVar[tuple[str, str]] = ("sky", "X")
    good_options: ClassVar[Values] = {"objective": (0, 1, *OBJECTIVE_CHOICES), "c": COEFFICIENTS}
    bad_options: ClassVar[Values] = {
        "objective": (-1, 0.5, "first", None),
        "c": (0, "2", float("inf")),
    }

    def __post_init__(self) -> None:
        """Validate the options."""
        super().__post_init__()
        object.__setattr__(self, "c", positive_number(self.c, "c"))

    def start(self) -> None:
        """Settle the objective; the index of every arm."""
        super().start()
        self.index = np.zeros(self.K)

    def select(self, t: int, coin: Coins) -> int:
        """Slot 0 breaks the ties of the index; slot 1 draws a random objective, once."""
        j, bonus = watched_objective(self, coin), self.c * log(t)
        for a in range(self.K):
            self.index[a] = self.means[a, j] + math.sqrt(bonus / self.counts[a])
        return choose_top(self.index, 0, coin)
