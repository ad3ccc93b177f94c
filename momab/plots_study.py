"""The figures of the computational study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab.checks import FloatArray
from momab.findings import DATASET_NAMES, KIND_NAMES, by_group, group_name
from momab.plots import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, POLICY_STYLE, STYLE
from momab.study import DATASETS, RUNS
from momab.subsets import KINDS, NEAR, TINY

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from momab.instances import Instance

COLUMNS = {"Width-guided": "width_guided", "Pareto UCB1": "pareto_ucb1"}


def synthetic_comparison(table: pd.DataFrame, runs: int = RUNS) -> Figure:
    """Figure 1: regret of both policies against the Pareto gap delta and the crowd size m.

    ``table`` is :func:`momab.study.table2`; bars are 95 % intervals of the mean.
    """
    from matplotlib.figure import Figure

    panels = (
        ("delta", table[table["m"] == 1], r"Pareto gap $\delta$ of one crowd arm"),
        ("m", table[table["delta"] == 0.02], r"crowd size $m$, at $\delta = 0.02$"),
    )
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(5.4, 3.2), layout="constrained")
        axes = fig.subplots(1, 2, sharey=True)
        for axis, (key, rows, label) in zip(axes, panels):
            for name, column in COLUMNS.items():
                colour, marker = POLICY_STYLE[name]
                half = 1.96 * rows[f"{column}_std"] / np.sqrt(runs)
                axis.errorbar(
                    rows[key],
                    rows[f"{column}_mean"],
                    half,
                    color=colour,
                    marker=marker,
                    capsize=3,
                    label=name,
                )
            axis.set(xlabel=label, yscale="log")
        axes[0].invert_xaxis()
        axes[0].set_ylabel("Pareto regret")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    return fig


def synthetic_trajectories(paths: pd.DataFrame) -> Figure:
    """Figure 2: regret and certified share along the runs of two settings.

    ``paths`` is :func:`momab.study.paths`; bands reach from the 5 % to the 95 % quantile.
    """
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(5.4, 4.2), layout="constrained")
        axes = fig.subplots(
            2, paths["instance"].nunique(), sharex=True, sharey="row", height_ratios=(3, 1)
        )
        for (above, below), (instance, rows) in zip(
            axes.T, paths.groupby("instance", sort=False), strict=True
        ):
            for name, path in rows.groupby("policy", sort=False):
                colour, _ = POLICY_STYLE[str(name)]
                above.fill_between(
                    path["t"], path["q05"], path["q95"], color=colour, alpha=0.2, lw=0
                )
                above.plot(path["t"], path["mean"], color=colour, label=str(name))
                if path["certified"].any():
                    below.plot(path["t"], path["certified"], color=colour)
            delta, m = str(instance).split(", ")
            above.set_title(rf"$\delta = {delta}$, $m = {m}$")
            above.set(xscale="log", yscale="log")
            below.set(xlabel="round", ylim=(-0.05, 1.05))
            below.axhline(1, color=MUTED, lw=0.6, ls=":")
        axes[0, 0].set_ylabel("Pareto regret")
        axes[1, 0].set_ylabel("certified")
        axes[0, 0].legend(loc="upper left")
    return fig


def synthetic_trend(bounds: pd.DataFrame, measured: pd.DataFrame) -> Figure:
    """Two bounds on Width-guided's regret and the regret itself, against the crowd size m.

    ``bounds`` is :func:`momab.findings.synthetic_theory`; ``measured`` has the columns delta, m,
    mean and se.  Only the settings with delta = 0.02 are drawn.
    """
    from matplotlib.figure import Figure

    bounds = bounds[bounds["delta"] == 0.02]
    measured = measured[measured["delta"] == 0.02]
    colour, marker = POLICY_STYLE["Width-guided"]
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(5.0, 3.4), layout="constrained")
        axes = fig.subplots()
        axes.plot(
            bounds["m"], bounds["theorem"], color=MUTED, ls="--", label="Theorem 4: flat in $m$"
        )
        axes.plot(bounds["m"], bounds["sharper"], color=INK, ls="-.", label="sharper bound: falls")
        axes.errorbar(
            measured["m"],
            measured["mean"],
            1.96 * measured["se"],
            color=colour,
            marker=marker,
            capsize=3,
            label="Width-guided, measured",
        )
        axes.set(xlabel=r"crowd size $m$, at $\delta = 0.02$", ylabel="Pareto regret", yscale="log")
        axes.set_ylim(100, 2.2 * float(bounds["theorem"].max()))
        fig.legend(loc="outside upper left", ncols=2)
    return fig


def _group_axes(size: tuple[float, float]) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """Six panels: a row per data set, a column per group of subsets."""
    from matplotlib.figure import Figure

    fig = Figure(figsize=size, layout="constrained")
    grid = fig.subplots(2, 3, sharex=True, sharey="row")
    panels = {}
    for row, dataset in zip(grid, DATASETS):
        for axes, kind in zip(row, KINDS):
            axes.set_title(group_name(dataset, kind), fontsize=9)
            panels[dataset, kind] = axes
    return fig, panels


def mean_and_median(risk: pd.DataFrame, paper: Mapping[tuple[str, str], float]) -> Figure:
    """Median and mean regret of every subset at the paper's coefficient, on a log axis.

    ``risk`` holds lines of :func:`momab.study.risk`, one per subset; ``paper`` the mean that the
    paper prints for a group, drawn as a vertical line across its subsets.
    """
    from matplotlib.figure import Figure

    colour, marker = POLICY_STYLE["Width-guided"]
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(5.4, 4.6), layout="constrained")
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


def _frame_groups(
    fig: Figure, panels: dict[tuple[str, str], Axes], x: str, y: str, columns: int
) -> None:
    """Label the outer panels of :func:`_group_axes` and put one legend above them all."""
    for axes in list(panels.values())[3:]:
        axes.set_xlabel(x)
    for dataset in DATASETS:
        panels[dataset, KINDS[0]].set_ylabel(y)
    handles, names = panels["spotify", KINDS[0]].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside upper left", ncols=columns)


def _once(i: int, label: str) -> str | None:
    return label if i == 0 else None


def regret_against_c(pooled: pd.DataFrame, paper: Mapping[tuple[str, str], float]) -> Figure:
    """Expected and typical regret of every group against the confidence coefficient c.

    ``pooled`` is :func:`momab.findings.group_risk`, ``paper`` gives the paper's c of a group.
    """
    with mpl.rc_context(STYLE):
        fig, panels = _group_axes((5.6, 4.4))
        for group, axes in panels.items():
            [(_, _, part)] = [p for p in by_group(pooled) if p[:2] == group]
            _u_shape(axes, part)
            axes.axvline(paper[group], color=MUTED, lw=1, ls=":", label="the paper's c")
        for axes in list(panels.values())[3:]:
            axes.set_xlabel("coefficient $c$")
        for group in (("spotify", KINDS[0]), ("kuairec", KINDS[0])):
            panels[group].set_ylabel("Pareto regret")
        handles, names = panels["spotify", KINDS[0]].get_legend_handles_labels()
        fig.legend(handles, names, loc="outside upper left", ncols=2)
    return fig


def _u_shape(axes: Axes, part: Any) -> None:
    """Mean with its interval, typical regret, and the least mean of one group."""
    colour, _ = POLICY_STYLE["Width-guided"]
    low = np.maximum(part["mean"] - 1.96 * part["se"], part["typical"] * 0.5)
    axes.fill_between(
        part["c"], low, part["mean"] + 1.96 * part["se"], color=ORANGE, alpha=0.25, lw=0
    )
    axes.plot(part["c"], part["mean"], color=ORANGE, marker="s", ms=3.5, label="mean, 95 % band")
    axes.plot(part["c"], part["typical"], color=colour, ls="--", label="median")
    best = part.loc[part["mean"].idxmin()]
    axes.plot(best["c"], best["mean"], marker="*", ms=12, color=INK, ls="none", label="least mean")
    axes.set(xscale="log", yscale="log")


def one_u_shape(frame: pd.DataFrame) -> Figure:
    """The same for one instance: columns c, mean, se, typical."""
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(5.0, 3.3), layout="constrained")
        axes = fig.subplots()
        _u_shape(axes, frame)
        axes.set(xlabel="coefficient $c$", ylabel="Pareto regret")
        fig.legend(loc="outside upper left", ncols=3)
    return fig


def regret_and_risk(pooled: pd.DataFrame) -> Figure:
    """Typical regret against the rate of wrong commitments, one curve per group.

    The first coefficient at which no wrong commitment was seen is drawn, open, at the upper end
    of the rate's exact 95 % interval.
    """
    from matplotlib.figure import Figure

    colours = dict(zip(KINDS, (ORANGE, GREEN, BLUE)))
    markers = dict(zip(KINDS, ("s", "^", "o")))
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(5.6, 3.4), layout="constrained")
        panels = fig.subplots(1, 2, sharey=True, sharex=True)
        for axes, dataset in zip(panels, DATASETS):
            for _, kind, part in (p for p in by_group(pooled) if p[0] == dataset):
                seen = part[part["wrong_rate"] > 0]
                x, y = seen["wrong_rate"], seen["typical"]
                style = {"color": colours[kind], "marker": markers[kind], "ms": 5}
                axes.errorbar(
                    x,
                    y,
                    xerr=[x - seen["wrong_low"], seen["wrong_high"] - x],
                    lw=0.9,
                    elinewidth=0.9,
                    label=KIND_NAMES[kind],
                    **style,
                )
                for unseen in part[part["wrong_rate"] == 0].head(1).to_dict("records"):
                    at = unseen["wrong_high"], unseen["typical"]
                    axes.annotate(
                        "",
                        xy=(at[0] / 6, at[1]),
                        xytext=at,
                        arrowprops={"arrowstyle": "->", "color": colours[kind], "shrinkA": 0},
                    )
                    axes.plot(*at, mfc="none", ls="none", **style)
            axes.set_title(DATASET_NAMES[dataset])
            axes.set(xscale="log", yscale="log", xlabel="wrong commitments (share of runs)")
        panels[0].set_ylabel("median Pareto regret")
        fig.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return fig


def sixty_run_averages(averages: FloatArray, truth: float, median: float, size: int) -> Figure:
    """How the average of a few runs is distributed, beside the mean of all runs."""
    from matplotlib.figure import Figure

    low = max(float(averages.min()) * 0.8, 1e-3)
    edges = np.geomspace(low, max(float(averages.max()) * 1.2, truth * 1.2), 45)
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(5.0, 3.0), layout="constrained")
        axes = fig.subplots()
        share = np.full(len(averages), 1 / len(averages))
        axes.hist(
            averages, edges.tolist(), weights=share, color=BLUE, label=f"averages of {size} runs"
        )
        axes.axvline(truth, color=ORANGE, lw=2, label="mean of all runs")
        axes.axvline(median, color=INK, ls="--", lw=1.4, label="median of all runs")
        axes.set(xscale="log", xlabel="average Pareto regret", ylabel="share of samples")
        fig.legend(loc="outside upper left", ncols=3)
    return fig


def geometry_groups(arms: pd.DataFrame) -> Figure:
    """Pareto gaps of all arms of the frozen subsets, one panel per group, one row per subset.

    ``arms`` is :func:`momab.describe.subset_arms`.
    """
    with mpl.rc_context(STYLE):
        fig, panels = _group_axes((5.8, 3.8))
        for dataset, kind, part in by_group(arms):
            axes = panels[dataset, kind]
            axes.axvspan(TINY, NEAR, color=FAINT, alpha=0.6, lw=0)
            y = part["subset"].astype(int) + 0.26 * ((part["position"] % 3) - 1)
            front = part["on_front"]
            axes.plot(part["gap"][front], y[front], "o", ms=4, color=BLUE, label="on the front")
            axes.plot(
                part["gap"][~front], y[~front], "s", ms=4, mfc="none", mec=ORANGE, label="dominated"
            )
            axes.set_xscale("symlog", linthresh=1e-3, linscale=0.4)
            axes.set(xlim=(-3e-4, 0.4), ylim=(3.6, 0.4), yticks=(1, 2, 3))
            axes.set_xticks([0, 1e-3, 1e-2, 1e-1], ["0", ".001", ".01", ".1"])
            axes.minorticks_off()
            axes.grid(visible=False, axis="y")
        _frame_groups(fig, panels, "Pareto gap", "subset", 2)
    return fig


def regret_dots(runs: pd.DataFrame) -> Figure:
    """Every single run of Table 1 on a log axis, one panel per group, one row per policy.

    The bar marks the mean.
    """
    with mpl.rc_context(STYLE):
        fig, panels = _group_axes((5.8, 4.2))
        for dataset, kind, part in by_group(runs):
            axes = panels[dataset, kind]
            for row, (name, (colour, _)) in enumerate(POLICY_STYLE.items()):
                regret = part.loc[part["policy"] == name, "pareto_regret"].clip(lower=1e-3)
                y = row + 0.3 * np.sin(np.arange(len(regret)) * 2.4)
                axes.plot(regret, y, ".", ms=3, color=colour, alpha=0.6)
                axes.plot([regret.mean()] * 2, [row - 0.42, row + 0.42], color=INK, lw=1.6)
            axes.set(xscale="log", ylim=(3.6, -0.6))
            axes.set_yticks(range(4), list(POLICY_STYLE))
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0, labelsize=8.5)
        for axes in list(panels.values())[3:]:
            axes.set_xlabel("Pareto regret")
    return fig


def tuning_curves(curves: pd.DataFrame) -> Figure:
    """Validation regret against c for the three policies that have one, a panel per group.

    ``curves`` is :func:`momab.findings.tuning_curves`; stars mark the chosen coefficients.
    """
    with mpl.rc_context(STYLE):
        fig, panels = _group_axes((5.8, 4.4))
        for dataset, kind, part in by_group(curves):
            axes = panels[dataset, kind]
            for name, (colour, marker) in POLICY_STYLE.items():
                line = part[part["policy"] == name]
                if line.empty:
                    continue
                mean, half = line["mean"], 1.96 * line["se"]
                low = np.maximum(mean - half, mean / 10)
                axes.fill_between(line["c"], low, mean + half, color=colour, alpha=0.2, lw=0)
                axes.plot(line["c"], mean, color=colour, marker=marker, ms=3.5, label=name)
                best = line[line["chosen"]]
                axes.plot(best["c"], best["mean"], "*", ms=11, color=INK)
            axes.set(xscale="log", yscale="log")
        _frame_groups(fig, panels, "coefficient $c$", "validation regret", 3)
    return fig


def before_and_after(effect: pd.DataFrame) -> Figure:
    """Mean regret before and after everybody was tuned, a panel per group.

    ``effect`` is :func:`momab.findings.tuning_effect`: open marks before, filled ones after.
    """
    with mpl.rc_context(STYLE):
        fig, panels = _group_axes((5.8, 4.2))
        for dataset, kind, part in by_group(effect):
            axes = panels[dataset, kind]
            for row, (name, (colour, marker)) in enumerate(POLICY_STYLE.items()):
                [line] = part[part["policy"] == name].to_dict("records")
                axes.plot([line["before"], line["after"]], [row, row], color=FAINT, lw=2, zorder=1)
                axes.plot(line["before"], row, marker, mfc="none", mec=colour, ms=6)
                half = min(1.96 * line["after_se"], 0.9 * line["after"]), 1.96 * line["after_se"]
                axes.errorbar(
                    line["after"],
                    row,
                    xerr=[[half[0]], [half[1]]],
                    color=colour,
                    marker=marker,
                    ms=6,
                    capsize=2,
                )
            axes.set(xscale="log", ylim=(3.6, -0.6))
            axes.set_yticks(range(4), list(POLICY_STYLE))
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0, labelsize=8.5)
        for axes in list(panels.values())[3:]:
            axes.set_xlabel("Pareto regret")
    return fig


def instance_geometry(instance: Instance, most: int = 24) -> Figure:
    """Pareto gaps of the arms and leads of the objectives of one instance, as dots on a line.

    Of more than ``most`` arms or objectives only those with the largest gaps or leads are drawn.
    """
    from matplotlib.figure import Figure

    geometry = instance.geometry
    front = np.isin(np.arange(instance.K), geometry.front)
    arms = np.argsort(-geometry.gaps, kind="stable")[:most]
    leads = np.argsort(-geometry.objective_gaps, kind="stable")[:most]
    rows = max(len(arms), len(leads), 4)
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(5.6, 1.2 + 0.2 * rows), layout="constrained")
        left, right = fig.subplots(1, 2)
        for row, a in enumerate(arms):
            colour, marker = (BLUE, "o") if front[a] else (ORANGE, "s")
            left.hlines(row, 0, geometry.gaps[a], color=FAINT, lw=2, zorder=1)
            left.plot(geometry.gaps[a], row, marker, ms=5, color=colour)
        left.set_yticks(range(len(arms)), [_clip(instance.arm_names[a]) for a in arms])
        left.set(xlabel="Pareto gap (blue: on the front)")
        right.hlines(range(len(leads)), 0, geometry.objective_gaps[leads], color=FAINT, lw=2)
        right.plot(geometry.objective_gaps[leads], range(len(leads)), "D", ms=5, color=GREEN)
        right.set_yticks(range(len(leads)), [_clip(instance.objective_names[j]) for j in leads])
        right.set(xlabel="lead of the best arm")
        for axes in (left, right):
            axes.invert_yaxis()
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0, labelsize=8.5)
            axes.set_xlim(left=-0.02 * max(float(axes.get_xlim()[1]), 1e-6))
    return fig


def _clip(name: str, most: int = 18) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def policy_paths(trajectories: pd.DataFrame) -> Figure:
    """Mean regret along the runs of several policies, with bands from 5 % to 95 %.

    ``trajectories`` is that of a simulation's results, for one instance.
    """
    from matplotlib.figure import Figure

    spare = iter((INK, MUTED, ORANGE, GREEN))
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(5.2, 3.6), layout="constrained")
        axes = fig.subplots()
        for name, part in trajectories.groupby("policy", sort=False):
            regret = part.groupby("t")["pareto_regret"]
            mean, low, high = regret.mean(), regret.quantile(0.05), regret.quantile(0.95)
            known = POLICY_STYLE.get(str(name))
            colour = known[0] if known else next(spare)
            axes.fill_between(mean.index, low, high, color=colour, alpha=0.15, lw=0)
            axes.plot(mean.index, mean, color=colour, ls="-" if known else "--", label=str(name))
        axes.set(xscale="log", yscale="log", xlabel="round", ylabel="Pareto regret")
        fig.legend(loc="outside upper left", ncols=2)
    return fig


def commitments(arms: pd.DataFrame, committed: pd.DataFrame) -> Figure:
    """Fairness costs of all arms of the frozen subsets, and which arms were committed to.

    ``arms`` is :func:`momab.describe.subset_arms`, ``committed``
    :func:`momab.describe.certified_arms`.
    """
    colour, _ = POLICY_STYLE["Width-guided"]
    held = {group[:2]: group[2] for group in by_group(committed)}
    with mpl.rc_context(STYLE):
        fig, panels = _group_axes((5.8, 3.8))
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
        for axes in list(panels.values())[3:]:
            axes.set_xlabel("fairness cost per pull")
        for dataset in DATASETS:
            panels[dataset, KINDS[0]].set_ylabel("subset")
    return fig
