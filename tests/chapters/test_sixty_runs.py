"""What 60 runs cannot see: the page for several coefficients, and the risks behind it."""

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab import study
from momab.chapters import sixty_runs
from momab.datasets import subsets
from momab.study import groups
from tests.chapters.playing import need_recorded, play, read_aloud


@pytest.mark.parametrize(("coefficient", "crowd", "seed"), [(0.02, 8, 1), (1.0, 3, 12)])
def test_the_page(monkeypatch, coefficient, crowd, seed):
    need_recorded("risk", "rivals", "real")
    space, said = play(
        "sixty-runs",
        monkeypatch,
        pictures=seed == 1,
        seed=seed,
        runs=400,
        coefficient=coefficient,
        crowd=crowd,
        coefficients=[0.005, 0.05, 0.5],
    )
    sweep = space["sweep"].set_index("c")
    assert sweep["mean"].idxmin() == 0.05
    assert sweep["wrong_commit_rate"].is_monotonic_decreasing
    assert len(space["kept"]) == 18
    assert (space["best"]["mean"] <= space["best"]["paper_mean"]).all()
    assert (
        space["survived"]["ratio"]
        .between(space["survived"]["ratio_low"], space["survived"]["ratio_high"])
        .all()
    )
    assert ("At this coefficient no run went wrong" in said) == (space["rate"] == 0)
    assert "nan" not in said


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "estimated"), [(200, False), (3_000, True)])
def test_the_solutions(monkeypatch, runs, estimated):
    need_recorded("risk", "rivals", "real")
    _, said = play(
        "sixty-runs",
        monkeypatch,
        solutions=True,
        pictures=False,
        runs=runs,
        coefficients=[0.005, 0.01, 0.02, 0.05] if estimated else [0.5, 1.0],
    )
    assert ("Too few coefficients of the sweep" in said) == (not estimated)
    assert "nan" not in said


def test_a_sweep_in_which_every_coefficient_fails():
    said = read_aloud("sixty-runs", "The trap catches", quiet=[])
    assert said == "At every coefficient of this sweep some runs went wrong."


def test_lucky_runs_and_groups_in_which_a_rival_wins():
    lines = pd.DataFrame({"dataset": ["spotify", "kuairec"], "subset_type": subsets.EASY})
    none = lines[:0]
    names = {"groups": groups, "won": lines, "lost": none, "open_": none, "inside": lines[:1]}
    names["rivals"] = pd.DataFrame({"runs": [300]})
    said = read_aloud("sixty-runs", "**The rival does", **names, beaten=[])
    assert "expected regret:** Spotify easy, KuaiRec easy. - **The rival does:** none." in said
    assert "of 900 runs per group" in said
    assert said.endswith("is below both in every group.")
    said = read_aloud("sixty-runs", "**The rival does", **names, beaten=["A", "B"])
    assert said.endswith("is below both except in A, B.")
    wild = pd.DataFrame({"policy": ["B", "A", "B"]})
    said = read_aloud("sixty-runs", "detection rate of 1.000", together=0.01, wild=wild)
    assert "That is a little lucky: sixty runs" in said
    assert "in 3 rows of its Table 1, all of A and B, the" in said
    said = read_aloud("sixty-runs", "detection rate of 1.000", together=0.5, wild=wild)
    assert "no reason to suspect" in said


def test_subsets_on_which_something_was_always_seen():
    kept = pd.DataFrame({"dataset": ["kuairec", "spotify"], "rate": 0.1})
    names = {
        "hardest": {"median": 1.0, "mean": 2.0},
        "printed": {("kuairec", subsets.MISLEADING): 8.0},
        "rates": kept.groupby("dataset")["rate"].agg(["min", "max"]),
        "subsets": subsets,
        "kept": kept,
    }
    said = read_aloud("sixty-runs", "Take the first KuaiRec", **names, clean=kept[:0])
    assert said.endswith("On 0 of the 2 subsets none was seen.")
    clean = kept[:1].assign(wrong_commit_high=0.0123)
    said = read_aloud("sixty-runs", "Take the first KuaiRec", **names, clean=clean)
    assert "none was seen; there the rate is below 1.23% with" in said


