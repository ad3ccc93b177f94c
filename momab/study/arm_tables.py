"""The arms of instances and of the frozen subsets, one line each, with their geometry."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momab.model import metrics
from momab.model.instances import Instance
from momab.study import datasets
from momab.study.datasets import subsets
from momab.study.design import DATASETS

if TYPE_CHECKING:
    import pandas as pd


def arm_table(instance: Instance) -> pd.DataFrame:
    """One line per arm: is it on the front, its Pareto gap, and its worst objective.

    ``fairness_cost`` is what every pull adds to the fairness regret: the largest worst mean of
    any arm minus that of this one.  ``wins`` counts the objectives on which it is the best.
    """
    import pandas as pd

    geometry, means = instance.geometry, instance.means
    winners = means == means.max(axis=0)
    return pd.DataFrame(
        {
            "arm": instance.arm_names,
            "on_front": np.isin(np.arange(instance.K), geometry.front),
            "gap": geometry.gaps,
            "wins": winners.sum(axis=1),
            "worst_mean": means.min(axis=1),
            "worst_objective": [instance.objective_names[j] for j in means.argmin(axis=1)],
            "fairness_cost": metrics.fairness_costs(means),
        }
    )


def compute_subset_arms(data_dir: str | Path | None = None) -> pd.DataFrame:
    """:func:`arm_table` of all eighteen frozen subsets, from the data."""
    import pandas as pd

    parts = []
    for dataset in DATASETS:
        whole = datasets.load(dataset, data_dir)
        for kind in subsets.KINDS:
            for number, subset in enumerate(subsets.frozen(dataset, kind), start=1):
                table = arm_table(subset.instance(whole))
                table.insert(0, "dataset", dataset)
                table.insert(1, "subset_type", kind)
                table.insert(2, "subset", str(number))
                table.insert(3, "position", np.arange(len(table)))
                parts.append(table)
    return pd.concat(parts, ignore_index=True)


def subset_arms() -> pd.DataFrame:
    """:func:`compute_subset_arms` as it comes with the package."""
    import pandas as pd

    source = resources.files("momab") / "data" / "subset_arms.csv"
    with source.open() as file:
        return pd.read_csv(file, dtype={"subset": str, "arm": str, "worst_objective": str})


def committed_arms(runs: pd.DataFrame, arms: pd.DataFrame) -> pd.DataFrame:
    """The arms that Width-guided committed to in recorded runs, with their geometry.

    One line per subset and arm: ``share`` of the subset's runs, the objectives that certified it,
    and the arm's line of :func:`subset_arms`.
    """
    keys = ["dataset", "subset_type", "subset"]
    guided: Any = runs[(runs["policy"] == "Width-guided") & runs["certified"]]
    counts = guided.groupby([*keys, "cert_arm"], sort=False).agg(
        runs=("run", "size"), objectives=("cert_objective", "nunique")
    )
    frame = counts.reset_index().rename(columns={"cert_arm": "position"})
    total = guided.groupby(keys, sort=False).size().rename("of").reset_index()
    frame = frame.merge(total, on=keys)
    frame["share"] = frame["runs"] / frame["of"]
    frame["position"] = frame["position"].astype(int)
    merged: pd.DataFrame = frame.merge(arms, on=[*keys, "position"], validate="one_to_one")
    return merged
