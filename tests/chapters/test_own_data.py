"""The chapter on own data: its tables and sentences, and what `momab study` hands to the page."""

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jupytext
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import momab
from momab import MomabError
from momab.chapters import own_data
from momab.chapters.figures import magics
from momab.model import instances, tables, theory
from momab.study import arm_tables
from tests.chapters.running import WHOLE, run_chapter, text_of
from tests.conftest import ROOT

PAGE = ROOT / "notebooks" / "own-data.md"
SMALL: dict[str, Any] = {"horizon": 500, "runs": 2}


# --- the page -------------------------------------------------------------------------------


@WHOLE
def test_own_data_chapter(shown, whole):
    page = run_chapter("own-data", whole=whole, seed=8, horizon=2_000, runs=3)
    assert page["instance"].K == 8
    said = text_of(shown).replace("\n", " ")
    assert "Theorem 4 is in force" in said
    assert ("Theorem 4 does not apply" in said) == whole


def test_columns_are_scaled_and_few_rows_are_told(shown, tmp_path):
    table = own_data.example_table(3, rows=20)
    table["price"] *= 20
    table.to_csv(tmp_path / "my.csv", index=False)
    values = {"table": str(tmp_path / "my.csv"), "objectives": "coffee;price"}
    page = run_chapter("own-data", **values, scale="price=0:20", **SMALL)
    assert page["instance"].objective_names == ("coffee", "price")
    assert "its average is itself a rough estimate" in text_of(shown)


def play_table(frame: pd.DataFrame, folder: Path, **values: Any) -> dict[str, Any]:
    """Run the page on a table whose first column names the arms."""
    path = folder / "table.csv"
    frame.to_csv(path, index=False)
    arm, *objectives = frame.columns
    asked = {"table": str(path), "arm": arm, "objectives": ";".join(objectives)}
    return run_chapter("own-data", **(SMALL | asked | values))


def test_one_objective_with_a_clear_leader_is_certified(shown, tmp_path):
    frame = pd.DataFrame({"arm": ["a"] * 40 + ["b"] * 40, "x": [1.0] * 40 + [0.0] * 40})
    play_table(frame, tmp_path, horizon=2_000)
    said = text_of(shown)
    assert "2 arms, 1 objective." in said
    assert "certified in 100% of the runs and committed to\na (100%); the median" in said
    assert "rough estimate" not in said


def test_equal_arms_leave_nothing_to_bound(shown, tmp_path):
    frame = pd.DataFrame({"arm": list("aabbcc"), "x": [0.2, 0.4] * 3, "y": [0.5, 0.1] * 3})
    play_table(frame, tmp_path)
    said = text_of(shown).replace("\n", " ")
    assert "there is nothing to bound" in said
    [prices] = [b["text/plain"] for b in shown if "Candidate" in b.get("text/plain", "")]
    assert prices.count(" 0.0 ") == 6
    assert "several arms share the first place" in said
    assert "positive Pareto gap, from" not in said
    assert "gave no certificate within 500 rounds" in said


def test_shared_first_places_are_told(shown, tmp_path):
    frame = pd.DataFrame(
        {"arm": list("abcd"), "x": [1.0, 1.0, 0.5, 0.9], "y": [1.0, 0.5, 1.0, 0.9]}
    )
    play_table(frame, tmp_path)
    said = text_of(shown).replace("\n", " ")
    assert "Theorem 4 does not apply" in said
    assert "Dominated with gap zero, so their pulls add no Pareto regret: b, c." in said
    assert "Best on an objective, though not alone, and yet dominated: b, c." in said
    assert "at this horizon the bounds say nothing" in said


def test_many_arms_and_strange_names_fit_on_the_page(shown, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.random((120, 3)).round(3), columns=["x", "$y$", "z {{ 1 }}"])
    frame.insert(0, "arm", [f"{{% {i % 60} $" for i in range(120)])
    play_table(frame, tmp_path)
    said = text_of(shown)
    assert "60 arms, 3 objectives." in said
    assert re.search(r" and \d+ others?\.", said)
    assert any("(the first 40)" in bundle.get("text/html", "") for bundle in shown)


