r"""Width-guided, the paper's Algorithm 1: race the top two arms of the widest objective.

There are two certificates.  *Hoeffding's*, the paper's: on objective j the lower bound of the
leader b_j exceeds the upper bound of the challenger e_j.  The *kl* certificate: the interval
:math:`\{x: N\,\mathrm{kl}(\hat\mu,x)\le 2c\log T\}` of the arm with the largest mean on j lies
above the interval of every other arm.  By Pinsker, :math:`\mathrm{kl}(p,x)\ge2(p-x)^2`, a kl
interval lies inside Hoeffding's, so that the first certificate implies the second; here this
holds in floating point as well, since either of them certifies.  The sampling rule and its coins
are the same, so on every path the kl version stops no later.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from momab._util.validate import positive_number
from momab.engine.policies.base import COEFFICIENTS, Policy, Values, one_of
from momab.engine.policies.kl_ucb import PRECISION, kl_above
from momab.engine.streams import Coins
from momab.engine.tools import TIE, choose, choose_top, commit
from momab.model.instances import Instance
from momab.model.numerics import log

OBJECTIVE_RULES = ("widest", "random", "round-robin", "oracle")
WIDEST, RANDOM, ROUND_ROBIN, ORACLE = range(len(OBJECTIVE_RULES))
CERTIFICATES = ("hoeffding", "kl")


@dataclass(frozen=True)
class WidthGuided(Policy):
    """Algorithm 1, with radius sqrt(c log T / N); c = 2 is the theorem's.

    The certificate is looked for on all objectives whatever the rule.

    Parameters
    ----------
    c : float, optional
        The confidence coefficient, > 0.
    objective_rule : str, optional
        Which race is sampled while nothing is certified: the "widest" one (the paper), a
        "random" one, one after the other ("round-robin"), or always the champion objective's,
        which an "oracle" tells.
    certificate : str, optional
        What stops it: "hoeffding" (the paper) or "kl" intervals, which are never wider.

    Raises
    ------
    MomabError
        If c is not positive, or the rule or the certificate is none of these.
    """

    c: float = 2.0
    objective_rule: str = "widest"
    certificate: str = "hoeffding"

    family: ClassVar[str] = "width-guided"
    style: ClassVar[tuple[str, str]] = ("blue", "o")
    place: ClassVar[int] = 1
    good_options: ClassVar[Values] = {
        "c": COEFFICIENTS,
        "objective_rule": OBJECTIVE_RULES,
        "certificate": CERTIFICATES,
    }
    bad_options: ClassVar[Values] = {
        "c": (0, "2", float("nan")),
        "objective_rule": ("widest first", 1),
        "certificate": ("Hoeffding", None),
    }

    def __post_init__(self) -> None:
        """Validate the options."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))
        one_of(self.objective_rule, OBJECTIVE_RULES, "objective_rule")
        one_of(self.certificate, CERTIFICATES, "certificate")

    @property
    def _variant(self) -> list[str]:
        """What differs from Algorithm 1, in a word each."""
        rule = [] if self.objective_rule == "widest" else [self.objective_rule]
        return rule + ([] if self.certificate == "hoeffding" else [self.certificate])

    @property
    def name(self) -> str:
        """The name in the tables."""
        return "-".join([self.family, *self._variant])

    @property
    def coins(self) -> str:
        """The key of the coin stream: that of the rule, so that every certificate sees one path."""
        return self.name if self.certificate == "hoeffding" else self.name.removesuffix("-kl")

    @property
    def label(self) -> str:
        """The name in figures."""
        return "Width-guided" + (f" ({', '.join(self._variant)})" if self._variant else "")

    def rounds_played(self, instance: Instance, horizon: int) -> float:
        """Bound the rounds before a certificate, as the proof does.

        The bound is several times too large, which errs on the side of small pieces.
        """
        g = instance.geometry.g_dagger
        if g == 0:
            return float(horizon)
        ceiling = 16.0 * self.c * log(horizon) / g**2
        return min(float(horizon), instance.K * (1.0 + ceiling))

    def start(self) -> None:
        """Prepare the races, for every arm a and objective j; the radius is sqrt(c log T / N)."""
        K, d = self.K, self.d
        self.rule = OBJECTIVE_RULES.index(self.objective_rule)
        self.kl = self.certificate == "kl"
        self.end, self.clog = np.array([self.T]), np.array([self.c * log(self.T)])
        self.beta = np.zeros(K)  # beta[a]: radii
        self.U = np.full((d, K), -np.inf)  # U[j, a]: upper bounds
        self.order = np.tile(np.arange(K), (d, 1))  # order[j]: the arms, largest U[j] first
        self.rank = self.order.copy()  # rank[j, a]: where an arm is in that order
        self.b, self.challenger = np.zeros(d, dtype=np.int64), np.ones(d, dtype=np.int64)
        self.tied = np.zeros(d, dtype=np.bool_)  # pairs (b_j, e_j) that a coin draws every round
        self.W = np.zeros(d)  # the widths of the races
        self.proof = np.full(d, -np.inf)  # W_j where objective j certifies, else -inf
        self.winner = np.zeros(d, dtype=np.int64)  # whom it certifies
        self.doubt = np.ones(d, dtype=np.bool_)  # kl: objectives to be looked at again
        self.best = np.zeros(d, dtype=np.int64)  # kl: the arm with the largest mean
        self.rival = np.ones(d, dtype=np.int64)  # kl: an arm whose interval was not below

    def moved(self, arm: int) -> None:
        """Radii, intervals and races, where the arm that was pulled changes them."""
        self.beta[arm] = math.sqrt(self.clog[0] / self.counts[arm])
        for j in range(self.d):
            if reorder(self, j, arm, self.means[arm, j] + self.beta[arm]):
                race(self, j, self.order[j, 0], self.order[j, 1])
        if self.kl:
            renew_doubts(self, arm)

    def select(self, t: int, coin: Coins) -> int:
        """Commit to an arm that is certified, or else sample the widest race."""
        draw_ties(self, coin)
        if self.kl:
            certify_by_kl(self)
        if some_certify(self):
            j = choose_top(self.proof, 2 * self.d, coin)
            commit(self, t, self.winner[j], j, self.end[0])
            return self.winner[j]
        widest = choose_top(self.W, 2 * self.d + 1, coin)
        j = widest if self.rule == WIDEST else another_race(self, t, coin)
        return wider(self, self.b[j], self.challenger[j], coin)


