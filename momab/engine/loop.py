"""The plain loop that every kernel must agree with, arm by arm, and the door to both.

:func:`play` is the readable reference: pull every arm once, then choose and update until the
horizon.  It needs NumPy only.  :func:`play_block` plays many runs, with a compiled kernel where
there is one and with the plain loop elsewhere; the digits are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import LONGEST, FloatArray, IntArray, horizon_for, whole_number
from momab.engine.policies.base import Given, Policy, View, coins_of, given_for, selection_for
from momab.engine.streams import Coins, RewardArrays, RewardStream, reward_arrays, validate_streams
from momab.errors import MomabError
from momab.model.instances import Instance

ENGINES = ("auto", "numba", "python")

Observer = Callable[[View, Coins, int], None]
"""Called at every decision after the warm start with the view, its coins and the chosen arm,
before the pull.  ``view.details`` holds what the policy noted (Width-guided: its
:class:`~momab.engine.policies.Races` until it commits).  The view is live: copy what you keep."""


@dataclass(frozen=True)
class RunBlock:
    """What R runs of one policy on one instance did.

    A round is numbered by the pulls made before it, 0..T - 1.
    """

    pulls: IntArray
    """(R, K): pulls of every arm."""
    tail_pulls: IntArray
    """(R, K): pulls in the rounds t >= floor(0.8 T)."""
    cert_round: IntArray
    """(R,): the round t whose decision was the certificate, -1 if none: all pulls from this
    round on go to ``cert_arm``."""
    cert_arm: IntArray
    """(R,): the certified arm, -1 if none."""
    cert_objective: IntArray
    """(R,): the objective that certified it, -1 if none."""
    checkpoint_pulls: IntArray
    """(R, C, K): pulls of every arm among the first n pulls, for every checkpoint n."""
    sums: FloatArray | None = None
    """(R, K, d): final sums of rewards, if asked for."""
    arms: NDArray[np.int32] | None = None
    """(R, T): the arm of every round, if asked for."""


@dataclass(frozen=True)
class Request:
    """One validated request: everything an engine needs to know."""

    arrays: RewardArrays
    policy: Policy
    given: Given
    horizon: int
    seed: int
    checkpoints: IntArray
    final_sums: bool
    arms: bool

    @property
    def tail_start(self) -> int:
        """The first round of the tail, floor(0.8 T)."""
        return 4 * self.horizon // 5

    def empty_block(self, runs: int) -> RunBlock:
        """Return the arrays of a block, to be filled in."""
        K, d, C = self.arrays.K, self.arrays.d, len(self.checkpoints)
        return RunBlock(
            pulls=np.zeros((runs, K), dtype=np.int64),
            tail_pulls=np.zeros((runs, K), dtype=np.int64),
            cert_round=np.full(runs, -1, dtype=np.int64),
            cert_arm=np.full(runs, -1, dtype=np.int64),
            cert_objective=np.full(runs, -1, dtype=np.int64),
            checkpoint_pulls=np.zeros((runs, C, K), dtype=np.int64),
            sums=np.zeros((runs, K, d)) if self.final_sums else None,
            arms=np.zeros((runs, self.horizon), dtype=np.int32) if self.arms else None,
        )


def _task(
    instance: Instance,
    policy: Policy,
    horizon: int,
    seed: int,
    last_run: int,
    checkpoints: Sequence[int] | IntArray,
    final_sums: bool,
    arms: bool,
) -> Request:
    arrays = reward_arrays(instance.source)
    selection_for(policy)
    horizon = horizon_for(horizon, arrays.K, LONGEST)
    seed = whole_number(seed, "the seed", least=0)
    validate_streams(arrays, horizon, seed, last_run)
    rounds = np.asarray(checkpoints if len(checkpoints) else np.zeros(0, dtype=np.int64))
    if rounds.ndim != 1 or rounds.dtype.kind not in "iu":
        raise MomabError("checkpoints must be a list of whole numbers.")
    if len(rounds) and (np.diff(rounds).min(initial=0) < 0 or not 0 <= rounds[0] <= rounds[-1]):
        raise MomabError("checkpoints must be sorted numbers of pulls, starting at 0 or later.")
    if len(rounds) and rounds[-1] > horizon:
        raise MomabError(
            f"checkpoints must not exceed the horizon, {horizon}; the last one is {rounds[-1]}."
        )
    return Request(
        arrays=arrays,
        policy=policy,
        given=given_for(instance.means),
        horizon=horizon,
        seed=seed,
        checkpoints=rounds.astype(np.int64),
        final_sums=final_sums,
        arms=arms,
    )


def play(
    instance: Instance,
    policy: Policy,
    horizon: int,
    seed: int,
    run: int,
    *,
    checkpoints: Sequence[int] | IntArray = (),
    final_sums: bool = False,
    arms: bool = False,
    observer: Observer | None = None,
) -> RunBlock:
    """Play one run with the plain loop; returns a block of one run."""
    run = whole_number(run, "the run number", least=0)
    task = _task(instance, policy, horizon, seed, run, checkpoints, final_sums, arms)
    block = task.empty_block(1)
    _play_into(block, 0, task, run, observer)
    return block


def _play_into(
    block: RunBlock, row: int, task: Request, run: int, observer: Observer | None
) -> None:
    """Prime, choose, update: play one run and write it into one row of the block."""
    K, d, T = task.arrays.K, task.arrays.d, task.horizon
    select = selection_for(task.policy)
    stream = RewardStream(task.arrays, task.seed, run)
    coins = Coins(coins_of(task.policy), task.seed, run)
    counts = np.zeros(K, dtype=np.int64)
    view = View(T, counts, np.zeros((K, d)), np.zeros((K, d)), task.given)
    literal = observer is not None or task.final_sums
    for t in range(T):
        _note_counts(block, row, task, t, t, counts)
        view.t = coins.t = t
        if t < K:
            arm = t
        else:
            arm = int(select(task.policy, view, coins))
            if observer is not None:
                observer(view, coins, arm)
            if view.certificate is not None and not literal:
                _commit(block, row, task, t, counts, arm)
                break
        reward = stream.pull(arm, int(counts[arm]))
        counts[arm] += 1
        view.sums[arm] += reward
        view.means[arm] = view.sums[arm] / counts[arm]
        if block.arms is not None:
            block.arms[row, t] = arm
    _note_counts(block, row, task, T, T, counts)
    block.pulls[row] = counts
    block.tail_pulls[row] += counts  # minus the counts at the start of the tail
    if block.sums is not None:
        block.sums[row] = view.sums
    if view.certificate is not None:
        block.cert_round[row] = view.certificate.t
        block.cert_arm[row] = view.certificate.arm
        block.cert_objective[row] = view.certificate.objective


def _note_counts(
    block: RunBlock, row: int, task: Request, first: int, last: int, counts: IntArray
) -> None:
    """Record the counts where ``first`` <= checkpoint <= ``last``, and when the tail starts."""
    lo, hi = np.searchsorted(task.checkpoints, [first, last + 1])
    block.checkpoint_pulls[row, lo:hi] = counts
    if first <= task.tail_start <= last:
        block.tail_pulls[row] = -counts


def _commit(block: RunBlock, row: int, task: Request, t: int, counts: IntArray, arm: int) -> None:
    """Give all pulls from round t on to one arm, in closed form."""
    T = task.horizon
    lo = np.searchsorted(task.checkpoints, t + 1)
    block.checkpoint_pulls[row, lo:] = counts
    block.checkpoint_pulls[row, lo:, arm] += task.checkpoints[lo:] - t
    if t < task.tail_start:
        block.tail_pulls[row] = -counts
        block.tail_pulls[row, arm] -= task.tail_start - t
    if block.arms is not None:
        block.arms[row, t:] = arm
    counts[arm] += T - t


@cache
def _kernels() -> ModuleType | None:
    """The compiled engine, or None without numba; imported on first use only."""
    try:
        from momab.engine import _kernels as module
    except ImportError as error:
        if (error.name or "").startswith("momab"):
            raise  # a fault of ours, not of the installation
        return None
    return module


def has_kernel(policy: Policy, engine: str = "auto") -> bool:
    """Whether :func:`play_block` would use a compiled kernel for this policy."""
    if engine not in ENGINES:
        raise MomabError(f"engine must be one of {', '.join(ENGINES)}; it is {engine!r}.")
    if engine == "python":
        return False
    module = _kernels()
    found = module is not None and type(policy) in module.KERNELS
    if engine == "numba" and not found:
        why = "numba is not installed" if module is None else f"{policy.name} has no kernel"
        raise MomabError(f'engine="numba" cannot be used: {why}; use "auto" or "python".')
    return found


def play_block(
    instance: Instance,
    policy: Policy,
    horizon: int,
    seed: int,
    run_start: int,
    count: int,
    checkpoints: Sequence[int] | IntArray = (),
    final_sums: bool = False,
    arms: bool = False,
    engine: str = "auto",
) -> RunBlock:
    """Play runs ``run_start``, ..., ``run_start + count - 1`` and return what they did.

    ``checkpoints`` are sorted numbers of pulls.  ``final_sums`` asks for the sums of rewards at
    the end, the only thing that needs rewards after a commitment; ``arms`` for the arm of every
    round.  ``engine`` is "numba", "python", or "auto": numba if it is installed and the policy
    has a kernel.  An interrupt takes effect within about a second, between runs.
    """
    run_start = whole_number(run_start, "the first run", least=0)
    count = whole_number(count, "the number of runs", least=1)
    last = run_start + count - 1
    task = _task(instance, policy, horizon, seed, last, checkpoints, final_sums, arms)
    block = task.empty_block(count)
    if has_kernel(policy, engine):
        module = _kernels()
        assert module is not None
        row, step = 0, 1
        while row < count:
            began = perf_counter()
            stop = min(row + step, count)
            module.play_rows(block, task, row, stop, run_start)
            # Few enough runs per call for an interrupt to be noticed, many enough to be fast.
            step = max(1, min(int(step * 0.2 / (perf_counter() - began + 1e-9)), 8 * step))
            row = stop
    else:
        for row in range(count):
            _play_into(block, row, task, run_start + row, None)
    return block


def draw_in_turn(
    instance: Instance, rounds: int, seed: int, run: int, engine: str = "auto"
) -> FloatArray:
    """Pull the arms one after the other and return the sums of their rewards, shape (K, d).

    No policy can play for less than the rewards cost, so this is what a kernel's time is
    compared with: the same streams and buffers, and nothing to decide.
    """
    arrays = reward_arrays(instance.source)
    rounds = whole_number(rounds, "the number of rounds", least=1)
    validate_streams(arrays, rounds, seed, run)
    sums = np.zeros((arrays.K, arrays.d))
    module = None if engine == "python" else _kernels()
    if module is not None:
        module.draw_rows(arrays, rounds, seed, run, sums)
        return sums
    stream = RewardStream(arrays, seed, run)
    for t in range(rounds):
        sums[t % arrays.K] += stream.pull(t % arrays.K, t // arrays.K)
    return sums
