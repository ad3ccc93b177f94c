"""The recorded comparison with the price, read: who stands where, and every line in print.

The results have one line per instance, policy, horizon and number of runs, with the columns
dataset, group, instance, horizon, policy, runs, mean, low, high, median, q999, worst, errors,
error_low, error_high and ratio; ratio is the mean over C(mu) log T.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from momab.model.statistics import normal_half_width
from momab.study.groups import DATASET_NAMES, KIND_NAMES, PAPER_RATIOS
from momab.study.tables import plus_minus

if TYPE_CHECKING:
    import pandas as pd

SOURCES = {"synthetic": "Synthetic", **DATASET_NAMES}
"""Where the instances come from, as people say it."""


EQUAL = (100_000, 1_000)
"""Horizon and runs per instance at which the policies that explore little were all played."""


def equal_runs(frame: pd.DataFrame, horizon: int = EQUAL[0], runs: int = EQUAL[1]) -> pd.DataFrame:
    """Annealing-Pareto's mean regret over that of Width-guided with the paper's coefficients.

    One line per group of the real data.  Both policies have the same horizon and number of runs
    on each subset; subsets weigh alike.  ``ratio_low`` and ``ratio_high`` are the 95 % limits of
    the quotient on the log scale, ``verdict`` says who is better where they exclude 1.
    """
    import pandas as pd

    lines: Any = frame[(frame["horizon"] == horizon) & (frame["runs"] == runs)]
    rows = []
    for dataset, kind in PAPER_RATIOS:
        row: dict[str, Any] = {"dataset": dataset, "subset_type": kind, "runs": runs}
        here = lines[(lines["dataset"] == dataset) & (lines["group"] == kind)]
        for key, policy in (("guided", "Width-guided (paper's c)"), ("rival", "Annealing-Pareto")):
            part = here[here["policy"] == policy]
            row[key] = part["mean"].mean()
            row[f"{key}_se"] = math.sqrt((part["sd"] ** 2 / part["runs"]).sum()) / len(part)
        error = math.hypot(row["guided_se"] / row["guided"], row["rival_se"] / row["rival"])
        ratio, spread = row["rival"] / row["guided"], math.exp(normal_half_width(error))
        row |= {"ratio": ratio, "ratio_low": ratio / spread, "ratio_high": ratio * spread}
        rows.append({**row, "verdict": who_is_better(row["ratio_low"], row["ratio_high"])})
    return pd.DataFrame(rows)


def who_is_better(low: float, high: float) -> str:
    """What an interval of (the rival's mean) / (Width-guided's mean) says."""
    if low > 1:
        return "Width-guided is better"
    return "the rival is better" if high < 1 else "undecided"


def most_runs(frame: pd.DataFrame, horizon: int) -> pd.DataFrame:
    """The recorded lines at a horizon; where a policy was played twice, those with more runs."""
    lines = frame[frame["horizon"] == horizon].sort_values("runs", kind="stable", ascending=False)
    return lines.drop_duplicates(["dataset", "group", "instance", "policy"]).sort_index()


def standings(frame: pd.DataFrame, horizon: int) -> pd.DataFrame:
    """Every policy over all instances at a horizon, in the order of the file.

    ``best`` counts the instances on which its 95 % interval lies below those of all other policies,
    ``shared`` those on which its interval is not the lowest alone, but meets the lowest one;
    ``median``, ``least`` and ``most`` are of its ratio to the price, ``tail`` is the largest
    quotient of a worst run and the price.
    """
    import pandas as pd

    lines = most_runs(frame, horizon)
    place = ["dataset", "group", "instance"]
    best: dict[str, int] = {}
    shared: dict[str, int] = {}
    for _, part in lines.groupby(place, sort=False):
        lowest = part["high"].min()
        leaders = part["policy"][part["low"] <= lowest]
        count = best if len(leaders) == 1 else shared
        for name in leaders:
            count[name] = count.get(name, 0) + 1
    tail = lines["worst"] / lines["mean"] * lines["ratio"]
    rows = [
        {
            "policy": name,
            "instances": len(part),
            "runs": int(part["runs"].max()),
            "best": best.get(str(name), 0),
            "shared": shared.get(str(name), 0),
            "median": part["ratio"].median(),
            "least": part["ratio"].min(),
            "most": part["ratio"].max(),
            "tail": tail[part.index].max(),
        }
        for name, part in lines.groupby("policy", sort=False)
    ]
    return pd.DataFrame(rows)


def printed_standings(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`standings` as the page prints it."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Policy": table["policy"],
            "Runs": table["runs"].map("{:,}".format),
            "Lowest alone": table["best"],
            "Among the lowest": table["shared"],
            "Median ratio": table["median"].map("{:,.2f}".format),
            "Least to most": [
                f"{low:,.2f}–{high:,.2f}" for low, high in zip(table["least"], table["most"])
            ],
            "Worst run": table["tail"].map("{:,.1f}".format),
        }
    )


def printed_wider(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`momab.study.extended_table` as the page prints it."""
    import pandas as pd

    groups = [
        f"{SOURCES[dataset]} {KIND_NAMES.get(group, group)}"
        for dataset, group in zip(table["dataset"], table["group"])
    ]
    return pd.DataFrame(
        {
            "Group": groups,
            "Policy": table["policy"],
            "Runs": table["runs"],
            "Regret": [plus_minus(*pair) for pair in zip(table["regret"], table["regret_sd"])],
            "Detection": table["detection"].map("{:.1%}".format),
            "Fairness": [
                plus_minus(*pair) for pair in zip(table["fairness"], table["fairness_sd"])
            ],
        }
    )
