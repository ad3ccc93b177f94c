"""The exercises of the refresher."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from momab.exercises.core import Case, Exercise, Slip, function, within
from momab.exercises.draws import Change, Draw, near, unit
from momab.model.theory import bernoulli_kl


def flips_needed(x: float, delta: float) -> int:
    """The least n with 2 exp(-2 n x^2) <= delta."""
    return math.ceil(math.log(2 / delta) / (2 * x**2))


def ucb1_arm(sums: Sequence[float], counts: Sequence[int]) -> int:
    """The arm with the largest mean + sqrt(2 log t / N); an arm without pulls comes first."""
    return _largest(lambda s, n, t: s / n + math.sqrt(2 * math.log(t) / n), sums, counts)


def _largest(
    value: Callable[[float, int, int], float], sums: Sequence[float], counts: Sequence[int]
) -> int:
    if 0 in counts:
        return list(counts).index(0)
    values = [value(s, n, sum(counts)) for s, n in zip(sums, counts, strict=True)]
    return values.index(max(values))


def pulls_demanded(p: float, q: float, first: float, second: float) -> float:
    """The expected pulls that the change of measure demands: kl(first, second) / kl(p, q)."""
    return bernoulli_kl(first, second) / bernoulli_kl(p, q)


def _other_pulls(draw: Draw, call: Any) -> Any:
    """Other sums and counts; arms that were alike stay so, and arms without pulls without."""
    change = Change(draw)
    known = {
        pair: (pair[0] / max(pair[1], 1), max(min(pair[1], 1), round(pair[1] * factor)))
        for pair in dict.fromkeys(zip(*call, strict=True))
        for factor in [draw.between(0.6, 1.7)]
    }
    equal = len(set(call[1])) == 1  # a case with equal counts keeps them
    order = draw.order(len(call[0]))
    pairs = [known[call[0][a], call[1][a]] for a in order]
    pulls = [call[1][0] if equal else count for _, count in pairs]
    return [change.bent(mean) * n for (mean, _), n in zip(pairs, pulls, strict=True)], pulls


EXERCISES: tuple[Exercise, ...] = (
    function(
        "refresher-1",
        flips_needed,
        [
            Case(
                "usual polls",
                ((0.1, 0.05), (0.03, 0.05), (0.02, 0.01)),
                "Set the bound equal to delta, take logarithms, and solve for n.",
            ),
            Case(
                "a tiny risk",
                ((0.2, 1e-6), (0.5, 1e-9)),
                "The risk stands inside the logarithm: how does it enter there?",
            ),
            Case(
                "a large deviation and a large risk, where a handful of flips is enough",
                ((0.6, 0.5), (0.9, 0.3)),
                "The smallest whole number that satisfies an inequality is found by rounding up.",
            ),
        ],
        [
            Slip(
                lambda x, delta: math.ceil(math.log(1 / delta) / (2 * x**2)),
                "That is the one-sided bound; the average may err on either side, which costs a "
                "factor in front of the exponential.",
            ),
            Slip(
                lambda x, delta: math.floor(math.log(2 / delta) / (2 * x**2)),
                "You rounded down, and with that number the bound still exceeds delta.",
            ),
            Slip(
                lambda x, delta: math.ceil(math.log(2 / delta) / x**2),
                "Look at the exponent again: which factor stands before n x^2?",
            ),
        ],
        same=lambda found, wanted: not isinstance(found, bool) and found == wanted,
        vary=[near(0.7, 1.1), near(most=0.9)],
    ),
    function(
        "refresher-3",
        ucb1_arm,
        [
            Case(
                "an arm without pulls comes first",
                (([0.9, 0.0, 0.0], [1, 0, 0]), ([3.0, 5.0, 0.0, 2.0], [4, 5, 0, 4])),
                "Without a pull there is no mean; the exercise says who comes first then.",
            ),
            Case(
                "equal counts: the best mean",
                (([3.0, 6.0, 5.0], [8, 8, 8]), ([7.0, 2.0], [10, 10])),
                "With equal counts all radii are equal, and only the means differ.",
            ),
            Case(
                "unequal counts: a good mean against a large radius",
                (
                    ([60.0, 2.0], [100, 5]),
                    ([40.0, 3.5, 0.5], [50, 7, 3]),
                    ([54.0, 26.0], [60, 40]),
                    ([30.0, 3.0], [40, 9]),
                    ([12.0, 0.0], [16, 4]),
                    ([12.0, 5.0], [20, 6]),
                    ([6.0, 7.0], [9, 30]),
                    ([1.0, 7.0], [3, 8]),
                    ([0.0, 7.0], [3, 11]),
                    ([8.0, 0.0], [12, 3]),
                ),
                "Compute both optimistic values by hand for ([60, 2], [100, 5]) and compare.",
            ),
            Case(
                "ties go to the lowest index",
                (([2.0, 2.0, 1.0], [4, 4, 4]), ([1.0, 4.0, 4.0], [6, 6, 6])),
                "Look at how your code treats equal values: the first of them is wanted.",
            ),
        ],
        [
            Slip(
                lambda sums, counts: _largest(lambda s, n, t: s / n, sums, counts),
                "You play the best empirical mean; an arm with bad luck at first never comes back.",
            ),
            Slip(
                lambda sums, counts: _largest(
                    lambda s, n, t: s / n + math.sqrt(2 * math.log(n) / n), sums, counts
                ),
                "The logarithm is that of all pulls made so far, not of the arm's own.",
            ),
            Slip(
                lambda sums, counts: _largest(
                    lambda s, n, t: s / n + math.sqrt(math.log(t) / n), sums, counts
                ),
                "Your radius is too small by a constant factor: what stands under the root?",
            ),
        ],
        vary=_other_pulls,
    ),
    function(
        "refresher-4",
        pulls_demanded,
        [
            Case(
                "coins near one half",
                ((0.4, 0.6, 0.05, 0.95), (0.5, 0.45, 0.1, 0.7)),
                "The lemma bounds a product from below; solve it for the expected pulls.",
            ),
            Case(
                "coins near zero",
                ((0.02, 0.05, 0.01, 0.9), (0.001, 0.01, 0.2, 0.6)),
                "Far from one half the divergence is not close to any square; use its definition.",
            ),
            Case(
                "an event that never happens in the first world",
                ((0.3, 0.5, 0.0, 0.99), (0.6, 0.2, 0.0, 0.5)),
                "Zero times the logarithm of zero is zero; the other term stays.",
            ),
        ],
        [
            Slip(
                lambda p, q, first, second: bernoulli_kl(first, second) / bernoulli_kl(q, p),
                "The divergence of the coins is the wrong way round: expectation and samples are "
                "those of the first world.",
            ),
            Slip(
                lambda p, q, first, second: bernoulli_kl(second, first) / bernoulli_kl(p, q),
                "The divergence of the probabilities is the wrong way round: the first world comes "
                "first there, too.",
            ),
            Slip(
                lambda p, q, first, second: bernoulli_kl(first, second) / (2 * (p - q) ** 2),
                "Pinsker's inequality makes a divergence smaller, and your answer too large; use "
                "the divergence of the coins itself.",
            ),
        ],
        same=within(1e-9),
        vary=[unit(), unit(), unit(), unit()],
    ),
)
