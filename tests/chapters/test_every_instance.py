"""Sticky Pareto IMED: the steps of its proof, and the simulation on the scale of log T."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.chapters.every_instance import plain_and_sticky
from momab.ledger.every_instance import settles
from momab.model import imed, pareto, theory
from momab.study import every_instance
from tests.chapters.running import run_chapter
from tests.strategies import mean_vectors


@given(mean_vectors(max_objectives=4))
def test_gaps_evidence_and_prices_are_those_of_the_library(means):
    means = 0.9 * means
    gaps, evidence = every_instance.pairwise(means)
    assert gaps == pytest.approx(pareto.gaps(means))
    assert evidence == pytest.approx(theory.evidence(means), rel=1e-6, abs=1e-9)
    free = gaps == 0
    if (gaps > 1e-3)[~free].all():
        found = every_instance.estimated_prices(gaps, evidence)[free]
        assert found == pytest.approx(theory.price(means).per_arm[free], rel=1e-4)


@given(mean_vectors(), st.integers(1, 10**6))
def test_the_candidate_has_empirical_gap_zero_from_every_target(means, n):
    K = len(means)
    mu = np.broadcast_to(means, (K + 1, *means.shape))
    gaps, evidence = every_instance.pairwise(mu)
    least = np.full(K + 1, float(n))
    start = np.arange(-1, K)
    _, above = every_instance.sticky_candidate(mu, gaps, evidence, least, start)
    assert (gaps[np.arange(K + 1), above] == 0).all()


@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from([1, 2, 3, 30]), st.booleans())
def test_the_target_settles_at_a_cheapest_arm(seed, K, d, copied):
    """Ties and zeros from the grid, copies, two arms, one objective and thirty."""
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 6, (K, d)) / 8
    if copied:
        means[-1] = means[0]
    if (pareto.gaps(means) > 0).any():
        assert settles(means, 1e20, rng)


def test_a_mean_of_one_draws_the_target_and_keeps_it():
    means = np.array([[1.0, 0.2], [0.3, 0.6], [0.2, 0.5]])
    mu = np.broadcast_to(means, (3, 3, 2))
    gaps, evidence = every_instance.pairwise(mu)
    for n in (1e4, 1e12):
        target, above = every_instance.sticky_candidate(
            mu, gaps, evidence, np.full(3, n), np.arange(3)
        )
        assert target.tolist() == above.tolist() == [0, 0, 0]


def test_the_page_s_rule_is_the_one_that_is_simulated():
    names = run_chapter("every-instance", runs=20, level=20.0)
    assert {n: price > slack for n, (price, slack) in names["seen"].items()} == {
        300: False, 3_000: False, 30_000: True,
    }  # fmt: skip
    rng = np.random.default_rng(2)
    for _ in range(60):
        mu = rng.integers(1, 8, (4, 2)) / 8
        n = float(rng.integers(1, 1000))
        gaps, evidence = every_instance.pairwise(mu[None])
        for z in range(4):
            found = every_instance.sticky_candidate(
                mu[None], gaps, evidence, np.array([n]), np.array([z])
            )
            assert names["sticky"](mu, n, z) == tuple(int(x[0]) for x in found)


@pytest.mark.parametrize("name", list(every_instance.INSTANCES))
def test_which_of_the_instances_have_a_unique_cheapest_arm(name):
    settled = imed.is_settled(every_instance.INSTANCES[name])
    assert settled == (name == "a unique cheapest arm")


def test_one_objective_is_at_the_constant_of_lai_and_robbins():
    means = [[0.7], [0.5]]
    cost = float(theory.price(means).value)
    for rule in every_instance.RULES:
        found = every_instance.log_scale_regret(means, rule, [200.0], 40, seed=1)[:, 0]
        assert found.mean() / (200 * cost) == pytest.approx(1, abs=0.1)


def test_the_recorded_numbers_come_out_again():
    lines = every_instance.recorded_log_scale()
    runs, seed = int(lines["runs"].iloc[0]), int(lines["seed"].iloc[0])
    assert sorted(lines["log_T"].unique()) == list(every_instance.LEVELS)
    name = "a unique cheapest arm"  # the cheapest one to compute
    means = every_instance.INSTANCES[name]
    again = every_instance.log_scale_regret(means, "plain", every_instance.LEVELS, runs, seed)
    cost = float(theory.price(means).value)
    kept = lines[(lines["instance"] == name) & (lines["rule"] == "plain")]["mean"].to_numpy()
    assert again.mean(axis=0) / (cost * np.array(every_instance.LEVELS)) == pytest.approx(
        kept, abs=1e-6
    )


def test_the_picture_has_two_lines_in_every_panel():
    panels = plain_and_sticky(every_instance.recorded_log_scale()).axes
    assert len(panels) == 3
    assert all(len(axes.containers) == 2 for axes in panels)
