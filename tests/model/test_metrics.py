"""Metrics against their definitions, by hand and by playing them out round by round."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.model import metrics, pareto
from tests.strategies import mean_vectors


@given(mean_vectors(), st.integers(0, 2**31))
def test_regrets_add_up_round_by_round(mu, seed):
    K = len(mu)
    arms = np.random.default_rng(seed).integers(0, K, 50)
    pulls = np.bincount(arms, minlength=K)[None]
    gap = pareto.gaps(mu)
    assert metrics.pareto_regret(pulls, mu)[0] == pytest.approx(math.fsum(gap[arms]))
    fairest = max(min(row) for row in mu)
    unfair = math.fsum(fairest - min(mu[a]) for a in arms)
    assert metrics.fairness_regret(pulls, mu)[0] == pytest.approx(unfair)


def test_fairness_costs_are_zero_only_for_max_min_arms():
    assert metrics.fairness_costs([[0.5, 0.5], [1, 0.25], [0.5, 1]]).tolist() == [0, 0.25, 0]


def test_recommendation_is_the_arm_played_most_at_the_end():
    assert metrics.recommendation(np.array([[1, 5, 2], [4, 4, 0]])).tolist() == [1, 0]


def test_front_precision_and_recall():
    means = [[1.0, 0.25], [0.25, 1.0], [0.25, 0.25]]
    pulls = np.array([[1, 2, 4]])
    # empirical means (1, 0), (0.5, 0.5), (0.75, 0.75): the third dominates the second
    sums = np.array([[[1.0, 0.0], [1.0, 1.0], [3.0, 3.0]]])
    assert metrics.front_precision_recall(sums, pulls, means).tolist() == [[0.5, 0.5]]


def test_coverage_entropy():
    front = np.array([True, True, False, True])
    pulls = np.array([[5, 5, 99, 5], [7, 0, 3, 0], [2, 2, 1, 0]])
    entropy = metrics.coverage_entropy(pulls, front)
    np.testing.assert_allclose(entropy, [1, 0, math.log(2) / math.log(3)], atol=1e-15)
    assert (
        metrics.coverage_entropy(pulls, np.array([False, True, False, False])).tolist() == [0] * 3
    )
