"""Situations that exercises of several chapters ask for: means, estimates and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from momab.exercises.core import Aspect
from momab.ledger.auditing.rounds import top_two
from momab.model import theory


class Situation:
    """Means, estimates and counts as an answer gives them, judged with T = 10,000 and c = 2."""

    T, c = 10_000, 2.0

    def __init__(self, answer: Any) -> None:
        """Read a dictionary with means, estimates and counts; its shapes must fit."""
        self.means = np.array(answer["means"], dtype=np.float64)
        self.estimates = np.array(answer["estimates"], dtype=np.float64)
        self.counts = np.array(answer["counts"], dtype=np.float64)
        K, d = self.means.shape
        if K < 2 or d < 1 or self.estimates.shape != (K, d) or self.counts.shape != (K,):
            raise ValueError("the shapes differ")
        self.radii = theory.confidence_radius(np.maximum(self.counts, 1), self.T, self.c)
        self.upper = self.estimates + self.radii[:, None]
        self.lower = self.estimates - self.radii[:, None]
        self.leaders, self.challengers = top_two(self.upper)

    @property
    def possible(self) -> bool:
        """Whether such numbers can occur within T rounds."""
        both = np.stack([self.means, self.estimates])
        whole = bool((self.counts == np.floor(self.counts)).all() and (self.counts >= 1).all())
        return whole and self.counts.sum() < self.T and bool(((both >= 0) & (both <= 1)).all())

    def missed(self, rounding: float = 0.0) -> int:
        """How many intervals miss their means, by more than rounding."""
        off = np.abs(self.estimates - self.means) - self.radii[:, None]
        return int((off > rounding).sum())

    @property
    def certifies(self) -> bool:
        """Whether an objective certifies."""
        each = np.arange(self.means.shape[1])
        return bool((self.lower[self.leaders, each] > self.upper[self.challengers, each]).any())

    @property
    def pair(self) -> tuple[int, int]:
        """The leader and the challenger of the widest race."""
        j = int((self.radii[self.leaders] + self.radii[self.challengers]).argmax())
        return int(self.leaders[j]), int(self.challengers[j])

    @property
    def pulled_radius(self) -> float:
        """The radius of the arm that Algorithm 1 pulls if nothing certifies."""
        return float(self.radii[list(self.pair)].max())


def situation(means: Any, estimates: Any, counts: Any) -> dict[str, Any]:
    """An answer with these entries."""
    return {"means": means, "estimates": estimates, "counts": counts}


IS_POSSIBLE = Aspect(
    "the numbers are possible",
    lambda found: Situation(found).possible,
    "Means and estimates lie in [0, 1]; counts are whole, at least 1, together below T.",
)
WANTS_SITUATION = (
    "a dictionary with means and estimates (one row per arm) and counts (one number per arm)"
)
