"""Scalarized UCB: weighted sums of the objectives that take turns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np

from momab._util.validate import FloatArray, positive_number
from momab.engine.policies.base import COEFFICIENTS, Policy, Values, one_of
from momab.engine.streams import Coins
from momab.engine.tools import choose_top
from momab.errors import MomabError
from momab.model.numerics import log


@dataclass(frozen=True)
class ScalarizedUCB(Policy):
    """UCB with radius sqrt(c log T / N) on one weighted sum of the objectives per round.

    The weight vectors take turns.

    Parameters
    ----------
    weights : str or sequence of sequences, optional
        "paper" means :func:`paper_weights`; otherwise the vectors themselves, one per row,
        nonnegative with sum 1.
    c : float, optional
        The confidence coefficient, > 0.

    Raises
    ------
    MomabError
        If the weights are no weights, or c is not positive.
    """

    weights: str | tuple[tuple[float, ...], ...] = "paper"
    c: float = 2.0

    family: ClassVar[str] = "scalarized-ucb"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Scalarized UCB"
    style: ClassVar[tuple[str, str]] = ("pink", "D")
    place: ClassVar[int] = 4
    good_options: ClassVar[Values] = {
        "weights": ("paper", ((0.25, 0.75), (1.0, 0.0))),
        "c": COEFFICIENTS,
    }
    bad_options: ClassVar[Values] = {
        "weights": ("grid", (), ((0.5, 0.4),), ((1.5, -0.5),), ((1.0,), (0.5, 0.5)), 3),
        "c": (-1, 0, "2"),
    }

    def __post_init__(self) -> None:
        """Validate the options."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))
        if isinstance(self.weights, str):
            one_of(self.weights, ("paper",), "weights", or_else="the weight vectors themselves")
            return
        object.__setattr__(self, "weights", _weight_rows(self.weights))

    def matrix(self, d: int) -> FloatArray:
        """Return the weight vectors for d objectives, one per row."""
        rows = paper_weights(d) if isinstance(self.weights, str) else self.weights
        if len(rows[0]) != d:
            raise MomabError(
                f"the weight vectors must have one entry per objective, {d}; "
                f"they have {len(rows[0])}."
            )
        return np.array(rows, dtype=np.float64)

    def start(self) -> None:
        """List the nonzero entries of the weight vectors: vector v has those from ``first[v]`` on.

        Leaving out zeros changes no digit, since x + 0 m = x.
        """
        matrix = self.matrix(self.d)
        vectors, self.objective = (np.array(index) for index in np.nonzero(matrix))
        self.first = np.searchsorted(vectors, np.arange(len(matrix) + 1))
        self.weight = matrix[vectors, self.objective]
        self.clog = self.c * log(self.T)
        self.levels = np.zeros((self.d, self.K))  # the means, the arms side by side
        self.radius, self.score = np.zeros(self.K), np.zeros(self.K)

    def moved(self, arm: int) -> None:
        """One arm has a new radius and new means."""
        self.radius[arm] = math.sqrt(self.clog / self.counts[arm])
        for j in range(self.d):
            self.levels[j, arm] = self.means[arm, j]

    def select(self, t: int, coin: Coins) -> int:
        """Score with the vector whose turn it is, objectives in order; slot 0 breaks ties."""
        v = (t - self.K) % (self.first.size - 1)
        for a in range(self.K):
            self.score[a] = 0.0
        for i in range(self.first[v], self.first[v + 1]):
            j = self.objective[i]
            for a in range(self.K):
                self.score[a] += self.weight[i] * self.levels[j, a]
        for a in range(self.K):
            self.score[a] += self.radius[a]
        return choose_top(self.score, 0, coin)


@cache
def paper_weights(d: int) -> tuple[tuple[float, ...], ...]:
    """Return the weight vectors of the paper's runs, duplicates removed.

    d <= 6: the uniform vector u, then all vectors with entries in {0, 1/4, 1/2, 3/4, 1} and
    sum 1, in ascending order.  d > 6: u, then the unit vectors e_j, then u/2 + e_j/2, then
    0.1 u + 0.9 e_j, then e_i/2 + e_j/2 for i < j.
    """
    u = np.full(d, 1.0 / d)
    e = np.eye(d)
    if d <= 6:
        grid = [np.array(w) / 4 for w in product(range(5), repeat=d) if sum(w) == 4]
        rows = [u, *grid]
    else:
        rows = [u, *e, *(u / 2 + e / 2), *(0.1 * u + 0.9 * e)]
        rows += [(e[i] + e[j]) / 2 for i, j in combinations(range(d), 2)]
    return tuple(dict.fromkeys(tuple(map(float, row)) for row in rows))


def _weight_rows(weights: Any) -> tuple[tuple[float, ...], ...]:
    try:
        rows = tuple(tuple(float(w) for w in row) for row in weights)
    except (TypeError, ValueError):
        rows = ()
    good = bool(rows) and all(
        len(row) == len(rows[0])
        and all(math.isfinite(w) and w >= 0 for w in row)
        and abs(math.fsum(row) - 1) <= 1e-9
        for row in rows
    )
    if not good:
        raise MomabError(
            "weights must be 'paper' or weight vectors of equal length, nonnegative with sum 1."
        )
    return rows
