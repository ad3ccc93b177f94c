"""The figures of the chapters on the bounds, in the house style of `momab.plots`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab.checks import FloatArray
from momab.plots import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PALETTE,
    PINK,
    POLICY_STYLE,
    STYLE,
    _axes,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GOLD = PALETTE["gold"]


def _legend_above(axes: Axes, columns: int) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, handletextpad=0.5)


def _thinned(frame: pd.DataFrame, count: int = 400) -> pd.DataFrame:
    """Rows that are evenly spread on a log axis, with the last one."""
    rows = np.unique(np.rint(np.geomspace(1, len(frame), count)).astype(int)) - 1
    return frame.iloc[rows]


def floor_run(table: pd.DataFrame, g: float) -> Figure:
    """One run of `accounting.floor_rounds`: widths and radius sink towards their floors."""
    table = _thinned(table)
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.2, 4.2))
        lines = [
            ("sampled", "width of the sampled pair", GOLD, 4.0, "-"),
            ("champion", "width of the champion's pair", BLUE, 1.8, "-"),
            ("radius", "radius of the pulled arm", GREEN, 1.8, "--"),
        ]
        for column, label, colour, width, style in lines:
            axes.plot(table["t"], table[column], color=colour, lw=width, ls=style, label=label)
        floors = [
            (g / 2, BLUE, "floor g/2 of the widths"),
            (g / 4, GREEN, "floor g/4 of the radius"),
        ]
        for level, colour, label in floors:
            axes.axhline(level, color=colour, lw=1.2, ls=":")
            axes.annotate(
                label, (0.01, level), xycoords=("axes fraction", "data"), xytext=(0, 3),
                textcoords="offset points", color=colour,
            )  # fmt: skip
        last = table.iloc[-1]
        if last["certifying"]:
            axes.plot(last["t"], last["champion"], marker="*", ms=15, color=INK, ls="none")
            axes.annotate(
                "certificate", (last["t"], last["champion"]), xytext=(8, 34),
                textcoords="offset points", ha="right",
            )  # fmt: skip
        axes.set(
            xscale="log", yscale="log", xlabel="pulls made", ylabel="width, radius",
            ylim=(g / 6, None),
        )  # fmt: skip
        _plain_log(axes, "y")
        _legend_above(axes, 2)
    return fig


def _plain_log(axes: Axes, which: str) -> None:
    """Write a logarithmic axis in plain numbers, at 1, 2 and 5 times the powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def floor_ratios(frame: pd.DataFrame) -> Figure:
    """Champion width over g/2, least and at the certificate, per instance and coefficient.

    ``frame`` has the columns c, width and at_certificate, one row per run.
    """
    coefficients = sorted(frame["c"].unique(), reverse=True)
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.2, 4.0))
        for place, c in enumerate(coefficients):
            rows = frame[frame["c"] == c].sort_values("width")
            kinds = [("width", -0.2, BLUE, "o"), ("at_certificate", 0.2, ORANGE, "D")]
            for column, shift, colour, marker in kinds:
                values = rows[column].dropna().to_numpy()
                spread = (
                    np.linspace(-0.13, 0.13, len(values))
                    if len(values) > 1
                    else np.zeros(len(values))
                )
                axes.scatter(
                    place + shift + spread,
                    np.sort(values),
                    s=22,
                    marker=marker,
                    fc="none",
                    ec=colour,
                )
        axes.axhline(1, color=INK, lw=1.4)
        axes.axhline(2, color=MUTED, lw=1.2, ls="--")
        style: dict[str, Any] = {"textcoords": "offset points", "ha": "right"}
        style["xycoords"] = ("axes fraction", "data")
        axes.annotate("the floor", (1, 1), xytext=(0, 4), **style)
        axes.annotate("width = g", (1, 2), xytext=(0, 4), color=MUTED, **style)
        axes.scatter(
            [], [], s=28, marker="o", fc="none", ec=BLUE, label="least before the certificate"
        )
        axes.scatter([], [], s=28, marker="D", fc="none", ec=ORANGE, label="at the certificate")
        axes.set_xticks(range(len(coefficients)), [f"{c:g}" for c in coefficients])
        top = float(np.nanmax(frame[["width", "at_certificate"]].to_numpy()))
        axes.set(
            xlabel="coefficient c of the radius", ylabel="width of the champion / (g/2)",
            yscale="log", ylim=(0.8, max(3.0, 1.15 * top)), xlim=(-0.6, len(coefficients) - 0.2),
        )  # fmt: skip
        _plain_log(axes, "y")
        _legend_above(axes, 2)
    return fig


