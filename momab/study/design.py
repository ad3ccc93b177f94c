"""The design of the paper's study: sizes, settings, subsets, policies and coefficients.

The inputs are public, the synthetic family and the frozen subsets of two data sets, and nothing
else is needed; :mod:`momab.study.parts` runs what is designed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.base import Policy
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB
from momab.engine.policies.width_guided import WidthGuided
from momab.model.instances import SYNTHETIC_SETTINGS, Instance, synthetic
from momab.study import datasets
from momab.study.datasets import subsets
from momab.study.datasets.subsets import EASY
from momab.study.results import Results
from momab.study.simulate import simulate

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
        """Call :func:`momab.study.simulate.simulate` with these options."""
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


#: The settings whose trajectories Figure 2 shows.
SHOWN = ("0.12, 1", "0.02, 8")


def synthetic_instances() -> dict[str, Instance]:
    """The eight settings of the synthetic family, by the names that the tables use."""
    return {f"{delta:g}, {m}": synthetic(delta, m) for delta, m in SYNTHETIC_SETTINGS}


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
        whole,
        kind,
        count=3,
        seed=VALIDATION_SEED,
        contamination=datasets.named(dataset).contamination,
    )


def paper_policies(dataset: str, kind: str) -> dict[str, Policy]:
    """The four policies with the coefficients of the paper's real-data runs."""
    return {
        "Width-guided": WidthGuided(c=paper_coefficient(dataset, kind)),
        "Pareto UCB1": ParetoUCB1(q="real"),
        "Annealing-Pareto": AnnealingPareto(),
        "Scalarized UCB": ScalarizedUCB(),
    }


def tunable_policies(c: float) -> dict[str, Policy]:
    """The three policies that have a confidence coefficient, all with this one."""
    return {
        "Width-guided": WidthGuided(c=c),
        "Pareto UCB1": ParetoUCB1(q="real", c=c),
        "Scalarized UCB": ScalarizedUCB(c=c),
    }


def risk_runs(c: float, most: int) -> int:
    """Runs for a coefficient: fewer for a large one, which takes longer and errs less."""
    share = 1.0 if c <= 0.02 else 0.2 if c <= 0.05 else 0.005 / c
    return max(2, round(most * share))
