"""The exercises of the chapter on own data: tables, how far to trust them, and equal winners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Aspect, Case, Exercise, Slip, function, is_table, value
from momab.exercises.draws import Change, Draw, unit
from momab.model import pareto

Array = NDArray[np.float64]
Ranges = Sequence[tuple[float, float]]


# ---- own-data-2: from rows to means --------------------------------------------------------


def means_of(labels: Sequence[str], values: Array, ranges: Ranges, costs: Sequence[bool]) -> Array:
    """The (K, d) mean rewards of a table's arms, sorted by name, with costs turned around."""
    import pandas as pd

    from momab.model import tables

    columns = [f"objective {j}" for j in range(values.shape[1])]
    frame = pd.DataFrame(dict(zip(columns, values.T, strict=True))).assign(arm=list(labels))
    for column, (low, high), is_cost in zip(columns, ranges, costs, strict=True):
        if is_cost:
            frame[column] = low + high - frame[column]
    scale = dict(zip(columns, ranges, strict=True))
    return tables.from_frame(frame, "arm", columns, scale).means


def _scaled(values: Array, ranges: Ranges, costs: Sequence[bool]) -> Array:
    low, high = np.array(ranges).T
    unit = (values - low) / (high - low)
    return np.asarray(np.where(costs, 1 - unit, unit))


def _by_arm(
    labels: Sequence[str], rewards: Array, over_rows: Callable[[Array], Array], order: Sequence[str]
) -> Array:
    mask = np.array(labels)
    return np.array([over_rows(rewards[mask == name]) for name in order])


def _averages(labels: Sequence[str], rewards: Array) -> Array:
    return _by_arm(labels, rewards, lambda rows: rows.mean(axis=0), sorted(set(labels)))


# ---- own-data-5: how far the means may be off ----------------------------------------------


def front_margin(means: Array) -> float:
    """The largest m such that changes of all means by less than m/2 keep the Pareto set.

    A dominated arm with gap D stays dominated while differences of means change by less than
    D; an arm of the Pareto set stays there while, against every other arm, its best difference
    stays positive.
    """
    return float(min(_margins(means, lambda lead: lead.max(axis=1))))


def _margins(means: Array, lead: Callable[[Array], Array]) -> list[float]:
    """Per arm, what it takes to change its place: its gap, or its least lead over another arm."""
    front, gaps = pareto.front(means), pareto.gaps(means)
    return [
        float(lead(np.delete(means[a] - means, a, axis=0)).min()) if front[a] else float(gaps[a])
        for a in range(len(means))
    ]


def _least_gap(means: Array) -> float:
    gaps = pareto.gaps(means)[~pareto.front(means)]
    return float(gaps.min()) if gaps.size else 1.0


def _front_only(means: Array) -> float:
    on_front = pareto.front(means)
    margins = np.array(_margins(means, lambda lead: lead.max(axis=1)))
    return float(margins[on_front].min())


# ---- own-data-6: equal winners without copies ----------------------------------------------


def _no_copies(rows: Any) -> bool:
    return len({tuple(row) for row in rows}) == len(rows)


# ---- cases ---------------------------------------------------------------------------------

_RNG = np.random.default_rng(3)
_UNIT = (
    ["oak", "ash", "oak", "ash", "oak"],
    np.array([[0.2, 0.9], [0.4, 0.1], [0.6, 0.8], [0.8, 0.3], [0.1, 0.4]]),
    [(0.0, 1.0), (0.0, 1.0)],
    [False, False],
)
_MIXED = (
    ["jazz", "folk", "pop", "jazz", "folk", "jazz"],
    np.array([[-12.0, 4.0], [-48.0, 15.0], [-6.0, 9.0], [-20.0, 6.0], [-33.0, 12.0], [-9.0, 2.0]]),
    [(-60.0, 0.0), (0.0, 20.0)],
    [False, True],
)
_PRICES = (
    ["b", "a", "b", "c"],
    np.array([[3.0], [11.0], [7.0], [4.5]]),
    [(1.0, 13.0)],
    [True],
)
_LONG = (
    [f"arm {i}" for i in _RNG.integers(0, 5, 60)],
    _RNG.normal(50, 10, (60, 3)).clip(0, 100).round(1),
    [(0.0, 100.0)] * 3,
    [True, False, True],
)

_APART = np.array([[0.8, 0.3], [0.3, 0.7], [0.55, 0.2], [0.1, 0.25]])
_NEAR = np.array([[0.62, 0.4], [0.6, 0.45], [0.2, 0.1]])
_EDGE = np.array([[1.0, 1.0], [1.0, 0.0], [0.2, 0.3]])
_TWINS = np.array([[0.7, 0.4], [0.7, 0.4], [0.1, 0.2]])
_LINE = np.array([[0.2], [0.75], [0.5]])
_RANDOM = _RNG.random((7, 3)).round(3)
_CROWD = np.array([[0.8, 0.25, 0.6], [0.3, 0.8, 0.5], [0.25, 0.77, 0.45], [0.1, 0.2, 0.3]])


def _other_table(draw: Draw, call: Any) -> Any:
    """The same rows and columns in another order, the values moved within their ranges."""
    labels, values, ranges, costs = call
    change = Change(draw)
    rows, columns = draw.order(len(labels)), draw.order(len(ranges))
    low, high = np.array(ranges).T
    share = (values - low) / (high - low)
    moved = low + (high - low) * unit("..")(change, share)
    return (
        [labels[n] for n in rows],
        moved[rows][:, columns],
        [ranges[j] for j in columns],
        [costs[j] for j in columns],
    )


