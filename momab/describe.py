r"""The geometry of an instance in tables and sentences: front, gaps, leads, and what bounds say.

Used for users' own tables (``momab study``) and for the frozen subsets, whose tables come with
the package (``momab/data/subset_arms.csv``), so that the book can draw them without the data.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momab import datasets, metrics, subsets, theory
from momab.errors import MomabError
from momab.instances import Instance, from_csv

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


def objective_table(instance: Instance) -> pd.DataFrame:
    """One line per objective: its best arm, that arm's mean, and the lead over the second."""
    import pandas as pd

    means = instance.means
    best = means.argmax(axis=0)
    tied = (means == means.max(axis=0)).sum(axis=0) > 1
    return pd.DataFrame(
        {
            "objective": instance.objective_names,
            "best_arm": [
                "several" if many else instance.arm_names[a] for a, many in zip(best, tied)
            ],
            "best_mean": means.max(axis=0),
            "lead": instance.geometry.objective_gaps,
        }
    )


@dataclass(frozen=True)
class InForce:
    """Which regret bounds hold for an instance at a horizon, and what they say."""

    g_dagger: float
    theorem: float  # infinite when no objective has a unique best arm
    sharper: float
    pareto_ucb1: float
    trivial: float  # the horizon times the largest gap

    @property
    def text(self) -> str:
        """The same in sentences, Markdown with mathematics."""
        if self.trivial == 0:
            return (
                "No arm has a positive Pareto gap: every policy has zero Pareto regret here, and "
                "there is nothing to bound."
            )
        if self.g_dagger > 0:
            said = (
                rf"The largest lead is $g^\dagger={self.g_dagger:.4f}>0$, so **Theorem 4 is in "
                f"force** and bounds Width-guided's expected regret ($c=2$) by "
                f"{_number(self.theorem)}; the sharper bound says {_number(self.sharper)}."
            )
        else:
            said = (
                r"Every objective has several best arms, $g^\dagger=0$: **Theorem 4 is silent**, "
                f"and the sharper bound is in force, at {_number(self.sharper)}."
            )
        said += f" Pareto UCB1's bound is {_number(self.pareto_ucb1)}."
        least = min(self.theorem, self.sharper, self.pareto_ucb1)
        if least >= self.trivial:
            said += (
                f" None of them is below what any policy has, the horizon times the largest gap, "
                f"{_number(self.trivial)}: at this horizon the bounds say nothing."
            )
        return said


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def in_force(instance: Instance, horizon: int) -> InForce:
    """The bounds on an instance, with the theorem's coefficient c = 2."""
    return InForce(
        g_dagger=instance.geometry.g_dagger,
        theorem=theory.theorem_bound(instance.means, horizon).total,
        sharper=theory.sharper_bound(instance.means, horizon).total,
        pareto_ucb1=theory.pareto_ucb1_bound(instance.means, horizon).total,
        trivial=horizon * instance.geometry.max_gap,
    )


def geometry_text(instance: Instance) -> str:
    """Say in a few sentences what an instance looks like."""
    geometry = instance.geometry
    names = instance.arm_names
    front = [names[a] for a in geometry.front]
    shown = ", ".join(front[:8]) + (" and others" if len(front) > 8 else "")
    positive = geometry.positive_gaps
    said = [
        f"{instance.K} arms, {instance.d} objectives. {len(front)} arms are in the Pareto set: "
        f"{shown}."
    ]
    if positive.size:
        said.append(
            f"{positive.size} arms have a positive Pareto gap, from {positive.min():.4f} to "
            f"{positive.max():.4f}."
        )
    if geometry.g_dagger > 0:
        j = geometry.j_dagger
        best = names[int(instance.means[:, j].argmax())]
        said.append(
            f"The largest lead is {geometry.g_dagger:.4f}: {best} on {instance.objective_names[j]}."
        )
    else:
        said.append("On every objective several arms share the first place: no lead is positive.")
    if geometry.zero_gap_dominated:
        trapped = ", ".join(names[a] for a in geometry.zero_gap_dominated)
        said.append(f"Dominated with gap zero, so free of charge to Pareto regret: {trapped}.")
    if geometry.inconsistent_arms:
        odd = ", ".join(names[a] for a in geometry.inconsistent_arms)
        said.append(f"Best on an objective, though not alone, and yet dominated: {odd}.")
    return " ".join(said)


