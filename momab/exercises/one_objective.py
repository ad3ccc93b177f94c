"""The exercises of the chapter on one objective: regrets, bounds, weights and leads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Aspect, Case, Exercise, Slip, function, is_table, value
from momab.exercises.draws import counts, index_of, unit, whole
from momab.model import pareto
from momab.study.one_objective import RARE, ucb1_bounds

Array = NDArray[np.float64]


# ---- one-objective-2: all regrets of a run -------------------------------------------------


def all_regrets(means: Array, pulls: Array) -> list[float]:
    """The Pareto regret of a run, then its marginal regret on every objective."""
    counts = np.asarray(pulls, dtype=np.float64)
    marginal = counts @ pareto.objective_deficits(means)
    return [float(counts @ pareto.gaps(means)), *map(float, marginal)]


def _with_gaps(means: Array, pulls: Array, gaps: Array) -> list[float]:
    """The same with other gaps in place of the Pareto gaps."""
    return [float(np.asarray(pulls) @ gaps), *all_regrets(means, pulls)[1:]]


def _largest_advantage(means: Array) -> Array:
    return np.array([(means - row).max(axis=1).max() for row in means])


# ---- one-objective-3: the bound of UCB1 on one objective -----------------------------------


def ucb1_bound(means: Array, horizon: int, objective: int) -> float:
    """Bound the expected Pareto regret of UCB1 on one objective, counted from 0."""
    return float(ucb1_bounds(means, horizon)[objective])


def _marginal_bound(means: Array, horizon: int, objective: int) -> float:
    deficits = pareto.objective_deficits(means)[:, objective]
    positive = deficits[deficits > 0]
    return float((8 * math.log(horizon) / positive + RARE * positive).sum())


def _with_scale(means: Array, horizon: float, scale: Array, rare: float = RARE) -> float:
    """The bound with another scale in place of the squared deficits."""
    gaps = pareto.gaps(means)
    paid = gaps > 0
    return float((gaps[paid] * (8 * math.log(horizon) / scale[paid] + rare)).sum())


def _deficits(means: Array, objective: int) -> Array:
    return pareto.objective_deficits(means)[:, objective]


# ---- one-objective-5: weights that break the comparison ------------------------------------


def _scores(found: Any) -> Array:
    weights, means = (np.array(found[key], dtype=np.float64) for key in ("weights", "means"))
    return np.asarray(means @ weights)


def _is_weighing(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and found.keys() == {"weights", "means"}
        and is_table(found["means"], (2, 2), (2, 2))
        and isinstance(found["weights"], list)
        and len(found["weights"]) == 2
        and all(isinstance(x, int | float) for x in found["weights"])
    )


def _one_winner(found: Any) -> bool:
    first, second = sorted(_scores(found))[::-1]
    return bool(first - second >= 0.01 - 1e-9)


def _winner_gap(found: Any) -> float:
    return float(pareto.gaps(found["means"])[_scores(found).argmax()])


# ---- one-objective-6: the largest lead is not the cheapest -------------------------------------


def _costs(found: Any) -> Array:
    """The sums of gap over squared deficit, per objective."""
    gaps = pareto.gaps(found)
    paid = gaps > 0
    deficits = pareto.objective_deficits(found)[paid]
    return np.asarray((gaps[paid, None] / deficits**2).sum(axis=0))


# ---- cases ---------------------------------------------------------------------------------

_RNG = np.random.default_rng(23)
_THREE = np.array([[0.8, 0.2], [0.5, 0.6], [0.4, 0.1]])
_PAID = np.array([[0.9, 0.7], [0.6, 0.65], [0.2, 0.3]])
_MIDDLE = np.array([[0.9, 0.1], [0.1, 0.9], [0.4, 0.4], [0.3, 0.2]])
_TIED = np.array([[0.8, 0.3], [0.8, 0.3], [0.3, 0.7], [0.7, 0.2]])
_TRAPPED = np.array([[0.75, 0.75], [0.75, 0.25], [0.5, 0.5]])
_LINE = np.array([[0.3], [0.9], [0.6]])
_MANY = _RNG.random((7, 4))

EXERCISES: tuple[Exercise, ...] = (
    function(
        "one-objective-2",
        all_regrets,
        [
            Case(
                "the arms of exercise 1",
                ((_THREE, [10, 20, 5]), (_PAID, [7, 30, 4])),
                "First the Pareto regret, then one marginal regret per objective.",
            ),
            Case(
                "the arm that beats another one need not win an objective",
                ((_MIDDLE, [3, 4, 50, 60]),),
                "The Pareto gap looks at one rival at a time: the largest over rivals of the "
                "smallest advantage.",
            ),
            Case(
                "one objective",
                ((_LINE, [8, 80, 12]),),
                "With one objective both regrets are the same number.",
            ),
            Case(
                "four objectives",
                ((_MANY, [5, 1, 9, 2, 2, 7, 30]),),
                "There are five numbers to give here.",
            ),
        ],
        [
            Slip(
                lambda m, n: [min(all_regrets(m, n)[1:]), *all_regrets(m, n)[1:]],
                "You took the least marginal regret for the Pareto regret; it is only an upper "
                "bound.",
            ),
            Slip(
                lambda m, n: _with_gaps(m, n, pareto.objective_deficits(m).min(axis=1)),
                "You took the least deficit of an arm for its Pareto gap; the advantages must all "
                "be those of one and the same rival.",
            ),
            Slip(
                lambda m, n: _with_gaps(m, n, _largest_advantage(m)),
                "You took the largest advantage of a rival; the gap asks for the smallest one, "
                "because one good objective is enough to escape.",
            ),
        ],
        vary=[unit("Kd"), counts("K")],
    ),
    function(
        "one-objective-3",
        ucb1_bound,
        [
            Case(
                "arms with and without a gap, on both objectives",
                ((_PAID, 1000, 0), (_PAID, 1000, 1), (_MIDDLE, 10_000, 0)),
                "Add over the arms with a positive Pareto gap: gap times the bound on the pulls.",
            ),
            Case(
                "ties at the top",
                ((_TIED, 5000, 0), (_TIED, 5000, 1)),
                "Arms that share the first place have gap zero; leave them out before you divide.",
            ),
            Case(
                "a dominated arm with gap zero",
                ((_TRAPPED, 100, 0), (_TRAPPED, 100, 1)),
                "Who has gap zero costs nothing, dominated or not.",
            ),
            Case(
                "one objective, and four",
                ((_LINE, 300, 0), (_MANY, 10**6, 2)),
                "With one objective this is the textbook's bound.",
            ),
        ],
        [
            Slip(
                _marginal_bound,
                "That bounds the marginal regret; a pull costs the Pareto gap, which is smaller, "
                "and nothing for a free arm.",
            ),
            Slip(
                lambda m, T, j: _with_scale(m, T, pareto.gaps(m) ** 2),
                "You counted pulls by the Pareto gap; UCB1 sees only its own objective.",
            ),
            Slip(
                lambda m, T, j: _with_scale(m, T, _deficits(m, j) ** 2, rare=0.0),
                "You left out what failing intervals add to the pulls of every arm.",
            ),
        ],
        vary=[unit("Kd"), whole(), index_of("d")],
    ),
    value(
        "one-objective-5",
        'a dictionary with "weights", two numbers, and "means", two arms with two means in [0, 1]',
        {"weights": [1.5, -0.5], "means": [[0.6, 0.0], [0.7, 0.5]]},
        [
            Aspect(
                "two weights, and two arms with two means in [0, 1] each",
                _is_weighing,
                'Give a dictionary with the keys "weights" and "means".',
            ),
            Aspect(
                "the weights add up to 1",
                lambda found: bool(abs(sum(found["weights"]) - 1) < 1e-9),
                "The weights must add up to 1, or a lift does not raise the score by itself.",
            ),
            Aspect(
                "one arm has the best score, by 0.01 or more",
                _one_winner,
                "Both arms have nearly the same score; let one of them win clearly.",
            ),
            Aspect(
                "the winner of the score has a Pareto gap of at least 0.1",
                lambda found: _winner_gap(found) >= 0.1 - 1e-9,
                "The arm with the best score has too small a gap. It must lose on both "
                "objectives; which weights reward that?",
            ),
        ],
        [
            Slip(
                {"weights": [0.5, 0.5], "means": [[0.8, 0.2], [0.3, 0.6]]},
                "With weights that are not negative, the winner of the score is always free; that "
                "is the theorem you are asked to break.",
            ),
            Slip(
                {"weights": [1.5, -0.5], "means": [[0.7, 0.0], [0.6, 0.5]]},
                "The winner of your score is ahead on objective 1, so it is not dominated.",
            ),
            Slip(
                {"weights": [1, -1], "means": [[0.6, 0.0], [0.7, 0.5]]},
                "Your weights add up to 0; two arms can then differ by a lift and have one score.",
            ),
        ],
    ),
    value(
        "one-objective-6",
        "a list of three arms, each a list of two means in [0, 1]",
        [[0.9, 0.8], [0.1, 0.85], [0.8, 0.1]],
        [
            Aspect(
                "three arms with two means in [0, 1] each",
                lambda found: is_table(found, (3, 3), (2, 2)),
                "Give three pairs of numbers between 0 and 1.",
            ),
            Aspect(
                "the largest lead is on objective 1",
                lambda found: bool(np.diff(pareto.objective_gaps(found))[0] < -1e-9),
                "The lead of the best over the second best must be larger on objective 1.",
            ),
            Aspect(
                "some arm has a positive Pareto gap",
                lambda found: bool((pareto.gaps(found) > 0).any()),
                "All arms are free, so every objective costs nothing; put one arm below another.",
            ),
            Aspect(
                "objective 1 costs at least ten times as much as objective 2",
                lambda found: (
                    bool(_costs(found)[0] >= 10 * _costs(found)[1] - 1e-9)
                    and bool((pareto.gaps(found) > 0).any())
                ),
                "Compare gap over squared deficit of the arm that costs something: it should be "
                "near the top on objective 1 and far down on objective 2.",
            ),
        ],
        [
            Slip(
                [[0.95, 0.95], [0.75, 0.8], [0.75, 0.05]],
                "Objective 2 is the cheaper one here, but not by a factor of ten.",
            ),
            Slip(
                [[0.8, 0.25], [0.25, 0.8], [0.05, 0.75]],
                "The objective with the largest lead is the cheaper one here, as one would expect.",
            ),
            Slip(
                [[0.9, 0.1], [0.5, 0.5], [0.1, 0.6]],
                "All three arms are free: there is nothing to pay on any objective.",
            ),
        ],
    ),
)
