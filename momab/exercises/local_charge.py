"""The exercises of the chapter on local charge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momab.exercises._situations import IS_POSSIBLE, WANTS_SITUATION, Situation, situation
from momab.exercises.core import Aspect, Case, Exercise, Slip, function, value
from momab.exercises.draws import counts, index_of, near, sizes, unit, whole
from momab.model import pareto, theory

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# ---- local-charge-2: which constant applies --------------------------------------------------


def _deficit_bound(means: Array, radii: Array, leader: int, pulled: int) -> float:
    """The bound of the pull's case in the proof of Lemma 10, before it is coarsened to 4 beta."""
    best = means == means.max()
    if best[pulled]:
        return 0.0
    behind_the_only_best = pulled != leader and best[leader] and best.sum() == 1
    return _twice(radii, leader, pulled) if behind_the_only_best else 2.0 * float(radii[pulled])


def _twice(radii: Array, leader: int, pulled: int) -> float:
    return 2.0 * float(radii[leader] + radii[pulled])


def _four(means: Array, radii: Array, leader: int, pulled: int) -> float:
    """Coarsen the one case in which two radii occur."""
    sharp = _deficit_bound(means, radii, leader, pulled)
    return sharp if sharp in (0.0, 2.0 * radii[pulled]) else 4.0 * float(radii[pulled])


_MEANS = np.array([0.3, 0.8, 0.6, 0.5])
_RADII = np.array([0.41, 0.15, 0.29, 0.23])
_SHARED = np.array([0.8, 0.3, 0.8, 0.5])

_BOUND = function(
    "local-charge-2",
    _deficit_bound,
    [
        Case(
            "a maximiser costs nothing",
            ((_MEANS, _RADII, 1, 1), (_MEANS, _RADII, 2, 1)),
            "The deficit of an arm with the largest mean is zero, whatever its role.",
        ),
        Case(
            "the leader is pulled and is not a maximiser",
            ((_MEANS, _RADII, 0, 0), (_MEANS, _RADII, 2, 2)),
            "The leader's upper bound reaches the best mean, and it is at most two radii above "
            "the leader's own mean.",
        ),
        Case(
            "a challenger behind an arm that is not a maximiser",
            ((_MEANS, _RADII, 2, 0), (_MEANS, _RADII, 3, 2)),
            "A maximiser is among the arms that the challenger beats, so the argument for leaders "
            "applies to it.",
        ),
        Case(
            "a challenger behind the only maximiser",
            ((_MEANS, _RADII, 1, 0), (_MEANS, _RADII, 1, 3)),
            "No certificate means that two intervals overlap: two radii of each of the two arms.",
        ),
        Case(
            "several maximisers",
            ((_SHARED, _RADII, 0, 1), (_SHARED, _RADII, 2, 3), (_SHARED, _RADII, 1, 3)),
            "Behind one of several maximisers, another maximiser is a rival of the challenger.",
        ),
    ],
    [
        Slip(
            _four,
            "You used that the pulled arm has the larger radius; the bound before that step is "
            "sharper.",
        ),
        Slip(
            lambda means, radii, leader, pulled: 4.0 * float(radii[pulled]),
            "That is the lemma itself; the proof gives less than four radii in most cases.",
        ),
        Slip(
            lambda means, radii, leader, pulled: 2.0 * float(radii[pulled]),
            "Two radii are not enough for a challenger behind the only maximiser.",
        ),
    ],
    vary=[unit("K"), sizes("K"), index_of("K"), index_of("K")],
)

# ---- local-charge-3: the cost of pulls ------------------------------------------------------


def charge_ratios(
    means: Array, arms: Indices, objectives: Indices, counts: Indices, T: int, c: float
) -> Array:
    """Deficit of each pulled arm on the sampled objective over its radius before the pull."""
    return np.asarray(_deficits(means, arms, objectives) / _radii(counts, T, c))


def _deficits(means: Array, arms: Indices, objectives: Indices) -> Array:
    return np.asarray(pareto.objective_deficits(means)[arms, objectives])


def _radii(counts: Indices, T: float, c: float) -> Array:
    return theory.confidence_radius(counts, T, c)


