r"""The paper's computational study: what is run, and how its tables follow from the runs.

Each *part* of the study is one table of runs with a line per run, computed by a function here
from public inputs (the synthetic family, the frozen subsets) and nothing else:

========== ==================================================== =============================
part       runs                                                 feeds
========== ==================================================== =============================
synthetic  8 settings x 2 policies                              Table 2, Figures 1 and 2
real       18 frozen subsets x 4 policies                       Tables 1 and 4
validation 18 validation subsets x 3 policies x coefficients    Table 3, equal tuning
retuned    18 frozen subsets x policies with tuned coefficients Table 1 again
risk       18 frozen subsets x coefficients, many runs          what 60 runs cannot see
rivals     18 frozen subsets x Annealing-Pareto, many runs      what 60 runs cannot see
========== ==================================================== =============================

The paper's own numbers come with the package (``momab/data/paper``), and :func:`compare` sets
ours beside them, cell by cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momab import datasets
from momab.datasets import subsets
from momab.datasets.subsets import EASY, KINDS
from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.base import Policy
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.results import Results
from momab.engine.simulate import simulate
from momab.errors import MomabError
from momab.model import instances, theory
from momab.model.instances import SYNTHETIC_SETTINGS, Instance

if TYPE_CHECKING:
    import pandas as pd

HORIZON = 10**6
RUNS = 20
SEED = 20260704
VALIDATION_SEED = 20260604
VALIDATION_RUNS = 3

DATASETS = ("spotify", "kuairec")
POLICIES = ("Width-guided", "Pareto UCB1", "Annealing-Pareto", "Scalarized UCB")

#: Candidate confidence coefficients for the tuning; the paper does not print its grid.
COEFFICIENTS = (
    0.0005,
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.03,
    0.05,
    0.1,
    0.2,
    0.5,
    1.0,
    2.0,
)


def paper_coefficient(dataset: str, kind: str) -> float:
    """Table 3's c, to the digits of the released configuration."""
    return 0.0089410106 if (dataset, kind) == ("spotify", EASY) else 0.02


@dataclass(frozen=True)
class Options:
    """How to run: sizes, and where data and finished runs are."""

    horizon: int = HORIZON
    runs: int = RUNS
    seed: int = SEED
    data_dir: str | Path | None = None
    store: str | Path | None = None
    workers: int | None = None
    progress: bool | None = None

    def simulate(
        self,
        instance: Instance | Mapping[str, Instance],
        policies: Mapping[str, Policy],
        **changes: Any,
    ) -> Results:
        """Call :func:`momab.engine.simulate.simulate` with these options."""
        settings: dict[str, Any] = {
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "checkpoints": 0,
            "store": self.store,
            "workers": self.workers,
            "progress": self.progress,
        }
        return simulate(instance, policies, **{**settings, **changes})


# --- the parts ----------------------------------------------------------------------------


def synthetic(options: Options, checkpoints: int = 0) -> Results:
    """Run Table 2: both policies on the eight settings, with the theorem's c = 2."""
    settings = {f"{delta:g}, {m}": instances.synthetic(delta, m) for delta, m in SYNTHETIC_SETTINGS}
    return options.simulate(
        settings,
        {"Width-guided": WidthGuided(), "Pareto UCB1": ParetoUCB1(q="synthetic")},
        checkpoints=checkpoints,
    )


#: The settings whose trajectories Figure 2 shows.
SHOWN = ("0.12, 1", "0.02, 8")


def paths(options: Options, checkpoints: int = 120) -> pd.DataFrame:
    """Follow Figure 2's runs: regret (mean, 5 % and 95 % quantiles) and certified share."""
    results = synthetic(options, checkpoints)
    path = results.trajectories
    path = path[path["instance"].isin(SHOWN)]
    keys = ["instance", "policy", "t"]
    regret = path.groupby(keys, sort=False)["pareto_regret"]
    frame = regret.agg(
        mean="mean", q05=lambda x: x.quantile(0.05), q95=lambda x: x.quantile(0.95)
    ).reset_index()
    rounds = results.runs.set_index(["instance", "policy"])["cert_round"]
    frame["certified"] = [
        float((rounds.loc[instance, policy] < t).fillna(False).mean())
        for instance, policy, t in zip(frame["instance"], frame["policy"], frame["t"])
    ]
    return frame


def real_instances(options: Options, dataset: str, kind: str) -> dict[str, Instance]:
    """The three frozen subsets of a group, numbered from 1."""
    whole = _whole(dataset, options.data_dir)
    found = subsets.frozen(dataset, kind)
    return {str(i): subset.instance(whole) for i, subset in enumerate(found, start=1)}


