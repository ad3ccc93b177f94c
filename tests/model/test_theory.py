"""The bounds and constants: against their formulas, each other, and simulation."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from momab import MomabError
from momab.model import instances, pareto, theory
from tests.strategies import mean_vectors

horizons = st.integers(30, 10**7)
coefficients = st.floats(0.01, 4)


def test_radius_is_the_papers_at_c_2():
    assert theory.confidence_radius(8, 1000) == math.sqrt(2 * math.log(1000) / 8)
    assert theory.confidence_radius([1, 4], 1000, c=0.5).shape == (2,)


@given(horizons, coefficients, st.integers(1, 10**6))
def test_radius_halves_with_four_times_the_samples(T, c, n):
    near, far = theory.confidence_radius([n, 4 * n], T, c)
    assert near == pytest.approx(2 * far, rel=1e-14)


@given(st.integers(2, 30), st.integers(1, 30), horizons, coefficients)
def test_union_bound_is_hoeffding_over_arms_objectives_and_counts(K, d, T, c):
    expected = K * d * T * theory.hoeffding_bound(T, c)
    assert theory.union_bound(K, d, T, c) == pytest.approx(expected, rel=1e-9)
    assert theory.union_bound(K, d, T) == pytest.approx(2 * K * d / T**3, rel=1e-12)


def crossing_by_enumeration(p, N, T, c):
    """Add up the probabilities of all 0/1 sequences whose mean leaves the interval."""
    total = 0.0
    for code in range(2**N):
        bits = [(code >> i) & 1 for i in range(N)]
        sums = np.cumsum(bits)
        n = np.arange(1, N + 1)
        if (np.abs(sums / n - p) > np.sqrt(c * math.log(T) / n)).any():
            total += p ** sum(bits) * (1 - p) ** (N - sum(bits))
    return total


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.87])
@pytest.mark.parametrize("c", [0.02, 0.05, 0.1, 0.3])
def test_crossing_probability_against_all_sequences(p, c):
    exact = theory.crossing_probability(p, 11, 100, c)
    assert exact == pytest.approx(crossing_by_enumeration(p, 11, 100, c), rel=1e-12)


@settings(max_examples=40)
@given(st.floats(0.01, 0.99), st.integers(1, 300), st.integers(2, 1000), st.floats(0.05, 1))
def test_crossing_lies_between_one_tail_and_the_sum_of_tails(p, N, T, c):
    tails = [theory.tail_probability(p, n, T, c) for n in range(1, N + 1)]
    exact = theory.crossing_probability(p, N, T, c)
    assert max(tails) <= exact * (1 + 1e-9) + 1e-300
    assert exact <= sum(tails) * (1 + 1e-9) + 1e-300
    assert max(tails) <= theory.hoeffding_bound(T, c)


def test_crossing_probability_against_simulation():
    p, N, T, c, runs = 0.4, 200, 500, 0.15, 20_000
    draws = np.random.default_rng(1).random((runs, N)) < p
    n = np.arange(1, N + 1)
    means = draws.cumsum(axis=1) / n
    measured = (np.abs(means - p) > theory.confidence_radius(n, T, c)).any(axis=1).mean()
    exact = theory.crossing_probability(p, N, T, c)
    assert abs(measured - exact) < 4 * math.sqrt(exact * (1 - exact) / runs)


def test_tiny_crossing_probabilities_keep_their_digits():
    tails = sum(theory.tail_probability(0.5, n, 10**4) for n in range(1, 2001))
    exact = theory.crossing_probability(0.5, 2000, 10**4)
    assert 0.01 * tails < exact < tails < 1e-12


def test_certain_outcomes_never_cross():
    for p in (0.0, 1.0):
        assert theory.crossing_probability(p, 50, 100) == 0.0
        assert theory.tail_probability(p, 50, 100) == 0.0
    assert theory.crossing_probability(0.5, 3, 100, c=1e-6) == 1.0


def test_event_failure_probability_of_an_instance():
    mu = [[0.3, 0.6], [0.3, 0.2]]
    single = [theory.crossing_probability(p, 58, 60, 0.2) for p in (0.3, 0.6, 0.3, 0.2)]
    expected = 1 - math.prod(1 - q for q in single)
    assert theory.event_failure_probability(mu, 60, 0.2) == pytest.approx(expected, rel=1e-12)
    assert expected < theory.union_bound(2, 2, 60, 0.2)
    assert theory.event_failure_probability(mu, 2) == 0.0
    assert theory.event_failure_probability(mu, 60, 1e-6) == 1.0


@given(mean_vectors(), horizons)
def test_theorem_bound_term_by_term(mu, T):
    K, d = mu.shape
    worst, g = pareto.gaps(mu).max(), pareto.g_dagger(mu)
    bound = theory.theorem_bound(mu, T)
    assert bound.warm_start == pytest.approx(K * worst)
    expected = 64 * K * math.log(T) / g if g > 0 else math.inf
    assert bound.exploration == pytest.approx(expected)
    assert bound.tail == pytest.approx(2 * K * d * worst / T**2)
    assert bound.total == bound.warm_start + bound.exploration + bound.tail


@given(mean_vectors(), horizons, coefficients)
def test_sharper_bound_is_at_most_half_the_theorem(mu, T, c):
    K, g = len(mu), pareto.g_dagger(mu)
    sharp, paper = theory.sharper_bound(mu, T, c), theory.theorem_bound(mu, T, c)
    assert sharp.exploration <= 0.5 * paper.exploration * (1 + 1e-12)
    assert sharp.total <= paper.total
    if c == 2 and g > 0:
        assert sharp.exploration <= 32 * K * math.log(T) / g
    assert math.isfinite(sharp.total)


@given(mean_vectors(), horizons)
def test_sharper_bound_is_the_sum_over_arms(mu, T):
    gaps, g = pareto.gaps(mu), pareto.g_dagger(mu)
    expected = sum(32 * math.log(T) * gap / max(gap, g) ** 2 for gap in gaps.tolist() if gap > 0)
    assert theory.sharper_bound(mu, T).exploration == pytest.approx(expected, rel=1e-12)
    pulls = theory.pull_bounds(mu, T)
    assert (gaps[gaps > 0] * pulls[gaps > 0]).sum() == pytest.approx(expected, rel=1e-12)


@given(mean_vectors(), horizons, coefficients)
def test_deficit_bound_is_the_sharpest(mu, T, c):
    gaps, g = pareto.gaps(mu), pareto.g_dagger(mu)
    least = (mu.max(axis=0) - mu).min(axis=1)
    expected = sum(
        16 * c * math.log(T) * gap / max(delta, g) ** 2
        for gap, delta in zip(gaps.tolist(), least.tolist())
        if gap > 0
    )
    bound = theory.deficit_bound(mu, T, c)
    assert bound.exploration == pytest.approx(expected, rel=1e-12)
    assert bound.exploration <= theory.sharper_bound(mu, T, c).exploration * (1 + 1e-12)
    assert bound.tail == theory.sharper_bound(mu, T, c).tail


@pytest.mark.parametrize("p", [0.5, 0.1])
@pytest.mark.parametrize("c", [0.3, 0.6, 2.0])
def test_peeling_bound_holds_and_wins_for_long_horizons(p, c):
    exact = theory.crossing_probability(p, 2000, 2000, c)
    assert exact <= theory.peeling_bound(2, 1, 2000, c) / 2
    assert theory.peeling_bound(5, 3, 10**6, c) < theory.union_bound(5, 3, 10**6, c)


def test_pull_bounds_at_zero_gap():
    bounds = theory.pull_bounds([[0.5, 0.5], [0.5, 0.5], [0.25, 0.25]], 100)
    assert bounds.tolist()[:2] == [math.inf, math.inf]
    assert bounds[2] == pytest.approx(32 * math.log(100) / 0.0625)


@given(st.floats(0, 1), st.floats(0.001, 0.999))
def test_kl_is_nonnegative_zero_on_the_diagonal_and_at_least_pinsker(p, q):
    kl = theory.bernoulli_kl(p, q)
    assert kl >= 2 * (p - q) ** 2 - 1e-15
    assert theory.bernoulli_kl(q, q) == pytest.approx(0, abs=1e-15)


def test_kl_at_the_edges():
    assert theory.bernoulli_kl(0, 0) == 0
    assert theory.bernoulli_kl(0.5, 0) == math.inf
    assert theory.bernoulli_kl(1, 0.5) == pytest.approx(math.log(2))


@given(st.integers(2, 100), st.floats(1e-6, 0.25))
def test_lower_bound_chain(K, delta):
    chain = theory.lower_bound(K, delta)
    # the two logs of the definition cancel to second order, hence the absolute part
    assert chain.kl == pytest.approx(theory.bernoulli_kl(0.5, 0.5 + delta), rel=1e-9, abs=1e-15)
    assert chain.kl <= chain.kl_rational <= chain.kl_quadratic * (1 + 1e-12)
    assert chain.exact >= chain.rational >= chain.stated * (1 - 1e-12)
    assert chain.exact == pytest.approx((K - 1) * delta / chain.kl)
    assert chain.stated == pytest.approx(3 / 8 * (K - 1) / delta)
    assert chain.kl_quadratic == pytest.approx(8 / 3 * delta**2)


def test_stated_lower_bound_is_attained_at_a_quarter():
    chain = theory.lower_bound(3, 0.25)
    assert chain.kl_rational == pytest.approx(chain.kl_quadratic)


@given(mean_vectors(), horizons)
def test_c_pucb_is_pareto_ucb1s_leading_term_on_the_theorems_scale(mu, T):
    K, d = mu.shape
    g, gaps = pareto.g_dagger(mu), pareto.gaps(mu)
    leading = theory.pareto_ucb1_bound(mu, T).exploration
    if g > 0:
        coefficient = theory.c_pucb(mu, T)
        assert coefficient * K * math.log(T) / g == pytest.approx(leading, rel=1e-9)
        assert coefficient <= theory.c_pucb_envelope(mu, T) * (1 + 1e-12)
        crowding = g / K * sum(1 / x for x in gaps.tolist() if x > 0)
        threshold = theory.c_pucb_threshold(T, d, int(pareto.front(mu).sum()))
        assume(abs(crowding / threshold - 1) > 1e-9)
        assert (coefficient > 64) == (crowding > threshold)


def test_envelope_is_exact_for_equal_gaps_and_empty_without_gaps():
    mu = instances.duplicated(0.1, 5, 3).means
    assert theory.c_pucb(mu, 1000) == pytest.approx(theory.c_pucb_envelope(mu, 1000))
    everyone_on_front = [[0, 1], [1, 0]]
    assert theory.c_pucb(everyone_on_front, 1000) == 0
    assert theory.c_pucb_envelope(everyone_on_front, 1000) == 0


GOOD = [[0.2, 0.3], [0.4, 0.1]]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: theory.confidence_radius(0, 10), "n must be at least 1"),
        (lambda: theory.confidence_radius(1, 10, c=0), "c must be a number > 0; it is 0."),
        (lambda: theory.confidence_radius(1, 10, c=math.nan), "c must be a number > 0; it is nan."),
        (lambda: theory.union_bound(1, 1, 10), "K must be a whole number >= 2; it is 1."),
        (lambda: theory.union_bound(3, 1, 2), "at least the number of arms, 3; it is 2."),
        (lambda: theory.theorem_bound(GOOD, 1), "at least the number of arms, 2; it is 1."),
        (lambda: theory.theorem_bound(GOOD, 10, c=-1), "c must be a number > 0; it is -1."),
        (lambda: theory.theorem_bound(GOOD, 10.5), "whole number >= 1; it is 10.5."),
        (lambda: theory.theorem_bound([[0, 1.5], [0, 0]], 10), "the value at (0, 1) is 1.5."),
        (lambda: theory.sharper_bound([[0.5]], 10), "at least 2 arms"),
        (lambda: theory.lower_bound(2, 0.3), "delta must lie in (0, 1/4]; it is 0.3."),
        (lambda: theory.lower_bound(2, 0), "delta must be a number > 0"),
        (lambda: theory.bernoulli_kl(2, 0.5), "p must be a number in [0, 1]; it is 2."),
        (lambda: theory.bernoulli_kl("a", 0.5), "p must be a number in [0, 1]; it is 'a'."),
        (lambda: theory.crossing_probability(0.5, 0, 10), "samples must be a whole number >= 1"),
        (lambda: theory.c_pucb_threshold(1, 2, 1), "the horizon T must be a whole number >= 2"),
        (lambda: theory.c_pucb(GOOD, True), "whole number >= 1; it is True."),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(MomabError) as error:
        call()
    assert sentence in str(error.value)
