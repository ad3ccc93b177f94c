"""The cost of naming one optimal arm: against a solver that shares no code with it; its laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import rel_entr

from momab import MomabError
from momab.model import instances, pareto
from momab.model.identification import naming_cost, naming_rate, pair_evidence


def kl(p, q):
    return rel_entr(p, q) + rel_entr(1 - p, 1 - q)


def by_program(mu, a):
    """T_a as a convex program: maximise t with G_b(w) >= t for all b, over the simplex."""
    K = len(mu)
    others = [b for b in range(K) if b != a]
    if any((mu[b] >= mu[a]).all() for b in others):
        return math.inf

    def gradient(w, b):  # G_b is homogeneous, so its value is gradient . w
        behind = mu[b] < mu[a]
        x = np.where(behind, (w[a] * mu[a] + w[b] * mu[b]) / (w[a] + w[b]), 0.5)
        row = np.zeros(K + 1)
        row[a], row[b] = (kl(mu[a], x) * behind).sum(), (kl(mu[b], x) * behind).sum()
        return row

    def value(w):
        return min(gradient(w, b)[:K] @ w for b in others)

    last = np.eye(K + 1)[K]
    w, found = np.full(K, 1 / K), 0.0
    for _ in range(6):
        unit = value(w)

        def slack(v, unit=unit):
            return np.array([gradient(v[:K], b)[:K] @ v[:K] / unit - v[K] for b in others])

        def slopes(v, unit=unit):
            return np.array([gradient(v[:K], b) / unit - last for b in others])

        result = minimize(
            lambda v: -v[K],
            np.append(w, 1.0),
            jac=lambda v: -last,
            constraints=[
                {"type": "eq", "fun": lambda v: v[:K].sum() - 1, "jac": lambda v: 1 - last},
                {"type": "ineq", "fun": slack, "jac": slopes},
            ],
            bounds=[(1e-12, 1)] * K + [(0, None)],
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 500},
        )
        w = np.maximum(result.x[:K], 1e-12)
        w /= w.sum()
        if value(w) <= found * (1 + 1e-12):
            break
        found = max(found, value(w))
    return 1 / found


def agree(mu):
    """Both methods give the same cost for every arm, and the weights attain it."""
    cost = naming_cost(mu)
    for a in np.flatnonzero(pareto.gaps(mu) == 0):
        assert cost.per_arm[a] == pytest.approx(by_program(mu, a), rel=1e-6)
    if math.isfinite(cost.value):
        assert cost.weights.sum() == pytest.approx(1)
        assert 1 / naming_rate(mu, cost.arm, cost.weights) == pytest.approx(cost.value, rel=1e-9)


@given(
    st.integers(0, 10**6),
    st.integers(2, 8),
    st.sampled_from([1, 2, 3, 5, 8, 30]),
    st.sampled_from([None, None, 11]),
)
def test_two_methods_agree(seed, K, d, levels):
    """A third of the instances are on a grid, with ties and 0 and 1."""
    agree(instances.random_means(K, d, seed=seed, levels=levels))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_two_methods_agree_on_two_hundred_instances(seed):
    rng = np.random.default_rng(seed)
    K, d = int(rng.integers(2, 9)), int(rng.choice([1, 2, 3, 5, 8, 30]))
    agree(instances.random_means(K, d, seed=seed, levels=11 if seed % 3 == 0 else None))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 4))
def test_no_other_shares_are_better_and_all_constraints_are_equal(seed, K, d):
    mu = instances.random_means(K, d, seed=seed)
    cost = naming_cost(mu)
    rng = np.random.default_rng(seed)
    for w in (*rng.dirichlet(np.ones(K), 20), 0.9 * cost.weights + 0.1 / K):
        assert naming_rate(mu, cost.arm, w) <= (1 + 1e-9) / cost.value
    a, others = cost.arm, np.delete(np.arange(K), cost.arm)
    each = pair_evidence(mu[a], mu[others], cost.weights[a], cost.weights[others])
    assert each == pytest.approx(np.full(K - 1, 1 / cost.value), rel=1e-8)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_the_nearest_common_mean_is_the_weighted_one(p, q, share):
    high, low = np.array([max(p, q)]), np.array([min(p, q)])
    grid = np.linspace(low[0], high[0], 2001)
    each = share * kl(high[0], grid) + (1 - share) * kl(low[0], grid)
    found = float(pair_evidence(high, low, share, 1 - share))
    assert found <= each.min() + 1e-12
    assert found >= each.min() - 1e-5


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
def test_a_further_objective_on_which_the_answer_is_ahead_makes_it_cheaper(seed, K, d):
    mu = instances.random_means(K, d + 1, seed=seed)
    before = naming_cost(mu[:, :d])
    a = before.arm
    mu[a, d] = mu[:, d].max()
    assert naming_cost(mu).per_arm[a] <= before.value * (1 + 1e-9)


def test_two_arms_are_sampled_alike_where_they_mirror_each_other():
    cost = naming_cost([[0.7, 0.3], [0.3, 0.7]])
    assert cost.weights == pytest.approx([0.5, 0.5])
    assert cost.per_arm[0] == pytest.approx(cost.per_arm[1])
    assert cost.arm == 0


def test_one_objective_is_best_arm_identification():
    """Two coins: 1/T* = max over w of the Chernoff information, by a search over w."""
    w = np.linspace(1e-6, 1 - 1e-6, 200_001)
    x = w * 0.7 + (1 - w) * 0.4
    best = (w * kl(0.7, x) + (1 - w) * kl(0.4, x)).max()
    assert naming_cost([[0.4], [0.7]]).value == pytest.approx(1 / best, rel=1e-8)


@pytest.mark.parametrize(
    ("means", "value"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], math.inf),  # copies
        ([[0.5], [0.5], [0.2]], math.inf),  # one objective, two best arms
        ([[0.5, 0.4], [0.5, 0.3], [0.5, 0.4]], math.inf),  # every optimal arm has its equal
        ([[1.0, 0.0], [0.0, 1.0]], 1 / math.log(2)),  # certain rewards: w log 2 in all
        ([[0.0], [1.0]], 1 / math.log(2)),
    ],
)
def test_ties_copies_and_the_ends_of_the_interval(means, value):
    assert naming_cost(means).value == pytest.approx(value)


def test_a_copy_of_an_arm_that_need_not_be_named_costs_little():
    cost = naming_cost([[0.5, 0.3], [0.5, 0.3], [0.6, 0.1], [0.2, 0.2]])
    assert cost.arm == 2
    assert np.isinf(cost.per_arm[[0, 1, 3]]).all()


def test_an_arm_that_is_weakly_dominated_costs_nothing_but_cannot_be_named():
    means = np.array([[0.8, 0.8], [0.8, 0.2]])
    assert pareto.gaps(means).tolist() == [0, 0]
    assert np.isfinite(naming_cost(means).per_arm).tolist() == [True, False]


def test_many_objectives_and_close_means():
    many = naming_cost([[0.7] * 30, [0.5] * 30, [0.5] * 30])
    one = naming_cost([[0.7], [0.5], [0.5]])
    assert 30 * many.value == pytest.approx(one.value, rel=1e-9)
    near = naming_cost([[0.5, 0.5 + 1e-7], [0.5 + 1e-7, 0.5]])
    assert near.value == pytest.approx(2 / 1e-14, rel=1e-4)


@pytest.mark.parametrize("means", [[[0.5, 1.5]], [[[0.5]], [[0.5]]], [[math.nan], [0.5]], "x"])
def test_what_is_no_instance_is_refused_in_one_sentence(means):
    with pytest.raises(MomabError, match=r"^[^\n]+\.$"):
        naming_cost(means)
