"""Figures with a panel per group of subsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from momab.study.datasets.subsets import KINDS
from momab.study.groups import DATASET_NAMES, group_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def group_axes(size: tuple[float, float]) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """Six panels: a column per data set, a row per group of subsets.

    Two columns, so that a figure of about 4.5 inches is still legible on a phone.
    """
    from matplotlib.figure import Figure

    fig = Figure(figsize=size, layout="constrained")
    grid = fig.subplots(len(KINDS), len(DATASET_NAMES), sharex=True, sharey=True)
    panels = {}
    for column, dataset in zip(grid.T, DATASET_NAMES):
        for axes, kind in zip(column, KINDS):
            axes.set_title(group_name(dataset, kind))
            panels[dataset, kind] = axes
    return fig, panels


def frame_groups(
    fig: Figure, panels: dict[tuple[str, str], Axes], x: str, y: str, columns: int
) -> None:
    """Label the outer panels of :func:`group_axes` and put one legend, if any, above them all."""
    first = next(iter(DATASET_NAMES))
    for dataset in DATASET_NAMES:
        panels[dataset, KINDS[-1]].set_xlabel(x)
    for kind in KINDS if y else ():
        panels[first, kind].set_ylabel(y)
    handles, names = panels[first, KINDS[0]].get_legend_handles_labels()
    if handles:
        fig.legend(handles, names, loc="outside upper left", ncols=columns)
