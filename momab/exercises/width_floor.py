"""The exercises of the chapter on the width floor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Case, Exercise, Slip, function


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

EXERCISES: tuple[Exercise, ...] = (
    function(
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
            Slip(
                lambda upper, radii: float(radii[upper.argmax(axis=0)].max()),
                "That is a single radius; a width is the sum of the leader's and the challenger's.",
            ),
            Slip(
                lambda upper, radii: int(_per_objective(upper, radii).argmax()),
                "That is the objective with the widest pair; the question is how wide it is.",
            ),
        ],
    ),
)
