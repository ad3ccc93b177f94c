"""The exercises of the chapter on the worst case."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Case, Exercise, Slip, function
from momab.exercises.draws import Draw

Floats = NDArray[np.float64]

# ---- the index of MOSS ---------------------------------------------------------------------


def moss_arm(sums: Floats, pulls: Floats, horizon: int, proxy: float) -> int:
    """The arm that MOSS pulls for rewards with this variance proxy."""
    return _moss(sums, pulls, horizon, proxy, len(pulls))


def _moss(sums: Floats, pulls: Floats, horizon: float, proxy: float, arms: float) -> int:
    spread = np.log(np.maximum(horizon / (arms * pulls), 1.0))
    return int(np.argmax(sums / pulls + np.sqrt(4 * proxy * spread / pulls)))


def _never_zero(sums: Floats, pulls: Floats, horizon: int, proxy: float) -> int:
    spread = np.log(horizon / pulls)
    return int(np.argmax(sums / pulls + np.sqrt(4 * proxy * spread / pulls)))


def _other_round(draw: Draw, call: tuple[Any, ...]) -> tuple[Any, ...]:
    """Means and counts of another round; the largest index is clearly the largest."""
    sums, pulls, horizon, proxy = call
    while True:
        order = draw.order(len(pulls))
        n = np.array([max(1, round(float(x) * draw.between(0.6, 1.6))) for x in pulls[order]])
        means = (sums / pulls)[order] + np.array([draw.between(-0.08, 0.08) for _ in pulls])
        T = max(round(horizon * draw.between(0.8, 1.25)), int(n.sum()))
        spread = np.log(np.maximum(T / (len(n) * n), 1.0))
        first, second = np.sort(means + np.sqrt(4 * proxy * spread / n))[::-1][:2]
        if first - second > 0.003:
            return means * n, n.astype(np.float64), T, proxy


def _call(means: list[float], pulls: list[int], horizon: int, proxy: float) -> tuple[Any, ...]:
    n = np.array(pulls, dtype=np.float64)
    return np.array(means) * n, n, horizon, proxy


_INDEX = function(
    "minimax-2",
    moss_arm,
    [
        Case(
            "one objective",
            (
                _call([0.6, 0.55, 0.4], [40, 12, 6], 1000, 0.25),
                _call([0.6, 0.55, 0.2], [40, 30, 20], 1000, 0.25),
                _call([0.5, 0.45, 0.3, 0.1], [500, 260, 100, 30], 1000, 0.25),
                _call([0.5, 0.4, 0.35], [70, 10, 5], 100, 0.25),
                _call([0.5, 0.46], [900, 300], 1300, 0.25),
                _call([0.6, 0.5, 0.2, 0.1], [20, 60, 2, 1], 100, 0.25),
                _call([0.50, 0.30, 0.25], [300, 120, 45], 500, 0.25),
            ),
            "The logarithm is that of T / (K N), and it is cut off at zero.",
        ),
        Case(
            "the average of several",
            (
                _call([0.6, 0.55, 0.4], [40, 12, 6], 1000, 0.25 / 16),
                _call([0.6, 0.55, 0.2], [40, 30, 3], 1000, 0.25 / 4),
                _call([0.52, 0.50, 0.47], [300, 90, 40], 2000, 0.25 / 64),
                _call([0.52, 0.50, 0.30], [300, 90, 8], 2000, 0.25 / 9),
                _call([0.40, 0.50, 0.52, 0.51], [9, 70, 150, 40], 600, 0.25 / 4),
                _call([0.49, 0.50, 0.52, 0.48], [6, 70, 150, 4], 600, 0.25 / 25),
            ),
            "Under the root the variance proxy stands four times: 4 proxy log(...) / N.",
        ),
    ],
    [
        Slip(
            lambda sums, n, T, proxy: _moss(sums, n, T, 0.25, len(n)),
            "You took the variance proxy of a single objective, 1/4; use the one that is given.",
        ),
        Slip(
            _never_zero,
            "The number of arms is missing: the logarithm is that of T over K times the pulls.",
        ),
        Slip(
            lambda sums, n, T, proxy: int(np.argmax(sums / n)),
            "That is the best mean so far; add the width, which favours arms with few pulls.",
        ),
    ],
    vary=_other_round,
)

# ---- groups of copies ----------------------------------------------------------------------


def average_proxy(sizes: list[int]) -> float:
    """The variance proxy of the average when each group shows copies of one coin."""
    total = sum(sizes)
    return sum((size / total) ** 2 for size in sizes) / 4


_GROUPS = function(
    "minimax-3",
    average_proxy,
    [
        Case(
            "all independent, or all copies",
            (([1],), ([1, 1],), ([1] * 9,), ([5],), ([30],)),
            "With d groups of one objective it is 1/(4 d), with one group of copies 1/4.",
        ),
        Case(
            "groups of different sizes",
            (([1, 3],), ([2, 2, 2],), ([7, 1, 1, 1],), ([2, 5, 3],), ([10, 1],)),
            "The coin of a group of n has the weight n / d in the average of all d objectives.",
        ),
    ],
    [
        Slip(
            lambda sizes: 1 / (4 * sum(sizes)),
            "That is right for independent objectives only; copies do not average out.",
        ),
        Slip(
            lambda sizes: 1 / (4 * len(sizes)),
            "That is right for groups of equal size only; a large group weighs more.",
        ),
        Slip(
            lambda sizes: 1 / 4,
            "That holds for any dependence, but different groups are independent here.",
        ),
    ],
    vary=lambda draw, call: ([draw.whole(1, 9) for _ in range(len(call[0]) + draw.whole(0, 2))],),
)

EXERCISES: tuple[Exercise, ...] = (_INDEX, _GROUPS)
