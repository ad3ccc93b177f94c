"""The exercises of the chapter on the width floor."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from momab.exercises._situations import IS_POSSIBLE, WANTS_SITUATION, Situation, situation
from momab.exercises.core import Aspect, Case, Exercise, Slip, function, value
from momab.exercises.draws import near, sizes, unit, whole
from momab.model import pareto

# ---- width-floor-2: the sampled width --------------------------------------------------------


def sampled_width(upper: NDArray[np.float64], radii: NDArray[np.float64]) -> float:
    """The largest W_j = beta_{b_j} + beta_{c_j} over the objectives j.

    b_j and c_j have the two highest upper bounds of objective j.
    """
    return float(_per_objective(upper, radii).max())


def _per_objective(upper: NDArray[np.float64], radii: NDArray[np.float64]) -> NDArray[np.float64]:
    widths: NDArray[np.float64] = radii[np.argsort(-upper, axis=0, kind="stable")[:2]].sum(axis=0)
    return widths


_ONE = (np.array([[0.9], [0.7], [0.4]]), np.array([0.05, 0.2, 0.3]))
_TWO = (np.array([[0.9, 0.2], [0.7, 0.8], [0.4, 0.6]]), np.array([0.05, 0.2, 0.3]))
_MANY = (
    np.array([[0.8, 0.6, 0.1], [0.3, 0.9, 0.2], [0.7, 0.5, 0.9], [0.6, 0.1, 0.8]]),
    np.array([0.11, 0.07, 0.13, 0.21]),
)
_TIES = (np.array([[0.5, 0.3], [0.5, 0.3], [0.5, 0.2]]), np.array([0.1, 0.2, 0.4]))

_SAMPLED_WIDTH = function(
    "width-floor-2",
    sampled_width,
    [
        Case(
            "one objective: the pair with the two highest upper bounds",
            (_ONE,),
            "With one objective the pair is the leader and the challenger: sort the arms by "
            "their upper bounds.",
        ),
        Case(
            "several objectives: the widest pair",
            (_TWO, _MANY),
            "Every objective has a pair of its own; Algorithm 1 samples the widest of them.",
        ),
        Case(
            "tied upper bounds go to the arms with lower indices",
            (_TIES,),
            "A stable sort keeps tied arms in the order of their indices.",
        ),
    ],
    [
        Slip(
            lambda upper, radii: float(np.sort(radii)[-2:].sum()),
            "You took the two largest radii; the pair is chosen by upper bounds, not by radii.",
        ),
        Slip(
            lambda upper, radii: float(_per_objective(upper, radii).min()),
            "You took the narrowest pair; Algorithm 1 samples where most is unknown.",
        ),
        Slip(
            lambda upper, radii: float(_per_objective(upper, radii).sum()),
            "You added the widths of all objectives; only one pair is sampled.",
        ),
    ],
    vary=[unit("Kd"), sizes("K")],
)


# ---- width-floor-3: how many samples the floor allows ----------------------------------------


def most_samples(means: NDArray[np.float64], T: int, c: float) -> float:
    """The largest whole n with sqrt(c log T / n) >= g/4; infinite at g = 0."""
    return _samples(float(pareto.g_dagger(means)), T, c)


def _samples(g: float, T: float, c: float, factor: float = 16.0) -> float:
    return math.inf if g == 0 else math.floor(factor * c * math.log(T) / g**2)


_SINGLE = np.array([[0.3], [0.75], [0.5]])
_APART = np.array([[0.9], [0.3]])
_FRONT = np.array([[0.8, 0.25], [0.25, 0.8], [0.05, 0.78], [0.05, 0.05]])
_TIED = np.array([[0.8, 0.5], [0.8, 0.5], [0.2, 0.1]])
_HALF_TIED = np.array([[0.9, 0.5], [0.9, 0.1], [0.2, 0.3]])
_LARGE = np.random.default_rng(11).random((7, 4)).round(3)

_MOST_SAMPLES = function(
    "width-floor-3",
    most_samples,
    [
        Case(
            "one objective",
            ((_SINGLE, 10_000, 2.0), (_SINGLE, 1_000_000, 2.0)),
            "Solve sqrt(c log T / n) >= g/4 for n; g is the best mean minus the second best.",
        ),
        Case(
            "several objectives: the largest lead counts",
            ((_FRONT, 10_000, 2.0), (_LARGE, 10_000, 2.0)),
            "The lemma holds with the largest of the objectives' leads.",
        ),
        Case(
            "other coefficients c",
            ((_FRONT, 10_000, 0.1), (_SINGLE, 500, 0.02), (_APART, 3, 0.05)),
            "c enters the squared radius as a factor.",
        ),
        Case(
            "objectives whose best mean is shared have no lead",
            ((_HALF_TIED, 10_000, 2.0), (_TIED, 10_000, 2.0)),
            "A tie makes the lead of an objective zero; if all leads are zero the lemma is void.",
        ),
    ],
    [
        Slip(
            lambda means, T, c: _samples(float(pareto.g_dagger(means)), T, c, 4.0),
            "You used the floor of the width; a single radius has a floor that is half of it.",
        ),
        Slip(
            lambda means, T, c: _samples(float(pareto.objective_gaps(means).min()), T, c),
            "You took the smallest lead; the lemma is about the champion objective.",
        ),
        Slip(
            lambda means, T, c: _samples(float(np.ptp(means, axis=0).max()), T, c),
            "A lead is the distance from the best arm to the second best, not to the worst.",
        ),
    ],
    vary=[unit("Kd"), whole(1.0, 2.0), near(0.7, 1.0)],
)

# ---- width-floor-5: one wrong interval is enough ---------------------------------------------

_ONE_WRONG = value(
    "width-floor-5",
    WANTS_SITUATION,
    situation([[0.9], [0.1]], [[0.9], [0.9]], [2000, 2000]),
    [
        IS_POSSIBLE,
        Aspect(
            "exactly one interval misses its mean",
            lambda found: Situation(found).missed() == 1,
            "Count the pairs of an arm and an objective whose estimate is more than the arm's "
            "radius away from the mean; there must be one.",
        ),
        Aspect(
            "no objective certifies",
            lambda found: not Situation(found).certifies,
            "Some leader's lower bound is above the other upper bounds: the wrong interval must "
            "err in the direction that makes the arms look alike, on every objective.",
        ),
        Aspect(
            "the pulled arm's radius is below a quarter of the largest lead",
            lambda found: (
                Situation(found).pulled_radius < float(pareto.g_dagger(found["means"])) / 4
            ),
            "The radius of the pulled arm is still too large: radii shrink with counts, and the "
            "arm that is pulled is the one of the widest pair with fewer samples.",
        ),
    ],
    [
        Slip(
            situation([[0.9], [0.1]], [[0.5], [0.5]], [2000, 2000]),
            "Both arms are wrong here; leave one of the two where its true mean is.",
        ),
        Slip(
            situation([[0.9], [0.1]], [[0.9], [0.1]], [2000, 2000]),
            "Nothing is wrong here, so the race is decided; one arm's estimate must be off.",
        ),
        Slip(
            situation([[0.9], [0.1]], [[0.7], [0.3]], [400, 400]),
            "This is the run that touches the floor with all intervals intact; to get below it, "
            "an interval must fail.",
        ),
    ],
)

EXERCISES: tuple[Exercise, ...] = (_SAMPLED_WIDTH, _MOST_SAMPLES, _ONE_WRONG)
