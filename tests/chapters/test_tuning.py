"""The same tuning for everyone: the page, and who wins before and after."""

import numpy as np
import pandas as pd

import momab
from momab import study
from momab.chapters import tuning
from momab.study.datasets import subsets
from tests.chapters.running import WHOLE, read_aloud, run_chapter, text_of

SMALL = {"seed": 2, "horizon": 2_000, "runs": 2, "coefficients": [0.05, 2.0]}


@WHOLE
def test_the_page(shown, whole):
    space = run_chapter("tuning", whole, **SMALL)
    said = text_of(shown)
    assert len(space["chosen"]) == 18
    assert (space["gain"] > 1).all()
    assert "is no finding: the least of several numbers" in said
    # in-sample minima against fresh runs, and the groups that the same protocol ruins
    assert (space["picks"]["mean"] <= space["live"]["mean"].max()).all()
    assert len(space["hurt"]) == 4
    assert "ruins Width-guided in 4 of 6 groups" in said
    assert "nan" not in said
    if whole:
        assert np.isclose(space["votes"].sum(), 1)
        assert len(space["judged"]) == 5


def test_a_sweep_without_the_published_coefficient():
    line = {"policy": "Pareto UCB1", "mean": 1234.56, "c": 0.5, "fresh": 1300.0, "fresh_se": 7.0}
    picks = pd.DataFrame([line, {**line, "policy": "Width-guided"}])
    names = {"picks": picks, "runs": 3}
    said = read_aloud("tuning", "The least means", **names, plain=picks[:0])
    assert said == (
        "The least means are Pareto UCB1 1,234.6 at $c=0.5$; Width-guided 1,234.6 at $c=0.5$. "
        "What a choice is worth is told by runs that did not make it. In 30 fresh ones at the "
        "chosen coefficients the means are Pareto UCB1 1,300.0 ± 7.0; "
        "Width-guided 1,300.0 ± 7.0 (standard errors)."
    )
    assert "is no finding" in read_aloud("tuning", "The least means", **names, plain=picks)


def test_fresh_runs_judge_a_choice():
    example = momab.synthetic(0.02, 8)
    picks = pd.DataFrame({"policy": ["Width-guided", "Pareto UCB1"], "c": [2.0, 0.05]})
    found = tuning.fresh_means(picks, example, 500, 3, 7)
    for line in found.to_dict("records"):
        player = study.tunable_policies(line["c"])[line["policy"]]
        again = momab.simulate(example, {line["policy"]: player}, 500, 3, 7, checkpoints=0)
        assert line["fresh"] == again.runs["pareto_regret"].mean()


def test_choices_inside_the_grid_and_choices_that_did_no_harm():
    near = np.array([True, False])
    said = read_aloud("tuning", "within a factor of two", near=near, edge=[], chosen=[])
    assert "in 1 of 2 groups" in said
    assert said.endswith("most sets of nine runs.")
    said = read_aloud("tuning", "within a factor of two", near=near, edge=[1], chosen=[1, 2])
    assert "1 of the 2 choices is the least" in said
    said = read_aloud("tuning", "did not meet the event", hurt=[], guided=[])
    assert said.startswith("In these runs no choice went badly wrong.")
    hurt = pd.DataFrame({"wrong": [0.1, 0.1]})
    said = read_aloud("tuning", "did not meet the event", hurt=hurt, guided=range(6))
    assert "In 2 of 6 groups the median is small and the mean explodes, because 10% of" in said
    hurt = pd.DataFrame({"wrong": [0.1, 0.3]})
    said = read_aloud("tuning", "did not meet the event", hurt=hurt, guided=range(6))
    assert "because 10% to 30% of" in said


def test_the_verdict_counts_groups():
    clear = {"dataset": "spotify", "subset_type": subsets.EASY, "best": "A", "clear": True}
    frame = pd.DataFrame([clear, {**clear, "clear": False}, {**clear, "best": "B"}])
    names = {"before": frame, "after": frame[1:], "mixed": frame[:1], "gain": pd.Series([1000.0])}
    said = read_aloud("tuning", "Least mean in the", **names, hurt=[], guided=[])
    assert "nobody else | A in 2 (1 clearly), B in 1 |" in said
    assert "our validation | A in 1 (0 clearly), B in 1 |" in said
    assert "keeps the paper's coefficient | A in 1 |" in said
    assert "ruins" not in said
    said = read_aloud("tuning", "Least mean in the", **names, hurt=[1, 2], guided=range(6))
    assert "ruins Width-guided in 2 of 6 groups" in said


def test_the_tables():
    live = pd.DataFrame(
        {"policy": ["B", "A"] * 2, "c": [0.5, 0.5, 0.125, 0.125], "mean": [1.0, 2.0, 3.0, 4.0]}
    )
    shown = tuning.coefficient_table(live)
    assert shown.to_dict("list") == {"c": ["0.125", "0.5"], "B": [3.0, 1.0], "A": [4.0, 2.0]}
    effect = effect_lines().assign(c=[0.5, np.nan, 0.1, 2], after_median=1234.5, wrong=0.25)
    shown = tuning.effect_table(effect)
    assert shown["c"].tolist() == ["0.5", "", "0.1", "2"]
    assert shown["Median after"].iloc[0] == "1,234.50"
    assert shown["Dominated at the end"].iloc[0] == "25.0%"
    line = {"policy": ["A"], "median": 1.0, "mean": 2.0, "max": 3.0, "error_rate": 0.125}
    assert tuning.greedy_table(pd.DataFrame(line)).iloc[0].tolist() == ["A", 1.0, 2.0, 3.0, "12.5%"]


def effect_lines():
    before, after = (3.0, 2000.0, 10.0, 1000.0), (900.0, 5.0, 10.0, 2.0)
    return pd.DataFrame(
        {
            "dataset": "spotify",
            "subset_type": subsets.EASY,
            "policy": study.POLICIES,
            "before": before,
            "before_se": 0.1,
            "after": after,
            "after_se": 0.1,
        }
    )


def test_who_is_best_before_after_and_with_the_papers_coefficient():
    effect = effect_lines()
    assert tuning.least(effect, "before")["best"].tolist() == ["Width-guided"]
    assert tuning.least(effect, "after")["best"].tolist() == ["Scalarized UCB"]
    kept = tuning.keep_paper(effect)
    [line] = tuning.least(kept, "after").to_dict("records")
    assert (line["best"], line["second"]) == ("Scalarized UCB", "Width-guided")
    assert line["clear"]
    assert tuning.misled(effect)["policy"].tolist() == ["Width-guided"]
    assert effect["after"].iloc[0] == 900