def waterfall(charts: dict[str, pd.DataFrame]) -> Figure:
    """The stages of `accounting.Account.steps` as bars, for one or two instances."""
    colours = [BLUE, GOLD]
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.6, 0.95 * len(next(iter(charts.values()))) + 0.9))
        height = 0.8 / len(charts)
        for number, (name, frame) in enumerate(charts.items()):
            y = np.arange(len(frame)) + (number - (len(charts) - 1) / 2) * height
            errors = np.array([frame["value"] - frame["low"], frame["high"] - frame["value"]])
            errors[errors == 0] = np.nan  # not random
            axes.barh(
                y, frame["value"], 0.9 * height, xerr=errors, color=colours[number], label=name,
                error_kw={"ecolor": INK, "capsize": 2, "lw": 1},
            )  # fmt: skip
            for place, value, factor in zip(y, frame["value"], frame["factor"]):
                text = f"{value:,.0f}" + (f"  (×{factor:.2f})" if np.isfinite(factor) else "")
                axes.annotate(
                    text, (value, place), xytext=(6, 0), textcoords="offset points", va="center"
                )
        first = next(iter(charts.values()))
        axes.set_yticks(range(len(first)), [_wrapped(stage) for stage in first["stage"]])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        least = min(float(frame["value"].min()) for frame in charts.values())
        most = max(float(frame["value"].max()) for frame in charts.values())
        axes.set(
            xscale="log", xlabel="Pareto regret, or what bounds it", xlim=(least / 3, most * 8)
        )
        _legend_above(axes, 2)
    return fig


def _wrapped(text: str, width: int = 26) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width))


