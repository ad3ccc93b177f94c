"""Which of the paper's quotients survive many runs: pooled risks, best coefficients, ratios."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momab.model.statistics import normal_half_width, rates
from momab.study.design import POLICIES, paper_coefficient
from momab.study.groups import PAPER_RATIOS, by_group, in_order, one_group
from momab.study.standings import who_is_better
from momab.study.tables import table1

if TYPE_CHECKING:
    import pandas as pd


def group_risk(risk: pd.DataFrame) -> pd.DataFrame:
    """Pool the three subsets of every group, per coefficient.

    ``risk`` is :func:`momab.study.run_risk`.  Subsets weigh alike, as in the paper's rows.
    ``typical`` is the mean of the subsets' medians, ``se`` the standard error of the mean; the
    rate of commitments to a dominated arm comes with its exact 95 % interval.
    """
    import pandas as pd

    rows = []
    for dataset, kind, group in by_group(risk):
        for c in sorted(set(group["c"])):
            part = group[group["c"] == c]
            hits = int((part["wrong_commit_rate"] * part["runs"]).round().sum())
            runs = int(part["runs"].sum())
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "c": c,
                    "runs": runs,
                    "mean": part["mean"].mean(),
                    "se": math.sqrt((part["se"] ** 2).sum()) / len(part),
                    "typical": part["median"].mean(),
                    "max": part["max"].max(),
                    **rates(np.arange(runs) < hits, "wrong"),
                }
            )
    return pd.DataFrame(rows)


def at_paper(risk: pd.DataFrame) -> pd.DataFrame:
    """The lines of ``study.run_risk`` or :func:`group_risk` at the paper's coefficient."""
    papers = [paper_coefficient(d, k) for d, k in zip(risk["dataset"], risk["subset_type"])]
    return in_order(risk[np.isclose(risk["c"], papers, rtol=1e-6)])


def best_coefficients(pooled: pd.DataFrame) -> pd.DataFrame:
    """Per group of :func:`group_risk`, the coefficient with the least mean, and its rivals.

    ``not_worse`` lists the coefficients whose mean is within two standard errors of the
    difference from the least, ``typical_c`` is where the median is least.  ``ceiling`` is what
    the mean could be if wrong commitments happened as often as the runs still allow (95 %) and
    cost what seen ones cost on average.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(pooled):
        best = part.loc[part["mean"].idxmin()]
        near = part["mean"] - best["mean"] <= 2 * np.hypot(part["se"], best["se"])
        at = at_paper(part).iloc[0]
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "c": best["c"],
                "mean": best["mean"],
                "se": best["se"],
                "wrong_rate": best["wrong_rate"],
                "ceiling": best["mean"]
                + (best["wrong_high"] - best["wrong_rate"]) * _wrong_cost(part),
                "not_worse": sorted(part.loc[near, "c"].tolist()),
                "typical_c": part.loc[part["typical"].idxmin(), "c"],
                "paper_c": at["c"],
                "paper_mean": at["mean"],
                "paper_se": at["se"],
            }
        )
    return pd.DataFrame(rows)


def _wrong_cost(part: Any) -> float:
    """What one wrong commitment costs on average, where fewest were seen but some."""
    seen = part[part["wrong_rate"] > 0]
    if seen.empty:
        return 0.0
    last = seen.loc[seen["c"].idxmax()]
    return float((last["mean"] - last["typical"]) / last["wrong_rate"])


def survival(
    pooled: pd.DataFrame, rivals: pd.DataFrame, runs: pd.DataFrame, coefficient: str = "paper"
) -> pd.DataFrame:
    """How many times Width-guided's mean regret the best rival's is, with what many runs show.

    ``runs`` are those of Table 1, ``pooled`` is :func:`group_risk`, ``rivals`` is
    :func:`momab.study.run_rivals`.  ``ratio`` uses many runs on both sides, ``ratio_low`` and
    ``ratio_high`` are its 95 % limits on the log scale; ``ratio_60`` uses our 60 runs, and
    ``claimed`` is the paper's.  With ``coefficient="best"`` Width-guided gets the coefficient
    that :func:`best_coefficients` finds.
    """
    import pandas as pd

    best_c: Any = best_coefficients(pooled)
    prefix = "paper_" if coefficient == "paper" else ""
    rows = []
    for dataset, kind, more in by_group(rivals):
        means = _means_of_60(runs, dataset, kind)
        ratio_60 = _best_rival(means)[1] / means["Width-guided"][0]
        many = more["mean"].mean(), math.sqrt((more["se"] ** 2).sum()) / len(more)
        rival, rival_mean, rival_error = _best_rival({**means, "Annealing-Pareto": many})
        found = one_group(best_c, dataset, kind).iloc[0]
        mean, error = found[f"{prefix}mean"], found[f"{prefix}se"]
        spread = math.exp(normal_half_width(math.hypot(error / mean, rival_error / rival_mean)))
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "claimed": PAPER_RATIOS[dataset, kind],
                "ratio_60": ratio_60,
                "c": found[f"{prefix}c"],
                "mean": mean,
                "se": error,
                "rival": rival,
                "rival_mean": rival_mean,
                "rival_se": rival_error,
                "ratio": rival_mean / mean,
                "ratio_low": rival_mean / mean / spread,
                "ratio_high": rival_mean / mean * spread,
            }
        )
    frame = pd.DataFrame(rows)
    limits = zip(frame["ratio_low"], frame["ratio_high"])
    return frame.assign(verdict=[who_is_better(low, high) for low, high in limits])


def _means_of_60(runs: Any, dataset: str, kind: str) -> dict[str, tuple[float, float]]:
    """Mean regret and its standard error per policy, from the runs of one group of Table 1."""
    table: Any = table1(runs)
    count = len(one_group(runs, dataset, kind)) / len(POLICIES)
    return {
        line["policy"]: (line["pareto_regret_mean"], line["pareto_regret_std"] / math.sqrt(count))
        for line in one_group(table, dataset, kind).to_dict("records")
    }


def _best_rival(means: Mapping[str, tuple[float, float]]) -> tuple[str, float, float]:
    name = min((key for key in means if key != "Width-guided"), key=lambda key: means[key][0])
    return (name, *means[name])
