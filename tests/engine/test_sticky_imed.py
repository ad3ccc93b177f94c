"""Sticky Pareto IMED keeps its target: against the rule of its page, state by state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.policies.sticky_imed import StickyIMED, candidate_of_target, fifth_root
from momab.engine.streams import coins_for
from momab.study import every_instance
from tests.engine.drawn import state_of

MIRRORED = [[0.8, 0.3], [0.3, 0.8], [0.6, 0.1], [0.1, 0.6]]


def decided(means: Any, counts: Any, target: int, evidence: str = "sum") -> tuple[int, int]:
    """The target and the candidate from a state with a target."""
    player = state_of(StickyIMED(evidence), means, counts)
    player.target[0] = target
    candidate = candidate_of_target(player, coins_for("sticky-imed", 1, 0, int(sum(counts))))
    return int(player.target[0]), int(candidate)


def test_it_is_the_rule_that_the_page_simulates() -> None:
    rng = np.random.default_rng(3)
    changed = 0
    for _ in range(300):
        K, d = int(rng.integers(2, 7)), int(rng.integers(1, 5))
        counts = rng.integers(2, 2_000, K)
        means = rng.random((K, d))
        gaps, evidence = every_instance.pairwise(means[None])
        if not gaps.any():
            continue  # all prices are 0, and a coin decides
        for z in range(-1, K):
            target, above = every_instance.sticky_candidate(
                means[None], gaps, evidence, np.array([float(counts.min())]), np.array([z])
            )
            assert decided(means, counts, z) == (int(target[0]), int(above[0]))
            changed += int(target[0]) != z
    assert changed > 200


def test_a_target_of_the_same_price_is_kept_and_a_dear_one_is_given_up() -> None:
    counts = [10_000] * 4
    assert [decided(MIRRORED, counts, z)[0] for z in (0, 1)] == [0, 1]
    dear = [[0.9, 0.1], [0.1, 0.9], [0.08, 0.85]]  # arm 2 is close to arm 1
    assert decided(dear, [1_000_000] * 3, 1) == (0, 0)


def test_a_target_that_is_just_beaten_is_kept_with_the_arm_above_it_as_candidate() -> None:
    copies = [[0.8, 0.3], [0.8 + 1e-6, 0.3 + 1e-6], [0.3, 0.2]]
    assert decided(copies, [10_000] * 3, 0) == (0, 1)


@pytest.mark.parametrize("evidence", ["max", "sum"])
def test_with_one_objective_it_pulls_what_imed_pulls(evidence: str) -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        K = int(rng.integers(2, 7))
        counts, means = rng.integers(1, 60, K), rng.random((K, 1))
        coin = coins_for("any", 1, 0, int(counts.sum()))
        arms = []
        for record in (ParetoIMED, StickyIMED):
            player = state_of(record(evidence), means, counts)
            if record is StickyIMED:
                player.target[0] = rng.integers(K)
            arms.append(int(player.select(int(counts.sum()), coin)))
        assert arms[0] == arms[1]


def test_the_fifth_root() -> None:
    for n in (1, 2, 3, 31, 32, 33, 10**5, 10**9, 10**15):
        assert fifth_root(n) == pytest.approx(n**0.2, rel=1e-15)
    assert fifth_root(32) == 2.0
