"""The opening page: one criterion, the other, or both; and three things that tables do not show.

The same policy sees one of two objectives, or both, while the lead on the first one grows.  All
three are charged Pareto regret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from momab import study
from momab._util.validate import FloatArray
from momab.engine.loop import play_block
from momab.engine.policies.width_guided import WidthGuided
from momab.model import instances, pareto
from momab.model.statistics import mean_interval
from momab.study import groups, standings, survival

if TYPE_CHECKING:
    import pandas as pd


VIEWS = {"first": (0,), "second": (1,), "both": (0, 1)}
"""The three views: name -> the objectives that the policy sees."""

LEADS = np.arange(6, 41, 2) / 100
"""The leads of the best arm on objective 1."""

LEAD_2 = 0.2
"""The lead of the best arm on objective 2."""

GAP = 0.05
"""The Pareto gap of the arms that win nothing."""

# --- what is played ---------------------------------------------------------------------


def songs(lead: float, arms: int) -> FloatArray:
    """The means: a winner of each objective, and arms that both of them beat by the same margin.

    On objective 1 the first arm leads by ``lead``, on objective 2 the second by ``LEAD_2``.  Each
    winner is ahead of all other arms by exactly ``GAP`` on the objective that it does not win.  So
    these arms have the Pareto gap ``GAP`` at every lead, and the two winners have none.
    """
    low = np.array([0.4, 0.3])
    winners = [low + GAP + [lead, 0.0], low + GAP + [0.0, LEAD_2]]
    return np.array(winners + [low] * (arms - 2))


def answer_points(arms: int, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Pareto regret of Algorithm 1 in every view at every lead: view, lead, mean, low and high."""
    import pandas as pd

    rows = []
    for lead in LEADS.tolist():
        means = songs(lead, arms)
        gaps = pareto.gaps(means)
        for view, columns in VIEWS.items():
            seen = instances.bernoulli(means[:, list(columns)])
            pulls = play_block(seen, WidthGuided(), horizon, seed, 0, runs).pulls
            rows.append((view, lead, *mean_interval(pulls @ gaps)))
    return pd.DataFrame(rows, columns=["view", "lead", "mean", "low", "high"])


def answer_costs(points: pd.DataFrame) -> dict[str, float]:
    """What both cost, against the better and the worse objective alone.

    ``least`` and ``most``: the regret of both over that of the better objective, over all leads;
    ``wrong``: the largest ratio of the worse to the better one.
    """
    wide = points.pivot_table("mean", "lead", "view")
    alone = wide[["first", "second"]]
    told = wide["both"] / alone.min(axis=1)
    return {
        "least": float(told.min()),
        "most": float(told.max()),
        "wrong": float((alone.max(axis=1) / alone.min(axis=1)).max()),
    }


# --- what tables do not show ------------------------------------------------------------


def tail_finding() -> dict[str, Any]:
    """The recorded long runs at the paper's coefficients: means against medians.

    ``above`` of the ``subsets`` have a mean of more than twice the median; ``name``, ``median``,
    ``mean`` and ``wrong`` (the rate of wrong commitments) are of the one where the mean is the
    largest multiple of the median; ``none`` is the chance that sixty runs there show no such run.
    """
    kept = survival.at_paper(study.recorded_results("risk"))
    ratio = kept["mean"] / kept["median"]
    worst: Any = kept.iloc[int(ratio.argmax())]
    return {
        "subsets": len(kept),
        "above": int((ratio > 2).sum()),
        "name": f"{groups.group_name(worst['dataset'], worst['subset_type'])} {worst['subset']}",
        "runs": int(worst["runs"]),
        "median": float(worst["median"]),
        "mean": float(worst["mean"]),
        "wrong": float(worst["wrong_commit_rate"]),
        "none": float((1 - worst["wrong_commit_rate"]) ** 60),
    }


def tuning_finding() -> dict[str, int]:
    """In how many groups Width-guided has the least mean of the table, and with all tuned.

    ``kept``: Width-guided with the paper's coefficient, which was tuned, against the others tuned
    by the same protocol; ``after``: every policy with the coefficient of our own validation.
    """
    table, tuned = (
        study.recorded_results(part).pivot_table(
            "pareto_regret", ["dataset", "subset_type"], "policy"
        )
        for part in ("real", "retuned")
    )
    after = table.copy()
    after[tuned.columns] = tuned
    kept = after.assign(**{"Width-guided": table["Width-guided"]})
    frames = {"before": table, "kept": kept, "after": after}
    found = {name: int((x.idxmin(axis=1) == "Width-guided").sum()) for name, x in frames.items()}
    return {"groups": len(table), **found}


def limit_finding() -> dict[str, Any]:
    """Regret over the price, recorded: Pareto IMED and Width-guided on the synthetic family.

    ``ours`` and ``theirs`` are the least and the largest ratio; ``median`` and ``worst`` are of
    Pareto IMED over all ``instances``, the real ones included; ``worst_mean`` is the mean regret on
    the worst of them, and ``worst_long`` is its worst ratio at the ``long`` horizon.
    """
    recorded = study.recorded_results("limit")
    horizon, long = sorted(recorded["horizon"].unique())[-2:]
    lines = standings.most_runs(recorded, horizon).set_index("policy")
    family = lines[lines["dataset"] == "synthetic"]["ratio"].groupby("policy").agg(["min", "max"])
    mine = lines[lines.index == "Pareto IMED"]
    far = standings.most_runs(recorded, long).set_index("policy")["ratio"]
    return {
        "horizon": int(horizon),
        "ours": tuple(family.loc["Pareto IMED"]),
        "theirs": tuple(family.loc["Width-guided"]),
        "instances": len(mine),
        "median": float(mine["ratio"].median()),
        "worst": float(mine["ratio"].max()),
        "worst_mean": float(mine.sort_values("ratio")["mean"].iloc[-1]),
        "long": int(long),
        "worst_long": float(far[far.index == "Pareto IMED"].max()),
    }
