"""What 60 runs cannot see: rare wrong commitments, and what they do to means and comparisons.

From many recorded runs per subset and coefficient: pooled risks, the chance that sixty runs miss
them, the coefficient with the least mean, and which of the paper's quotients survive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab import study
from momab._util.validate import FloatArray
from momab.chapters.figures.groups import frame_groups, group_axes
from momab.chapters.figures.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    STYLE,
    policy_style,
)
from momab.model.statistics import normal_half_width
from momab.study.groups import by_group, group_name, lay_out, one_group
from momab.study.survival import at_paper, group_risk
from momab.study.tables import plus_minus

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def unseen(risk: pd.DataFrame, runs: int = study.RUNS) -> pd.DataFrame:
    """The chance that ``runs`` runs on each subset of a group show no wrong commitment.

    Also the chance at the lower and the upper end of the exact interval of each subset's rate.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(at_paper(risk)):
        row: dict[str, Any] = {"dataset": dataset, "subset_type": kind}
        for name, column in (
            ("none", "wrong_commit_rate"),
            ("none_high", "wrong_commit_low"),
            ("none_low", "wrong_commit_high"),
        ):
            row[name] = float(((1.0 - part[column]) ** runs).prod())
        rows.append(row)
    return pd.DataFrame(rows)


def live_data() -> dict[str, Any]:
    """What the page's explorable draws from: the recorded tails of every group.

    A group has its mean, the paper's, and per subset the regrets, how many runs have each, and how
    many of these lines are ``right``, not commitments to a dominated arm; those come first.
    """
    tails: Any = study.recorded_results("tails")
    means = at_paper(group_risk(study.recorded_results("risk")))["mean"]
    printed = paper_means()
    return {
        group_name(dataset, kind): {
            "key": [dataset, kind],
            "mean": mean,
            "paper": printed[dataset, kind],
            "subsets": [
                {
                    "regrets": lines["regret"].tolist(),
                    "runs": lines["runs"].tolist(),
                    "right": int((~lines["wrong"]).sum()),
                }
                for _, lines in group.groupby("subset")
            ],
        }
        for (dataset, kind, group), mean in zip(by_group(tails), means, strict=True)
    }


def never_below(survived: pd.DataFrame, runs: pd.DataFrame, policies: Iterable[str]) -> list[str]:
    """The groups in which some of these policies have a mean below Width-guided's.

    ``survived`` is :func:`survival`, whose means are those of many runs; ``runs`` are those of
    Table 1.
    """
    table: Any = study.table1(runs)
    lost = []
    for line in survived.to_dict("records"):
        rows = one_group(table, line["dataset"], line["subset_type"])
        rows = rows[rows["policy"].isin(list(policies))]
        if (rows["pareto_regret_mean"] < line["mean"]).any():
            lost.append(group_name(line["dataset"], line["subset_type"]))
    return lost


def paper_means() -> dict[tuple[str, str], float]:
    """Width-guided's mean regret in the paper's Table 1, per group."""
    table: Any = study.paper_table(1)
    guided = table[table["policy"] == "Width-guided"]
    return {(r.dataset, r.subset_type): r.pareto_regret_mean for r in guided.itertuples()}


def times(ratio: float) -> str:
    """A ratio as people write it, with two digits or more: 0.05×, 1.0×, 1.7×, 111×."""
    digits = 0 if ratio >= 9.95 else 1 if ratio >= 1 else 2
    text = f"{ratio:,.{digits}f}" if ratio >= 0.095 else f"{ratio:.2g}"
    return f"{text}×"


def unseen_table(missed: pd.DataFrame) -> pd.DataFrame:
    """:func:`unseen` to read."""
    return lay_out(
        missed,
        {
            "Group": "group",
            "Chance to see none in 60 runs": "{none:.1%}",
            "at the ends of the rates' 95 % intervals": "{none_low:.1%} to {none_high:.1%}",
        },
    )


def best_table(best: pd.DataFrame) -> pd.DataFrame:
    """:func:`best_coefficients` to read."""
    return lay_out(
        best,
        {
            "Group": "group",
            "Paper's c": "{paper_c:.3g}",
            "Mean there": lambda line: plus_minus(line["paper_mean"], line["paper_se"]),
            "Best c": "{c:.3g}",
            "Mean at best": lambda line: plus_minus(line["mean"], line["se"]),
            "Could be up to": "{ceiling:,.1f}",
            "Not told apart": lambda line: ", ".join(f"{c:.3g}" for c in line["not_worse"]),
        },
    )


def survival_table(
    survived: pd.DataFrame, equal: pd.DataFrame, tuned: pd.DataFrame
) -> pd.DataFrame:
    """:func:`survival` to read, at the paper's coefficients and (last column) at the best.

    ``equal`` is :func:`momab.study.standings.equal_runs`.
    """

    def interval(line: Mapping[str, Any]) -> str:
        low, high = times(line["ratio_low"]), times(line["ratio_high"])
        return f"{times(line['ratio'])} ({low} to {high})"

    return lay_out(
        survived,
        {
            "Group": "group",
            "Paper": lambda line: times(line["claimed"]),
            "Our 60 runs": lambda line: times(line["ratio_60"]),
            "Many runs (95 %)": interval,
            "Best rival": "rival",
            "Verdict": "verdict",
        },
    ).assign(
        **lay_out(equal, {"Equal runs (95 %)": interval}),
        **lay_out(tuned, {"At the best c": interval}),
    )


