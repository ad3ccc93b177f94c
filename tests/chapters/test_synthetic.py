"""The chapter on the synthetic family: what it computes, and that it runs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import momab
from momab import study
from momab.chapters import synthetic
from momab.chapters.figures import show
from momab.errors import MomabError
from momab.model import instances, pareto, theory
from tests.chapters.running import WHOLE, run_chapter, text_of


@WHOLE
def test_synthetic_chapter(shown, whole):
    for part in ("synthetic", "paths"):
        try:
            study.recorded_results(part)
        except MomabError:
            pytest.skip(f"no recorded results for {part}")
    page = run_chapter("synthetic", whole=whole, seed=5, runs=30, horizon=2_000, short_runs=2)
    assert page["exact"].all()
    assert (page["cells"]["verdict"] == "agrees").all()
    assert (page["ratio"] > 1).all()
    assert (page["paper_z"].abs() < 4).all()
    assert "falls at every step" in text_of(shown)
    assert "nan" not in text_of(shown)


@settings(deadline=None, max_examples=20)
@given(st.integers(100, 10**8))
def test_the_sharper_coefficient_never_exceeds_half_the_theorems(horizon):
    here = []
    for delta, m in instances.SYNTHETIC_SETTINGS:
        means = momab.synthetic(delta, m).means
        sharper, bound = (f(means, horizon) for f in (theory.sharper_bound, theory.theorem_bound))
        assert sharper.exploration <= 32 * 20 * math.log(horizon) / pareto.g_dagger(means)
        assert sharper.total <= bound.total
        if delta == 0.02:
            here.append((sharper.total, bound.total))
    falling, flat = zip(*here, strict=True)
    assert (np.diff(falling) < 0).all()
    assert np.ptp(flat) < 1e-6 * max(flat)


@pytest.fixture(scope="module")
def page():
    """What the page's cells define, for a few short runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(show, "bundle", lambda forms: None)
        return run_chapter("synthetic", seed=5, runs=10, horizon=1_000, short_runs=2)


def test_pulls_are_averaged_over_the_arms_of_a_kind(page):
    fresh, kinds = page["fresh"].pulls, page["kinds"]
    arms = [a for a, name in enumerate(page["family"]["0.02, 8"].arm_names) if "crowd" in name]
    assert len(arms) == 8
    mean = fresh[(fresh["instance"] == "0.02, 8") & fresh["arm"].isin(arms)]["pulls"].mean()
    assert kinds["crowd"][list(page["family"]).index("0.02, 8")] == pytest.approx(mean)


def test_the_table_and_the_figure_have_the_papers_means(page):
    assert (page["conditions"]["below_64"] == (page["bounds"]["c_pucb"] > 64)).all()
    left, right = synthetic.synthetic_comparison(page["kept"]).axes
    drawn = [line.get_ydata() for line in left.lines if len(line.get_ydata()) == 5]
    table = study.table2(page["kept"])
    assert np.sort(drawn[0]) == pytest.approx(np.sort(table["width_guided_mean"][:5]))
    assert right.get_xlabel().startswith("number")
