"""The laws of the Pareto order, each as a property."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from momab import MomabError
from momab.model import pareto
from momab.model.instances import random_means
from tests.strategies import mean_vectors


def dominates_literally(x, y):
    return all(a >= b for a, b in zip(x, y)) and any(a != b for a, b in zip(x, y))


@given(mean_vectors())
def test_dominance_is_the_definition(mu):
    D = pareto.dominance(mu)
    for b in range(len(mu)):
        for a in range(len(mu)):
            assert D[b, a] == dominates_literally(mu[b], mu[a])


@given(mean_vectors())
def test_front_is_not_empty_and_dominates_the_rest(mu):
    front = pareto.front(mu)
    assert front.any()
    D = pareto.dominance(mu)
    assert np.array_equal(front, ~D.any(axis=0))
    assert D[front].any(axis=0)[~front].all()


@pytest.mark.parametrize("levels", [None, 2, 3, 6])
def test_gap_agrees_with_the_search_on_thousands_of_instances(levels):
    rng = np.random.default_rng(20260604)
    for _ in range(700):
        K, d = int(rng.integers(2, 9)), int(rng.integers(1, 7))
        mu = random_means(K, d, seed=int(rng.integers(2**31)), levels=levels)
        a = int(rng.integers(K))
        assert pareto.gaps(mu)[a] == pytest.approx(pareto.gap_by_search(mu, a), abs=1e-12)


@given(mean_vectors())
def test_front_arms_have_no_gap_and_positive_gaps_are_dominated(mu):
    gaps, front = pareto.gaps(mu), pareto.front(mu)
    assert (gaps >= 0).all()
    assert (gaps[front] == 0).all()
    assert not front[gaps > 0].any()


@given(mean_vectors())
def test_gap_is_at_most_every_objective_deficit(mu):
    assert (pareto.gaps(mu)[:, None] <= pareto.objective_deficits(mu)).all()


@given(mean_vectors())
def test_objective_gaps_are_best_minus_second_best(mu):
    for j, g in enumerate(pareto.objective_gaps(mu)):
        column = sorted(mu[:, j], reverse=True)
        assert g == column[0] - column[1]
        assert (g == 0) == (pareto.marginal_maximisers(mu)[:, j].sum() > 1)
    assert pareto.g_dagger(mu) == pareto.objective_gaps(mu).max()
    assert pareto.objective_gaps(mu)[pareto.j_dagger(mu)] == pareto.g_dagger(mu)


@given(mean_vectors())
def test_a_unique_maximiser_is_on_the_front(mu):
    unique = pareto.marginal_maximisers(mu).sum(axis=0) == 1
    winners = mu.argmax(axis=0)[unique]
    assert pareto.front(mu)[winners].all()
    if unique.all():
        assert pareto.is_consistent(mu)


@given(mean_vectors())
def test_consistency_is_definition_1(mu):
    front = pareto.front(mu)
    broken = {
        a
        for j in range(mu.shape[1])
        for a in range(len(mu))
        if mu[a, j] == mu[:, j].max() and not front[a]
    }
    assert set(np.flatnonzero(pareto.inconsistent_arms(mu))) == broken
    assert pareto.is_consistent(mu) == (not broken)
    assert (pareto.gaps(mu)[list(broken)] == 0).all()


@given(mean_vectors())
def test_zero_gap_dominated_arms_include_the_inconsistent_ones(mu):
    zero = pareto.zero_gap_dominated(mu)
    assert np.array_equal(zero, ~pareto.front(mu) & (pareto.gaps(mu) == 0))
    assert (zero | ~pareto.inconsistent_arms(mu)).all()


@given(mean_vectors(), st.randoms(use_true_random=False))
def test_permuting_arms_or_objectives_changes_nothing_else(mu, random):
    arms = random.sample(range(len(mu)), len(mu))
    objectives = random.sample(range(mu.shape[1]), mu.shape[1])
    moved = mu[arms][:, objectives]
    assert np.array_equal(pareto.front(moved), pareto.front(mu)[arms])
    assert np.array_equal(pareto.gaps(moved), pareto.gaps(mu)[arms])
    assert np.array_equal(pareto.objective_gaps(moved), pareto.objective_gaps(mu)[objectives])
    assert pareto.g_dagger(moved) == pareto.g_dagger(mu)
    assert np.array_equal(pareto.zero_gap_dominated(moved), pareto.zero_gap_dominated(mu)[arms])


@given(mean_vectors(), st.integers(-8, 8))
def test_a_common_shift_changes_nothing(mu, sixteenths):
    assume(np.array_equal(mu * 16, np.round(mu * 16)))
    moved = mu + sixteenths / 16.0
    assert np.array_equal(pareto.front(moved), pareto.front(mu))
    assert np.array_equal(pareto.gaps(moved), pareto.gaps(mu))
    assert np.array_equal(pareto.objective_gaps(moved), pareto.objective_gaps(mu))


@given(mean_vectors(), st.sampled_from([0.25, 0.5, 2.0]))
def test_a_common_scale_scales_the_gaps(mu, factor):
    assert np.array_equal(pareto.gaps(mu * factor), factor * pareto.gaps(mu))
    assert pareto.g_dagger(mu * factor) == factor * pareto.g_dagger(mu)


@given(mean_vectors())
def test_duplicating_an_objective_changes_no_gap(mu):
    doubled = np.concatenate([mu, mu[:, :1]], axis=1)
    assert np.array_equal(pareto.gaps(doubled), pareto.gaps(mu))
    assert np.array_equal(pareto.front(doubled), pareto.front(mu))
    assert pareto.g_dagger(doubled) == pareto.g_dagger(mu)


@given(mean_vectors())
def test_one_objective_is_the_scalar_bandit(mu):
    column = mu[:, :1]
    assert np.array_equal(pareto.gaps(column), column.max() - column[:, 0])
    assert np.array_equal(pareto.front(column), column[:, 0] == column.max())


FUNCTIONS = [
    pareto.dominance,
    pareto.front,
    pareto.gaps,
    pareto.objective_deficits,
    pareto.objective_gaps,
    pareto.g_dagger,
    pareto.j_dagger,
    pareto.marginal_maximisers,
    pareto.inconsistent_arms,
    pareto.is_consistent,
    pareto.zero_gap_dominated,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**31))
def test_a_stack_is_the_stack_of_the_results(function, seed):
    stack = random_means(5, 3, seed=seed, levels=3, instances=6).reshape(2, 3, 5, 3)
    together = function(stack)
    for i in range(2):
        for k in range(3):
            assert np.array_equal(together[i, k], function(stack[i, k]))


def test_the_counterexample_of_proposition_1():
    geo = pareto.geometry([[1, 1], [1, 0]])
    assert geo.front == (0,)
    assert geo.gaps.tolist() == [0, 0]
    assert geo.zero_gap_dominated == geo.inconsistent_arms == (1,)
    assert (geo.g_dagger, geo.j_dagger) == (1.0, 1)
    assert geo.max_gap == 0.0
    assert geo.positive_gaps.size == 0


def test_tolerance_forgives_rounding():
    mu = [[0.1 + 0.2, 0.5], [0.3, 0.5]]
    assert pareto.front(mu).tolist() == [True, False]
    assert pareto.front(mu, tol=1e-12).tolist() == [True, True]
    assert pareto.marginal_maximisers(mu)[:, 0].tolist() == [True, False]
    assert pareto.marginal_maximisers(mu, tol=1e-12).all()


@pytest.mark.parametrize(
    ("means", "sentence"),
    [
        ([[0.1, np.nan], [0.2, 0.3]], "means must be finite; it holds NaN or infinity."),
        ([[0.1], [0.2, 0.3]], "rectangular array of numbers; its rows differ in length."),
        ([], "means must not be empty"),
        ([[], []], "means must not be empty"),
        ([[0.1, 0.2]], "at least 2 arms; it describes 1."),
        ([0.1, 0.2], "shape (..., arms, objectives)"),
        ([["a", "b"], ["c", "d"]], "must hold real numbers"),
        ([[0.1 + 1j, 0], [0, 0]], "must hold real numbers"),
    ],
)
@pytest.mark.parametrize("function", [*FUNCTIONS, pareto.geometry])
def test_bad_means_get_one_sentence(function, means, sentence):
    with pytest.raises(MomabError) as error:
        function(means)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_other_bad_input():
    mu = [[0.1, 0.2], [0.2, 0.3]]
    with pytest.raises(MomabError, match="tol must be a number >= 0; it is -1"):
        pareto.front(mu, tol=-1)
    with pytest.raises(MomabError, match="one instance"):
        pareto.geometry([mu, mu])
    with pytest.raises(MomabError, match="one instance"):
        pareto.gap_by_search([mu, mu], 0)
    with pytest.raises(MomabError, match=r"arm must be a whole number in 0\.\.1; it is 2"):
        pareto.gap_by_search(mu, 2)