# --- sentences ------------------------------------------------------------------------------


@cache
def code_cells() -> list[str]:
    return [cell.source for cell in jupytext.read(PAGE).cells if cell.cell_type == "code"]


def read_aloud(words: str, names: dict[str, Any]) -> str:
    """What the page's text that holds these words says with these names, in one line.

    The nearest cell above it that is no text prepares its numbers.
    """
    cells = code_cells()
    [number] = [i for i, text in enumerate(cells) if text.startswith("%%prose") and words in text]
    exec(next(text for text in cells[number::-1] if not text.startswith("%%")), names)
    return magics.one_line(magics.render(cells[number].removeprefix("%%prose\n"), names))


@settings(deadline=None, max_examples=40)
@given(
    st.integers(2, 7), st.integers(1, 5), st.integers(0, 10**6), st.sampled_from([None, 2, 3, 11])
)
def test_descriptions_match_the_geometry(K, d, seed, levels):
    instance = instances.random_bernoulli(K, d, seed, levels)
    arms = arm_tables.arm_table(instance)
    assert arms["on_front"].sum() == len(instance.geometry.front)
    assert arms["fairness_cost"].min() == 0
    assert arms["wins"].sum() >= d
    leads = own_data.objective_table(instance)
    assert ((leads["best_arm"] == "several") == (leads["lead"] == 0)).all()
    names = {"instance": instance, "horizon": 1000, "own_data": own_data, "theory": theory}
    text = read_aloud("there is nothing to bound", names)
    bound = names["bound"]
    assert bound.sharper <= bound.theorem
    if instance.geometry.max_gap == 0:
        assert "nothing to bound" in text
    else:
        assert ("**Theorem 4 is in force**" in text) == (instance.geometry.g_dagger > 0)
        assert ("**Theorem 4 does not apply**" in text) == (instance.geometry.g_dagger == 0)
        assert ("say nothing" in text) == (
            min(bound.theorem, bound.sharper, bound.pareto_ucb1) >= bound.trivial
        )
    said = read_aloud("In the Pareto set", names)
    assert f"{K} arms" in said
    many = len(instance.geometry.positive_gaps)
    assert ("positive Pareto gap, from" in said) == (many > 1)
    assert ("One arm has a positive Pareto gap" in said) == (many == 1)
    assert ("The largest lead is" in said) == (instance.geometry.g_dagger > 0)


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 10**6), st.integers(100, 10**7))
def test_vacuous_bounds_are_called_so(K, d, seed, horizon):
    instance = instances.random_bernoulli(K, d, seed)
    bound = own_data.in_force(instance, horizon)
    if bound.trivial == 0:
        return
    table = own_data.bound_table(instance, horizon)
    values = [bound.theorem, bound.sharper, bound.pareto_ucb1]
    assert table["At this horizon"].tolist() == [
        "",
        *("vacuous" if value >= bound.trivial else "not vacuous" for value in values),
    ]
    said = read_aloud(
        "there is nothing to bound",
        {"instance": instance, "horizon": horizon, "own_data": own_data, "theory": theory},
    )
    assert ("and vacuous at this horizon" in said) == (
        bound.g_dagger > 0 and bound.theorem >= bound.trivial
    )


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_a_bound_speaks_from_where_it_says(K, d, seed):
    means = instances.random_bernoulli(K, d, seed).means
    gap = momab.bernoulli(means).geometry.max_gap
    if gap == 0:
        return
    start = own_data.speaks_from(theory.sharper_bound, means, gap, K)
    if start is None:
        return
    for horizon in (start, 2 * start, 100 * start):
        assert theory.sharper_bound(means, horizon).total < horizon * gap
    if start > K + 1:
        assert theory.sharper_bound(means, start - 1).total >= (start - 1) * gap


