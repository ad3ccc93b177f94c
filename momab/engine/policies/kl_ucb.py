r"""Scalar policies for the chapter on the lower bound: KL-UCB, and Width-guided without coins.

KL-UCB pulls the arm whose index :math:`\max\{q: N\,\mathrm{kl}(\hat\mu,q)\le\log t\}` is the
largest; on Bernoulli rewards its regret attains the Lai-Robbins constant as T grows.  It looks
at one objective only, so on duplicated coordinates it is a policy for the scalar samples.

Two engines, as everywhere: the selection function for the plain loop, and a compiled loop over
whole runs, :func:`play_klucb`.  Both decide by :func:`_choose`, in this file, since numba's cache
does not see edits elsewhere.  There are no coins: equal indices go to the arm with the fewest
pulls, then to the first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from momab._util.validate import FloatArray, IntArray, horizon_for, positive_number, whole_number
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy, View, selection
from momab.engine.policies.width_guided import WidthGuided, select_width_guided
from momab.engine.streams import Coins, RewardStream, reward_arrays
from momab.errors import MomabError
from momab.model.instances import Instance, duplicated
from momab.model.metrics import weighted_pulls

try:
    from numba import njit

    jit: Any = njit(cache=True, nogil=True, error_model="numpy")
except ImportError:  # the plain functions give the same digits, slowly

    def jit(function: Any) -> Any:
        """Leave a function as it is."""
        return function


PRECISION = 1e-9
"""An index is found from below, to within this."""


@jit
def _kl(p, q):  # type: ignore[no-untyped-def]
    """kl(p, q) for 0 <= p <= q <= 1."""
    total = 0.0
    if p > 0.0:
        total += p * math.log(p / q)
    if p < 1.0:
        if q >= 1.0:
            return math.inf
        total += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return total


@jit
def _index(p, n, level):  # type: ignore[no-untyped-def]
    """The largest q >= p with n kl(p, q) <= level, from below, by bisection."""
    # kl(p, q) >= 2 (q - p)^2 says how far it can be
    low, high = p, min(1.0, p + math.sqrt(level / (2.0 * n)))
    if high == 1.0 and n * _kl(p, high) <= level:
        return high
    while high - low > PRECISION:
        middle = 0.5 * (low + high)
        if n * _kl(p, middle) <= level:
            low = middle
        else:
            high = middle
    return low


@jit
def _beyond(p, n, q, level):  # type: ignore[no-untyped-def]
    """Whether q is beyond the index of an arm with mean p and n samples."""
    return p < q and n * _kl(p, q) > level


@jit
def _choose(sums, counts, level):  # type: ignore[no-untyped-def]
    """The arm with the largest index; a full index only for those that may be it."""
    K = len(counts)
    best = 0
    for a in range(1, K):
        if counts[a] > counts[best]:
            best = a
    n = counts[best]
    p = sums[best] / n
    # a lower bound of its index that is cheap to verify often settles the matter
    q = p + 0.95 * math.sqrt(2.0 * level * p * (1.0 - p) / n)
    if q < 1.0 and n * _kl(p, q) <= level:
        alone = True
        for a in range(K):
            if a != best and not _beyond(sums[a] / counts[a], counts[a], q, level):
                alone = False
                break
        if alone:
            return best
    q = _index(p, n, level)
    for a in range(K):
        if a == best:
            continue
        p = sums[a] / counts[a]
        if _beyond(p, counts[a], q, level):
            continue
        index = _index(p, counts[a], level)
        fewer = counts[a] < counts[best] or (counts[a] == counts[best] and a < best)
        if index > q or (index == q and fewer):
            best, q = a, index
    return best


def klucb_index(mean: float, n: int, level: float) -> float:
    """Compute the largest q in [mean, 1] with n kl(mean, q) <= level, to within 1e-9."""
    if not 0 <= mean <= 1:
        raise MomabError(f"mean must lie in [0, 1]; it is {mean!r}.")
    n = whole_number(n, "n", least=1)
    if not level >= 0:
        raise MomabError(f"level must be a number >= 0; it is {level!r}.")
    return float(_index(float(mean), n, float(level)))


@dataclass(frozen=True)
class KLUCB:
    """KL-UCB with exploration level log t, on one objective; it ignores the others."""

    objective: int = 0

    name: ClassVar[str] = "kl-ucb"
    label: ClassVar[str] = "KL-UCB"


@selection(KLUCB)
def select_klucb(policy: KLUCB, view: View, coin: Coins) -> int:
    """Choose without coins."""
    sums = np.ascontiguousarray(view.sums[:, policy.objective])
    return int(_choose(sums, view.counts, math.log(view.t)))


@dataclass(frozen=True)
class FirstOfTies:
    """Width-guided with every tie given to the first, so that a run has no coins."""

    c: float = 2.0

    name: ClassVar[str] = "width-guided-first"
    label: ClassVar[str] = "Width-guided, first of ties"

    def __post_init__(self) -> None:
        """Check the coefficient."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))