_RNG = np.random.default_rng(5)
_SCALAR = np.array([[0.4], [0.9], [0.7]])
_PLANE = np.array([[0.8, 0.25], [0.25, 0.8], [0.05, 0.78], [0.3, 0.1]])
_WIDE = _RNG.random((6, 4)).round(2)
_RUN = (_RNG.integers(0, 6, 40), _RNG.integers(0, 4, 40), _RNG.integers(1, 500, 40))

_CHARGES = function(
    "local-charge-3",
    charge_ratios,
    [
        Case(
            "one objective",
            ((_SCALAR, np.array([0, 1, 2]), np.array([0, 0, 0]), np.array([1, 4, 90]), 1000, 2.0),),
            "Divide best mean minus own mean by sqrt(c log T / n).",
        ),
        Case(
            "several objectives: the sampled one counts",
            (
                (_PLANE, np.array([0, 0, 2]), np.array([0, 1, 1]), np.array([9, 9, 30]), 500, 2.0),
                (_WIDE, *_RUN, 10_000, 2.0),
            ),
            "Take best and own mean on the objective that was sampled at that pull.",
        ),
        Case(
            "other coefficients and horizons",
            ((_PLANE, np.array([3, 2]), np.array([0, 1]), np.array([7, 7]), 100_000, 0.05),),
            "c and T enter the radius only, under the root.",
        ),
    ],
    [
        Slip(
            lambda means, arms, objectives, counts, T, c: (
                pareto.gaps(means)[arms] / _radii(counts, T, c)
            ),
            "That counts Pareto gaps; here the deficit on the sampled objective is asked.",
        ),
        Slip(
            lambda means, arms, objectives, counts, T, c: (
                _deficits(means, arms, objectives) / _radii(counts + 1, T, c)
            ),
            "You counted the pull itself; the radius is that before the pull.",
        ),
        Slip(
            lambda means, arms, objectives, counts, T, c: (
                (means.max() - means[arms, objectives]) / _radii(counts, T, c)
            ),
            "You took the best mean over all objectives; each objective has its own.",
        ),
    ],
    vary=[unit("Kd"), index_of("K"), index_of("d"), counts("."), whole(), near()],
)

# ---- local-charge-5: the wrong endpoint ------------------------------------------------------


def _narrow_price(found: object) -> float:
    """Pareto gap over radius, for the arm of the widest race that has the smaller radius."""
    case = Situation(found)
    arm = min(sorted(case.pair), key=lambda a: case.radii[a])
    return float(pareto.gaps(case.means)[arm] / case.radii[arm])


_DUEL = [[0.9], [0.1]]

_ENDPOINT = value(
    "local-charge-5",
    WANTS_SITUATION,
    situation(_DUEL, [[0.35], [0.1]], [50, 4000]),
    [
        IS_POSSIBLE,
        Aspect(
            "all intervals hold their means",
            lambda found: Situation(found).missed() == 0,
            "Some estimate is more than the radius of its arm away from the mean.",
        ),
        Aspect(
            "no objective certifies",
            lambda found: not Situation(found).certifies,
            "Some leader's lower bound is above the other upper bounds; a good arm with few "
            "samples may look worse than it is.",
        ),
        Aspect(
            "the arm with the smaller radius costs more than ten radii",
            lambda found: _narrow_price(found) > 10,
            "The arm of the pair with more samples must be the bad one, and its radius less than "
            "a tenth of its Pareto gap.",
        ),
    ],
    [
        Slip(
            situation(_DUEL, [[0.7], [0.3]], [400, 400]),
            "With equal radii both endpoints obey the lemma; let the counts differ widely.",
        ),
        Slip(
            situation(_DUEL, _DUEL, [50, 4000]),
            "The counts are fine, but with exact estimates the race is decided; let the good arm "
            "look as bad as its wide interval allows.",
        ),
        Slip(
            situation(_DUEL, [[0.1], [0.1]], [50, 4000]),
            "The good arm looks worse than its interval allows; move its estimate up a little.",
        ),
    ],
)

EXERCISES: tuple[Exercise, ...] = (_BOUND, _CHARGES, _ENDPOINT)
