"""figures.style."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib import font_manager

from momab._util.validate import FloatArray
from momab.model import pareto

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PALETTE = {
    "ink": "#1f2933",
    "muted": "#5f6b7a",
    "faint": "#c9d1da",
    "blue": "#0072b2",
    "orange": "#d55e00",
    "green": "#009e73",
    "pink": "#b8578f",
    "gold": "#e69f00",
    "sky": "#56b4e9",
}


INK, MUTED, FAINT = PALETTE["ink"], PALETTE["muted"], PALETTE["faint"]


BLUE, ORANGE, GREEN, PINK = (PALETTE[name] for name in ("blue", "orange", "green", "pink"))


POLICY_STYLE = {
    "Width-guided": (BLUE, "o"),
    "Pareto UCB1": (ORANGE, "s"),
    "Annealing-Pareto": (GREEN, "^"),
    "Scalarized UCB": (PINK, "D"),
}


for _font in sorted((Path(__file__).parent / "fonts").glob("*.ttf")):
    font_manager.fontManager.addfont(str(_font))


STYLE: Any = {
    "font.family": ["Momab Sans", "DejaVu Sans"],
    "font.size": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, PINK]),
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "lines.linewidth": 1.7,
    "lines.markersize": 6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "mathtext.fontset": "stix",
}


def new_axes(
    columns: int = 1, size: tuple[float, float] | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure in the house style, not shown by itself, with a row of axes."""
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=size or (5.0, 3.2), layout="constrained")
        axes = [fig.add_subplot(1, columns, number + 1) for number in range(columns)]
    return fig, axes


def dominated_region(axes: Axes, mu: FloatArray, corner: float) -> None:
    """Shade what some arm dominates: the staircase below the front."""
    best = mu[pareto.front(mu)]
    best = best[np.argsort(best[:, 0])]
    xs = np.concatenate([[corner], np.repeat(best[:, 0], 2)])
    ys = np.concatenate([np.repeat(best[:, 1], 2), [corner]])
    axes.fill_between(xs, ys, corner, color=FAINT, alpha=0.45, lw=0, zorder=0)


GOLD = PALETTE["gold"]


def legend_above(axes: Axes, columns: int) -> None:
    """Put the legend above the axes."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, handletextpad=0.5)


def plain_log(axes: Axes, which: str) -> None:
    """Write a logarithmic axis in plain numbers, at 1, 2 and 5 times the powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


LINES = (BLUE, ORANGE, GREEN, PINK, PALETTE["gold"], PALETTE["sky"], INK, MUTED)


def axes_grid(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure in the house style with a grid of axes, row by row."""
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=size, layout="constrained")
        axes = [fig.add_subplot(rows, columns, number + 1) for number in range(rows * columns)]
    return fig, axes


def draw_points(
    ax: Axes, frame: pd.DataFrame, x: str, name: str, floor: float, **style: Any
) -> None:
    """Simulated rates with their exact intervals; a rate of zero shows its upper limit only."""
    rate, low, high = (frame[f"{name}_{k}"].to_numpy(float) for k in ("rate", "low", "high"))
    at = frame[x].to_numpy(float)
    seen = rate > 0
    if seen.any():
        bars = [(rate - np.maximum(low, floor))[seen].clip(0), (high - rate)[seen]]
        ax.errorbar(at[seen], rate[seen], bars, ls="none", capsize=3, **style)
    if (~seen).any():
        limit = dict(style, label=None, marker="v", mfc="none")
        ax.plot(at[~seen], high[~seen], ls="none", **limit)
