"""The house style, and one function per figure.

Every function returns a matplotlib figure and draws only what it is given.  Colours come from
`PALETTE`, which is safe for colour-blind readers (Okabe and Ito's set, with greys); the book's
style sheet maps each of them to its counterpart in dark mode, so use no other colour.  A policy
has one colour and one marker throughout: `POLICY_STYLE`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from cycler import cycler
from numpy.typing import ArrayLike

from momab import pareto

if TYPE_CHECKING:
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

STYLE = {
    "figure.figsize": (6.4, 4.0),
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
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
    "lines.linewidth": 2.0,
    "lines.markersize": 7,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "mathtext.fontset": "stix",
}


def _axes(columns: int = 1, size: tuple[float, float] | None = None) -> tuple[Figure, list[Axes]]:
    """A figure in the house style, not shown by itself, with a row of axes."""
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        fig = Figure(figsize=size or (6.4, 4.0), layout="constrained")
        axes = [fig.add_subplot(1, columns, number + 1) for number in range(columns)]
    return fig, axes


def _dominated_region(axes: Axes, mu: np.ndarray, corner: float) -> None:
    """Shade what some arm dominates: the staircase below the front."""
    best = mu[pareto.front(mu)]
    best = best[np.argsort(best[:, 0])]
    xs = np.concatenate([[corner], np.repeat(best[:, 0], 2)])
    ys = np.concatenate([np.repeat(best[:, 1], 2), [corner]])
    axes.fill_between(xs, ys, corner, color=FAINT, alpha=0.45, lw=0, zorder=0)


def pareto_lift(means: ArrayLike, arm: int | None = None) -> Figure:
    """Arms in the plane of two objectives, with one arm lifted until nothing dominates it.

    The lifted arm is, unless given, the one with the largest Pareto gap.
    """
    mu = np.asarray(means, dtype=np.float64)
    on_front, gap = pareto.front(mu), pareto.gaps(mu)
    arm = int(gap.argmax()) if arm is None else arm
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        fig, (axes,) = _axes(size=(5.6, 5.0))
        low = max(0.0, float(mu.min()) - 0.1)
        _dominated_region(axes, mu, low)
        axes.scatter(
            mu[on_front, 0], mu[on_front, 1], s=70, color=BLUE, label="on the front", zorder=3
        )
        axes.scatter(
            mu[~on_front, 0],
            mu[~on_front, 1],
            s=60,
            marker="s",
            fc="none",
            ec=ORANGE,
            lw=2,
            label="dominated",
        )
        top = mu[arm] + gap[arm]
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.8, "shrinkA": 6, "shrinkB": 0}
        axes.annotate("", xy=tuple(top), xytext=tuple(mu[arm]), arrowprops=arrow, zorder=4)
        axes.plot(*top, marker="*", ms=13, color=INK, ls="none", label="lifted by its gap")
        for number, point in enumerate(mu):
            axes.annotate(
                str(number + 1), tuple(point), xytext=(7, -13), textcoords="offset points"
            )
        axes.set(
            xlabel="mean of objective 1",
            ylabel="mean of objective 2",
            xlim=(low, mu.max() + 0.1),
            ylim=(low, mu.max() + 0.1),
            aspect="equal",
        )
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, handletextpad=0.3)
    return fig