def validation_instances(options: Options, dataset: str, kind: str) -> dict[str, Instance]:
    """Three validation subsets of a group, drawn by the selector with the validation seed."""
    whole = _whole(dataset, options.data_dir)
    found = _validation_subsets(dataset, kind, options.data_dir)
    return {str(i): subset.instance(whole) for i, subset in enumerate(found, start=1)}


@cache
def _whole(dataset: str, data_dir: str | Path | None) -> Instance:
    """The large instance, read once."""
    return datasets.load(dataset, data_dir)


@cache
def _validation_subsets(
    dataset: str, kind: str, data_dir: str | Path | None
) -> Sequence[subsets.Subset]:
    """The selection, which takes seconds for KuaiRec, made once."""
    whole = _whole(dataset, data_dir)
    return subsets.select(
        whole, kind, count=3, seed=VALIDATION_SEED, contamination=dataset == "kuairec"
    )


def paper_policies(dataset: str, kind: str) -> dict[str, Policy]:
    """The four policies with the coefficients of the paper's real-data runs."""
    return {
        "Width-guided": WidthGuided(c=paper_coefficient(dataset, kind)),
        "Pareto UCB1": ParetoUCB1(q="real"),
        "Annealing-Pareto": AnnealingPareto(),
        "Scalarized UCB": ScalarizedUCB(),
    }


def real(options: Options) -> pd.DataFrame:
    """Run Tables 1 and 4: the four policies on the eighteen frozen subsets."""
    return _over_groups(
        lambda dataset, kind: (
            options.simulate(
                real_instances(options, dataset, kind),
                paper_policies(dataset, kind),
                front_metrics=True,
            ).runs
        )
    )


def tunable_policies(c: float) -> dict[str, Policy]:
    """The three policies that have a confidence coefficient, all with this one."""
    return {
        "Width-guided": WidthGuided(c=c),
        "Pareto UCB1": ParetoUCB1(q="real", c=c),
        "Scalarized UCB": ScalarizedUCB(c=c),
    }


def validation(options: Options, coefficients: Sequence[float] = COEFFICIENTS) -> pd.DataFrame:
    """Run the tuning: every coefficient on the validation subsets, three runs each."""

    def group(dataset: str, kind: str) -> pd.DataFrame:
        chosen = validation_instances(options, dataset, kind)
        return _stack(
            [
                options.simulate(
                    chosen, tunable_policies(c), runs=VALIDATION_RUNS, seed=VALIDATION_SEED
                ).runs.assign(c=c)
                for c in coefficients
            ]
        )

    return _over_groups(group)


def retuned(options: Options, chosen: pd.DataFrame) -> pd.DataFrame:
    """Run the frozen subsets with everybody's tuned coefficient, as :func:`choose` found it."""
    table = chosen.set_index(["dataset", "subset_type", "policy"])["c"]

    def group(dataset: str, kind: str) -> pd.DataFrame:
        tuned = {
            name: tunable_policies(float(table[dataset, kind, name]))[name]
            for name in ("Width-guided", "Pareto UCB1", "Scalarized UCB")
        }
        runs = options.simulate(real_instances(options, dataset, kind), tuned).runs
        return runs.assign(c=[float(table[dataset, kind, name]) for name in runs["policy"]])

    return _over_groups(group)


def risk_runs(c: float, most: int) -> int:
    """Runs for a coefficient: fewer for a large one, which takes longer and errs less."""
    share = 1.0 if c <= 0.02 else 0.2 if c <= 0.05 else 0.005 / c
    return max(2, round(most * share))


def risk(
    options: Options, coefficients: Sequence[float] = COEFFICIENTS, runs: int = 20_000
) -> pd.DataFrame:
    """Summarise many Width-guided runs per frozen subset and coefficient.

    One line per subset and c: mean with its bootstrap interval, quantiles, and the rate of
    commitments to a dominated arm with its exact interval.  :func:`risk_runs` says how many runs
    a coefficient gets; the paper's own coefficient of a group is always among them.
    """

    def group(dataset: str, kind: str) -> pd.DataFrame:
        chosen = real_instances(options, dataset, kind)
        parts = []
        for c in sorted({*coefficients, paper_coefficient(dataset, kind)}):
            count = risk_runs(c, runs)
            found = options.simulate(chosen, {"Width-guided": WidthGuided(c=c)}, runs=count)
            parts.append(found.summary().assign(c=c))
        return _stack(parts)

    return _over_groups(group)


def rivals(options: Options, runs: int = 300) -> pd.DataFrame:
    """Summarise more runs of Annealing-Pareto, whose regret has a heavy tail, too.

    One line per frozen subset, as :func:`risk` has them.  The other two rivals never stop
    exploring, and sixty of their runs tell their means well enough.
    """
    return _over_groups(
        lambda dataset, kind: options.simulate(
            real_instances(options, dataset, kind),
            {"Annealing-Pareto": AnnealingPareto()},
            runs=runs,
        ).summary()
    )


