"""Policies that look at one objective only, and which one that is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import momab
from momab.cli import specs
from momab.engine import loop, policies
from momab.engine.policies.base import given_for
from momab.engine.streams import coins_for
from momab.engine.tools import choose
from momab.errors import MomabError
from momab.model import instances
from tests.engine.drawn import assert_same, played, state_of

SCALAR = [momab.KLUCB, momab.SingleUCB1]
each_scalar = pytest.mark.parametrize("record", SCALAR)


def arms_of(instance: instances.Instance, policy: Any, T: int, seed: int, runs: int) -> Any:
    """The arms of some runs, the same compiled and plain."""
    common = (instance, policy, T, seed, 0, runs, [T // 2])
    slow = played(*common, True, True, engine="python")
    if loop.is_compiled(policy):
        assert_same(played(*common, True, True, engine="numba"), slow)
        assert_same(
            played(*common, False, True, engine="numba"),
            played(*common, False, True, engine="python"),
        )
    return slow.arms


@each_scalar
def test_names_tell_the_objective(record: Any) -> None:
    family, title = record.family, record.title
    assert [record(j).name for j in (0, 3, "oracle", "random")] == [
        family,
        f"{family}-3",
        f"{family}-oracle",
        f"{family}-random",
    ]
    assert [record(j).label for j in (0, 3, "oracle", "random")] == [
        title,
        f"{title} (objective 4)",
        f"{title} (oracle)",
        f"{title} (random)",
    ]
    assert specs.policy(f"{family}:objective=oracle") == record("oracle")
    assert record(1.0) == record(1)


@each_scalar
def test_what_is_no_objective_is_refused(record: Any) -> None:
    with pytest.raises(MomabError, match="objective must be one of oracle, random, or a whole"):
        record("first")
    with pytest.raises(MomabError, match="objective must be a whole number >= 0; it is None"):
        record(None)
    with pytest.raises(MomabError, match=r"must be one of 0\.\.1 on this instance; it is 2"):
        played(instances.zero_gap(), record(2), 10, 0, 0, 1)


@each_scalar
def test_the_oracle_is_told_the_champion_objective(record: Any) -> None:
    means = [[0.5, 0.2, 0.5], [0.45, 0.9, 0.4], [0.4, 0.3, 0.45]]
    instance = instances.bernoulli(means)
    assert given_for(instance.means).champion_objective == 1
    arms = arms_of(instance, record("oracle"), 400, 3, 3)
    assert (arms == 1).mean() > 0.6


@each_scalar
def test_a_random_objective_is_drawn_once_per_run(record: Any) -> None:
    means = np.eye(4)  # the arm with the most pulls tells the objective
    runs = 60
    arms = arms_of(instances.bernoulli(means), record("random"), 200, 5, runs)
    favourites = np.array([np.bincount(row[100:], minlength=4).argmax() for row in arms])
    assert np.bincount(favourites, minlength=4).min() >= 5
    for run in range(runs):
        coins = coins_for(record("random").name, 5, run, t=4)
        assert favourites[run] == choose(4, 1, coins)


@each_scalar
def test_the_first_decision_settles_the_objective(record: Any) -> None:
    policy = record("random")
    player = state_of(policy, np.eye(3), [5, 5, 5])
    chosen = player.select(15, coins_for(policy.name, 1, 0, 15))
    for t in range(16, 40):
        assert player.select(t, coins_for(policy.name, 1, 0, t)) == chosen


def test_ucb1_plays_the_textbook() -> None:
    """With one objective and rewards that are certain, the indices can be followed by hand."""
    means = [[0.9], [0.5], [0.2]]
    arms = arms_of(instances.from_rows([[row] for row in means]), momab.SingleUCB1(c=2.0), 60, 1, 1)
    counts = np.zeros(3)
    for t, arm in enumerate(arms[0]):
        if t >= 3:
            index = [means[a][0] + math.sqrt(2 * math.log(t) / counts[a]) for a in range(3)]
            assert arm == int(np.argmax(index))
        counts[arm] += 1


def test_equal_indices_are_decided_by_a_coin() -> None:
    arms = arms_of(instances.from_rows([[[0.5]], [[0.5]], [[0.1]]]), momab.SingleUCB1(), 4, 2, 200)
    share = (arms[:, 3] == 0).mean()
    assert 0.35 < share < 0.65
    assert (arms[:, 3] < 2).all()


def test_no_two_policies_look_alike() -> None:
    styles = {policies.family_of(r): r.style for r in policies.registered() if hasattr(r, "style")}
    assert len(set(styles.values())) == len(styles), styles
