r"""An accelerator of :class:`momab.engine.policies.pareto_ucb1.ParetoUCB1`: verdicts that last.

Write the optimistic vectors as :math:`\hat\mu_a+s\,r_a` with :math:`r_a=1/\sqrt{N_a}` and the
common bonus :math:`s=\sqrt{c\log(tq)}`, which only grows.  For two arms all the differences
:math:`\hat\mu_a^j-\hat\mu_f^j+s(r_a-r_f)` have the same slope in s.  So whether a is above f
somewhere hangs on the largest difference of means alone, whether it is below somewhere on the
smallest, and a verdict that holds at both ends of a window of s holds inside.  A pull moves one
arm: only its verdicts are looked at again, until the window ends.

Arms with equal counts have equal radii, and then equal means are equal bounds.  Any other verdict
within ``GUARD`` of a tie, or one that changes within the window, is left to the policy: this round
is played by the policy's own computation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from momab.engine.policies.pareto_ucb1 import ParetoUCB1, certified_arm, optimistic_arm
from momab.engine.streams import Coins
from momab.engine.tools import choose
from momab.model.numerics import log

GUARD = 1e-11
"""What rounding can do to a difference of bounds, with a margin of four digits."""

FAR = 100.0
"""Rounding is not bounded by GUARD if the bonus is larger than this."""


NEITHER, BEHIND, AHEAD, UNSURE = 0, 1, 2, 4
"""Verdicts about an arm: the other one dominates it; it dominates the other; not certain."""


class FastParetoUCB1(ParetoUCB1):
    """Pareto UCB1 with a table of dominance."""

    def start(self) -> None:
        """Make the tables; nothing is known yet."""
        super().start()
        K = self.K
        self.level = np.zeros((self.d, K))  # the means, the arms side by side
        self.root = np.zeros(K)  # 1 / sqrt(N)
        self.window = np.zeros(2)  # the bonus at both ends of the window
        self.last = np.array([-1])  # the last round of the window
        self.opened = np.zeros(1, dtype=np.int64)  # its first round
        self.most, self.least = np.zeros(K), np.zeros(K)
        self.verdict = np.zeros((K, K), dtype=np.int64)  # verdict[arm, other]
        self.found = np.zeros(K, dtype=np.int64)
        self.members = np.zeros(K, dtype=np.int64)
        self.size = np.zeros(1, dtype=np.int64)  # 0: to be listed again

    def moved(self, arm: int) -> None:
        """Find the verdicts about one arm; one that is not certain ends the window."""
        self.beta[arm] = math.sqrt(self.stop_clog / self.counts[arm])
        self.root[arm] = 1.0 / math.sqrt(self.counts[arm])
        for j in range(self.d):
            self.level[j, arm] = self.means[arm, j]
        if self.last[0] >= 0:
            judge_arm(self, arm)

    def select(self, t: int, coin: Coins) -> int:
        """Choose among the arms that no arm dominates, as the policy does."""
        if self.stop:
            arm = certified_arm(self, t, coin)
            if arm >= 0:
                return arm
        if t > self.last[0]:
            open_window(self, t)
            if self.last[0] < 0:
                return optimistic_arm(self, t, coin)
        if self.size[0] == 0:
            list_members(self)
        return self.members[choose(self.size[0], 0, coin)]


def open_window(self: Any, t: int) -> None:
    """Find all verdicts at round t, and how long they last.

    The bonus is concave in t, so over the next n rounds it grows by at most n c / (2 t s).
    """
    most = min(2 * (t - self.opened[0]), t // 64)  # as long as windows last at present
    bonus = math.sqrt(self.c * log(t * self.factor))
    growth = 0.5 * self.c / (t * bonus)
    self.window[0], self.window[1] = bonus, bonus
    self.opened[0], self.last[0] = t, t
    until = bonus + most * growth
    a = 0
    while a < self.K and self.last[0] >= 0:
        judge_arm(self, a)
        until = min(until, lasting(self, a))
        a += 1
    if not bonus < FAR:
        self.last[0] = -1
    if self.last[0] >= 0 and until > bonus:
        span = int((until - bonus) / growth)
        self.last[0] = t + span
        self.window[1] = bonus + span * growth


def judge_arm(self: Any, arm: int) -> None:
    """Compare an arm with all others over the window; a verdict that is not certain ends it."""
    find_extremes(self, arm)
    own, before, after, found = self.root[arm], self.window[0], self.window[1], self.found
    change, unsure = 0, 0
    for f in range(self.K):  # without branches: vector instructions
        rate = self.root[f] - own
        one, two = before * rate, after * rate
        low, high = (one if rate > 0.0 else two), (two if rate > 0.0 else one)
        most, least, same = self.most[f], self.least[f], rate == 0.0
        above, below = most + low > GUARD, least + high < -GUARD
        never_above = (most + high < -GUARD) | (same & (most <= 0.0))
        never_below = (least + low > GUARD) | (same & (least >= 0.0))
        certain = (above | never_above) & (below | never_below)
        code = (BEHIND if above & never_below else 0) + (AHEAD if below & never_above else 0)
        found[f] = code if certain else UNSURE
        unsure |= found[f] & UNSURE
        change |= found[f] ^ self.verdict[arm, f]
    if unsure != 0:
        self.last[0] = -1
    elif change != 0:
        self.size[0] = 0
        for f in range(self.K):
            self.verdict[arm, f] = found[f]
            self.verdict[f, arm] = ((found[f] & BEHIND) << 1) + ((found[f] & AHEAD) >> 1)


def lasting(self: Any, arm: int) -> float:
    """Return the bonus up to which the verdicts just found about an arm are certain to last."""
    until = math.inf
    for f in range(self.K):
        rate = self.root[f] - self.root[arm]
        if rate < 0.0 and self.most[f] + self.window[0] * rate > 0.0:
            until = min(until, (self.most[f] - 2.0 * GUARD) / -rate)
        if rate > 0.0 and self.most[f] + self.window[0] * rate < 0.0:
            until = min(until, (-2.0 * GUARD - self.most[f]) / rate)
        if rate > 0.0 and self.least[f] + self.window[0] * rate < 0.0:
            until = min(until, (-2.0 * GUARD - self.least[f]) / rate)
        if rate < 0.0 and self.least[f] + self.window[0] * rate > 0.0:
            until = min(until, (self.least[f] - 2.0 * GUARD) / -rate)
    return until


def find_extremes(self: Any, arm: int) -> None:
    """Write the largest and the smallest difference of the means of every arm to one arm's."""
    most, least = self.most, self.least
    for f in range(self.K):
        most[f] = self.level[0, f] - self.level[0, arm]
        least[f] = most[f]
    for j in range(1, self.d):
        mean = self.level[j, arm]
        for f in range(self.K):  # conditions that become vector instructions
            x = self.level[j, f] - mean
            most[f] = x if x > most[f] else most[f]
            least[f] = x if x < least[f] else least[f]


def list_members(self: Any) -> None:
    """List the arms that no arm dominates, in order."""
    size = 0
    for a in range(self.K):
        dominated = 0
        for f in range(self.K):
            dominated |= self.verdict[a, f] & BEHIND
        self.members[size] = a
        size += 1 - dominated
    self.size[0] = size
