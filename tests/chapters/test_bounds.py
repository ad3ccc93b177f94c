"""The chapters on the bounds: their computations, and their conclusions for drawn parameters."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab.engine import loop, policies
from momab.engine.policies import kl_ucb
from momab.engine.policies.width_guided import WidthGuided
from momab.errors import MomabError
from momab.model import families, instances, statistics, theory


@pytest.fixture(autouse=True)
def scalar_policies(monkeypatch):
    """Register the scalar policies for these tests only."""
    monkeypatch.setitem(policies.SELECTIONS, kl_ucb.KLUCB, kl_ucb.select_klucb)
    monkeypatch.setitem(policies.SELECTIONS, kl_ucb.FirstOfTies, kl_ucb.select_first_of_ties)


policies.SELECTIONS.pop(kl_ucb.KLUCB)
policies.SELECTIONS.pop(kl_ucb.FirstOfTies)


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
        (lambda: kl_ucb.klucb_index(1.5, 1, 1.0), "mean"),
        (lambda: kl_ucb.klucb_index(0.5, 1, -1.0), "level"),
    ],
)
def test_refusals_say_what_is_wrong(call, words):
    with pytest.raises(MomabError, match=words):
        call()


# --- intervals and comparisons -------------------------------------------------------------


def test_mean_interval_is_students():
    mean, low, high = statistics.mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.7764451 * math.sqrt(2.5 / 5)
    assert (mean, low, high) == pytest.approx((3, 3 - half, 3 + half))
    assert statistics.mean_interval([2.0]) == (2, 2, 2)


# --- KL-UCB -------------------------------------------------------------------------------


@given(st.floats(0, 1), st.integers(1, 10**6), st.floats(0, 20))
def test_klucb_index_solves_its_equation(p, n, level):
    q = kl_ucb.klucb_index(p, n, level)
    assert p <= q <= 1
    assert n * theory.bernoulli_kl(p, q) <= level * (1 + 1e-9) + 1e-9
    above = q + 3e-9
    if above < 1:
        assert n * theory.bernoulli_kl(p, above) >= level * (1 - 1e-9) - 1e-9


@given(
    st.lists(st.tuples(st.integers(1, 200), st.floats(0, 1)), min_size=2, max_size=6),
    st.integers(10, 10**6),
)
def test_klucb_choice_has_the_largest_index(arms, t):
    counts = np.array([n for n, _ in arms], dtype=np.int64)
    sums = np.floor(np.array([n * p for n, p in arms]))
    level = math.log(t)
    chosen = kl_ucb._choose(sums, counts, level)
    indices = [kl_ucb.klucb_index(s / n, int(n), level) for s, n in zip(sums, counts)]
    assert indices[chosen] >= max(indices) - 2e-9
    same = (sums == sums[chosen]) & (counts == counts[chosen])
    assert chosen == np.flatnonzero(same)[0]


@pytest.mark.parametrize("d", [1, 4])
def test_klucb_kernel_agrees_with_the_plain_loop(d):
    instance = instances.duplicated(0.2, 4, d)
    points = np.array([4, 10, 300, 1_500])
    fast = kl_ucb.play_klucb(instance, 1_500, 11, 3, points)
    for run in range(3):
        slow = loop.play(instance, kl_ucb.KLUCB(), 1_500, 11, run, checkpoints=points)
        assert fast.pulls[run].tolist() == slow.pulls[0].tolist()
        assert fast.checkpoint_pulls[run].tolist() == slow.checkpoint_pulls[0].tolist()
    assert fast.regret_path[:, -1] == pytest.approx(fast.pulls @ instance.geometry.gaps)


@pytest.mark.parametrize(
    "policy",
    [kl_ucb.KLUCB(), kl_ucb.FirstOfTies(), policies.ParetoUCB1(q=2.0)],
    ids=lambda p: p.name,
)
@pytest.mark.parametrize(("delta", "K", "d"), [(0.2, 5, 3), (0.05, 2, 17)])
def test_policies_that_reduce_to_scalars_pull_the_same_arms(policy, delta, K, d):
    assert kl_ucb.first_difference(policy, delta, K, d, 800, seed=5) is None


def test_first_of_ties_is_width_guided_without_ties():
    """On rewards that never tie, the coins are never tossed, except for the endpoint."""
    tables = [np.random.default_rng(a).random((50, 1)) for a in range(2)]
    instance = instances.from_rows(tables)
    first = loop.play(instance, kl_ucb.FirstOfTies(), 300, 1, 0)
    other = loop.play(instance, WidthGuided(), 300, 1, 0)
    assert abs(first.pulls - other.pulls).max() <= 2


# --- the bounds against each other --------------------------------------------------------


# --- the chapters -------------------------------------------------------------------------

seeds = st.integers(0, 2**31 - 1)
few = settings(max_examples=2)
