"""The chapter *The worst case*: the figure of the worst regrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from momab.chapters.figures.style import BLUE, INK, ORANGE, STYLE, legend_above, new_axes, plain_log
from momab.study.minimax import RULES, ratio_table

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


def live_data() -> dict[str, Any]:
    """What the page's explorable shows: the worst ratios, (K, d, T, rule, mean, low, high) each."""
    arms, horizons, runs, seed = (4, 8, 16), (500, 2_000, 8_000), 40, 1
    rows = [
        [K, d, T, RULES.index(rule), *(round(x, 6) for x in numbers)]
        for T in horizons
        for K, d, rule, _, *numbers in ratio_table(arms, (1, 4, 16, 64), T, runs, seed).to_numpy()
    ]
    return {"runs": runs, "seed": seed, "arms": arms, "horizons": horizons, "rows": rows}
