"""One program: compiled and plain are the same, and an accelerator is its policy."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from momab.engine import loop, policies, streams
from momab.engine.accelerators import ACCELERATORS
from momab.engine.policies.base import Policy, coins_of
from momab.engine.policies.kl_ucb import KLUCB
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.policies.pareto_thompson import ParetoThompson
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.tools import UNTIL
from momab.errors import MomabError
from momab.model import instances, numerics
from tests.conftest import ROOT
from tests.engine.drawn import (
    ARRAYS,
    SOURCES,
    assert_same,
    crowd,
    played,
    random_instance,
    random_policy,
)
from tests.engine.formulas import FORMULAS

RECORDS = policies.registered()
each_record = pytest.mark.parametrize("record", RECORDS, ids=policies.family_of)
each_source = pytest.mark.parametrize("source", SOURCES)


@pytest.fixture(scope="module")
def compiled() -> Any:
    pytest.importorskip("numba", reason="skipped: needs numba")
    from momab.engine import compiled

    return compiled


def drawn(record: Any, source: str, batch: int, count: int, most: int) -> Any:
    """Random runs of a policy: what `play_block` is called with."""
    rng = np.random.default_rng([batch, SOURCES.index(source), RECORDS.index(record)])
    for _ in range(count):
        instance = random_instance(rng, source)
        policy = random_policy(record, rng, instance)
        T = instance.K + int(rng.integers(0, 60) if rng.random() < 0.5 else rng.integers(0, most))
        checkpoints = np.sort(rng.integers(0, T + 1, int(rng.integers(0, 6))))
        common = (instance, policy, T, int(rng.integers(2**63)), int(rng.integers(99)), 2)
        yield (*common, checkpoints, bool(rng.random() < 0.5), True)


@each_record
@each_source
def test_compiled_and_plain_are_the_same(compiled: Any, record: Any, source: str) -> None:
    for common in drawn(record, source, 0, 2, 500):
        plain = played(*common, engine="python")
        assert_same(played(*common, engine="driver"), plain)
        assert_same(played(*common, engine="numba"), plain)


@pytest.mark.slow
@each_record
@each_source
@pytest.mark.parametrize("batch", range(1, 4))
def test_many_more_runs_are_the_same(compiled: Any, record: Any, source: str, batch: int) -> None:
    for common in drawn(record, source, batch, 5, 1500):
        plain = played(*common, engine="python")
        assert_same(played(*common, engine="driver"), plain)
        assert_same(played(*common, engine="numba"), plain)


@each_record
@each_source
def test_a_policy_follows_its_formulas(record: Any, source: str) -> None:
    """What ``moved`` keeps up to date is what the formulas say, in every round."""
    formula = FORMULAS[policies.family_of(record)]
    for instance, policy, T, seed, run, *_ in drawn(record, source, 7, 3, 200):
        wrong: list[int] = []

        def note(player: Any, t: int, arm: int, *given: Any) -> None:
            policy, seed, run, wrong = given
            coin = streams.coins_for(coins_of(policy), seed, run, t)
            if formula(player, t, coin) != arm:
                wrong.append(t)

        given = (policy, seed, run, wrong)
        observer = lambda player, t, arm, given=given: note(player, t, arm, *given)  # noqa: E731
        loop.play(instance, policy, T, seed, run, observer=observer)
        assert wrong == []


LONG: list[tuple[instances.Instance, Policy]] = [
    (instances.synthetic(0.02, 8), ParetoUCB1("synthetic")),
    (instances.bernoulli([[0.5, 0.5], [0.5, 0.5], [0.45, 0.45]]), ParetoUCB1(1.5)),
    (instances.bernoulli([[0.5], [0.495], [0.49], [0.45]]), ParetoUCB1(1.5, 0.2)),
    (crowd(10, 12, 2), ParetoUCB1("real")),
    (crowd(8, 3, 1), ParetoUCB1("real", 0.2, stop=True, stop_c=0.3)),
    (instances.random_bernoulli(65, 2, seed=65), ParetoUCB1("real", 0.1)),
    (instances.synthetic(0.1, 2, K=12), ParetoIMED()),
    (crowd(12, 3, 12), ParetoIMED("sum")),
    (crowd(10, 26, 3), ParetoIMED()),
    (crowd(5, 3, 6), KLUCB(1)),
    (instances.duplicated(0.2, 4, 4), KLUCB()),
    (instances.synthetic(0.02, 8), KLUCB("oracle")),
    (instances.synthetic(0.02, 8), ParetoThompson()),
    (crowd(6, 7, 5), ParetoThompson()),
]


@pytest.mark.parametrize(("instance", "policy"), LONG)
def test_an_accelerator_is_its_policy_for_long(
    compiled: Any, instance: instances.Instance, policy: Policy
) -> None:
    slow = isinstance(policy, (KLUCB, ParetoThompson))
    common = (instance, policy, 20_000 if slow else 100_000, 2024, 3, 1, [6_000, 9_000])
    fast = played(*common, True, True, engine="numba")
    assert_same(fast, played(*common, True, True, engine="driver"))


@each_source
@pytest.mark.parametrize("record", ACCELERATORS, ids=policies.family_of)
def test_an_accelerator_is_its_policy_everywhere(compiled: Any, record: Any, source: str) -> None:
    for common in drawn(record, source, 9, 25, 2500):
        assert_same(played(*common, engine="numba"), played(*common, engine="driver"))


@pytest.mark.parametrize("c", [1e-12, 1e-5, 1e3, 1e9, 1e15])
def test_extreme_coefficients(compiled: Any, c: float) -> None:
    stops = ParetoUCB1("real", c, True, 0.3)
    for policy in (WidthGuided(c), ParetoUCB1("real", c), ScalarizedUCB(c=c), stops):
        common = (crowd(5, 3, 7), policy, 600, 1, 0, 1, [300], True, True)
        assert_same(played(*common, engine="numba"), played(*common, engine="python"))


@pytest.mark.parametrize(("K", "d"), [(2, 1), (3, 5), (20, 2), (70, 4), (3, 65)])
def test_arms_that_tie_all_the_time(compiled: Any, K: int, d: int) -> None:
    means = np.full((K, d), 0.5)
    means[0], means[-1] = 1.0, 0.0
    instance = instances.bernoulli(means)
    for record in RECORDS:
        if record is not ParetoThompson:
            common = (instance, record(), K + 120, 11, 0, 2, [K + 100], True, True)
            fast = played(*common, engine="numba")
            assert_same(fast, played(*common, engine="python"))


# Streams.

VECTORS = [  # Random123, known answers of philox4x32-10: counter, key, words
    ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


def numbers(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "words"), VECTORS)
def test_philox_gives_the_published_words(counter: str, key: str, words: str) -> None:
    low, high = numbers(key)
    assert streams.philox(numbers(counter), low | high << 32).tolist() == numbers(words)


@pytest.mark.parametrize(("counter", "key", "words"), VECTORS)
def test_the_compiled_coins_too(compiled: Any, counter: str, key: str, words: str) -> None:
    t, group, run, stream = numbers(counter)
    low, high = numbers(key)
    coin = streams.Coins(np.array([t]), np.array([run]), stream, low, high)
    assert list(compiled.alone(streams.four_words)(coin, group)) == numbers(words)
    for lane in range(4):
        assert compiled.alone(streams.word)(coin, 4 * group + lane) == numbers(words)[lane]
    assert streams.four_words(coin, group) == tuple(numbers(words))


def test_a_reward_is_a_function_of_seed_run_arm_and_pull() -> None:
    source = instances.random_bernoulli(3, 5, seed=1).source
    stream = streams.RewardStream(streams.reward_arrays(source), seed=12, run=4)
    sequence = [stream.pull(2, n) for n in range(100)]
    fresh = streams.RewardStream(streams.reward_arrays(source), seed=12, run=4)
    for n in (99, 3, 57, 0):
        np.testing.assert_array_equal(fresh.pull(2, n), sequence[n])
    assert not np.array_equal(stream.batch(1, 0, 100), sequence)
    other_run = streams.RewardStream(streams.reward_arrays(source), seed=12, run=5)
    assert not np.array_equal(other_run.batch(2, 0, 100), sequence)


def test_words_are_numbered_across_blocks() -> None:
    words = streams.reward_words(seed=9, run=2, arm=7, first=0, count=50)
    for first in range(10):
        part = streams.reward_words(seed=9, run=2, arm=7, first=first, count=11)
        np.testing.assert_array_equal(part, words[first : first + 11])
    assert int(words[6]) == int(streams.philox((1, 7, 2, 0), 9)[2])


def test_certain_and_impossible_coordinates() -> None:
    source = instances.bernoulli([[0.0, 1.0, 0.5], [1.0, 0.0, 0.5]]).source
    draws = streams.RewardStream(streams.reward_arrays(source), 5, 0).batch(0, 0, 4000)
    assert draws[:, 0].sum() == 0
    assert draws[:, 1].sum() == 4000
    assert 1800 < draws[:, 2].sum() < 2200


def test_logarithm_is_within_one_ulp_and_the_same_compiled(compiled: Any) -> None:
    rng = np.random.default_rng(3)
    xs = np.concatenate(
        [
            10.0 ** rng.uniform(-300, 300, 5000),
            1 + rng.uniform(-0.3, 0.45, 5000),
            np.arange(1.0, 3000.0),
            [math.sqrt(0.5), math.nextafter(math.sqrt(0.5), 0), 5e-324, 1.7e308],
        ]
    )
    fast = compiled.alone(numerics.log)
    for x in xs.tolist():
        ours = numerics.log(x)
        assert abs(ours - math.log(x)) <= math.ulp(math.log(x))
        assert fast(x) == ours
    assert numerics.log(1.0) == 0.0


# Commitments.


def test_commitment_in_closed_form_equals_the_pulls_one_by_one() -> None:
    instance, policy, T = instances.synthetic(0.12, 1), WidthGuided(0.02), 3000
    common = (instance, policy, T, 5, 2, 1, [0, 1, 20, 21, 500, 2399, 2400, 2401, 3000])
    closed = played(*common, False, True)
    literal = played(*common, True, True)  # final sums need every reward
    for name in ARRAYS:
        if name != "sums":
            np.testing.assert_array_equal(getattr(closed, name), getattr(literal, name))
    assert 20 <= closed.cert_round[0] < 2000
    assert (closed.arms[0, closed.cert_round[0] :] == closed.cert_arm[0]).all()


def test_an_observer_sees_every_decision_until_the_commitment() -> None:
    instance, policy, T = instances.synthetic(0.12, 1), WidthGuided(0.05), 500
    seen: list[tuple[int, int, bool]] = []

    def observer(player: Any, t: int, arm: int) -> None:
        assert arm in (*player.b, *player.challenger)
        np.testing.assert_array_equal(player.means, player.sums / player.counts[:, None])
        seen.append((t, arm, player.commitment[UNTIL] >= 0))

    block = loop.play(instance, policy, T, 4, 0, arms=True, observer=observer)
    stop = int(block.cert_round[0])
    assert [t for t, _, _ in seen] == list(range(20, stop + 1))
    assert [arm for _, arm, _ in seen] == block.arms[0, 20 : stop + 1].tolist()
    assert [committed for _, _, committed in seen] == [False] * (stop - 20) + [True]


# Without numba.

WITHOUT_NUMBA = """
import sys
if {blocked}:
    class Block:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] == "numba":
                raise ImportError("numba is blocked")
    sys.meta_path.insert(0, Block())
