"""Songs and videos: the page with and without the data, and what its tables are made of."""

import pandas as pd
import pytest

from momab import study
from momab.chapters import real_data
from momab.datasets import subsets
from momab.study import groups
from tests.chapters.playing import need_recorded, play, read_aloud
from tests.realdata import load_or_skip


def test_the_page(monkeypatch):
    need_recorded("real")
    space, said = play("real-data", monkeypatch, seed=3)
    assert set(space["cells"]["verdict"]) <= {"agrees", "differs"}
    assert len(space["who"]) == 6
    # the correction of the paper's Section 3: not always the champion
    assert space["who"]["champion"].min() < 1
    assert "nan" not in said


@pytest.mark.slow
def test_the_solutions(monkeypatch):
    need_recorded("real")
    space, said = play("real-data", monkeypatch, solutions=True, pictures=False, seed=3)
    assert len(space["race"]) == 9
    assert "Equal means: yes" in said
    assert "nan" not in said


@pytest.mark.slow
def test_the_page_live(monkeypatch, shared):
    need_recorded("real")
    load_or_skip(shared, "spotify")
    monkeypatch.setenv("MOMAB_DATA", str(shared / "data"))
    space, said = play(
        "real-data", monkeypatch, pictures=False, live=True, horizon=1_000, runs=2, subset=3
    )
    assert len(space["played"]) == 4
    assert "Everything above is recorded" not in said


def test_the_page_without_the_data(monkeypatch):
    need_recorded("real")
    monkeypatch.setattr("momab.datasets.find", lambda name, folder=None: None)

    def refuse(*_):
        raise AssertionError("the data were read")

    monkeypatch.setattr("momab.datasets.load", refuse)
    _, said = play("real-data", monkeypatch, pictures=False, live=True)
    assert "momab data get spotify" in said
    assert "The live part needs the data" in said


def test_cells_that_all_agree_and_cells_that_do_not():
    cell = {"dataset": "spotify", "subset_type": subsets.EASY, "policy": "Pareto UCB1"}
    cell |= {"column": "pareto_regret_mean", "z": -3.21, "paper": 1.0, "ours": 20.0}
    reasons = ("true mean", "bad runs", "ties", "unknown")
    outside = pd.DataFrame([{**cell, "reason": reason} for reason in reasons])
    said = read_aloud("real-data", "**Cells outside", outside=outside, groups=groups)
    assert "Spotify easy, Pareto UCB1, pareto regret mean ($z=-3.2$): after the" in said
    for words in ("add the true mean", "a few bad runs", "tie-breaking", "no explanation"):
        assert words in said
    said = read_aloud("real-data", "**Cells outside", outside=outside[:0], groups=groups)
    assert said.endswith("in Tables 1 and 4: none.")
    said = read_aloud("real-data", "**Agreement", loose=outside[:2], groups=groups)
    assert "Pareto UCB1: 1.00 in the paper, 20.00 here; Spotify easy" in said
    said = read_aloud("real-data", "**Agreement", loose=outside[:0], groups=groups)
    assert "No regret cell owes its verdict" in said


def test_reasons_follow_the_cell():
    cell = {"policy": "Width-guided", "column": "front_precision", "paper": 0.7, "ours": 0.9}
    cell |= {"paper_sd": 0.1, "ours_sd": 0.1}
    assert real_data.reason(cell) == "true mean"
    heavy = {**cell, "column": "pareto_regret_mean", "paper": 10.0, "paper_sd": 100.0}
    assert real_data.reason(heavy) == "bad runs"
    plain = {**cell, "policy": "Pareto UCB1", "column": "pareto_regret_mean"}
    assert real_data.reason(plain) == "unknown"
    assert real_data.reason({**plain, "column": "coverage_entropy"}) == "ties"
    cells = pd.DataFrame([{**plain, "verdict": "agrees"}, {**heavy, "verdict": "differs"}])
    assert real_data.outside(cells)["reason"].tolist() == ["bad runs"]


def test_who_certified_first_agrees_with_the_table_per_group():
    need_recorded("real")
    runs = study.recorded_results("real")
    forecast = real_data.first_certificates(runs)
    assert len(forecast) == 18
    assert forecast["ratio"].between(0, 1).all()
    assert (forecast["champion"] <= forecast["three"]).all()
    # twenty certified runs on every subset: the groups' shares are means of the subsets' shares
    who = real_data.certified_objectives(runs)
    if (who["certified"] == 1).all():
        per_group = forecast["champion"].to_numpy().reshape(6, 3).mean(axis=1)
        assert per_group == pytest.approx(who["champion"].to_numpy())


def test_the_most_frequent_objectives_are_named():
    line = {"dataset": "spotify", "subset_type": subsets.EASY, "certified": 1.0, "distinct": 5}
    line |= {"most": 2, "champion": 0.5, "shares": {0: 0.1, 1: 0.4, 2: 0.2, 3: 0.2, 4: 0.1}}
    shown = real_data.certificate_table(pd.DataFrame([line, {**line, "dataset": "kuairec"}]))
    first, second = shown["Most frequent"]
    assert first.startswith("danceability 40%, energy 20%")
    assert second.startswith("no. 2: 40%, no. 3: 20%")
    assert first.endswith(", ...")
    assert shown["Group"].tolist() == ["Spotify easy", "KuaiRec easy"]
