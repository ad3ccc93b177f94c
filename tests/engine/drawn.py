"""Random instances and policies for the comparisons of engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from momab.engine import loop
from momab.engine.driver import RunBlock
from momab.engine.policies.base import Given, Policy, seat
from momab.errors import MomabError
from momab.model import instances

SOURCES = ("bernoulli", "duplicated", "rows", "samples")

ARRAYS = (
    "pulls",
    "tail_pulls",
    "certificates",
    "checkpoint_pulls",
    "sums",
    "arms",
)


def played(*common: Any, engine: str = "auto", **wanted: Any) -> RunBlock:
    """Play a block; after the checkpoints may follow whether sums and arms are wanted."""
    more = dict(zip(("final_sums", "arms"), common[7:]))
    return loop.play_block(*common[:7], engine=engine, **more, **wanted)


def assert_same(one: RunBlock, other: RunBlock) -> None:
    """All arrays of two blocks are equal, digit for digit."""
    # arms first: the first differing round says most.
    for name in reversed(ARRAYS):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def random_instance(rng: np.random.Generator, source: str) -> instances.Instance:
    """Small and large, smooth and full of ties."""
    K = int(rng.integers(2, 10) if rng.random() < 0.8 else rng.integers(10, 31))
    d = int(rng.integers(1, 7) if rng.random() < 0.7 else rng.integers(7, 31))
    levels = int(rng.integers(2, 9))

    def draw(*shape: int) -> Any:
        if rng.random() < 0.5:
            return rng.integers(0, levels, shape) / (levels - 1)
        return rng.random(shape)

    if source in ("bernoulli", "duplicated"):
        means = draw(K, d)
        if rng.random() < 0.4:
            means[rng.integers(K)] = means[rng.integers(K)]
        if source == "bernoulli":
            return instances.bernoulli(means)
        return instances.duplicated_coordinates(means[:, 0], d)
    if source == "rows":
        tables = [draw(int(rng.integers(1, 9)), d) for _ in range(K)]
        if rng.random() < 0.4:
            tables[0] = tables[-1]
        return instances.from_rows(tables)
    return instances.from_samples(
        [[draw(int(rng.integers(1, 20))) for _ in range(d)] for _ in range(K)]
    )


def random_policy(record: Any, rng: np.random.Generator, instance: instances.Instance) -> Policy:
    """Draw the options of a record from its good values until they suit the instance."""
    while True:
        values = getattr(record, "good_options", {})
        policy: Policy = record(
            **{name: some[rng.integers(len(some))] for name, some in values.items()}
        )
        try:
            loop.play_block(instance, policy, instance.K + 1, 0, 0, 1, engine="python")
        except MomabError:
            continue
        return policy


def state_of(policy: Policy, means: Any, counts: Any, horizon: int = 1000) -> Any:
    """A player of a policy that has seen these means and counts."""
    mu, n = np.asarray(means, dtype=np.float64), np.asarray(counts, dtype=np.int64)
    player = seat(policy, *mu.shape, horizon, Given(front_size=1, champion_objective=0))
    player.means[:], player.counts[:], player.sums[:] = mu, n, mu * n[:, None]
    for a in range(len(n)):
        player.moved(a)
    return player


def crowd(K: int, d: int, seed: int) -> instances.Instance:
    """Arms close to each other with fine-grained rewards: the sets change all the time."""
    rng = np.random.default_rng(seed)
    base = rng.random(d)
    return instances.from_samples(
        [
            [np.clip(base[j] + 0.05 * rng.random() + 0.3 * rng.random(40), 0, 1) for j in range(d)]
            for _ in range(K)
        ]
    )
