"""The same tuning for every policy: what validation chooses, and Table 1 with all policies tuned.

Curves of the validation regret against the coefficient, and regret before and after tuning.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from momab import study
from momab.study.groups import GROUP, by_group, group_name, one_group

if TYPE_CHECKING:
    import pandas as pd


def tuning_curves(validation: pd.DataFrame) -> pd.DataFrame:
    """Mean validation regret per group, policy and coefficient, with its standard error.

    ``chosen`` is true for the coefficient that :func:`momab.study.choose_coefficients` takes.
    """
    import pandas as pd

    chosen: Any = study.choose_coefficients(validation)
    rows = []
    for dataset, kind, part in by_group(validation):
        picked = one_group(chosen, dataset, kind).set_index("policy")["c"]
        for (policy, c), few in part.groupby(["policy", "c"], sort=False):
            regret = few["pareto_regret"]
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "policy": policy,
                    "c": c,
                    "runs": len(few),
                    "mean": regret.mean(),
                    "se": regret.sem(),
                    "worst": regret.max(),
                    "chosen": bool(np.isclose(picked[policy], c)),
                }
            )
    return pd.DataFrame(rows).sort_values(["policy", "c"], kind="stable").reset_index(drop=True)


def tuning_effect(runs: pd.DataFrame, retuned: pd.DataFrame) -> pd.DataFrame:
    """Regret with the paper's and with the tuned coefficient, per group and policy.

    ``runs`` are those of Table 1, ``retuned`` is :func:`momab.study.run_retuned`.  Annealing-Pareto
    has no coefficient and keeps its line.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(runs):
        again = one_group(retuned, dataset, kind)
        for policy in study.POLICIES:
            before = part[part["policy"] == policy]
            after = again[again["policy"] == policy]
            same = after.empty
            after = before if same else after
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "policy": policy,
                    "c": math.nan if same else float(after["c"].iloc[0]),
                    "before": before["pareto_regret"].mean(),
                    "before_se": before["pareto_regret"].sem(),
                    "after": after["pareto_regret"].mean(),
                    "after_se": after["pareto_regret"].sem(),
                    "after_median": after["pareto_regret"].median(),
                    "wrong": 1.0 - after["detected"].mean(),
                }
            )
    return pd.DataFrame(rows)


def live_data() -> dict[str, Any]:
    """What the page's explorable shows: recorded validation means, choices, and their test means.

    A group has, per policy, its mean at every coefficient, the coefficient that validation
    chooses, and the mean on the test subsets with that one.
    """
    curves: Any = tuning_curves(study.recorded_results("validation"))
    retuned: Any = study.recorded_results("retuned")
    effect: Any = tuning_effect(study.recorded_results("real"), retuned)
    groups = []
    for dataset, kind, part in by_group(curves):
        tested = one_group(effect, dataset, kind).set_index("policy")["after"]
        lines = {name: line.sort_values("c") for name, line in part.groupby("policy")}
        groups.append(
            {
                "name": group_name(dataset, kind),
                "means": {name: line["mean"].tolist() for name, line in lines.items()},
                "chosen": {
                    n: float(line.loc[line["chosen"], "c"].iloc[0]) for n, line in lines.items()
                },
                "test": {name: float(tested[name]) for name in lines},
            }
        )
    return {
        "coefficients": sorted(set(curves["c"])),
        "runs": int(curves["runs"].iloc[0]),
        "test_runs": int(retuned.groupby([*GROUP, "policy"]).size().iloc[0]),
        "groups": groups,
    }
