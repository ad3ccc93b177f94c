"""The exercises of the chapter on naming one optimal arm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Case, Exercise, Slip, function
from momab.exercises.draws import Draw, near, unit
from momab.model.identification import pair_evidence
from momab.model.theory import kl_plus

Floats = NDArray[np.float64]

# ---- one comparison ------------------------------------------------------------------------


def comparison(high: Floats, low: Floats, n: float, m: float) -> float:
    """The evidence of n and m pulls that the second arm is not above the first everywhere."""
    return float(pair_evidence(high, low, n, m))


def _sides(high: Floats, low: Floats, x: Floats) -> tuple[Floats, Floats]:
    """kl from both means to x, in either direction."""
    high_side = kl_plus(high, x) + kl_plus(1 - high, 1 - x)
    return high_side, kl_plus(low, x) + kl_plus(1 - low, 1 - x)


def _everywhere(high: Floats, low: Floats, n: float, m: float) -> float:
    first, second = _sides(high, low, (n * high + m * low) / (n + m))
    return float((n * first + m * second).sum())


def _halfway(high: Floats, low: Floats, n: float, m: float) -> float:
    first, second = _sides(high, low, (high + low) / 2)
    return float(np.where(low < high, n * first + m * second, 0.0).sum())


def _one_side(high: Floats, low: Floats, n: float, m: float) -> float:
    return float(m * kl_plus(low, high).sum())


_COMPARISON = function(
    "one-arm-2",
    comparison,
    [
        Case(
            "one objective",
            (
                (np.array([0.7]), np.array([0.4]), 30.0, 30.0),
                (np.array([0.7]), np.array([0.4]), 10.0, 90.0),
                (np.array([0.4]), np.array([0.7]), 10.0, 90.0),
            ),
            "Both samples move to their common mean, weighted by the numbers of pulls.",
        ),
        Case(
            "several objectives",
            (
                (np.array([0.8, 0.3]), np.array([0.3, 0.8]), 20.0, 50.0),
                (np.array([0.6, 0.5, 0.2]), np.array([0.5, 0.5, 0.15]), 100.0, 40.0),
                (np.array([0.9, 0.2, 0.4, 0.6]), np.array([0.1, 0.3, 0.35, 0.2]), 7.0, 11.0),
            ),
            "Only objectives on which the second arm is behind count.",
        ),
    ],
    [
        Slip(_everywhere, "Objectives on which the second arm is ahead say nothing; leave them."),
        Slip(_halfway, "The common mean is that of all rewards together, weighted by pulls."),
        Slip(
            _one_side,
            "You treat the first arm's means as known; its sample may be wrong as well.",
        ),
    ],
    vary=[unit("d"), unit("d"), near(), near()],
)

# ---- what is left of a guarantee -----------------------------------------------------------


def risk_with_copies(delta: float, arms: int, d: int) -> float:
    """What the proposition still guarantees on d copies of one coin."""
    return float(min(1.0, (arms - 1) * (delta / (arms - 1)) ** (1 / d)))


def _other_risk(draw: Draw, call: tuple[Any, ...]) -> tuple[Any, ...]:
    delta, arms, d = call
    return (
        delta ** draw.between(0.8, 1.2),
        max(2, arms + draw.whole(-1, 2)),
        max(1, d + draw.whole(-1, 1)) if d < 8 else d + draw.whole(0, 3),
    )


_COPIES = function(
    "one-arm-3",
    risk_with_copies,
    [
        Case(
            "two arms",
            ((0.01, 2, 1), (0.01, 2, 2), (1e-4, 2, 3), (0.1, 2, 5)),
            "Compare the threshold, divided by d, with that of one objective.",
        ),
        Case(
            "more arms",
            ((0.01, 5, 2), (1e-6, 11, 3), (1e-9, 4, 6)),
            "The number of arms stands inside the logarithm: (K - 1) / delta.",
        ),
        Case(
            "nothing is left",
            ((0.1, 6, 4), (0.05, 9, 30), (0.2, 20, 2)),
            "A probability is at most 1, so cut the answer off there.",
        ),
    ],
    [
        Slip(
            lambda delta, arms, d: min(1.0, d * delta),
            "This is no union bound: one coin is counted d times, in the exponent.",
        ),
        Slip(
            lambda delta, arms, d: min(1.0, delta ** (1 / d)),
            "The factor K - 1 is inside the logarithm that is divided by d, and outside of it.",
        ),
        Slip(
            lambda delta, arms, d: (arms - 1) * (delta / (arms - 1)) ** (1 / d),
            "A guarantee above 1 is none; the largest probability is 1.",
        ),
    ],
    vary=_other_risk,
)

EXERCISES: tuple[Exercise, ...] = (_COMPARISON, _COPIES)
