"""When committing is fair: the price of a commitment, predicted from geometry and measured.

From the recorded runs of Table 1 and the arms of the frozen subsets: what each commitment costs,
who is the fairest, how even sampling of the front would do, and how much chance has a say.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab import study
from momab._util.validate import FloatArray
from momab.chapters.figures.groups import frame_groups, group_axes
from momab.chapters.figures.style import MUTED, STYLE, policy_style
from momab.study.groups import GROUP, by_group, in_order, lay_out, one_group
from momab.study.tables import plus_minus

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def commitment_prices(runs: pd.DataFrame, arms: pd.DataFrame) -> pd.DataFrame:
    """Width-guided's fairness regret per run, beside T times the committed arm's cost.

    ``difference`` is measured minus ``predicted``; ``early`` is the number of pulls before the
    commitment.
    """
    keys = ["dataset", "subset_type", "subset"]
    guided: Any = runs[(runs["policy"] == "Width-guided") & runs["certified"]]
    guided = guided.assign(position=guided["cert_arm"].astype(int))
    frame: pd.DataFrame = guided.merge(
        arms[[*keys, "position", "fairness_cost"]], on=[*keys, "position"], validate="many_to_one"
    )
    horizon = study.recorded_provenance()["real"]["horizon"]
    predicted = horizon * frame["fairness_cost"]
    return frame.assign(
        predicted=predicted,
        difference=frame["fairness_regret"] - predicted,
        early=frame["cert_round"].astype(float),
    )


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


def even_front(runs: pd.DataFrame, arms: pd.DataFrame, policy: str = "Pareto UCB1") -> pd.DataFrame:
    """A policy's fairness regret beside that of an even spread over the true front, per group."""
    import pandas as pd

    horizon = study.recorded_provenance()["real"]["horizon"]
    rows = []
    for dataset, kind, part in by_group(runs[runs["policy"] == policy]):
        front = one_group(arms, dataset, kind)
        even = front[front["on_front"]].groupby("subset")["fairness_cost"].mean().mean() * horizon
        measured = float(part["fairness_regret"].mean())
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "even": even,
                "measured": measured,
                "ratio": measured / even if even > 0 else math.inf,
            }
        )
    return pd.DataFrame(rows)


def fairness_spread(runs: pd.DataFrame) -> pd.DataFrame:
    """How much of the spread of Width-guided's fairness regret the committed arm explains.

    Only subsets where runs committed to different arms.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(runs[runs["policy"] == "Width-guided"]):
        for subset, few in part[part["certified"]].groupby("subset"):
            if few["cert_arm"].nunique() < 2:
                continue
            total = float(few["fairness_regret"].var(ddof=0))
            within = few.groupby("cert_arm")["fairness_regret"].transform("mean")
            left = float(((few["fairness_regret"] - within) ** 2).mean())
            low, high = float(few["fairness_regret"].min()), float(few["fairness_regret"].max())
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "subset": subset,
                    "explained": 1.0 - left / total,
                    "low": low,
                    "high": high,
                    "ratio": high / max(low, 1.0),
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


def short_objective(name: str) -> str:
    """An objective's name; of KuaiRec's cohorts only what tells them apart."""
    return ", ".join(part.partition("=")[2] or part for part in name.split("|"))


def commitment_table(committed: pd.DataFrame) -> pd.DataFrame:
    """:func:`momab.study.arm_tables.committed_arms` to read."""
    return lay_out(
        in_order(committed),
        {
            "Subset": "{group} {subset}",
            "Committed to": "{arm}",
            "Share of runs": "{share:.0%}",
            "Objectives it wins": "wins",
            "Worst mean": "worst_mean",
            "on": lambda line: short_objective(line["worst_objective"]),
            "Cost per pull": "fairness_cost",
        },
    )


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


def commitments(arms: pd.DataFrame, committed: pd.DataFrame) -> Figure:
    """Fairness costs of all arms of the frozen subsets, and which arms were committed to.

    ``arms`` is :func:`momab.study.arm_tables.subset_arms`, ``committed``
    :func:`momab.study.arm_tables.committed_arms`.
    """
    colour, _ = policy_style("Width-guided")
    held = {group[:2]: group[2] for group in by_group(committed)}
    with mpl.rc_context(STYLE):
        fig, panels = group_axes((4.6, 4.4))
        for dataset, kind, part in by_group(arms):
            axes = panels[dataset, kind]
            axes.plot(
                part["fairness_cost"], part["subset"].astype(int), "|", ms=9, color=MUTED, mew=1.2
            )
            few = held.get((dataset, kind))
            if few is not None:
                y = few["subset"].astype(int)
                axes.scatter(
                    few["fairness_cost"],
                    y,
                    s=150 * few["share"],
                    color=colour,
                    alpha=0.75,
                    zorder=3,
                )
            axes.set(ylim=(3.6, 0.4), yticks=(1, 2, 3), xlim=(-0.03, 0.45))
            axes.grid(visible=False, axis="y")
        frame_groups(fig, panels, "fairness cost per pull", "subset", 1)
    return fig
