"""The six groups of subsets as readers see them: a panel per group, a table line per group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from momab.datasets.subsets import KINDS
from momab.study.design import DATASETS
from momab.study.groups import group_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def group_axes(size: tuple[float, float]) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """Six panels: a column per data set, a row per group of subsets.

    Two columns, so that a figure of about 4.5 inches is still legible on a phone.
    """
    from matplotlib.figure import Figure

    fig = Figure(figsize=size, layout="constrained")
    grid = fig.subplots(len(KINDS), len(DATASETS), sharex=True, sharey=True)
    panels = {}
    for column, dataset in zip(grid.T, DATASETS):
        for axes, kind in zip(column, KINDS):
            axes.set_title(group_name(dataset, kind))
            panels[dataset, kind] = axes
    return fig, panels


def frame_groups(
    fig: Figure, panels: dict[tuple[str, str], Axes], x: str, y: str, columns: int
) -> None:
    """Label the outer panels of :func:`group_axes` and put one legend, if any, above them all."""
    for dataset in DATASETS:
        panels[dataset, KINDS[-1]].set_xlabel(x)
    for kind in KINDS if y else ():
        panels[DATASETS[0], kind].set_ylabel(y)
    handles, names = panels[DATASETS[0], KINDS[0]].get_legend_handles_labels()
    if handles:
        fig.legend(handles, names, loc="outside upper left", ncols=columns)


def lay_out(
    frame: pd.DataFrame, columns: Mapping[str, str | Callable[[dict[str, Any]], str]]
) -> pd.DataFrame:
    """A table to read, whose columns are made of those of another table.

    Parameters
    ----------
    frame
        A table with the columns ``dataset`` and ``subset_type``.
    columns
        Maps each heading to the name of a column, which is taken over; or to a format that every
        line fills in, such as ``"{low:.2f} to {high:.2f}"``; or to a function of a line.  The
        name ``group`` stands for the group as people say it.

    Returns
    -------
    pandas.DataFrame
        One line per line of the frame.
    """
    import pandas as pd

    names = [group_name(d, k) for d, k in zip(frame["dataset"], frame["subset_type"])]
    lines: list[dict[str, Any]] = frame.assign(group=names).to_dict("records")  # type: ignore[assignment]
    made: dict[str, Any] = {}
    for heading, source in columns.items():
        if callable(source):
            made[heading] = [source(line) for line in lines]
        elif "{" in source:
            made[heading] = [source.format(**line) for line in lines]
        else:
            made[heading] = [line[source] for line in lines]
    return pd.DataFrame(made)
