"""What every registered policy must keep to; a new one gets these tests by being there."""

from __future__ import annotations

import pickle
import re
from dataclasses import FrozenInstanceError, fields, is_dataclass
from itertools import product
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pandas as pd
import pytest

from momab.cli import specs
from momab.engine import loop, policies, streams
from momab.engine.driver import RunBlock
from momab.engine.policies.base import Policy
from momab.errors import MomabError
from momab.model import instances
from momab.study.simulate import simulate
from tests.engine.drawn import assert_same, crowd, played

RECORDS = [
    record
    for record in policies.registered()
    if record.__module__.startswith("momab.engine.policies.")
]
each_record = pytest.mark.parametrize("record", RECORDS, ids=policies.family_of)


def good(record: Any) -> list[Policy]:
    """The record with every combination of its good options."""
    values = record.good_options
    return [record(**dict(zip(values, some))) for some in product(*values.values())]


def both_engines(*common: Any) -> RunBlock:
    """Play a block compiled and plain, which must agree; return it."""
    slow = played(*common, engine="python")
    if loop.is_compiled(common[1]):
        assert_same(played(*common, engine="numba"), slow)
    return slow


def test_the_paper_and_the_lower_bound_have_their_policies() -> None:
    names = [policies.family_of(record) for record in RECORDS]
    assert names[:4] == ["width-guided", "pareto-ucb1", "annealing-pareto", "scalarized-ucb"]
    assert "kl-ucb" in names
    assert len(set(names)) == len(names)


def test_a_module_registers_itself_by_being_there() -> None:
    modules = {module.name for module in iter_modules(policies.__path__)}
    homes = {record.__module__.rpartition(".")[2] for record in RECORDS}
    assert modules - homes == {"base"}


# The record.


@each_record
def test_the_record_is_frozen_hashable_and_pickles(record: Any) -> None:
    assert is_dataclass(record)
    for policy in good(record):
        again = pickle.loads(pickle.dumps(policy))
        assert again == policy
        assert hash(again) == hash(policy)
    assert hash(record()) == hash(record())
    with pytest.raises(FrozenInstanceError):
        record().c = 3.0
    assert record.__doc__


@each_record
def test_it_has_a_name_and_a_label(record: Any) -> None:
    assert isinstance(record(), Policy)
    assert record().name == policies.family_of(record)
    for policy in good(record):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", policy.name)
        assert policy.name.startswith(policies.family_of(record))
        assert policy.label.strip() == policy.label != ""
        assert record in policies.base.RECORDS


@each_record
def test_it_has_a_style_of_the_palette(record: Any) -> None:
    pytest.importorskip("matplotlib", reason="skipped: needs matplotlib")
    from matplotlib.markers import MarkerStyle

    from momab.chapters.figures.style import PALETTE, POLICY_STYLE

    colour, marker = record.style
    assert POLICY_STYLE[record().label] == (PALETTE[colour], marker)
    MarkerStyle(marker)


@each_record
def test_options_are_validated(record: Any) -> None:
    options = [option.name for option in fields(record)]
    assert sorted(record.good_options) == sorted(record.bad_options) == sorted(options)
    for name, values in record.bad_options.items():
        for value in values:
            with pytest.raises(MomabError) as error:
                record(**{name: value})
            assert str(error.value).startswith(name)
            assert str(error.value).endswith(".")
            assert "\n" not in str(error.value)
    with pytest.raises(MomabError, match="has no option 'colour'"):
        policies.make_policy(policies.family_of(record), colour="red")


@each_record
def test_it_can_be_named_on_the_command_line(record: Any) -> None:
    family = policies.family_of(record)
    assert specs.policy(family) == policies.make_policy(family) == record()
    for policy in good(record):
        options = {field.name: getattr(policy, field.name) for field in fields(record)}
        if any(isinstance(value, tuple) for value in options.values()):
            continue  # not a word
        words = ",".join(f"{name.replace('_', '-')}={value}" for name, value in options.items())
        assert specs.policy(f"{family}:{words}") == policy


def test_the_standard_policies_are_those_with_a_place() -> None:
    places = [record.place for record in policies.standard()]
    assert places == sorted(set(places))
    assert specs.policies(()) == [record() for record in policies.standard()]
    assert specs.policies(["kl-ucb"]) == [policies.KLUCB()]


# Coins.


