"""Annealing-Pareto: a candidate set whose tolerance falls to zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from momab._util.validate import positive_number
from momab.engine.policies.base import Policy, Values
from momab.engine.streams import Coins
from momab.engine.tools import choose
from momab.errors import MomabError


@dataclass(frozen=True)
class AnnealingPareto(Policy):
    """Uniform choice on a candidate set whose tolerance decay^s / (K d) anneals to zero.

    At step s = t - K the candidates are the arms within the tolerance of the empirical best on
    at least one objective, and those previous candidates (at first: all arms) that no arm's
    empirical mean vector dominates.

    Parameters
    ----------
    decay : float, optional
        The factor of the tolerance per step, in (0, 1).

    Raises
    ------
    MomabError
        If the decay lies outside (0, 1).
    """

    decay: float = 0.4

    family: ClassVar[str] = "annealing-pareto"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Annealing-Pareto"
    style: ClassVar[tuple[str, str]] = ("green", "^")
    place: ClassVar[int] = 3
    good_options: ClassVar[Values] = {"decay": (0.05, 0.4, 0.9)}
    bad_options: ClassVar[Values] = {"decay": (1.0, 0.0, "fast")}

    def __post_init__(self) -> None:
        """Validate the options."""
        decay = positive_number(self.decay, "decay")
        if decay >= 1:
            raise MomabError(f"decay must be a number in (0, 1); it is {decay!r}.")
        object.__setattr__(self, "decay", decay)

    def start(self) -> None:
        """Every arm is a candidate at first, and the tolerance is 1 / (K d)."""
        K, d = self.K, self.d
        self.power = np.ones(1)  # decay^s, by repeated multiplication
        self.annealed = np.zeros(1, dtype=np.bool_)  # whether the tolerance is zero
        self.candidate = np.ones(K, dtype=np.bool_)
        self.listed, self.size = np.arange(K), np.array([K])  # the candidates, and how many
        self.changed = np.ones(1, dtype=np.bool_)  # whether they must be listed again
        self.best, self.leader = np.zeros(d), np.zeros(d, dtype=np.int64)
        self.rival = np.ones(d)  # no other arm has a larger mean
        self.near = np.zeros((d, K), dtype=np.bool_)  # within the tolerance of the best
        self.nears = np.zeros(K, dtype=np.int64)  # on how many objectives
        self.undominated = np.zeros(K, dtype=np.bool_)  # no arm dominates it,
        self.known = np.zeros(K, dtype=np.bool_)  # if this is kept up to date
        self.above = np.zeros((K, K), dtype=np.int64)  # an objective where arm a was above arm f

    def moved(self, arm: int) -> None:
        """Compare the arm that moved with the best means, and with the candidates."""
        for j in range(self.d):
            mean, leads = self.means[arm, j], self.leader[j] == arm
            if leads and self.rival[j] < mean and self.rival[j] < self.best[j]:
                self.best[j] = mean  # alone in front, before and now
            elif not leads and mean < self.best[j]:
                self.rival[j] = mean if mean > self.rival[j] else self.rival[j]
                note_near(self, j, arm, False)
            else:
                find_best(self, j)
                find_near(self, j, 0.0)
        if self.known[arm]:
            self.undominated[arm] = is_undominated(self, arm)
            self.changed[0] = self.changed[0] or not self.undominated[arm]
        for i in range(self.size[0]):
            f = self.listed[i]
            if self.known[f] and f != arm and dominated_by(self, f, arm):
                self.undominated[f], self.changed[0] = False, True

    def select(self, t: int, coin: Coins) -> int:
        """Slot 0 chooses among the candidates."""
        epsilon = self.power[0] / (self.K * self.d)
        if not self.annealed[0]:
            self.annealed[0] = epsilon == 0.0  # below the least number there is
            for j in range(self.d):
                find_best(self, j)
                find_near(self, j, epsilon)
        self.power[0] *= self.decay
        if self.changed[0]:
            list_candidates(self)
        return self.listed[choose(self.size[0], 0, coin)]


def list_candidates(self: Any) -> None:
    """List the arms near a best mean, and the previous candidates that no arm dominates."""
    size = 0
    for a in range(self.K):
        near = self.nears[a] > 0
        if self.candidate[a] and not near and not self.known[a]:
            self.undominated[a] = is_undominated(self, a)
        self.known[a] = self.candidate[a] and not near
        self.candidate[a] = near or (self.known[a] and self.undominated[a])
        if self.candidate[a]:
            self.listed[size] = a
            size += 1
    self.size[0], self.changed[0] = size, False


def is_undominated(self: Any, a: int) -> bool:
    """Whether no arm dominates arm a."""
    undominated = True
    for f in range(self.K):
        undominated = undominated and not dominated_by(self, a, f)
    return undominated


def dominated_by(self: Any, a: int, f: int) -> bool:
    """Whether arm f dominates arm a; an objective where a was above f is tried first."""
    k = self.above[a, f]
    if self.means[a, k] > self.means[f, k]:
        return False
    below = False
    for j in range(self.d):
        if self.means[a, j] > self.means[f, j]:
            self.above[a, f] = j
            return False
        below = below or self.means[a, j] < self.means[f, j]
    return below


def find_best(self: Any, j: int) -> None:
    """Look for the two largest means on objective j among all arms."""
    self.best[j], self.rival[j], self.leader[j] = self.means[0, j], -1.0, 0
    for a in range(1, self.K):
        if self.means[a, j] > self.best[j]:
            self.best[j], self.rival[j], self.leader[j] = self.means[a, j], self.best[j], a
        else:
            self.rival[j] = max(self.rival[j], self.means[a, j])


def find_near(self: Any, j: int, epsilon: float) -> None:
    """Find the arms within epsilon of the best mean on objective j."""
    for a in range(self.K):
        note_near(self, j, a, self.means[a, j] >= self.best[j] - epsilon)


def note_near(self: Any, j: int, a: int, near: bool) -> None:
    """Note whether an arm is near the best on objective j."""
    if self.near[j, a] != near:
        self.near[j, a] = near
        self.nears[a] += 1 if near else -1
        self.changed[0] = True
