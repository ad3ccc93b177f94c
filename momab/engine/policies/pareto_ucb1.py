"""Pareto UCB1: a uniform choice on the front of the optimistic vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momab._util.validate import positive_number
from momab.engine.policies.base import (
    COEFFICIENTS,
    Given,
    Values,
    View,
    nondominated,
    one_of,
    selection,
)
from momab.engine.streams import Coins
from momab.errors import MomabError
from momab.model.instances import Bernoulli, Instance
from momab.model.numerics import log

Q_RULES = ("original", "real", "synthetic")


@dataclass(frozen=True)
class ParetoUCB1:
    """Uniform choice on the nondominated set of mean + sqrt(c log(t q) / N).

    Parameters
    ----------
    q : str or float, optional
        (d |A*|)^(1/4) ("original"), (d K)^(1/4) ("real": the paper's real-data runs),
        (4 d K)^(1/4) ("synthetic": its synthetic runs), or a number >= 1.
    c : float, optional
        The confidence coefficient, > 0.

    Raises
    ------
    MomabError
        If an option is none of these.
    """

    q: str | float = "original"
    c: float = 2.0

    family: ClassVar[str] = "pareto-ucb1"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Pareto UCB1"
    style: ClassVar[tuple[str, str]] = ("orange", "s")
    place: ClassVar[int] = 2
    good_options: ClassVar[Values] = {"q": (*Q_RULES, 1.0, 3.7), "c": COEFFICIENTS}
    bad_options: ClassVar[Values] = {"q": ("paper", 0.5, None), "c": (-1, 0, "2")}

    def __post_init__(self) -> None:
        """Validate the options."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))
        if isinstance(self.q, str):
            one_of(self.q, Q_RULES, "q", or_else="a number >= 1")
            return
        q = positive_number(self.q, "q")
        if q < 1:
            raise MomabError(f"q must be at least 1, so that log(t q) is positive; it is {q!r}.")
        object.__setattr__(self, "q", q)

    @classmethod
    def as_published(cls, instance: Instance) -> ParetoUCB1:
        """Return the policy as the paper ran it on this kind of instance."""
        return cls("synthetic" if isinstance(instance.source, Bernoulli) else "real")

    def scale(self, K: int, d: int, given: Given) -> float:
        """Return q as a number; a fourth root is two square roots, which IEEE rounds exactly."""
        if isinstance(self.q, str):
            size = {"original": d * given.front_size, "real": d * K, "synthetic": 4 * d * K}
            return math.sqrt(math.sqrt(size[self.q]))
        return self.q


@selection(ParetoUCB1)
def select_pareto_ucb1(policy: ParetoUCB1, view: View, coin: Coins) -> int:
    """Slot 0 chooses among the optimistic vectors that no other dominates."""
    q = policy.scale(view.K, view.d, view.given)
    radius = np.sqrt(policy.c * log(view.t * q) / view.counts)
    optimistic = view.means + radius[:, None]
    return coin.choose(np.flatnonzero(nondominated(optimistic)), slot=0)
