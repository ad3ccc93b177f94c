"""Pareto IMED: IMED itself on one objective, the rule of its page on several."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.streams import RewardStream, coins_for, reward_arrays
from momab.engine.tools import TIE, choose
from momab.model import instances
from tests.engine.drawn import crowd, played, state_of


def kl(p: float, q: float) -> float:
    """The Bernoulli divergence for p < q, by the library's logarithms; else 0."""
    if p >= q:
        return 0.0
    if q == 1.0:
        return math.inf
    one = p * math.log(p / q) if p > 0 else 0.0
    return one + (1 - p) * math.log((1 - p) / (1 - q))


def tied(values: list[float]) -> list[int]:
    """The places of the least values."""
    return [i for i, value in enumerate(values) if value <= min(values) + TIE]


def imed(instance: instances.Instance, T: int, seed: int, run: int, name: str) -> list[int]:
    """Play IMED on the only objective: the least N_b kl(m_b, max m) + log N_b."""
    stream = RewardStream(reward_arrays(instance.source), seed, run)
    coins = coins_for(name, seed, run)
    N, S, arms = [0] * instance.K, [0.0] * instance.K, []
    for t in range(T):
        coins.t[0] = t
        arm = t
        if t >= instance.K:
            m = [s / n for s, n in zip(S, N)]
            index = [n * kl(p, max(m)) + math.log(n) for p, n in zip(m, N)]
            least = tied(index)
            arm = least[choose(len(least), 1, coins)]
        S[arm] += float(stream.pull(arm, N[arm])[0])
        N[arm] += 1
        arms.append(arm)
    return arms


ONE = {
    "bernoulli": instances.bernoulli([[0.3], [0.5], [0.52], [0.1]]),
    "extreme": instances.bernoulli([[0.0], [1.0], [1.0], [0.6]]),
    "equal": instances.bernoulli([[0.5], [0.5], [0.5]]),
    "samples": crowd(6, 1, 3),
}


@pytest.mark.parametrize("evidence", ["max", "sum"])
@pytest.mark.parametrize("name", ONE)
def test_with_one_objective_it_is_imed(name: str, evidence: str) -> None:
    policy = ParetoIMED(evidence)
    for run in range(3):
        block = played(ONE[name], policy, 800, 5, run, 1, (), False, True)
        assert block.arms[0].tolist() == imed(ONE[name], 800, 5, run, policy.name)


def pulled(means: Any, counts: Any, evidence: str = "max", seeds: int = 1) -> set[int]:
    """The arms that Pareto IMED pulls there, with the coins of several seeds."""
    policy = ParetoIMED(evidence)
    found = set()
    for seed in range(seeds):
        t = sum(counts)
        coins = coins_for(policy.name, seed, 0, t)
        found.add(int(state_of(policy, means, counts).select(t, coins)))
    return found


def literal(means: Any, counts: Any, evidence: str) -> set[int]:
    """All arms that the rule of the page allows, term by term."""
    K, d = np.shape(means)
    gap = [max(min(c[j] - b[j] for j in range(d)) for c in means) for b in means]
    total = sum if evidence == "sum" else max
    D = [[total(kl(b[j], a[j]) for j in range(d)) for a in means] for b in means]
    price = [
        math.inf if gap[a] > 0 else sum(gap[b] / D[b][a] for b in range(K) if gap[b] > 0)
        for a in range(K)
    ]
    arms: set[int] = set()
    for a in tied(price):
        arms |= set(tied([counts[b] * D[b][a] + math.log(counts[b]) for b in range(K)]))
    return arms


@pytest.mark.parametrize("evidence", ["max", "sum"])
def test_it_follows_the_rule_term_by_term(evidence: str) -> None:
    rng = np.random.default_rng(8)
    for _ in range(200):
        K, d = int(rng.integers(2, 8)), int(rng.integers(1, 5))
        counts = rng.integers(1, 40, K).tolist()
        means = [[int(rng.integers(0, n + 1)) / n for _ in range(d)] for n in counts]
        assert pulled(means, counts, evidence, 1) <= literal(means, counts, evidence)


def test_the_candidate_is_the_cheap_free_arm() -> None:
    # Arms 0 and 1 are free.  Arm 2 is far from arm 0 and close to arm 1, so arm 0 is the cheaper
    # candidate: with equal counts it has the least index.
    means = [[0.9, 0.5], [0.6, 0.55], [0.5, 0.45]]
    assert pulled(means, [50, 50, 50]) == {0}
    # With many pulls of arm 0 the others come up, the closer one first.
    assert pulled(means, [5000, 5, 5]) == {1}
    assert pulled(means, [5000, 50, 50]) == {0}


def test_ties_are_broken_by_coins() -> None:
    assert pulled([[0.5, 0.5]] * 3, [4, 4, 4], seeds=40) == {0, 1, 2}
    assert pulled([[0.5, 0.5]] * 3, [4, 2, 4], seeds=40) == {1}
    # Equal prices: either of the first two arms may be the candidate.
    assert pulled([[0.8, 0.2], [0.2, 0.8], [0.1, 0.1]], [9, 9, 9], seeds=40) == {0, 1}


def test_against_a_mean_of_one_the_evidence_is_infinite() -> None:
    assert pulled([[1.0, 1.0], [0.5, 0.5], [0.0, 0.9]], [10**9, 1, 1]) == {0}
    assert pulled([[1.0, 1.0], [1.0, 1.0], [0.5, 0.5]], [9, 5, 1], seeds=20) == {1}


def test_means_that_differ_by_rounding_only_are_equal() -> None:
    third = 0.1 + 0.2 - 0.2  # next to 0.1
    assert third != 0.1
    assert pulled([[0.1, 0.9], [third, 0.9], [0.05, 0.05]], [7, 7, 7], seeds=40) == {0, 1}


def test_the_evidence_against_an_arm_with_a_gap_is_never_zero() -> None:
    # kl is about 2e-20 here, far below the rounding of its logarithms.
    assert pulled([[0.5 + 1e-10, 0.5 + 1e-10], [0.5, 0.5]], [9, 10]) == {0}


def test_copies_need_the_maximum() -> None:
    # One coin copied to five objectives: the sum counts it five times, explores too little, and
    # now and then stays with a wrong arm.
    instance = instances.duplicated_coordinates([0.7, 0.5, 0.5], 5)
    wrong = {
        kind: played(instance, ParetoIMED(kind), 2000, 3, 0, 100).pulls[:, 1:].sum(axis=1)
        for kind in ("max", "sum")
    }
    assert np.median(wrong["max"]) > 2 * np.median(wrong["sum"])
    assert wrong["max"].max() < 500 < 1500 < wrong["sum"].max()
