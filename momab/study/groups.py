"""The six groups of subsets, two data sets by three geometries, as tables and people name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from momab.study.datasets.subsets import EASY, FRIENDLY, MISLEADING

if TYPE_CHECKING:
    import pandas as pd


GROUP = ["dataset", "subset_type"]


DATASET_NAMES = {"spotify": "Spotify", "kuairec": "KuaiRec"}


KIND_NAMES = {MISLEADING: "misleading", FRIENDLY: "friendly", EASY: "easy"}


#: How many times Width-guided's regret the best other policy's is, as the paper's text says.
PAPER_RATIOS = {
    ("spotify", MISLEADING): 111.0,
    ("spotify", FRIENDLY): 223.0,
    ("spotify", EASY): 591.0,
    ("kuairec", MISLEADING): 1.7,
    ("kuairec", FRIENDLY): 16.0,
    ("kuairec", EASY): 1.2,
}


def group_name(dataset: str, kind: str) -> str:
    """A group as people say it: "Spotify misleading"."""
    return f"{DATASET_NAMES[dataset]} {KIND_NAMES[kind]}"


def by_group(frame: pd.DataFrame) -> list[tuple[str, str, Any]]:
    """The lines of each group that a table holds, in the order of the paper's rows."""
    parts = [(dataset, kind, one_group(frame, dataset, kind)) for dataset, kind in PAPER_RATIOS]
    return [part for part in parts if len(part[2])]


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of a table, group by group in the order of the paper's rows."""
    import pandas as pd

    parts: list[pd.DataFrame] = [part for _, _, part in by_group(frame)]
    return pd.concat(parts)


def group_names(frame: pd.DataFrame) -> list[str]:
    """The groups of a table's lines, each once."""
    return list(dict.fromkeys(with_group(frame)["group"]))


def with_group(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of a table with one more column, ``group``, the group as people say it."""
    names = [group_name(d, k) for d, k in zip(frame["dataset"], frame["subset_type"])]
    return frame.assign(group=names)


def one_group(frame: Any, dataset: str, kind: str) -> Any:
    """The lines of one group of subsets."""
    return frame[(frame["dataset"] == dataset) & (frame["subset_type"] == kind)]


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

    lines: list[dict[str, Any]] = with_group(frame).to_dict("records")  # type: ignore[assignment]
    made: dict[str, Any] = {}
    for heading, source in columns.items():
        if callable(source):
            made[heading] = [source(line) for line in lines]
        elif "{" in source:
            made[heading] = [source.format(**line) for line in lines]
        else:
            made[heading] = [line[source] for line in lines]
    return pd.DataFrame(made)
