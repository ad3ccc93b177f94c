"""The chapter on the synthetic family: what it computes, and that it runs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import momab
from momab import study
from momab.chapters import synthetic
from momab.errors import MomabError
from momab.model import instances
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
    assert page["falls"]
    assert "nan" not in text_of(shown)


@settings(deadline=None, max_examples=20)
@given(st.integers(100, 10**8))
def test_the_sharper_coefficient_never_exceeds_half_the_theorems(horizon):
    bounds = synthetic.synthetic_theory(horizon)
    assert (bounds["c_sharp"] <= 32).all()
    assert (bounds["sharper"] <= bounds["theorem"]).all()
    here = bounds[bounds["delta"] == 0.02]
    assert here["sharper"].is_monotonic_decreasing
    assert np.ptp(here["theorem"]) < 1e-6 * here["theorem"].max()


def test_pulls_are_averaged_over_the_arms_of_a_kind():
    family = {f"{d:g}, {m}": momab.synthetic(d, m) for d, m in instances.SYNTHETIC_SETTINGS}
    played = momab.simulate(family, {"Width-guided": momab.WidthGuided()}, 100, 2, 1, checkpoints=0)
    kinds = synthetic.pulls_by_kind(played.pulls)
    assert len(kinds) == len(family)
    first = played.pulls[played.pulls["instance"] == "0.02, 8"]
    arms = [a for a, name in enumerate(family["0.02, 8"].arm_names) if name.startswith("crowd")]
    assert len(arms) == 8
    mean = first[first["arm"].isin(arms)]["pulls"].mean()
    assert kinds[(kinds["delta"] == 0.02) & (kinds["m"] == 8)]["crowd"].item() == pytest.approx(
        mean
    )


def test_tables_hold_what_they_are_given():
    bounds = synthetic.synthetic_theory()
    ones = pd.Series(1.0, index=bounds.index)
    table = synthetic.condition_table(bounds, ones, 2 * ones)
    assert ((table[r"$64<C_{\mathrm{PUCB}}$"] == "yes") == (bounds["c_pucb"] > 64)).all()
    assert (table["regret, Pareto UCB1 / Width-guided"] == 2).all()
    summary = pd.DataFrame({"mean": bounds["sum_of_gaps"], "se": ones})
    kinds = pd.DataFrame({"crowd": 3 * ones, "filler": 4 * ones})
    fresh = synthetic.fresh_table(bounds, summary, ones, kinds)
    assert (fresh["regret / sum of gaps"] == 1).all()
    assert (fresh["pulls of a filler"] == 4).all()
    frame = bounds.assign(crowd=1.0, filler=2.0, regret=3.0)
    both = synthetic.prediction_table({"formula": frame, "measured": frame + 0.5})
    assert both.columns.tolist() == [
        *("δ", "m", "crowd: formula", "measured", "filler: formula", "measured "),
        *("regret: formula", "measured  "),
    ]
    assert (both["measured "] == 2.5).all()
