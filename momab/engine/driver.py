"""The one driver: it plays any policy and records its pulls.

Pull every arm once, then let the policy choose and tell it what moved, until the horizon.  The
driver owns rewards, counts, sums, means, checkpoints, tails and commitments; a policy owns its
choice.  This text runs as it stands in CPython.  Compiled by numba it is the same program, so the
digits are the same: :mod:`momab.engine.compiled` puts the policy's two functions in the places of
``policy_select`` and ``policy_moved`` below.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import FloatArray, IntArray
from momab.engine.streams import Coins, Pulls, refill
from momab.engine.tools import ARM, OBJECTIVE, SINCE, UNTIL
from momab.errors import NoArmError

NEVER = 1 << 62


class RunBlock(NamedTuple):
    """What R runs of one policy on one instance leave behind, one row each.

    A round is numbered by the pulls made before it, 0..T - 1.
    """

    horizon: int
    tail_start: int
    """The first round of the tail, floor(0.8 T)."""
    checkpoints: IntArray
    """Sorted numbers of pulls."""
    pulls: IntArray
    """(R, K): pulls of every arm."""
    tail_pulls: IntArray
    """(R, K): pulls in the rounds of the tail."""
    checkpoint_pulls: IntArray
    """(R, C, K): pulls of every arm among the first n pulls, for every checkpoint n."""
    certificates: IntArray
    """(R, 3): round, arm and objective of the certificate, -1 if there is none."""
    sums: FloatArray
    """(R, K, d): final sums of rewards; (R, 0, 0) unless they are asked for."""
    arms: NDArray[np.int32]
    """(R, T): the arm of every round; (R, 0) unless it is asked for."""

    @property
    def cert_round(self) -> IntArray:
        """(R,): the round t whose decision was the certificate, -1 if none.

        All pulls from this round on go to ``cert_arm``.
        """
        return self.certificates[:, 0]

    @property
    def cert_arm(self) -> IntArray:
        """(R,): the certified arm, -1 if none."""
        return self.certificates[:, 1]

    @property
    def cert_objective(self) -> IntArray:
        """(R,): the objective that certified it, -1 if none."""
        return self.certificates[:, 2]

    def rows(self, start: int, stop: int) -> RunBlock:
        """Return some runs of the block; it shares memory with the block."""
        return RunBlock._make((*self[:3], *(array[start:stop] for array in self[3:])))


def empty_block(
    K: int,
    d: int,
    horizon: int,
    runs: int,
    checkpoints: IntArray | None = None,
    final_sums: bool = False,
    arms: bool = False,
) -> RunBlock:
    """Return the arrays of a block, to be filled in."""
    rounds = np.zeros(0, dtype=np.int64) if checkpoints is None else checkpoints
    return RunBlock(
        horizon=horizon,
        tail_start=4 * horizon // 5,
        checkpoints=rounds,
        pulls=np.zeros((runs, K), dtype=np.int64),
        tail_pulls=np.zeros((runs, K), dtype=np.int64),
        checkpoint_pulls=np.zeros((runs, len(rounds), K), dtype=np.int64),
        certificates=np.full((runs, 3), -1, dtype=np.int64),
        sums=np.zeros((runs, K, d) if final_sums else (runs, 0, 0)),
        arms=np.zeros((runs, horizon if arms else 0), dtype=np.int32),
    )


class Memory(NamedTuple):
    """All that a player remembers, as bytes: as it is now, and as it is when a run starts."""

    now: NDArray[np.uint8]
    fresh: NDArray[np.uint8]


def policy_select(player: Any, t: int, coin: Coins) -> int:
    """Return the arm of round t: the policy's own function stands here."""
    raise NotImplementedError


def policy_moved(player: Any, arm: int) -> None:
    """Hear that the count, the sums and the means of an arm have changed: the policy's own."""