EXERCISES: tuple[Exercise, ...] = (
    function(
        "own-data-2",
        means_of,
        [
            Case(
                "rewards that lie in [0, 1] already",
                (_UNIT,),
                "Average the rows of each arm on its own; the arms are sorted by name.",
            ),
            Case(
                "ranges and costs",
                (_MIXED, _PRICES),
                "(value - low)/(high - low) takes the range to [0, 1]; a cost is then turned "
                "around, so that the lowest price becomes the best reward.",
            ),
            Case(
                "sixty rows, five arms, three columns",
                (_LONG,),
                "Take the range that is given for a column, not the values that happen to occur.",
            ),
        ],
        [
            Slip(
                lambda labels, values, ranges, costs: _by_arm(
                    labels,
                    _scaled(values, ranges, costs),
                    lambda rows: rows.mean(axis=0),
                    list(dict.fromkeys(labels)),
                ),
                "Your arms come in the order of their first rows; sort them by name.",
            ),
            Slip(
                lambda labels, values, ranges, costs: _averages(
                    labels, _scaled(values, ranges, [False] * len(costs))
                ),
                "Costs count as rewards here: turn those columns around.",
            ),
            Slip(
                lambda labels, values, ranges, costs: _averages(
                    labels,
                    np.where(costs, -1.0, 1.0) * _scaled(values, ranges, [False] * len(costs)),
                ),
                "You changed the sign of costs, which puts rewards below 0; reflect them within "
                "[0, 1] instead.",
            ),
        ],
        vary=_other_table,
    ),
    function(
        "own-data-5",
        front_margin,
        [
            Case(
                "the arm whose dominance is weakest",
                ((_APART,), (_CROWD,)),
                "A dominated arm is freed when the differences change by its Pareto gap.",
            ),
            Case(
                "two neighbours on the front",
                ((_NEAR,),),
                "An arm of the Pareto set becomes dominated when some other arm overtakes it on "
                "every objective: look at the largest difference between the two.",
            ),
            Case(
                "a zero gap, and two equal arms",
                ((_EDGE,), (_TWINS,)),
                "If the least change can alter the Pareto set, the margin is 0: a dominated arm "
                "with gap zero and a pair of copies are such cases.",
            ),
            Case(
                "one objective",
                ((_LINE,),),
                "With one objective the margin is the lead of the best arm.",
            ),
            Case(
                "seven arms, three objectives",
                ((_RANDOM,),),
                "Take the least over all arms, of both kinds.",
            ),
        ],
        [
            Slip(
                _least_gap,
                "Pareto gaps tell when a dominated arm is freed. An arm of the Pareto set can also "
                "lose its place to a neighbour.",
            ),
            Slip(
                _front_only,
                "You looked at the arms of the Pareto set; a dominated arm may also join them.",
            ),
            Slip(
                lambda means: float(min(_margins(means, lambda lead: np.abs(lead).min(axis=1)))),
                "One small difference is not enough to be dominated: the other arm has to overtake "
                "on every objective, the last of them included.",
            ),
        ],
        vary=[unit("Kd")],
    ),
    value(
        "own-data-6",
        "a list of two to six rows with two to four means each",
        [[0.9, 0.9, 0.4], [0.9, 0.4, 0.9], [0.4, 0.9, 0.9], [0.2, 0.2, 0.2]],
        [
            Aspect(
                "two to six arms with two to four means in [0, 1]",
                lambda rows: is_table(rows, (2, 6), (2, 4)),
                "Give one row per arm, all of the same length, with numbers between 0 and 1.",
            ),
            Aspect(
                "on every objective two or more arms share the first place",
                lambda rows: float(pareto.g_dagger(rows)) == 0.0,
                "Look at each column: its largest number has to occur at least twice.",
            ),
            Aspect(
                "no two arms are copies of each other",
                _no_copies,
                "All rows have to be different.",
            ),
            Aspect(
                "no winner of an objective is dominated",
                lambda rows: bool(pareto.is_consistent(rows)),
                "Two arms that tie on an objective must each be better than the other somewhere "
                "else; count how many objectives that takes.",
            ),
            Aspect(
                "some arm has a Pareto gap of 0.1 or more",
                lambda rows: float(pareto.gaps(rows).max()) >= 0.1 - 1e-12,
                "Add an arm that is worse than one other arm by 0.1 on every objective.",
            ),
        ],
        [
            Slip(
                [[0.9, 0.9], [0.9, 0.9], [0.1, 0.1]],
                "Copies do tie, but here all arms have to differ.",
            ),
            Slip(
                [[0.9, 0.5], [0.9, 0.9], [0.5, 0.9], [0.1, 0.1]],
                "With two objectives and two different arms that tie on one of them, one arm "
                "dominates the other. Take a third objective.",
            ),
            Slip(
                [[0.9, 0.9, 0.4], [0.9, 0.4, 0.9], [0.4, 0.9, 0.9]],
                "The winners are as wanted, but no arm has a positive gap, so that there is no "
                "regret to speak of.",
            ),
        ],
    ),
)
