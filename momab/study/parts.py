"""The parts of the study: each is one table of runs, computed when it is first asked for.

========== ==================================================== =============================
part       runs                                                 feeds
========== ==================================================== =============================
synthetic  8 settings x 2 policies                              Table 2, Figures 1 and 2
paths      the settings that Figure 2 shows                     Figure 2
real       18 frozen subsets x 4 policies                       Tables 1 and 4
validation 18 validation subsets x 3 policies x coefficients    Table 3, equal tuning
retuned    18 frozen subsets x policies with tuned coefficients Table 1 again
risk       18 frozen subsets x coefficients, many runs          what 60 runs cannot see
tails      the same runs at the paper's coefficients, one by    what 60 runs cannot see
           one, with rounded regrets
rivals     18 frozen subsets x Annealing-Pareto, many runs      what 60 runs cannot see
prices     26 instances: what each costs at least               a policy at the limit
limit      26 instances x every policy, default and tuned       a policy at the limit
========== ==================================================== =============================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.errors import MomabError
from momab.study import datasets
from momab.study.datasets.subsets import KINDS
from momab.study.design import (
    COEFFICIENTS,
    DATASETS,
    SHOWN,
    VALIDATION_RUNS,
    VALIDATION_SEED,
    Options,
    paper_coefficient,
    paper_policies,
    real_instances,
    risk_runs,
    synthetic_instances,
    tunable_policies,
    validation_instances,
)
from momab.study.limit import run_limit, run_prices
from momab.study.results import Results
from momab.study.tables import choose_coefficients

if TYPE_CHECKING:
    import pandas as pd

#: Which parts of the study each target needs.
TARGETS: dict[str, tuple[str, ...]] = {
    "table1": ("real",),
    "table2": ("synthetic",),
    "table3": ("validation",),
    "table4": ("real",),
    "figure1": ("synthetic",),
    "figure2": ("paths",),
    "retuned": ("validation", "retuned"),
    "risk": ("risk",),
    "tails": ("tails",),
    "rivals": ("rivals",),
    "prices": ("prices",),
    "limit": ("limit",),
}
_SIZES = frozenset({"horizon", "runs", "seed"})
_MANY = frozenset({"horizon", "risk_runs", "seed"})
#: Which options of `momab reproduce` change a target; the others are fixed by its design.
TAKES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("table1", "table2", "table4", "figure1", "figure2", "retuned"), _SIZES),
    "table3": frozenset({"horizon"}),
    **dict.fromkeys(("risk", "tails", "rivals"), _MANY),
    "prices": frozenset(),
    "limit": frozenset({"policy", "seed"}),
}
#: Parts that cannot be computed without the data sets.
NEED_DATA = ("real", "validation", "retuned", "risk", "tails", "rivals", "prices", "limit")


# --- running the parts --------------------------------------------------------------------


def run_synthetic(options: Options, checkpoints: int = 0) -> Results:
    """Run Table 2: both policies on the eight settings, with the theorem's c = 2."""
    return options.simulate(
        synthetic_instances(),
        {"Width-guided": WidthGuided(), "Pareto UCB1": ParetoUCB1(q="synthetic")},
        checkpoints=checkpoints,
    )


def run_paths(options: Options, checkpoints: int = 120) -> pd.DataFrame:
    """Follow Figure 2's runs: regret (mean, 5 % and 95 % quantiles) and certified share."""
    results = run_synthetic(options, checkpoints)
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


def run_real(options: Options) -> pd.DataFrame:
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


def run_validation(options: Options, coefficients: Sequence[float] = COEFFICIENTS) -> pd.DataFrame:
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


def run_retuned(options: Options, chosen: pd.DataFrame) -> pd.DataFrame:
    """Run the frozen subsets with every policy's coefficient of :func:`choose_coefficients`."""
    table = chosen.set_index(["dataset", "subset_type", "policy"])["c"]

    def group(dataset: str, kind: str) -> pd.DataFrame:
        tuned = {
            name: tunable_policies(float(table[dataset, kind, name]))[name]
            for name in ("Width-guided", "Pareto UCB1", "Scalarized UCB")
        }
        runs = options.simulate(real_instances(options, dataset, kind), tuned).runs
        return runs.assign(c=[float(table[dataset, kind, name]) for name in runs["policy"]])

    return _over_groups(group)


