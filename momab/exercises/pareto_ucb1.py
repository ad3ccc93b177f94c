"""The exercises of the chapter on Pareto UCB1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import (
    Aspect,
    Case,
    Exercise,
    Slip,
    function,
    is_table,
    same_members,
    value,
)
from momab.exercises.draws import Change, Draw, counts, near, unit, whole
from momab.model import pareto, theory

# ---- the coefficient -----------------------------------------------------------------------


def _coefficient(means: NDArray[np.float64], T: int) -> float:
    """C_PUCB: Pareto UCB1's leading term over K log T / g-dagger."""
    return theory.c_pucb(means, T)


def _varied(
    means: NDArray[np.float64],
    T: int,
    terms: float | None = None,
    inside: float | None = None,
    root: float = 0.25,
) -> float:
    """8 g / K * terms * (1 + root log(inside) / log T); what is not given is as it should be."""
    gaps = pareto.gaps(means)
    if terms is None:
        terms = float((1 / gaps[gaps > 0]).sum())
    g = float(pareto.g_dagger(means))
    inside = means.shape[1] * int(pareto.front(means).sum()) if inside is None else inside
    return 8 * g / len(means) * terms * (1 + root * math.log(inside) / math.log(T))


def _envelope_terms(means: NDArray[np.float64]) -> float:
    positive = pareto.gaps(means)
    positive = positive[positive > 0]
    return len(positive) / float(positive.min()) if len(positive) else 0.0


_RNG = np.random.default_rng(5)
_MANY = tuple((_RNG.random(shape).round(2), T) for shape, T in (((8, 2), 10_000), ((15, 3), 100)))
_ONE_BELOW = np.array([[0.8, 0.25], [0.25, 0.8], [0.05, 0.6]])
_BORDER = np.array([[0.8, 0.3], [0.8, 0.1], [0.2, 0.6], [0.1, 0.4]])
_TWINS = np.array([[0.7, 0.2], [0.7, 0.2], [0.1, 0.9], [0.05, 0.6]])

_COEFFICIENT = function(
    "pareto-ucb1-3",
    _coefficient,
    [
        Case(
            "two arms on the front, one below",
            ((_ONE_BELOW, 1_000_000), (_ONE_BELOW, 1_000)),
            "Divide the leading term of Pareto UCB1's bound by K log T / g.",
        ),
        Case(
            "one objective",
            ((np.array([[0.9], [0.6], [0.5]]), 1_000_000),),
            "With one objective and one best arm the fourth root is that of 1.",
        ),
        Case(
            "a dominated arm whose gap is zero, and no arm dominated",
            ((_BORDER, 1_000_000), (np.array([[0.9, 0.1], [0.1, 0.9]]), 1_000_000)),
            "Only arms with a positive gap are summed; an arm can be dominated and have gap zero, "
            "and then it is not on the front either.",
        ),
        Case(
            "two equal arms on the front",
            ((_TWINS, 1_000_000),),
            "Equal vectors do not dominate each other: both belong to the front, and that "
            "objective has no lead.",
        ),
        Case(
            "many arms",
            _MANY,
            "Look at the formula of the remark once more, factor by factor.",
        ),
    ],
    [
        Slip(
            lambda means, T: _varied(means, T, terms=_envelope_terms(means)),
            "You counted every arm with the smallest gap; this is the envelope, not the constant.",
        ),
        Slip(
            lambda means, T: _varied(means, T, inside=1.0),
            "A factor that depends on T, d and the size of the front is missing.",
        ),
        Slip(
            lambda means, T: _varied(means, T, root=1.0),
            "The fourth root of d times the size of the front stands inside the logarithm.",
        ),
    ],
    vary=[unit("Kd"), whole()],
)


# ---- the optimistic front ------------------------------------------------------------------


def optimistic_front(
    means: NDArray[np.float64], counts: NDArray[np.int64], t: int, q: float
) -> list[int]:
    """The arms that Pareto UCB1 chooses from: no other optimistic vector dominates theirs."""
    return _kept(means + _radius(counts, t * q)[:, None])


def _radius(counts: NDArray[np.int64], inside: float) -> NDArray[np.float64]:
    radius: NDArray[np.float64] = np.sqrt(2 * math.log(inside) / counts)
    return radius


def _kept(vectors: NDArray[np.float64]) -> list[int]:
    return [int(a) for a in np.flatnonzero(pareto.front(vectors))]


_CORNERS = np.array([[0.8, 0.2], [0.2, 0.8], [0.5, 0.5], [0.4, 0.4]])
_EVEN = np.array([50, 50, 50, 50])
_CLOSE = (np.array([[0.5], [0.32]]), np.array([400, 100]), 500, 2.0)


def _other_round(draw: Draw, call: Any) -> Any:
    """Other means and counts, and t their sum."""
    means, pulls, _, q = call
    change = Change(draw)
    other = counts("K")(change, pulls)
    return unit("Kd")(change, means), other, int(other.sum()), near()(change, q)


