"""The chapter *The worst case*: the figure of the worst regrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from momab.chapters.figures.style import BLUE, INK, ORANGE, STYLE, legend_above, new_axes, plain_log
from momab.study.minimax import RULES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def worst_regret_picture(table: pd.DataFrame, lower: float) -> Figure:
    """The worst ratios over d, a line per K: MOSS on the average, and on one objective."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 3.4))
        for rule, colour in zip(RULES, (ORANGE, BLUE)):
            part = table[(table["rule"] == rule) | (table["d"] == 1)]
            for (_, lines), marker in zip(part.groupby("K"), "os^D"):
                error = [lines["mean"] - lines["low"], lines["high"] - lines["mean"]]
                axes.errorbar(
                    lines["d"], lines["mean"], yerr=error, color=colour, marker=marker, ms=4.5
                )
        axes.axhline(lower, color=INK, linestyle=":", linewidth=1.2)
        for rule, colour in zip(RULES, (ORANGE, BLUE)):
            axes.plot([], [], color=colour, label=f"MOSS on {rule}")
        for K, marker in zip(sorted(table["K"].unique()), "os^D"):
            axes.plot([], [], marker, color=INK, markersize=4.5, label=f"K = {K}")
        axes.set(xscale="log", yscale="log", xlabel="objectives d", ylabel="worst regret / √(KT/d)")
        places = sorted(table["d"].unique())
        axes.set_xticks(places, [str(d) for d in places])
        axes.set_xticks([], minor=True)
        plain_log(axes, "y")
        legend_above(axes, 3)
    return fig
