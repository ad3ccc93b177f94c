r"""One Width-guided run in full: every bound, every race, and why it pulled what it pulled.

A :class:`Trace` stores what cannot be recomputed, the arms and the rewards; everything else is
a function of these.  The mean of an arm with n samples is its n-th partial sum, added in pull
order, over n, so the counts and means along a run are cumulative sums per arm, and whole
stretches of rounds are computed at once (:meth:`Trace.rounds`, :meth:`Trace.blocks`), digit for
digit as the policy saw them.

Rounds are numbered by the pulls made before them, t = 0, ..., T - 1, as everywhere in momab:
the paper's round t + 1.  Decisions start at t = K.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momab._util.validate import (
    FloatArray,
    IntArray,
    horizon_for,
    mean_array,
    positive_number,
    unit_interval,
    whole_number,
)
from momab.engine.loop import certificate_of, play, play_block
from momab.engine.policies.base import Certificate, Policy, coins_of
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.streams import RewardStream, Words, coin_stream, philox, reward_arrays
from momab.errors import MomabError
from momab.ledger.auditing.arrays import (
    index_array,
    one_number,
    read_arrays,
    reported_choices,
    reward_array,
)
from momab.ledger.auditing.rounds import Decisions, Rounds, reconstruct, top_two
from momab.model import pareto
from momab.model.instances import Instance
from momab.model.numerics import log

_BLOCK = 400_000  # numbers per (arms, rounds, objectives) array: a few megabytes
_DRAW = 1 << 20  # random words per draw of rewards


@dataclass(frozen=True)
class CoinKey:
    """What a policy's coins are a function of; they tell how ties were broken."""

    name: str
    seed: int
    run: int

    def words(self, t: IntArray, slot: int | IntArray) -> Words:
        """Return the coin of every round t and slot."""
        slots = np.broadcast_to(np.asarray(slot, dtype=np.int64), np.shape(t))
        counter = (t.astype(np.uint64), (slots // 4).astype(np.uint64), self.run)
        lanes = philox((*counter, coin_stream(self.name)), self.seed)
        words: Words = np.take_along_axis(lanes, (slots % 4)[None], axis=0)[0]
        return words


@dataclass(frozen=True, eq=False)
class Trace:
    """What one run did: its arms and rewards, with the means, c and T they are judged by.

    ``arms`` may stop before the horizon, usually at the certificate.  ``certificate``,
    ``leaders``, ``challengers`` and ``objectives`` are what the policy itself says it did, where
    it says so; the last three have one row per decision t = K, K + 1, ..., and may stop early.
    """

    arms: NDArray[np.int32]
    """(n,): the arm of every recorded round."""
    rewards: NDArray[np.uint8] | FloatArray
    """(n, d): its reward vector; bytes when all rewards are 0 or 1."""
    means: FloatArray
    """(K, d): the true means."""
    c: float
    horizon: int
    certificate: Certificate | None = None
    leaders: NDArray[np.int32] | None = None
    """(m, d): reported b_j."""
    challengers: NDArray[np.int32] | None = None
    """(m, d): reported c_j."""
    objectives: NDArray[np.int32] | None = None
    """(m,): reported j_t."""
    coins: CoinKey | None = None
    name: str = "trace"

    @classmethod
    def from_arrays(
        cls,
        arms: ArrayLike,
        rewards: ArrayLike,
        means: ArrayLike,
        c: float,
        horizon: int,
        *,
        certificate: Certificate | tuple[int, int, int] | None = None,
        leaders: ArrayLike | None = None,
        challengers: ArrayLike | None = None,
        objectives: ArrayLike | None = None,
        coins: CoinKey | None = None,
        name: str = "trace",
    ) -> Trace:
        """Check anybody's arrays and make a trace of them.

        Arms and objectives are counted from 0, rounds by the pulls made before them; the
        certificate is (t, arm, objective).
        """
        mu = unit_interval(mean_array(means), "means")
        if mu.ndim != 2:
            raise MomabError(f"means must have shape (arms, objectives); the shape is {mu.shape}.")
        K, d = mu.shape
        T = horizon_for(horizon, K)
        pulled = index_array(arms, "arms", K)
        if pulled.ndim != 1 or not K <= len(pulled) <= T:
            raise MomabError(
                f"arms must be a list of {K} to {T} pulls, from the warm start to at most the "
                f"horizon; its shape is {pulled.shape}."
            )
        n = len(pulled)
        received = reward_array(rewards, (n, d))
        decisions = n - K
        pair = (leaders, challengers)
        if (pair[0] is None) != (pair[1] is None):
            raise MomabError("leaders and challengers must be given together.")
        if certificate is not None:
            t, arm, objective = (
                (certificate.t, certificate.arm, certificate.objective)
                if isinstance(certificate, Certificate)
                else certificate
            )
            certificate = Certificate(
                whole_number(t, "the certificate's round", least=K, most=n - 1),
                whole_number(arm, "the certificate's arm", least=0, most=K - 1),
                whole_number(objective, "the certificate's objective", least=0, most=d - 1),
            )
        return cls(
            arms=pulled,
            rewards=received,
            means=mu,
            c=positive_number(c, "c"),
            horizon=T,
            certificate=certificate,
            leaders=reported_choices(leaders, "leaders", K, decisions, d),
            challengers=reported_choices(challengers, "challengers", K, decisions, d),
            objectives=reported_choices(objectives, "objectives", d, decisions, None),
            coins=coins,
            name=name,
        )

    @property
    def K(self) -> int:  # noqa: N802
        """The number of arms."""
        return int(self.means.shape[0])

    @property
    def d(self) -> int:
        """The number of objectives."""
        return int(self.means.shape[1])

    @property
    def recorded(self) -> int:
        """The number of recorded rounds, at most the horizon."""
        return len(self.arms)

    @cached_property
    def geometry(self) -> pareto.Geometry:
        """Front, gaps and consistency of the means."""
        return pareto.geometry(self.means)

    @property
    def scale(self) -> float:
        """The number c log T, whose square root is the radius of a single sample."""
        return self.c * log(self.horizon)

    @cached_property
    def commitment(self) -> Certificate | None:
        """The reported certificate; without one, the first that the arms and rewards hold."""
        return self.certificate or self.first_certificate()

    def first_certificate(self) -> Certificate | None:
        """Find the first decision at which some objective certifies, and its widest such race.

        Ties play no part: where the two largest bounds are equal, nothing is certified.
        """
        for block in self.blocks():
            U = block.means + block.beta[:, :, None]
            best, second = top_two(U)
            columns = np.arange(len(block.t))[:, None]
            radius = block.beta[best, columns]
            lower = block.means[best, columns, np.arange(self.d)] - radius
            margin = lower - np.take_along_axis(U, second[None], axis=0)[0]
            hits = np.flatnonzero((margin > 0).any(axis=1))
            if len(hits):
                i = hits[0]
                W = radius[i] + block.beta[second[i], i]
                j = int(np.where(margin[i] > 0, W, -np.inf).argmax())
                return Certificate(int(block.t[i]), int(best[i, j]), j)
        return None

    def blocks(
        self, start: int | None = None, stop: int | None = None, size: int | None = None
    ) -> Iterator[Decisions]:
        """Yield the decisions ``start`` <= t < ``stop`` in blocks of ``size`` rounds.

        Memory is that of one block, whatever the horizon.
        """
        start, stop = self._window(start, stop)
        K, d = self.K, self.d
        size = size or max(16, _BLOCK // (K * d))
        counts = np.bincount(self.arms[:start], minlength=K).astype(np.int64)
        if not counts.all():
            missing = int(np.flatnonzero(counts == 0)[0])
            raise MomabError(f"arm {missing} was not pulled before the decision at t = {start}.")
        sums = self._sums(start)
        for first in range(start, stop, size):
            last = min(first + size, stop)
            arms = self.arms[first:last]
            rewards = self.rewards[first:last]
            n = last - first
            table = np.empty((K, n, d))
            table_counts = np.empty((K, n), dtype=np.int64)
            beta = np.empty((K, n))
            for a in range(K):
                hits = arms == a
                before = np.cumsum(hits) - hits
                partial = np.concatenate([sums[a : a + 1], rewards[hits]])
                np.cumsum(partial, axis=0, out=partial)
                samples = counts[a] + np.arange(len(partial))
                np.take(partial / samples[:, None], before, axis=0, out=table[a])
                np.take(samples, before, out=table_counts[a])
                np.take(np.sqrt(self.scale / samples), before, out=beta[a])
                counts[a] = samples[-1]
                sums[a] = partial[-1]
            t = np.arange(first, last, dtype=np.int64)
            yield Decisions(t, arms.astype(np.int64), table_counts, table, beta)

    def _window(self, start: int | None, stop: int | None) -> tuple[int, int]:
        K, n = self.K, self.recorded
        start = K if start is None else whole_number(start, "start", least=K, most=n)
        stop = n if stop is None else whole_number(stop, "stop", least=start, most=n)
        return start, stop

    def _sums(self, rounds: int) -> FloatArray:
        """Sums of rewards per arm over the first rounds, added in pull order."""
        sums = np.zeros((self.K, self.d))
        for first in range(0, rounds, 1 << 16):
            stop = min(first + (1 << 16), rounds)
            arms, rewards = self.arms[first:stop], self.rewards[first:stop]
            for a in np.unique(arms):
                partial = np.concatenate([sums[a : a + 1], rewards[arms == a]])
                sums[a] = np.cumsum(partial, axis=0)[-1]
        return sums

    def rounds(self, start: int | None = None, stop: int | None = None) -> Rounds:
        """Reconstruct the decisions ``start`` <= t < ``stop``; by default all that are recorded.

        Ties are broken as reported, else by the policy's coins, else by the lowest index.  The
        answer holds about 3 K d numbers per round: ask for long runs in pieces.
        """
        start, stop = self._window(start, stop)
        pieces = list(self.blocks(start, stop))
        if not pieces:
            raise MomabError("there is no decision in this range of rounds.")
        return reconstruct(self, pieces)

    def edited(self, **changes: Any) -> Trace:
        """The same trace with some fields replaced, checked again."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return Trace.from_arrays(**(values | changes))

    def save(self, path: str | Path) -> None:
        """Write the trace as an .npz file without pickled objects."""
        optional: dict[str, Any] = {
            "leaders": self.leaders,
            "challengers": self.challengers,
            "objectives": self.objectives,
        }
        if self.certificate is not None:
            stored = self.certificate
            optional["certificate"] = np.array([stored.t, stored.arm, stored.objective])
        if self.coins is not None:
            optional["coin_name"] = np.array(self.coins.name)
            optional["coin_key"] = np.array([self.coins.seed, self.coins.run], dtype=np.uint64)
        np.savez_compressed(
            path,
            arms=self.arms,
            rewards=self.rewards,
            means=self.means,
            c=np.array(self.c),
            horizon=np.array(self.horizon),
            name=np.array(self.name),
            **{key: value for key, value in optional.items() if value is not None},
        )

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a trace: arms, rewards, means, c and horizon, and what else it reports."""
        path = Path(path)
        data = read_arrays(path)
        for key in ("arms", "rewards", "means", "c", "horizon"):
            if key not in data:
                raise MomabError(
                    f"{path} is not a trace: it has no array {key!r}; a trace holds arms, "
                    "rewards, means, c and horizon."
                )
        certificate = data.get("certificate")
        if certificate is not None and certificate.shape != (3,):
            raise MomabError(f"the certificate in {path} must be (t, arm, objective).")
        coins = None
        if "coin_name" in data and "coin_key" in data and data["coin_key"].shape == (2,):
            seed, run = (int(number) for number in data["coin_key"])
            coins = CoinKey(str(data["coin_name"]), seed, run)
        return cls.from_arrays(
            data["arms"],
            data["rewards"],
            data["means"],
            one_number(data["c"], "c"),
            one_number(data["horizon"], "horizon"),
            certificate=None if certificate is None else tuple(certificate),
            leaders=data.get("leaders"),
            challengers=data.get("challengers"),
            objectives=data.get("objectives"),
            coins=coins,
            name=str(data.get("name", path.stem)),
        )


def trace(
    instance: Instance,
    policy: Policy,
    horizon: int,
    seed: int,
    run: int = 0,
    *,
    beyond: bool = False,
    choices: bool = False,
    engine: str = "auto",
) -> Trace:
    """Play one run and record it, until the certificate or, with ``beyond``, to the horizon.

    The policy needs a confidence coefficient ``c``: Width-guided, or one of your own that is
    to be compared with it.  With ``choices`` the driver plays uncompiled, and the top-two pairs
    b and c that the policy keeps are recorded as reported, one row per decision up to the
    commitment.
    """
    c = positive_number(getattr(policy, "c", None), f"the coefficient c of {policy.name}")
    pairs: list[tuple[IntArray, IntArray]] = []
    if choices:

        def note(player: Any, t: int, arm: int) -> None:
            if hasattr(player, "b") and hasattr(player, "challenger"):
                pairs.append((player.b.copy(), player.challenger.copy()))

        block = play(instance, policy, horizon, seed, run, arms=True, observer=note)
    else:
        block = play_block(instance, policy, horizon, seed, run, 1, arms=True, engine=engine)
    certificate, arms = certificate_of(block, 0), block.arms[0]
    if certificate is not None and not beyond:
        arms = arms[: certificate.t + 1]
    plain = policy == WidthGuided(c=c)  # Algorithm 1 itself
    return Trace(
        arms=np.ascontiguousarray(arms),
        rewards=rewards_of(instance, arms, seed, run),
        means=instance.means,
        c=c,
        horizon=len(block.arms[0]),
        certificate=certificate,
        leaders=np.array([pair[0] for pair in pairs], dtype=np.int32) if pairs else None,
        challengers=np.array([pair[1] for pair in pairs], dtype=np.int32) if pairs else None,
        coins=CoinKey(coins_of(policy), seed, run) if plain else None,
        name=f"{policy.label} on {instance.name}",
    )


def rewards_of(
    instance: Instance, arms: NDArray[np.int32], seed: int, run: int
) -> NDArray[np.uint8] | FloatArray:
    """The rewards that these pulls bring: the n-th pull of an arm takes its n-th reward."""
    arrays = reward_arrays(instance.source)
    stream = RewardStream(arrays, seed, run)
    step = max(1, _DRAW // arrays.words)
    binary = len(arrays.thresholds) > 0
    result: NDArray[Any] = np.empty((len(arms), arrays.d), dtype=np.uint8 if binary else np.float64)
    for a in range(arrays.K):
        rounds = np.flatnonzero(arms == a)
        for first in range(0, len(rounds), step):
            part = rounds[first : first + step]
            result[part] = stream.batch(a, first, len(part))
    return result
