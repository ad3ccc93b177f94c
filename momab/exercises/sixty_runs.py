"""The exercises of the chapter on what 60 runs cannot see: rare wrong commitments."""

from __future__ import annotations

import math
from typing import Any

from momab.exercises.core import Aspect, Case, Exercise, Slip, function, value, within
from momab.exercises.draws import Draw, counts, sizes
from momab.model import statistics

# ---- sixty-runs-2: what the runs still allow -----------------------------------------------


def upper_rate(wrong: int, runs: int, level: float) -> float:
    """The upper end of the exact (Clopper-Pearson) interval of a rate."""
    return statistics.clopper_pearson(wrong, runs, level)[1]


def _beta(share: float, wrong: int, rest: int) -> float:
    """A quantile of the beta distribution, in which the ends of exact intervals are written."""
    from scipy.stats import beta

    if wrong == 0 or rest == 0:
        return 0.0 if wrong == 0 else 1.0
    return float(beta.ppf(share, wrong, rest))


# ---- sixty-runs-4: when the tail takes over ------------------------------------------------


def takeover(regrets: list[float], gaps: list[float], rounds: list[int]) -> float:
    r"""The least T, not before the last round, with :math:`\sum\Delta_i(T-\tau_i)\ge\sum R_i`."""
    if not any(gaps):
        return math.inf
    owed = sum(regrets) + sum(gap * at for gap, at in zip(gaps, rounds))
    return max(owed / sum(gaps), float(max(rounds)))


def _without_rounds(regrets: list[float], gaps: list[float], rounds: list[int]) -> float:
    return max(sum(regrets) / sum(gaps), float(max(rounds))) if any(gaps) else math.inf


def _wrong_runs_only(regrets: list[float], gaps: list[float], rounds: list[int]) -> float:
    wrong = [line for line in zip(regrets, gaps, rounds) if line[1] > 0]
    if not wrong:
        return math.inf
    owed = sum(regret + gap * at for regret, gap, at in wrong)
    return max(owed / sum(gap for _, gap, _ in wrong), float(max(rounds)))


def _run_by_run(regrets: list[float], gaps: list[float], rounds: list[int]) -> float:
    times = [at + regret / gap for regret, gap, at in zip(regrets, gaps, rounds) if gap > 0]
    return max(sum(times) / len(times), float(max(rounds))) if times else math.inf


# ---- sixty-runs-5: a law that fools sixty runs ---------------------------------------------


def _mean(law: Any) -> float:
    p, typical, cost = law
    return float((1 - p) * typical + p * cost)


def _no_average_is_near(law: Any) -> bool:
    """No average of sixty runs lies between half the mean and twice the mean."""
    _, typical, cost = law
    averages = [((60 - k) * typical + k * cost) / 60 for k in range(61)]
    return all(not _mean(law) / 2 < average < 2 * _mean(law) for average in averages)