@each_record
def test_its_name_or_its_key_opens_the_coins(record: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def noted(name: str, *given: Any) -> streams.Coins:
        opened.append(name)
        return streams.coins_for(name, *given)

    monkeypatch.setattr(loop, "coins_for", noted)
    instance = instances.synthetic(0.1, 2, K=6)
    for policy in good(record):
        opened.clear()
        played(instance, policy, 8, 1, 0, 1, engine="python")
        assert opened == [policies.coins_of(policy)]
        assert policy.name.startswith(opened[0])


def test_all_keys_have_their_own_coins() -> None:
    names = {policies.coins_of(policy) for record in RECORDS for policy in good(record)}
    tags = {streams.coin_stream(name) for name in names}
    assert len(tags) == len(names)
    assert streams.REWARDS not in tags


# Compiled and plain.


SAME = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
TIED: dict[str, instances.Instance] = {
    "lasting ties": instances.bernoulli([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0]]),
    "equal arms": instances.bernoulli([[0.0, 0.0], [0.0, 0.0]]),
    "equal rows": instances.from_rows([SAME, SAME, [[0.5, 0.4]]]),
    "constants": instances.from_rows([[[0.2, 0.8]], [[0.8, 0.2]], [[0.5, 0.5]], [[0.5, 0.5]]]),
    "copies": instances.duplicated_coordinates([1.0, 1.0, 0.5], 6),
    "equal copies": instances.duplicated_coordinates([0.5] * 12, 3),
}


@each_record
@pytest.mark.parametrize("name", TIED)
def test_exact_ties_are_broken_alike(record: Any, name: str) -> None:
    policy = record(c=0.1) if record is policies.WidthGuided else record()
    block = both_engines(TIED[name], policy, 300, 11, 0, 2, [50, 300], True, True)
    if name == "equal arms":  # the pulls are spread
        assert block.pulls.min() > 75 or record is policies.AnnealingPareto


@each_record
@pytest.mark.parametrize("T", [20, 21])
def test_a_horizon_that_ends_with_the_warm_start(record: Any, T: int) -> None:
    both_engines(instances.synthetic(0.02, 4), record(), T, 3, 0, 2, [0, 5, 16, T], True, True)


def hasty(record: Any) -> Policy:
    """The record with the smallest coefficient that it has: it commits soon, if it commits."""
    options = {name: 0.02 for name in record.good_options if name == "c"}
    policy: Policy = record(**options)
    return policy


@each_record
@pytest.mark.parametrize("engine", loop.ENGINES)
def test_books_agree_with_the_arm_sequence(record: Any, engine: str) -> None:
    T, K = 497, 8
    points = (0, 5, 8, 250, 496, 497)
    common = (instances.synthetic(0.02, 4, K), hasty(record), T, 3, 0, 2, points, True, True)
    if engine in ("numba", "driver"):
        pytest.importorskip("numba", reason="skipped: needs numba")
    block = played(*common, engine=engine)
    for row, arms in enumerate(block.arms):
        counts = np.array([np.bincount(arms[:n], minlength=K) for n in points])
        np.testing.assert_array_equal(block.checkpoint_pulls[row], counts)
        np.testing.assert_array_equal(block.pulls[row], counts[-1])
        np.testing.assert_array_equal(block.tail_pulls[row], np.bincount(arms[397:], minlength=K))
        assert arms[:K].tolist() == list(range(K))


@each_record
def test_final_sums_are_the_sums_of_the_rewards(record: Any) -> None:
    instance = crowd(5, 4, 9)
    stream = streams.RewardStream(streams.reward_arrays(instance.source), 6, 1)
    block = both_engines(instance, hasty(record), 300, 6, 1, 1, (), True)
    for a in range(instance.K):
        total = np.zeros(instance.d)
        for n in range(block.pulls[0, a]):
            total += stream.pull(a, n)
        np.testing.assert_array_equal(block.sums[0, a], total)


@each_record
def test_runs_are_the_same_in_any_block(record: Any) -> None:
    common = (instances.synthetic(0.02, 4), hasty(record), 600, 77)
    whole = played(*common, 5, 9, [100, 600], True, True)
    for run in (5, 8, 13):
        alone = played(*common, run, 1, [100, 600], True, True)
        assert_same(alone, whole.rows(run - 5, run - 4))


# Simulations.


@each_record
def test_simulations_can_be_resumed(record: Any, tmp_path: Any) -> None:
    setting = (instances.synthetic(0.1, 2, K=6), record())
    numbers: dict[str, Any] = {"horizon": 150, "seed": 4, "checkpoints": 5, "workers": 1}
    store = tmp_path / "store"
    simulate(*setting, runs=2, **numbers, store=store)
    before = {path: path.stat().st_mtime_ns for path in store.rglob("runs-*.npz")}
    resumed = simulate(*setting, runs=5, **numbers, store=store)
    after = {path: path.stat().st_mtime_ns for path in store.rglob("runs-*.npz")}
    assert before
    assert before.items() < after.items()
    whole = simulate(*setting, runs=5, **numbers, engine="python")
    for table in ("runs", "pulls", "trajectories"):
        pd.testing.assert_frame_equal(
            getattr(resumed, table), getattr(whole, table), check_exact=True
        )
    assert resumed.runs["policy"].unique().tolist() == [record().label]
