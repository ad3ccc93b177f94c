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
from typing import ClassVar

import numpy as np

from momab._util.validate import positive_number
from momab.engine.policies.base import (
    COEFFICIENTS,
    TIE,
    Certificate,
    Given,
    Values,
    View,
    nondominated,
    one_of,
    selection,
    top,
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


def first_proof(policy: ParetoUCB1, view: View, coin: Coins) -> Certificate | None:
    """Return the widest certificate of this round, None if there is none; slot 1 breaks ties."""
    beta = np.sqrt(policy.stop_c * log(view.horizon) / view.counts)
    upper = view.means + beta[:, None]
    objectives = np.arange(view.d)
    arms = upper.argmax(axis=0)
    lower = view.means[arms, objectives] - beta[arms]
    upper[arms, objectives] = -np.inf
    rivals = upper.max(axis=0)
    proved = np.flatnonzero(lower > rivals)
    if not len(proved):
        return None
    close = np.where(upper[:, proved] >= rivals[proved] - TIE, beta[:, None], 0.0)
    j = coin.choose(proved[top(beta[arms[proved]] + close.max(axis=0))], slot=1)
    return Certificate(view.t, int(arms[j]), j)


@selection(ParetoUCB1)
def select_pareto_ucb1(policy: ParetoUCB1, view: View, coin: Coins) -> int:
    """Slot 0 chooses among the optimistic vectors that no other dominates."""
    if policy.stop and view.certificate is None:
        view.certificate = first_proof(policy, view, coin)
    if view.certificate is not None:
        return view.certificate.arm
    q = policy.scale(view.K, view.d, view.given)
    radius = np.sqrt(policy.c * log(view.t * q) / view.counts)
    optimistic = view.means + radius[:, None]
    return coin.choose(np.flatnonzero(nondominated(optimistic)), slot=0)
