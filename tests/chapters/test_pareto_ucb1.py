"""The chapter against Pareto UCB1: its duels and tables, and its conclusions for drawn values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.chapters import pareto_ucb1
from momab.engine import loop
from momab.engine.policies.width_guided import WidthGuided
from momab.model import families, pareto, theory
from tests.chapters.running import PAGE, WHOLE, run_chapter, text_of


@WHOLE
@PAGE
@given(seed=st.integers(0, 2**31 - 1))
def test_pareto_ucb1_chapter(shown, whole, seed):
    page = run_chapter("pareto-ucb1", whole=whole, seed=seed, horizon=20_000, runs=5)
    assert (page["table"]["Envelope"] >= page["table"]["C_PUCB"]).all()
    assert page["sharper"] == len(page["table"])
    assert "nan" not in text_of(shown)


@PAGE
@given(
    seed=st.integers(0, 2**31 - 1),
    arms=st.integers(4, 8),
    lead=st.floats(0.15, 0.24),
)
def test_both_sides_of_the_line(shown, seed, arms, lead):
    page = run_chapter("both-sides", seed=seed, arms=arms, lead=lead, horizon=20_000, runs=5)
    # the measured regret is below its own bound, on both sides of the line
    bounds = page["bounds"]
    for row in page["along"].itertuples():
        bound = "Sharper bound" if row.policy == "Width-guided" else "Pareto UCB1"
        assert row.mean < bounds.loc[row.x, bound]
    ratio = page["points"].set_index("x")["ratio"]
    assert ratio.loc[1.0].min() > 1
    assert ratio.loc[0.05].max() < ratio.loc[1.0].min()
    assert "nan" not in text_of(shown)


def test_duels_agree_with_the_loop():
    instance = families.diagonal_crowd(0.5, 2)
    frame = pareto_ucb1.duels({"a": instance}, {"w": WidthGuided()}, 500, 2, 7)
    regrets = [
        pareto.gaps(instance.means) @ loop.play(instance, WidthGuided(), 500, 7, r).pulls[0]
        for r in (0, 1)
    ]
    assert frame["mean"][0] == pytest.approx(np.mean(regrets))
    assert frame["worst"][0] == pytest.approx(max(regrets))


@given(st.floats(0.02, 2), st.integers(1, 10), st.integers(2, 6), st.integers(100, 10**7))
def test_half_the_lead_decides_between_the_sums(ratio, m, front, T):
    means = families.diagonal_crowd(ratio, m, front, 0.2).means
    ours = theory.sharper_bound(means, T).exploration
    theirs = theory.pareto_ucb1_bound(means, T).exploration
    rho = 8 / theory.c_pucb_threshold(T, 3, front)
    assert ours / theirs == pytest.approx(4 / rho * min(1, ratio) ** 2)
    share = m / (m + front)
    gap = theory.c_pucb(means, T) - 64
    if abs(gap) > 1e-6:
        assert (gap > 0) == (ratio < rho * share / 8)


@pytest.mark.parametrize(
    ("ours", "theirs", "winner"),
    [((1, 2), (3, 4), "Width-guided"), ((3, 4), (1, 2), "Pareto UCB1"), ((1, 3), (2, 4), "")],
)
def test_a_winner_needs_intervals_apart(ours, theirs, winner):
    problems = {(0.5, 2): families.diagonal_crowd(0.5, 2)}
    rows = [
        {
            "problem": (0.5, 2),
            "policy": policy,
            "mean": sum(ends) / 2,
            "low": ends[0],
            "high": ends[1],
        }
        for policy, ends in (("Width-guided", ours), ("Pareto UCB1", theirs))
    ]
    [row] = pareto_ucb1.verdicts(pd.DataFrame(rows), problems, 1000).to_dict("records")
    assert row["winner"] == (winner or "undecided")
    assert row["ratio"] == sum(ours) / sum(theirs)
    assert row["share"] == 2 / problems[0.5, 2].K
    assert row["c"] == theory.c_pucb(problems[0.5, 2].means, 1000)


def test_what_is_printed_of_a_stopped_policy():
    means = pd.DataFrame({"Width-guided": [10.0], "Pareto UCB1": [2_000.0]}, index=[0.5])
    [stopped] = pareto_ucb1.stopped_table(means, {0.5: (1234.0, 1.0, 2.0)}).to_dict("records")
    assert stopped["Pareto UCB1"] == "2,000"
    assert stopped["Pareto UCB1, stopped (95%)"] == "1,234 (1 to 2)"
