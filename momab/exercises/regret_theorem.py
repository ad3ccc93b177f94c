"""The exercises of the chapter on the regret theorem."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Case, Exercise, Slip, function
from momab.exercises.draws import near, unit, whole
from momab.model import pareto, theory

Array = NDArray[np.float64]

_SCALAR = np.array([[0.3], [0.75], [0.5]])
_FRONT = np.array([[0.8, 0.25], [0.25, 0.8], [0.05, 0.78], [0.05, 0.05]])
_SMALL_LEAD = np.array([[0.60, 0.50], [0.55, 0.52], [0.20, 0.10], [0.30, 0.35]])
_TIED = np.array([[0.8, 0.5], [0.8, 0.5], [0.2, 0.1]])
_ZERO_GAP = np.array([[0.9, 0.9], [0.9, 0.3], [0.4, 0.2]])
_LARGE = np.random.default_rng(4).random((8, 3)).round(3)

# ---- regret-theorem-2: the bound of the theorem ----------------------------------------------


def _theorem_bound(means: Array, T: int, c: float) -> float:
    """Theorem 4 for a general coefficient; infinite at g = 0."""
    return theory.theorem_bound(means, T, c).total


def _bound(
    means: Array,
    T: int,
    c: float,
    *,
    g: float | None = None,
    warm: float = 1.0,
    arms: float | None = None,
    constant: float | None = None,
    gap: float | None = None,
) -> float:
    """The bound with one of its ingredients replaced."""
    K, d = means.shape
    lead = float(pareto.g_dagger(means)) if g is None else g
    largest = float(pareto.gaps(means).max()) if gap is None else gap
    if lead == 0:
        return math.inf
    factor = 32.0 * c if constant is None else constant
    explore = factor * (K if arms is None else arms) * math.log(T) / lead
    lost = 2.0 * K * d * largest * math.pow(T, 2.0 - 2.0 * c)
    return float(warm * K * largest + explore + lost)


_THEOREM = function(
    "regret-theorem-2",
    _theorem_bound,
    [
        Case(
            "the theorem's coefficient, c = 2",
            ((_SCALAR, 1000, 2.0), (_FRONT, 1_000_000, 2.0)),
            "Three terms: warm start, exploration with 64 K log T / g, tail.",
        ),
        Case(
            "other coefficients",
            ((_FRONT, 1000, 1.0), (_LARGE, 1000, 0.5)),
            "With a general c the 64 becomes 32 c and the tail has T to the power 2 - 2c.",
        ),
        Case(
            "the leads are small compared with the gaps",
            ((_SMALL_LEAD, 10_000, 2.0), (_LARGE, 10_000, 2.0)),
            "The lead belongs to an objective, the gap to an arm; the bound needs both.",
        ),
        Case(
            "no arm leads",
            ((_TIED, 10_000, 2.0),),
            "If every objective has several best arms, the theorem says nothing: return infinity.",
        ),
    ],
    [
        Slip(
            lambda means, T, c: _bound(means, T, c, arms=1.0),
            "You have the bound of the paper's abstract; the theorem has a factor K.",
        ),
        Slip(
            lambda means, T, c: _bound(means, T, c, constant=64.0),
            "The 64 is for one value of c; write the exploration term for a general one.",
        ),
        Slip(
            lambda means, T, c: _bound(means, T, c, constant=16.0 * c),
            "Your constant is that of the sharper bound; the theorem's is twice as large.",
        ),
    ],
    vary=[unit("Kd"), whole(), near()],
)

# ---- regret-theorem-3: the sharper exploration term ------------------------------------------


def exploration(means: Array, T: int, c: float) -> float:
    """16 c log T times the sum of gap / max(gap, g)^2 over the arms with a positive gap."""
    return theory.sharper_bound(means, T, c).exploration


def _sum(weights: Array, T: int, c: float, constant: float = 16.0) -> float:
    return constant * c * math.log(T) * float(np.sum(weights))


def _parts(means: Array) -> tuple[Array, float]:
    """The positive gaps and the largest lead."""
    gaps = pareto.gaps(means)
    return gaps[gaps > 0], float(pareto.g_dagger(means))


_EXPLORATION = function(
    "regret-theorem-3",
    exploration,
    [
        Case(
            "gaps below the lead",
            ((_FRONT, 10_000, 2.0),),
            "An arm whose gap is smaller than the lead is stopped by the width floor.",
        ),
        Case(
            "gaps above the lead",
            ((_SMALL_LEAD, 10_000, 2.0), (_SCALAR, 1000, 2.0)),
            "An arm whose gap is larger than the lead is stopped by local charge.",
        ),
        Case(
            "other coefficients",
            ((_LARGE, 1_000_000, 0.1), (_FRONT, 500, 1.0)),
            "With a general c the 32 becomes 16 c.",
        ),
        Case(
            "no arm leads, and arms whose gap is zero",
            ((_TIED, 10_000, 2.0), (_ZERO_GAP, 10_000, 2.0)),
            "Arms with gap zero cost nothing and do not enter the sum; then the formula is finite "
            "without a lead.",
        ),
    ],
    [
        Slip(
            lambda means, T, c: _sum(
                _parts(means)[0] / np.maximum(*_parts(means)) ** 2, T, c, 32.0
            ),
            "Your constant is right for c = 1; at the theorem's c = 2 it must give 32.",
        ),
        Slip(
            lambda means, T, c: _sum(_parts(means)[0] / np.maximum(*_parts(means)), T, c),
            "Pulls are bounded by the square of a radius, so the denominator is squared.",
        ),
        Slip(
            lambda means, T, c: _sum(1.0 / np.maximum(*_parts(means)) ** 2, T, c),
            "That is the number of pulls; each of them costs the gap of its arm.",
        ),
    ],
    vary=[unit("Kd"), whole(), near()],
)

EXERCISES: tuple[Exercise, ...] = (_THEOREM, _EXPLORATION)
