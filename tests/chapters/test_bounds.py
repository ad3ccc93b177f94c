"""The chapters on the bounds: their computations, and their conclusions for drawn parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab.chapters import lower_bound
from momab.engine import loop, policies
from momab.engine.policies.width_guided import WidthGuided
from momab.errors import MomabError
from momab.model import families, instances

# --- the families -------------------------------------------------------------------------


@given(st.integers(2, 30), st.integers(1, 20), st.floats(0.01, 0.6), st.floats(0.1, 1))
def test_one_leader_has_the_lead_and_gaps_it_promises(K, d, g, share):
    geo = families.one_leader(K, d, g, share).geometry
    assert geo.g_dagger == pytest.approx(g)
    assert geo.front == (0,)
    assert geo.gaps[1:] == pytest.approx(g if d == 1 else share * g)


@given(st.lists(st.floats(0.01, 0.5), min_size=1, max_size=6))
def test_tied_front_has_no_leader(gaps):
    geo = families.tied_front(gaps).geometry
    assert geo.g_dagger == 0
    assert geo.front == (0, 1, 2, 3)
    assert geo.gaps[4:] == pytest.approx(gaps)


@given(st.floats(0.01, 2), st.integers(1, 12), st.integers(2, 12), st.floats(0.1, 0.24))
def test_diagonal_crowd_has_its_gap_lead_and_front(ratio, m, front, g):
    geo = families.diagonal_crowd(ratio, m, front, g).geometry
    assert geo.g_dagger == pytest.approx(g)
    assert geo.j_dagger == 0
    assert geo.front == tuple(range(front))
    assert geo.gaps[front:] == pytest.approx(ratio * g)


def test_random_separated_instances_are_separated_and_reproducible():
    drawn = families.random_separated(5, seed=3, g=0.25)
    again = families.random_separated(5, seed=3, g=0.25)
    assert [a.digest for a in drawn] == [b.digest for b in again]
    assert min(a.geometry.g_dagger for a in drawn) >= 0.25


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: families.tied_front([0.6]), "gaps"),
        (lambda: families.diagonal_crowd(9, 1), "ratio"),
        (lambda: lower_bound.FirstOfTies(0), "c must be"),
    ],
)
def test_refusals_say_what_is_wrong(call, words):
    with pytest.raises(MomabError, match=words):
        call()


# --- intervals and comparisons -------------------------------------------------------------


# --- the reduction to scalars ---------------------------------------------------------------


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


# --- the bounds against each other --------------------------------------------------------


# --- the chapters -------------------------------------------------------------------------

seeds = st.integers(0, 2**31 - 1)
few = settings(max_examples=2)
