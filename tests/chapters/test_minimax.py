"""The worst case: the inequalities of the page, its lower bound, and MOSS."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from momab.chapters.minimax import worst_regret_picture
from momab.model import imed, instances, pareto
from momab.model.theory import bernoulli_kl
from momab.study import minimax
from tests.strategies import mean_vectors


@given(mean_vectors(), st.integers(0, 10**6))
def test_no_gap_exceeds_the_deficit_of_a_weighted_average(means, seed):
    for v in (np.full(means.shape[1], 1 / means.shape[1]), *np.eye(means.shape[1])):
        assert (pareto.gaps(means) <= (means @ v).max() - means @ v + 1e-12).all()
    v = np.random.default_rng(seed).dirichlet(np.ones(means.shape[1]))
    assert (pareto.gaps(means) <= (means @ v).max() - means @ v + 1e-12).all()


@given(mean_vectors(), st.sampled_from(["sum", "max"]))
def test_the_constant_is_at_most_half_of_the_inverse_gaps(means, kind):
    gaps = pareto.gaps(means)
    if (gaps > 1e-6).any() and (gaps[gaps > 0] > 1e-6).all():
        assert imed.worst_price(means, kind) <= (0.5 / gaps[gaps > 0]).sum() * (1 + 1e-9)


def test_half_of_the_inverse_gaps_holds_with_thirty_objectives():
    for means in instances.random_means(4, 30, seed=3, levels=3, instances=50):
        gaps = pareto.gaps(means)
        if (gaps > 0).any():
            assert imed.worst_price(means) <= (0.5 / gaps[gaps > 0]).sum() * (1 + 1e-12)


@given(st.floats(1e-4, 0.25))
def test_the_divergence_of_the_lower_bound(eps):
    assert bernoulli_kl(0.5, 0.5 + eps) == pytest.approx(-0.5 * np.log1p(-4 * eps**2), rel=1e-6)
    assert bernoulli_kl(0.5, 0.5 + eps) <= 2.5 * eps**2


def test_the_numbers_of_the_lower_bound():
    assert 0.25 * (1 - 0.5 - np.sqrt(5) / 8) >= 0.055 >= 1 / 19


@given(st.integers(2, 40), st.integers(1, 64), st.integers(0, 30))
def test_the_lower_bound_is_below_the_upper_one(K, d, factor):
    T = K * (1 + factor)
    lower = max(np.sqrt(K * T / d) / 19, (K - 1) / 2)
    assert lower <= 19.5 * np.sqrt(K * T / d) + K
    if K * d <= T:
        assert np.sqrt(K * T / d) + 1e-9 >= K


def least_average_regret(d, T, first, second):
    """Two arms, one of them with the means `first`, the other `second`: the best policy."""
    values = np.arange(d + 1)
    coins = [binom.pmf(values, d, p) for p in (first, second)]

    @cache
    def rest(t, odds):  # odds: how much likelier the first instance is, rounded
        if t == T:
            return 0.0
        share = 1 / (1 + np.exp(-odds))
        found = []
        for better in (share, 1 - share):
            seen = better * coins[0] + (1 - better) * coins[1]
            turn = np.log(coins[0] / coins[1]) * (1 if better is share else -1)
            later = [rest(t + 1, round(odds + x, 9)) for x in turn]
            found.append((first - second) * (1 - better) + seen @ later)
        return min(found)

    return rest(0, 0.0)


@pytest.mark.parametrize(("d", "T"), [(1, 2), (1, 8), (1, 24), (2, 8), (4, 8)])
def test_no_policy_is_below_the_lower_bound_on_average(d, T):
    eps = 0.25 * np.sqrt(2 / (d * T))
    found = least_average_regret(d, T, 0.5 + eps, 0.5) / np.sqrt(2 * T / d)
    assert 1.8 / 19 < found < 2.4 / 19


def test_moss_loses_little_on_a_good_arm_and_tries_every_arm():
    for rule in minimax.RULES:
        regret = minimax.moss_regret(0.4, 5, 4, rule, 800, 20, seed=1)
        assert (regret >= 0.4 * 4).all()
        assert (regret < 0.4 * 200).all()


def test_averaging_gains_about_the_root_of_the_number_of_objectives():
    table = minimax.ratio_table((4,), (16,), 1_000, 80, seed=1).set_index("rule")["mean"]
    assert 2.5 < table["one objective"] / table["the average"] < 6


def test_searching_costs_half_of_the_other_arms():
    assert minimax.searching_regret(9, 20_000, 1).mean() == pytest.approx(4, abs=0.1)


def test_the_picture_has_a_line_per_rule_and_number_of_arms():
    table = minimax.ratio_table((4, 8), (1, 4), 300, 20, seed=1)
    axes = worst_regret_picture(table, 1 / 19).axes[0]
    assert len(axes.containers) == 4
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "MOSS on one objective", "MOSS on the average", "K = 4", "K = 8",
    ]  # fmt: skip
