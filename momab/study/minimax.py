"""The worst case over instances: MOSS on one objective and on the average of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from momab._util.validate import FloatArray
from momab.engine.loop import play_block
from momab.engine.policies.moss import MOSS
from momab.model.instances import bernoulli
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd

RULES = ("one objective", "the average")
"""What MOSS looks at."""

STEPS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Leads of the good arm that are tried, in units of sqrt(K / T) or sqrt(K / (d T))."""


def moss_regret(
    lead: float, K: int, d: int, rule: str, horizon: int, runs: int, seed: int
) -> FloatArray:
    """The regret of every run of MOSS: one arm has the means 1/2 + lead, the others 1/2."""
    means = np.full((K, d), 0.5)
    means[0] += lead
    policy = MOSS("average" if rule == RULES[1] else "first")
    pulls = play_block(bernoulli(means), policy, horizon, seed, 0, runs).pulls
    return np.asarray(lead * (horizon - pulls[:, 0]))


def worst_regret(K: int, d: int, rule: str, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Mean regret with its interval for every lead, one row each, of MOSS with one of the RULES."""
    import pandas as pd

    scale = d if rule == RULES[1] else 1
    leads = np.unique(np.minimum(np.array(STEPS) * np.sqrt(K / (scale * horizon)), 0.5))
    unit = np.sqrt(K * horizon / d)
    rows = []
    for lead in leads.tolist():
        regret = moss_regret(lead, K, d, rule, horizon, runs, seed)
        rows.append((K, d, rule, lead, *mean_interval(regret / unit)))
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
