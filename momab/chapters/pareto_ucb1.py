"""The chapter *Against Pareto UCB1*: bounds side by side, duels, and who wins where.

It puts the bounds of Theorem 4, of the sharper theorem and of Pareto UCB1 beside each other,
plays both policies on families of instances, and draws the phase diagram and one line through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray
from momab.chapters.figures.style import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    STYLE,
    legend_above,
    new_axes,
    plain_log,
    policy_style,
)
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.model import theory
from momab.model.instances import Instance, synthetic
from momab.model.metrics import weighted_pulls
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


COEFFICIENT = r"$C_{\mathrm{PUCB}}$"
"""The coefficient of the leading term of Pareto UCB1, as a heading."""

LIMITS = {
    "Theorem 4": theory.theorem_bound,
    "Sharper bound": theory.sharper_bound,
    "Pareto UCB1": theory.pareto_ucb1_bound,
}
"""The three bounds of the chapter, on the regret of Width-guided twice and of Pareto UCB1."""


def family_bounds(settings: Iterable[tuple[float, int]], horizon: int) -> pd.DataFrame:
    """The comparison on settings (δ, m) of the synthetic family: both coefficients, three bounds.

    ``Lead term`` is that of Pareto UCB1's bound.
    """
    import pandas as pd

    rows = []
    for delta, m in settings:
        means = synthetic(delta, m).means
        rows.append(
            {
                "δ": delta,
                "m": m,
                "C_PUCB": theory.c_pucb(means, horizon),
                "Envelope": theory.c_pucb_envelope(means, horizon),
                **{name: bound(means, horizon).total for name, bound in LIMITS.items()},
                "Lead term": theory.pareto_ucb1_bound(means, horizon).exploration,
            }
        )
    return pd.DataFrame(rows)


def printed_bounds(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`family_bounds` as the page prints it."""
    shown = table.drop(columns="Lead term").rename(columns={"C_PUCB": COEFFICIENT})
    shown["δ"] = shown["δ"].map("{:g}".format)
    for name in LIMITS:
        shown[name] = shown[name].map("{:,.0f}".format)
    return shown


def duels(
    problems: Mapping[Any, Instance],
    policies: Mapping[str, Policy],
    horizon: int,
    runs: int,
    seed: int,
) -> pd.DataFrame:
    """Play policies on named instances: one row per pair with mean, interval and median regret."""
    import pandas as pd

    rows = []
    for name, instance in problems.items():
        gaps = instance.geometry.gaps
        for label, policy in policies.items():
            block = play_block(instance, policy, horizon, seed, 0, runs)
            regret = weighted_pulls(block.pulls, gaps)
            mean, low, high = mean_interval(regret)
            rows.append(
                {
                    "problem": name,
                    "policy": label,
                    "mean": mean,
                    "low": low,
                    "high": high,
                    "median": float(np.median(regret)),
                    "worst": float(regret.max()),
                }
            )
    return pd.DataFrame(rows)


def verdicts(frame: pd.DataFrame, problems: Mapping[Any, Instance], horizon: int) -> pd.DataFrame:
    """Who wins each duel: one row per instance with winner, quotient of means and C_PUCB.

    ``frame`` is :func:`duels` of Width-guided and Pareto UCB1 on problems whose names are pairs of
    gap/g and number of dominated arms.  A policy wins where the 95 % intervals do not overlap.
    """
    import pandas as pd

    rows = []
    for (x, m), instance in problems.items():
        pair = frame[[name == (x, m) for name in frame["problem"]]].set_index("policy")
        ours, theirs = pair.loc["Width-guided"], pair.loc["Pareto UCB1"]
        winner = "undecided"
        if ours["high"] < theirs["low"]:
            winner = "Width-guided"
        elif theirs["high"] < ours["low"]:
            winner = "Pareto UCB1"
        c = theory.c_pucb(instance.means, horizon)
        rows.append((x, m / instance.K, winner, ours["mean"] / theirs["mean"], c))
    return pd.DataFrame(rows, columns=["x", "share", "winner", "ratio", "c"])


