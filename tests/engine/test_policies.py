"""The policies: what the records accept, and selections worked out by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from momab.engine import loop, policies
from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.base import Given, Policy, View
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB
from momab.engine.policies.width_guided import Races, WidthGuided
from momab.engine.streams import Coins
from momab.errors import MomabError
from momab.model import instances, pareto, theory
from momab.model.numerics import log


def view_of(means: Any, counts: Any, horizon: int = 1000, t: int | None = None) -> View:
    mu, n = np.asarray(means, dtype=np.float64), np.asarray(counts, dtype=np.int64)
    told = Given(front_size=1, champion_objective=0)
    return View(horizon, n, mu * n[:, None], mu, told, t=int(n.sum()) if t is None else t)


def coins_at(t: int, name: str = "width-guided") -> Coins:
    coins = Coins(name, seed=1, run=0)
    coins.t = t
    return coins


def choices(policy: Policy, means: Any, counts: Any, horizon: int = 1000) -> set[int]:
    """Every arm chosen at this state over many coins."""
    select = policies.selection_for(policy)
    found = set()
    for t in range(100, 400):
        view = view_of(means, counts, horizon, t=t)
        found.add(select(policy, view, coins_at(t, policy.name)))
    return found


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
        (lambda: policies.klucb_index(1.5, 1, 1.0), "mean must lie"),
        (lambda: policies.klucb_index(0.5, 1, -1.0), "level must be"),
        (lambda: policies.make_policy("ucb"), "choose from annealing-pareto"),
        (lambda: policies.make_policy("annealing-pareto", c=1), "its options: decay"),
        (lambda: policies.selection_for(object()), "is not a policy"),  # type: ignore[arg-type]
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
    policy = WidthGuided(c=2.0)
    view = view_of([[0.9, 0.1], [0.5, 0.4], [0.1, 0.8]], [4, 4, 16], horizon=100)
    race = policies.races(policy, view, coins_at(24))
    wide, narrow = math.sqrt(2 * math.log(100) / 4), math.sqrt(2 * math.log(100) / 16)
    np.testing.assert_allclose(race.beta, [wide, wide, narrow], rtol=1e-15)
    assert race.b.tolist() == [0, 1]
    assert race.c.tolist() == [1, 0]
    np.testing.assert_allclose(race.W, [2 * wide, 2 * wide], rtol=1e-15)
    assert not race.certified.any()


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
    view = view_of([[0.9, 0.2], [0.1, 0.9]], [40, 40])
    arm = policies.select_width_guided(policy, view, coins_at(80))
    assert view.certificate is not None
    assert view.certificate.arm == arm
    assert view.certificate.t == 80
    # The mean difference equals the width exactly: L_b = U_c is no certificate.
    beta = 0.25
    exact = WidthGuided(c=beta**2 * 4 / log(1000))
    level = view_of([[0.75, 0.0], [0.25, 0.0]], [4, 4])
    assert policies.races(exact, level, coins_at(8)).beta[0] == beta
    policies.select_width_guided(exact, level, coins_at(8))
    assert level.certificate is None
    # Objective 0 certifies with the wider pair (arms 0 and 1), objective 1 with 2 and 3.
    both = view_of([[0.9, 0.0], [0.1, 0.0], [0.0, 0.9], [0.0, 0.1]], [40, 40, 50, 50])
    policies.select_width_guided(policy, both, coins_at(180))
    assert both.certificate == policies.Certificate(180, 0, 0)


def test_a_stored_certificate_is_final() -> None:
    view = view_of([[0.1, 0.1], [0.9, 0.9]], [5, 5])
    view.certificate = policies.Certificate(9, 0, 1)
    assert policies.select_width_guided(WidthGuided(), view, coins_at(10)) == 0


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


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 6), st.integers(1, 4)),
        elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
    )
)
def test_nondominated_is_the_pareto_front(vectors: Any) -> None:
    np.testing.assert_array_equal(policies.nondominated(vectors), pareto.front(vectors))


def test_pareto_ucb1_spreads_over_the_optimistic_front() -> None:
    means = [[0.9, 0.1], [0.1, 0.9], [0.05, 0.05]]
    assert choices(ParetoUCB1(), means, [100, 100, 100]) == {0, 1}
    assert choices(ParetoUCB1(), means, [100, 100, 1]) == {2}


# Annealing-Pareto.


def test_annealing_keeps_candidates_that_stay_on_the_front() -> None:
    policy = AnnealingPareto(0.5)
    middle = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.4, 0.4]]
    view = view_of(middle, [1, 1, 1, 1])
    view.memory.update(power=0.0)
    policies.select_annealing_pareto(policy, view, coins_at(4, policy.name))
    assert view.memory["candidates"].tolist() == [True, True, True, False]
    view.means[2] = [0.3, 0.3]  # dominated by arm 3 now, and arm 3 is out for good
    policies.select_annealing_pareto(policy, view, coins_at(5, policy.name))
    assert view.memory["candidates"].tolist() == [True, True, False, False]
    view.means[3] = [1.5, 0.4]  # until it is best on an objective
    policies.select_annealing_pareto(policy, view, coins_at(6, policy.name))
    assert view.memory["candidates"].tolist() == [False, True, False, True]


def test_annealing_tolerance_starts_at_one_over_k_d() -> None:
    policy = AnnealingPareto(0.4)
    view = view_of([[0.9, 0.9], [0.66, 0.0], [0.64, 0.0]], [1, 1, 1], t=3)
    view.memory.update(candidates=np.zeros(3, dtype=np.bool_))
    view.means *= 1.0
    policies.select_annealing_pareto(policy, view, coins_at(3, policy.name))
    assert view.memory["candidates"].tolist() == [True, False, False]
    assert view.memory["power"] == 0.4
    view.means[1, 0] = 0.9 - 1 / 6 * 0.4 + 1e-9
    policies.select_annealing_pareto(policy, view, coins_at(4, policy.name))
    assert view.memory["candidates"].tolist() == [True, True, False]
    assert view.memory["power"] == 0.4 * 0.4


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
    picks = []
    for t in range(200, 204):
        view = view_of(means, [100, 100], t=t)
        picks.append(policies.select_scalarized_ucb(policy, view, coins_at(t, policy.name)))
    assert picks == [0, 1, 0, 1]


# KL-UCB.


@given(st.floats(0, 1), st.integers(1, 10**6), st.floats(0, 20))
def test_klucb_index_solves_its_equation(p: float, n: int, level: float) -> None:
    q = policies.klucb_index(p, n, level)
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
    view = view_of(means[:, None], counts, horizon=10**6, t=t)
    chosen = policies.select_klucb(policies.KLUCB(), view, coins_at(t, "kl-ucb"))
    indices = [policies.klucb_index(p, int(n), level) for p, n in zip(means, counts)]
    assert indices[chosen] == max(indices)
    same = (sums == sums[chosen]) & (counts == counts[chosen])
    assert chosen == np.flatnonzero(same)[0]
    if loop.has_kernel(policies.KLUCB()):
        from momab.engine import _kernels

        state = np.zeros((4, 8))
        state[0] = np.where(np.arange(8) < len(counts), 1.0, -1e9)
        leader, bar = _kernels._klucb_leader(state, means, counts, level, np.zeros(8))
        assert leader == chosen
        if bar < 1:  # it was decided without the indices
            others = np.delete(indices, chosen)
            assert max(others) < bar - 1e-9
            assert bar < state[1, chosen] < indices[chosen] + 1.1e-9
        exact = _kernels._choose_klucb(means, counts, level, np.zeros(8), 0.0)
        assert exact == chosen


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
    kernels = pytest.importorskip("momab.engine._kernels", reason="skipped: needs numba")
    mean, level = math.floor(n * p) / n, log(t)
    index = policies.klucb_index(mean, n, level)
    state = np.full((4, 1), mean + start * (1 - mean))
    kernels._klucb_bounds(state, 0, mean, n, level, steps)
    high, low, slope, found = state[:, 0]
    assert low - 1.1e-9 <= index <= high
    assert found == level
    assert policies.klucb_index(mean, n, level + later) <= high + slope * later
    if steps == 12 and 0 < mean < 1 and 0.1 < start < 0.9 and n > 100:
        assert high - low <= 1e-9  # sharp enough to decide


def test_klucb_looks_at_its_objective_only() -> None:
    means = [[0.9, 0.1], [0.1, 0.9]]
    assert choices(policies.KLUCB(), means, [100, 100]) == {0}
    assert choices(policies.KLUCB(1), means, [100, 100]) == {1}


# A policy of one's own, as in the docstring of the base module.


@dataclass(frozen=True)
class Greedy:
    """Pull the arm with the best mean over the objectives."""

    name: ClassVar[str] = "greedy"
    label: ClassVar[str] = "Greedy"


def test_a_policy_takes_one_record_and_one_function() -> None:
    @policies.selection(Greedy)
    def select_greedy(policy: Greedy, view: View, coin: Coins) -> int:
        return coin.choose(policies.top(view.means.mean(axis=1)), slot=0)

    try:
        assert policies.make_policy("greedy") == Greedy()
        assert not loop.has_kernel(Greedy())
        block = loop.play_block(instances.synthetic(0.1, 2), Greedy(), 200, 1, 0, 3, arms=True)
        assert block.pulls.sum() == 600
        with pytest.raises(MomabError, match='engine="numba" cannot be used'):
            loop.play_block(instances.zero_gap(), Greedy(), 20, 1, 0, 1, engine="numba")
    finally:
        del policies.SELECTIONS[Greedy]


@dataclass(frozen=True)
class Variation(WidthGuided):
    """A subclass is another policy: it must not run in its parent's kernel."""