def run_risk(
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


def run_tails(options: Options, runs: int = 20_000) -> pd.DataFrame:
    """Count the regrets of :func:`run_risk` at the paper's coefficients, rounded.

    One line per frozen subset and value: how many runs have it, and whether they committed to a
    dominated arm.  Values below 100 are rounded to two digits, others to four: that is small to
    keep, and means of many runs hardly change.
    """

    def group(dataset: str, kind: str) -> pd.DataFrame:
        chosen = real_instances(options, dataset, kind)
        policy = {"Width-guided": WidthGuided(c=paper_coefficient(dataset, kind))}
        found = options.simulate(chosen, policy, runs=runs).runs
        found["wrong"] = (found["certified"] & ~found["cert_on_front"]).astype(bool)
        found["regret"] = [float(f"{x:.{2 if x < 100 else 4}g}") for x in found["pareto_regret"]]
        lines = found.groupby(["instance", "wrong", "regret"]).size()
        return lines.rename("runs").reset_index()

    return _over_groups(group)


def run_rivals(options: Options, runs: int = 300) -> pd.DataFrame:
    """Summarise more runs of Annealing-Pareto, whose regret has a heavy tail, too.

    One line per frozen subset, as :func:`run_risk` has them.  The other two rivals never stop
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


# --- the parts and the targets ------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The parts of the study for some options, each computed when first asked for."""

    options: Options
    risk_runs: int = 20_000
    coefficients: tuple[float, ...] = COEFFICIENTS
    policies: tuple[str, ...] = ()
    """The policies of the part ``limit``; all if there is none."""

    @cached_property
    def synthetic(self) -> pd.DataFrame:
        """Runs of Table 2."""
        return run_synthetic(self.options).runs.drop(columns=["front_precision", "front_recall"])

    @cached_property
    def paths(self) -> pd.DataFrame:
        """Mean and quantiles of the regret, and the certified share, along Figure 2's runs."""
        return run_paths(self.options)

    @cached_property
    def real(self) -> pd.DataFrame:
        """Runs of Tables 1 and 4."""
        return run_real(self.options)

    @cached_property
    def validation(self) -> pd.DataFrame:
        """Runs of the tuning."""
        columns = ["dataset", "subset_type", "subset", "policy", "c", "run", "pareto_regret"]
        return run_validation(self.options, self.coefficients)[[*columns, "detected"]]

    @cached_property
    def retuned(self) -> pd.DataFrame:
        """Runs of the frozen subsets with every policy's tuned coefficient."""
        runs = run_retuned(self.options, choose_coefficients(self.validation))
        columns = ["dataset", "subset_type", "subset", "policy", "c", "run", "pareto_regret"]
        return runs[[*columns, "fairness_regret", "detected"]]

    @cached_property
    def risk(self) -> pd.DataFrame:
        """Summaries of many Width-guided runs per subset and coefficient."""
        return run_risk(self.options, self.coefficients, self.risk_runs)

    @cached_property
    def tails(self) -> pd.DataFrame:
        """How often each regret occurred in many Width-guided runs per subset."""
        return run_tails(self.options, self.risk_runs)

    @cached_property
    def rivals(self) -> pd.DataFrame:
        """Summaries of more Annealing-Pareto runs per subset: 300 to 20,000 of Width-guided."""
        return run_rivals(self.options, max(2, round(self.risk_runs * 0.015)))

    @cached_property
    def prices(self) -> pd.DataFrame:
        """The price of every instance under three classes of alternatives."""
        return run_prices(self.options)

    @cached_property
    def limit(self) -> pd.DataFrame:
        """Summaries of every policy on every instance, beside the price."""
        return run_limit(self.options, self.policies)


PARTS = (
    *("synthetic", "paths", "real", "validation", "retuned"),
    *("risk", "tails", "rivals", "prices", "limit"),
)


def wanted_parts(targets: Iterable[str]) -> list[str]:
    """The parts behind some targets, "all" among them, in the order of computation."""
    names = set()
    for target in targets:
        if target != "all" and target not in TARGETS:
            raise MomabError(
                f"there is no target {target!r}; choose from {', '.join(TARGETS)}, all."
            )
        names |= set(PARTS if target == "all" else TARGETS[target])
    return [part for part in PARTS if part in names]


def require_taken(targets: Iterable[str], given: Mapping[str, str]) -> None:
    """Refuse an option that one of the targets does not take.

    ``given`` maps the options that a person has set to their names on the command line.
    """
    asked = set(targets)
    for target, takes in TAKES.items():
        if target not in asked and "all" not in asked:
            continue
        for option in given.keys() - takes:
            taken = ", ".join(name for key, name in OPTION_NAMES.items() if key in takes)
            raise MomabError(
                f"the target {target} does not take {given[option]}; "
                f"it takes {taken or 'none of these options'}."
            )


OPTION_NAMES = {
    "horizon": "-T",
    "runs": "-n",
    "seed": "--seed",
    "risk_runs": "--risk-runs",
    "policy": "--policy",
}
"""The options that change what is computed, as the command line names them."""


def require_data(parts: Iterable[str], options: Options) -> None:
    """Say at once, not after minutes, that a data set is missing."""
    if any(part in NEED_DATA for part in parts):
        for dataset in DATASETS:
            datasets.load(dataset, options.data_dir)
