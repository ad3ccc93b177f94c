"""The recorded comparison with the price, read: who stands where, and every line in print.

The results have one line per instance, policy, horizon and number of runs, with the columns
dataset, group, instance, horizon, policy, runs, mean, low, high, median, q999, worst, errors,
error_low, error_high and ratio; ratio is the mean over C(mu) log T.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from momab.study.groups import DATASET_NAMES, KIND_NAMES
from momab.study.tables import plus_minus

if TYPE_CHECKING:
    import pandas as pd

SOURCES = {"synthetic": "Synthetic", **DATASET_NAMES}
"""Where the instances come from, as people say it."""


def most_runs(frame: pd.DataFrame, horizon: int) -> pd.DataFrame:
    """The recorded lines at a horizon; where a policy was played twice, those with more runs."""
    lines = frame[frame["horizon"] == horizon].sort_values("runs", kind="stable", ascending=False)
    return lines.drop_duplicates(["dataset", "group", "instance", "policy"]).sort_index()


def standings(frame: pd.DataFrame, horizon: int) -> pd.DataFrame:
    """Every policy over all instances at a horizon, in the order of the file.

    ``best`` counts the instances on which its 95 % interval lies below everybody else's,
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


def printed_lines(frame: pd.DataFrame, horizon: int) -> pd.DataFrame:
    """All recorded lines at a horizon as the page prints them."""
    import pandas as pd

    lines = frame[frame["horizon"] == horizon]
    names = [
        " ".join(filter(None, (SOURCES[dataset], KIND_NAMES.get(kind))))
        for dataset, kind in zip(lines["dataset"], lines["group"])
    ]
    return pd.DataFrame(
        {
            "Instance": [f"{a} {b}" for a, b in zip(names, lines["instance"])],
            "Policy": lines["policy"],
            "Runs": lines["runs"],
            "Mean (95 %)": [
                f"{mean:,.2f} ({low:,.2f} to {high:,.2f})"
                for mean, low, high in zip(lines["mean"], lines["low"], lines["high"])
            ],
            **{
                heading: lines[name].map("{:,.2f}".format)
                for heading, name in {
                    "Median": "median",
                    "99.9 %": "q999",
                    "Worst": "worst",
                }.items()
            },
            "Errors (95 %)": [
                f"{rate:.2%} ({low:.2%} to {high:.2%})"
                for rate, low, high in zip(lines["errors"], lines["error_low"], lines["error_high"])
            ],
            "Ratio": lines["ratio"].map("{:,.2f}".format),
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
