"""The exercises of the chapter on tuning: the protocol, its luck, and constant radii."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Case, Exercise, Slip, function
from momab.exercises.draws import Change, Draw, moved, near, sizes, unit, whole

Array = NDArray[np.float64]


# ---- tuning-2: the protocol ----------------------------------------------------------------


def least_mean(coefficients: Sequence[float], regrets: Array) -> float:
    """The coefficient with the least mean regret over subsets and runs, the first of equals."""
    import pandas as pd

    from momab import study

    runs = pd.DataFrame(
        {
            "dataset": "",
            "subset_type": "",
            "policy": "",
            "c": np.repeat(coefficients, regrets[0].size),
            "pareto_regret": regrets.ravel(),
        }
    )
    return float(study.choose_coefficients(runs)["c"].iloc[0])


def _least(coefficients: Sequence[float], scores: Any) -> float:
    return float(coefficients[int(np.argmin(scores))])


# ---- tuning-3: how often luck decides ------------------------------------------------------


def lured(p: float, typical: float, cost: float, safe: float, n: int) -> float:
    """The probability that the average of n runs of the risky coefficient is below safe."""
    return _mass(p, n, lambda k: (n - k) * typical + k * cost < n * safe)


def _mass(
    p: float, n: int, counts: Callable[[int], bool], ways: Callable[[int, int], int] = math.comb
) -> float:
    """The binomial probability of the numbers of wrong runs that count."""
    return math.fsum(ways(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if counts(k))


# ---- tuning-5: a radius that stops growing -------------------------------------------------


def abandoned(mu: float, r: float, bonus: float) -> list[float]:
    """The zeros in a row after which sqrt(bonus / n) <= r, and their probability."""
    n = math.ceil(bonus / r**2)
    return [n, (1 - mu) ** n]


# ---- cases ---------------------------------------------------------------------------------

_RNG = np.random.default_rng(5)
_GRID = [0.01, 0.05, 0.2, 2.0]
_PLAIN = (_GRID, np.array([60.0, 20.0, 45.0, 300.0])[:, None, None] + 9 * _RNG.random((4, 3, 3)))
_UNSORTED = ([2.0, 0.02, 0.5], np.array([[[300.0, 310.0]], [[12.0, 9.0]], [[80.0, 5.0]]]))
_RARE = (
    [0.01, 0.1],
    np.array([[[2.0, 2.0, 3.0], [2.0, 9000.0, 2.0], [3.0, 2.0, 2.0]], np.full((3, 3), 10.0)]),
)
_UNEVEN = (
    [0.02, 0.05, 0.1],
    np.array(
        [
            [[4.0, 5.0], [5.0, 4.0], [90.0, 70.0]],
            [[5.0, 30.0], [7.0, 8.0], [8.0, 9.0]],
            [[16.0, 17.0], [15.0, 16.0], [17.0, 16.0]],
        ]
    ),
)
_HALVES = (
    [0.02, 0.05],
    np.array([[[1.0, 9.0], [1.0, 9.0], [60.0, 60.0]], [[6.0, 6.0], [6.0, 6.0], [10.0, 10.0]]]),
)
_TIED = ([0.1, 0.02, 0.5], np.array([[[4.0, 8.0]], [[6.0, 6.0]], [[7.0, 7.0]]]))


def _other_validation(draw: Draw, call: Any) -> Any:
    """Candidates, subsets and runs in another order; regrets doubled exactly, so ties remain."""
    change = Change(draw)
    coefficients, regrets = call
    moved_regrets = moved("CSR")(change, regrets) * 2.0 ** draw.whole(-1, 2)
    return sizes("C")(change, coefficients), moved_regrets


EXERCISES: tuple[Exercise, ...] = (
    function(
        "tuning-2",
        least_mean,
        [
            Case(
                "the coefficient with the least mean, wherever it is in the list",
                (_PLAIN, _UNSORTED),
                "Average over the subsets and the runs, that is over the last two axes, and return "
                "the coefficient itself.",
            ),
            Case(
                "a rare expensive run counts",
                (_RARE,),
                "One bad run belongs to the mean like every other, with its full weight.",
            ),
            Case(
                "a subset on which everything is large counts",
                (_UNEVEN, _HALVES),
                "All runs of all subsets go into one mean per coefficient.",
            ),
            Case(
                "equal means: the first in the list",
                (_TIED,),
                "Of equally good coefficients the first in the list is taken.",
            ),
        ],
        [
            Slip(
                lambda coefficients, regrets: _least(coefficients, np.median(regrets, axis=(1, 2))),
                "You compared medians; they do not see a bad run that happens once. The protocol "
                "compares means.",
            ),
            Slip(
                lambda coefficients, regrets: int(regrets.mean(axis=(1, 2)).argmin()),
                "That is the place of the coefficient in the list; return the coefficient.",
            ),
            Slip(
                lambda coefficients, regrets: _least(coefficients, regrets.min(axis=(1, 2))),
                "You took the coefficient with the luckiest single run.",
            ),
        ],
        vary=_other_validation,
    ),
    function(
        "tuning-3",
        lured,
        [
            Case(
                "one wrong run is enough to give the risky coefficient away",
                ((0.01, 3.0, 1e5, 8.0, 9), (0.06, 2.5, 1e5, 5.0, 9)),
                "If a single wrong run lifts the average above the safe regret, the risky "
                "coefficient is chosen exactly when no run goes wrong.",
            ),
            Case(
                "several wrong runs may go unnoticed",
                ((0.1, 2.0, 20.0, 8.5, 9), (0.3, 1.0, 5.0, 3.1, 20), (0.3, 1.0, 2.0, 3.0, 4)),
                "Which numbers k of wrong runs keep the average below the safe regret? Add their "
                "binomial probabilities.",
            ),
            Case(
                "equal averages: the safe coefficient is chosen",
                ((0.25, 2.0, 10.0, 4.0, 4),),
                "The risky coefficient must be strictly better to be chosen.",
            ),
            Case(
                "a risky coefficient that is never better, and one that is never wrong",
                ((0.1, 9.0, 50.0, 8.0, 9), (0.0, 3.0, 1e5, 8.0, 9)),
                "No number of wrong runs helps if already a good run is worse than the safe "
                "regret; with p = 0 every run is a good one.",
            ),
        ],
        [
            Slip(
                lambda p, typical, cost, safe, n: (1 - p) ** n,
                "That is the chance of no wrong run at all. A wrong run that costs little may "
                "still leave the average below the safe regret, and a good one may be above it.",
            ),
            Slip(
                lambda p, typical, cost, safe, n: _mass(
                    p, n, lambda k: (n - k) * typical + k * cost <= n * safe
                ),
                "At equal averages the safe coefficient is chosen.",
            ),
            Slip(
                lambda p, typical, cost, safe, n: _mass(
                    p, n, lambda k: (n - k) * typical + k * cost < n * safe, lambda n, k: 1
                ),
                "There are several ways to place k wrong runs among n: the binomial coefficient "
                "is missing.",
            ),
        ],
        vary=[near(), near(), near(), near(), whole()],
    ),
    function(
        "tuning-5",
        abandoned,
        [
            Case(
                "number and probability",
                ((0.6, 0.5, 0.4), (0.9, 0.3, 2.0), (0.55, 0.45, 0.27)),
                "After n zeros the better arm's index is sqrt(bonus / n); the other arm's index "
                "stays above r permanently.",
            ),
            Case(
                "an index that meets r exactly",
                ((0.6, 0.5, 0.5), (0.75, 0.25, 1.0)),
                "The other arm's index is r plus something positive, so an index equal to r "
                "already loses.",
            ),
            Case(
                "a small bonus: one bad reward is enough",
                ((0.6, 0.5, 0.02), (0.9, 0.8, 0.1)),
                "Every arm is pulled once at the start, so n is at least 1.",
            ),
        ],
        [
            Slip(
                lambda mu, r, bonus: [
                    n := math.floor(bonus / r**2) + 1,
                    (1 - mu) ** n,
                ],
                "You asked for an index strictly below r. An index equal to r is enough: that of "
                "the other arm is always larger than r.",
            ),
            Slip(
                lambda mu, r, bonus: [n := math.ceil(bonus / r**2), mu**n],
                "A zero has probability 1 - mu; mu is the probability of a one.",
            ),
            Slip(
                lambda mu, r, bonus: [n := math.ceil(bonus / r), (1 - mu) ** n],
                "The index after n zeros is a square root: solve sqrt(bonus / n) <= r for n.",
            ),
        ],
        vary=[unit(), unit(), near()],
    ),
)
