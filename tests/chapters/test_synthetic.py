"""The chapter on the synthetic family: what it computes, and that it runs."""

import numpy as np
import pytest

from momab import study
from momab.chapters import synthetic
from momab.chapters.figures import show
from momab.errors import MomabError
from tests.chapters.running import WHOLE, run_chapter, text_of


@WHOLE
def test_synthetic_chapter(shown, whole):
    for part in ("synthetic", "paths"):
        try:
            study.recorded_results(part)
        except MomabError:
            pytest.skip(f"no recorded results for {part}")
    page = run_chapter("synthetic", whole=whole, seed=5, runs=30)
    assert page["exact"].all()
    assert (page["cells"]["verdict"] == "agrees").all()
    assert (page["ratio"] > 1).all()
    assert (page["paper_z"].abs() < 4).all()
    assert "falls with every increase" in text_of(shown)
    assert "nan" not in text_of(shown)


@pytest.fixture(scope="module")
def page():
    """What the page's cells define, for a few short runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(show, "bundle", lambda forms: None)
        return run_chapter("synthetic", seed=5, runs=10)


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
