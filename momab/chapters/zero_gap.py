"""The chapter on zero gaps: pictures of the trapped arm, and of how often ties make one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from numpy.typing import ArrayLike

from momab.figures.style import BLUE, INK, MUTED, ORANGE, STYLE, dominated_region, new_axes
from momab.model.statistics import wilson

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def zero_gap_figure(means: ArrayLike) -> Figure:
    """The two arms of Proposition 1: one on the edge of what the other dominates."""
    mu = np.asarray(means, dtype=np.float64)
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(3.7, 3.4))
        dominated_region(axes, mu, -0.1)
        axes.plot(*mu[0], marker="o", ms=7, color=BLUE)
        axes.plot(*mu[1], marker="s", ms=7, mfc="none", mec=ORANGE, mew=2)
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.8, "shrinkA": 6, "shrinkB": 0}
        axes.annotate("", xy=tuple(mu[1] + 0.15), xytext=tuple(mu[1]), arrowprops=arrow)
        far: Any = {"textcoords": "offset points", "va": "center"}
        axes.annotate("arm 1", tuple(mu[0]), xytext=(-12, 0), ha="right", **far)
        axes.annotate("arm 2", tuple(mu[1]), xytext=(-12, 0), ha="right", **far)
        axes.text(0.4, 0.5, "dominated\nby arm 1", color=MUTED, ha="center", va="center")
        axes.set(
            xlim=(-0.1, 1.25),
            ylim=(-0.1, 1.25),
            xlabel="mean of objective 1",
            ylabel="mean of objective 2",
            aspect="equal",
        )
    return fig


def tie_rates(frame: pd.DataFrame, draws: int) -> Figure:
    """Shares of instances with ties that matter, against how coarse the means are.

    ``frame`` has the columns levels, trapped and inconsistent; ``draws`` is the number of
    instances behind each share, for the intervals (Wilson's).
    """
    curves = {
        "trapped": ("some dominated arm has gap zero", BLUE, "o"),
        "inconsistent": ("not consistent", ORANGE, "s"),
    }
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.0, 3.1))
        for column, (label, colour, marker) in curves.items():
            share = frame[column].to_numpy(dtype=np.float64)
            low, high = wilson(share, draws)
            errors = np.clip([share - low, high - share], 0, None)
            axes.errorbar(
                frame["levels"], share, errors, color=colour, marker=marker, capsize=3, label=label
            )
        axes.set_xscale("log")
        axes.set_xticks(frame["levels"], [str(level) for level in frame["levels"]])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.set(xlabel="levels a mean can take", ylabel="share of instances", ylim=(0, None))
        axes.legend()
    return fig
