r"""An accelerator of :class:`momab.engine.policies.pareto_imed.ParetoIMED`: stays.

Nearly all pulls are of the candidate.  They come in *stays*: a box around its means and a number
of pulls within which the policy's own computation is known to want it again.  Inside a stay
nothing is computed but whether the means are still in the box; when it ends, one update of the
policy's tables brings them up to date, since no other arm has moved.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from momab.engine.policies.pareto_imed import ParetoIMED, bring_up_to_date, find_prices
from momab.engine.streams import Coins
from momab.engine.tools import TIE, choose_top
from momab.model.numerics import log

GUARD = 1e-11
"""What rounding can do to an index or a price, with a margin of four digits."""

WIDEST, NARROWEST, PATIENCE = 8.0, 2.0, 16
"""Sides of a box in units of 1 / N; rounds before a box is looked for again in vain."""


class FastParetoIMED(ParetoIMED):
    """Pareto IMED that stays with its candidate."""

    def start(self) -> None:
        """There is no stay yet."""
        super().start()
        K, d = self.K, self.d
        self.staying = np.full(1, -1)  # the arm of the stay
        self.last = np.zeros(1, dtype=np.int64)  # the stay ends with so many pulls of it
        self.retry = np.zeros(1, dtype=np.int64)  # no box is looked for before this round
        self.reach, self.side = np.full(1, WIDEST), np.zeros(1)
        self.middle = np.zeros(d)
        self.corner, self.low, self.high, self.cost = (np.zeros(K) for _ in range(4))

    def moved(self, arm: int) -> None:
        """Inside a stay, see whether the means are in the box; else do what the policy does."""
        if self.staying[0] == arm:
            n = self.counts[arm]
            side, outside = self.side[0] * n, 0
            for j in range(self.d):
                outside += 1 if abs(self.sums[arm, j] - self.middle[j] * n) > side else 0
            if outside == 0 and n < self.last[0]:
                return
            if outside > 0:
                self.reach[0] *= 2.0
            self.staying[0] = -1
        bring_up_to_date(self, arm)

    def select(self, t: int, coin: Coins) -> int:
        """Stay, or decide as the policy does and look for a box."""
        if self.staying[0] >= 0:
            return self.staying[0]
        find_prices(self)
        candidate = choose_top(self.value, 0, coin)
        for b in range(self.K):
            self.value[b] = -(self.counts[b] * self.D[candidate, b] + self.log_count[b])
        arm = choose_top(self.value, 1, coin)
        if arm == candidate and t >= self.retry[0]:
            look_for_box(self, t, arm)
        return arm


def look_for_box(self: Any, t: int, arm: int) -> None:
    """Begin a stay if there is room for a few pulls; a box that is too wide is halved."""
    side = self.reach[0] / self.counts[arm]
    room = pulls_inside(self, arm, side + GUARD)
    if room > 0:
        self.staying[0], self.last[0], self.side[0] = arm, self.counts[arm] + room, side
        for j in range(self.d):
            self.middle[j] = self.means[arm, j]
    elif self.reach[0] > NARROWEST:
        self.reach[0] *= 0.5
    else:
        self.retry[0], self.reach[0] = t + PATIENCE, WIDEST


def pulls_inside(self: Any, a: int, side: float) -> int:
    """Find how many more pulls of arm a the policy certainly wants, or 0.

    That is while no mean of arm a moves by more than ``side`` and it is the only arm that does.
    Its gap stays zero if no arm comes within the side of beating it.  The indices of the others do
    not fall below those with the evidence of the box's lower corner, and log n grows by less
    than 1/n per pull.  It remains the candidate by :func:`stays_cheapest`.
    """
    for c in range(self.K):
        if c != a and self.lead[c, a] + side > 0.0:
            return 0
    find_corner(self, a, side)
    least = math.inf
    for b in range(self.K):
        if b != a:
            least = min(least, self.counts[b] * self.corner[b] + self.log_count[b])
    gain = least * (1.0 - GUARD) - self.log_count[a] - GUARD
    room = min(1.0, gain) * self.counts[a]
    if not room >= 4.0 or not stays_cheapest(self, a, side):
        return 0
    return int(room)


def find_corner(self: Any, a: int, side: float) -> None:
    """Write a lower bound of D_b(a) for all b while no mean of arm a falls by more than side."""
    corner = self.corner
    for b in range(self.K):
        corner[b] = 0.0
    for j in range(self.d):
        q = self.means[a, j] - side
        if q > 0.0:
            one, zero = log(q), log(1.0 - q)
            for b in range(self.K):
                p = self.means[b, j]
                kl = self.h[b, j] - (p * one + (1.0 - p) * zero)
                if q > p and kl > 0.0:
                    corner[b] = corner[b] + kl if self.add else max(corner[b], kl)
    for b in range(self.K):
        corner[b] = corner[b] * (1.0 - GUARD) - self.d * GUARD


def stays_cheapest(self: Any, a: int, side: float) -> bool:
    """Whether the most that arm a can cost is less than the least that any other arm can.

    The others are those that can have gap zero.
    """
    K, low, high, cost = self.K, self.low, self.high, self.cost
    for b in range(K):
        low[b], cost[b] = 0.0, 0.0
    for c in range(K):
        if c != a:
            for b in range(K):
                low[b] = max(low[b], self.lead[c, b])
    rivals = 0
    for b in range(K):
        high[b] = max(low[b], self.lead[a, b] + side)
        low[b] = max(low[b], self.lead[a, b] - side)
        rivals += 1 if low[b] <= 2.0 * TIE else 0
    if rivals <= 1:  # arm a is one of them
        return True
    most = 0.0
    for b in range(K):
        if b != a and high[b] > 0.0:
            if not self.corner[b] > 0.0:
                return False
            most += high[b] / self.corner[b]
        if b != a and low[b] > 2.0 * TIE:
            for f in range(K):
                cost[f] += low[b] * self.inverse[b, f]
    for f in range(K):
        if f != a and low[f] <= 2.0 * TIE and not cost[f] * 0.999999 - GUARD > most:
            return False
    return True
