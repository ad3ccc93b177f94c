"""When committing is fair: the page with and without the data, and its tables."""

import numpy as np
import pandas as pd
import pytest

from momab import study
from momab.chapters import fairness
from momab.study import arm_tables
from tests.chapters.running import WHOLE, read_aloud, run_chapter, text_of


@WHOLE
@pytest.mark.parametrize("middle", [0.3, 0.55])
def test_the_page(shown, middle, whole):
    space = run_chapter("fairness", whole, seed=4, horizon=2_000, runs=2, middle=middle)
    ends = space["ends"]
    assert len(ends) == 360
    assert (space["spread"]["explained"] > 0.95).all()
    assert space["several"]["ratio"].between(0.9, 2).all()
    assert "nan" not in text_of(shown)
    assert not whole or len(space["outcome"]) == 4


def test_the_page_without_the_data(monkeypatch, shown):
    monkeypatch.setattr("momab.study.datasets.find", lambda name, folder=None: None)

    def refuse(*_):
        raise AssertionError("the data were read")

    monkeypatch.setattr("momab.study.datasets.load", refuse)
    run_chapter("fairness", runs=2, horizon=1_000)
    assert "momab data get spotify" in text_of(shown)


def test_solutions_with_other_outcomes():
    names = {"costs": [0.4, 0.2], "shares": pd.Series({0: 0.75, 1: 0.25})}
    said = read_aloud("fairness", "The costs per pull", **names)
    assert "per pull are 0.4, 0.2. Width-guided" in said
    assert "went to arm 1 in 75% of the runs, 2 in 25% of the runs. The formula" in said
    said = read_aloud("fairness", "The costs per pull", **{**names, "shares": names["shares"][:0]})
    assert "favours the first. The formula" in said
    said = read_aloud("fairness", "On these two instances", fairer=4.0, extra=-1.0)
    assert "at most 25% of Width-guided's fairness regret, and no more Pareto regret." in said
    said = read_aloud("fairness", "On these two instances", fairer=4.0, extra=1.25)
    assert "and up to 1.2 more Pareto regret." in said


@pytest.mark.parametrize("seed", [1, 2])
def test_the_rule_that_asks_for_proof_is_never_less_fair(seed):
    tried = fairness.settle_trials(seed, 4_000).mean()
    assert tried["less_proved"] == 0
    assert tried["more_proved"] > 0
    # the rule with the largest lower bound can lose: no gain is guaranteed
    assert tried["less"] > 0
    assert tried["more"] > tried["more_proved"]


def test_the_loss_of_the_simple_rule_is_at_most_two_radii():
    means = np.array([[0.5, 0.9], [0.45, 0.9]])
    radii = np.array([[0.2], [0.02]])
    lower, upper = means - radii, means + radii
    assert fairness.settle(lower, upper, 0, proved=False) == 1
    assert means[0].min() - means[1].min() <= 2 * radii[0, 0]
    assert fairness.settle(lower, upper, 0) == 0
    lower[1], upper[1] = 0.75, 0.8
    assert fairness.settle(lower, upper, 0) == 1


def test_the_tables_hold_what_was_computed():
    runs, arms = study.recorded_results("real"), arm_tables.subset_arms()
    committed = arm_tables.committed_arms(runs, arms)
    ranks = fairness.fairness_ranks(runs)
    shown = fairness.rank_table(ranks, fairness.fairness_geometry(arms, committed))
    assert shown["rank of four"].tolist() == ranks["rank"].tolist()
    unclear = shown["Fairest policy"].str.endswith("(not clearly)")
    assert (unclear == ~ranks["clear"].astype(bool)).all()
