"""The chapter *The synthetic family*: the paper's controlled experiment beside ours.

It computes what the bounds say about each setting and how often each kind of arm is pulled, makes
the page's tables, and draws the paper's Figures 1 and 2 and the trend along the crowd.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab import study
from momab.chapters.figures.style import GOLD, INK, MUTED, STYLE, policy_style
from momab.model import instances, theory
from momab.model.statistics import normal_half_width
from momab.study.design import RUNS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def synthetic_theory(horizon: int = study.HORIZON) -> pd.DataFrame:
    r"""Per setting of Table 2: what the bounds say.

    ``c_sharp`` is the sharper bound's exploration term on the theorem's scale
    :math:`K\log T/g^\dagger`, where the theorem's own coefficient is 64 and Pareto UCB1's is
    C_PUCB.
    """
    import pandas as pd

    rows = []
    for delta, m in instances.SYNTHETIC_SETTINGS:
        instance = instances.synthetic(delta, m)
        geometry = instance.geometry
        scale = geometry.K * math.log(horizon) / geometry.g_dagger
        sharper = theory.sharper_bound(instance.means, horizon)
        rows.append(
            {
                "delta": delta,
                "m": m,
                "sum_of_gaps": float(geometry.gaps.sum()),
                "theorem": theory.theorem_bound(instance.means, horizon).total,
                "sharper": sharper.total,
                "trivial": horizon * geometry.max_gap,
                "c_sharp": sharper.exploration / scale,
                "c_pucb": theory.c_pucb(instance.means, horizon),
            }
        )
    return pd.DataFrame(rows)


def pulls_by_kind(pulls: pd.DataFrame, policy: str = "Width-guided") -> pd.DataFrame:
    """Mean pulls of one front, crowd and filler arm, per synthetic setting, with standard errors.

    ``pulls`` is that of the results of :func:`momab.study.run_synthetic` or of its Width-guided
    half.
    """
    import pandas as pd

    rows = []
    for delta, m in instances.SYNTHETIC_SETTINGS:
        here = pulls[(pulls["instance"] == f"{delta:g}, {m}") & (pulls["policy"] == policy)]
        row: dict[str, Any] = {"delta": delta, "m": m}
        names = instances.synthetic(delta, m).arm_names
        kinds = np.array([name.split()[0] for name in names])
        for kind in ("crowd", "filler"):
            arms = np.flatnonzero(kinds == kind)
            per_run = here[here["arm"].isin(arms)].groupby("run")["pulls"].mean()
            row[kind] = per_run.mean()
            row[f"{kind}_se"] = per_run.sem()
        rows.append(row)
    return pd.DataFrame(rows)


def condition_table(
    bounds: pd.DataFrame, printed: pd.Series[float], ratio: pd.Series[float]
) -> pd.DataFrame:
    """Two sufficient conditions per setting, and the measured ratio of the regrets.

    ``bounds`` is :func:`synthetic_theory`; ``printed`` has the paper's values of C_PUCB.
    """
    theirs, ours = r"C_{\mathrm{PUCB}}", r"C_{\mathrm{sharp}}"
    columns: dict[str, Any] = {
        rf"${theirs}$, paper": printed,
        rf"${theirs}$, computed": bounds["c_pucb"],
        rf"$64<{theirs}$": np.where(bounds["c_pucb"] > 64, "yes", "no"),
        rf"${ours}$": bounds["c_sharp"],
        rf"${ours}<{theirs}$": np.where(bounds["c_sharp"] < bounds["c_pucb"], "yes", "no"),
        "regret, Pareto UCB1 / Width-guided": ratio,
    }
    return bounds[["delta", "m"]].assign(**columns).rename(columns={"delta": "δ"})


def fresh_table(
    bounds: pd.DataFrame, summary: pd.DataFrame, z: pd.Series[float], kinds: pd.DataFrame
) -> pd.DataFrame:
    """Fresh runs of Width-guided per setting: regret, sum of gaps, and pulls by kind of arm.

    ``bounds`` is :func:`synthetic_theory`, ``summary`` that of the runs, ``z`` their distance to
    the paper's means, ``kinds`` is :func:`pulls_by_kind`.
    """
    table = bounds[["delta", "m"]].assign(
        **{
            "sum of gaps": bounds["sum_of_gaps"],
            "regret": summary["mean"],
            "± se": summary["se"],
            "z to the paper": z,
            "regret / sum of gaps": summary["mean"] / bounds["sum_of_gaps"],
            "pulls of a crowd arm": kinds["crowd"],
            "pulls of a filler": kinds["filler"],
        }
    )
    return table.rename(columns={"delta": "δ"})


def short_table(table: pd.DataFrame) -> pd.DataFrame:
    """Both policies' mean regret per setting, from :func:`momab.study.table2` at any horizon."""
    means = table[["delta", "m", "pareto_ucb1_mean", "width_guided_mean"]].astype({"delta": str})
    return means.set_axis(["δ", "m", "Pareto UCB1", "Width-guided"], axis=1)


