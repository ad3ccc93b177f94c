"""Every policy against the price: one line per instance, policy and size of the experiment.

The instances are the eight synthetic settings and the eighteen frozen subsets.  A policy with a
confidence coefficient is played with its default and, as "tuned", with the coefficient that
did best in validation: on the validation subsets of the same group, and for the synthetic family
on the eight settings themselves, with the validation seed, three runs each, every policy alike.

The lines of a policy depend on no other policy, so they can be computed, recorded and compared one
policy at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.anytime import AnytimeWidthGuided
from momab.engine.policies.base import Policy
from momab.engine.policies.kl_ucb import KLUCB
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.policies.pareto_thompson import ParetoThompson
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB
from momab.engine.policies.single_ucb1 import SingleUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.errors import MomabError
from momab.model import theory
from momab.model.instances import Instance
from momab.model.kinf import instance_price
from momab.model.numerics import log
from momab.model.statistics import bootstrap_interval, rates
from momab.study.datasets.subsets import KINDS
from momab.study.design import (
    COEFFICIENTS,
    DATASETS,
    VALIDATION_RUNS,
    VALIDATION_SEED,
    Options,
    paper_coefficient,
    real_instances,
    synthetic_instances,
    validation_instances,
)

if TYPE_CHECKING:
    import pandas as pd

SYNTHETIC = "synthetic"
GROUPS = ((SYNTHETIC, SYNTHETIC), *((dataset, kind) for dataset in DATASETS for kind in KINDS))
"""The groups of instances that share a coefficient: (dataset, group)."""

SIZES = ((100_000, 1000), (1_000_000, 40))
"""The experiments: (horizon, runs)."""
TAILS = (20_000, 5000)
"""The experiment on tails of the policies that never commit and follow the price, or anneal."""
COMMITTED_TAILS = (100_000, 20_000)
"""The experiment on tails of the policies that commit early, which is cheap."""


@dataclass(frozen=True)
class Contender:
    """A policy of the comparison: how it is built for a group, by its coefficient if it has one."""

    build: Callable[[str, str, float], Policy]
    tuned: bool = False
    """Whether the coefficient is chosen by validation."""
    sizes: tuple[tuple[int, int], ...] = SIZES


def _q(dataset: str) -> str:
    """The constant of Pareto UCB1's bonus, as the paper ran it."""
    return "synthetic" if dataset == SYNTHETIC else "real"


def _default(policy: Policy, *more: tuple[int, int]) -> Contender:
    return Contender(lambda dataset, kind, c: policy, sizes=(*SIZES, *more))


CONTENDERS: dict[str, Contender] = {
    "Pareto IMED": _default(ParetoIMED(), TAILS),
    "Pareto IMED (sum)": _default(ParetoIMED(evidence="sum"), TAILS),
    "KL-UCB (oracle)": _default(KLUCB(objective="oracle"), TAILS),
    "KL-UCB (random)": _default(KLUCB(objective="random")),
    "UCB1 (oracle)": _default(SingleUCB1(objective="oracle")),
    "UCB1 (oracle, tuned)": Contender(
        lambda dataset, kind, c: SingleUCB1(objective="oracle", c=c), tuned=True
    ),
    "UCB1 (random)": _default(SingleUCB1(objective="random")),
    "Width-guided": _default(WidthGuided()),
    "Width-guided (paper's c)": Contender(
        lambda dataset, kind, c: WidthGuided(c=_paper_c(dataset, kind)),
        sizes=(*SIZES, COMMITTED_TAILS),
    ),
    "Width-guided (tuned)": Contender(
        lambda dataset, kind, c: WidthGuided(c=c), tuned=True, sizes=(*SIZES, COMMITTED_TAILS)
    ),
    "Width-guided (kl)": _default(WidthGuided(certificate="kl")),
    "Width-guided (kl, tuned)": Contender(
        lambda dataset, kind, c: WidthGuided(c=c, certificate="kl"),
        tuned=True,
        sizes=(*SIZES, COMMITTED_TAILS),
    ),
    "Width-guided (anytime)": _default(AnytimeWidthGuided()),
    "Pareto UCB1": Contender(lambda dataset, kind, c: ParetoUCB1(q=_q(dataset))),
    "Pareto UCB1 (tuned)": Contender(
        lambda dataset, kind, c: ParetoUCB1(q=_q(dataset), c=c), tuned=True
    ),
    "Pareto UCB1 (stops)": Contender(lambda dataset, kind, c: ParetoUCB1(q=_q(dataset), stop=True)),
    "Pareto UCB1 (stops, tuned)": Contender(
        lambda dataset, kind, c: ParetoUCB1(q=_q(dataset), c=c, stop=True, stop_c=c),
        tuned=True,
        sizes=(*SIZES, COMMITTED_TAILS),
    ),
    "Annealing-Pareto": _default(AnnealingPareto(), TAILS),
    "Scalarized UCB": _default(ScalarizedUCB()),
    "Scalarized UCB (tuned)": Contender(lambda dataset, kind, c: ScalarizedUCB(c=c), tuned=True),
    "Pareto Thompson": _default(ParetoThompson()),
}
"""Every policy of the comparison, by its name in the table."""


