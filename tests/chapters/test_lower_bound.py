"""The lower bound: its arithmetic, and its conclusions for drawn parameters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.chapters import lower_bound
from momab.engine import loop, policies
from momab.engine.policies.width_guided import WidthGuided
from momab.errors import MomabError
from momab.model import instances, theory
from tests.chapters.running import PAGE, WHOLE, run_chapter


def test_the_best_constant_of_the_lower_bound():
    best = 1 / (8 * math.log(4 / 3))
    deltas = np.linspace(0.001, 0.25, 500)
    scaled = np.array([theory.lower_bound(2, x).exact * x for x in deltas])
    assert scaled.min() == pytest.approx(best)
    assert scaled.argmin() == len(deltas) - 1
    assert best > 0.375


@pytest.mark.parametrize(
    "policy",
    [policies.KLUCB(), lower_bound.FirstOfTies(), policies.ParetoUCB1(q=2.0)],
    ids=lambda p: p.name,
)
@pytest.mark.parametrize(("delta", "K", "d"), [(0.2, 5, 3), (0.05, 2, 17)])
def test_policies_that_reduce_to_scalars_pull_the_same_arms(policy, delta, K, d):
    assert lower_bound.first_difference(policy, delta, K, d, 800, seed=5) is None


def test_first_of_ties_is_width_guided_without_ties():
    """On rewards that never tie, the coins are never tossed, except for the endpoint."""
    tables = [np.random.default_rng(a).random((50, 1)) for a in range(2)]
    instance = instances.from_rows(tables)
    first = loop.play(instance, lower_bound.FirstOfTies(), 300, 1, 0)
    other = loop.play(instance, WidthGuided(), 300, 1, 0)
    assert abs(first.pulls - other.pulls).max() <= 2


def test_first_of_ties_refuses_a_coefficient_of_zero():
    with pytest.raises(MomabError, match="c must be"):
        lower_bound.FirstOfTies(0)


@WHOLE
@PAGE
@given(st.integers(0, 2**31 - 1), st.floats(0.1, 0.25), st.integers(2, 6), st.integers(2, 12))
def test_lower_bound_chapter(whole, seed, delta, arms, objectives):
    page = run_chapter(
        "lower-bound", whole, seed=seed, delta=delta, arms=arms, objectives=objectives,
        horizon=10_000, runs=5, pulls=300,
    )  # fmt: skip
    assert page["frame"]["Holds"].all()
    assert page["found"][:3] == [None] * 3
    upper = 64 * arms / delta
    assert (page["curves"]["Width-guided"]["mean"] < upper).all()
    assert page["chain"].stated <= page["chain"].exact
    assert page["kl_top"]["mean"] < page["wg_top"]["mean"]


@given(st.floats(1, 30_000), st.floats(0.01, 0.25))
def test_the_first_useful_horizon_is_where_the_bound_falls_below_the_trivial_one(constant, gap):
    T = lower_bound.first_useful(constant, gap)
    assert constant * math.log(T) < gap * T
    assert T == 3 or constant * math.log(T - 1) >= gap * (T - 1)


def test_the_disguise_shows_one_coin_on_all_objectives():
    for axes in lower_bound.disguise(pulls=5, objectives=3).axes:
        fills = [line.get_markerfacecolor() for line in axes.lines]
        assert [len(set(fills[3 * n : 3 * n + 3])) for n in range(5)] == [1] * 5


@given(st.integers(2, 20), st.floats(0.001, 0.25))
def test_every_step_of_the_chain_holds(K, delta):
    frame = lower_bound.chain_steps(K, delta)
    assert frame["Holds"].all()
    assert (frame["Slack"] >= -1e-12).all()
    assert frame["Right"].iloc[-1] == theory.lower_bound(K, delta).exact


def test_paths_are_divided_by_the_logarithm_of_their_points():
    points = np.array([10, 1_000])
    paths = np.array([[1.0, 4.0], [3.0, 8.0]])
    frame = lower_bound.paths_over_log(paths, points)
    assert frame["mean"].tolist() == pytest.approx([2 / math.log(10), 6 / math.log(1_000)])
    assert frame["value"].tolist() == [10, 1_000]
    assert (frame["low"] < frame["mean"]).all()
