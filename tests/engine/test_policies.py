"""The policies: what the records accept, and selections worked out by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.engine import policies
from momab.engine.accelerators.kl_ucb import FastKLUCB, bound_index
from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.base import Given, Policy, seat
from momab.engine.policies.kl_ucb import bisected_index
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.streams import coins_for
from momab.engine.tools import ARM, OBJECTIVE, SINCE, UNTIL, choose_top
from momab.errors import MomabError
from momab.model import instances, theory
from momab.model.numerics import log
from tests.engine.drawn import assert_same, played, state_of


def choices(policy: Policy, means: Any, counts: Any, horizon: int = 1000) -> set[int]:
    """Every arm chosen at this state over many coins."""
    return {
        int(state_of(policy, means, counts, horizon).select(t, coins_for(policy.name, 1, 0, t)))
        for t in range(100, 400)
    }


def decide(policy: Policy, means: Any, counts: Any, horizon: int = 1000) -> tuple[int, Any]:
    """The arm of the next round, and the player that chose it."""
    player, t = state_of(policy, means, counts, horizon), sum(counts)
    return int(player.select(t, coins_for(policy.name, 1, 0, t))), player


# Records.


def test_a_rule_has_its_own_name_and_coins() -> None:
    names = {WidthGuided(objective_rule=rule).name for rule in policies.OBJECTIVE_RULES}
    assert names == {
        "width-guided",
        "width-guided-random",
        "width-guided-round-robin",
        "width-guided-oracle",
    }
    assert WidthGuided(objective_rule="oracle").label == "Width-guided (oracle)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WidthGuided(0), "c must be a number > 0; it is 0"),
        (lambda: WidthGuided(math.nan), "c must be a number > 0"),
        (lambda: WidthGuided("2"), "c must be a number > 0"),  # type: ignore[arg-type]
        (lambda: WidthGuided(2, "widest first"), "one of widest, random, round-robin, oracle"),
        (lambda: ParetoUCB1("paper"), "one of original, real, synthetic, or a number >= 1"),
        (lambda: ParetoUCB1(0.5), "at least 1"),
        (lambda: ParetoUCB1(c=-1), "c must be a number > 0"),
        (lambda: AnnealingPareto(1.0), r"decay must be a number in \(0, 1\)"),
        (lambda: AnnealingPareto(0.0), "decay must be a number > 0"),
        (lambda: ScalarizedUCB("grid"), "weights must be one of paper, or the weight vectors"),
        (lambda: ScalarizedUCB(()), "nonnegative with sum 1"),
        (lambda: ScalarizedUCB(((0.5, 0.4),)), "nonnegative with sum 1"),
        (lambda: ScalarizedUCB(((1.5, -0.5),)), "nonnegative with sum 1"),
        (lambda: ScalarizedUCB(((1.0,), (0.5, 0.5))), "equal length"),
        (lambda: ScalarizedUCB(3), "nonnegative with sum 1"),  # type: ignore[arg-type]
        (lambda: policies.make_policy("ucb"), "choose from annealing-pareto"),
        (lambda: policies.make_policy("annealing-pareto", c=1), "its options: decay"),
    ],
)
def test_bad_options_are_explained(make: Any, message: str) -> None:
    with pytest.raises(MomabError, match=message):
        make()


def test_lists_of_weights_become_tuples() -> None:
    policy = ScalarizedUCB([[0.25, 0.75], [1, 0]])  # type: ignore[arg-type]
    assert policy.weights == ((0.25, 0.75), (1.0, 0.0))
    assert policy == ScalarizedUCB(((0.25, 0.75), (1.0, 0.0)))


# Width-guided.


def test_radii_and_pairs_by_hand() -> None:
    means, counts = [[0.9, 0.1], [0.5, 0.4], [0.1, 0.8]], [4, 4, 16]
    _, player = decide(WidthGuided(c=2.0), means, counts, horizon=100)
    wide, narrow = math.sqrt(2 * math.log(100) / 4), math.sqrt(2 * math.log(100) / 16)
    np.testing.assert_allclose(player.beta, [wide, wide, narrow], rtol=1e-15)
    assert player.b.tolist() == [0, 1]
    assert player.challenger.tolist() == [1, 0]
    np.testing.assert_allclose(player.W, [2 * wide, 2 * wide], rtol=1e-15)
    assert player.commitment[UNTIL] < 0


def test_the_arm_with_the_larger_radius_is_pulled() -> None:
    means = [[0.9, 0.9], [0.8, 0.8], [0.0, 0.0]]
    assert choices(WidthGuided(2.0), means, [10, 11, 5000]) == {0}
    assert choices(WidthGuided(2.0), means, [11, 10, 5000]) == {1}
    assert choices(WidthGuided(2.0), means, [10, 10, 5000]) == {0, 1}


def test_widest_race_first_unless_another_rule() -> None:
    # Objective 0 is between arms 0 and 1, objective 1 between arms 2 and 3, which is wider.
    means = [[0.9, 0.0], [0.8, 0.0], [0.0, 0.9], [0.0, 0.8]]
    counts = [60, 61, 50, 51]
    assert choices(WidthGuided(0.5), means, counts) == {2}
    assert choices(WidthGuided(0.5, "random"), means, counts) == {0, 2}
    assert choices(WidthGuided(0.5, "round-robin"), means, counts) == {0, 2}
    assert choices(WidthGuided(0.5, "oracle"), means, counts) == {0}


def test_certificate_is_strict_and_takes_the_widest_pair() -> None:
    policy = WidthGuided(c=0.02)
    arm, player = decide(policy, [[0.9, 0.2], [0.1, 0.9]], [40, 40])
    assert player.commitment[[ARM, SINCE, UNTIL]].tolist() == [arm, 80, 1000]
    # The mean difference equals the width exactly: L_b = U_c is no certificate.
    beta = 0.25
    exact = WidthGuided(c=beta**2 * 4 / log(1000))
    _, player = decide(exact, [[0.75, 0.0], [0.25, 0.0]], [4, 4])
    assert player.beta[0] == beta
    assert player.commitment[UNTIL] < 0
    # Objective 0 certifies with the wider pair (arms 0 and 1), objective 1 with 2 and 3.
    means = [[0.9, 0.0], [0.1, 0.0], [0.0, 0.9], [0.0, 0.1]]
    _, player = decide(policy, means, [40, 40, 50, 50])
    assert player.commitment[[ARM, OBJECTIVE, SINCE]].tolist() == [0, 0, 180]


def test_the_oracle_is_told_the_champion_objective() -> None:
    told = policies.given_for(np.array([[0.5, 0.9, 0.1], [0.4, 0.2, 0.1], [0.4, 0.1, 0.1]]))
    assert told == Given(front_size=1, champion_objective=1)


# Pareto UCB1.


def test_q_of_the_three_readings() -> None:
    told = Given(front_size=2, champion_objective=0)
    assert ParetoUCB1("original").scale(20, 2, told) == pytest.approx(4**0.25)
    assert ParetoUCB1("real").scale(10, 26, told) == pytest.approx(260**0.25)
    assert ParetoUCB1("synthetic").scale(20, 2, told) == pytest.approx(160**0.25)
    assert ParetoUCB1(3.5).scale(20, 2, told) == 3.5


def test_pareto_ucb1_spreads_over_the_optimistic_front() -> None:
    means = [[0.9, 0.1], [0.1, 0.9], [0.05, 0.05]]
    assert choices(ParetoUCB1(), means, [100, 100, 100]) == {0, 1}
    assert choices(ParetoUCB1(), means, [100, 100, 1]) == {2}


# Annealing-Pareto.


def move(player: Any, arm: int, means: Any) -> None:
    player.means[arm] = means
    player.moved(arm)


def test_annealing_keeps_candidates_that_stay_on_the_front() -> None:
    policy = AnnealingPareto(0.5)
    player = state_of(policy, [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.4, 0.4]], [1, 1, 1, 1])
    player.power[0] = 0.0
    coin = coins_for(policy.name, 1)
    player.select(4, coin)
    assert player.candidate.tolist() == [True, True, True, False]
    move(player, 2, [0.3, 0.3])  # dominated by arm 3 now, and arm 3 is out for good
    player.select(5, coin)
    assert player.candidate.tolist() == [True, True, False, False]
    move(player, 3, [1.5, 0.4])  # until it is best on an objective
    player.select(6, coin)
    assert player.candidate.tolist() == [False, True, False, True]


def test_annealing_tolerance_starts_at_one_over_k_d() -> None:
    policy = AnnealingPareto(0.4)
    player = state_of(policy, [[0.9, 0.9], [0.66, 0.0], [0.64, 0.0]], [1, 1, 1])
    player.candidate[:] = False
    coin = coins_for(policy.name, 1)
    player.select(3, coin)
    assert player.candidate.tolist() == [True, False, False]
    assert player.power[0] == 0.4
    move(player, 1, [0.9 - 1 / 6 * 0.4 + 1e-9, 0.0])
    player.select(4, coin)
    assert player.candidate.tolist() == [True, True, False]
    assert player.power[0] == 0.4 * 0.4


# Scalarized UCB.


def test_weights_of_the_paper() -> None:
    assert policies.paper_weights(1) == ((1.0,),)
    assert policies.paper_weights(2) == (
        (0.5, 0.5),
        (0.0, 1.0),
        (0.25, 0.75),
        (0.75, 0.25),
        (1.0, 0.0),
    )
    assert len(policies.paper_weights(6)) == 1 + math.comb(9, 5)
    assert len(policies.paper_weights(26)) == 1 + 3 * 26 + math.comb(26, 2)
    for d in range(1, 12):
        rows = np.array(policies.paper_weights(d))
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-14)
        assert (rows >= 0).all()
        assert len({tuple(row) for row in rows}) == len(rows)


def test_weights_take_turns() -> None:
    policy = ScalarizedUCB(((1.0, 0.0), (0.0, 1.0)))
    means = [[0.9, 0.0], [0.0, 0.9]]
    player, coin = state_of(policy, means, [100, 100]), coins_for(policy.name, 1)
    assert [player.select(t, coin) for t in range(200, 204)] == [0, 1, 0, 1]


# KL-UCB.


@given(st.floats(0, 1), st.integers(1, 10**6), st.floats(0, 20))
def test_klucb_index_solves_its_equation(p: float, n: int, level: float) -> None:
    q = bisected_index(p, n, level)
    assert p <= q <= 1
    assert n * theory.bernoulli_kl(p, q) <= level * (1 + 1e-9) + 1e-9
    above = q + 3e-9
    if above < 1:
        assert n * theory.bernoulli_kl(p, above) >= level * (1 - 1e-9) - 1e-9


@given(
    st.lists(st.tuples(st.integers(1, 200), st.floats(0, 1)), min_size=2, max_size=6),
    st.integers(10, 10**6),
)
def test_klucb_choice_has_the_largest_index(arms: list[tuple[int, float]], t: int) -> None:
    counts = np.array([n for n, _ in arms], dtype=np.int64)
    sums = np.floor(np.array([n * p for n, p in arms]))
    means = sums / counts
    level = log(t)
    for kind in (None, FastKLUCB):
        player = seat(policies.KLUCB(), len(counts), 1, 10**6, Given(1, 0), kind)
        player.means[:, 0], player.counts[:] = means, counts
        chosen = int(player.select(t, coins_for("kl-ucb", 1, 0, t)))
        check_klucb(chosen, sums, counts, level)


def check_klucb(chosen: int, sums: Any, counts: Any, level: float) -> None:
    means = sums / counts
    indices = [bisected_index(p, int(n), level) for p, n in zip(means, counts)]
    assert indices[chosen] == max(indices)
    same = (sums == sums[chosen]) & (counts == counts[chosen])
    assert chosen == np.flatnonzero(same)[0]


@given(
    st.integers(1, 10**6),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(2, 10**6),
    st.integers(1, 12),
    st.floats(0, 3),
)
def test_klucb_bounds_hold_the_index(
    n: int, p: float, start: float, t: int, steps: int, later: float
) -> None:
    mean, level = math.floor(n * p) / n, log(t)
    index = bisected_index(mean, n, level)
    bounds = np.full((4, 1), mean + start * (1 - mean))
    bound_index(bounds, 0, mean, n, level, steps)
    high, low, slope, found = bounds[:, 0]
    assert low - 1.1e-9 <= index <= high
    assert found == level
    assert bisected_index(mean, n, level + later) <= high + slope * later
    if steps == 12 and 0 < mean < 1 and 0.1 < start < 0.9 and n > 100:
        assert high - low <= 1e-9  # sharp enough to decide


def test_klucb_looks_at_its_objective_only() -> None:
    means = [[0.9, 0.1], [0.1, 0.9]]
    assert choices(policies.KLUCB(), means, [100, 100]) == {0}
    assert choices(policies.KLUCB(1), means, [100, 100]) == {1}


# A policy of one's own, as in the docstring of the base module.


class Greedy(Policy):
    """Pull the arm with the best mean on the first objective."""

    def start(self) -> None:
        self.score = np.zeros(self.K)

    def moved(self, arm: int) -> None:
        self.score[arm] = self.means[arm, 0]

    def select(self, t: int, coin: Any) -> int:
        return choose_top(self.score, 0, coin)


def test_a_policy_takes_one_class() -> None:
    assert (Greedy().name, Greedy().label) == ("greedy", "Greedy")
    common = (instances.synthetic(0.1, 2), Greedy(), 200, 1, 0, 3, (), False, True)
    plain = played(*common, "python")
    assert plain.pulls.sum() == 600
    assert_same(played(*common), plain)


@dataclass(frozen=True)
class Variation(WidthGuided):
    """A subclass is another policy with other coins, and plays as its parent does."""

    name: ClassVar[str] = "variation"


def test_a_subclass_plays_with_its_own_name() -> None:
    block = played(instances.synthetic(0.1, 2), Variation(0.1), 300, 1, 0, 3, arms=True)
    parent = played(instances.synthetic(0.1, 2), WidthGuided(0.1), 300, 1, 0, 3, arms=True)
    assert not np.array_equal(block.arms, parent.arms)
