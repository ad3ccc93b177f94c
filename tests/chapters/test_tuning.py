"""The same tuning for everyone: the page, and who wins before and after."""

import numpy as np
import pandas as pd
import pytest

from momab import study
from momab.chapters import tuning
from momab.datasets import subsets
from momab.study import groups
from tests.chapters.playing import need_recorded, play, read_aloud

SMALL = {"seed": 2, "horizon": 2_000, "runs": 2, "coefficients": [0.05, 2.0]}


def test_the_page(monkeypatch):
    need_recorded("validation", "retuned", "real")
    space, said = play("tuning", monkeypatch, **SMALL)
    assert len(space["chosen"]) == 18
    assert (space["gain"] > 1).all()
    assert "Everybody gains from tuning" in said
    assert "nan" not in said


@pytest.mark.slow
def test_the_solutions(monkeypatch):
    need_recorded("validation", "retuned", "real")
    space, said = play("tuning", monkeypatch, solutions=True, pictures=False, **SMALL)
    assert np.isclose(space["votes"].sum(), 1)
    assert len(space["judged"]) == 5
    assert "nan" not in said


def test_a_sweep_without_the_published_coefficient():
    line = {"policy": "Pareto UCB1", "mean": 1234.56, "se": 7.0, "c": 0.5}
    picks = pd.DataFrame([line, {**line, "policy": "Width-guided"}])
    said = read_aloud("tuning", "The least means", picks=picks, plain=picks[:0])
    assert said == (
        "The least means: Pareto UCB1 1,234.6 ± 7.0 at $c=0.5$; "
        "Width-guided 1,234.6 ± 7.0 at $c=0.5$."
    )


def test_choices_inside_the_grid_and_choices_that_did_no_harm():
    near = np.array([True, False])
    said = read_aloud("tuning", "within a factor of two", near=near, edge=[], chosen=[])
    assert "in 1 of 2 groups" in said
    assert said.endswith("most sets of nine runs.")
    said = read_aloud("tuning", "astray", hurt=[], guided=[])
    assert said.startswith("In these runs no choice went badly wrong.")
    clear = {"dataset": "spotify", "subset_type": subsets.EASY, "best": "A", "clear": True}
    frame = pd.DataFrame([clear, {**clear, "dataset": "kuairec", "clear": False}])
    names = {"before": frame, "after": frame, "mixed": frame[:1], "gain": pd.Series([1000.0])}
    said = read_aloud("tuning", "**Least mean before", groups=groups, **names)
    assert "our runs): Spotify easy: A; KuaiRec easy: A (not clearly). **Least mean after" in said
    assert "get ours: Spotify easy: A. Tuning divides" in said


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