def test_a_bound_that_never_speaks():
    def flat(value):
        return lambda means, T: SimpleNamespace(total=value)

    assert own_data.speaks_from(flat(float("inf")), np.ones((2, 1)), 0.5, 3) is None
    assert own_data.speaks_from(flat(50.0), np.ones((2, 1)), 0.5, 2) == 101


@pytest.mark.parametrize(
    ("value", "text"), [(1234.5, "1,234"), (100.0, "100"), (99.96, "100"), (0.01234, "0.0123")]
)
def test_bounds_are_written_in_few_digits(value, text):
    assert own_data.brief(value) == text


# --- tables ---------------------------------------------------------------------------------


def test_printed_tables_hold_the_numbers():
    instance = instances.random_bernoulli(50, 3, 4)
    arms = arm_tables.arm_table(instance)
    printed = own_data.printed_arms(arms)
    assert len(printed) == own_data.MOST
    assert ((printed["On the front"] == "yes") == arms["on_front"].head(own_data.MOST)).all()
    leads = own_data.printed_objectives(instance)
    assert (leads["Lead"] == instance.geometry.objective_gaps).all()
    results = momab.simulate(instance, momab.WidthGuided(), 200, 2, 1, checkpoints=5)
    [row] = own_data.printed_results(results).to_dict("records")
    assert row["Regret"] == results.summary()["mean"][0]
    assert row["Certified"] == "0%"


def test_the_price_is_told_by_the_class_of_alternatives(monkeypatch):
    frame = own_data.example_table(1)
    instance = momab.from_frame(frame, "cafe", ["coffee", "quiet", "price", "food"])
    table = own_data.price_table(instance, 1000)
    for row, kind in zip(table.to_dict("records"), ("kinf", "sum", "max")):
        found = theory.instance_price(instance, kind)
        assert row["Price"] == found.value
        assert row["times log T"] == pytest.approx(found.value * np.log(1000))
        assert row["Candidate"] == instance.arm_names[found.arm]
    assert table["Price"].max() == table["Price"].iloc[-1] > 0
    monkeypatch.setattr(own_data, "MOST_ROWS", 100)
    assert own_data.price_table(instance, 1000).equals(table[1:].reset_index(drop=True))


def test_tables_of_the_exercises():
    geometry = instances.zero_gap().geometry
    [row] = own_data.noise_table({3: geometry}).to_dict("records")
    assert (row["Noise objectives"], row["Arms on the front"]) == (3, len(geometry.front))
    front = np.array([True, False])
    table = own_data.trust_table(["a", "b"], {"sure": front}, {"share": np.array([front, ~front])})
    assert table.to_dict("list") == {
        "Café": ["a", "b"],
        "sure": ["yes", "no"],
        "share": ["50%"] * 2,
    }


# --- the command ----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["loudness", "loudness=1", "=0:1", "loudness=a:b", "loudness=0-1"])
def test_bad_scales_are_explained(text):
    with pytest.raises(MomabError, match="column=low:high"):
        tables.parse_scale([text])


def test_scales_are_read():
    assert tables.parse_scale(["a=-60:0", "b=0:1e3"]) == {"a": (-60, 0), "b": (0, 1000)}


def test_two_hundred_arms_are_drawn_legibly_and_in_any_script():
    names = ["水", "Öl", *(f"arm {i}" for i in range(198))]
    means = np.linspace(0.1, 0.9, 200)[:, None] * [1.0, 1.0]
    instance = momab.bernoulli(means, arm_names=names)
    labels = [
        text.get_text() for text in own_data.instance_geometry(instance).axes[0].get_yticklabels()
    ]
    assert len(labels) == 24
    assert labels[-1] == "arm 197", "the best arm is the last"
    few = momab.bernoulli(means[:3], arm_names=names[:3])
    labels = [text.get_text() for text in own_data.instance_geometry(few).axes[0].get_yticklabels()]
    assert labels == ["arm 1", "Öl", "arm 0"]
