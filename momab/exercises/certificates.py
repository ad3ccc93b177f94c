"""The exercises of the chapter on certificates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises._situations import IS_POSSIBLE, WANTS_SITUATION, Situation, situation
from momab.exercises.core import Aspect, Case, Exercise, Slip, function, value
from momab.exercises.draws import near, sizes, unit, whole
from momab.ledger.auditing.rounds import top_two
from momab.model import pareto, theory

Array = NDArray[np.float64]

# ---- certificates-2: the certificate test ----------------------------------------------------


def _certified_arms(estimates: Array, radii: Array) -> list[int]:
    """Per objective the arm whose lower bound exceeds all other upper bounds, -1 if none does."""
    upper, each = estimates + radii[:, None], np.arange(estimates.shape[1])
    b, c = top_two(upper)
    lower = estimates[b, each] - radii[b]
    return [int(a) if yes else -1 for a, yes in zip(b, lower > upper[c, each], strict=True)]


def _tested(passes: Callable[[Array, Array, int], bool]) -> Callable[[Array, Array], list[int]]:
    """The test with another condition on (estimates of an objective, radii, arm)."""

    def answer(estimates: Array, radii: Array) -> list[int]:
        found = []
        for column in estimates.T:
            arms = [a for a in range(len(radii)) if passes(column, radii, a)]
            found.append(arms[0] if arms else -1)
        return found

    return answer


def _rivals(column: Array, arm: int) -> NDArray[np.intp]:
    return np.delete(np.arange(len(column)), arm)


def _weak(x: Array, r: Array, a: int) -> bool:
    return all(x[a] - r[a] >= x[i] + r[i] for i in _rivals(x, a))


def _second_mean(x: Array, r: Array, a: int) -> bool:
    i = max(_rivals(x, a), key=lambda i: x[i])
    return bool(x[a] - r[a] > x[i] + r[i])


def _one_radius(x: Array, r: Array, a: int) -> bool:
    return all(x[a] - r[a] > x[i] for i in _rivals(x, a))


_DUEL = (np.array([[0.9], [0.3]]), np.array([0.125, 0.25]))
_OPEN = (np.array([[0.6, 0.2], [0.5, 0.7], [0.1, 0.65]]), np.array([0.2, 0.3, 0.1]))
_SEVERAL = (
    np.array([[0.9, 0.3, 0.5], [0.4, 0.35, 0.55], [0.3, 0.9, 0.1]]),
    np.array([0.1, 0.15, 0.12]),
)
_SHY = (np.array([[0.8], [0.5], [0.3]]), np.array([0.125, 0.0625, 0.5]))
_TOUCH = (np.array([[0.75, 0.25], [0.25, 1.0]]), np.array([0.25, 0.25]))
_NARROW = (np.array([[0.8], [0.5], [0.45]]), np.array([0.2, 0.15, 0.1]))

_CERTIFIED = function(
    "certificates-2",
    _certified_arms,
    [
        Case(
            "two arms and one objective",
            (_DUEL,),
            "Compare the lower bound of the one arm with the upper bound of the other.",
        ),
        Case(
            "overlapping intervals certify nothing",
            (_OPEN, _NARROW),
            "The whole interval of the certified arm must lie above the others: both radii count.",
        ),
        Case(
            "every objective is tested by itself",
            (_SEVERAL,),
            "Return one entry per objective: the certified arm, counted from 0, or -1.",
        ),
        Case(
            "an arm with a low estimate and a large radius can be the challenger",
            (_SHY,),
            "The challenger is the rival with the highest upper bound, whatever its estimate.",
        ),
        Case(
            "intervals that only touch do not certify",
            (_TOUCH,),
            "The inequality of the certificate is strict.",
        ),
    ],
    [
        Slip(
            _tested(_weak),
            "Your inequality allows equality; the certificate asks that the lower bound exceed.",
        ),
        Slip(
            _tested(_second_mean),
            "You compared with the arm that has the second-best estimate; the challenger has the "
            "highest upper bound among the others.",
        ),
        Slip(
            _tested(_one_radius),
            "You used the radius of the leader only; the rival's estimate is uncertain as well.",
        ),
    ],
    vary=[unit("Kd"), sizes("K")],
)

# ---- certificates-3: the coefficient for a given risk ----------------------------------------


def _coefficient(K: int, d: int, T: int, level: float) -> float:
    """The least c with 2 K d T^(1 - 2c) <= level."""
    return _solved(2.0 * K * d, T, level)


def _solved(factor: float, T: float, level: float) -> float:
    return 0.5 * (1.0 + math.log(factor / level) / math.log(T))


_COEFFICIENT = function(
    "certificates-3",
    _coefficient,
    [
        Case(
            "one objective",
            ((2, 1, 1000, 0.05), (10, 1, 100_000, 0.05)),
            "Take logarithms of 2 K d T^(1 - 2c) = level and solve for c.",
        ),
        Case(
            "several objectives",
            ((5, 3, 1000, 0.05), (10, 26, 1_000_000, 0.05)),
            "Every arm has an interval on every objective.",
        ),
        Case(
            "smaller risks need larger coefficients",
            ((4, 2, 500, 0.001), (4, 2, 500, 1e-9)),
            "The level is in the denominator under the logarithm.",
        ),
        Case(
            "the risk of the theorem gives back its coefficient",
            ((6, 3, 200, theory.union_bound(6, 3, 200, 2.0)),),
            "With the level 2 K d / T^3 the answer must be that of the paper.",
        ),
    ],
    [
        Slip(
            lambda K, d, T, level: _solved(K * d, T, level),
            "The intervals have two sides, and each of them can fail.",
        ),
        Slip(
            lambda K, d, T, level: _solved(2.0 * K, T, level),
            "You counted one interval per arm; there is one per arm and objective.",
        ),
        Slip(
            lambda K, d, T, level: _solved(2.0 * K * d, T, level) - 0.5,
            "You left out the union over the T sample counts, a factor of T.",
        ),
    ],
    vary=[whole(1.0, 2.0), whole(), whole(2.0, 3.0), near()],
)

# ---- certificates-6: what the strict inequality is good for ----------------------------------


class _Weakly(Situation):
    """A situation and the weak certificate L_b >= U_c of the first objective, up to rounding."""

    rounding = 1e-9

    def __init__(self, answer: Any) -> None:
        super().__init__(answer)
        rivals = np.array([np.delete(self.upper[:, 0], a).max() for a in range(len(self.means))])
        margin = self.lower[:, 0] - rivals
        self.arm = int(margin.argmax())
        self.passes = float(margin[self.arm]) >= -self.rounding


_REACH = float(theory.confidence_radius(400, Situation.T, Situation.c))
_HALF = [400, 400]
_TIED = [[0.5, 0.2], [0.5, 0.6]]

_WEAK = value(
    "certificates-6",
    WANTS_SITUATION,
    situation(_TIED, [[0.5 + _REACH, 0.2], [0.5 - _REACH, 0.6]], _HALF),
    [
        IS_POSSIBLE,
        Aspect(
            "all intervals hold their means",
            lambda found: _Weakly(found).missed(_Weakly.rounding) == 0,
            "Some estimate is more than the radius of its arm away from the mean.",
        ),
        Aspect(
            "the first objective passes the weak test",
            lambda found: _Weakly(found).passes,
            "On the first objective, some arm's lower bound must reach the highest upper bound of "
            "the others; use both radii to push the estimates apart.",
        ),
        Aspect(
            "the arm that passes is dominated",
            lambda found: not pareto.front(found["means"])[_Weakly(found).arm],
            "No arm dominates the one that passes; another arm must be as good on the first "
            "objective and better elsewhere.",
        ),
    ],
    [
        Slip(
            situation(_TIED, _TIED, _HALF),
            "With estimates at the true means the intervals overlap; move them to opposite ends.",
        ),
        Slip(
            situation([[0.5], [0.5]], [[0.5 + _REACH], [0.5 - _REACH]], _HALF),
            "The tie is right, but with one objective tied arms do not dominate each other; add "
            "an objective.",
        ),
        Slip(
            situation(_TIED, [[0.5 - _REACH, 0.2], [0.5 + _REACH, 0.6]], _HALF),
            "Here the better one of the two tied arms passes; let the other one look good.",
        ),
    ],
)

EXERCISES: tuple[Exercise, ...] = (_CERTIFIED, _COEFFICIENT, _WEAK)
