"""What is proved about Pareto IMED, as numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.model import families, imed, instances, pareto, theory

KINDS = st.sampled_from(["sum", "max"])


@given(st.integers(1, 60), st.floats(0.05, 0.95), st.floats(0.02, 0.98))
def test_bad_luck_is_rarer_than_patience_is_long(n, p, share):
    q = p * share
    assert imed.luck_of_coins(n, p, q) <= imed.luck_bound(n, p, q) * (1 + 1e-9)


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 4), KINDS)
def test_the_dearest_candidate_costs_at_least_the_price(seed, K, d, kind):
    means = np.random.default_rng(seed).uniform(0.02, 0.98, (K, d))
    cheapest = float(theory.price(means, kind).value)
    assert imed.worst_price(means, kind) >= cheapest * (1 - 1e-12)
    assert imed.is_settled(means, kind) or cheapest == 0 or (pareto.gaps(means) == 0).sum() > 1


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 4), KINDS)
def test_balance_is_below_the_price_and_approaches_it(seed, K, d, kind):
    means = np.random.default_rng(seed).uniform(0.02, 0.98, (K, d))
    # with one pull or more of every paid arm, log n is not negative
    T = np.array([1e4, 1e50, 1e200])
    cost = theory.price(means, kind)
    balanced = imed.balanced_regret(means, T, kind)
    assert (balanced[1:] <= cost.value * np.log(T[1:]) * (1 + 1e-9)).all()
    if cost.value > 0:
        assert balanced[-1] > 0.9 * cost.value * np.log(T[-1])


def test_indices_balance():
    means = instances.synthetic(0.02, 8).means
    gaps, cost = pareto.gaps(means), theory.price(means)
    D = theory.evidence(means)[:, int(cost.arm)]
    total = 0.0
    for b in np.flatnonzero(gaps > 0):
        low, high = 1e-9, 1e9
        for _ in range(200):
            n = (low + high) / 2
            low, high = (n, high) if n * D[b] + np.log(n) < np.log(1e5) else (low, n)
        total += gaps[b] * low
    assert imed.balanced_regret(means, 1e5) == pytest.approx(total)


def test_what_is_settled():
    assert imed.is_settled(instances.synthetic(0.02, 8).means)
    assert imed.is_settled(families.unseen_gap().means, "max")
    assert not imed.is_settled(families.mirrored_pairs().means)  # equal prices
    tied = [[0.8, 0.5], [0.8, 0.3], [0.3, 0.2]]  # the second arm is free, but dominated
    assert imed.is_settled(tied, "sum")
    assert not imed.is_settled(tied, "max")  # objective 1 speaks for both
    assert not imed.is_settled([[0.6, 0.4], [0.6, 0.4], [0.2, 0.2]])  # a free arm twice
    assert imed.is_settled([[0.8], [0.5], [0.5]])  # a tie of paid arms
    assert not imed.is_settled([[1.0, 0.2], [0.3, 0.6], [0.2, 0.5]])  # a mean of 1


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 4), KINDS)
def test_on_a_settled_instance_the_candidate_is_the_same_nearby(seed, K, d, kind):
    """The step "the candidate settles", on grids of means with many ties."""
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 7, (K, d)) * 0.1 + 0.2
    if not imed.is_settled(means, kind):
        return
    chosen = int(theory.price(means, kind).arm)
    others = np.delete(means, chosen, axis=0)
    assert (others < means[chosen]).any(axis=1).all(), "nobody is as good everywhere"
    near = means + rng.uniform(-1e-9, 1e-9, (8, K, d))
    assert (theory.price(near, kind).arm == chosen).all()


def test_copies_hurt_from_two_on():
    assert imed.copied_exponent([0.5, 0.7], 1) < 0
    assert imed.copied_exponent([0.5, 0.7, 0.5], 5) == pytest.approx(
        1 - np.log(0.3) / (5 * np.log(0.5))
    )
