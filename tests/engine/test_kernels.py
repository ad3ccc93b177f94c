"""Every engine makes the same digits: streams, kernels, the plain loop, with and without numba."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from momab.engine import loop, streams
from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.anytime import AnytimeWidthGuided
from momab.engine.policies.base import Policy
from momab.engine.policies.kl_ucb import KLUCB
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB
from momab.engine.policies.width_guided import OBJECTIVE_RULES, WidthGuided
from momab.errors import MomabError
from momab.model import instances, numerics
from tests.engine.drawn import ARRAYS, assert_same, crowd, random_instance


@pytest.fixture(scope="module")
def kernels() -> Any:
    pytest.importorskip("numba", reason="skipped: needs numba")
    from momab.engine import _kernels

    return _kernels


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
def test_the_compiled_philox_too(kernels: Any, counter: str, key: str, words: str) -> None:
    block, slot, run, stream = (np.uint64(c) for c in numbers(counter))
    low, high = (np.uint64(k) for k in numbers(key))
    out = np.zeros(8, dtype=np.uint32)
    kernels._fill(out, block, 1, slot, run, stream, low, high)
    assert out[:4].tolist() == numbers(words)
    for lane in range(4):
        number = 4 * int(slot) + lane
        if number < 2**63:
            word = kernels._coin(int(block), number, run, stream, low, high)
            assert int(word) == numbers(words)[lane]


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


def test_logarithm_is_within_one_ulp_and_the_same_compiled(kernels: Any) -> None:
    rng = np.random.default_rng(3)
    xs = np.concatenate(
        [
            10.0 ** rng.uniform(-300, 300, 5000),
            1 + rng.uniform(-0.3, 0.45, 5000),
            np.arange(1.0, 3000.0),
            [math.sqrt(0.5), math.nextafter(math.sqrt(0.5), 0), 5e-324, 1.7e308],
        ]
    )
    for x in xs.tolist():
        ours = numerics.log(x)
        assert abs(ours - math.log(x)) <= math.ulp(math.log(x))
        assert kernels._log(x) == ours
    assert numerics.log(1.0) == 0.0


# Kernels against the plain loop.


def test_weight_vectors_of_ones_own(kernels: Any) -> None:
    rng = np.random.default_rng(17)
    for _ in range(8):
        instance = random_instance(rng, "samples")
        shape = int(rng.integers(1, 5)), instance.d
        grid = rng.integers(0, 3, shape) + np.eye(1, instance.d, dtype=int)
        rows = tuple(map(tuple, grid / grid.sum(axis=1, keepdims=True)))
        policy = ScalarizedUCB(rows, float(rng.choice([0.001, 0.1, 2.0])))
        common = (instance, policy, instance.K + 300, int(rng.integers(2**63)), 0, 2, [200])
        fast = loop.play_block(*common, True, True, "numba")
        assert_same(fast, loop.play_block(*common, True, True, "python"))


LONG: list[tuple[instances.Instance, Policy, int]] = [
    (instances.synthetic(0.02, 8), ParetoUCB1("synthetic"), 20_000),
    (instances.synthetic(0.02, 8), WidthGuided(), 6_000),
    (instances.synthetic(0.02, 4), AnnealingPareto(), 20_000),
    (crowd(8, 3, 1), ParetoUCB1("real", 0.2), 15_000),
    (crowd(10, 12, 2), ParetoUCB1("real"), 8_000),
    (crowd(8, 5, 3), AnnealingPareto(), 15_000),
    (crowd(6, 8, 4), WidthGuided(0.3), 8_000),
    (crowd(6, 7, 5), ScalarizedUCB(), 8_000),
    (crowd(5, 3, 6), KLUCB(1), 8_000),
    (instances.duplicated(0.2, 4, 4), KLUCB(), 8_000),
]


def compare_long(instance: instances.Instance, policy: Policy, T: int) -> None:
    common = (instance, policy, T, 2024, 3, 1, [T // 3, T // 2, T])
    fast = loop.play_block(*common, True, True, "numba")
    assert_same(fast, loop.play_block(*common, True, True, "python"))


@pytest.mark.parametrize(("instance", "policy", "T"), LONG)
def test_longer_runs_agree(
    kernels: Any, instance: instances.Instance, policy: Policy, T: int
) -> None:
    compare_long(instance, policy, T // 5)


@pytest.mark.slow
@pytest.mark.parametrize(("instance", "policy", "T"), LONG)
def test_long_runs_agree(
    kernels: Any, instance: instances.Instance, policy: Policy, T: int
) -> None:
    compare_long(instance, policy, T)


# The boxes of the Pareto UCB1 kernel matter most when arms have been pulled 10^5 times.
HARD: list[tuple[Any, float]] = [
    ([[0.5, 0.5], [0.5, 0.5], [0.45, 0.45]], 2.0),
    ([[0.5, 0.5], [0.49, 0.49], [0.48, 0.48]], 0.5),
    ([[0.5, 0.5, 0.5], [0.5, 0.5, 0.49], [0.49, 0.49, 0.5], [0.4, 0.4, 0.4]], 1.0),
    ([[0.5], [0.495], [0.49], [0.45]], 0.2),
]


@pytest.fixture(scope="module")
def naive(kernels: Any) -> Any:
    """A kernel for Pareto UCB1 without any shortcut."""
    from numba import njit

    @njit  # type: ignore[untyped-decorator]
    def play(rewards: Any, T: int, q: float, c: float, run: Any, stream: Any, key: Any) -> Any:
        K, _, d = rewards.shape
        counts, sums, arms = np.zeros(K, np.int64), np.zeros((K, d)), np.zeros(T, np.int32)
        V, members = np.zeros((K, d)), np.zeros(K, np.int64)
        for t in range(T):
            arm = t
            if t >= K:
                clog = c * kernels._log(t * q)
                for a in range(K):
                    V[a] = sums[a] / counts[a] + math.sqrt(clog / counts[a])
                size = 0
                for a in range(K):
                    dominated = False
                    for f in range(K):
                        if (V[f] >= V[a]).all() and (V[f] > V[a]).any():
                            dominated = True
                    if not dominated:
                        members[size] = a
                        size += 1
                word = kernels._coin(t, 0, run, stream, key, np.uint64(0))
                arm = members[np.int64((word * np.uint64(size)) >> np.uint64(32))]
            sums[arm] += rewards[arm, counts[arm]]
            counts[arm] += 1
            arms[t] = arm
        return arms

    return play


def compare_naive(naive: Any, means: Any, c: float, T: int) -> None:
    seed, policy = 5, ParetoUCB1(1.5, c)
    instance = instances.bernoulli(means)
    source = streams.RewardStream(streams.reward_arrays(instance.source), seed, 2)
    rewards = np.stack([source.batch(a, 0, T) for a in range(instance.K)])
    stream = np.uint64(streams.coin_stream(policy.name))
    slow = naive(rewards, T, 1.5, c, np.uint64(2), stream, np.uint64(seed))
    fast = loop.play_block(instance, policy, T, seed, 2, 1, arms=True, engine="numba")
    assert fast.arms is not None
    np.testing.assert_array_equal(fast.arms[0], slow)


@pytest.mark.parametrize(("means", "c"), HARD)
def test_very_long_runs_agree_with_a_naive_kernel(naive: Any, means: Any, c: float) -> None:
    compare_naive(naive, means, c, 60_000)


@pytest.mark.slow
@pytest.mark.parametrize(("means", "c"), HARD)
def test_half_a_million_rounds_agree_with_a_naive_kernel(naive: Any, means: Any, c: float) -> None:
    compare_naive(naive, means, c, 500_000)


@pytest.mark.parametrize("c", [1e-12, 1e-5, 1e3, 1e9, 1e15])
def test_extreme_coefficients(kernels: Any, c: float) -> None:
    for policy in (WidthGuided(c), ParetoUCB1("real", c), ScalarizedUCB(c=c)):
        common = (crowd(5, 3, 7), policy, 1500, 1, 0, 1, [700])
        fast = loop.play_block(*common, True, True, "numba")
        assert_same(fast, loop.play_block(*common, True, True, "python"))


@pytest.mark.parametrize("K", [2, 3, 20, 70])
@pytest.mark.parametrize("d", [1, 2, 4, 5])
def test_arms_that_tie_all_the_time(kernels: Any, K: int, d: int) -> None:
    means = np.full((K, d), 0.5)
    means[0], means[-1] = 1.0, 0.0
    instance = instances.bernoulli(means)
    for policy in (WidthGuided(0.3), AnytimeWidthGuided(0.1), ParetoUCB1("real", 0.3)):
        common = (instance, policy, K + 250, 11, 0, 2, [K + 100])
        fast = loop.play_block(*common, True, True, "numba")
        assert_same(fast, loop.play_block(*common, True, True, "python"))


@pytest.mark.parametrize("rule", OBJECTIVE_RULES)
def test_several_objectives_certify_at_once(kernels: Any, rule: str) -> None:
    means = np.full((4, 6), 0.1)
    means[0] = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    means[1] = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    common = (instances.bernoulli(means), WidthGuided(0.05, rule), 300, 8, 0, 60)
    fast = loop.play_block(*common, (), False, True, "numba")
    assert_same(fast, loop.play_block(*common, (), False, True, "python"))
    assert (fast.cert_round >= 0).all()
    assert set(fast.cert_arm.tolist()) == {0, 1}
    assert len(set(fast.cert_objective.tolist())) > 2


@pytest.mark.parametrize("engine", ["numba", "python"])
def test_commitment_in_closed_form_equals_the_literal_loop(kernels: Any, engine: str) -> None:
    instance, policy, T = instances.synthetic(0.12, 1), WidthGuided(0.02), 3000
    checkpoints = [0, 1, 20, 21, 500, 2399, 2400, 2401, 3000]
    block = loop.play_block(instance, policy, T, 5, 2, 1, checkpoints, False, True, engine)
    literal = loop.play(
        instance, policy, T, 5, 2, checkpoints=checkpoints, arms=True, observer=lambda *_: None
    )
    assert_same(block, literal)
    assert 20 <= block.cert_round[0] < 2000
    assert block.arms is not None
    assert (block.arms[0, block.cert_round[0] :] == block.cert_arm[0]).all()


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
from momab.engine import loop as plain
from momab.engine.policies import ParetoUCB1, WidthGuided, registered
from momab.model import instances
assert "numba" not in sys.modules
digests = []
for policy in (*(record() for record in registered()), WidthGuided(0.05), ParetoUCB1("real")):
    block = plain.play_block(instances.synthetic(0.02, 4), policy, 200, 3, 0, 2, [100], True, True)
    text = b"".join(getattr(block, name).tobytes() for name in {arrays!r})
    digests.append(hashlib.sha256(text).hexdigest())
print(json.dumps([plain.has_kernel(WidthGuided()), digests]))
try:
    plain.play_block(instances.zero_gap(), WidthGuided(), 9, 0, 0, 1, engine="numba")
except ValueError as error:
    print(error)
"""


def test_the_same_digits_without_numba(kernels: Any) -> None:
    outputs = []
    for blocked in (False, True):
        code = WITHOUT_NUMBA.format(blocked=blocked, arrays=ARRAYS)
        result = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
        )
        outputs.append(result.stdout.splitlines())
    (with_kernel, fast), (without_kernel, slow) = (json.loads(lines[0]) for lines in outputs)
    assert with_kernel is True
    assert without_kernel is False
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
        ({"engine": "gpu"}, "engine must be one of auto, numba, python; it is 'gpu'"),
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
