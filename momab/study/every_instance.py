"""Pareto IMED and its sticky form on the scale of log T, far beyond any horizon one can play.

At T = exp(2560) no run can be played, but its suboptimal arms are pulled a few thousand times only.
The simulation takes the means of the optimal arms as known and their numbers of pulls as T; between
two pulls of suboptimal arms log T jumps to the least of their indices.

``python -m momab.study.every_instance`` records the results that the page shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from momab._util.files import write_text
from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.model import families, pareto, theory
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd

RULES = ("plain", "sticky")
LEVELS = (160.0, 640.0, 1280.0, 2560.0)
RESULTS = Path(__file__).parents[1] / "data" / "results" / "every_instance.csv"

THREE = np.array([[0.8, 0.3, 0.3], [0.3, 0.8, 0.3], [0.3, 0.3, 0.8]])

INSTANCES = {
    "two mirrored pairs": families.mirrored_pairs(0.2).means,
    "three rotated pairs": np.concatenate([THREE, THREE - 0.2]),
    "a unique cheapest arm": np.array([[0.8, 0.3], [0.6, 0.1], [0.3, 0.8]]),
}
"""Two instances on which several arms share the least price, and one on which one arm has it."""

HALVES = np.repeat([[0.5, 0.5], [0.6, 0.4], [0.4, 0.6]], 15, axis=1)
THIRTY = np.concatenate([HALVES, HALVES - [[0.12], [0.05], [0.05]]])
"""Thirty objectives, a unique cheapest arm, and two optimal arms that cost half as much again."""


def pairwise(mu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gaps (..., K) and evidence "sum" (..., K, K), [b, a], of a stack of empirical means."""
    ahead = (mu[..., :, None, :] - mu[..., None, :, :]).min(axis=-1)  # [c, a]: c above a by so much
    p, q = mu[..., :, None, :], mu[..., None, :, :]
    kl = rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q)
    evidence = np.where(p < q, kl, 0.0).sum(axis=-1)
    return np.maximum(ahead.max(axis=-2), 0.0), evidence


def estimated_prices(gaps: FloatArray, evidence: FloatArray, slack: ArrayLike = 0.0) -> FloatArray:
    """The sum over all b of gap_b / (D_b(a) + slack) for every a, (..., K)."""
    slack = np.asarray(slack)[..., None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(gaps[..., :, None] > 0, gaps[..., :, None] / (evidence + slack), 0.0)
    return np.asarray(each.sum(axis=-2))


def plain_candidate(gaps: FloatArray, evidence: FloatArray) -> IntArray:
    """The arm of empirical gap zero with the least price."""
    return np.asarray(np.where(gaps == 0, estimated_prices(gaps, evidence), np.inf).argmin(axis=-1))


def sticky_candidate(
    mu: FloatArray, gaps: FloatArray, evidence: FloatArray, least: FloatArray, target: IntArray
) -> tuple[IntArray, IntArray]:
    """Steps 1 and 2 of the sticky rule for every run: the target, and the candidate.

    ``least`` is the least number of pulls of any arm, (R,); ``target`` the target so far, or -1.
    """
    rows = np.arange(len(mu))
    slack, room = least**-0.25, least**-0.2
    cost = estimated_prices(gaps, evidence, slack)
    open_to = np.where(gaps == 0, cost, np.inf)
    limit = (1.0 + room) * open_to.min(axis=-1)
    keep = (target >= 0) & (cost[rows, target] <= limit)
    target = np.where(keep, target, open_to.argmin(axis=-1))
    ahead = (mu - mu[rows, target][:, None, :]).min(axis=-1)
    above = np.where(gaps[rows, target] == 0, target, ahead.argmax(axis=-1))
    return np.asarray(target), np.asarray(above)


def log_scale_regret(
    means: ArrayLike, rule: str, levels: Sequence[float], runs: int, seed: int
) -> FloatArray:
    """The regret of every run when log T reaches each of the levels, (runs, levels)."""
    truth = np.asarray(means, dtype=np.float64)
    gaps = pareto.gaps(truth)
    paid, rng = gaps > 0, np.random.default_rng(seed)
    rows = np.arange(runs)
    counts = np.where(paid, 1.0, np.inf) * np.ones((runs, 1))
    sums = np.where(paid[:, None], rng.random((runs, *truth.shape)) < truth, truth)
    clock, target = np.zeros(runs), np.full(runs, -1)
    regret = np.full((runs, len(levels)), np.nan)
    while rows.size:
        mu = np.where(paid[:, None], sums / np.where(paid, counts, 1.0)[..., None], truth)
        seen, evidence = pairwise(mu)
        if rule == RULES[1]:
            target, above = sticky_candidate(mu, seen, evidence, counts.min(axis=1), target)
        else:
            above = plain_candidate(seen, evidence)
        weighed = np.take_along_axis(evidence, above[:, None, None], axis=2)[..., 0]
        here = np.arange(len(rows))
        with np.errstate(invalid="ignore"):
            index = np.where(paid, counts * weighed + np.log(counts), np.inf)
        arm = index.argmin(axis=1)
        clock = np.maximum(clock, index[here, arm])
        spent = np.where(paid, counts, 0.0) @ gaps
        for k, level in enumerate(levels):
            passed = (clock >= level) & np.isnan(regret[rows, k])
            regret[rows[passed], k] = spent[passed]
        counts[here, arm] += 1
        sums[here, arm] += rng.random((len(rows), truth.shape[1])) < truth[arm]
        go: BoolArray = clock < max(levels)
        if not go.all():
            rows, counts, sums = rows[go], counts[go], sums[go]
            clock, target = clock[go], target[go]
    return regret


def ratio_lines(runs: int, seed: int, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
    """Mean regret over C(mu) log T with 95 % intervals: instance, rule, level, mean, low, high."""
    import pandas as pd

    lines = []
    for name, means in INSTANCES.items():
        cost = float(theory.price(means).value)
        for rule in RULES:
            found = log_scale_regret(means, rule, levels, runs, seed)
            for k, level in enumerate(levels):
                interval = mean_interval(found[:, k] / (cost * level))
                lines.append((name, rule, level, runs, seed, *(round(x, 6) for x in interval)))
    names = ["instance", "rule", "log_T", "runs", "seed", "mean", "low", "high"]
    return pd.DataFrame(lines, columns=names)


def recorded_log_scale() -> pd.DataFrame:
    """The recorded results."""
    import pandas as pd

    return pd.read_csv(RESULTS)


def record_log_scale(runs: int = 400, seed: int = 1) -> None:
    """Compute the results again and write them to the package."""
    write_text(RESULTS, str(ratio_lines(runs, seed).to_csv(index=False)))


if __name__ == "__main__":
    record_log_scale()
