"""The exercises of the chapter on Sticky Pareto IMED."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Case, Exercise, Slip, function
from momab.exercises.draws import Draw

Floats = NDArray[np.float64]

# ---- the target ----------------------------------------------------------------------------


def next_target(prices: Floats, gaps: Floats, n: int, z: int) -> int:
    """Step 1 of the sticky rule."""
    among = np.where(gaps == 0, prices, np.inf)
    return int(z if prices[z] <= (1 + n**-0.2) * among.min() else among.argmin())


def _added(prices: Floats, gaps: Floats, n: float, z: int) -> int:
    among = np.where(gaps == 0, prices, np.inf)
    return int(z if prices[z] <= n**-0.2 + among.min() else among.argmin())


def _other_target(draw: Draw, call: tuple[Any, ...]) -> tuple[Any, ...]:
    """Other prices in another order; one arm may be the target or not, as it comes."""
    prices, gaps, n, _ = call
    order = draw.order(len(prices))
    room = [draw.between(0.85, 1.15) for _ in prices]
    gaps = gaps[order] * draw.between(0.8, 1.25)
    return (
        prices[order] * np.array(room),
        gaps,
        round(n * draw.between(0.7, 1.5)),
        draw.whole(0, len(prices) - 1),
    )


_FREE = np.array([0.0, 0.0, 0.0, 0.1, 0.2])
_TARGET = function(
    "every-instance-2",
    next_target,
    [
        Case(
            "all arms have gap zero",
            tuple(
                (np.array([5.0, 6.0, 4.5, 7.1]), np.zeros(4), n, z)
                for n, z in ((32, 0), (32, 1), (32, 3), (1024, 0), (1024, 1), (100_000, 2))
            ),
            "Keep z while its price is at most 1 + n^(-1/5) times the least price.",
        ),
        Case(
            "only arms of gap zero are compared",
            tuple(
                (np.array([5.0, 6.0, 8.0, 2.0, 1.0]), _FREE, n, z)
                for n, z in ((32, 0), (32, 1), (32, 2), (32, 3), (243, 1), (3125, 1))
            ),
            "The least price is taken over arms of empirical gap zero; z itself need not be one.",
        ),
    ],
    [
        Slip(
            lambda prices, gaps, n, z: next_target(prices, np.zeros(len(gaps)), n, z),
            "You compare with all arms; a new target must have empirical gap zero.",
        ),
        Slip(_added, "The slack is relative: multiply the least price by one plus n^(-1/5)."),
        Slip(
            lambda prices, gaps, n, z: int(np.where(gaps == 0, prices, np.inf).argmin()),
            "That is the plain rule, which always takes the cheapest arm and never sticks.",
        ),
    ],
    vary=_other_target,
)

# ---- changing one's mind -------------------------------------------------------------------


def changing_regret(gaps: Floats, evidence: Floats, ends: Floats, candidates: list[int]) -> float:
    """Regret per unit of log T when the candidate is candidates[k] until log T = ends[k]."""
    asked = np.array(ends)[:, None] / evidence[:, candidates].T
    return float(asked.max(axis=0) @ gaps / ends[-1])


def _asked(evidence: Floats, ends: Floats, candidates: list[int]) -> Floats:
    return np.asarray(np.array(ends)[:, None] / evidence[:, candidates].T)


def _lengths(gaps: Floats, evidence: Floats, ends: Floats, candidates: list[int]) -> float:
    lengths = np.diff(ends, prepend=0.0)
    return float((lengths[:, None] / evidence[:, candidates].T).sum(axis=0) @ gaps / ends[-1])


def _other_path(draw: Draw, call: tuple[Any, ...]) -> tuple[Any, ...]:
    gaps, evidence, ends, candidates = call
    factors = np.array([[draw.between(0.6, 1.6) for _ in row] for row in evidence])
    return (
        gaps * np.array([draw.between(0.7, 1.4) for _ in gaps]),
        evidence * factors,
        ends * draw.between(0.7, 1.4),
        [draw.whole(0, evidence.shape[1] - 1) for _ in candidates],
    )


_PAIRS = np.array([[0.1, 0.5], [0.5, 0.1]])
_TWO = np.array([0.2, 0.2])
_WIDE = np.array([[0.4, 0.1, 0.9], [0.05, 0.3, 0.2]])
_PATHS = function(
    "every-instance-3",
    changing_regret,
    [
        Case(
            "the candidate never changes",
            (
                (_TWO, _PAIRS, np.array([40.0]), [0]),
                (_TWO, _PAIRS, np.array([20.0, 40.0]), [1, 1]),
                (np.array([0.3, 0.1]), _WIDE, np.array([7.0, 30.0]), [2, 2]),
            ),
            "With one candidate a the answer is the sum of gap / evidence in column a.",
        ),
        Case(
            "it changes",
            (
                (_TWO, _PAIRS, np.array([20.0, 40.0]), [0, 1]),
                (_TWO, _PAIRS, np.array([10.0, 40.0]), [1, 0]),
                (np.array([0.3, 0.1]), _WIDE, np.array([5.0, 20.0, 25.0]), [0, 1, 2]),
                (np.array([0.3, 0.1]), _WIDE, np.array([10.0, 12.0, 60.0]), [1, 2, 0]),
            ),
            "Pulls are never taken back: an arm has the largest number that was ever asked for.",
        ),
    ],
    [
        Slip(
            lambda g, D, ends, c: float(_asked(D, ends, c).sum(axis=0) @ g / ends[-1]),
            "A new candidate uses the pulls that are there; take the largest demand, not the sum.",
        ),
        Slip(
            _lengths,
            "A demand is for all of log T, not for the part since the last change.",
        ),
        Slip(
            lambda g, D, ends, c: float(_asked(D, ends, c)[-1] @ g / ends[-1]),
            "Earlier candidates have asked for pulls, too, and these pulls were paid.",
        ),
    ],
    vary=_other_path,
)

EXERCISES: tuple[Exercise, ...] = (_TARGET, _PATHS)
