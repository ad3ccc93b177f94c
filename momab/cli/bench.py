"""How fast the engine is: nanoseconds per round, and ratios within one run.

A time depends on the machine and on what else it does; a ratio of two times that were measured next
to each other hardly does.  So the driver is compared with itself uncompiled, with an accelerator
where there is one, and with the least that a run can cost: drawing the rewards.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from subprocess import CalledProcessError
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from momab._util.validate import FloatArray, whole_number
from momab.engine import loop, policies
from momab.engine.accelerators import ACCELERATORS
from momab.engine.loop import is_compiled, play_block
from momab.engine.policies.base import Policy
from momab.engine.policies.kl_ucb import KLUCB
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.policies.single_ucb1 import SingleUCB1
from momab.engine.streams import (
    Coins,
    Pulls,
    coins_for,
    pulls_for,
    refill,
    reward_arrays,
    validate_streams,
)
from momab.errors import MomabError
from momab.model import instances
from momab.study import smpybandits

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


def seconds_per_draw(instance: instances.Instance, rounds: int, engine: str, repeats: int) -> float:
    """Return the least processor time per round of drawing rewards alone, the arms in turn."""
    best = np.inf
    for repeat in range(repeats):
        began = process_time()
        draw_in_turn(instance, rounds, SEED, repeat, engine)
        best = min(best, (process_time() - began) / rounds)
    return float(best)


def draw_in_turn(
    instance: instances.Instance, rounds: int, seed: int, run: int, engine: str = "auto"
) -> FloatArray:
    """Pull the arms one after the other and return the sums of their rewards, shape (K, d).

    No policy can play for less than the rewards cost, so this is what a policy's time is
    compared with: the same streams and buffers, and nothing to decide.
    """
    arrays = reward_arrays(instance.source)
    rounds = whole_number(rounds, "the number of rounds", least=1)
    validate_streams(arrays, rounds, seed, run)
    sums = np.zeros((arrays.K, arrays.d))
    module = None if engine == "python" else loop.compiler()
    draw = take_turns if module is None else module.alone(take_turns)
    draw(pulls_for(arrays), coins_for("", seed, run), rounds, sums)
    return sums


def take_turns(pulls: Pulls, coin: Coins, rounds: int, sums: FloatArray) -> None:
    """Pull the arms one after the other and add up their rewards, which decides nothing."""
    K, d = sums.shape
    arm, n = 0, 0
    for _ in range(rounds):
        if n >= pulls.stop[arm]:
            refill(pulls, coin, arm, n)
        for j in range(d):
            sums[arm, j] += pulls.ready[arm, n - pulls.first[arm], j]
        arm += 1
        if arm == K:
            arm, n = 0, n + 1


def measure(
    played_on: Sequence[instances.Instance],
    rounds: int = 300_000,
    plain_rounds: int = 1000,
    repeats: int = 3,
) -> pd.DataFrame:
    """Measure every registered policy, as the paper ran it if it did, on these instances.

    One row per instance and policy, the paper's four policies first:

    * ``instance``, ``K``, ``d``, ``policy``: which policy played on which instance;
    * ``ns``: nanoseconds per round of the compiled driver, the best of ``repeats``;
    * ``fast_ns``: of its accelerator, if it has one;
    * ``plain_us``: microseconds per round of plain Python over ``plain_rounds`` rounds;
    * ``draw_ns``: what drawing the rewards alone takes, the arms in turn, from the same buffers;
    * ``over_drawing``: the faster of the first two as a multiple of it.

    Without numba there is only plain Python, and drawing is plain as well.  Processor time, one
    core.
    """
    import pandas as pd

    rows = []
    for instance in played_on:
        drawing = None
        for record in policies.registered():
            policy = policies.as_published(record, instance)
            short = max(plain_rounds, instance.K)
            plain = seconds_per_round(instance, policy, short, "python", 1)
            compiled = is_compiled(policy)
            engines = ["driver"] * compiled + ["numba"] * (compiled and record in ACCELERATORS)
            times = []
            for engine in engines:
                play_block(instance, policy, instance.K + 2, SEED, 0, 1, engine=engine)  # compile
                times.append(seconds_per_round(instance, policy, rounds, engine, repeats))
            if drawing is None:
                draw_in_turn(instance, 1, SEED, 0)
                pulls, engine = (rounds, "numba") if compiled else (short, "python")
                drawing = seconds_per_draw(instance, pulls, engine, 5 * repeats)
            rows.append(
                {
                    "instance": instance.name,
                    "K": instance.K,
                    "d": instance.d,
                    "policy": policy.name,
                    "ns": round(times[0] * 1e9, 1) if times else np.nan,
                    "fast_ns": round(times[1] * 1e9, 1) if len(times) > 1 else np.nan,
                    "plain_us": round(plain * 1e6, 1),
                    "draw_ns": round(drawing * 1e9, 1),
                    "over_drawing": round(min([plain, *times]) / drawing, 1),
                }
            )
    return pd.DataFrame(rows)


THEIRS: dict[str, Policy] = {"UCB": SingleUCB1(), "klUCB": KLUCB(), "IMED with kl": ParetoIMED()}
"""Policies of SMPyBandits, and ours that do the same on one objective."""


def beside_smpybandits(python: str | Path, rounds: int = 200_000, runs: int = 5) -> pd.DataFrame:
    """Measure our policies and those of SMPyBandits on one objective, one after the other.

    ``python`` is the interpreter of an environment that has SMPyBandits.  One row per policy:
    ``ns`` of our faster player and ``theirs_ns`` per round, ``plain_ns`` of plain Python, and
    ``ratio``, of theirs to ours.
    """
    import pandas as pd

    arms = instances.bernoulli([[p] for p in smpybandits.MEANS])
    try:
        played = pd.read_csv(StringIO(smpybandits.output_of(python, runs)))
    except (OSError, CalledProcessError) as error:
        reason = getattr(error, "strerror", None) or "it says why above"
        raise MomabError(f"{python} cannot play SMPyBandits: {reason}.") from None
    rows = []
    for name, policy in THEIRS.items():
        theirs = played.loc[played["policy"] == name, "nanoseconds"].min()
        play_block(arms, policy, arms.K + 2, SEED, 0, 1)  # compile
        ours = 1e9 * seconds_per_round(arms, policy, rounds, "auto", 3)
        plain = 1e9 * seconds_per_round(arms, policy, smpybandits.HORIZON, "python", 1)
        row = {"policy": policy.name, "theirs": name, "ns": round(ours, 1)}
        row |= {"plain_ns": round(plain), "theirs_ns": round(theirs), "ratio": round(theirs / ours)}
        rows.append(row)
    return pd.DataFrame(rows)
