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
from momab.study.tables import choose_coefficients, table1, table2, table3, table4

if TYPE_CHECKING:
    import pandas as pd


# --- running the parts --------------------------------------------------------------------


def run_synthetic(options: Options, checkpoints: int = 0) -> Results:
    """Run Table 2: both policies on the eight settings, with the theorem's c = 2."""
    return options.simulate(
        synthetic_instances(),
        {"Width-guided": WidthGuided(), "Pareto UCB1": ParetoUCB1(q="synthetic")},
        checkpoints=checkpoints,
    )


def run_paths(options: Options) -> pd.DataFrame:
    """Follow Figure 2's runs: regret (mean, 5 % and 95 % quantiles) and certified share."""
    results = run_synthetic(options, checkpoints=120)
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
    """The parts of the study for some options, each computed when first asked for: ``parts.real``.

    ``policies`` are those of the part ``limit``; all if there is none.
    """

    options: Options
    risk_runs: int = 20_000
    coefficients: tuple[float, ...] = COEFFICIENTS
    policies: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> pd.DataFrame:
        """A part by its name."""
        if name not in PARTS:
            raise AttributeError(name)
        frame = self.__dict__[name] = PARTS[name].made(self)
        return frame


@dataclass(frozen=True)
class StudyPart:
    """How a part is computed, and whether that takes the data sets."""

    made: Callable[[Parts], pd.DataFrame]
    needs_data: bool = True


_ONE_RUN = ["dataset", "subset_type", "subset", "policy", "c", "run", "pareto_regret"]

PARTS: dict[str, StudyPart] = {
    "synthetic": StudyPart(
        lambda of: run_synthetic(of.options).runs.drop(columns=["front_precision", "front_recall"]),
        needs_data=False,
    ),
    "paths": StudyPart(lambda of: run_paths(of.options), needs_data=False),
    "real": StudyPart(lambda of: run_real(of.options)),
    "validation": StudyPart(
        lambda of: run_validation(of.options, of.coefficients)[[*_ONE_RUN, "detected"]]
    ),
    "retuned": StudyPart(
        lambda of: run_retuned(of.options, choose_coefficients(of.validation))[
            [*_ONE_RUN, "fairness_regret", "detected"]
        ]
    ),
    "risk": StudyPart(lambda of: run_risk(of.options, of.coefficients, of.risk_runs)),
    "tails": StudyPart(lambda of: run_tails(of.options, of.risk_runs)),
    # 300 runs to 20,000 of Width-guided
    "rivals": StudyPart(lambda of: run_rivals(of.options, max(2, round(of.risk_runs * 0.015)))),
    "prices": StudyPart(lambda of: run_prices(of.options)),
    "limit": StudyPart(lambda of: run_limit(of.options, of.policies)),
}


@dataclass(frozen=True)
class Target:
    """What `momab reproduce` is asked for: the parts it needs, and the options that change it.

    All other options are fixed by its design.  A figure has no ``table``.
    """

    parts: tuple[str, ...]
    takes: frozenset[str]
    table: Callable[[Parts], pd.DataFrame] | None = None


_SIZES = frozenset({"horizon", "runs", "seed"})
_MANY = frozenset({"horizon", "risk_runs", "seed"})

TARGETS: dict[str, Target] = {
    "table1": Target(("real",), _SIZES, lambda of: table1(of.real)),
    "table2": Target(("synthetic",), _SIZES, lambda of: table2(of.synthetic)),
    "table3": Target(
        ("validation",),
        frozenset({"horizon"}),
        lambda of: table3(choose_coefficients(of.validation)),
    ),
    "table4": Target(("real",), _SIZES, lambda of: table4(of.real)),
    "figure1": Target(("synthetic",), _SIZES),
    "figure2": Target(("paths",), _SIZES),
    "retuned": Target(("validation", "retuned"), _SIZES, lambda of: table1(of.retuned)),
    "risk": Target(("risk",), _MANY, lambda of: of.risk),
    "tails": Target(("tails",), _MANY, lambda of: of.tails),
    "rivals": Target(("rivals",), _MANY, lambda of: of.rivals),
    "prices": Target(("prices",), frozenset(), lambda of: of.prices),
    "limit": Target(("limit",), frozenset({"policy", "seed"}), lambda of: of.limit),
}


def wanted_parts(targets: Iterable[str]) -> list[str]:
    """The parts behind some targets, "all" among them, in the order of computation."""
    names = set()
    for target in targets:
        if target != "all" and target not in TARGETS:
            raise MomabError(
                f"there is no target {target!r}; choose from {', '.join(TARGETS)}, all."
            )
        names |= set(PARTS if target == "all" else TARGETS[target].parts)
    return [part for part in PARTS if part in names]


def require_taken(targets: Iterable[str], given: Mapping[str, str]) -> None:
    """Refuse an option that one of the targets does not take.

    ``given`` maps the options that a person has set to their names on the command line.
    """
    asked = set(targets)
    for target, about in TARGETS.items():
        if target not in asked and "all" not in asked:
            continue
        for option in given.keys() - about.takes:
            taken = ", ".join(name for key, name in OPTION_NAMES.items() if key in about.takes)
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
    if any(PARTS[part].needs_data for part in parts):
        for dataset in DATASETS:
            datasets.load(dataset, options.data_dir)
