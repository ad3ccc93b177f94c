"""The worst case over instances: MOSS on one objective and on the average of all.

The runs are plain NumPy, all of them at once: one row per run, one column per arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from momab._util.validate import FloatArray
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd

RULES = ("one objective", "the average")
"""What MOSS looks at."""

STEPS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Leads of the good arm that are tried, in units of sqrt(K / T) or sqrt(K / (d T))."""


def moss_pulls(
    lead: FloatArray, K: int, d: int, looks_at: int, horizon: int, seed: int
) -> FloatArray:
    """Pulls of the good arm, (runs,): its means are 1/2 + lead on all d objectives.

    All other means are 1/2, and every run has a lead of its own.  MOSS sees the average of
    ``looks_at`` independent objectives, whose variance proxy is 1 / (4 looks_at).
    """
    rng = np.random.default_rng([seed, K, d, looks_at])
    rows = np.arange(len(lead))
    means = np.full((len(lead), K), 0.5)
    means[:, 0] += lead
    counts = np.ones((len(lead), K))
    sums = rng.binomial(looks_at, means) / looks_at
    for _ in range(horizon - K):
        spread = np.log(np.maximum(horizon / (K * counts), 1.0))
        index = sums / counts + np.sqrt(spread / (looks_at * counts))
        arm = index.argmax(axis=1)
        counts[rows, arm] += 1
        sums[rows, arm] += rng.binomial(looks_at, means[rows, arm]) / looks_at
    return np.asarray(counts[:, 0])


def worst_regret(K: int, d: int, rule: str, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Mean regret with its interval for every lead, one row each, of MOSS with one of the RULES."""
    import pandas as pd

    looks_at = d if rule == RULES[1] else 1
    leads = np.minimum(np.array(STEPS) * np.sqrt(K / (looks_at * horizon)), 0.5)
    leads = np.unique(leads)
    pulls = moss_pulls(np.repeat(leads, runs), K, d, looks_at, horizon, seed)
    regret = (horizon - pulls).reshape(len(leads), runs) * leads[:, None]
    unit = np.sqrt(K * horizon / d)
    rows = [(K, d, rule, lead, *mean_interval(each / unit)) for lead, each in zip(leads, regret)]
    return pd.DataFrame(rows, columns=["K", "d", "rule", "lead", "mean", "low", "high"])


def ratio_table(
    arms: Sequence[int], objectives: Sequence[int], horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """The worst of the leads for every K, d and rule: the mean regret over sqrt(K T / d)."""
    import pandas as pd

    found = []
    for K in arms:
        for d in objectives:
            for rule in RULES[: 1 if d == 1 else 2]:
                frame = worst_regret(K, d, rule, horizon, runs, seed)
                found.append(frame.loc[[frame["mean"].idxmax()]])
    return pd.concat(found, ignore_index=True)


def searching_regret(K: int, runs: int, seed: int) -> FloatArray:
    """Regret until the only arm with a reward is found, by trying one arm after the other.

    The place of the good arm is drawn; it shows 1 on every objective, the others 0.
    """
    return np.random.default_rng([seed, K]).integers(0, K, runs).astype(np.float64)
