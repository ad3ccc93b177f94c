"""The exercises of the chapter on the lower bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Aspect, Case, Exercise, Slip, function, value
from momab.exercises.draws import near, unit, whole
from momab.model.theory import bernoulli_kl

# ---- the constant --------------------------------------------------------------------------


def constant(theta: NDArray[np.float64]) -> float:
    """The sum over the inferior arms of gap / kl(arm, best)."""
    return float(sum(gap / bernoulli_kl(mean, best) for gap, mean, best in _inferior(theta)))


def _inferior(theta: NDArray[np.float64]) -> list[tuple[float, float, float]]:
    """Gap, mean and best mean of every arm below the best."""
    best = float(max(theta))
    return [(best - float(mean), float(mean), best) for mean in theta if mean < best]


_CONSTANT = function(
    "lower-bound-2",
    constant,
    [
        Case(
            "the proposition's instances",
            ((np.array([0.75, 0.5]),), (np.array([0.7, 0.5, 0.5, 0.5, 0.5]),)),
            "Every inferior arm adds its gap times log T / kl, divided by log T.",
        ),
        Case(
            "arms with different means",
            ((np.array([0.9, 0.6, 0.3, 0.1]),), (np.array([0.2, 0.45, 0.35]),)),
            "Every inferior arm has a gap and a divergence of its own.",
        ),
        Case(
            "several arms share the first place",
            ((np.array([0.6, 0.4, 0.6]),), (np.array([0.5, 0.5]),)),
            "An arm that is as good as the best costs nothing, and it is not compared with itself.",
        ),
        Case(
            "means of 0 and of 1",
            ((np.array([0.3, 0.0]),), (np.array([1.0, 0.4]),), (np.array([0.5, 1.0, 0.0]),)),
            "Use 0 log 0 = 0; and an infinite divergence means that log T pulls are not needed.",
        ),
    ],
    [
        Slip(
            lambda theta: sum(
                gap / bernoulli_kl(best, mean) for gap, mean, best in _inferior(theta)
            ),
            "The divergence is not symmetric: data of the inferior arm must rule out that it is "
            "the best one, so which of the two comes first?",
        ),
        Slip(
            lambda theta: sum(1 / bernoulli_kl(mean, best) for _, mean, best in _inferior(theta)),
            "These are pulls per log T; regret weighs every pull by what it costs.",
        ),
        Slip(
            lambda theta: sum(1 / (2 * gap) for gap, _, _ in _inferior(theta)),
            "You replaced kl by twice the squared gap, its value for small gaps around one half; "
            "the constant asks for kl itself.",
        ),
    ],
    vary=[unit("K")],
)


# ---- the index -----------------------------------------------------------------------------


def index(mean: float, n: int, level: float) -> float:
    """The largest q in [mean, 1] with n kl(mean, q) <= level.

    As `momab.engine.policies.kl_ucb.bisected_index`, but to the last digit.
    """
    return _last(lambda q: n * bernoulli_kl(mean, q) <= level, mean, 1.0)


def _last(allowed: Callable[[float], bool], good: float, bad: float) -> float:
    """The last allowed point on the way from a good one to a bad one, by bisection."""
    if allowed(bad):
        return bad
    for _ in range(60):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if allowed(middle) else (good, middle)
    return good


_INDEX = function(
    "lower-bound-3",
    index,
    [
        Case(
            "means inside (0, 1)",
            ((0.3, 10, 2.0), (0.5, 100, 4.5), (0.72, 7, 3.0)),
            "q moves to the right of the mean until n kl(mean, q) reaches the level; kl grows on "
            "the way, so bisection finds the place.",
        ),
        Case(
            "an arm that has never paid",
            ((0.0, 5, 3.0), (0.0, 40, 1.0)),
            "With mean 0 only one term of kl is left, because 0 log 0 = 0.",
        ),
        Case(
            "an arm that has always paid",
            ((1.0, 3, 2.0), (1.0, 1, 0.0)),
            "No mean is above 1: the interval from the mean to 1 is a single point.",
        ),
        Case(
            "no room for optimism, and much of it",
            ((0.4, 20, 0.0), (0.9, 1, 12.0)),
            "At level 0 only the mean itself qualifies; at a high level q comes as near to 1 as "
            "floating-point numbers can tell.",
        ),
    ],
    [
        Slip(
            lambda mean, n, level: min(1.0, mean + math.sqrt(level / (2 * n))),
            "This is where Pinsker's inequality puts the index, kl >= 2 (q - mean)^2; the exact "
            "divergence allows less.",
        ),
        Slip(
            lambda mean, n, level: mean + math.sqrt(level / (2 * n)),
            "Pinsker's inequality gives a larger interval than kl, and yours even leaves [0, 1].",
        ),
        Slip(
            lambda mean, n, level: min(1.0, mean + math.sqrt(2 * level / n)),
            "This is the index of UCB1; KL-UCB measures the distance by kl, not by the difference.",
        ),
    ],
    vary=[unit(), whole(), near()],
)


# ---- more than copies ----------------------------------------------------------------------

_LEAST = 0.01
_TIMES = 20.0


def _tables(laws: Any) -> NDArray[np.float64]:
    """The two laws as an array (2, 2, 2): law, first reward, second reward."""
    if np.shape(laws) != (2, 2, 2):
        raise ValueError("two tables with two rows and two columns are needed")
    return np.array(laws, dtype=np.float64)


def _means(law: NDArray[np.float64]) -> tuple[float, float]:
    return float(law[1].sum()), float(law[:, 1].sum())


def _divergence(laws: Any) -> float:
    p, q = _tables(laws)
    return float((p * np.log(p / q)).sum()) if min(p.min(), q.min()) > 0 else math.nan


def _proper(laws: Any) -> bool:
    tables = _tables(laws)
    sums = tables.sum(axis=(1, 2))
    return bool((tables >= _LEAST - 1e-12).all() and np.allclose(sums, 1, rtol=0, atol=1e-9))


def _has_means(law: NDArray[np.float64], mean: float) -> bool:
    return bool(np.allclose(_means(law), mean, rtol=0, atol=1e-9))


_APART: Sequence[Any] = [[[0.01, 0.49], [0.49, 0.01]], [[0.29, 0.01], [0.01, 0.69]]]
_ALIKE = [[0.49, 0.01], [0.01, 0.49]]

_COPIES = value(
    "lower-bound-6",
    "a list [P, Q] of two tables with two rows and two columns",
    _APART,
    [
        Aspect(
            "P and Q are laws: entries of at least 0.01 that add up to 1",
            _proper,
            "The four entries of a table are the probabilities of the pairs 00, 01, 10 and 11.",
        ),
        Aspect(
            "both rewards have mean 0.5 under P",
            lambda laws: _has_means(_tables(laws)[0], 0.5),
            "The first reward has the mean P[1][0] + P[1][1], the second P[0][1] + P[1][1].",
        ),
        Aspect(
            "both rewards have mean 0.7 under Q",
            lambda laws: _has_means(_tables(laws)[1], 0.7),
            "The first reward has the mean Q[1][0] + Q[1][1], the second Q[0][1] + Q[1][1].",
        ),
        Aspect(
            "a pull tells at least twenty times as much as a copied one",
            lambda laws: _divergence(laws) >= _TIMES * bernoulli_kl(0.5, 0.7),
            "The divergence is large when P puts weight where Q puts hardly any.",
        ),
    ],
    [
        Slip(
            [[[0.25, 0.25], [0.25, 0.25]], [[0.09, 0.21], [0.21, 0.49]]],
            "Independent rewards tell exactly twice as much as copies; let the two laws depend in "
            "different ways.",
        ),
        Slip(
            [[[0.5, 0.0], [0.0, 0.5]], [[0.3, 0.0], [0.0, 0.7]]],
            "These are the copies of the proposition; every pair must stay possible, and a pull "
            "must tell more.",
        ),
        Slip(
            [_ALIKE, _APART[1]],
            "Under both laws the rewards mostly agree, so the second tells hardly anything new.",
        ),
    ],
)

EXERCISES: tuple[Exercise, ...] = (_CONSTANT, _INDEX, _COPIES)
