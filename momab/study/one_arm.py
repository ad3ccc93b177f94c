r"""Naming one optimal arm: sampling rules, stopping rules, and the time until an arm is named.

Pulls come in blocks: an arm that is chosen gets 2 % of the pulls that it already has, at least one.
The stopping rules look when all pulls together have grown by 2 %.
They are valid for every sampling rule.  They use the same deviation bound: for the
mean m of n Bernoulli(p) rewards, with probability at least :math:`1-e^{-x}`,
:math:`n\,\mathrm{kl}(m,p)\le x+\log(n+1)` for all n at once.

``python -m momab.study.one_arm`` records the results that the page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import rel_entr

from momab._util.files import write_text
from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.model import instances, pareto
from momab.model.identification import naming_cost
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd

RESULTS = Path(__file__).parents[1] / "data" / "results" / "one_arm.csv"
SAMPLING = ("Algorithm 1", "uniform", "sticky tracking")
STOPPING = ("Hoeffding intervals", "kl intervals", "likelihood ratio", "whole front")
CONFIDENCE = (2.3, 40.0)
"""The values of log(1/delta) that are recorded; the first is delta = 0.1."""

INSTANCES = {
    "three optimal arms": np.array(
        [[0.80, 0.30], [0.62, 0.62], [0.30, 0.80], [0.50, 0.52], [0.70, 0.15], [0.15, 0.65]]
    ),
    "synthetic, 0.12 and 1": instances.synthetic(0.12, 1).means[:6],
    "many objectives": np.array([[0.7] * 6, [0.5] * 6, [0.6] * 3 + [0.75] * 3, [0.4] * 6]),
    "no lead": np.array([[0.8, 0.5], [0.8, 0.3], [0.3, 0.8], [0.2, 0.8], [0.3, 0.3]]),
}


# ---- evidence of a state: counts (R, K) and means (R, K, d) --------------------------------


def kl_array(p: FloatArray, q: FloatArray) -> FloatArray:
    """The Bernoulli divergence."""
    return np.asarray(rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q))


def likelihood_ratios(counts: FloatArray, mu: FloatArray) -> FloatArray:
    """Likelihood ratios that a is above b on j, less log(n + 1) + log(m + 1): (R, a, b, j)."""
    n, m = counts[:, :, None, None], counts[:, None, :, None]
    p, q = mu[:, :, None, :], mu[:, None, :, :]
    x = (n * p + m * q) / (n + m)
    found = n * kl_array(p, x) + m * kl_array(q, x) - np.log(n + 1.0) - np.log(m + 1.0)
    return np.where(p > q, np.maximum(found, 0.0), 0.0)


def named_by_ratio(ratio: FloatArray, log_risk: float) -> IntArray:
    """The arm that the likelihood ratios name in every run, or -1.

    Arm a is named when, for every b, the ratios add up to more than
    log((K - 1) / delta) + d log 2 over the objectives.
    """
    K, d = ratio.shape[1], ratio.shape[3]
    least = _least_over_rivals(ratio.sum(axis=3))
    level = log_risk + np.log(K - 1) + d * np.log(2)
    return np.asarray(np.where(least.max(axis=1) > level, least.argmax(axis=1), -1))


def _least_over_rivals(values: FloatArray) -> FloatArray:
    """The least entry [a, b] over b != a, (R, a)."""
    K = values.shape[1]
    return np.asarray(np.where(np.eye(K, dtype=np.bool_), np.inf, values).min(axis=2))


def named_by_intervals(
    counts: FloatArray, mu: FloatArray, log_risk: float, kind: str, halvings: int = 14
) -> IntArray:
    """The arm whose interval on some objective is above all others, or -1.

    The intervals hold all n with N kl(mean, x) <= log(2 d (K - 1) / delta) + log(N + 1); those of
    Hoeffding have 2 (mean - x)^2 in place of kl.
    """
    _, K, d = mu.shape
    width = log_risk + np.log(2 * d * (K - 1)) + np.log(counts + 1.0)
    if kind == STOPPING[0]:
        radius = np.sqrt(width / (2 * counts))[..., None]
        low, high = mu - radius, mu + radius
    else:
        low = 1.0 - _upper(1.0 - mu, counts, width, halvings)
        high = _upper(mu, counts, width, halvings)
    apart = low[:, :, None, :] > high[:, None, :, :]
    apart |= np.eye(K, dtype=np.bool_)[None, :, :, None]
    wins = apart.all(axis=2).any(axis=2)
    return np.asarray(np.where(wins.any(axis=1), wins.argmax(axis=1), -1))


def _upper(mu: FloatArray, counts: FloatArray, width: FloatArray, halvings: int) -> FloatArray:
    inside, outside = mu.copy(), np.ones_like(mu)
    for _ in range(halvings):
        x = 0.5 * (inside + outside)
        within = counts[..., None] * kl_array(mu, x) <= width[..., None]
        inside, outside = np.where(within, x, inside), np.where(within, outside, x)
    return outside


def front_known(ratio: FloatArray, log_risk: float) -> BoolArray:
    """Whether every arm is proved optimal, or proved to be below one other arm everywhere."""
    K, d = ratio.shape[1], ratio.shape[3]
    level = log_risk + np.log(2 * K * (K - 1)) + d * np.log(2)
    optimal = _least_over_rivals(ratio.sum(axis=3)) > level
    beaten = (ratio.min(axis=3) > level).any(axis=1)  # [a, b]: a above b everywhere
    return np.asarray((optimal | beaten).all(axis=1))


# ---- sampling ------------------------------------------------------------------------------


def race_arm(counts: FloatArray, mu: FloatArray, log_risk: float) -> IntArray:
    """Algorithm 1's sampling: the wider end of the widest race of the top two upper bounds."""
    rows, K, d = np.arange(len(mu)), mu.shape[1], mu.shape[2]
    level = log_risk + np.log(2 * d * (K - 1)) + np.log(counts + 1.0)
    radius = np.sqrt(level / (2 * counts))
    upper = mu + radius[..., None]
    order = np.argsort(-upper, axis=1, kind="stable")[:, :2]  # leader and challenger, (R, 2, d)
    ends = np.take_along_axis(radius[..., None], order, axis=1)
    j = ends.sum(axis=1).argmax(axis=1)
    return np.asarray(order[rows, ends[rows, :, j].argmax(axis=1), j])