def test_a_subclass_needs_its_own_selection() -> None:
    with pytest.raises(MomabError, match="is not a policy"):
        loop.play_block(instances.zero_gap(), Variation(), 20, 1, 0, 1)


# Observers.


def test_an_observer_sees_every_race_until_the_commitment() -> None:
    instance, policy, T = instances.synthetic(0.12, 1), WidthGuided(0.05), 500
    seen: list[tuple[int, int, bool]] = []

    def observer(view: View, coins: Coins, arm: int) -> None:
        assert coins.t == view.t
        again = policies.races(policy, view, coins)  # a pure function: asking twice is harmless
        race = view.details
        assert isinstance(race, Races)
        if view.certificate is None:
            np.testing.assert_array_equal(again.U, race.U)
            np.testing.assert_array_equal(again.b, race.b)
            assert arm in (*race.b, *race.c)
            assert (race.b != race.c).all()
        np.testing.assert_array_equal(view.means, view.sums / view.counts[:, None])
        seen.append((view.t, arm, view.certificate is not None))

    block = loop.play(instance, policy, T, 4, 0, arms=True, observer=observer)
    assert [t for t, _, _ in seen] == list(range(20, T))
    assert block.arms is not None
    assert [arm for _, arm, _ in seen] == block.arms[0, 20:].tolist()
    assert sum(committed for _, _, committed in seen) == T - block.cert_round[0]
