r"""Pareto UCB1: a uniform choice on the front of the optimistic vectors.

It may also stop.  With :math:`\beta = \sqrt{c' \log T/N}`, where c' is ``stop_c``, objective j
certifies arm a when

.. math:: \hat\mu_a^j - \beta_a > \hat\mu_b^j + \beta_b \quad\text{for every other arm } b,

the test of Algorithm 1.  It is made before every pull, and from the first certificate on the
certified arm is pulled.  If several objectives certify at once, the widest of them is taken, as
in Algorithm 1: the one with the largest :math:`\beta_a + \beta_b`, where b has the largest upper
bound of the other arms and the fewest pulls of those tied for it.  A coin chooses among objectives
of equal width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from momab._util.validate import FloatArray, positive_number
from momab.engine.policies.base import COEFFICIENTS, Given, Policy, Values, one_of
from momab.engine.streams import Coins
from momab.engine.tools import TIE, choose_among, choose_top, commit
from momab.errors import MomabError
from momab.model.instances import Bernoulli, Instance
from momab.model.numerics import log

Q_RULES = ("original", "real", "synthetic")


@dataclass(frozen=True)
class ParetoUCB1(Policy):
    """Uniform choice on the nondominated set of mean + sqrt(c log(t q) / N).

    Parameters
    ----------
    q : str or float, optional
        (d |A*|)^(1/4) ("original"), (d K)^(1/4) ("real": the paper's real-data runs),
        (4 d K)^(1/4) ("synthetic": its synthetic runs), or a number >= 1.
    c : float, optional
        The confidence coefficient, > 0.
    stop : bool, optional
        Whether it commits at the first certificate.
    stop_c : float, optional
        The coefficient of the certificate's radii, > 0; it plays no part unless ``stop`` is set.

    Raises
    ------
    MomabError
        If an option is none of these.
    """

    q: str | float = "original"
    c: float = 2.0
    stop: bool = False
    stop_c: float = 2.0

    family: ClassVar[str] = "pareto-ucb1"
    style: ClassVar[tuple[str, str]] = ("orange", "s")
    place: ClassVar[int] = 2
    good_options: ClassVar[Values] = {
        "q": (*Q_RULES, 1.0, 3.7),
        "c": COEFFICIENTS,
        "stop": (False, True),
        "stop_c": (0.02, 0.3, 2.0),
    }
    bad_options: ClassVar[Values] = {
        "q": ("paper", 0.5, None),
        "c": (-1, 0, "2"),
        "stop": ("soon", 1, None),
        "stop_c": (0, -0.5, "2"),
    }

    def __post_init__(self) -> None:
        """Validate the options."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))
        object.__setattr__(self, "stop_c", positive_number(self.stop_c, "stop_c"))
        if not isinstance(self.stop, bool):
            raise MomabError(f"stop must be True or False; it is {self.stop!r}.")
        if isinstance(self.q, str):
            one_of(self.q, Q_RULES, "q", or_else="a number >= 1")
            return
        q = positive_number(self.q, "q")
        if q < 1:
            raise MomabError(f"q must be at least 1, so that log(t q) is positive; it is {q!r}.")
        object.__setattr__(self, "q", q)

    @property
    def name(self) -> str:
        """The name that keys the coin stream and the tables."""
        return f"{self.family}-stop" if self.stop else self.family

    @property
    def label(self) -> str:
        """The name in figures."""
        return "Pareto UCB1 (stops)" if self.stop else "Pareto UCB1"

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

    def start(self) -> None:
        """Make room for the optimistic vectors, and for the certificate's bounds."""
        K, d = self.K, self.d
        self.factor = self.scale(K, d, Given(self.front_size, self.champion_objective))
        self.vector, self.member = np.zeros((K, d)), np.zeros(K, dtype=np.bool_)
        self.dominator = np.zeros(K, dtype=np.int64)  # the arm that last dominated an arm
        self.stop_clog = self.stop_c * log(self.T)
        self.beta, self.width = np.zeros(K), np.zeros(d)
        self.leader = np.zeros(d, dtype=np.int64)

    def moved(self, arm: int) -> None:
        """One arm has a new radius of the certificate."""
        self.beta[arm] = math.sqrt(self.stop_clog / self.counts[arm])

    def select(self, t: int, coin: Coins) -> int:
        """Stop if there is a certificate, else choose an optimistic arm."""
        if self.stop:
            arm = certified_arm(self, t, coin)
            if arm >= 0:
                return arm
        return optimistic_arm(self, t, coin)


def optimistic_arm(self: Any, t: int, coin: Coins) -> int:
    """Slot 0 chooses among the optimistic vectors that no other dominates."""
    bonus = self.c * log(t * self.factor)
    for a in range(self.K):
        radius = math.sqrt(bonus / self.counts[a])
        for j in range(self.d):
            self.vector[a, j] = self.means[a, j] + radius
    find_front(self)
    return choose_among(self.member, 0, coin)


def find_front(self: Any) -> None:
    """Mark the arms whose vectors no other vector dominates."""
    K, vector = self.K, self.vector
    for a in range(K):
        dominated = row_dominates(vector, self.dominator[a], a)  # the last one first
        f = 0
        while f < K and not dominated:
            if row_dominates(vector, f, a):
                dominated = True
                self.dominator[a] = f
            f += 1
        self.member[a] = not dominated


def row_dominates(vector: FloatArray, f: int, a: int) -> bool:
    """Whether row f is nowhere below row a and somewhere above."""
    above = False
    for j in range(vector.shape[1]):
        if vector[f, j] < vector[a, j]:
            return False
        above = above or vector[f, j] > vector[a, j]
    return above


def certified_arm(self: Any, t: int, coin: Coins) -> int:
    """Commit to the arm of the widest certificate, if there is one; slot 1 breaks ties."""
    if not certifies(self):
        return -1
    j = choose_top(self.width, 1, coin)
    commit(self, t, self.leader[j], j, self.T)
    return self.leader[j]


def certifies(self: Any) -> bool:
    """Find the width of every certified race, minus infinity for the others; is there one?"""
    found = False
    for j in range(self.d):
        leader, upper, second = 0, -math.inf, -math.inf
        for a in range(self.K):
            bound = self.means[a, j] + self.beta[a]
            if bound > upper:
                leader, upper, second = a, bound, upper
            else:
                second = max(second, bound)
        self.leader[j], self.width[j] = leader, -math.inf
        if self.means[leader, j] - self.beta[leader] > second:
            rival = 0.0
            for a in range(self.K):
                if a != leader and self.means[a, j] + self.beta[a] >= second - TIE:
                    rival = max(rival, self.beta[a])
            self.width[j] = self.beta[leader] + rival
            found = True
    return found