import hashlib, json
from momab.engine import loop
from momab.engine.policies import WidthGuided, registered
from momab.model import instances
assert "numba" not in sys.modules
digests = []
for policy in (*(record() for record in registered()), WidthGuided(0.05)):
    common = (instances.synthetic(0.02, 4), policy, 60, 3, 0, 2, [50])
    block = loop.play_block(*common, final_sums=True, arms=True)
    text = b"".join(getattr(block, name).tobytes() for name in {arrays!r})
    digests.append(hashlib.sha256(text).hexdigest())
print(json.dumps([loop.is_compiled(WidthGuided()), digests]))
try:
    loop.play_block(instances.zero_gap(), WidthGuided(), 9, 0, 0, 1, engine="numba")
except ValueError as error:
    print(error)
"""


def test_the_same_digits_without_numba(compiled: Any) -> None:
    outputs = []
    for blocked in (False, True):
        code = WITHOUT_NUMBA.format(blocked=blocked, arrays=ARRAYS)
        result = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
        )
        outputs.append(result.stdout.splitlines())
    (with_numba, fast), (without_numba, slow) = (json.loads(lines[0]) for lines in outputs)
    assert with_numba is True
    assert without_numba is False
    assert fast == slow
    assert outputs[1][1] == (
        'engine="numba" cannot be used: numba is not installed; use "auto" or "python".'
    )


# Bad input.

GOOD: dict[str, Any] = {
    "instance": instances.zero_gap(),
    "policy": WidthGuided(),
    "horizon": 10,
    "seed": 0,
    "run_start": 0,
    "count": 1,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"horizon": 1}, "at least the number of arms, 2"),
        ({"horizon": 2.5}, "horizon"),
        ({"horizon": 2**33}, "at most 4294967296 with 2 random words per pull"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, r"the seed must lie in 0..2\*\*64 - 1"),
        ({"run_start": 2**32}, r"run numbers must lie in 0..2\*\*32 - 1"),
        ({"run_start": -1}, "first run"),
        ({"count": 0}, "number of runs"),
        ({"checkpoints": [3, 2]}, "sorted"),
        ({"checkpoints": [-1, 2]}, "starting at 0"),
        ({"checkpoints": [11]}, "must not exceed the horizon, 10"),
        ({"checkpoints": [0.5]}, "whole numbers"),
        ({"engine": "gpu"}, "engine must be one of auto, numba, driver, python; it is 'gpu'"),
        ({"policy": "width-guided"}, "is not a policy"),
        (
            {"policy": ScalarizedUCB(((0.5, 0.25, 0.25),))},
            "one entry per objective, 2; they have 3",
        ),
        ({"policy": KLUCB(2)}, "objective must be one of 0..1 on this instance; it is 2"),
    ],
)
def test_bad_input_is_explained(change: dict[str, Any], message: str) -> None:
    with pytest.raises(MomabError, match=message):
        loop.play_block(**{**GOOD, **change})


def test_a_long_horizon_with_many_words_is_refused() -> None:
    wide = instances.random_bernoulli(2, 26, seed=0)
    with pytest.raises(MomabError, match="at most 660764199 with 26 random words per pull"):
        loop.play_block(wide, WidthGuided(), 660_764_200, 0, 0, 1)


# The twin for the browser.


def test_the_engine_of_the_live_pages_says_what_it_mirrors() -> None:
    """Every function that the head of engine.c names is there, in C and in Python."""
    source = (ROOT / "book" / "live" / "engine.c").read_text()
    table = source.partition("otherwise:\n\n")[2].partition("\n\n")[0]
    table = re.sub(r"\n {39}", " ", table)  # one line each
    rows = [
        re.split(r" {2,}| (?=policies/)", line.strip(), maxsplit=1) for line in table.split("\n")
    ]
    assert len(rows) == 12
    for functions, mirrored in rows:
        for name in functions.split(", "):
            assert re.search(rf"^\S.*\b{name}\)?\(.*{{", source, re.M), name
        for part in mirrored.split("; "):
            path, _, names = part.partition(".py: ")
            path = path if path.startswith("momab/") else f"momab/engine/{path}"
            module = import_module(path.replace("/", "."))
            for name in names.split(", "):
                assert callable(attrgetter(name)(module)), (path, name)
