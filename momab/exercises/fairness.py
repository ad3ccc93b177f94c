"""The exercises of the chapter on fairness: what a commitment costs, and who may be fair."""

from __future__ import annotations

from collections.abc import Sequence
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
from momab.exercises.draws import index_of, unit, whole
from momab.model import metrics, pareto

Array = NDArray[np.float64]


# ---- fairness-2: what a commitment costs ---------------------------------------------------


def commitment_cost(means: Array, early: Sequence[int], arm: int, T: int) -> float:
    """The fairness regret of the arms played early and of ``arm`` in all later rounds."""
    return float(metrics.fairness_regret(_pulls(means, early, arm, T), means))


def _pulls(means: Array, early: Sequence[int], arm: int, T: int) -> NDArray[np.int64]:
    pulls = np.bincount(np.array(early, dtype=np.int64), minlength=len(means))
    pulls[arm] += T - len(early)
    return pulls


def _total(costs: Array, means: Array, early: Sequence[int], arm: int, T: int) -> float:
    return float(_pulls(means, early, arm, T) @ costs)


def _ideal_costs(means: Array) -> Array:
    """Measured from the worst objective of the best that any arm reaches on each."""
    costs: Array = means.max(axis=0).min() - means.min(axis=1)
    return costs


# ---- fairness-3: who may still be the fairest ----------------------------------------------


def still_fair(lower: Array, upper: Array) -> list[int]:
    """The arms whose worst mean may be the largest, given intervals of all means.

    The best case of arm a is ``min_j upper[a, j]``, the worst case of a rival b is
    ``min_j lower[b, j]``; the intervals are free of each other, so both can happen at once.
    """
    return _indices(upper.min(axis=1) >= lower.min(axis=1).max())


def _indices(mask: Any) -> list[int]:
    return [int(a) for a in np.flatnonzero(mask)]


# ---- fairness-5: a winner that is not fair -------------------------------------------------


def _winners(means: Array) -> NDArray[np.int64]:
    return np.asarray(means.argmax(axis=0))


def _grand_winner(means: Array) -> int:
    """The arm that wins most objectives."""
    return int(np.bincount(_winners(means), minlength=len(means)).argmax())


def _has_leads(rows: Any) -> bool:
    return bool((pareto.objective_gaps(rows) >= 0.1 - 1e-12).all())


def _wins_two_with_the_largest_lead(rows: Any) -> bool:
    means = np.array(rows)
    won = _winners(means) == _grand_winner(means)
    leads = pareto.objective_gaps(means)
    return int(won.sum()) == 2 and bool(leads[won].max() >= leads.max() - 1e-12)


def _winner_is_unfair(rows: Any) -> bool:
    means = np.array(rows)
    return bool(metrics.fairness_costs(means)[_grand_winner(means)] >= 0.3 - 1e-12)


def _fair_arm_wins_nothing(rows: Any) -> bool:
    means = np.array(rows)
    fair = np.flatnonzero(metrics.fairness_costs(means) == 0)
    return len(fair) == 1 and fair[0] not in _winners(means)


# ---- cases ---------------------------------------------------------------------------------

_RNG = np.random.default_rng(11)
_TRIO = np.array([[0.8, 0.2], [0.2, 0.8], [0.45, 0.45]])
_ROUND = np.array([[0.8, 0.75], [0.3, 0.7], [0.45, 0.45]])
_LINE = np.array([[0.3], [0.9], [0.5]])
_EVEN = np.array([[0.5, 0.5], [0.5, 0.9], [0.7, 0.4]])
_LARGE = _RNG.random((8, 5)).round(3)
_EARLY = [int(a) for a in _RNG.integers(0, 8, 40)]

_CLEAR = (
    np.array([[0.6, 0.5], [0.1, 0.7], [0.2, 0.1]]),
    np.array([[0.7, 0.6], [0.3, 0.9], [0.4, 0.3]]),
)
_OPEN = (
    np.array([[0.3, 0.4], [0.1, 0.7], [0.2, 0.1]]),
    np.array([[0.7, 0.6], [0.5, 0.9], [0.4, 0.25]]),
)
_WIDE = (np.array([[0.45, 0.5], [0.1, 0.2]]), np.array([[0.55, 0.6], [0.9, 0.8]]))
_TOUCH = (np.array([[0.5, 0.6], [0.25, 0.3]]), np.array([[0.75, 0.7], [0.5, 0.9]]))
_SINGLE = (np.array([[0.2], [0.55], [0.5]]), np.array([[0.4], [0.8], [0.6]]))
_MIDDLE = _RNG.random((9, 4)).round(3)
_RADII = (0.02 + 0.3 * _RNG.random((9, 1))).round(3)
_MANY = (_MIDDLE - _RADII, _MIDDLE + _RADII)

