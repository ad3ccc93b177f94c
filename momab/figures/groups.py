"""figures.groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from momab.datasets.subsets import KINDS
from momab.study.design import DATASETS
from momab.study.groups import group_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def group_axes(size: tuple[float, float]) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """Six panels: a row per data set, a column per group of subsets."""
    from matplotlib.figure import Figure

    fig = Figure(figsize=size, layout="constrained")
    grid = fig.subplots(2, 3, sharex=True, sharey="row")
    panels = {}
    for row, dataset in zip(grid, DATASETS):
        for axes, kind in zip(row, KINDS):
            axes.set_title(group_name(dataset, kind), fontsize=9)
            panels[dataset, kind] = axes
    return fig, panels


def frame_groups(
    fig: Figure, panels: dict[tuple[str, str], Axes], x: str, y: str, columns: int
) -> None:
    """Label the outer panels of :func:`_group_axes` and put one legend above them all."""
    for axes in list(panels.values())[3:]:
        axes.set_xlabel(x)
    for dataset in DATASETS:
        panels[dataset, KINDS[0]].set_ylabel(y)
    handles, names = panels["spotify", KINDS[0]].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside upper left", ncols=columns)
