"""chapters.pareto_ucb1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.figures.style import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    POLICY_STYLE,
    STYLE,
    legend_above,
    new_axes,
    plain_log,
)
from momab.model.instances import Instance
from momab.model.metrics import weighted_pulls
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def compare(
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


def phase_diagram(points: pd.DataFrame, log_ratio: float) -> Figure:
    """Whose bound is smaller, over gap/g and the share of dominated arms; and who won.

    ``points`` has the columns x, share and winner ("Width-guided", "Pareto UCB1" or "undecided");
    ``log_ratio`` is log(T (d |A*|)^(1/4)) / log T.
    """
    half = 0.5 * np.sqrt(log_ratio)
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(7.4, 4.6))
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
            (0.022, 0.90, "Theorem 4\nbelow Pareto UCB1's bound", "left"),
            (0.20, 0.08, "only the sharper\nbound is below", "center"),
            (1.22, 0.08, "Pareto UCB1's\nbound is smallest", "center"),
        ]
        for x, y, text, side in texts:
            axes.text(x, y, text, ha=side, va="center", color=INK, fontsize=10)
        axes.set(
            xscale="log", xlim=(left, right), ylim=(0, 1),
            xlabel="Pareto gap of the dominated arms / g", ylabel="share of dominated arms",
        )  # fmt: skip
        plain_log(axes, "x")
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.grid(visible=False)
        legend_above(axes, 3)
    return fig


def rivals(frame: pd.DataFrame, bounds: pd.DataFrame) -> Figure:
    """Measured regret of both policies against gap/g, with their bounds.

    ``frame`` has the columns x, policy, mean, low and high; ``bounds`` x, theorem, sharper, pucb.
    """
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(7.4, 4.4))
        for name, rows in frame.groupby("policy", sort=False):
            colour, marker = POLICY_STYLE[str(name)]
            errors = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
            axes.errorbar(
                rows["x"], rows["mean"], errors, color=colour, marker=marker, ms=6, capsize=3,
                label=f"{name}, measured",
            )  # fmt: skip
        axes.plot(bounds["x"], bounds["theorem"], color=BLUE, ls=":", label="Theorem 4")
        axes.plot(bounds["x"], bounds["sharper"], color=BLUE, ls="--", label="sharper bound")
        axes.plot(bounds["x"], bounds["pucb"], color=ORANGE, ls="--", label="Pareto UCB1's bound")
        axes.axvline(0.5, color=MUTED, lw=1)
        axes.set(
            xscale="log", yscale="log", xlabel="Pareto gap of the dominated arms / g",
            ylabel="Pareto regret",
        )  # fmt: skip
        plain_log(axes, "x")
        legend_above(axes, 2)
    return fig