def uniform_arm(counts: FloatArray, mu: FloatArray, log_risk: float) -> IntArray:
    """The arm with the fewest pulls."""
    return np.asarray(counts.argmin(axis=1))


class StickyTracking:
    """Follow the best weights of a target, which is kept until another one is clearly cheaper.

    The weights are computed again when the number of pulls has grown by half.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.due = np.zeros(0)
        self.target = np.zeros(0, dtype=np.int64)
        self.weights = np.zeros((0, 0))

    def __call__(self, counts: FloatArray, mu: FloatArray, log_risk: float) -> IntArray:
        """The arm that is furthest behind its weight; at first the one with the fewest pulls."""
        total = counts.sum(axis=1)
        if len(self.due) != len(mu):
            self.due, self.target = np.zeros(len(mu)), np.full(len(mu), -1)
            self.weights = np.full(counts.shape, 1.0 / counts.shape[1])
        for r in np.flatnonzero(total >= self.due):
            n = counts[r].min()
            shrunk = (counts[r][:, None] * mu[r] + 0.5) / (counts[r][:, None] + 1.0)
            cost = naming_cost(shrunk)
            if np.isfinite(cost.value):
                z = int(self.target[r])
                if z < 0 or cost.per_arm[z] > (1 + n**-0.2) * cost.value:
                    z = cost.arm
                self.target[r] = z
                self.weights[r] = cost.weights if z == cost.arm else naming_weights(shrunk, z)
            self.due[r] = 1.5 * total[r]
        starved = counts.min(axis=1) < np.sqrt(total) - counts.shape[1] / 2
        behind = (total[:, None] * self.weights - counts).argmax(axis=1)
        return np.asarray(np.where(starved, counts.argmin(axis=1), behind))


def naming_weights(mu: FloatArray, arm: int) -> FloatArray:
    """The best weights for naming one given arm."""
    from momab.model.identification import _cost_of

    return _cost_of(mu, arm)[1]


Rule = Callable[[FloatArray, FloatArray, float], IntArray]


def sampling_rule(name: str) -> Rule:
    """A fresh sampling rule by its name."""
    rules: dict[str, Rule] = dict(zip(SAMPLING, (race_arm, uniform_arm, StickyTracking())))
    return rules[name]


# ---- runs ----------------------------------------------------------------------------------


def stopping_times(
    means: FloatArray,
    sampling: str,
    stopping: Sequence[str],
    log_risk: float,
    runs: int,
    seed: int,
    most: float = 2e5,
    growth: float = 0.02,
) -> tuple[FloatArray, BoolArray]:
    """When each stopping rule stops, and whether it is wrong: both (rules, runs).

    All rules watch the same path; one that has not stopped after ``most`` pulls has infinity.
    """
    K, d = means.shape
    rng, rule = np.random.default_rng(seed), sampling_rule(sampling)
    optimal = pareto.gaps(means) == 0
    counts, sums = np.ones((runs, K)), (rng.random((runs, K, d)) < means).astype(np.float64)
    times, wrong = np.full((len(stopping), runs), np.inf), np.zeros((len(stopping), runs), np.bool_)
    rows, due = np.arange(runs), 0.0
    while np.isinf(times).any() and counts.sum(axis=1).min() < most:
        mu, total = sums / counts[..., None], counts.sum(axis=1)
        look = total.min() >= due
        if look:
            due, ratio = (1.0 + growth) * total.min(), likelihood_ratios(counts, mu)
        for k, name in enumerate(stopping):
            waiting = np.isinf(times[k])
            if not (look and waiting.any()):
                continue
            if name == STOPPING[3]:
                done, error = front_known(ratio, log_risk), np.zeros(runs, dtype=np.bool_)
            else:
                if name == STOPPING[2]:
                    arm = named_by_ratio(ratio, log_risk)
                else:
                    arm = named_by_intervals(counts, mu, log_risk, name)
                done, error = arm >= 0, ~optimal[arm]
            now = waiting & done
            times[k, now], wrong[k, now] = total[now], error[now]
        arm = rule(counts, mu, log_risk)
        block = np.maximum(1, (growth * counts[rows, arm]).astype(np.int64))
        counts[rows, arm] += block
        sums[rows, arm] += rng.binomial(block[:, None], means[arm])
    return times, wrong


def study_lines(
    runs: int, seed: int, confidence: Sequence[float] = CONFIDENCE, most: float = 2e5
) -> pd.DataFrame:
    """Mean stopping times over T* log(1/delta) and errors, one line per instance and pair of rules.

    Where some run has not stopped, the mean is missing.
    """
    import pandas as pd

    lines = []
    for name, means in INSTANCES.items():
        cost = naming_cost(means).value
        lead = bool(pareto.g_dagger(means) > 0)
        for sampling in SAMPLING:
            rules = [
                stop
                for stop in STOPPING
                if (lead or stop not in STOPPING[:2])
                and (stop != STOPPING[3] or (lead and sampling == SAMPLING[1]))
            ]
            for risk in confidence:
                times, wrong = stopping_times(means, sampling, rules, risk, runs, seed, most)
                for stop, each, bad in zip(rules, times, wrong):
                    unit = cost * risk
                    found = mean_interval(each / unit) if np.isfinite(each).all() else (np.nan,) * 3
                    numbers = [round(float(x), 4) for x in found]
                    lines.append((name, sampling, stop, risk, runs, seed, *numbers, int(bad.sum())))
    names = ["instance", "sampling", "stopping", "log_risk", "runs", "seed"]
    return pd.DataFrame(lines, columns=[*names, "mean", "low", "high", "wrong"])


def recorded_times() -> pd.DataFrame:
    """The recorded results."""
    import pandas as pd

    return pd.read_csv(RESULTS)


def record_one_arm(runs: int = 24, seed: int = 1) -> None:
    """Compute the results again and write them to the package."""
    write_text(RESULTS, str(study_lines(runs, seed).to_csv(index=False)))


# ---- two answers at once -------------------------------------------------------------------


def mirrored_times(log_risk: float, runs: int, seed: int, block: int = 10) -> FloatArray:
    """Stopping times of the likelihood ratio with two mirrored arms, sampled in turn.

    The means are (0.7, 0.3) and (0.3, 0.7); both arms are right answers.
    """
    means = np.array([[0.7, 0.3], [0.3, 0.7]])
    rng = np.random.default_rng(seed)
    sums, times = np.zeros((runs, 2, 2)), np.full(runs, np.inf)
    pulls = 0.0
    while np.isinf(times).any():
        pulls += block
        sums += rng.binomial(block, means, (runs, 2, 2))
        ratio = likelihood_ratios(np.full((runs, 2), pulls), sums / pulls)
        now = np.isinf(times) & (named_by_ratio(ratio, log_risk) >= 0)
        times[now] = 2 * pulls
    return times


if __name__ == "__main__":
    record_one_arm()
