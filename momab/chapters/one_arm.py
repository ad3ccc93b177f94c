"""The chapter *Naming one optimal arm*: stopping times by sampling rule and certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from momab.chapters.figures.style import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    STYLE,
    axes_grid,
    plain_log,
)
from momab.study.one_arm import SAMPLING, STOPPING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LOOKS = dict(zip(STOPPING, ((ORANGE, "o"), (GREEN, "s"), (BLUE, "D"), (MUTED, "^"))))
"""Colour and marker of every certificate."""


def times_picture(lines: pd.DataFrame) -> Figure:
    """Mean stopping times over T* log(1/delta): a panel per instance, a row per sampling rule."""
    groups = list(lines.groupby("instance", sort=False))
    with mpl.rc_context(STYLE):
        fig, panels = axes_grid((len(groups) + 1) // 2, 2, (7.2, 1.2 + 1.0 * len(groups)))
        for axes, (name, part) in zip(panels, groups):
            for stop, (colour, marker) in LOOKS.items():
                rows = part[(part["stopping"] == stop) & part["mean"].notna()]
                error = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
                height = [SAMPLING.index(rule) for rule in rows["sampling"]]
                axes.errorbar(
                    rows["mean"], height, xerr=error, fmt=marker, color=colour, ms=5, label=stop
                )
            axes.axvline(1, color=INK, linestyle="--", linewidth=1)
            axes.set(title=str(name), xscale="log", ylim=(len(SAMPLING) - 0.5, -0.5))
            axes.set_yticks(range(len(SAMPLING)), SAMPLING)
            plain_log(axes, "x")
        for axes in panels[len(groups) :]:
            axes.set_visible(False)
        for axes in panels[-2:]:
            axes.set_xlabel("pulls / (T* log 1/δ)")
        handles, names = panels[0].get_legend_handles_labels()
        fig.legend(handles, names, loc="outside upper left", ncols=4, handletextpad=0.3)
    return fig
