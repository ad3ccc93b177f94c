"""The opening page: what it plays, what it concludes, and the card of a link."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from momab import study
from momab.chapters import index
from momab.model import pareto
from tests.chapters.running import loud, run_chapter


@pytest.mark.parametrize(
    ("horizon", "arms", "decided"), [(1_000, 3, False), (100_000, 4, True), (30_000, 40, True)]
)
def test_the_page_concludes_what_it_plays(
    shown: list[dict[str, Any]], horizon: int, arms: int, decided: bool
) -> None:
    page = run_chapter("index", horizon=horizon, runs=5, arms=arms, seed=7)
    points, cost = page["points"], page["cost"]
    assert len(points) == len(index.VIEWS) * len(index.LEADS)
    assert (points["low"] <= points["mean"]).all()
    assert (points["mean"] <= points["high"]).all()
    # objective 2 is the same problem at every lead
    assert np.ptp(points.loc[points["view"] == "second", "mean"]) == 0
    said = " ".join(bundle["text/plain"] for bundle in shown)
    assert (f"up to {cost['wrong']:.1f} times" in said) == decided
    assert ("nothing is decided" in said) != decided
    assert not loud(shown)


def test_both_cost_little_more_than_the_better_one_and_a_larger_lead_costs_no_more() -> None:
    points = index.answer_points(10, 100_000, 40, 1)
    wide = points.pivot_table("mean", "lead", "view")
    error = points.pivot_table("high", "lead", "view") - wide
    better = wide[["first", "second"]].min(axis=1)
    assert (wide["both"] > better - 2 * error["both"]).all(), "both must not lie below both"
    assert (wide["both"] < 1.5 * better).all()
    for view in index.VIEWS:
        assert (wide[view].diff().dropna() <= 2 * error[view].iloc[1:]).all()
    cost = index.answer_costs(points)
    assert 1 < cost["least"] < cost["most"] < 1.5
    assert cost["wrong"] > 2


@pytest.mark.parametrize("arms", [3, 10])
@pytest.mark.parametrize("lead", [0.06, 0.2, 0.4])
def test_a_mistake_costs_the_same_at_every_lead(lead: float, arms: int) -> None:
    means = index.songs(lead, arms)
    assert pareto.gaps(means) == pytest.approx([0, 0] + [index.GAP] * (arms - 2))
    assert pareto.objective_gaps(means) == pytest.approx([lead, index.LEAD_2])


def test_costs_are_ratios_to_the_better_objective() -> None:
    rows = [("first", 0.1, 8.0), ("second", 0.1, 4.0), ("both", 0.1, 5.0)]
    rows += [("first", 0.4, 1.0), ("second", 0.4, 4.0), ("both", 0.4, 1.5)]
    points = pd.DataFrame(rows, columns=["view", "lead", "mean"])
    assert index.answer_costs(points) == {"least": 1.25, "most": 1.5, "wrong": 4.0}


def test_what_the_tables_do_not_show_is_what_was_recorded() -> None:
    tail = index.tail_finding()
    assert tail["subsets"] == 18
    assert 0 < tail["above"] <= 18
    assert tail["mean"] > 2 * tail["median"]
    assert tail["none"] == pytest.approx((1 - tail["wrong"]) ** 60)
    tuned = index.tuning_finding()
    table = study.recorded_results("real")
    keys = ["dataset", "subset_type", "policy"]
    means = table.groupby(keys)["pareto_regret"].mean().reset_index()
    least = means.loc[means.groupby(keys[:2])["pareto_regret"].idxmin(), "policy"]
    assert tuned["groups"] == len(least) == 6
    assert tuned["before"] == (least == "Width-guided").sum()
    assert 0 <= tuned["kept"] <= tuned["before"], "the others can only have moved"
    limit = index.limit_finding()
    assert limit["ours"][0] <= limit["ours"][1] <= limit["worst"]
    assert limit["instances"] == 26
    assert limit["horizon"] < limit["long"]
    assert limit["worst_long"] > 0