def race(self: Any, j: int, b: int, e: int) -> None:
    """Leader b against challenger e on objective j: width and certificate."""
    self.b[j], self.challenger[j], self.winner[j] = b, e, b
    self.W[j] = self.beta[b] + self.beta[e]
    lower, upper = self.means[b, j] - self.beta[b], self.U[j, e]
    self.proof[j] = self.W[j] if lower > upper else -math.inf


def some_certify(self: Any) -> bool:
    """Whether an objective certifies its leader."""
    found = False
    for j in range(self.d):
        found = found or self.proof[j] > -math.inf
    return found


def wider(self: Any, b: int, e: int, coin: Coins) -> int:
    """The arm of a pair with the larger radius; slot 2d + 2 breaks a tie."""
    low, high = min(b, e), max(b, e)
    if self.beta[high] < self.beta[low] - TIE:
        return low
    if self.beta[low] < self.beta[high] - TIE:
        return high
    return low if choose(2, 2 * self.d + 2, coin) == 0 else high


# ---- leaders and challengers --------------------------------------------------------------


def reorder(self: Any, j: int, arm: int, upper: float) -> bool:
    """Give an arm its new upper bound on objective j and move it to its place in the order.

    Returns whether the first three in that order, which decide on the race, are touched.
    """
    U, order, rank = self.U[j], self.order[j], self.rank[j]
    U[arm] = upper
    before = p = rank[arm]
    while p > 0 and U[order[p - 1]] < upper:
        order[p] = order[p - 1]
        rank[order[p]] = p
        p -= 1
    while p < order.size - 1 and U[order[p + 1]] > upper:
        order[p] = order[p + 1]
        rank[order[p]] = p
        p += 1
    order[p] = arm
    rank[arm] = p
    if before > 2 and p > 2:
        return False
    b, e = order[0], order[1]
    self.tied[j] = U[e] >= U[b] - TIE or (self.K > 2 and U[order[2]] >= U[e] - TIE)
    return True


