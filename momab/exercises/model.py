"""The exercises of the chapter on the model: the Pareto order, the Pareto gap, the lift."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Aspect, Case, Exercise, Slip, close, function, value
from momab.exercises.draws import sizes, unit
from momab.model import pareto

Array = NDArray[np.float64]


# ---- model-1: five gaps by hand ------------------------------------------------------------

FIVE = np.array([[0.9, 0.2], [0.6, 0.6], [0.5, 0.4], [0.2, 0.9], [0.3, 0.1]])


def _pairwise(means: Array, over_objectives: Callable[[Array], Array]) -> Array:
    """One number per pair [b, a], made of the differences mu_b - mu_a of the objectives."""
    return over_objectives(means[:, None, :] - means[None, :, :])


def _over_dominators(means: Array, over_objectives: Callable[[Array], Array]) -> list[float]:
    """The largest such number among the arms that dominate a, or 0."""
    numbers = np.where(pareto.dominance(means), _pairwise(means, over_objectives), 0.0)
    found: list[float] = numbers.max(axis=0).tolist()
    return found


def _nearest_dominator(means: Array) -> list[float]:
    pairs = _pairwise(means, lambda x: x.min(axis=2))
    least = np.where(pareto.dominance(means), pairs, np.inf).min(axis=0)
    found: list[float] = np.where(np.isinf(least), 0.0, least).tolist()
    return found


# ---- model-2: the Pareto set ---------------------------------------------------------------


def pareto_set(means: Array) -> list[bool]:
    """For every arm, whether no arm dominates it."""
    found: list[bool] = pareto.front(means).tolist()
    return found


def _unbeaten(means: Array, beats: Callable[[Array, Array], bool]) -> list[bool]:
    return [not any(beats(b, a) for b in means) for a in means]


def _weakly_by_another(means: Array) -> list[bool]:
    return [
        not any((b >= a).all() for i, b in enumerate(means) if i != k) for k, a in enumerate(means)
    ]


# ---- model-3: the Pareto gap ---------------------------------------------------------------


def pareto_gaps(means: Array) -> list[float]:
    """The Pareto gap of every arm."""
    found: list[float] = pareto.gaps(means).tolist()
    return found


def _without_itself(means: Array) -> list[float]:
    advantage = _pairwise(means, lambda x: x.min(axis=2))
    np.fill_diagonal(advantage, -np.inf)
    found: list[float] = advantage.max(axis=0).tolist()
    return found


# ---- model-6: a lift in another direction --------------------------------------------------


def directional_gaps(means: Array, weights: Array) -> list[float]:
    """The least epsilon >= 0 from which on mu_a + epsilon * weights is not dominated.

    Arm b dominates the lifted vector as long as epsilon is below all (mu_b - mu_a) / weight over
    the objectives that are lifted, provided that it is nowhere worse on those that are not.
    """
    lifted = weights > 0
    gaps = []
    for a in means:
        rivals = means[(means[:, ~lifted] >= a[~lifted]).all(axis=1)]
        reach = ((rivals - a)[:, lifted] / weights[lifted]).min(axis=1)
        gaps.append(max(0.0, float(reach.max())))
    return gaps


# ---- cases ---------------------------------------------------------------------------------

_RNG = np.random.default_rng(7)
_PLAIN = np.array([[0.9, 0.2], [0.3, 0.8], [0.2, 0.1], [0.7, 0.1]])
_EQUAL = np.array([[0.7, 0.4], [0.7, 0.4], [0.1, 0.3]])
_EDGE = np.array([[1.0, 1.0], [1.0, 0.0]])
_LINE = np.array([[0.2], [0.7], [0.45], [0.7]])
_MANY = _RNG.integers(0, 5, (14, 3)) / 4
_SPREAD = _RNG.random((10, 3)).round(3)
_CHAIN = np.array([[0.9, 0.8], [0.7, 0.75], [0.5, 0.3], [0.1, 0.6]])
_TRIO = np.array([[0.8, 0.5, 0.9], [0.6, 0.4, 0.2], [0.5, 0.5, 0.1], [0.7, 0.45, 0.6]])


_FIVE_GAPS: list[float] = pareto.gaps(FIVE).tolist()

EXERCISES: tuple[Exercise, ...] = (
    value(
        "model-1",
        "a list of five numbers, the gaps of arms 1 to 5 in this order",
        _FIVE_GAPS,
        [
            Aspect(
                "there are five numbers, none of them negative",
                lambda found: (
                    isinstance(found, list) and len(found) == 5 and all(x >= 0 for x in found)
                ),
                "Give one number per arm, in the order of the arms; no gap is negative.",
            ),
            Aspect(
                "the arms of the Pareto set",
                lambda found: all(close(found[a], 0.0) for a in (0, 1, 3)),
                "Which of the arms is not dominated? An arm that is not dominated needs no lift.",
            ),
            Aspect(
                "arm 3",
                lambda found: close(found[2], _FIVE_GAPS[2]),
                "One arm dominates arm 3. Lift both coordinates of arm 3 by the same amount: on "
                "which objective does it draw level first?",
            ),
            Aspect(
                "arm 5",
                lambda found: close(found[4], _FIVE_GAPS[4]),
                "Several arms dominate arm 5. It is free only when the last of them has stopped "
                "dominating it.",
            ),
        ],
        [
            Slip(
                _nearest_dominator(FIVE),
                "Your lift takes arm 5 past one of its dominators only; another one still "
                "dominates it then.",
            ),
            Slip(
                _over_dominators(FIVE, lambda x: x.max(axis=2)),
                "You lifted until the arm has caught up on all objectives; catching up on one of "
                "them is enough.",
            ),
            Slip(
                _over_dominators(FIVE, lambda x: x.sum(axis=2)),
                "You added the differences of the objectives; the lift raises all of them at once, "
                "so they are not paid one after the other.",
            ),
        ],
    ),
    function(
        "model-2",
        pareto_set,
        [
            Case(
                "arms without ties",
                ((_PLAIN,), (_SPREAD,)),
                "Compare every arm with every other one, objective by objective.",
            ),
            Case(
                "equal arms do not dominate each other",
                ((_EQUAL,),),
                "Dominance asks that the two vectors differ.",
            ),
            Case(
                "a tie on one objective does not protect an arm",
                ((_EDGE,),),
                "To dominate, an arm must be at least as good everywhere and better somewhere; "
                "it need not be better everywhere.",
            ),
            Case(
                "one objective",
                ((_LINE,),),
                "With one objective the Pareto set holds the arms with the largest mean, all of "
                "them if several share it.",
            ),
            Case(
                "many arms on a coarse grid",
                ((_MANY,),),
                "Here ties and equal arms occur together; check both halves of the definition.",
            ),
        ],
        [
            Slip(
                lambda means: _unbeaten(means, lambda b, a: bool((b > a).all())),
                "You let an arm dominate only if it is better on every objective; at least as good "
                "everywhere and better on one is enough.",
            ),
            Slip(
                lambda means: _unbeaten(means, lambda b, a: bool((b >= a).all())),
                "With your test every arm dominates itself, so no arm is left; the vectors must "
                "also differ.",
            ),
            Slip(
                _weakly_by_another,
                "You leave out the arm itself, but its twins still throw it out: equal vectors do "
                "not dominate each other.",
            ),
        ],
        vary=[unit("Kd")],
    ),
    function(
        "model-3",
        pareto_gaps,
        [
            Case(
                "one arm ahead of all others",
                ((np.array([[0.9, 0.7], [0.6, 0.1]]),), (_CHAIN,)),
                "For one rival, ask up to which lift it still wins on every objective.",
            ),
            Case(
                "arms of the Pareto set have gap zero, never less",
                ((_PLAIN,), (_EQUAL,)),
                "An arm that no other arm dominates needs no lift at all.",
            ),
            Case(
                "one objective",
                ((_LINE,),),
                "With one objective the gap is the ordinary one, the distance to the best mean.",
            ),
            Case(
                "a dominated arm that ties with its dominator",
                ((_EDGE,), (np.array([[0.3, 0.8], [0.8, 0.4], [0.3, 0.55]]),)),
                "The infimum need not be attained: what does an arbitrarily small lift do to an "
                "arm that ties on one objective?",
            ),
            Case(
                "many arms",
                ((_MANY,), (_SPREAD,)),
                "Take the minimum over objectives for every pair of arms first, then the maximum "
                "over the rivals.",
            ),
        ],
        [
            Slip(
                _without_itself,
                "Your gaps of optimal arms are negative: you left out that the lift is at least "
                "zero.",
            ),
            Slip(
                lambda means: _over_dominators(means, lambda x: x.max(axis=2)),
                "You took the largest advantage of a dominator; it stops dominating as soon as its "
                "smallest one is used up.",
            ),
            Slip(
                _nearest_dominator,
                "You stop at the dominator that is easiest to escape; the lift must escape all of "
                "them.",
            ),
        ],
        vary=[unit("Kd")],
    ),
    function(
        "model-6",
        directional_gaps,
        [
            Case(
                "equal weights give the Pareto gap",
                ((_PLAIN, np.ones(2)), (_MANY, np.ones(3))),
                "With all weights 1 the lift is the one of the chapter.",
            ),
            Case(
                "unequal weights",
                ((_CHAIN, np.array([1.0, 2.0])), (_TRIO, np.array([0.5, 1.0, 4.0]))),
                "A coordinate that is lifted twice as fast draws level twice as soon.",
            ),
            Case(
                "weights need not sum to anything in particular",
                ((_CHAIN, np.array([10.0, 10.0])), (_LINE, np.array([2.0]))),
                "Doubling all weights halves the gap.",
            ),
            Case(
                "an objective that is not lifted",
                ((_TRIO, np.array([1.0, 0.0, 1.0])), (_SPREAD, np.array([0.0, 0.0, 1.0]))),
                "An arm that is worse on an objective without lift never dominates the lifted "
                "vector; an arm that is at least as good there is judged by the other objectives.",
            ),
            Case(
                "a tie on the objective that is not lifted",
                ((_EDGE, np.array([0.0, 1.0])), (_MANY, np.array([1.0, 0.0, 2.0]))),
                "An arm that ties on an objective without lift goes on tying there; does it still "
                "dominate?",
            ),
        ],
        [
            Slip(
                lambda means, weights: pareto_gaps(means * weights),
                "You multiplied by the weights; the time it takes to draw level is a distance "
                "divided by a speed.",
            ),
            Slip(
                lambda means, weights: pareto_gaps(means),
                "Your answer does not depend on the weights; the chapter's gap is the case in "
                "which all of them are 1.",
            ),
            Slip(
                lambda means, weights: pareto_gaps(means[:, weights > 0] / weights[weights > 0]),
                "You dropped the objectives without lift; an arm that is worse there dominates "
                "no other arm, so they still count.",
            ),
        ],
        vary=[unit("Kd"), sizes("d")],
    ),
)
