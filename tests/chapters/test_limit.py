"""The chapter on Pareto IMED: its indices, its tables, and its conclusions for drawn values."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.chapters import limit
from momab.engine import loop
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.policies.width_guided import WidthGuided
from momab.model import families, imed, instances, pareto, theory
from tests.chapters.running import PAGE, WHOLE, run_chapter, text_of
from tests.study.test_standings import made_up


@WHOLE
@PAGE
@given(seed=st.integers(0, 2**31 - 1), crowd=st.integers(1, 18), delta=st.floats(0.01, 0.2))
def test_limit_chapter(shown, whole, seed, crowd, delta):
    page = run_chapter(
        "limit",
        whole=whole,
        seed=seed,
        crowd=crowd,
        delta=delta,
        horizon=5_000,
        runs=5,
        many=40,
        drawn=8,
    )
    assert imed.is_settled(page["family"].means)
    # the safe evidence is safe on copies, and the line of balance is below the price
    worst = page["worst"].loc["One coin, copied"]
    assert worst.loc["Pareto IMED", "mean"] < page["top"] / 10
    assert (page["lines"]["balanced indices"] <= page["lines"]["C(μ) log T"]).all()
    assert 0 < page["power"] < 1
    assert "nan" not in text_of(shown)


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


def test_regret_over_time_is_that_of_the_loop():
    instance = instances.synthetic(0.1, 2, K=5)
    frame = limit.over_time(instance, {"x": ParetoIMED()}, 300, 2, 7, points=3)
    ends = [
        pareto.gaps(instance.means) @ loop.play(instance, ParetoIMED(), 300, 7, r).pulls[0]
        for r in (0, 1)
    ]
    assert frame["t"].tolist()[-1] == 300
    assert frame["mean"].iloc[-1] == pytest.approx(np.mean(ends))


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


def test_the_table_of_runs_has_both_constants_where_they_differ():
    summary = limit.run_summary(strip_frame())
    table = limit.printed_runs([summary], {"a": {"C(μ) log T": 1.5, "U(μ) log T": 2.0}})
    assert table["Policy"].tolist() == ["Pareto IMED", "w"]
    assert table["Worst run"][1] == f"{summary.loc[('a', 'w'), 'worst']:,.1f}"
    assert table["U(μ) log T"].tolist() == ["2", "2"]
    bare = limit.printed_runs([summary], {"a": {"C(μ) log T": 1.5}})
    assert bare["U(μ) log T"].tolist() == ["", ""]


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


def test_marks_show_both_constants_where_they_differ():
    marks = limit.price_marks(
        {"m": (families.mirrored_pairs(), "sum"), "one": (instances.duplicated(0.1, 3, 2), "max")},
        1000,
    )
    mirrored = families.mirrored_pairs().means
    assert marks["m"]["C(μ) log T"] == pytest.approx(theory.price(mirrored).value * np.log(1000))
    assert marks["m"]["U(μ) log T"] == pytest.approx(imed.worst_price(mirrored) * np.log(1000))
    assert list(marks["one"]) == ["C(μ) log T"]


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


def test_pictures_show_what_they_are_given():
    frame = strip_frame()
    fig = limit.strips(frame, {"a": {"C(μ) log T": 3.0}})
    assert [text.get_text() for text in fig.axes[0].get_yticklabels()] == ["Pareto IMED", "w"]
    curves = limit.over_time(families.mirrored_pairs(), {"Pareto IMED": ParetoIMED()}, 200, 3, 1)
    rounds = np.sort(curves["t"].unique())
    fig = limit.over_time_picture(curves, {"C(μ) log T": np.log(rounds)})
    assert len(fig.axes[0].lines) == 2
    recorded = made_up()
    fig = limit.ratio_picture(recorded, 100_000)
    labels = [text.get_text() for text in fig.axes[0].get_yticklabels()]
    assert labels == list(dict.fromkeys(recorded["policy"]))