def _other_runs(draw: Draw, call: Any) -> Any:
    """Another number of runs; none or all of them wrong where it was so."""
    wrong, runs, level = call
    other = draw.whole(runs // 2 + 1, 2 * runs)
    seen = other if wrong == runs else min(wrong + draw.whole(0, 2) * (wrong > 0), other - 1)
    return seen, min(other, 20_000), min(level * draw.between(0.9, 1.05), 0.995)


EXERCISES: tuple[Exercise, ...] = (
    function(
        "sixty-runs-2",
        upper_rate,
        [
            Case(
                "no wrong run was seen",
                ((0, 60, 0.95), (0, 20_000, 0.95)),
                "With no wrong run the condition reads (1 - p)^runs >= (1 - level)/2; solve it "
                "for p.",
            ),
            Case(
                "some wrong runs were seen",
                ((1, 60, 0.95), (2, 60, 0.95), (55, 20_000, 0.95)),
                "Add the binomial probabilities of 0, 1, ..., wrong wrong runs, and look for the "
                "p at which the sum has fallen to (1 - level)/2: it falls as p grows, so that "
                "bisection finds it.",
            ),
            Case(
                "every run went wrong",
                ((5, 5, 0.95), (1, 1, 0.9)),
                "If all runs went wrong, 'wrong or fewer' is certain, and no rate is excluded.",
            ),
            Case(
                "another level",
                ((0, 60, 0.99), (3, 200, 0.5)),
                "The level enters as the probability (1 - level)/2 on this side.",
            ),
        ],
        [
            Slip(
                lambda wrong, runs, level: _beta(level, wrong + 1, runs - wrong),
                "You let the upper side have all of 1 - level; a two-sided interval leaves half "
                "of it on each side.",
            ),
            Slip(
                lambda wrong, runs, level: _beta((1 - level) / 2, wrong, runs - wrong + 1),
                "That is the lower end: the rate at which so many wrong runs or more would be "
                "a surprise.",
            ),
            Slip(
                lambda wrong, runs, level: _beta((1 + level) / 2, wrong, runs - wrong + 1),
                "You asked for fewer than `wrong` wrong runs; the number that was seen belongs "
                "to the event.",
            ),
        ],
        same=within(1e-4),
        vary=_other_runs,
    ),
    function(
        "sixty-runs-4",
        takeover,
        [
            Case(
                "one wrong run among a few",
                (
                    ([2.0, 3.0, 2.5, 4.5], [0.0, 0.0, 0.2, 0.0], [20, 30, 25, 45]),
                    ([1.0] * 9 + [2.0], [0.0] * 9 + [0.01], [40] * 10),
                ),
                "Add over all runs: the early part is the sum of the regrets, the tail the sum of "
                "gap times (T - round). Set them equal and solve for T.",
            ),
            Case(
                "several wrong runs with different gaps",
                (
                    ([5.0, 4.0, 6.0, 5.5], [0.0, 0.02, 0.2, 0.0], [50, 90, 35, 60]),
                    ([3.0, 30.0, 3.0], [0.001, 0.5, 0.0], [10, 400, 30]),
                ),
                "Means of runs add up before anything is divided: one equation for all runs "
                "together, not one per run.",
            ),
            Case(
                "a commitment that comes late",
                (([1.0, 1.0, 9.0], [0.3, 0.0, 0.0], [10, 12, 500]),),
                "The formula holds from the last commitment on; no shorter horizon may be "
                "returned.",
            ),
            Case(
                "no run went wrong",
                (([2.0, 3.0], [0.0, 0.0], [20, 30]),),
                "Without a wrong run there is no tail, at any horizon: return infinity.",
            ),
        ],
        [
            Slip(
                _without_rounds,
                "A wrong run pays its gap only after its commitment: T - round times, not T times.",
            ),
            Slip(
                _wrong_runs_only,
                "You compared the tail with the early regret of the wrong runs; the mean is over "
                "all runs.",
            ),
            Slip(
                _run_by_run,
                "You solved for every wrong run and averaged the answers; the shares of the mean "
                "are sums over all runs, and there is one T for them.",
            ),
        ],
        vary=[sizes("n"), sizes("n"), counts("n")],
    ),
    value(
        "sixty-runs-5",
        "three numbers (p, typical, cost)",
        [0.004, 10.0, 1e5],
        [
            Aspect(
                "p is a probability, and 0 < typical < cost <= 1,000,000",
                lambda law: len(law) == 3 and 0 < law[0] < 1 and 0 < law[1] < law[2] <= 1e6,
                "Give p as a number between 0 and 1, then the regret of a good run, then that of "
                "a bad one.",
            ),
            Aspect(
                "sixty runs see no bad one with probability 1/2 or more",
                lambda law: (1 - law[0]) ** 60 >= 0.5,
                "The chance to see none is (1 - p)^60: make p smaller.",
            ),
            Aspect(
                "the mean is at least ten times the median",
                lambda law: law[0] < 0.5 and _mean(law) >= 10 * law[1],
                "The mean is (1 - p) typical + p cost, and the median is typical: let a bad run "
                "cost more, or a good one less.",
            ),
            Aspect(
                "no average of sixty runs lies between half the mean and twice the mean",
                _no_average_is_near,
                "With k bad runs the average is about k cost / 60, the mean about p cost. Make p "
                "so small that already a single bad run is too much.",
            ),
        ],
        [
            Slip(
                [0.4, 10.0, 1e5],
                "Is p meant in per cent? It is a probability: 0.4 % is 0.004.",
            ),
            Slip(
                [1 / 60, 10.0, 1e5],
                "With p = 1/60 one bad run is what sixty runs show on average, and the chance to "
                "see none is only about 1/e.",
            ),
            Slip(
                [0.01, 10.0, 1e5],
                "Most sets of sixty see nothing, but those with one bad run come within a factor "
                "of two of the mean.",
            ),
        ],
    ),
)
