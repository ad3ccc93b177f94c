"""The chapter against Pareto UCB1: its duels and tables, and its conclusions for drawn values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.chapters import pareto_ucb1
from momab.engine import loop
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.model import families, instances, pareto, theory
from tests.chapters.running import PAGE, WHOLE, run_chapter, text_of


@WHOLE
@PAGE
@given(
    seed=st.integers(0, 2**31 - 1),
    arms=st.integers(4, 8),
    lead=st.floats(0.15, 0.24),
)
def test_pareto_ucb1_chapter(shown, whole, seed, arms, lead):
    page = run_chapter(
        "pareto-ucb1", whole=whole, seed=seed, arms=arms, lead=lead, horizon=20_000, runs=5
    )
    assert (page["table"]["Envelope"] >= page["table"]["C_PUCB"]).all()
    assert page["sharper"] == len(page["table"])
    # the measured regret is below its own bound, on both sides of the line
    bounds = page["bounds"].set_index("x")
    for row in page["along"].itertuples():
        bound = "sharper" if row.policy == "Width-guided" else "pucb"
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


def test_the_table_of_bounds_is_that_of_the_theory():
    table = pareto_ucb1.family_bounds([(0.02, 8)], 10**5)
    means = instances.synthetic(0.02, 8).means
    [row] = table.to_dict("records")
    assert row["Theorem 4"] == theory.theorem_bound(means, 10**5).total
    assert row["Lead term"] == theory.pareto_ucb1_bound(means, 10**5).exploration
    scale = len(means) * np.log(10**5) / pareto.g_dagger(means)
    assert row["C_PUCB"] * scale == pytest.approx(row["Lead term"], rel=1e-12)
    [shown] = pareto_ucb1.printed_bounds(table).to_dict("records")
    assert (shown["δ"], shown["Theorem 4"]) == ("0.02", f"{row['Theorem 4']:,.0f}")
    assert "Lead term" not in shown


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


def test_what_is_printed_of_a_duel():
    problems = {0.5: families.diagonal_crowd(0.5, 2)}
    players = {"Width-guided": WidthGuided(), "Pareto UCB1": ParetoUCB1()}
    frame = pareto_ucb1.duels(problems, players, 300, 3, 1)
    [line] = pareto_ucb1.duel_table(frame, [0.5]).to_dict("records")
    assert line["Gap / g"] == "0.5"
    assert line["Ratio of means"] == frame["mean"][0] / frame["mean"][1]
    [bounds] = pareto_ucb1.bounds_along(problems, 300).to_dict("records")
    assert bounds["sharper"] == theory.sharper_bound(problems[0.5].means, 300).total
    assert bounds["trivial"] == 300 * pareto.gaps(problems[0.5].means).max()
    [row] = pareto_ucb1.extremes_table(frame, {0.5: problems[0.5]}, 300).to_dict("records")
    assert row["Quotient"] == f"{frame['mean'][1] / frame['mean'][0]:.1f}"
    means = frame.pivot_table(index="problem", columns="policy", values="mean")
    [stopped] = pareto_ucb1.stopped_table(means, {0.5: (1234.0, 1.0, 2.0)}).to_dict("records")
    assert stopped["Pareto UCB1, stopped (95 %)"] == "1,234 (1 to 2)"


def test_the_charges_cross_at_half_the_lead():
    x = np.array([0.25, 0.5, 1.0, 2.0])
    ours, theirs = pareto_ucb1.arm_charges(x)
    assert (ours / theirs).tolist() == [0.25, 1.0, 4.0, 4.0]


def test_a_bound_above_the_trivial_one_is_vacuous():
    frame = pd.DataFrame(
        {
            "x": [0.1, 1.0],
            "theorem": [9.0, 9.0],
            "sharper": [1.0, 1.0],
            "pucb": [9.0, 1.0],
            "trivial": [5.0, 5.0],
        }
    )
    assert pareto_ucb1.vacuous(frame) == {"theorem": [0.1, 1.0], "sharper": [], "pucb": [0.1]}
