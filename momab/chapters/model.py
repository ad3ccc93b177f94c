"""The chapter on the model: the Pareto gap of an arm as a diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from numpy.typing import ArrayLike

from momab.chapters.figures.style import BLUE, INK, ORANGE, STYLE, dominated_region, new_axes
from momab.model import pareto

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def pareto_lift(
    means: ArrayLike,
    arm: int | None = None,
    names: tuple[str, str] = ("objective 1", "objective 2"),
) -> Figure:
    """Arms in the plane of two objectives, with one arm lifted until nothing dominates it."""
    mu = np.asarray(means, dtype=np.float64)
    on_front, gap = pareto.front(mu), pareto.gaps(mu)
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(4.4, 4.2))
        low = max(0.0, float(mu.min()) - 0.1)
        dominated_region(axes, mu, low)
        axes.scatter(
            mu[on_front, 0], mu[on_front, 1], s=46, color=BLUE, label="on the front", zorder=3
        )
        axes.scatter(
            mu[~on_front, 0],
            mu[~on_front, 1],
            s=42,
            marker="s",
            fc="none",
            ec=ORANGE,
            lw=2,
            label="dominated",
        )
        top = mu[arm] + gap[arm]
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.8, "shrinkA": 6, "shrinkB": 0}
        axes.annotate("", xy=tuple(top), xytext=tuple(mu[arm]), arrowprops=arrow, zorder=4)
        axes.plot(*top, marker="*", ms=10, color=INK, ls="none", label="lifted by its gap")
        for number, point in enumerate(mu):
            axes.annotate(
                str(number + 1), tuple(point), xytext=(7, -13), textcoords="offset points"
            )
        axes.set(
            xlabel=f"mean of {names[0]}",
            ylabel=f"mean of {names[1]}",
            xlim=(low, mu.max() + 0.1),
            ylim=(low, mu.max() + 0.1),
            aspect="equal",
        )
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, handletextpad=0.3)
    return fig
