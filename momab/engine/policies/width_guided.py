r"""Width-guided, the paper's Algorithm 1: race the top two arms of the widest objective.

There are two certificates.  *Hoeffding's*, the paper's: on objective j the lower bound of the
leader b_j exceeds the upper bound of the runner-up c_j.  The *kl* certificate: the interval
:math:`\{x: N\,\mathrm{kl}(\hat\mu,x)\le 2c\log T\}` of the arm with the largest mean on j lies
above the interval of every other arm.  By Pinsker, :math:`\mathrm{kl}(p,x)\ge2(p-x)^2`, a kl
interval lies inside Hoeffding's, so that the first certificate implies the second; here this
holds in floating point as well, since either of them certifies.  The sampling rule and its coins
are the same, so on every path the kl version stops no later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import BoolArray, FloatArray, IntArray, positive_number
from momab.engine.policies.base import (
    COEFFICIENTS,
    TIE,
    Certificate,
    Values,
    View,
    one_of,
    selection,
    top,
)
from momab.engine.policies.kl_ucb import PRECISION, _kl, klucb_index
from momab.engine.streams import Coins
from momab.model.instances import Instance
from momab.model.numerics import log

OBJECTIVE_RULES = ("widest", "random", "round-robin", "oracle")
CERTIFICATES = ("hoeffding", "kl")


@dataclass(frozen=True)
class WidthGuided:
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


@dataclass(frozen=True)
class Races:
    """Every objective's race at one decision: the bounds, the top two arms, the widths."""

    U: FloatArray
    L: FloatArray
    beta: FloatArray
    b: NDArray[np.intp]
    c: NDArray[np.intp]
    W: FloatArray
    certified: BoolArray
    """Objectives with L[b_j, j] > U[c_j, j], or with the certificate of kl intervals."""
    winner: NDArray[np.intp]
    """The arm that each objective proves, if it is certified."""


def races(policy: WidthGuided, view: View, coin: Coins) -> Races:
    """Lines 5-11 of Algorithm 1, with the policy's certificate (Hoeffding's if it names none)."""
    certificate = getattr(policy, "certificate", "hoeffding")
    return race_all(policy.c * log(view.horizon), view, coin, certificate)


def race_all(clog: float, view: View, coin: Coins, certificate: str = "hoeffding") -> Races:
    """Race with radius sqrt(clog / N): slot 2j breaks the ties of b_j, 2j + 1 those of c_j."""
    beta = np.sqrt(clog / view.counts)
    U = view.means + beta[:, None]
    L = view.means - beta[:, None]
    objectives = np.arange(view.d)
    b = _leaders(U, coin, 0)
    others = U.copy()
    others[b, objectives] = -np.inf
    c = _leaders(others, coin, 1)
    certified = L[b, objectives] > U[c, objectives]
    winner = b.copy()
    if certificate == "kl":
        for j in np.flatnonzero(~certified):
            winner[j] = view.means[:, j].argmax()
            certified[j] = _kl_certified(view.means[:, j], beta, view.counts, 2.0 * clog)
    return Races(U, L, beta, b, c, beta[b] + beta[c], certified, winner)


def _leaders(bounds: FloatArray, coin: Coins, first_slot: int) -> NDArray[np.intp]:
    """The arm with the largest bound per objective; ties of objective j take slot 2j + first."""
    tied = bounds >= bounds.max(axis=0) - TIE
    leaders: NDArray[np.intp] = tied.argmax(axis=0)
    for j in np.flatnonzero(tied.sum(axis=0) > 1):
        leaders[j] = coin.choose(np.flatnonzero(tied[:, j]), slot=2 * int(j) + first_slot)
    return leaders


def _kl_certified(means: FloatArray, beta: FloatArray, counts: IntArray, level: float) -> bool:
    """Whether the kl interval of the largest mean lies above all others."""
    best = int(means.argmax())
    arms = list(zip(means.tolist(), beta.tolist(), counts.tolist()))
    return all(kl_apart(arms[best], arms[a], level) for a in range(len(arms)) if a != best)


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
    (p, p_radius, n), (q, q_radius, m) = high, low
    gap, radii = p - q, p_radius + q_radius
    if p - p_radius > q + q_radius:
        return True
    if gap <= PRECISION or gap * gap <= 4.0 * min(p * (1.0 - p), q * (1.0 - q)) * (radii * radii):
        return False
    while p - q > PRECISION:
        x = 0.5 * (p + q)
        above = m * _kl(low[0], x) > level  # x is above the lower arm's interval
        below = n * _kl(high[0], x) > level
        if above == below:
            return above
        p, q = (x, q) if above else (p, x)
    return False


def kl_interval(mean: float, n: int, level: float) -> tuple[float, float]:
    """Compute {x: n kl(mean, x) <= level}, each end to within 1e-9 from inside."""
    upper = klucb_index(mean, n, level)
    return 1.0 - klucb_index(1.0 - mean, n, level), upper


def proving_objective(race: Races, coin: Coins) -> int:
    """Lines 12-14: the widest of the certified objectives (slot 2d breaks ties), or -1."""
    if not race.certified.any():
        return -1
    proved = np.flatnonzero(race.certified)
    return coin.choose(proved[top(race.W[proved])], slot=2 * len(race.W))


def raced_arm(rule: str, race: Races, view: View, coin: Coins) -> int:
    """Lines 15-19: the wider endpoint of the rule's race; slots 2d + 1 and 2d + 2."""
    d = view.d
    if rule == "widest":
        j = coin.choose(top(race.W), slot=2 * d + 1)
    elif rule == "random":
        j = coin.choose(range(d), slot=2 * d + 1)
    elif rule == "round-robin":
        j = (view.t - view.K) % d
    else:
        j = view.given.champion_objective
    pair = np.sort([race.b[j], race.c[j]])
    return coin.choose(pair[top(race.beta[pair])], slot=2 * d + 2)


@selection(WidthGuided)
def select_width_guided(policy: WidthGuided, view: View, coin: Coins) -> int:
    """Algorithm 1 after the warm start."""
    if view.certificate is not None:
        return view.certificate.arm
    race = view.details = races(policy, view, coin)
    j = proving_objective(race, coin)
    if j < 0:
        return raced_arm(policy.objective_rule, race, view, coin)
    view.certificate = Certificate(view.t, int(race.winner[j]), j)
    return view.certificate.arm
