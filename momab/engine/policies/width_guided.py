"""Width-guided, the paper's Algorithm 1: race the top two arms of the widest objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import BoolArray, FloatArray, positive_number
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
from momab.engine.streams import Coins
from momab.model.instances import Instance
from momab.model.numerics import log

OBJECTIVE_RULES = ("widest", "random", "round-robin", "oracle")


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

    Raises
    ------
    MomabError
        If c is not positive or the rule is none of these.
    """

    c: float = 2.0
    objective_rule: str = "widest"

    family: ClassVar[str] = "width-guided"
    style: ClassVar[tuple[str, str]] = ("blue", "o")
    place: ClassVar[int] = 1
    good_options: ClassVar[Values] = {"c": COEFFICIENTS, "objective_rule": OBJECTIVE_RULES}
    bad_options: ClassVar[Values] = {
        "c": (0, "2", float("nan")),
        "objective_rule": ("widest first", 1),
    }

    def __post_init__(self) -> None:
        """Validate the options."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))
        one_of(self.objective_rule, OBJECTIVE_RULES, "objective_rule")

    @property
    def name(self) -> str:
        """The name that keys the coin stream and the tables."""
        rule = self.objective_rule
        return self.family if rule == "widest" else f"{self.family}-{rule}"

    @property
    def label(self) -> str:
        """The name in figures."""
        rule = self.objective_rule
        return "Width-guided" if rule == "widest" else f"Width-guided ({rule})"

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
    """Objectives with L[b_j, j] > U[c_j, j]."""


def races(policy: WidthGuided, view: View, coin: Coins) -> Races:
    """Lines 5-11 of Algorithm 1: slot 2j breaks the ties of b_j, slot 2j + 1 those of c_j."""
    beta = np.sqrt(policy.c * log(view.horizon) / view.counts)
    U = view.means + beta[:, None]
    L = view.means - beta[:, None]
    objectives = np.arange(view.d)
    b = _leaders(U, coin, 0)
    others = U.copy()
    others[b, objectives] = -np.inf
    c = _leaders(others, coin, 1)
    certified = L[b, objectives] > U[c, objectives]
    return Races(U, L, beta, b, c, beta[b] + beta[c], certified)


def _leaders(bounds: FloatArray, coin: Coins, first_slot: int) -> NDArray[np.intp]:
    """The arm with the largest bound per objective; ties of objective j take slot 2j + first."""
    tied = bounds >= bounds.max(axis=0) - TIE
    leaders: NDArray[np.intp] = tied.argmax(axis=0)
    for j in np.flatnonzero(tied.sum(axis=0) > 1):
        leaders[j] = coin.choose(np.flatnonzero(tied[:, j]), slot=2 * int(j) + first_slot)
    return leaders


@selection(WidthGuided)
def select_width_guided(policy: WidthGuided, view: View, coin: Coins) -> int:
    """Lines 12-19 of Algorithm 1."""
    d = view.d
    if view.certificate is not None:
        return view.certificate.arm
    race = view.details = races(policy, view, coin)
    if race.certified.any():
        proved = np.flatnonzero(race.certified)
        j = coin.choose(proved[top(race.W[proved])], slot=2 * d)
        view.certificate = Certificate(view.t, int(race.b[j]), j)
        return view.certificate.arm
    if policy.objective_rule == "widest":
        j = coin.choose(top(race.W), slot=2 * d + 1)
    elif policy.objective_rule == "random":
        j = coin.choose(range(d), slot=2 * d + 1)
    elif policy.objective_rule == "round-robin":
        j = (view.t - view.K) % d
    else:
        j = view.given.champion_objective
    pair = np.sort([race.b[j], race.c[j]])
    return coin.choose(pair[top(race.beta[pair])], slot=2 * d + 2)
