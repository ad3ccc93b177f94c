r"""An accelerator of :class:`momab.engine.policies.kl_ucb.KLUCB`: bounds instead of indices.

The index u solves :math:`N\,\mathrm{kl}(\hat\mu,u)=\log t`.  It is concave in the level log t, so
a bound from above at one level, with its slope, bounds it at all later ones.  One step of Newton's
from the last bound is sharp enough nearly always.  The leader plays on while its lower bound is
above all that the others can reach; where bounds do not decide, the policy's own indices do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from momab._util.validate import FloatArray
from momab.engine.policies.base import watched_objective
from momab.engine.policies.kl_ucb import KLUCB, PRECISION, bisected_index, kl_above
from momab.engine.streams import Coins
from momab.model.numerics import log

UPPER, LOWER, SLOPE, AT = range(4)
"""Bounds of an arm's index: from above, from below, what the former gains per level, the level."""

LEADER, FOUND, SPAN, NOW = range(4)
"""The plan: which arm, since when, for how many rounds at most; and the present round."""

LEVEL, BAR, RATE, PACE = range(4)
"""The level when it was found; a bar above the others and its growth per round; log's growth."""


class FastKLUCB(KLUCB):
    """KL-UCB that finds the largest index by bounds."""

    def start(self) -> None:
        """Nothing is known: every index is at most 1."""
        super().start()
        self.bounds = np.zeros((4, self.K))
        self.bounds[UPPER] = 1.0
        self.reach = np.zeros(self.K)
        self.plan = np.array([-1, 0, -1, 0])
        self.course = np.zeros(4)

    def moved(self, arm: int) -> None:
        """Bound the new index of the arm at a level that is not above the next log t."""
        plan, course = self.plan, self.course
        if plan[LEADER] >= 0:
            later = plan[NOW] + 1 - plan[FOUND]
            level = course[LEVEL] + later * course[PACE]
            mean = self.means[arm, self.watched[0]]
            bound_index(self.bounds, arm, mean, self.counts[arm], level, 1)

    def select(self, t: int, coin: Coins) -> int:
        """Let the leader play on, or find it again.

        log t grows by at most 1/t per round, and the largest of the others' bounds, which is convex
        in the level, stays below the chord.
        """
        plan, course = self.plan, self.course
        plan[NOW] = t
        arm, later = plan[LEADER], t - plan[FOUND]
        if later <= plan[SPAN] and self.bounds[LOWER, arm] > course[BAR] + later * course[RATE]:
            return arm
        level, span = log(t), 1 + t // 256
        arm = find_leader(self, watched_objective(self, coin), level)
        plan[LEADER], plan[FOUND], plan[SPAN] = arm, t, span
        course[LEVEL], course[PACE] = level, 1.0 / (t + span)
        ahead = largest_other(self, arm, level + span / t) + 2.0 * PRECISION
        course[RATE] = (ahead - course[BAR]) / span
        return arm


def find_leader(self: Any, j: int, level: float) -> int:
    """Find the arm with the largest index; sharpen the bounds of those that may be it.

    The bar is above all that the others may have, with the precision of an index to spare; it is
    out of reach if it took exact indices to decide.
    """
    bounds = self.bounds
    while True:
        leader, top = 0, -1.0
        for a in range(self.K):
            self.reach[a] = bounds[UPPER, a] + bounds[SLOPE, a] * (level - bounds[AT, a])
            if self.reach[a] > top:
                leader, top = a, self.reach[a]
        second = largest_other(self, leader, level)
        if bounds[LOWER, leader] > second + 2.0 * PRECISION:
            self.course[BAR] = second + 2.0 * PRECISION
            return leader
        doubtful = leader
        if bounds[AT, leader] >= level:
            doubtful = 0
            while doubtful == leader or self.reach[doubtful] != second:
                doubtful += 1
        if bounds[AT, doubtful] == level:
            self.course[BAR] = 2.0
            return exact_leader(self, j, level, bounds[LOWER, leader] - 2.0 * PRECISION)
        mean = self.means[doubtful, j]
        bound_index(bounds, doubtful, mean, self.counts[doubtful], level, 12)


def largest_other(self: Any, leader: int, level: float) -> float:
    """Return the largest that the index of any other arm can be at a level."""
    bounds, most = self.bounds, -1.0
    for a in range(self.K):
        reach = bounds[UPPER, a] + bounds[SLOPE, a] * (level - bounds[AT, a])
        if a != leader and reach > most:
            most = reach
    return most


def exact_leader(self: Any, j: int, level: float, bar: float) -> int:
    """Choose the largest index as the policy does, among the arms that can reach a bar."""
    arm, best = -1, -1.0
    for a in range(self.K):
        if self.reach[a] >= bar:
            index = bisected_index(self.means[a, j], self.counts[a], level)
            if index > best or (index == best and self.counts[a] < self.counts[arm]):
                arm, best = a, index
    return arm


def bound_index(bounds: FloatArray, a: int, p: float, n: int, level: float, steps: int) -> None:
    """Bound the index of an arm at a level, starting from the last bound, until it is sharp."""
    high, low, slope = 1.0, p, 0.0
    if p >= 1.0:
        low = 1.0
    else:
        x = bounds[UPPER, a]
        if not p < x < 1.0:
            x = min(p + math.sqrt(level / (2.0 * n)), 0.5 * (1.0 + p))
        for _ in range(steps):
            upper, low = newton_step(p, n, level, x)
            if low > p:
                high, slope = upper, low * (1.0 - low) / (n * (low - p))
                if high - low <= 0.1 * PRECISION:
                    break
            x = upper if upper < 1.0 else 0.5 * (1.0 + x)
            if not x > p:
                break
    bounds[UPPER, a], bounds[LOWER, a], bounds[SLOPE, a], bounds[AT, a] = high, low, slope, level


def newton_step(p: float, n: int, level: float, x: float) -> tuple[float, float]:
    """Make a step of Newton's from x towards the zero u of f(x) = kl(p, x) - level / n; p < x < 1.

    f increases and is convex above p, so where the step leads is never below u.  Let a be its
    length and M the largest f'' / f' from x - 2a to x + a.  If M a <= 1/4, then f' changes so
    little there that u is not below x - 2a, and Taylor's formula leaves an error of at most
    2 M a^2.  Returns a bound of u from above and one from below, p if nothing is known.  Both
    allow for the rounding of kl, here and in the index of the policy.
    """
    slack = x * (1.0 - x) / (x - p)  # 1 / f'
    step = (kl_above(p, x) - level / n) * slack
    a = abs(step)
    high, left, right = x - step + 1e-13 * slack, x - 2.0 * a, x + a
    if not (left > p and right < 1.0):
        return high, p
    room = min(left * (1.0 - left), right * (1.0 - right)) * (left - p)
    M = ((right - p) * (right - p) + p * (1.0 - p)) / room
    return high, max(p, high - 2.0 * M * a * a - 2e-13 * slack) if M * a <= 0.25 else p