def _over_groups(run: Callable[[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Run the six groups and say in every line which one it belongs to."""
    parts = []
    for dataset in DATASETS:
        for kind in KINDS:
            part = run(dataset, kind).rename(columns={"instance": "subset"})
            part.insert(0, "dataset", dataset)
            part.insert(1, "subset_type", kind)
            parts.append(part)
    return _stack(parts)


def _stack(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(list(parts), ignore_index=True)


# --- the tables ---------------------------------------------------------------------------


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


def choose(validation_runs: pd.DataFrame) -> pd.DataFrame:
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


def paper_table(number: int) -> pd.DataFrame:
    """The numbers that the paper prints in Table 1, 2, 3 or 4."""
    import pandas as pd

    names = {
        1: "table1_real",
        2: "table2_synthetic",
        3: "table3_tuning",
        4: "table4_front_coverage",
    }
    if number not in names:
        raise MomabError(f"the paper has Tables 1 to 4; there is no Table {number}.")
    source = resources.files("momab") / "data" / "paper" / f"{names[number]}.csv"
    with source.open() as file:
        table = pd.read_csv(file)
    if number == 4:
        table["subset_type"] = table["subset_type"].map(subsets.kind_of)
    return table


# --- the comparison -----------------------------------------------------------------------

#: Half a unit of the last printed digit, per column: rounding is not disagreement.
ROUNDING = {
    "pareto_regret_mean": 0.005,
    "detection_rate": 0.0005,
    "fairness_mean": None,  # three significant digits
    "pareto_ucb1_mean": 0.05,
    "width_guided_mean": 0.05,
    "front_precision": 0.0005,
    "front_recall": 0.0005,
    "coverage_entropy": 0.0005,
}


def compare(number: int, runs: pd.DataFrame) -> pd.DataFrame:
    """Set our cells of Table 1, 2 or 4 beside the paper's, with a verdict each.

    z is the difference, less half a unit of the last printed digit, over the root of both
    squared standard errors.  Table 4 prints no spread, so ours serves for both sides; for
    rates the pooled binomial variance does.  Within 3 the cell agrees.
    """
    import pandas as pd

    makers = {1: table1, 2: table2, 4: table4}
    if number not in makers:
        raise MomabError("cells are compared for Tables 1, 2 and 4.")
    ours, theirs = makers[number](runs), paper_table(number)
    keys = ["delta", "m"] if number == 2 else ["dataset", "subset_type", "policy"]
    paper_runs = RUNS if number == 2 else 3 * RUNS
    our_runs = len(runs) // (len(theirs) * (2 if number == 2 else 1))
    both = theirs.merge(ours, on=keys, suffixes=("_paper", "_ours"), validate="one_to_one")
    cells = []
    for column in ROUNDING:
        if f"{column}_paper" not in both:
            continue
        for _, row in both.iterrows():
            paper, mine = float(row[f"{column}_paper"]), float(row[f"{column}_ours"])
            paper_sd, our_sd = _spreads(row, column, paper, mine, paper_runs, our_runs)
            error = math.sqrt(paper_sd**2 / paper_runs + our_sd**2 / our_runs)
            excess = max(0.0, abs(mine - paper) - _half_unit(column, paper))
            z = 0.0 if excess == 0 else excess / error if error > 0 else math.inf
            cells.append(
                {
                    **{key: row[key] for key in keys},
                    "column": column,
                    "paper": paper,
                    "paper_sd": paper_sd,
                    "ours": mine,
                    "ours_sd": our_sd,
                    "runs": our_runs,
                    "z": math.copysign(z, mine - paper),
                    "verdict": "agrees" if z <= 3 else "differs",
                }
            )
    return pd.DataFrame(cells)


def _half_unit(column: str, value: float) -> float:
    half = ROUNDING[column]
    if half is not None:
        return half
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    # Table 1 prints the smallest fairness regrets as multiples of 1
    return 0.5 * float(np.power(10.0, -min(digits, 0)))


def _spreads(
    row: pd.Series[Any], column: str, paper: float, mine: float, n: int, m: int
) -> tuple[float, float]:
    """The standard deviations of one run in the paper's cell and in ours."""
    if column == "detection_rate":
        pooled = (paper * n + mine * m) / (n + m)
        spread = math.sqrt(pooled * (1 - pooled))
        return spread, spread
    base = column.removesuffix("_mean")
    if f"{base}_std_paper" in row:
        return float(row[f"{base}_std_paper"]), float(row[f"{base}_std_ours"])
    return float(row[f"{column}_std"]), float(row[f"{column}_std"])