def bounds_along(problems: Mapping[float, Instance], horizon: int) -> pd.DataFrame:
    """The three bounds on instances named by their gap/g, and the trivial one, T gap_max.

    The columns are x, theorem, sharper, pucb and trivial.
    """
    import pandas as pd

    table = pd.DataFrame({"x": list(problems)})
    for column, bound in zip(["theorem", "sharper", "pucb"], LIMITS.values()):
        table[column] = [bound(problem.means, horizon).total for problem in problems.values()]
    table["trivial"] = [horizon * problem.geometry.max_gap for problem in problems.values()]
    return table


def vacuous(bounds: pd.DataFrame) -> dict[str, list[float]]:
    """Where each bound of :func:`bounds_along` is above the trivial one, as values of x."""
    names = ("theorem", "sharper", "pucb")
    return {name: bounds["x"][bounds[name] > bounds["trivial"]].tolist() for name in names}


def extremes_table(
    frame: pd.DataFrame, problems: Mapping[str, Instance], horizon: int
) -> pd.DataFrame:
    """Duels on some instances as the page prints them, with their C_PUCB."""
    import pandas as pd

    lines = []
    for name, instance in problems.items():
        pair = frame[frame["problem"] == name].set_index("policy")
        ours, theirs = pair.loc["Width-guided"], pair.loc["Pareto UCB1"]
        cells = [f"{x['mean']:,.0f} ({x['low']:,.0f} to {x['high']:,.0f})" for x in (ours, theirs)]
        c = theory.c_pucb(instance.means, horizon)
        lines.append((name, f"{c:.1f}", *cells, f"{theirs['mean'] / ours['mean']:.1f}"))
    return pd.DataFrame(
        lines, columns=["Setting", COEFFICIENT, "Width-guided", "Pareto UCB1", "Quotient"]
    )


def arm_charges(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the sharper bound and Pareto UCB1's charge for an arm with gap x g, per log T / g."""
    return 32 * x / np.maximum(x, 1) ** 2, 8 / x


def charged() -> Figure:
    """The charges of :func:`arm_charges` against gap over g, with their crossing."""
    x = np.geomspace(0.05, 4, 200)
    ours, theirs = arm_charges(x)
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.2, 3.2))
        axes.plot(x, ours, color=BLUE, label="Width-guided, sharper bound")
        axes.plot(x, theirs, color=ORANGE, ls="--", label="Pareto UCB1")
        axes.axvline(0.5, color=MUTED, lw=1)
        axes.annotate(
            "half the lead", (0.5, 1.7), xytext=(5, 0), textcoords="offset points", color=MUTED
        )
        axes.set(
            xscale="log", yscale="log", xlabel="Pareto gap of the arm / g†",
            ylabel="charge / (log T / g†)",
        )  # fmt: skip
        plain_log(axes, "x")
        plain_log(axes, "y")
        legend_above(axes, 2)
    return fig


def duel_table(frame: pd.DataFrame, places: Iterable[float]) -> pd.DataFrame:
    """The duels at some values of gap/g as the page prints them, with the quotient of means."""
    import pandas as pd

    lines = []
    for x in places:
        pair = frame[frame["problem"] == x].set_index("policy")
        ours, theirs = pair.loc["Width-guided"], pair.loc["Pareto UCB1"]
        cells = [f"{x:g}"]
        for one in (ours, theirs):
            cells.append(f"{one['mean']:,.0f} ({one['low']:,.0f} to {one['high']:,.0f})")
            cells.append(f"{one['median']:,.0f}")
        lines.append((*cells, ours["mean"] / theirs["mean"]))
    columns = ["Gap / g", "Width-guided, mean", "median", "Pareto UCB1, mean", "median "]
    return pd.DataFrame(lines, columns=[*columns, "Ratio of means"])


