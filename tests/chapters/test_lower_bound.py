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
    here, there = (
        loop.play_block(instances.duplicated(delta, K, size), policy, 800, 5, 0, 1, arms=True).arms
        for size in (1, d)
    )
    assert np.array_equal(here, there)


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
    assert page["found"][:3] == [None] * 3
    upper = 64 * arms / delta
    assert (page["curves"].query("policy == 'Width-guided'")["mean"] < upper).all()
    assert page["stated"] <= page["exact"]
    assert page["top"]["mean"]["KL-UCB"] < page["top"]["mean"]["Width-guided"]
    T = page["useful"]
    assert upper * math.log(T) < delta * T
    assert upper * math.log(T - 1) >= delta * (T - 1)