def prediction_table(sources: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Several predictions of the same quantities side by side, one row per setting.

    The frames have the columns delta, m, crowd, filler and regret.  A source's name heads its
    columns, the first one with the quantity; the others repeat, so spaces make them different.
    """
    frames = list(sources.values())
    table = frames[0][["delta", "m"]].astype({"delta": str})
    for spaces, quantity in enumerate(("crowd", "filler", "regret")):
        for place, (name, frame) in enumerate(sources.items()):
            label = name + " " * spaces if place else f"{quantity}: {name}"
            table[label] = frame[quantity]
    return table.rename(columns={"delta": "δ"})


COLUMNS = {"Width-guided": "width_guided", "Pareto UCB1": "pareto_ucb1"}
"""How the columns of Table 2 begin."""


def synthetic_comparison(table: pd.DataFrame, runs: int = RUNS) -> Figure:
    """Figure 1: regret of both policies against the Pareto gap delta and the crowd size m.

    ``table`` is :func:`momab.study.table2`; bars are 95 % intervals of the mean.
    """
    from matplotlib.figure import Figure

    panels = (
        ("delta", table[table["m"] == 1], r"gap $\delta$ of one crowd arm"),
        ("m", table[table["delta"] == 0.02], r"crowd size $m$, $\delta = 0.02$"),
    )
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 3.0), layout="constrained")
        axes = fig.subplots(1, 2, sharey=True)
        for axis, (key, rows, label) in zip(axes, panels):
            for name, column in COLUMNS.items():
                colour, marker = policy_style(name)
                half = normal_half_width(rows[f"{column}_std"], runs)
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
        axes[0].set_xticks([0.12, 0.08, 0.04, 0.01])
        axes[0].invert_xaxis()
        axes[1].set_xticks(panels[1][1]["m"].tolist())
        axes[0].set_ylabel("Pareto regret")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    return fig


def synthetic_trajectories(paths: pd.DataFrame) -> Figure:
    """Figure 2: regret and certified share along the runs of two settings.

    ``paths`` is :func:`momab.study.run_paths`; bands reach from the 5 % to the 95 % quantile.
    """
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 4.0), layout="constrained")
        axes = fig.subplots(
            2, paths["instance"].nunique(), sharex=True, sharey="row", height_ratios=(3, 1)
        )
        for (above, below), (instance, rows) in zip(
            axes.T, paths.groupby("instance", sort=False), strict=True
        ):
            for name, path in rows.groupby("policy", sort=False):
                colour, _ = policy_style(str(name))
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
        axes[0, 0].set_ylabel("Pareto regret")
        axes[1, 0].set_ylabel("certified")
        fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    return fig


def synthetic_trend(bounds: pd.DataFrame, measured: pd.DataFrame) -> Figure:
    """Bounds on Width-guided's regret and the regret itself, against the crowd size m.

    ``bounds`` is :func:`synthetic_theory`; ``measured`` has the columns delta, m, mean and se.
    Only the settings with delta = 0.02 are drawn.  The trivial bound is the horizon times the
    largest gap: no policy can lose more.
    """
    from matplotlib.figure import Figure

    bounds = bounds[bounds["delta"] == 0.02]
    measured = measured[measured["delta"] == 0.02]
    colour, marker = policy_style("Width-guided")
    lines = (
        ("trivial", GOLD, "-", r"$T\,\Delta_{\max}$, any policy"),
        ("theorem", MUTED, "--", "Theorem 4"),
        ("sharper", INK, "-.", "sharper bound"),
    )
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 3.4), layout="constrained")
        axes = fig.subplots()
        for column, tint, dashes, label in lines:
            axes.plot(bounds["m"], bounds[column], color=tint, ls=dashes, label=label)
        axes.errorbar(
            measured["m"],
            measured["mean"],
            normal_half_width(measured["se"]),
            color=colour,
            marker=marker,
            capsize=3,
            label="Width-guided",
        )
        axes.set(xlabel=r"crowd size $m$, at $\delta = 0.02$", ylabel="Pareto regret", yscale="log")
        axes.set_xticks(measured["m"].tolist())
        axes.set_ylim(100, 2.2 * float(bounds["trivial"].max()))
        fig.legend(loc="outside upper left", ncols=2)
    return fig