def stopped_table(
    means: pd.DataFrame, stopped: Mapping[str, tuple[float, float, float]]
) -> pd.DataFrame:
    """Mean regrets of both policies, and of Pareto UCB1 stopped at a certificate, as printed.

    ``means`` has a row per instance; ``stopped`` has mean, low and high of each.
    """
    import pandas as pd

    policies = ["Width-guided", "Pareto UCB1"]
    played = means.to_dict("index")
    lines = [
        (
            name,
            *(f"{played[name][policy]:,.0f}" for policy in policies),
            f"{centre:,.0f} ({low:,.0f} to {high:,.0f})",
        )
        for name, (centre, low, high) in stopped.items()
    ]
    return pd.DataFrame(lines, columns=["Instance", *policies, "Pareto UCB1, stopped (95 %)"])


def phase_diagram(points: pd.DataFrame, log_ratio: float) -> Figure:
    """Whose bound is smaller, over gap/g and the share of dominated arms; and who won.

    ``points`` has the columns x, share and winner ("Width-guided", "Pareto UCB1" or "undecided");
    ``log_ratio`` is log(T (d |A*|)^(1/4)) / log T.
    """
    half = 0.5 * np.sqrt(log_ratio)
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 4.4))
        left, right = 0.02, 3.0
        share = np.linspace(0, 1, 200)
        line = np.clip(share * log_ratio / 8, left, None)
        axes.fill_betweenx(share, left, line, color=BLUE, alpha=0.30, lw=0)
        axes.fill_betweenx(share, line, half, color=BLUE, alpha=0.12, lw=0)
        axes.fill_betweenx(share, half, right, color=ORANGE, alpha=0.15, lw=0)
        axes.plot(line, share, color=BLUE, lw=1.5)
        axes.axvline(half, color=INK, lw=1.5, ls="--")
        winners = [
            ("Width-guided", BLUE, "o", BLUE),
            ("Pareto UCB1", ORANGE, "s", ORANGE),
            ("undecided", INK, "D", "none"),
        ]
        for name, colour, marker, fill in winners:
            rows = points[points["winner"] == name]
            label = "no clear winner" if name == "undecided" else f"{name} measured better"
            if len(rows):
                axes.scatter(
                    rows["x"], rows["share"], s=64, marker=marker, fc=fill, ec=colour, label=label,
                    zorder=3,
                )  # fmt: skip
        texts = [
            (0.021, 0.93, "Theorem 4\nis smaller", "left"),
            (0.17, 0.07, "sharper bound\nis smaller", "center"),
            (1.22, 0.07, "Pareto UCB1's\nis smallest", "center"),
        ]
        for x, y, text, side in texts:
            axes.text(x, y, text, ha=side, va="center", color=INK, fontsize=10)
        axes.set(
            xscale="log", xlim=(left, right), ylim=(0, 1),
            xlabel="Pareto gap of the dominated arms / g†", ylabel="share of dominated arms",
        )  # fmt: skip
        plain_log(axes, "x")
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.grid(visible=False)
        legend_above(axes, 2)
    return fig


def both_sides(frame: pd.DataFrame, bounds: pd.DataFrame) -> Figure:
    """Measured regret of both policies against gap/g, with their bounds.

    ``frame`` has the columns x, policy, mean, low and high; ``bounds`` is that of
    :func:`bounds_along`.
    """
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 4.6))
        for name, rows in frame.groupby("policy", sort=False):
            colour, marker = policy_style(str(name))
            errors = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
            axes.errorbar(
                rows["x"], rows["mean"], errors, color=colour, marker=marker, ms=6, capsize=3,
                label=f"{name}, measured",
            )  # fmt: skip
        axes.plot(bounds["x"], bounds["trivial"], color=MUTED, lw=1.3, label="trivial, T times gap")
        axes.plot(bounds["x"], bounds["theorem"], color=BLUE, ls=":", label="Theorem 4")
        axes.plot(bounds["x"], bounds["sharper"], color=BLUE, ls="--", label="sharper bound")
        axes.plot(bounds["x"], bounds["pucb"], color=ORANGE, ls="--", label="Pareto UCB1's bound")
        axes.axvline(0.5, color=MUTED, lw=1)
        axes.set(
            xscale="log", yscale="log", xlabel="Pareto gap of the dominated arms / g†",
            ylabel="Pareto regret",
        )  # fmt: skip
        plain_log(axes, "x")
        legend_above(axes, 2)
    return fig
