"""The exercises of the chapter on zero gaps: trapped arms, consistency, and how often ties trap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Aspect, Case, Exercise, Slip, function, is_table, value
from momab.exercises.draws import Draw, unit
from momab.model import pareto

Array = NDArray[np.float64]


# ---- zero-gap-3: trapped arms --------------------------------------------------------------


def trapped(means: Array) -> list[bool]:
    """For every arm, whether it is dominated and has Pareto gap zero all the same."""
    found: list[bool] = pareto.zero_gap_dominated(means).tolist()
    return found


# ---- zero-gap-6: the share of traps for two arms -------------------------------------------


def trap_probability(levels: int, d: int) -> float:
    """The share of all pairs of arms on the grid in which one of them is trapped."""
    cells = np.indices((levels,) * (2 * d)).reshape(2, d, -1)
    pairs = np.moveaxis(cells, 2, 0) / (levels - 1)
    return float(pareto.zero_gap_dominated(pairs).any(axis=1).mean())


def _above(levels: int) -> float:
    return (levels - 1) / (2 * levels)


def _level_or_above(levels: int) -> float:
    return (levels + 1) / (2 * levels)


def _other_grid(draw: Draw, call: tuple[int, int]) -> tuple[int, int]:
    """Another grid that is small enough to be counted."""
    if call[1] <= 2:
        return draw.whole(4, 12), call[1]
    grid: tuple[int, int] = draw.choose([(3, 3), (5, 3), (6, 3), (2, 4), (2, 5), (3, 5)])
    return grid


# ---- cases ---------------------------------------------------------------------------------

_RNG = np.random.default_rng(11)
_PAIR = np.array([[1.0, 1.0], [1.0, 0.0]])
_TWINS = np.array([[0.75, 0.5], [0.75, 0.5], [0.25, 0.25]])
_MIDDLE = np.array([[0.4, 0.8], [0.7, 0.3], [0.4, 0.45], [0.1, 0.7]])
_RESCUED = np.array([[0.5, 0.9], [0.5, 0.3], [0.8, 0.4]])  # arm 2 ties with 1, is beaten by 3
_NARROW = np.array([[0.8, 0.8], [0.78, 0.3], [0.8, 0.1]])
_LINE = np.array([[0.3], [0.9], [0.3], [0.9]])
_GRID = _RNG.integers(0, 4, (9, 3)) / 3
_WIDER = _RNG.integers(0, 6, (12, 4)) / 5

_EXAMPLE = [[0.5, 0.9], [0.9, 0.5], [0.5, 0.6]]
_WITHOUT = [[0.9, 0.9, 0.9], [0.9, 0.2, 0.1], [0.3, 0.9, 0.1]]


EXERCISES: tuple[Exercise, ...] = (
    value(
        "zero-gap-2",
        "a list of three arms, each a list of two means in [0, 1]",
        _EXAMPLE,
        [
            Aspect(
                "three arms with two means in [0, 1] each",
                lambda found: is_table(found, (3, 3), (2, 2)),
                "Give three pairs of numbers between 0 and 1.",
            ),
            Aspect(
                "the instance is consistent",
                lambda found: bool(pareto.is_consistent(found)),
                "On some objective a dominated arm shares the first place. Let the trapped arm "
                "tie lower down in the field.",
            ),
            Aspect(
                "some arm is dominated",
                lambda found: not pareto.front(found).all(),
                "All three arms are in the Pareto set; push one of them below another one.",
            ),
            Aspect(
                "a dominated arm has Pareto gap zero",
                lambda found: bool(pareto.zero_gap_dominated(found).any()),
                "For gap zero the dominated arm must tie exactly with its dominator on one "
                "objective, and no other arm may be ahead of it everywhere.",
            ),
        ],
        [
            Slip(
                [[1, 1], [1, 0]],
                "These are the chapter's two arms; the question asks for three, and here the "
                "dominated one shares a first place.",
            ),
            Slip(
                [[1, 1], [1, 0], [0, 0]],
                "Arm 2 is trapped, but it shares the first place of objective 1 with arm 1, so "
                "Definition 1 fails.",
            ),
            Slip(
                [[0.5, 0.9], [0.9, 0.5], [0.5, 0.9]],
                "A copy of an arm is not dominated by it; the trapped arm must be worse somewhere.",
            ),
        ],
    ),
    function(
        "zero-gap-3",
        trapped,
        [
            Case(
                "the chapter's two arms",
                ((_PAIR,),),
                "A trapped arm is dominated, and its gap is zero; both can be read off the means.",
            ),
            Case(
                "arms of the Pareto set are not trapped, equal arms included",
                ((_TWINS,), (np.array([[0.9, 0.1], [0.1, 0.9], [0.4, 0.4]]),)),
                "A gap of zero is no trap for an arm that no other arm dominates.",
            ),
            Case(
                "an arm that wins nothing can be trapped",
                ((_MIDDLE,),),
                "The tie that counts is the one with the dominator, whichever arm wins it.",
            ),
            Case(
                "a second dominator without a tie gives the arm a positive gap",
                ((_RESCUED,), (_NARROW,)),
                "The gap looks at all rivals: one that is ahead on every objective is enough to "
                "make it positive.",
            ),
            Case(
                "one objective",
                ((_LINE,),),
                "On a line, who is dominated has a positive distance to the best.",
            ),
            Case(
                "many arms on a coarse grid",
                ((_GRID,), (_WIDER,)),
                "Compute the mask of dominated arms and the gaps separately, then combine them.",
            ),
        ],
        [
            Slip(
                lambda means: pareto.gaps(means) == 0,
                "You marked all arms with gap zero; most of them are simply optimal.",
            ),
            Slip(
                lambda means: ~pareto.front(means),
                "You marked all dominated arms; those with a positive gap are charged for and not "
                "trapped.",
            ),
            Slip(
                lambda means: pareto.inconsistent_arms(means),
                "You marked dominated arms that share a first place; an arm that wins nothing can "
                "be trapped, too.",
            ),
        ],
        vary=[unit("Kd")],
    ),
    value(
        "zero-gap-5",
        "a list of three arms, each a list of three means in [0, 1]",
        _WITHOUT,
        [
            Aspect(
                "three arms with three means in [0, 1] each",
                lambda found: is_table(found, (3, 3), (3, 3)),
                "Give three lists of three numbers between 0 and 1.",
            ),
            Aspect(
                "Definition 1 fails",
                lambda found: not bool(pareto.is_consistent(found)),
                "Every winner of an objective is in the Pareto set here. Let a dominated arm share "
                "a first place.",
            ),
            Aspect(
                "it fails for two different arms",
                lambda found: int(pareto.inconsistent_arms(found).sum()) >= 2,
                "Two of your arms must be dominated winners, so the third has to dominate both and "
                "to share a first place with each.",
            ),
            Aspect(
                "the largest lead is at least 1/2",
                lambda found: float(pareto.g_dagger(found)) >= 0.5,
                "Some objective must have a single winner with a large lead; the ties can sit on "
                "the others.",
            ),
        ],
        [
            Slip(
                [[1, 1, 1], [1, 0, 0], [0, 0, 0]],
                "Only arm 2 is a dominated winner here; the third arm wins nothing.",
            ),
            Slip(
                [[0.9, 0.9, 0.1], [0.9, 0.2, 0.1], [0.3, 0.9, 0.1]],
                "Two dominated winners, but every objective is tied at the top, so no lead is left "
                "for a certificate.",
            ),
            Slip(
                [[0.9, 0.2, 0.1], [0.3, 0.9, 0.1], [0.2, 0.3, 0.9]],
                "Each arm is the only winner of an objective, and only winners are always in the "
                "Pareto set.",
            ),
        ],
    ),
    function(
        "zero-gap-6",
        trap_probability,
        [
            Case(
                "two objectives",
                ((2, 2), (3, 2), (11, 2)),
                "With two objectives there is a trap exactly when one objective ties and the other "
                "does not.",
            ),
            Case(
                "one objective",
                ((2, 1), (7, 1)),
                "On a line no arm is trapped.",
            ),
            Case(
                "three objectives and more",
                ((2, 3), (4, 3), (2, 6), (3, 4)),
                "Ties on some objectives are not enough: on all others the same arm must be ahead.",
            ),
        ],
        [
            Slip(
                lambda levels, d: 2 * (_level_or_above(levels) ** d - _above(levels) ** d),
                "You counted equal arms as trapped; they tie on all objectives, and neither "
                "dominates the other.",
            ),
            Slip(
                lambda levels, d: _level_or_above(levels) ** d - _above(levels) ** d - levels**-d,
                "You let only one of the two arms be the dominator; either of them may be.",
            ),
            Slip(
                lambda levels, d: 1 - (1 - 1 / levels) ** d,
                "That is the chance of any tie; equal arms and arms that each win something are "
                "among those pairs.",
            ),
        ],
        vary=_other_grid,
    ),
)