def draw_ties(self: Any, coin: Coins) -> None:
    """Let coins choose leader and challenger among equal upper bounds."""
    for j in range(self.d):
        if self.tied[j]:
            draw_pair(self, j, coin)


def draw_pair(self: Any, j: int, coin: Coins) -> None:
    """Break the ties of objective j: slot 2j for the leader, 2j + 1 for the challenger."""
    U = self.U[j]
    b = choose_top(U, 2 * j, coin)
    upper, U[b] = U[b], -math.inf
    e = choose_top(U, 2 * j + 1, coin)
    U[b] = upper
    race(self, j, b, e)


def another_race(self: Any, t: int, coin: Coins) -> int:
    """The objective that a rule other than the paper's samples."""
    if self.rule == RANDOM:
        return choose(self.d, 2 * self.d + 1, coin)
    if self.rule == ROUND_ROBIN:
        return (t - self.K) % self.d
    return int(self.champion_objective)


# ---- kl intervals --------------------------------------------------------------------------


def renew_doubts(self: Any, arm: int) -> None:
    """Mark the objectives on which a pull of an arm may have changed what kl intervals say."""
    for j in range(self.d):
        best = self.best[j]
        closer = arm == self.rival[j] or self.means[arm, j] >= self.means[best, j]
        self.doubt[j] = self.doubt[j] or arm == best or closer


def certify_by_kl(self: Any) -> None:
    """Certify the best arm of every objective whose kl intervals are apart."""
    for j in range(self.d):
        if self.proof[j] == -math.inf and kl_certifies(self, j):
            self.proof[j], self.winner[j] = self.W[j], self.best[j]


def kl_certifies(self: Any, j: int) -> bool:
    """Whether the kl interval of the largest mean on objective j lies above all others.

    Two arms decide against it, the one with the largest mean and a rival; until one of them moves,
    or another mean becomes as large, there is nothing new.
    """
    if not self.doubt[j]:
        return False
    self.doubt[j] = False
    best = 0
    for a in range(1, self.K):
        if self.means[a, j] > self.means[best, j]:
            best = a
    self.best[j] = best
    high = (self.means[best, j], self.beta[best], self.counts[best])
    for i in range(self.K):
        a = (self.rival[j] + i) % self.K  # the last rival first
        low = (self.means[a, j], self.beta[a], self.counts[a])
        if a != best and not kl_apart(high, low, 2.0 * self.clog[0]):
            self.rival[j] = a
            return False
    return True


def kl_apart(high: tuple[float, float, int], low: tuple[float, float, int], level: float) -> bool:
    r"""Whether the kl interval of one arm lies above that of another.

    An arm is (mean, radius, count) with radius sqrt(level / (2 count)).  The intervals
    :math:`\{x:N\,\mathrm{kl}(\hat\mu,x)\le\text{level}\}` are apart exactly if some x between
    the means lies in neither.  Such an x is looked for by bisection: a point in one interval
    only says on which side to go on, a point in both that there is none.  What is found is
    proved; intervals less than about 1e-9 apart count as touching.

    Two shortcuts spare logarithms and are part of the rule.  Hoeffding's intervals are apart:
    yes (Pinsker).  The gap is at most :math:`2\sqrt v` times the sum of the radii, v the least
    u(1 - u) between the means (at one of them): no, since
    :math:`\mathrm{kl}(p,x)=\int_p^x\frac{u-p}{u(1-u)}\,du\le\frac{(x-p)^2}{2v}`.
    """
    p, p_radius, n = high
    q, q_radius, m = low
    gap, radii = p - q, p_radius + q_radius
    if p - p_radius > q + q_radius:
        return True
    if gap <= PRECISION or gap * gap <= 4.0 * min(p * (1.0 - p), q * (1.0 - q)) * (radii * radii):
        return False
    top, bottom = p, q
    while top - bottom > PRECISION:
        x = 0.5 * (top + bottom)
        above = m * kl_above(q, x) > level  # x is above the lower arm's interval
        below = n * kl_above(p, x) > level
        if above == below:
            return above
        if above:
            top = x
        else:
            bottom = x
    return False