class _First:
    """A coin that always takes the first item."""

    def choose(self, items: Any, slot: int) -> int:
        return int(items[0])


@selection(FirstOfTies)
def select_first_of_ties(policy: FirstOfTies, view: View, coin: Coins) -> int:
    """Algorithm 1 with coins that always show the first side."""
    return select_width_guided(WidthGuided(policy.c), view, cast(Coins, _First()))


@jit
def _advance(rewards, ready, counts, sums, t, horizon, checkpoints, at, out):  # type: ignore[no-untyped-def]
    """Play on until the horizon or until an arm needs rewards that are not ready."""
    K = len(counts)
    while True:
        while at < len(checkpoints) and checkpoints[at] == t:
            out[at] = counts
            at += 1
        if t == horizon:
            return t, at, -1
        arm = t if t < K else _choose(sums, counts, math.log(t))
        if counts[arm] == ready[arm]:
            return t, at, arm
        sums[arm] += rewards[arm, counts[arm]]
        counts[arm] += 1
        t += 1


@dataclass(frozen=True)
class Played:
    """What :func:`play_klucb` returns."""

    pulls: IntArray
    """(R, K)."""
    checkpoint_pulls: IntArray
    """(R, C, K)."""
    regret_path: FloatArray
    """(R, C): Pareto regret at every checkpoint."""


def play_klucb(
    instance: Instance,
    horizon: int,
    seed: int,
    runs: int,
    checkpoints: IntArray,
    objective: int = 0,
    run_start: int = 0,
) -> Played:
    """Play runs of KL-UCB on the instance's own reward streams, as the plain loop would."""
    arrays = reward_arrays(instance.source)
    T = horizon_for(horizon, arrays.K)
    runs = whole_number(runs, "runs", least=1)
    points = np.asarray(checkpoints, dtype=np.int64)
    pulls = np.zeros((runs, arrays.K), dtype=np.int64)
    at_points = np.zeros((runs, len(points), arrays.K), dtype=np.int64)
    for row in range(runs):
        stream = RewardStream(arrays, seed, run_start + row)
        rewards = np.zeros((arrays.K, 256))
        ready = np.zeros(arrays.K, dtype=np.int64)
        sums = np.zeros(arrays.K)
        t, at, arm = 0, 0, 0
        while arm >= 0:
            t, at, arm = _advance(
                rewards, ready, pulls[row], sums, t, T, points, at, at_points[row]
            )
            if arm < 0:
                break
            have = int(ready[arm])
            more = max(64, have)
            if have + more > rewards.shape[1]:
                rewards = np.concatenate([rewards, np.zeros_like(rewards)], axis=1)
            more = min(more, rewards.shape[1] - have)
            rewards[arm, have : have + more] = stream.batch(arm, have, more)[:, objective]
            ready[arm] += more
    gaps = instance.geometry.gaps
    return Played(pulls, at_points, weighted_pulls(at_points, gaps))


def first_difference(
    policy: Policy, delta: float, K: int, d: int, horizon: int, seed: int, run: int = 0
) -> int | None:
    """Compare a run on d duplicated coordinates with the one on the scalar instance.

    Returns the first round t with different arms, or None if all arms agree.
    """
    runs = [
        play_block(duplicated(delta, K, size), policy, horizon, seed, run, 1, arms=True).arms
        for size in (1, d)
    ]
    scalar, copied = (cast(IntArray, arms)[0] for arms in runs)
    different = np.flatnonzero(scalar != copied)
    return int(different[0]) if len(different) else None
