"""The steps of the price's lower bound in numbers, and the evidence of dependent objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import FloatArray, IntArray
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.model import instances, theory
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd


PAIRS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
"""What two coins can show, in the order of :func:`coin_law`."""


def raised_arm(means: ArrayLike, b: int, a: int, eta: float = 0.0) -> FloatArray:
    """The means after arm b alone is raised to max(mu_b, mu_a + eta) on every objective."""
    mu = np.array(means, dtype=np.float64)
    mu[b] = np.maximum(mu[b], mu[a] + eta)
    return mu


def final_log_ratios(pulls: IntArray, sums: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
    """The log-likelihood ratio of all samples of one arm, from its pulls (R,) and sums (R, d)."""
    hits = sums * np.log(p / q)
    misses = (pulls[:, None] - sums) * np.log((1 - p) / (1 - q))
    return np.asarray((hits + misses).sum(axis=1))


def reweighted_chances(
    means: FloatArray, other: FloatArray, b: int, policy: Policy, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """How likely arm b has few pulls when the other means are true: counted, and reweighted.

    ``counted`` plays the other instance.  ``reweighted`` plays the first and weighs every run
    by exp(-L), L the log-likelihood ratio of the samples of b.  One row per number of pulls n,
    the event being that b has at most n.
    """
    import pandas as pd

    here, there = (
        play_block(instances.bernoulli(mu), policy, horizon, key, 0, runs, final_sums=True)
        for mu, key in ((means, seed), (other, seed + 1))
    )
    ratio = final_log_ratios(here.pulls[:, b], here.sums[:, b], means[b], other[b])
    rows = []
    for n in np.unique(np.quantile(here.pulls[:, b], [0.1, 0.4, 0.7]).astype(int)):
        few = here.pulls[:, b] <= n
        sides = (there.pulls[:, b] <= n, few * np.exp(-ratio))
        pair = [mean_interval(np.asarray(side, dtype=np.float64)) for side in sides]
        rows.append((n, few.mean(), *pair[0], *pair[1]))
    names = ["counted", "counted_low", "counted_high"]
    names += ["reweighted", "reweighted_low", "reweighted_high"]
    return pd.DataFrame(rows, columns=["n", "here", *names])


def coin_law(p: float, rho: float) -> FloatArray:
    """The chances of 00, 01, 10, 11 for two coins with mean p and correlation rho."""
    both = p * p + rho * p * (1 - p)
    law = np.array([1 - 2 * p + both, p - both, p - both, both])
    return np.asarray(law.clip(0.0, 1.0))


def least_correlation(p: float) -> float:
    """The least correlation that two coins with mean p <= 1/2 can have, -p / (1 - p)."""
    return -p / (1 - p)


def by_correlation(p: float, m: float, rhos: FloatArray) -> FloatArray:
    """Evidence of a pull of two coins with mean p against means above m, any joint law."""
    target = np.full(2, m)
    return np.array([theory.kinf(PAIRS, target, coin_law(p, rho)) for rho in rhos], dtype=float)