EXERCISES: tuple[Exercise, ...] = (
    function(
        "fairness-2",
        commitment_cost,
        [
            Case(
                "a commitment to a specialist and to a max-min arm",
                ((_TRIO, [0, 1, 2], 0, 1000), (_TRIO, [0, 1, 2, 0], 2, 1000)),
                "A round costs the best worst mean minus the worst mean of the arm that is played.",
            ),
            Case(
                "the benchmark is the worst mean of a single arm",
                ((_ROUND, [1, 1, 0], 2, 500), (_LARGE, _EARLY, 3, 10_000)),
                "First the worst mean of every arm, then the best of these: no arm need be good at "
                "everything that some arm is good at.",
            ),
            Case(
                "one objective, and several max-min arms",
                ((_LINE, [0, 1, 2], 2, 100), (_EVEN, [0, 2], 1, 60)),
                "With one objective this is the ordinary regret; several arms may have cost zero.",
            ),
            Case(
                "a commitment from the first round on, and one that never comes",
                ((_TRIO, [], 1, 7), (_TRIO, [0, 2, 1, 1], 2, 4)),
                "With n early rounds the commitment covers rounds n + 1 to T, which are T - n.",
            ),
        ],
        [
            Slip(
                lambda means, early, arm, T: _total(_ideal_costs(means), means, early, arm, T),
                "You exchanged maximum and minimum: the benchmark is the best worst mean of an "
                "arm, not the worst of the best means.",
            ),
            Slip(
                lambda means, early, arm, T: _total(
                    means.max(axis=1).max() - means.max(axis=1), means, early, arm, T
                ),
                "You looked at every arm's best objective; fairness is about its worst one.",
            ),
            Slip(
                lambda means, early, arm, T: (
                    commitment_cost(means, early, arm, T)
                    - float(metrics.fairness_costs(means)[arm])
                ),
                "One round is missing: with n early rounds, T - n rounds are left.",
            ),
        ],
        vary=[unit("Kd"), index_of("K"), index_of("K"), whole(1.0, 1.5)],
    ),
    function(
        "fairness-3",
        still_fair,
        [
            Case(
                "narrow intervals leave one arm, wide ones several",
                (_CLEAR, _OPEN, _WIDE),
                "At best, the worst mean of an arm is the least of its upper bounds; at worst, "
                "that of a rival is the least of its lower bounds.",
            ),
            Case(
                "an arm that can just draw level stays",
                (_TOUCH,),
                "An arm may share the first place: compare with 'at least'.",
            ),
            Case(
                "one objective",
                (_SINGLE,),
                "With one objective: which arms' upper bounds reach the best lower bound?",
            ),
            Case(
                "nine arms, four objectives",
                (_MANY,),
                "An arm is out as soon as one rival is certain to have a larger worst mean.",
            ),
        ],
        [
            Slip(
                lambda lower, upper: _indices(upper.min(axis=1) > lower.min(axis=1).max()),
                "Almost: an arm whose best case equals the rival's worst case may still tie.",
            ),
            Slip(
                lambda lower, upper: _indices(upper.max(axis=1) >= lower.max(axis=1).max()),
                "You compared best objectives; a max-min arm is judged by its worst one.",
            ),
            Slip(
                lambda lower, upper: _indices(lower.min(axis=1) == lower.min(axis=1).max()),
                "That is the arm with the best guarantee; others may turn out to be fairer.",
            ),
        ],
        same=same_members,
        vary=[unit("Kd"), unit("Kd")],
    ),
    value(
        "fairness-5",
        "a list of three to six rows with three means each",
        [[0.9, 0.9, 0.0], [0.2, 0.2, 0.7], [0.4, 0.4, 0.4]],
        [
            Aspect(
                "three to six arms with three means in [0, 1]",
                lambda rows: is_table(rows, (3, 6), (3, 3)),
                "Give one row per arm, three numbers between 0 and 1 in each, three to six rows.",
            ),
            Aspect(
                "every objective is won with a lead of 0.1 or more",
                _has_leads,
                "On each objective the best arm must be ahead of the second by 0.1.",
            ),
            Aspect(
                "one arm wins two objectives, and one of them with the largest lead",
                _wins_two_with_the_largest_lead,
                "Let one arm win two of the three objectives, one of them by the largest lead of "
                "all.",
            ),
            Aspect(
                "a pull of this arm costs 0.3 or more in fairness",
                _winner_is_unfair,
                "The cost is the best worst mean minus this arm's worst mean: let it neglect the "
                "third objective entirely.",
            ),
            Aspect(
                "the max-min arm is unique and wins nothing",
                _fair_arm_wins_nothing,
                "Add an arm that is middling everywhere: second best on each objective is enough.",
            ),
        ],
        [
            Slip(
                [[0.9, 0.9, 0.1], [0.2, 0.2, 0.7], [0.3, 0.3, 0.3]],
                "The compromise is too poor to make the winner look unfair: raise its worst mean, "
                "or lower that of the winner.",
            ),
            Slip(
                [[0.9, 0.1, 0.1], [0.1, 0.9, 0.1], [0.1, 0.1, 0.9], [0.5, 0.5, 0.5]],
                "No arm wins two objectives here: these are three specialists.",
            ),
            Slip(
                [[0.9, 0.9, 0.0], [0.4, 0.4, 0.7]],
                "Two arms cannot do it: whichever is fairer wins an objective. Add a third.",
            ),
        ],
    ),
)