def test_ratios_are_written_without_exponents():
    assert [sixty_runs.times(x) for x in (0.05, 1.7, 99.6, 1234.5)] == [
        "0.05×",
        "1.7×",
        "100×",
        "1,234×",
    ]


def risk_lines(rates, c=0.02, runs=1000, mean=5.0, dataset="kuairec", kind=subsets.EASY):
    return pd.DataFrame(
        {
            "dataset": dataset,
            "subset_type": kind,
            "subset": [str(i + 1) for i in range(len(rates))],
            "c": c,
            "runs": runs,
            "mean": mean,
            "se": 1.0,
            "median": 2.0,
            "max": 9.0,
            "wrong_commit_rate": rates,
            "wrong_commit_low": [rate / 2 for rate in rates],
            "wrong_commit_high": [2 * rate for rate in rates],
        }
    )


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0, 0.4), min_size=3, max_size=3), st.integers(1, 60))
def test_chance_to_see_nothing_is_the_product(rates, runs):
    [line] = sixty_runs.unseen(risk_lines(rates), runs).to_dict("records")
    assert line["none"] == pytest.approx(math.prod((1 - p) ** runs for p in rates))
    assert line["none_low"] <= line["none"] <= line["none_high"]


def test_pooling_weighs_subsets_alike():
    pooled = sixty_runs.group_risk(risk_lines([0.01, 0.02, 0.0]))
    [line] = pooled.to_dict("records")
    assert line["runs"] == 3000
    assert line["wrong_rate"] == pytest.approx(0.01)
    assert line["se"] == pytest.approx(math.sqrt(3) / 3)
    assert line["wrong_low"] < 0.01 < line["wrong_high"]


def test_the_best_coefficient_and_its_ceiling():
    risk = pd.concat(
        [
            risk_lines([0.01] * 3, c=0.02, mean=500.0),
            risk_lines([0.0] * 3, c=0.05, mean=12.0),
            risk_lines([0.0] * 3, c=0.5, mean=120.0),
        ]
    )
    [best] = sixty_runs.best_coefficients(sixty_runs.group_risk(risk)).to_dict("records")
    assert (best["c"], best["paper_c"]) == (0.05, 0.02)
    # a wrong commitment costs (500 - 2) / 0.01; none of 3000 runs: below 1.23e-3 with 95 %
    assert best["ceiling"] == pytest.approx(12 + 49_800 * (1 - 0.025 ** (1 / 3000)), rel=1e-6)
    assert best["not_worse"] == [0.05]
    assert best["typical_c"] == 0.02


def test_survival_uses_many_runs_on_both_sides():
    rows = []
    for policy, regret in zip(study.POLICIES, (8.0, 4000.0, 10.0, 2000.0)):
        for subset in "123":
            for run in range(20):
                rows.append(
                    {
                        "dataset": "kuairec",
                        "subset_type": subsets.EASY,
                        "policy": policy,
                        "subset": subset,
                        "run": run,
                        "pareto_regret": regret + (run % 2),
                        "fairness_regret": 1.0,
                        "detected": True,
                    }
                )
    runs = pd.DataFrame(rows)
    pooled = sixty_runs.group_risk(risk_lines([0.01] * 3, mean=200.0))
    rivals = risk_lines([0.0] * 3, mean=20.0)
    [line] = sixty_runs.survival(pooled, rivals, runs).to_dict("records")
    assert line["ratio_60"] == pytest.approx(10.5 / 8.5)
    assert line["ratio"] == pytest.approx(0.1)
    assert line["verdict"] == "the rival is better"
    many = pd.DataFrame([line])
    shown = sixty_runs.survival_table(many, many.assign(ratio=2.0, ratio_low=1.0, ratio_high=4.0))
    assert shown["Many runs (95 %)"].iloc[0].startswith("0.1× (")
    assert shown["At the best c"].tolist() == ["2× (1× to 4×)"]
    assert sixty_runs.never_below(pd.DataFrame([line]), runs, ["Pareto UCB1"]) == []
    assert sixty_runs.never_below(pd.DataFrame([line]), runs, ["Annealing-Pareto"]) == [
        "KuaiRec easy"
    ]


def test_the_papers_means_are_those_of_its_first_table():
    printed = sixty_runs.paper_means()
    assert printed.keys() == groups.PAPER_RATIOS.keys()
    assert printed["kuairec", subsets.MISLEADING] == 8.0