def mean_and_median(risk: pd.DataFrame, paper: Mapping[tuple[str, str], float]) -> Figure:
    """Median and mean regret of every subset at the paper's coefficient, on a log axis.

    ``risk`` holds lines of :func:`momab.study.run_risk`, one per subset; ``paper`` the mean that
    the paper prints for a group, drawn as a vertical line across its subsets.
    """
    from matplotlib.figure import Figure

    colour, marker = policy_style("Width-guided")
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 4.8), layout="constrained")
        axes = fig.subplots()
        labels, height = [], 0.0
        for i, (dataset, kind, part) in enumerate(by_group(risk)):
            y = height + np.arange(len(part))
            name = "the paper's mean of the group" if i == 0 else None
            line = [paper[dataset, kind]] * 2
            axes.plot(line, [y[0] - 0.4, y[-1] + 0.4], color=INK, lw=2, label=name)
            axes.hlines(y, part["median"], part["mean"], color=FAINT, lw=2, zorder=1)
            axes.plot(
                part["median"], y, marker, mfc="none", mec=colour, mew=1.6, label=_once(i, "median")
            )
            error = np.array([part["mean"] - part["mean_low"], part["mean_high"] - part["mean"]])
            axes.errorbar(
                part["mean"],
                y,
                xerr=np.maximum(error, 0),
                color=ORANGE,
                marker="s",
                ls="none",
                capsize=2,
                label=_once(i, "mean, 95 % interval"),
            )
            labels.append((float(y.mean()), group_name(dataset, kind)))
            height += len(part) + 0.8
        axes.set(xscale="log", xlabel="Pareto regret of Width-guided")
        axes.set_yticks([y for y, _ in labels], [name for _, name in labels])
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.invert_yaxis()
        fig.legend(loc="outside upper left", ncols=2)
    return fig


def _once(i: int, label: str) -> str | None:
    return label if i == 0 else None


def regret_against_c(pooled: pd.DataFrame, best: pd.DataFrame) -> Figure:
    """Expected and typical regret of every group against the confidence coefficient c.

    ``pooled`` is :func:`group_risk`, ``best`` is :func:`best_coefficients`.
    """
    with mpl.rc_context(STYLE):
        fig, panels = group_axes((4.6, 5.4))
        for group, axes in panels.items():
            [at] = one_group(best, *group)["paper_c"]
            axes.axvline(at, color=MUTED, lw=1, label="the paper's c")
            _u_shape(axes, one_group(pooled, *group))
        frame_groups(fig, panels, "coefficient $c$", "Pareto regret", 2)
    return fig


def _u_shape(axes: Axes, part: Any) -> None:
    """Mean with its interval, typical regret, and the least mean of one group."""
    colour, _ = policy_style("Width-guided")
    half = normal_half_width(part["se"])
    low = np.maximum(part["mean"] - half, part["typical"] * 0.5)
    axes.fill_between(part["c"], low, part["mean"] + half, color=ORANGE, alpha=0.25, lw=0)
    axes.plot(part["c"], part["mean"], color=ORANGE, marker="s", ms=3.5, label="mean, 95 % band")
    axes.plot(part["c"], part["typical"], color=colour, ls="--", label="median")
    best = part.loc[part["mean"].idxmin()]
    axes.plot(best["c"], best["mean"], marker="*", ms=12, color=INK, ls="none", label="least mean")
    axes.set(xscale="log", yscale="log")


def one_u_shape(frame: pd.DataFrame) -> Figure:
    """The same for one instance: columns c, mean, se, typical."""
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = fig.subplots()
        _u_shape(axes, frame)
        axes.set(xlabel="coefficient $c$", ylabel="Pareto regret")
        fig.legend(loc="outside upper left", ncols=2)
    return fig


def sixty_run_averages(averages: FloatArray, truth: float, median: float, size: int) -> Figure:
    """The distribution function of averages of a few runs, beside the mean of all runs."""
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 3.0), layout="constrained")
        axes = fig.subplots()
        axes.axvline(median, color=INK, ls="--", lw=1.4, label="median of all runs")
        axes.axvline(truth, color=ORANGE, lw=2, label="mean of all runs")
        axes.ecdf(averages, color=BLUE, label=f"averages of {size} runs")
        axes.set(xscale="log", ylim=(0, 1.02))
        axes.set(xlabel="average Pareto regret", ylabel="share of averages below")
        fig.legend(loc="outside upper left", ncols=2)
    return fig


def ratios(survived: pd.DataFrame, equal: pd.DataFrame) -> Figure:
    """The best rival's mean over Width-guided's, group by group: claimed, seen, and measured.

    ``survived`` is :func:`survival`, ``equal`` is :func:`momab.study.standings.equal_runs`.
    """
    from matplotlib.figure import Figure

    y = np.arange(len(survived))
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 3.8), layout="constrained")
        axes = fig.subplots()
        axes.axvline(1, color=INK, lw=1)
        axes.plot(survived["claimed"], y - 0.27, "D", mfc="none", mec=INK, label="the paper says")
        axes.plot(survived["ratio_60"], y - 0.09, "o", mfc="none", mec=BLUE, label="our 60 runs")
        for frame, shift, marker, colour, label in (
            (survived, 0.09, "s", ORANGE, "many runs, 95 %"),
            (equal, 0.27, "^", GREEN, "equally many, short, 95 %"),
        ):
            middle = frame["ratio"].to_numpy()
            ends = [middle - frame["ratio_low"], frame["ratio_high"] - middle]
            axes.errorbar(
                middle, y + shift, xerr=ends, fmt=marker, ms=5, color=colour, capsize=2, label=label
            )
        names = [group_name(d, k) for d, k in zip(survived["dataset"], survived["subset_type"])]
        axes.set_yticks(y, names)
        axes.set(xscale="log", ylim=(len(y) - 0.5, -0.5))
        axes.set_xlabel("best rival's regret / Width-guided's")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        fig.legend(loc="outside upper left", ncols=2)
    return fig