def scaling_grid(charts: dict[str, pd.DataFrame]) -> Figure:
    """Measured regret and bounds against one number each: panels in two columns.

    A frame is that of `accounting.scaling`; its key is the label of the horizontal axis.
    """
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        rows = (len(charts) + 1) // 2
        fig = Figure(figsize=(7.6, 3.0 * rows), layout="constrained")
        for number, (label, frame) in enumerate(charts.items()):
            axes = fig.add_subplot(rows, 2, number + 1)
            x = frame["value"]
            axes.plot(x, frame["theorem"], color=ORANGE, ls="--", label="Theorem 4")
            axes.plot(x, frame["sharper"], color=GREEN, ls="-.", label="sharper bound")
            _measured(axes, x, frame)
            axes.set(xscale="log", yscale="log", xlabel=label)
            axes.set_ylabel("Pareto regret" if number % 2 == 0 else "")
            low, high = float(frame["low"].min()), float(frame["theorem"].max())
            axes.set_ylim(low / 2, high * 2)
            if float(x.max()) < 1000:
                _plain_log(axes, "x")
            axes.minorticks_off()
        handles, labels = fig.axes[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside upper left", ncols=3)
    return fig


def _measured(axes: Axes, x: pd.Series[Any], frame: pd.DataFrame) -> None:
    """The measured means with their intervals: columns mean, low, high."""
    errors = [frame["mean"] - frame["low"], frame["high"] - frame["mean"]]
    axes.errorbar(
        x, frame["mean"], errors, color=BLUE, marker="o", ms=5, capsize=3, label="measured"
    )


def crowd_bounds(frame: pd.DataFrame) -> Figure:
    """Regret and both bounds against the crowd size, on a logarithmic axis."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.2, 4.0))
        x = frame["value"]
        axes.plot(x, frame["theorem"], color=ORANGE, ls="--", label="Theorem 4")
        axes.plot(x, frame["sharper"], color=GREEN, ls="-.", label="sharper bound")
        _measured(axes, x, frame)
        axes.set(yscale="log", xlabel="size m of the crowd", ylabel="Pareto regret")
        axes.set_ylim(float(frame["low"].min()) / 2, float(frame["theorem"].max()) * 2)
        axes.set_xticks(list(x))
        _plain_log(axes, "y")
        _legend_above(axes, 3)
    return fig


def tied_regret(frame: pd.DataFrame) -> Figure:
    """Regret against the horizon where g = 0: columns value, mean, low, high, sharper, tied."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.2, 3.8))
        x = frame["value"]
        axes.plot(x, frame["sharper"], color=GREEN, ls="-.", label="sharper bound")
        axes.plot(x, frame["tied"], color=PINK, ls="--", label="with ties, 2 radii")
        _measured(axes, x, frame)
        axes.set(xscale="log", yscale="log", xlabel="horizon T", ylabel="Pareto regret")
        _plain_log(axes, "y")
        _legend_above(axes, 3)
    return fig


def coefficient_sweep(frame: pd.DataFrame, warm: float) -> Figure:
    """Mean and median regret against c, with the two parts of the bound.

    ``frame`` has the columns value (c), mean, low, high, median, exploration and tail.
    """
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.2, 4.2))
        x = frame["value"]
        axes.plot(x, frame["exploration"], color=ORANGE, ls="--", label="bound: exploration")
        axes.plot(x, frame["tail"], color=PINK, ls=":", label="bound: tail")
        errors = np.clip([frame["mean"] - frame["low"], frame["high"] - frame["mean"]], 0, None)
        axes.errorbar(
            x, frame["mean"], errors, color=BLUE, marker="o", ms=5, capsize=3, label="mean regret"
        )
        axes.plot(x, frame["median"], color=GREEN, marker="^", ms=5, ls="-.", label="median regret")
        top = float(max(frame["exploration"].max(), frame["mean"].max())) * 10
        axes.set(xscale="log", yscale="log", xlabel="coefficient c", ylabel="Pareto regret")
        axes.set_ylim(max(0.3, warm / 4), top)
        _plain_log(axes, "x")
        _legend_above(axes, 2)
    return fig


def lower_chain(deltas: FloatArray, exact: FloatArray, delta: float) -> Figure:
    """The chain of Proposition 3: each constant times delta / (K - 1), against delta."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.2, 4.0))
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
        _legend_above(axes, 2)
    return fig


def regret_over_log(
    curves: dict[str, pd.DataFrame], exact: float, stated: float, upper: float
) -> Figure:
    """Regret divided by log T against T, with the lower bound's and the theorem's constants.

    A frame has the columns value (T), mean, low and high, already divided by log T.
    """
    styles = {**POLICY_STYLE, "KL-UCB": (GREEN, "^")}
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.2, 4.4))
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
        _plain_log(axes, "y")
        _legend_above(axes, 2)
    return fig


def phase_diagram(points: pd.DataFrame, log_ratio: float) -> Figure:
    """Whose bound is smaller, over gap/g and the share of dominated arms; and who won.

    ``points`` has the columns x, share and winner ("Width-guided", "Pareto UCB1" or "undecided");
    ``log_ratio`` is log(T (d |A*|)^(1/4)) / log T.
    """
    half = 0.5 * np.sqrt(log_ratio)
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.4, 4.6))
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
        _plain_log(axes, "x")
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.grid(visible=False)
        _legend_above(axes, 3)
    return fig


def rivals(frame: pd.DataFrame, bounds: pd.DataFrame) -> Figure:
    """Measured regret of both policies against gap/g, with their bounds.

    ``frame`` has the columns x, policy, mean, low and high; ``bounds`` x, theorem, sharper, pucb.
    """
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(7.4, 4.4))
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
        _plain_log(axes, "x")
        _legend_above(axes, 2)
    return fig
