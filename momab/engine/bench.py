"""How fast the engine is: nanoseconds per round, and the ratio to the plain loop in one run."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from momab.engine import policies
from momab.engine.loop import has_kernel, play_block
from momab.engine.policies.base import Policy
from momab.model import instances

if TYPE_CHECKING:
    import pandas as pd

SEED = 20260704


def cohorts(seed: int = 0, K: int = 10, d: int = 26) -> instances.Instance:
    """Build an artificial instance of KuaiRec's shape: d lists of 10 to 90 rewards per arm."""
    rng = np.random.default_rng(seed)
    means = 0.35 + 0.3 * rng.random((K, d))
    samples = [
        [np.clip(rng.normal(means[a, j], 0.25, rng.integers(10, 91)), 0, 1) for j in range(d)]
        for a in range(K)
    ]
    return instances.from_samples(samples, name="cohorts (artificial)")


def tracks(seed: int = 0, K: int = 10, d: int = 6) -> instances.Instance:
    """Build an artificial instance of Spotify's shape: 1000 reward rows per arm."""
    rng = np.random.default_rng(seed)
    means = 0.3 + 0.4 * rng.random((K, d))
    tables = [np.clip(rng.normal(means[a], 0.15, (1000, d)), 0, 1) for a in range(K)]
    return instances.from_rows(tables, name="tracks (artificial)")


def bench_instances() -> list[instances.Instance]:
    """Return instances of the paper's three kinds that need no data."""
    return [instances.synthetic(delta=0.02, m=8), tracks(), cohorts()]


def seconds_per_round(
    instance: instances.Instance, policy: Policy, rounds: int, engine: str, repeats: int
) -> float:
    """Return the least processor time per round; rounds after a commitment do not count."""
    best = np.inf
    for repeat in range(repeats):
        runs, played = 1, 0
        began = process_time()
        while played < rounds:  # short runs to the commitment: as many as it takes
            block = play_block(instance, policy, rounds, SEED, repeat, runs, engine=engine)
            played += int(np.where(block.cert_round >= 0, block.cert_round, rounds).sum())
            runs *= 2
        best = min(best, (process_time() - began) / played)
    return float(best)


def measure(
    played_on: Sequence[instances.Instance],
    rounds: int = 300_000,
    plain_rounds: int = 1000,
    repeats: int = 3,
) -> pd.DataFrame:
    """Measure every policy, those of the paper as it ran them, on these instances.

    Columns: instance, K, d, policy, ns (per round, the best of ``repeats``), plain_us
    (microseconds per round of the plain loop over ``plain_rounds`` rounds) and ratio, how many
    times faster the kernel is.  Without numba there is only the plain loop, and the ratio is 1.
    Processor time, one core.
    """
    import pandas as pd

    rows = []
    for instance in played_on:
        for record in policies.registered():
            policy = policies.as_published(record, instance)
            short = max(plain_rounds, instance.K)
            plain = seconds_per_round(instance, policy, short, "python", 1)
            fast = plain
            if has_kernel(policy):
                play_block(instance, policy, instance.K + 2, SEED, 0, 1)  # compile or load
                fast = seconds_per_round(instance, policy, max(rounds, short), "numba", repeats)
            rows.append(
                {
                    "instance": instance.name,
                    "K": instance.K,
                    "d": instance.d,
                    "policy": policy.name,
                    "ns": round(fast * 1e9, 1),
                    "plain_us": round(plain * 1e6, 1),
                    "ratio": round(plain / fast, 1),
                }
            )
    return pd.DataFrame(rows)