def drive(
    player: Any, memory: Memory, pulls: Pulls, coin: Coins, record: RunBlock, first_run: int
) -> None:
    """Play the runs ``first_run``, ``first_run`` + 1, ..., one for each row of the record."""
    for row in range(record.pulls.shape[0]):
        for i in range(memory.now.size):
            memory.now[i] = memory.fresh[i]
        for a in range(pulls.stop.size):
            pulls.stop[a] = 0
        coin.run[0] = first_run + row
        play_run(player, pulls, coin, record, row)


def play_run(player: Any, pulls: Pulls, coin: Coins, record: RunBlock, row: int) -> None:
    """Play one run: every arm once, then what the policy selects or has committed to."""
    counts, commitment, T = player.counts, player.commitment, record.horizon
    arm, t, place, event = 0, 0, 0, 0
    while t < T:
        if t == event:
            place, event = note(record, row, t, place, counts)
        if t < counts.size:
            arm = t
        elif t >= commitment[UNTIL]:
            coin.t[0] = t
            arm = policy_select(player, t, coin)
        if t < commitment[UNTIL]:
            arm = commitment[ARM]
        if not 0 <= arm < counts.size:
            raise NoArmError
        if commitment[UNTIL] >= T and record.sums.size == 0:
            break
        pull(player, pulls, coin, arm)
        policy_moved(player, arm)
        if record.arms.size > 0:
            record.arms[row, t] = arm
        t += 1
    finish(record, row, t, arm, place, counts)
    if commitment[UNTIL] >= T:
        record.certificates[row, 0] = commitment[SINCE]
        record.certificates[row, 1] = commitment[ARM]
        record.certificates[row, 2] = commitment[OBJECTIVE]
    if record.sums.size > 0:
        for a in range(counts.size):
            for j in range(player.sums.shape[1]):
                record.sums[row, a, j] = player.sums[a, j]


def pull(player: Any, pulls: Pulls, coin: Coins, arm: int) -> None:
    """Pull an arm: its next reward is added to its sums, in pull order."""
    n = player.counts[arm]
    if n >= pulls.stop[arm]:
        refill(pulls, coin, arm, n)
    reward = pulls.ready[arm, n - pulls.first[arm]]
    sums, means, count = player.sums[arm], player.means[arm], n + 1.0
    player.counts[arm] = n + 1
    for j in range(reward.size):
        sums[j] += reward[j]
        means[j] = sums[j] / count


def note(record: RunBlock, row: int, t: int, place: int, counts: IntArray) -> tuple[int, int]:
    """Record the counts at a checkpoint and where the tail starts; return the next such round."""
    for a in range(counts.size):
        if t == record.tail_start:
            record.tail_pulls[row, a] = -counts[a]
        at = place
        while at < record.checkpoints.size and record.checkpoints[at] == t:
            record.checkpoint_pulls[row, at, a] = counts[a]
            at += 1
    while place < record.checkpoints.size and record.checkpoints[place] == t:
        place += 1
    event = NEVER
    if place < record.checkpoints.size:
        event = record.checkpoints[place]
    if t < record.tail_start < event:
        event = record.tail_start
    return place, event


def finish(record: RunBlock, row: int, t: int, arm: int, place: int, counts: IntArray) -> None:
    """Give the pulls from round t on to one arm, in closed form, and end the record."""
    for a in range(counts.size):
        extra = 1 if a == arm else 0
        for i in range(place, record.checkpoints.size):
            record.checkpoint_pulls[row, i, a] = counts[a] + extra * (record.checkpoints[i] - t)
        if t < record.tail_start:
            record.tail_pulls[row, a] = -counts[a] - extra * (record.tail_start - t)
        counts[a] += extra * (record.horizon - t)
        record.pulls[row, a] = counts[a]
        record.tail_pulls[row, a] += counts[a]
    if record.arms.size > 0:
        for i in range(t, record.horizon):
            record.arms[row, i] = arm
