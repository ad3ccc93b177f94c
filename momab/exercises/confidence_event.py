"""The exercises of the chapter on the confidence event: the shelf, tails, and peeking."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Case, Exercise, Slip, function
from momab.exercises.draws import alike, index_of, near, unit, whole
from momab.model import theory

# ---- confidence-event-1: rewards off the shelf ---------------------------------------------


def means_so_far(shelf: NDArray[np.float64], pulled: Sequence[int]) -> list[float]:
    """The mean of the first N_a rewards of every row, where N_a counts the pulls of arm a."""
    counts = [list(pulled).count(a) for a in range(len(shelf))]
    return [float(row[:n].mean()) for row, n in zip(shelf, counts, strict=True)]


def _by_round(shelf: NDArray[np.float64], pulled: Sequence[int]) -> list[float]:
    """A mistaken answer: the round is taken for the number of the pull."""
    width = shelf.shape[1]
    return [
        float(np.mean([shelf[a, t % width] for t, arm in enumerate(pulled) if arm == a]))
        for a in range(len(shelf))
    ]


_SHELF = np.array([[1.0, 0, 1, 1, 0, 0], [0.0, 0, 1, 0, 1, 1], [1.0, 1, 0, 0, 1, 0]])
_MIXED = np.array([[0.2, 0.9, 0.4, 0.7, 0.1], [0.8, 0.3, 0.6, 0.5, 0.0]])


# ---- confidence-event-2: an exact tail -----------------------------------------------------


def miss_probability(p: float, n: int, radius: float) -> float:
    """The chance that the mean of n Bernoulli(p) samples is more than ``radius`` away from p."""
    return _sum_over(p, n, lambda k: abs(k - n * p) > n * radius)


def _sum_over(p: float, n: int, counts: Callable[[int], bool]) -> float:
    """The probability of all numbers of successes k that count."""
    return math.fsum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if counts(k))


# ---- confidence-event-4: rewards of another range ------------------------------------------


def mended(n: int, horizon: int, c: float, low: float, high: float) -> tuple[float, float]:
    """Hoeffding's bound with the old radius, and the radius that restores 2 T^(-2c)."""
    span = high - low
    radius = float(theory.confidence_radius(n, horizon, c))
    return theory.hoeffding_bound(horizon, c / span**2), span * radius


def _mended_with(
    exponent: Callable[[float, float], float], stretch: Callable[[float, float], float]
) -> Callable[[int, int, float, float, float], tuple[float, float]]:
    """A mistaken answer: exponent and radius are multiplied by these functions of low, high."""

    def answer(n: int, horizon: int, c: float, low: float, high: float) -> tuple[float, float]:
        radius = float(theory.confidence_radius(n, horizon, c))
        return 2 * horizon ** (-2 * c * exponent(low, high)), stretch(low, high) * radius

    return answer


# ---- confidence-event-5: ever outside ------------------------------------------------------


def ever_outside(p: float, samples: int, horizon: int, c: float) -> float:
    """The chance that some mean of n <= samples Bernoulli(p) rewards leaves its interval."""
    return theory.crossing_probability(p, samples, horizon, c)


def _tails(p: float, samples: int, horizon: int, c: float) -> list[float]:
    scale = c * math.log(horizon)
    return [miss_probability(p, n, math.sqrt(scale / n)) for n in range(1, samples + 1)]


