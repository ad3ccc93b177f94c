"""The chapter *Against Pareto UCB1*: duels, and the phase diagram with the winner of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab.chapters.figures.style import (
    BLUE,
    INK,
    ORANGE,
    STYLE,
    legend_above,
    new_axes,
    plain_log,
)
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.model import theory
from momab.model.instances import Instance
from momab.model.metrics import weighted_pulls
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


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
    gap/g and number of dominated arms.  A policy wins where the 95% intervals do not overlap.
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
    return pd.DataFrame(lines, columns=["Instance", *policies, "Pareto UCB1, stopped (95%)"])


def phase_diagram(points: pd.DataFrame, log_ratio: float) -> Figure:
    """Whose bound is smaller, over gap/g and the share of dominated arms; and who won.

    ``points`` has the columns x, share and winner ("Width-guided", "Pareto UCB1" or "undecided");
    ``log_ratio`` is log(T (d |A*|)^(1/4)) / log T.
    """
    half = 0.5 * np.sqrt(log_ratio)
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 3.9))
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
