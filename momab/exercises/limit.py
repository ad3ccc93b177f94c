"""The exercises of the chapter on Pareto IMED."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Aspect, Case, Exercise, Slip, function, is_table, value
from momab.exercises.draws import counts, keep, unit, whole
from momab.model import pareto, theory
from momab.model.imed import copied_exponent, is_settled, worst_price

Means = NDArray[np.float64]
Counts = NDArray[np.int64]

# ---- the policy in ten lines ---------------------------------------------------------------


def next_arm(means: Means, counts: Counts, kind: str) -> int:
    """The arm with the least index against the cheapest candidate."""
    D = theory.evidence(means, kind)
    return _least(D, counts, int(theory.price(means, kind).arm))


def _least(D: Means, counts: Counts, candidate: int) -> int:
    return int(np.argmin(counts * D[:, candidate] + np.log(counts)))


def _without_log(means: Means, counts: Counts, kind: str) -> int:
    D = theory.evidence(means, kind)
    return int(np.argmin(counts * D[:, int(theory.price(means, kind).arm)]))


def _other_kind(means: Means, counts: Counts, kind: str) -> int:
    return next_arm(means, counts, "max" if kind == "sum" else "sum")


def _most_pulled(means: Means, counts: Counts, kind: str) -> int:
    free = pareto.gaps(means) == 0
    return _least(theory.evidence(means, kind), counts, int(np.argmax(np.where(free, counts, 0))))


_HAND = np.array([[0.8, 0.2], [0.2, 0.8], [0.1, 0.7]])
_FRONT = np.array([[0.8, 0.3], [0.62, 0.62], [0.3, 0.8], [0.5, 0.52], [0.7, 0.15], [0.15, 0.65]])
_RNG = np.random.default_rng(12)
_DRAWN = tuple(
    (_RNG.uniform(0.05, 0.95, (K, d)).round(3), _RNG.integers(1, top, K), kind)
    for K, d, top, kind in (
        *((6, 2, 60, "sum"), (6, 2, 60, "max"), (8, 3, 200, "sum"), (8, 3, 200, "max")),
        *((10, 2, 30, "sum"), (10, 2, 30, "max"), (5, 2, 400, "sum"), (5, 4, 40, "max")),
    )
)

# an index in which the logarithm of the count decides
_NEAR = np.array([[0.6, 0.3], [0.2, 0.25], [0.25, 0.6]])

_DECISION = function(
    "limit-3",
    next_arm,
    [
        Case(
            "the round of the first exercise, and a later one",
            (
                (_HAND, np.array([50, 20, 5]), "sum"),
                (_HAND, np.array([5000, 20, 5]), "sum"),
                (_HAND, np.array([5000, 20, 5]), "max"),
                (_NEAR, np.array([18, 4, 7]), "sum"),
            ),
            "Find the candidate first: the arm of gap zero with the least price.",
        ),
        Case(
            "six arms, both kinds of evidence",
            tuple(
                (_FRONT, np.array(counts), kind)
                for kind in ("sum", "max")
                for counts in (
                    [900, 30, 12, 25, 60, 9],
                    [40, 300, 12, 90, 60, 9],
                    [2000, 9, 12, 60, 200, 30],
                )
            ),
            "The index is N times the evidence plus log N, against one candidate for all arms.",
        ),
        Case(
            "drawn means and counts",
            _DRAWN,
            "Only objectives on which the candidate is better count as evidence.",
        ),
    ],
    [
        Slip(
            _without_log,
            "You left out log N; without it the candidate is always pulled.",
        ),
        Slip(_other_kind, "You took the sum where the maximum is meant, or the other way round."),
        Slip(_most_pulled, "Your candidate is the free arm with most pulls; take the cheapest."),
    ],
    vary=[unit("Kd"), counts("K"), keep],
)

# ---- the price of a wrong model ------------------------------------------------------------


def copied_power(theta: list[float], d: int) -> float:
    """The power of T of the proposition on copied coins, or 0."""
    return max(0.0, copied_exponent(theta, d))


def _power(first: float, second: float, d: float) -> float:
    return max(0.0, 1 - math.log(1 - first) / (d * math.log(1 - second)))


def _two(theta: list[float]) -> tuple[float, float]:
    first, second = sorted(theta, reverse=True)[:2]
    return first, second


def _of_ones(theta: list[float], d: int) -> float:
    first, second = _two(theta)
    return max(0.0, 1 - math.log(first) / (d * math.log(second)))


def _swapped(theta: list[float], d: int) -> float:
    first, second = _two(theta)
    return _power(second, first, d)


_COPIES = function(
    "limit-4",
    copied_power,
    [
        Case(
            "two arms",
            (([0.7, 0.5], 5), ([0.5, 0.7], 2), ([0.6, 0.55], 3), ([0.9, 0.5], 4)),
            "gamma is a quotient of two logarithms, divided by d.",
        ),
        Case(
            "more than two arms",
            (([0.5, 0.7, 0.5, 0.2], 5), ([0.1, 0.3, 0.8], 6), ([0.45, 0.4, 0.1], 2)),
            "Only the two largest means count, wherever they are in the list.",
        ),
        Case(
            "no danger",
            (([0.7, 0.5], 1), ([0.9, 0.5], 3), ([0.99, 0.1], 2)),
            "Where the power is negative the proposition says nothing: return 0.",
        ),
    ],
    [
        Slip(_of_ones, "The unlucky event is a row of zeros, so take logarithms of 1 - theta."),
        Slip(_swapped, "You swapped the two arms: the best arm is the one with the bad luck."),
        Slip(
            lambda theta, d: copied_exponent(theta, d), "A negative power says nothing; clip at 0."
        ),
    ],
    vary=[unit("K"), whole()],
)

# ---- far from the dearest candidate --------------------------------------------------------

_FACTOR = 100


def _fits(means: Any) -> bool:
    inside = all(0 < mean < 1 for row in means for mean in row)
    return inside and is_table(means, (2, 4), (1, 100))


def _costs(means: Any) -> bool:
    return _fits(means) and bool((pareto.gaps(means) > 0).any())


def _settled(means: Any) -> bool:
    return _costs(means) and is_settled(means)


def _far(means: Any) -> bool:
    return _costs(means) and worst_price(means) >= _FACTOR * float(theory.price(means).value)


_DEAREST = value(
    "limit-7",
    "a table of means, a list with one row per arm",
    [[0.9, 0.1], [0.1, 0.9], [0.08, 0.88]],
    [
        Aspect(
            "at most four arms, and means strictly between 0 and 1",
            _fits,
            "A row is the mean vector of an arm; 0 and 1 themselves are not allowed.",
        ),
        Aspect(
            "some arm is paid",
            _costs,
            "One arm must be below another on every objective, or the price is zero.",
        ),
        Aspect(
            "the instance is settled",
            _settled,
            "A single free arm must have the least price.",
        ),
        Aspect(
            "U is at least 100 times C",
            _far,
            "Put the paid arm close to one free arm and far from another one.",
        ),
    ],
    [
        Slip(
            [[0.9, 0.8], [0.4, 0.5], [0.3, 0.2]],
            "With a single free arm there is only one candidate, and U equals C.",
        ),
        Slip(
            [[0.9, 0.1], [0.1, 0.9], [0.2, 0.8]],
            "No arm is below another arm everywhere here, so nothing costs anything.",
        ),
        Slip(
            [[0.9, 0.1], [0.1, 0.9], [0.08, 0.9]],
            "A tie on one objective makes the last arm free; lower it everywhere.",
        ),
    ],
)

EXERCISES: tuple[Exercise, ...] = (_DECISION, _COPIES, _DEAREST)
