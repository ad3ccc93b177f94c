"""The house style: colours that colour-blind readers tell apart, type, shared drawings.

Colours are named by their hue in ``PALETTE``; `momab.chapters.figures.show` turns each of them into
a CSS variable, so that a page can recolour its pictures.  ``palette`` says which hue a policy and a
role have in the whole book.  The code of a ``%%figure`` cell runs after :func:`set_theme`; a
function draws inside ``mpl.rc_context(STYLE)`` on axes from :func:`new_axes` or :func:`axes_grid`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib import font_manager

from momab._util.validate import FloatArray
from momab.engine.policies import registered
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
    "violet": "#6d55b5",
    "brown": "#8a5a2b",
    "teal": "#0f7f8c",
    "olive": "#6c7212",
    "crimson": "#a0284a",
}
"""Every colour of a figure: ink on paper, the hues of Okabe and Ito, the pink darker, and more."""

POLICY_HUES = {
    "Width-guided": "blue",
    "Anytime Width-guided": "teal",
    "Pareto UCB1": "orange",
    "Annealing-Pareto": "green",
    "Scalarized UCB": "pink",
    "Pareto Thompson": "violet",
    "Pareto IMED": "gold",
    "Sticky Pareto IMED": "olive",
    "MOSS": "crimson",
    "UCB1": "sky",
    "Single UCB1": "sky",
    "KL-UCB": "brown",
}
ROLE_HUES = {"optimal": "blue", "suboptimal": "orange", "bound": "ink", "other": "muted"}

palette = {name: PALETTE[hue] for name, hue in (POLICY_HUES | ROLE_HUES).items()} | PALETTE
"""One colour per policy and per role in the whole book, and the hues by name.

A plot of seaborn's takes it as it is: ``palette=momab.palette``.
"""


INK, MUTED, FAINT = PALETTE["ink"], PALETTE["muted"], PALETTE["faint"]
GOLD, SKY = PALETTE["gold"], PALETTE["sky"]


BLUE, ORANGE, GREEN, PINK = (PALETTE[name] for name in ("blue", "orange", "green", "pink"))


def _policy_styles() -> dict[str, tuple[str, str]]:
    """Read what the record of every registered policy proposes: a colour and a marker."""
    styles = {record().label: record.style for record in registered() if hasattr(record, "style")}
    return {label: (PALETTE[colour], marker) for label, (colour, marker) in styles.items()}


POLICY_STYLE = _policy_styles()
"""Colour and marker that the record of every policy proposes, by its label."""


def policy_style(label: str) -> tuple[str, str]:
    """The colour and the marker of a policy; the book's own colour before the record's."""
    colour, marker = POLICY_STYLE.get(label, (MUTED, "X" if label == "UCB1" else "o"))
    return palette.get(label, colour), marker


for _font in sorted((Path(__file__).parent / "fonts").glob("*.ttf")):
    font_manager.fontManager.addfont(str(_font))


def drawable(text: str) -> bool:
    """Whether the fonts of the figures have every character of a text."""
    fonts = [font_manager.get_font(font_manager.findfont(name)) for name in STYLE["font.family"]]
    return all(any(font.get_char_index(ord(sign)) for font in fonts) for sign in text)


LINES = (BLUE, ORANGE, GREEN, PINK, GOLD, SKY, INK, MUTED)
"""The colours of a bundle of up to eight lines, in their order."""

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
"""What Matplotlib is told about every figure; the fonts are those in the folder ``fonts``."""


def set_theme() -> None:
    """Give every plot from here on the house style: seaborn's, with our colours and type."""
    import seaborn

    seaborn.set_theme(
        context=None, style=None, palette=LINES, font=STYLE["font.family"], color_codes=False,
        rc=STYLE | {"figure.figsize": (5.0, 3.2), "figure.constrained_layout.use": True},
    )  # fmt: skip


def new_axes(
    columns: int = 1, size: tuple[float, float] | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure in the house style with a row of axes; it is not shown by itself.

    Parameters
    ----------
    columns
        How many axes stand side by side.
    size
        Width and height in inches, (5, 3.2) unless given.

    Returns
    -------
    tuple of Figure and list of Axes
        The figure and its axes, from left to right.
    """
    return axes_grid(1, columns, size or (5.0, 3.2))


def axes_grid(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure in the house style with a grid of axes; it is not shown by itself.

    Parameters
    ----------
    rows, columns
        The shape of the grid.
    size
        Width and height in inches.

    Returns
    -------
    tuple of Figure and list of Axes
        The figure and its axes, row by row.
    """
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=size, layout="constrained")
        axes = [fig.add_subplot(rows, columns, number + 1) for number in range(rows * columns)]
    return fig, axes


def dominated_region(axes: Axes, mu: FloatArray, corner: float) -> None:
    """Shade what some arm dominates: the staircase below the front.

    Parameters
    ----------
    axes
        Where to draw.
    mu
        The means of the arms in the plane of two objectives, one row per arm.
    corner
        The least value on both axes, at which the region ends.
    """
    best = mu[pareto.front(mu)]
    best = best[np.argsort(best[:, 0])]
    xs = np.concatenate([[corner], np.repeat(best[:, 0], 2)])
    ys = np.concatenate([np.repeat(best[:, 1], 2), [corner]])
    axes.fill_between(xs, ys, corner, color=FAINT, alpha=0.45, lw=0, zorder=0)


def draw_points(
    ax: Axes, frame: pd.DataFrame, x: str, name: str, floor: float, **style: Any
) -> None:
    """Simulated rates with their exact intervals; a rate of zero shows its upper limit only.

    Parameters
    ----------
    ax
        Where to draw.
    frame
        One row per point, with the columns ``x``, ``<name>_rate``, ``<name>_low`` and
        ``<name>_high``.
    x, name
        The column of the abscissa, and the rate that is meant.
    floor
        The least value that a logarithmic axis shows; intervals end there.
    style
        Colour, marker and label of the points.
    """
    rate, low, high = (frame[f"{name}_{k}"].to_numpy(float) for k in ("rate", "low", "high"))
    at = frame[x].to_numpy(float)
    seen = rate > 0
    if seen.any():
        bars = [(rate - np.maximum(low, floor))[seen].clip(0), (high - rate)[seen]]
        ax.errorbar(at[seen], rate[seen], bars, ls="none", capsize=3, **style)
    if (~seen).any():
        limit = dict(style, label=None, marker="v", mfc="none")
        ax.plot(at[~seen], high[~seen], ls="none", **limit)


def legend_above(axes: Axes, columns: int) -> None:
    """Put the legend above the axes, in so many columns."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, handletextpad=0.5)


def plain_log(axes: Axes, which: str) -> None:
    """Write a logarithmic axis in plain numbers, at 1, 2 and 5 times the powers of ten.

    Parameters
    ----------
    axes
        The axes, already logarithmic in this direction.
    which
        ``"x"`` or ``"y"``.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