def parse_scale(assignments: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Read ``column=low:high`` as the command line takes it."""
    found = {}
    for text in assignments:
        column, equals, bounds = text.rpartition("=")
        low, colon, high = bounds.partition(":")
        try:
            found[column.strip()] = (float(low), float(high))
        except ValueError:
            colon = ""
        if not (equals and colon and column.strip()):
            raise MomabError(
                f"--scale takes column=low:high, for example loudness=-60:0; it is {text!r}."
            )
    return found


def study_assignments(
    table: str | Path,
    arm: str,
    objectives: Sequence[str],
    scale: Iterable[str],
    values: Mapping[str, Any],
) -> list[str]:
    """What the page on own data is run with, once the table has proved to be an instance.

    A fingerprint of the file is among the values, so that a changed table is a new page.
    """
    path = Path(table).resolve()
    ranges = parse_scale(scale)
    from_csv(path, arm, objectives, ranges)
    parts = {
        "table": str(path),
        "arm": arm,
        "objectives": ";".join(objectives),
        "scale": ";".join(f"{name}={low:g}:{high:g}" for name, (low, high) in ranges.items()),
        "fingerprint": hashlib.sha256(path.read_bytes()).hexdigest()[:16],
        **{name: f"{value}" for name, value in values.items()},
    }
    for name, text in parts.items():
        if "," in text or (name in ("arm", "table") and ";" in text):
            raise MomabError(f"names must not hold commas or semicolons here; {name} is {text!r}.")
    return [f"{name}={text}" for name, text in parts.items() if text]


def example_table(seed: int, rows: int = 120) -> pd.DataFrame:
    """A small table to try things on: visits to eight cafés, rated from 0 to 1.

    The qualities of the cafés are fixed; the ratings are drawn from the seed.
    """
    import pandas as pd

    qualities = {
        "Aurora": (0.82, 0.45, 0.35, 0.60),
        "Brick Lane": (0.64, 0.72, 0.55, 0.52),
        "Copper Pot": (0.60, 0.68, 0.50, 0.50),
        "Dock 4": (0.45, 0.30, 0.94, 0.42),
        "Espresso Bar": (0.70, 0.36, 0.25, 0.45),
        "Fig & Olive": (0.50, 0.55, 0.45, 0.74),
        "Glasshouse": (0.48, 0.52, 0.42, 0.66),
        "Harbour": (0.35, 0.22, 0.58, 0.32),
    }
    rng = np.random.default_rng(seed)
    parts = []
    for name, means in qualities.items():
        mean = np.asarray(means)
        ratings = rng.beta(6 * mean, 6 * (1 - mean), (rows, len(mean)))
        part = pd.DataFrame(ratings.round(2), columns=["coffee", "quiet", "price", "food"])
        part.insert(0, "cafe", name)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def columns_of(text: str) -> list[str]:
    """Column names from one text, separated by semicolons or commas."""
    return [name.strip() for name in text.replace(";", ",").split(",") if name.strip()]


# --- the frozen subsets ---------------------------------------------------------------------


def compute_subset_arms(data_dir: str | Path | None = None) -> pd.DataFrame:
    """:func:`arm_table` of all eighteen frozen subsets, from the data."""
    import pandas as pd

    parts = []
    for dataset in ("spotify", "kuairec"):
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


def certified_arms(runs: pd.DataFrame, arms: pd.DataFrame) -> pd.DataFrame:
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


def entropy_of(shares: Iterable[float]) -> float:
    """The entropy of some shares in bits: 0 when one arm takes all."""
    return -math.fsum(p * math.log2(p) for p in shares if p > 0)