_OPTIMISTIC = function(
    "pareto-ucb1-4",
    optimistic_front,
    [
        Case(
            "equal counts: the empirical front",
            ((_CORNERS, _EVEN, 200, 2.0),),
            "With equal counts all vectors move by the same amount, so the empirical front stays.",
        ),
        Case(
            "a rarely pulled arm gets onto the front",
            (
                (_CORNERS, np.array([60, 60, 60, 20]), 200, 2.0),
                (_CORNERS, np.array([200, 3, 90, 80]), 373, 1.5),
            ),
            "Every arm is lifted by a radius of its own, the same on all objectives.",
        ),
        Case(
            "equal vectors stay together, a tie in one coordinate protects no arm",
            (
                (np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]]), np.array([9, 9, 9]), 27, 2.0),
                (np.array([[0.6, 0.5], [0.6, 0.3], [0.2, 0.5]]), np.array([9, 9, 9]), 27, 2.0),
            ),
            "x dominates y when it is nowhere smaller and somewhere larger.",
        ),
        Case(
            "a close decision",
            (
                _CLOSE,
                (_CLOSE[0], np.array([400, 108]), 508, 2.0),
                (np.array([[0.5], [0.35]]), np.array([400, 100]), 500, 2.0),
                (np.array([[0.9], [0.1]]), np.array([50, 4]), 54, 1.0),
                (np.array([[0.9], [0.3]]), np.array([5, 2]), 7, 2.0),
                (np.array([[0.9], [0.2]]), np.array([6, 2]), 8, 2.0),
            ),
            "The radius is the root of 2 log(t q) / N; here every factor of it matters.",
        ),
    ],
    [
        Slip(
            lambda means, counts, t, q: _kept(means),
            "This is the front of the empirical means; an optimist adds the radius of every arm.",
        ),
        Slip(
            lambda means, counts, t, q: _kept(means + _radius(counts, t)[:, None]),
            "You left q out of the logarithm.",
        ),
        Slip(
            lambda means, counts, t, q: _kept(means + _radius(4 * counts, t * q)[:, None]),
            "Your radius is log(t q) / (2 N) under the root, Hoeffding's; Pareto UCB1's is wider.",
        ),
    ],
    same=same_members,
    vary=_other_round,
)


# ---- half the lead, misled -----------------------------------------------------------------

_T = 1_000_000
_MISLED: Any = [[0.9, 0.1], [0.8, 0.15], [0.1, 0.9], [0.15, 0.8], [0.5, 0.5], [0.4, 0.4]]


def _fits(means: Any) -> bool:
    return is_table(means, (2, 10), (1, 100))


def _plays(means: Any) -> bool:
    geometry = pareto.geometry(means)
    return geometry.g_dagger > 0 and len(geometry.positive_gaps) > 0


def _gaps_reach_the_lead(means: Any) -> bool:
    geometry = pareto.geometry(means)
    return bool((geometry.positive_gaps >= geometry.g_dagger - 1e-9).all())


def _deficits_win(means: Any) -> bool:
    if not _fits(means):
        return False  # the theory has rewards in [0, 1]
    ours = theory.deficit_bound(means, _T).exploration
    return 2 * ours < theory.pareto_ucb1_bound(means, _T).exploration


_HALF = value(
    "pareto-ucb1-7",
    "a table of means, a list with one row per arm",
    _MISLED,
    [
        Aspect(
            "at most ten arms, and means in [0, 1]",
            _fits,
            "A row is the mean vector of an arm; its entries are means of rewards in [0, 1].",
        ),
        Aspect(
            "some objective has a lead, and some arm a positive Pareto gap",
            _plays,
            "One objective needs a unique best arm, and one arm must be below another everywhere.",
        ),
        Aspect(
            "every positive gap is at least the largest lead",
            _gaps_reach_the_lead,
            "Make the largest lead small: on every objective let two arms be close at the top.",
        ),
        Aspect(
            "the bound counted by deficits is less than half of Pareto UCB1's leading term",
            _deficits_win,
            "The arm that dominates need not be good at any single objective: put it in the "
            "middle, far below the best of each objective.",
        ),
    ],
    [
        Slip(
            [[0.9], [0.5]],
            "With one objective the deficit of an arm is its gap; take two objectives.",
        ),
        Slip(
            [[0.8, 0.25], [0.25, 0.8], [0.05, 0.78], [0.05, 0.05]],
            "Like the synthetic family, yours has gaps far below its lead; there the rule of "
            "thumb is right.",
        ),
        Slip(
            [[0.9, 0.4], [0.4, 0.9], [0.5, 0.5]],
            "No arm is dominated here, so that no policy has any regret.",
        ),
    ],
)

EXERCISES: tuple[Exercise, ...] = (_COEFFICIENT, _OPTIMISTIC, _HALF)
