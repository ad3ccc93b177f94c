"""Runs made by hand or drawn at random, for the audit to judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import FloatArray, positive_number, probability, whole_number
from momab.engine.loop import play_rewards
from momab.engine.policies.base import given_for
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.streams import coins_for
from momab.errors import MomabError
from momab.ledger.auditing.trace import Trace, trace
from momab.model.instances import Instance, random_bernoulli
from momab.model.numerics import log


def play_traces(
    instance: Instance, horizon: int, seed: int, runs: int, c: float = 2.0
) -> list[Trace]:
    """Record runs of Width-guided, each until its certificate."""
    return [trace(instance, WidthGuided(c=c), horizon, seed, run) for run in range(runs)]


def random_traces(
    count: int,
    horizon: int,
    coefficients: Sequence[float],
    seed: int,
    levels: Sequence[int | None] = (None, 11, 4),
    most: tuple[int, int] = (8, 5),
) -> Iterator[Trace]:
    """Play one run on each of many random instances and yield its trace.

    Arms and objectives vary up to ``most``, means are continuous or on a grid (so that ties
    and inconsistent instances occur), and the coefficients take turns.
    """
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    for number in range(count):
        K, d = int(rng.integers(2, most[0] + 1)), int(rng.integers(1, most[1] + 1))
        grid = levels[number % len(levels)]
        instance = random_bernoulli(K, d, int(rng.integers(1 << 31)), grid)
        c = coefficients[(number // len(levels)) % len(coefficients)]
        yield trace(instance, WidthGuided(c=c), horizon, seed, number)


def edge_sequence(
    mean: float, n: int, T: int, c: float, side: int, whole: bool = False
) -> FloatArray:
    r"""Rewards whose running mean hugs one edge of the confidence interval, never beyond it.

    ``side`` is +1 for :math:`\mu+\beta`, -1 for :math:`\mu-\beta`; the running mean stays on the
    edge as soon as rewards in [0, 1] allow it.  ``whole`` asks for rewards 0 and 1 only; a first
    reward inside the interval then needs :math:`c\log T\ge 1/4`.
    """
    p = probability(mean, "mean")
    if side not in (-1, 1):
        raise MomabError(f"side must be +1 or -1; it is {side!r}.")
    counts = np.arange(n + 1)
    # a hair inside the interval, so that rounding never leaves it
    reach = np.sqrt(positive_number(c, "c") * log(T) * (1.0 - 1e-12) * counts)
    sums = np.clip(counts * p + side * reach, 0.0, counts)
    if whole:
        sums = np.ceil(sums) if side < 0 else np.floor(sums)
    return np.asarray(np.diff(sums)).clip(0.0, 1.0)


def play_sequences(
    sequences: ArrayLike, means: ArrayLike, horizon: int, c: float, seed: int = 0
) -> Trace:
    """Run Algorithm 1 on given reward sequences, shape (K, n, d), up to the certificate.

    The lemmas hold for every sequence that stays inside the confidence intervals, random or
    not; this is how to look for the worst one.
    """
    rewards = np.asarray(sequences, dtype=np.float64)
    mu = np.asarray(means, dtype=np.float64)
    policy = WidthGuided(c=c)
    coin = coins_for(policy.name, seed)
    arms, certificate = play_rewards(policy, rewards, horizon, given_for(mu), coin)
    counts, received = np.zeros(len(mu), dtype=np.int64), []
    for arm in arms:
        received.append(rewards[arm, counts[arm]])
        counts[arm] += 1
    return Trace.from_arrays(
        arms, received, mu, c, horizon, certificate=certificate, name="edge of the event"
    )  # fmt: skip


def edge_run(
    gap: float, horizon: int, c: float, whole: bool = False, rivals: int = 1, d: int = 1
) -> Trace:
    """The worst case of Lemma 10: the best arm looks as bad, its rivals as good as allowed.

    The best arm has mean 1/2 + gap/2 and the rivals 1/2 - gap/2, on d equal objectives.
    """
    gap = positive_number(gap, "gap")
    if gap > 1:
        raise MomabError(f"gap must be at most 1; it is {gap!r}.")
    theta = np.full(1 + whole_number(rivals, "rivals", least=1), 0.5 - gap / 2)
    theta[0] = 0.5 + gap / 2
    n = min(horizon, int(16 * c * log(horizon) / gap**2) + 3)
    sides = [-1] + [1] * rivals
    rewards = [edge_sequence(p, n, horizon, c, s, whole) for p, s in zip(theta.tolist(), sides)]
    stacked = np.repeat(np.array(rewards)[:, :, None], d, axis=2)
    return play_sequences(stacked, np.repeat(theta[:, None], d, axis=1), horizon, c)
