"""Songs and videos: the page with and without the data, and what its tables are made of."""

import pandas as pd
import pytest

from momab import MomabError, study
from momab.chapters import real_data
from momab.chapters.figures import magics
from momab.study import design, groups
from momab.study.datasets import subsets
from tests.chapters.running import WHOLE, read_aloud, run_chapter, text_of
from tests.realdata import load_or_skip


@WHOLE
def test_the_page(shown, whole):
    space = run_chapter("real-data", whole, seed=3)
    said = text_of(shown)
    assert set(space["cells"]["verdict"]) <= {"agrees", "differs"}
    assert len(space["who"]) == 6
    # the correction of the paper's Section 3: not always the champion
    assert space["who"]["champion"].min() < 1
    assert "nan" not in said
    if whole:
        assert len(space["race"]) == 9
        assert "Equal means: yes" in said


@pytest.mark.slow
def test_the_page_live(monkeypatch, shared, shown):
    load_or_skip(shared, "spotify")
    monkeypatch.setenv("MOMAB_DATA", str(shared / "data"))
    space = run_chapter("real-data", live=True, horizon=1_000, runs=2, subset=3)
    assert len(space["played"]) == 4
    assert "Everything above is recorded" not in text_of(shown)


def test_the_page_without_the_data(monkeypatch, shown):
    monkeypatch.setattr("momab.study.datasets.registry.find", lambda name, folder=None: None)
    design._whole.cache_clear()  # another test may have read them
    with pytest.raises(MomabError, match="momab data get spotify"):
        run_chapter("real-data", live=True)


def cell(**values):
    found = {"dataset": "spotify", "subset_type": subsets.EASY, "policy": "Pareto UCB1"}
    found |= {"column": "pareto_regret_mean", "z": -3.21, "paper": 1.0, "ours": 20.0, "runs": 60}
    return found | {"verdict": "agrees"} | values


def test_cells_that_differ_are_named():
    cells = pd.DataFrame([cell(), cell(verdict="differs")])
    names = {"made": study.recorded_provenance(), "absent": [], "groups": groups}
    names |= {"regret": cells, "cells": cells, "table4": cells}
    said = read_aloud("real-data", "Recorded results", **names, differs=[cells[:0], cells[1:]])
    assert "1 of the 2 cells of Table 1 and 1 of the 2 of Table 4" in said
    assert (
        "the paper's; outside is Spotify easy, Pareto UCB1, pareto regret mean ($z=-3.2$)" in said
    )
    said = read_aloud("real-data", "Recorded results", **names, differs=[cells[:0], cells[:0]])
    assert "standard errors of the paper's. " in said


def test_cheap_agreement_is_counted():
    loose = pd.DataFrame([cell(), cell()])
    said = read_aloud("real-data", "**Agreement", loose=loose, groups=groups)
    assert "In 2 regret cells the" in said
    assert "Pareto UCB1: 1.00 in the paper, 20.00 here; Spotify easy" in said
    assert "In 1 regret cell the" in read_aloud(
        "real-data", "**Agreement", loose=loose[:1], groups=groups
    )
    said = read_aloud("real-data", "**Agreement", loose=loose[:0], groups=groups)
    assert "No regret cell owes its agreement" in said


def test_the_lines_of_a_group_are_those_of_table_1():
    runs = study.recorded_results("real")
    lines = real_data.group_lines(runs)
    table = study.table1(runs)
    assert lines["mean"].to_numpy() == pytest.approx(table["pareto_regret_mean"].to_numpy())
    missed = (1 - lines["wrong"] / lines["runs"]).to_numpy()
    assert missed == pytest.approx(table["detection_rate"].to_numpy())
    guided = lines[lines["policy"] == "Width-guided"]
    # the caveat of the page: tuned, a hundred times and more below the theorem's coefficient
    assert guided["c"].max() <= 0.02
    rivals = lines[lines["policy"].isin(["Pareto UCB1", "Scalarized UCB"])]
    assert (rivals["c"] == 2).all()
    assert lines.loc[lines["policy"] == "Annealing-Pareto", "c"].isna().all()


def test_a_rival_with_a_smaller_mean_is_found():
    lines = real_data.group_lines(study.recorded_results("real"))
    found = real_data.smaller_means(lines)
    for line in found.to_dict("records"):
        assert line["mean"] < line["guided"]
        assert line["z"] > 0
    best = lines.loc[lines.groupby(groups.GROUP)["mean"].idxmin(), "policy"]
    assert found["subset_type"].size >= (best != "Width-guided").sum() > 0
    raised = lines.assign(mean=lines["mean"].where(lines["policy"] == "Width-guided", 1e9))
    assert real_data.smaller_means(raised).empty


def test_the_captions_of_a_group_say_who_ended_wrong():
    lines = groups.one_group(
        real_data.group_lines(study.recorded_results("real")), "kuairec", subsets.EASY
    ).reset_index(drop=True)
    shape = groups.one_group(real_data.subset_geometry(), "kuairec", subsets.EASY)
    text = '{% from "prose.md.j2" import group_runs -%}{{ group_runs(lines, shape) }}'

    def told(**columns):
        return magics.render(text, {"lines": lines.assign(**columns), "shape": shape})

    assert "Dominated at the end: no policy." in told(wrong=0)
    said = told(wrong=[0, 2, 0, 1], mean=[1.0, 2.0, 3.0, 4.0])
    assert "Pareto UCB1 in 2 of 60 runs, Scalarized UCB in 1 of 60 runs." in said
    assert "; Width-guided" not in said
    assert "; Width-guided 4.00 ±" in told(mean=[4.0, 2.0, 3.0, 1.0])


def test_who_certified_first_agrees_with_the_table_per_group():
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
