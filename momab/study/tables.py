"""The paper's tables, computed from tables of runs, and how their numbers are written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momab.engine.streams import reward_words
from momab.model import instances, theory
from momab.model.instances import SYNTHETIC_SETTINGS
from momab.study.design import HORIZON, RUNS, paper_coefficient

if TYPE_CHECKING:
    import pandas as pd


def table1(runs: pd.DataFrame) -> pd.DataFrame:
    """Pareto regret, detection and fairness per group and policy (Table 1)."""
    return _grouped(
        runs,
        ["dataset", "subset_type", "policy"],
        {
            "pareto_regret_mean": ("pareto_regret", "mean"),
            "pareto_regret_std": ("pareto_regret", "std"),
            "detection_rate": ("detected", "mean"),
            "fairness_mean": ("fairness_regret", "mean"),
            "fairness_std": ("fairness_regret", "std"),
        },
    )


def table2(runs: pd.DataFrame) -> pd.DataFrame:
    """C_PUCB, regrets and certification rate per synthetic setting (Table 2)."""
    import pandas as pd

    rows = []
    for delta, m in SYNTHETIC_SETTINGS:
        part = runs[runs["instance"] == f"{delta:g}, {m}"]
        row: dict[str, Any] = {"delta": delta, "m": m}
        row["c_pucb"] = theory.c_pucb(instances.synthetic(delta, m).means, HORIZON)
        for name in ("Pareto UCB1", "Width-guided"):
            regret = part.loc[part["policy"] == name, "pareto_regret"]
            key = name.lower().replace(" ", "_").replace("-", "_")
            row[f"{key}_mean"], row[f"{key}_std"] = regret.mean(), regret.std()
        certified = part.loc[part["policy"] == "Width-guided", "certified"]
        row["certification_rate"] = certified.mean()
        rows.append(row)
    return pd.DataFrame(rows)


def choose_coefficients(validation_runs: pd.DataFrame) -> pd.DataFrame:
    """Choose, per group and policy, the coefficient with the least mean validation regret."""
    keys = ["dataset", "subset_type", "policy"]
    means = validation_runs.groupby([*keys, "c"], sort=False)["pareto_regret"].mean().reset_index()
    best = means.loc[means.groupby(keys, sort=False)["pareto_regret"].idxmin()]
    return best.rename(columns={"pareto_regret": "validation_regret"}).reset_index(drop=True)


def table3(chosen: pd.DataFrame) -> pd.DataFrame:
    """Width-guided's coefficient per group, as our validation chooses it (Table 3)."""
    rows = chosen[chosen["policy"] == "Width-guided"].drop(columns="policy")
    papers = [
        paper_coefficient(dataset, kind)
        for dataset, kind in zip(rows["dataset"], rows["subset_type"])
    ]
    return rows.assign(paper_c=papers).reset_index(drop=True)


def table4(runs: pd.DataFrame) -> pd.DataFrame:
    """Front precision, recall and coverage entropy per group and policy (Table 4)."""
    measures = ("front_precision", "front_recall", "coverage_entropy")
    columns = {name: (name, "mean") for name in measures}
    columns |= {f"{name}_std": (name, "std") for name in measures}
    return _grouped(runs, ["dataset", "subset_type", "policy"], columns)


def _grouped(
    runs: pd.DataFrame, keys: list[str], columns: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    grouped = runs.groupby(keys, sort=False).agg(**dict(columns))
    frame: pd.DataFrame = grouped.reset_index()
    return frame


def plus_minus(mean: float, spread: float) -> str:
    """A mean and its spread as the paper prints them, with three or four digits."""
    size = max(abs(mean), 1e-12)
    if size >= 10_000:
        power = math.floor(math.log10(size))
        return f"({mean / 10**power:.2f} ± {spread / 10**power:.2f})·10{_superscript(power)}"
    digits = 2 if size < 100 else 1
    return f"{mean:,.{digits}f} ± {spread:,.{digits}f}"


def _superscript(number: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(number))


def redraw(tails: pd.DataFrame, dataset: str, kind: str, count: int, seed: int) -> pd.DataFrame:
    """Draw the paper's runs of a group again, ``count`` times: 20 recorded ones of every subset.

    ``tails`` is :func:`momab.study.run_tails`.  One line per experiment: the ``average`` of its
    regrets, and how many of its runs are ``wrong``.  Word w of the seed's first stream chooses run
    (w n) >> 32 of the n runs of a subset, as the page draws them.
    """
    import pandas as pd

    group = tails[(tails["dataset"] == dataset) & (tails["subset_type"] == kind)]
    subsets = [part for _, part in group.groupby("subset")]
    words = reward_words(seed, 0, 0, 0, count * len(subsets) * RUNS)
    regrets, wrong = [], []
    for part, chosen in zip(subsets, words.reshape(count, len(subsets), RUNS).swapaxes(0, 1)):
        every = np.repeat(np.arange(len(part)), part["runs"])
        line = every[(chosen * np.uint64(len(every)) >> np.uint64(32)).astype(np.int64)]
        regrets.append(part["regret"].to_numpy()[line])
        wrong.append(part["wrong"].to_numpy()[line])
    each = np.concatenate(regrets, axis=1)
    averages = [math.fsum(row) / len(row) for row in each]
    return pd.DataFrame({"average": averages, "wrong": np.concatenate(wrong, axis=1).sum(axis=1)})
