"""When committing is fair: the fairest policy of each group, and the geometry of its instances.

From the recorded runs of Table 1 and the arms of the frozen subsets; with the rule of an exercise
that chooses among certified arms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from momab._util.validate import FloatArray
from momab.study.groups import GROUP, by_group, lay_out, one_group
from momab.study.tables import plus_minus

if TYPE_CHECKING:
    import pandas as pd


def fairness_ranks(runs: pd.DataFrame) -> pd.DataFrame:
    """Per group, the fairest policy and Width-guided's place among the four.

    ``clear`` is true when the fairest is ahead of the second by two standard errors.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(runs):
        grouped = part.groupby("policy")["fairness_regret"]
        mean, error = grouped.mean(), grouped.sem()
        best, second = (str(name) for name in mean.sort_values().index[:2])
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "best": best,
                "second": second,
                "clear": mean[second] - mean[best] > 2 * math.hypot(error[best], error[second]),
                "best_mean": mean[best],
                "best_se": error[best],
                "guided": mean["Width-guided"],
                "guided_se": error["Width-guided"],
                "rank": int((mean < mean["Width-guided"]).sum()) + 1,
            }
        )
    return pd.DataFrame(rows)


def fairness_geometry(arms: pd.DataFrame, committed: pd.DataFrame) -> pd.DataFrame:
    """Per group, how many objectives the max-min arm wins and how often it gets certified.

    ``committed`` is :func:`momab.study.arm_tables.committed_arms`.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(arms):
        best = part[part["fairness_cost"] == 0].groupby("subset")["wins"].max()
        held = one_group(committed, dataset, kind)
        free = held.loc[held["fairness_cost"] == 0, "runs"].sum() / held["runs"].sum()
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "wins": float(best.mean()),
                "objectives": int(part.groupby("subset")["wins"].sum().min()),
                "free": float(free),
            }
        )
    return pd.DataFrame(rows)


def settle(lower: FloatArray, upper: FloatArray, first: int, proved: bool = True) -> int:
    r"""The arm to commit to, among certified arms with these confidence bounds.

    ``lower`` and ``upper`` have shape (arms, objectives).  With ``proved`` the first certified arm
    is left only for one with :math:`\min_jL^{(j)}\ge\min_jU_{first}^{(j)}`, which is at least as
    fair while the intervals hold; without, for the largest :math:`\min_jL^{(j)}`.
    """
    worst = lower.min(axis=1)
    best = int(worst.argmax())
    if proved and worst[best] < upper[first].min():
        return first
    return best


def settle_trials(seed: int, trials: int, arms: int = 4, objectives: int = 3) -> pd.DataFrame:
    """How both rules of :func:`settle` do on random means within random intervals.

    Per trial: does the arm have a smaller worst mean than the first one (``less``) or a larger
    one (``more``), for the simple rule and, with the ending ``_proved``, for the other.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(trials):
        means = rng.random((arms, objectives))
        radii = rng.uniform(0.02, 0.4, (arms, 1))
        estimates = means + radii * rng.uniform(-1, 1, means.shape)
        worst = means.min(axis=1)
        row = {}
        for ending, proved in (("", False), ("_proved", True)):
            end = settle(estimates - radii, estimates + radii, 0, proved)
            row[f"less{ending}"] = worst[end] < worst[0]
            row[f"more{ending}"] = worst[end] > worst[0]
        rows.append(row)
    return pd.DataFrame(rows)


def rank_table(ranks: pd.DataFrame, shape: pd.DataFrame) -> pd.DataFrame:
    """:func:`fairness_ranks` and :func:`fairness_geometry` to read, side by side."""
    return lay_out(
        ranks.merge(shape, on=GROUP),
        {
            "Group": "group",
            "Fairest policy": lambda line: (
                line["best"] + ("" if line["clear"] else " (not clearly)")
            ),
            "its fairness regret": lambda line: plus_minus(line["best_mean"], line["best_se"]),
            "Width-guided": lambda line: plus_minus(line["guided"], line["guided_se"]),
            "rank of four": "rank",
            "Max-min arms win": "{wins:.1f} of {objectives}",
            "Commitments at cost 0": "{free:.0%}",
        },
    )