def _paper_c(dataset: str, kind: str) -> float:
    return 2.0 if dataset == SYNTHETIC else paper_coefficient(dataset, kind)


def contenders(names: Iterable[str] = ()) -> dict[str, Contender]:
    """The contenders of these names, or all."""
    wanted = list(names)
    for name in wanted:
        if name not in CONTENDERS:
            raise MomabError(
                f"there is no contender {name!r}; choose from {', '.join(CONTENDERS)}."
            )
    return {name: CONTENDERS[name] for name in CONTENDERS if name in wanted or not wanted}


def group_instances(options: Options, dataset: str, kind: str) -> dict[str, Instance]:
    """The instances of a group, by the names that the tables use."""
    if dataset == SYNTHETIC:
        return synthetic_instances()
    return real_instances(options, dataset, kind)


def tuned_coefficient(
    options: Options, contender: Contender, dataset: str, kind: str, horizon: int
) -> float:
    """Choose the coefficient with the least mean regret in validation; the smaller of equals."""
    if dataset == SYNTHETIC:
        validation: Mapping[str, Instance] = group_instances(options, dataset, kind)
    else:
        validation = validation_instances(options, dataset, kind)
    means = [
        options.simulate(
            validation,
            {"tuned": contender.build(dataset, kind, c)},
            horizon=horizon,
            runs=VALIDATION_RUNS,
            seed=VALIDATION_SEED,
        )
        .runs["pareto_regret"]
        .mean()
        for c in COEFFICIENTS
    ]
    return COEFFICIENTS[int(np.argmin(means))]


def run_limit(
    options: Options,
    names: Iterable[str] = (),
    sizes: Iterable[tuple[int, int]] | None = None,
    groups: Iterable[tuple[str, str]] = GROUPS,
) -> pd.DataFrame:
    """Play contenders on all instances: one line per instance, policy and size.

    Parameters
    ----------
    options : Options
        Seed, data, store and workers; the sizes are the contenders' own.
    names : iterable of str, optional
        The contenders; all by default.
    sizes : iterable of (int, int), optional
        (horizon, runs) instead of the contenders' own.
    groups : iterable of (str, str), optional
        The groups of :data:`GROUPS`; all by default, which needs the data sets.

    Returns
    -------
    pandas.DataFrame
        The coefficient ``c`` if it was tuned; of the Pareto regret the ``mean`` with its bootstrap
        interval, ``sd``, ``median``, ``q999`` and ``worst``; the share of ``errors``, runs whose
        terminal recommendation is dominated, with its exact interval; the fairness regret; and
        ``ratio``, the mean over C(mu) log T for independent Bernoulli coordinates.
    """
    import pandas as pd

    rows = []
    for name, contender in contenders(names).items():
        own = contender.sizes if sizes is None else tuple(sizes)
        for dataset, kind in groups:
            c = np.nan
            if contender.tuned:
                longest = max(horizon for horizon, _ in own)
                c = tuned_coefficient(options, contender, dataset, kind, longest)
            policy = contender.build(dataset, kind, c)
            for size in own:
                rows += _lines(options, {name: policy}, (dataset, kind), size, c)
    return pd.DataFrame(rows)


def brought_lines(
    options: Options,
    policy: Policy,
    size: tuple[int, int],
    groups: Iterable[tuple[str, str]] = GROUPS[:1],
) -> pd.DataFrame:
    """The lines of a policy of one's own, in the form of the recorded ones.

    ``size`` is (horizon, runs); without other groups it plays the synthetic settings, which need
    no data.
    """
    import pandas as pd

    named = {policy.label: policy}
    lines = [line for group in groups for line in _lines(options, named, group, size, np.nan)]
    return pd.DataFrame(lines)


