"""The six groups of subsets, two data sets by three geometries, as tables and people name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from momab.datasets.subsets import EASY, FRIENDLY, MISLEADING

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
    names = [group_name(d, k) for d, k in zip(frame["dataset"], frame["subset_type"])]
    return list(dict.fromkeys(names))


def one_group(frame: Any, dataset: str, kind: str) -> Any:
    """The lines of one group of subsets."""
    return frame[(frame["dataset"] == dataset) & (frame["subset_type"] == kind)]
