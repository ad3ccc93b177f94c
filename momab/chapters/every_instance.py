"""The chapter *At the price on every instance*: the figure of plain and sticky Pareto IMED."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from momab.chapters.figures.style import BLUE, INK, ORANGE, STYLE, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def plain_and_sticky(recorded: pd.DataFrame) -> Figure:
    """Mean regret over C log T against log T, a panel per instance, a line per rule."""
    groups = list(recorded.groupby("instance", sort=False))
    with mpl.rc_context(STYLE):
        fig, panels = new_axes(len(groups), size=(2.6 * len(groups), 3.0))
        for axes, (name, part) in zip(panels, groups):
            for rule, colour, marker in (("plain", ORANGE, "o"), ("sticky", BLUE, "s")):
                line = part[part["rule"] == rule]
                error = [line["mean"] - line["low"], line["high"] - line["mean"]]
                axes.errorbar(
                    line["log_T"], line["mean"], yerr=error, color=colour, marker=marker, ms=4
                )
            axes.axhline(1, color=INK, linestyle="--", linewidth=1)
            places = sorted(part["log_T"].unique())
            axes.set(title=str(name), xscale="log", xlabel="log T", ylim=(0.9, None))
            axes.set_xticks(places, [f"{x:.0f}" for x in places])
            axes.set_xticks([], minor=True)
        top = max(axes.get_ylim()[1] for axes in panels)
        for axes in panels:
            axes.set_ylim(0.9, top)
        panels[0].set_ylabel("regret / (C(μ) log T)")
        for rule, colour, up in (("plain", ORANGE, 0.9), ("sticky", BLUE, 0.12)):
            panels[0].text(0.05, up, rule, color=colour, transform=panels[0].transAxes)
    return fig
