"""The chapters on the computational study: what they compute, and that they run."""

from pathlib import Path

import jupytext
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab import MomabError
from momab.chapters import own_data, synthetic
from momab.cli.app import app
from momab.figures import show
from momab.model import instances
from momab.study import arm_tables, reproduce

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CHAPTERS = ("synthetic", "own-data")


def play(name, monkeypatch, **values):
    """Execute a chapter's code in this process; return its names and everything it showed."""
    shown = []
    monkeypatch.setattr(show, "bundle", lambda forms: shown.append(forms["text/plain"]))
    monkeypatch.chdir(NOTEBOOKS)
    space = {}
    for cell in jupytext.read(NOTEBOOKS / f"{name}.md").cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, name, "exec"), space)  # the notebook's own code
            if "parameters" in cell.metadata.get("tags", []):
                assert set(values) <= set(space)
                space.update(values)
    return space, "\n".join(shown)


def need_recorded(*parts):
    for part in parts:
        try:
            reproduce.recorded(part)
        except MomabError:
            pytest.skip(f"no recorded results for {part}")


# --- the chapters ---------------------------------------------------------------------------


def test_synthetic_chapter(monkeypatch):
    need_recorded("synthetic", "paths")
    space, said = play("synthetic", monkeypatch, seed=5, runs=30, horizon=2_000, short_runs=2)
    assert space["exact"].all()
    assert (space["cells"]["verdict"] == "agrees").all()
    assert (space["ratio"] > 1).all()
    assert (space["paper_z"].abs() < 4).all()
    assert space["falls"]
    assert "nan" not in said


def test_own_data_chapter(monkeypatch, tmp_path):
    space, said = play("own-data", monkeypatch, seed=8, horizon=2_000, runs=3)
    assert space["instance"].K == 8
    assert "Theorem 4 is in force" in said
    assert "Theorem 4 is silent" in said
    table = own_data.example_table(3, rows=20)
    table["price"] *= 20
    table.to_csv(tmp_path / "my.csv", index=False)
    space, said = play(
        "own-data",
        monkeypatch,
        table=str(tmp_path / "my.csv"),
        objectives="coffee;price",
        scale="price=0:20",
        horizon=500,
        runs=2,
    )
    assert space["instance"].objective_names == ("coffee", "price")
    assert "its average is itself a rough estimate" in said


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapters_have_exercises_and_a_broken_hypothesis(name):
    text = (NOTEBOOKS / f"{name}.md").read_text()
    exercises = text.count("{exercise}") + text.count("{exercise-start}")
    assert exercises >= 4
    assert text.count("{solution}") + text.count("{solution-start}") == exercises
    assert "reak" in text


# --- the synthetic family -------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(st.integers(100, 10**8))
def test_the_sharper_coefficient_never_exceeds_half_the_theorems(horizon):
    bounds = synthetic.synthetic_theory(horizon)
    assert (bounds["c_sharp"] <= 32).all()
    assert (bounds["sharper"] <= bounds["theorem"]).all()
    here = bounds[bounds["delta"] == 0.02]
    assert here["sharper"].is_monotonic_decreasing
    assert np.ptp(here["theorem"]) < 1e-6 * here["theorem"].max()


# --- describing an instance -----------------------------------------------------------------


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
    bound = own_data.in_force(instance, 1000)
    assert bound.sharper <= bound.theorem
    text = bound.text
    if instance.geometry.max_gap == 0:
        assert "nothing to bound" in text
    else:
        assert ("Theorem 4 is in force" in text) == (instance.geometry.g_dagger > 0)
        assert ("says nothing" in text or "say nothing" in text) == (
            min(bound.theorem, bound.sharper, bound.pareto_ucb1) >= bound.trivial
        )
    assert f"{K} arms" in own_data.geometry_text(instance)


def test_the_text_names_traps():
    text = own_data.geometry_text(instances.zero_gap())
    assert "Dominated with gap zero" in text
    assert "Best on an objective, though not alone, and yet dominated" in text


@pytest.mark.parametrize("text", ["loudness", "loudness=1", "=0:1", "loudness=a:b", "loudness=0-1"])
def test_bad_scales_are_explained(text):
    with pytest.raises(MomabError, match="column=low:high"):
        own_data.parse_scale([text])


def test_scales_are_read():
    assert own_data.parse_scale(["a=-60:0", "b=0:1e3"]) == {"a": (-60, 0), "b": (0, 1000)}


# --- the command ----------------------------------------------------------------------------


@pytest.fixture
def my_csv(tmp_path):
    path = tmp_path / "my.csv"
    table = own_data.example_table(1, rows=15)
    table["price"] *= 20
    table.to_csv(path, index=False)
    return path


def test_the_command_hands_the_table_to_the_page(my_csv, monkeypatch):
    from typer.testing import CliRunner

    seen = {}

    def fake(project, name, profile, assignments, output):
        seen.update(dict(text.split("=", 1) for text in assignments), name=name)
        return [Path("page.html")]

    monkeypatch.setattr("momab.book.single_page.run", fake)
    arguments = ["study", str(my_csv), "--arm", "cafe", "--objectives", "coffee,price"]
    done = CliRunner().invoke(app, [*arguments, "--scale", "price=0:20", "-T", "1e4"])
    assert done.exit_code == 0, done.output
    assert seen["name"] == "own-data"
    assert seen["objectives"] == "coffee;price"
    assert seen["scale"] == "price=0:20"
    assert len(seen["fingerprint"]) == 16
    parameters = jupytext.read(NOTEBOOKS / "own-data.md")
    source = next(c.source for c in parameters.cells if "parameters" in c.metadata.get("tags", []))
    assert all(f"{name}:" in source for name in seen if name != "name")


def test_bad_tables_are_refused_before_a_page_is_made(my_csv, tmp_path):
    values = {"runs": 2}
    with pytest.raises(MomabError, match=r"'price' must lie in \[0, 1\]"):
        own_data.study_assignments(my_csv, "cafe", ["coffee", "price"], (), values)
    with pytest.raises(MomabError, match="no column 'tea'"):
        own_data.study_assignments(my_csv, "cafe", ["tea"], (), values)
    with pytest.raises(MomabError, match="cannot read"):
        own_data.study_assignments(tmp_path / "none.csv", "cafe", ["coffee"], (), values)
    comma = tmp_path / "a,b.csv"
    comma.write_bytes(my_csv.read_bytes())
    with pytest.raises(MomabError, match="commas"):
        own_data.study_assignments(comma, "cafe", ["coffee"], (), values)
