"""chapters.lower_bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray
from momab.figures.style import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PINK,
    POLICY_STYLE,
    STYLE,
    legend_above,
    new_axes,
    plain_log,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def lower_chain(deltas: FloatArray, exact: FloatArray, delta: float) -> Figure:
    """The chain of Proposition 3: each constant times delta / (K - 1), against delta."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(7.2, 4.0))
        rational = (1 - 4 * deltas**2) / 2
        flat = 1 / (8 * np.log(4 / 3))
        axes.plot(deltas, exact, color=BLUE, label="exact, with kl")
        axes.plot(deltas, rational, color=GREEN, ls="-.", label="after −log(1−x) ≤ x/(1−x)")
        axes.axhline(0.375, color=ORANGE, ls="--", label="stated, 3/8")
        axes.axhline(flat, color=PINK, ls=":", label=f"best constant, {flat:.3f}")
        axes.axvline(delta, color=MUTED, lw=1)
        axes.annotate(
            "this page", (delta, 0.362), xytext=(-4, 0), textcoords="offset points",
            ha="right", color=MUTED,
        )  # fmt: skip
        axes.set(
            xlabel="scalar gap Δ", ylabel="constant × Δ / (K − 1)",
            ylim=(0.355, 0.51), xlim=(0, 0.26),
        )  # fmt: skip
        legend_above(axes, 2)
    return fig


def regret_over_log(
    curves: dict[str, pd.DataFrame], exact: float, stated: float, upper: float
) -> Figure:
    """Regret divided by log T against T, with the lower bound's and the theorem's constants.

    A frame has the columns value (T), mean, low and high, already divided by log T.
    """
    styles = {**POLICY_STYLE, "KL-UCB": (GREEN, "^")}
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(7.2, 4.4))
        for name, frame in curves.items():
            colour, marker = styles[name]
            errors = [frame["mean"] - frame["low"], frame["high"] - frame["mean"]]
            axes.errorbar(
                frame["value"], frame["mean"], errors, color=colour, marker=marker, ms=5,
                capsize=2, label=name,
            )  # fmt: skip
        lines = [(exact, "-", "exact constant"), (stated, ":", "stated constant"),
                 (upper, "--", "Theorem 4, 64 K / g")]  # fmt: skip
        for level, style, label in lines:
            axes.axhline(level, color=INK, lw=1.3, ls=style, label=label)
        axes.set(xscale="log", yscale="log", xlabel="T", ylabel="Pareto regret / log T")
        plain_log(axes, "y")
        legend_above(axes, 2)
    return fig
