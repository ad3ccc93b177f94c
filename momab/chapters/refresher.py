"""The chapter *Refresher*: coin flips, explore-then-commit, two worlds, Lai and Robbins.

It computes what the page's tables and curves need beyond one line of code, and draws the tails of
coin flips, the price of commitment, and regret over log T between its two constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray, IntArray
from momab.chapters.figures.style import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PINK,
    STYLE,
    legend_above,
    new_axes,
    plain_log,
)
from momab.model.statistics import mean_interval
from momab.model.theory import bernoulli_kl

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


Rate = Mapping[str, float]
"""An observed frequency: ``rate``, and the ends ``low`` and ``high`` of its interval."""

World = tuple[float, Sequence[float], Rate, Rate]
"""A raised mean q, E[N] kl(p, q) with its interval, and the rates of E in the two worlds."""


def sure_divergence(one: Rate, two: Rate) -> float:
    """The divergence at the ends of two rates' intervals that lie closer together.

    Zero unless the first interval lies below the second.
    """
    return bernoulli_kl(one["high"], two["low"]) if one["high"] < two["low"] else 0.0


def number_or_infinity(value: float) -> str:
    """Two decimals, or the sign of infinity: an event that one world never shows."""
    return f"{value:.2f}" if math.isfinite(value) else "∞"


def world_table(worlds: Iterable[World]) -> pd.DataFrame:
    """Both sides of the change of measure, one row per raised mean, as the page prints them."""
    import pandas as pd

    def share(rate: Rate) -> str:
        return f"{rate['rate']:.3f} ({rate['low']:.3f} to {rate['high']:.3f})"

    return pd.DataFrame(
        {
            "Raised mean q": f"{q:.3f}",
            "E[N] kl(p, q)": "{:.2f} ({:.2f} to {:.2f})".format(*spent),
            "E, first world": share(one),
            "E, second world": share(two),
            "kl of the two": (
                f"{number_or_infinity(bernoulli_kl(one['rate'], two['rate']))} "
                f"(at least {sure_divergence(one, two):.2f})"
            ),
        }
        for q, spent, one, two in worlds
    )


def over_log(columns: Iterable[Any], times: Sequence[int] | IntArray) -> pd.DataFrame:
    """Mean regret over log t with its interval; one column of regrets per time t."""
    import pandas as pd

    spans: FloatArray = np.array([mean_interval(column) for column in columns])
    table = pd.DataFrame(spans / np.log(times)[:, None], columns=["mean", "low", "high"])
    return table.assign(t=times)


def coin_tails(frame: pd.DataFrame) -> Figure:
    """An upper tail of coin flips against the number of flips, with four bounds on it.

    ``frame`` has the columns n, exact, rate, low, high (simulated, with its interval), and
    markov, chebyshev, chernoff and hoeffding.
    """
    bounds = [
        ("markov", "Markov", MUTED, ":"),
        ("chebyshev", "Chebyshev", PINK, "-."),
        ("hoeffding", "Hoeffding", ORANGE, "--"),
        ("chernoff", "Chernoff, with kl", GREEN, "--"),
    ]
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 3.9))
        for column, label, colour, style in bounds:
            axes.plot(frame["n"], frame[column], color=colour, ls=style, label=label)
        axes.plot(frame["n"], frame["exact"], color=INK, label="exact")
        seen = frame[frame["rate"] > 0]
        errors = [seen["rate"] - seen["low"], seen["high"] - seen["rate"]]
        axes.errorbar(
            seen["n"], seen["rate"], errors, color=BLUE, marker="o", ms=5, ls="none", capsize=3,
            label="simulated",
        )  # fmt: skip
        axes.set(
            yscale="log", xlabel="number of flips n", ylabel="chance of the deviation",
            ylim=(float(frame["exact"].min()) / 3, 1.15),
        )  # fmt: skip
        legend_above(axes, 2)
    return fig


def commitment(curves: Mapping[float, pd.DataFrame], ucb1: pd.DataFrame) -> Figure:
    """Expected regret of explore-then-commit against the pulls per arm, one curve per gap.

    A frame has the columns m and regret; ``ucb1`` has gap, mean, low and high, measured.
    """
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 3.9))
        looks = [(PINK, "-."), (BLUE, "-"), (ORANGE, "--")]
        lifts = [0, 0, 7]  # bands of neighbouring gaps are close
        for (gap, frame), (colour, style), lift in zip(curves.items(), looks, lifts):
            axes.plot(
                frame["m"], frame["regret"], color=colour, ls=style,
                label=f"commit, gap {gap:g}",
            )  # fmt: skip
            best = frame[frame["regret"] == frame["regret"].min()]
            axes.plot(best["m"], best["regret"], marker="*", ms=13, color=colour, ls="none")
            row = ucb1[ucb1["gap"] == gap].iloc[0]
            axes.axhspan(row["low"], row["high"], color=colour, alpha=0.18, lw=0)
            axes.annotate(
                f"UCB1, gap {gap:g}", (0.01, row["mean"]), xycoords=("axes fraction", "data"),
                xytext=(0, lift), textcoords="offset points", va="center", color=colour,
            )  # fmt: skip
        axes.set(
            xscale="log", yscale="log", xlabel="pulls of each arm before the commitment",
            ylabel="expected regret",
        )  # fmt: skip
        plain_log(axes, "y")
        legend_above(axes, 3)
    return fig


def per_log(curves: Mapping[str, pd.DataFrame], lower: float, upper: float, gap: float) -> Figure:
    """Regret over log t against t on log axes, between the two constants.

    A frame has the columns t, mean, low and high, already divided by log t.  The trivial bound,
    t times the gap, is drawn, too.
    """
    looks = {"UCB1": (ORANGE, "s"), "KL-UCB": (GREEN, "P"), "Width-guided": (BLUE, "o")}
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 3.9))
        for name, frame in curves.items():
            colour, marker = looks[name]
            errors = [frame["mean"] - frame["low"], frame["high"] - frame["mean"]]
            axes.errorbar(
                frame["t"], frame["mean"], errors, color=colour, marker=marker, ms=5, capsize=2,
                label=name,
            )  # fmt: skip
        times = np.unique(np.concatenate([frame["t"] for frame in curves.values()]))
        trivial = gap * times / np.log(times)
        seen = trivial < 2 * upper
        axes.plot(
            times[seen], trivial[seen], color=MUTED, lw=3, alpha=0.5, label="only the worse arm: TΔ"
        )
        axes.axhline(upper, color=INK, lw=1.3, ls="--", label="UCB1's bound, 8/Δ")
        axes.axhline(lower, color=INK, lw=1.3, label="Lai and Robbins, Δ/kl")
        axes.set(xscale="log", yscale="log", xlabel="rounds T", ylabel="regret / log T")
        plain_log(axes, "y")
        legend_above(axes, 2)
    return fig