EXERCISES: tuple[Exercise, ...] = (
    function(
        "confidence-event-1",
        means_so_far,
        [
            Case(
                "every arm twice, in turn",
                ((_SHELF, [0, 1, 2, 0, 1, 2]),),
                "A pull takes the next reward of its own row, whatever the round is.",
            ),
            Case(
                "some arms more often than others",
                ((_SHELF, [0, 1, 2, 0, 0, 1]), (_MIXED, [1, 0, 1, 1, 1])),
                "The row of an arm is read up to the number of its pulls, no further.",
            ),
            Case(
                "another order of the same pulls",
                ((_MIXED, [0, 0, 0, 1]), (_MIXED, [1, 0, 0, 0])),
                "Only the number of pulls of an arm matters, not when they happened.",
            ),
        ],
        [
            Slip(
                _by_round,
                "You read the shelf at the number of the round; a pull takes the next reward of "
                "its own arm.",
            ),
            Slip(
                lambda shelf, pulled: shelf.mean(axis=1).tolist(),
                "You average the whole shelf, also rewards that no round has shown.",
            ),
            Slip(
                lambda shelf, pulled: [
                    float(row[: pulled.count(a)].sum()) for a, row in enumerate(shelf)
                ],
                "Those are sums; the radius is about means.",
            ),
        ],
        vary=[unit("Kn"), index_of("K")],
    ),
    function(
        "confidence-event-2",
        miss_probability,
        [
            Case(
                "a fair coin",
                ((0.5, 10, 0.33), (0.5, 40, 0.11)),
                "Add the binomial probabilities of all numbers of successes whose mean is too far "
                "away.",
            ),
            Case(
                "a biased coin: the two sides differ",
                ((0.8, 10, 0.15), (0.95, 30, 0.1), (0.1, 7, 0.25)),
                "Both sides count, and for a biased coin they are not equal.",
            ),
            Case(
                "a mean exactly on the edge has not left the interval",
                ((0.5, 4, 0.25), (0.25, 8, 0.25), (0.5, 16, 0.125)),
                "The interval holds its end points: only a distance of more than the radius is a "
                "miss.",
            ),
            Case(
                "a radius that cannot be left",
                ((0.5, 10, 0.7), (0.3, 1, 0.9)),
                "If no possible mean is that far away, the probability is zero.",
            ),
        ],
        [
            Slip(
                lambda p, n, radius: _sum_over(p, n, lambda k: abs(k - n * p) >= n * radius),
                "You count a mean on the edge as a miss; the interval is closed.",
            ),
            Slip(
                lambda p, n, radius: _sum_over(p, n, lambda k: k - n * p > n * radius),
                "You count means that are too high; those that are too low miss as well.",
            ),
            Slip(
                lambda p, n, radius: 2 * _sum_over(p, n, lambda k: k - n * p > n * radius),
                "Doubling one side is right for a fair coin only; compute the two sides on their "
                "own.",
            ),
        ],
        vary=[unit(), whole(), near()],
    ),
    function(
        "confidence-event-4",
        mended,
        [
            Case(
                "rewards in [0, 1]: nothing to mend",
                ((10, 400, 2.0, 0.0, 1.0), (100, 50, 0.3, 0.0, 1.0)),
                "For rewards in [0, 1] the answer must be the chapter's bound and radius.",
            ),
            Case(
                "rewards in [0, 3]",
                ((10, 400, 2.0, 0.0, 3.0), (50, 10_000, 1.0, 0.0, 3.0)),
                "Hoeffding's exponent for rewards in an interval of length r is 2 n x^2 / r^2.",
            ),
            Case(
                "rewards below zero, and a narrow range",
                (
                    (20, 1_000, 1.0, -1.0, 1.0),
                    (20, 1_000, 0.1, 2.0, 2.5),
                    (5, 100, 0.5, -3.0, -1.0),
                ),
                "Only the length of the range matters, not where it lies; a narrow range makes the "
                "bound better.",
            ),
        ],
        [
            Slip(
                _mended_with(lambda low, high: 1 / (high - low), lambda low, high: high - low),
                "The radius is right; in the exponent the length of the range is squared.",
            ),
            Slip(
                _mended_with(
                    lambda low, high: (high - low) ** -2, lambda low, high: (high - low) ** 2
                ),
                "The bound is right. To undo r^2 in the exponent the radius itself, which is "
                "squared there, needs less.",
            ),
            Slip(
                _mended_with(lambda low, high: high**-2, lambda low, high: abs(high)),
                "You used the largest reward; shift all rewards by a constant and see what must "
                "not change.",
            ),
        ],
        vary=[whole(), whole(), near(), alike("range"), alike("range")],
    ),
    function(
        "confidence-event-5",
        ever_outside,
        [
            Case(
                "one sample",
                ((0.8, 1, 20, 0.1), (0.3, 1, 3, 0.2)),
                "With one sample the mean is 0 or 1.",
            ),
            Case(
                "a fair coin",
                ((0.5, 12, 12, 0.2), (0.5, 60, 60, 0.3)),
                "Keep, for every sum, the probability to be there without having been outside "
                "before; drop what steps out.",
            ),
            Case(
                "a biased coin",
                ((0.8, 40, 60, 0.2), (0.1, 30, 30, 0.15)),
                "Both edges of the interval count, and for a biased coin they are left with "
                "different probabilities.",
            ),
            Case(
                "fewer samples than rounds, and intervals that no mean can leave",
                ((0.4, 15, 500, 0.1), (0.5, 5, 100, 2.0)),
                "The radius depends on the horizon, the walk on the number of samples.",
            ),
        ],
        [
            Slip(
                lambda p, samples, horizon, c: _tails(p, samples, horizon, c)[-1],
                "That is the chance to be outside at the last count; an observer who looks after "
                "every sample sees earlier exits, too.",
            ),
            Slip(
                lambda p, samples, horizon, c: math.fsum(_tails(p, samples, horizon, c)),
                "That is the union bound; neighbouring counts share their samples, and a sequence "
                "that stays outside is counted many times.",
            ),
            Slip(
                lambda p, samples, horizon, c: (
                    1 - math.prod(1 - tail for tail in _tails(p, samples, horizon, c))
                ),
                "You multiply as if the counts were independent; the means of n and of n + 1 "
                "samples hardly differ.",
            ),
        ],
        vary=[unit(), whole(), whole(1.0, 2.0), near()],
    ),
)