def _lines(
    options: Options,
    named: Mapping[str, Policy],
    group: tuple[str, str],
    size: tuple[int, int],
    c: float,
) -> list[dict[str, Any]]:
    """Play a named policy on the instances of a group: one line each."""
    (name, _), (dataset, kind), (horizon, runs) = *named.items(), group, size
    chosen = group_instances(options, dataset, kind)
    found = options.simulate(chosen, named, horizon=horizon, runs=runs)
    rows = []
    for instance, part in found.runs.groupby("instance", sort=False):
        line = {"dataset": dataset, "group": kind, "instance": instance}
        line |= {"horizon": horizon, "policy": name, "c": c}
        rows.append({**line, **_summary(part, chosen[str(instance)].means, horizon)})
    return rows


def _summary(part: pd.DataFrame, means: Any, horizon: int) -> dict[str, Any]:
    """Location, tail, errors and ratio to the price of the runs on one instance."""
    regret = part["pareto_regret"].to_numpy()
    fairness = part["fairness_regret"].to_numpy()
    low, high = bootstrap_interval(regret)
    least = float(theory.price(means).value) * log(horizon)
    rate = rates(~part["detected"].to_numpy(), "error")
    median, q999 = np.quantile(regret, [0.5, 0.999]).tolist()
    return {
        "runs": len(regret),
        "mean": float(regret.mean()),
        "low": low,
        "high": high,
        "sd": float(regret.std(ddof=1)),
        "median": median,
        "q999": q999,
        "worst": float(regret.max()),
        "errors": rate["error_rate"],
        "error_low": rate["error_low"],
        "error_high": rate["error_high"],
        "fairness": float(fairness.mean()),
        "fairness_sd": float(fairness.std(ddof=1)),
        "ratio": float(regret.mean()) / least if least > 0 else np.nan,
    }


def run_prices(options: Options, groups: Iterable[tuple[str, str]] = GROUPS) -> pd.DataFrame:
    """The price of every instance: one line each.

    ``sum`` is C(mu) for independent Bernoulli coordinates, ``max`` what it is if only the
    objective that tells most counts, and ``law`` the price by K_inf under the rewards' own law.
    ``arm`` attains ``sum``, counted from 0.  Of ``law``, which a solver finds, ten digits are
    given: the last ones would depend on the machine's linear algebra.
    """
    import pandas as pd

    rows = []
    for dataset, kind in groups:
        for name, instance in group_instances(options, dataset, kind).items():
            cheapest = theory.price(instance.means)
            row = {
                "dataset": dataset,
                "group": kind,
                "instance": name,
                "g": instance.geometry.g_dagger,
            }
            row |= {"sum": float(cheapest.value), "arm": int(cheapest.arm)}
            row["max"] = float(theory.price(instance.means, "max").value)
            row["law"] = float(f"{instance_price(instance, 'kinf').value:.10g}")
            rows.append(row)
    return pd.DataFrame(rows)


def extended_table(lines: pd.DataFrame, horizon: int = 1_000_000) -> pd.DataFrame:
    """The paper's Tables 1 and 2 for every contender: one row per group, or setting, and policy.

    The runs of a group's instances are pooled; every instance has as many.
    """
    import pandas as pd

    chosen = lines[lines["horizon"] == horizon]
    synthetic = chosen["dataset"] == SYNTHETIC
    labels = chosen["group"].where(~synthetic, chosen["instance"])
    rows = []
    keys = [chosen["dataset"], labels, chosen["policy"]]
    for (dataset, group, policy), part in chosen.groupby(keys, sort=False):
        row = {"dataset": dataset, "group": group, "policy": policy}
        row |= {"runs": int(part["runs"].sum()), "detection": 1.0 - part["errors"].mean()}
        row["regret"], row["regret_sd"] = _pooled(part["runs"], part["mean"], part["sd"])
        row["fairness"], row["fairness_sd"] = _pooled(
            part["runs"], part["fairness"], part["fairness_sd"]
        )
        rows.append(row)
    return pd.DataFrame(rows)


def _pooled(runs: pd.Series, means: pd.Series, deviations: pd.Series) -> tuple[float, float]:
    """Mean and standard deviation (ddof = 1) of several samples taken together."""
    total = int(runs.sum())
    mean = float((runs * means).sum() / total)
    squares = ((runs - 1) * deviations**2 + runs * (means - mean) ** 2).sum()
    return mean, float(np.sqrt(squares / (total - 1)))
