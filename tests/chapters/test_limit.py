"""The chapter on Pareto IMED: its indices, its tables, and its conclusions for drawn values."""

from typing import Any

import jupytext
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.chapters import limit
from momab.chapters.figures import magics
from momab.engine import loop
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.policies.width_guided import WidthGuided
from momab.model import families, imed, instances, pareto, theory
from tests.chapters.running import PAGE, WHOLE, run_chapter, text_of
from tests.conftest import ROOT
from tests.study.test_standings import made_up


@WHOLE
@PAGE
@given(seed=st.integers(0, 2**31 - 1), crowd=st.integers(1, 18), delta=st.floats(0.01, 0.2))
def test_limit_chapter(shown, whole, seed, crowd, delta):
    page = run_chapter(
        "limit", whole=whole, seed=seed, crowd=crowd, delta=delta, horizon=5_000, runs=5
    )
    assert imed.is_settled(page["family"].means)
    assert imed.is_settled(page["mu"])
    assert page["C"] < page["U"]
    assert "nan" not in text_of(shown)


@PAGE
@given(seed=st.integers(0, 2**31 - 1), crowd=st.integers(1, 18), delta=st.floats(0.01, 0.2))
def test_the_line_of_balance_is_below_the_price(shown, seed, crowd, delta):
    page = run_chapter("standings", seed=seed, crowd=crowd, delta=delta, horizon=5_000, runs=5)
    assert (page["balanced"] <= page["cost"] * np.log(page["rounds"])).all()
    assert "nan" not in text_of(shown)
    recorded = set(page["recorded"]["policy"])
    assert set(page["ratios"].index) == recorded
    pulls = loop.play_block(page["family"], ParetoIMED(), 5_000, seed, 0, 5).pulls
    gaps = pareto.gaps(page["family"].means)
    assert page["regret"]["Pareto IMED"][:, -1] == pytest.approx(pulls @ gaps)


@PAGE
@given(seed=st.integers(0, 2**31 - 1))
def test_where_it_is_bad(shown, seed):
    page = run_chapter("hard-instances", seed=seed, many=40, drawn=8)
    # the safe evidence is safe on copies
    worst = page["worst"].loc["One reward, copied"]
    assert worst.loc["Pareto IMED", "mean"] < page["top"] / 10
    assert 0 < page["power"] < 1
    assert "nan" not in text_of(shown)
    # the runs of the figure are the first of those of the tail, as the page says
    equal = page["hurt"].groupby(["problem", "policy"])["regret"]
    first = equal.get_group(("Equal prices", "Pareto IMED (sum)"))
    assert np.isin(first, page["tail"]).all()


def test_the_indices_are_those_of_the_policy():
    """At every round the arm that is pulled has the least index, if the candidate is unique."""
    instance = instances.synthetic(0.1, 2, K=5)
    T = 400
    run = limit.index_run(instance, ParetoIMED("sum"), "sum", T, seed=3, points=5000)
    arms = loop.play(instance, ParetoIMED("sum"), T, 3, 0, arms=True).arms
    assert arms is not None
    late = run.rounds > 100
    for t, index in zip(run.rounds[late], run.index[late]):
        assert index[arms[0, t]] == pytest.approx(index.min(), abs=1e-9)
    assert run.rounds[0] == 5
    assert run.gaps.tolist() == pareto.gaps(instance.means).tolist()


def test_the_candidate_of_the_end_is_told():
    def run(candidates: list[int]) -> limit.IndexRun:
        n = len(candidates)
        return limit.IndexRun(
            np.arange(10, 10 + n), np.zeros((n, 3)), np.array(candidates), np.zeros(3)
        )

    assert limit.last_change(run([1, 0, 2, 2])) == 12
    assert limit.last_change(run([2, 2, 2])) == 10


def strip_frame() -> pd.DataFrame:
    problem = (families.mirrored_pairs(), {"Pareto IMED": ParetoIMED(), "w": WidthGuided()}, 300, 6)
    return limit.regrets({"a": problem}, seed=1)


def test_runs_are_summarised_by_problem_and_policy():
    frame = strip_frame()
    summary = limit.run_summary(frame)
    part = frame["regret"][frame["policy"] == "w"]
    row = summary.loc[("a", "w")]
    assert (row["mean"], row["worst"]) == (pytest.approx(part.mean()), part.max())
    assert row["low"] <= row["mean"] <= row["high"]


def test_the_recorded_file_says_how_many_instances_and_runs():
    recorded = made_up()
    played = recorded[recorded["horizon"] == 100_000]
    found = limit.recorded_places(recorded, 100_000)
    each = played.drop_duplicates(["dataset", "group", "instance"])
    assert found["all"] == len(each) == found["synthetic"] + found["real"]
    same = limit.recorded_places(recorded.assign(runs=1000), 100_000)
    assert same["runs"] == "1,000 runs each"
    more = recorded.assign(runs=np.arange(1, len(recorded) + 1))
    assert " to " in limit.recorded_places(more, 100_000)["runs"]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.6, 0.8, "That is clearly less than $C"),
        (0.9, 1.2, "That is not clearly more than $C(\\mu)$, nor clearly less."),
        (1.1, 1.3, "That is clearly more than $C"),
    ],
)
def test_what_the_slope_shows_follows_from_its_interval(low, high, said):
    path = ROOT / "notebooks" / "limit.exercises.md"
    (text,) = [
        c.source for c in jupytext.read(path).cells if "slope_low" in c.source and "%%" in c.source
    ]
    names = {"slopes": np.array([low, high]), "slope_low": low, "slope_high": high, "balance": 0.7}
    found = magics.render(text.removeprefix("%%prose"), names)
    assert found.count("That is") == 1
    assert said in found
    assert ("do not decide" in found) == (low <= 1)


def test_duels_are_counted_by_kind():
    problems = families.random_crowded(4, seed=2)
    assert [kind for kind, _ in problems] == list(families.DRAWS)
    frame = limit.drawn_duels(problems, ParetoIMED(), WidthGuided(), 400, 3, seed=1)
    assert (frame[["below", "level", "above"]].sum(axis=1) == 1).all()
    instance = problems[0][1]
    gaps = pareto.gaps(instance.means)
    mean = (loop.play_block(instance, ParetoIMED(), 400, 1, 0, 3).pulls @ gaps).mean()
    cost = theory.price(instance.means).value * np.log(400)
    assert frame["ratio"][0] == pytest.approx(mean / cost)
    shown = limit.printed_duels(frame.assign(ratio=[0.5, 1.0, 2.0, np.nan]))
    assert shown["Median ratio to C log T"].tolist()[2:] == ["2.00", "all prices are 0"]


def test_the_cautious_price_finds_the_right_candidate_sooner():
    instance = families.unseen_gap(0.02)
    runs: dict[str, Any] = {
        "a": (instance, {"cautious": limit.CautiousIMED()}, 1500, 6),
        "b": (instance, {"plain": ParetoIMED()}, 1500, 60),
    }
    mean = limit.run_summary(limit.regrets(runs, seed=1))["mean"]
    assert mean["a", "cautious"] < mean["b", "plain"]
