"""The door to the driver: play runs of a policy on an instance, compiled or not.

:func:`play_block` plays many runs, compiled where numba is installed and the policy is in the
plain-loop subset, and as it stands elsewhere; the digits are the same.  :func:`play` plays one
run in CPython and lets an observer look.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import LONGEST, FloatArray, IntArray, horizon_for, whole_number
from momab.engine import driver, subset
from momab.engine.accelerators import ACCELERATORS
from momab.engine.policies.base import (
    Certificate,
    Given,
    Policy,
    coins_of,
    given_for,
    require_policy,
    seat,
)
from momab.engine.streams import (
    Coins,
    Pulls,
    RewardArrays,
    coins_for,
    pulls_for,
    reward_arrays,
    validate_streams,
)
from momab.engine.tools import OBJECTIVE, UNTIL
from momab.errors import MomabError
from momab.model.instances import Instance

ENGINES = ("auto", "numba", "driver", "python")
"""Compiled if possible; compiled; compiled without accelerators; as it stands."""

Observer = Callable[[Any, int, int], None]
"""Called after every decision with the player, the round and the chosen arm, before the pull.
The player is live: copy what you keep."""


@dataclass(frozen=True)
class RunBlock:
    """What R runs of one policy on one instance did.

    A round is numbered by the pulls made before it, 0..T - 1.
    """

    pulls: IntArray
    """(R, K): pulls of every arm."""
    tail_pulls: IntArray
    """(R, K): pulls in the rounds t >= floor(0.8 T)."""
    certificates: IntArray
    """(R, 3): round, arm and objective of the certificate, -1 if there is none."""
    checkpoint_pulls: IntArray
    """(R, C, K): pulls of every arm among the first n pulls, for every checkpoint n."""
    sums: FloatArray | None = None
    """(R, K, d): final sums of rewards, if asked for."""
    arms: NDArray[np.int32] | None = None
    """(R, T): the arm of every round, if asked for."""

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
        certificates = np.full((runs, 3), -1, dtype=np.int64)
        return RunBlock(
            pulls=np.zeros((runs, K), dtype=np.int64),
            tail_pulls=np.zeros((runs, K), dtype=np.int64),
            certificates=certificates,
            checkpoint_pulls=np.zeros((runs, C, K), dtype=np.int64),
            sums=np.zeros((runs, K, d)) if self.final_sums else None,
            arms=np.zeros((runs, self.horizon), dtype=np.int32) if self.arms else None,
        )

    def book(self, block: RunBlock, rows: slice) -> driver.Book:
        """Return some rows of a block in the form that the driver fills in."""
        return driver.Book(
            self.horizon,
            self.tail_start,
            self.checkpoints,
            block.pulls[rows],
            block.tail_pulls[rows],
            block.checkpoint_pulls[rows],
            block.certificates[rows],
            np.zeros((0, 0, 0)) if block.sums is None else block.sums[rows],
            np.zeros((0, 0), dtype=np.int32) if block.arms is None else block.arms[rows],
        )

    def player(self, fast: bool = False) -> Any:
        """Return a player of the policy, ready to start; an accelerator's if it has one."""
        kind = ACCELERATORS.get(type(self.policy)) if fast else None
        given = self.given
        return seat(self.policy, self.arrays.K, self.arrays.d, self.horizon, given, kind)


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
    require_policy(policy)
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
    """Play one run in CPython; returns a block of one run."""
    run = whole_number(run, "the run number", least=0)
    task = _task(instance, policy, horizon, seed, run, checkpoints, final_sums, arms)
    block = task.empty_block(1)
    _play_plain(task, block, 0, run, observer)
    return block


def _play_plain(
    task: Request, block: RunBlock, row: int, run: int, observer: Observer | None = None
) -> None:
    """Play one run in CPython, and write it into one row of the block."""
    player = task.player()
    kind = type(player)

    def select(player: Any, t: int, coin: Any) -> int:
        arm = int(kind.select(player, t, coin))
        if observer is not None:
            observer(player, t, arm)
        return arm

    coin = coins_for(coins_of(task.policy), task.seed, run)
    book, nothing = task.book(block, slice(row, row + 1)), np.zeros(0, dtype=np.uint8)
    with np.errstate(divide="ignore", invalid="ignore"):
        drive = _driver_in_python(policy_select=select, policy_moved=kind.moved)["drive"]
        drive(player, driver.Memory(nothing, nothing), pulls_for(task.arrays), coin, book, run)


_NO_SOURCE = RewardArrays(
    0, 1, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64), 0, 0
)


def _driver_in_python(**places: Any) -> dict[str, Any]:
    """Return the driver's functions with a policy's functions in their places, uncompiled."""
    names: dict[str, Any] = {**vars(driver), **places}
    for function in (driver.pull, driver.play_run, driver.drive):
        names[function.__name__] = FunctionType(function.__code__, names)
    return names


def play_rewards(
    policy: Policy, rewards: FloatArray, horizon: int, given: Given, coin: Coins
) -> tuple[list[int], Certificate | None]:
    """Play one run whose rewards are given, shape (K, n, d), until it commits or they run out.

    Returns the arms, that of the certificate included, and the certificate.
    """
    K, n, d = rewards.shape
    player, arms = seat(policy, K, d, horizon, given), []
    each = np.zeros(K, dtype=np.int64)
    pulls = Pulls(_NO_SOURCE, rewards, each, each + n, np.zeros(0, dtype=np.uint32))
    for t in range(min(horizon, K * n)):
        coin.t[0] = t
        arm = t if t < K else int(player.select(t, coin))
        if player.counts[arm] == n:
            break
        arms.append(arm)
        if player.commitment[UNTIL] >= horizon:
            return arms, Certificate(t, arm, int(player.commitment[OBJECTIVE]))
        driver.pull(player, pulls, coin, arm)
        player.moved(arm)
    return arms, None


@cache
def _compiler() -> ModuleType | None:
    """The module that compiles, or None without numba; imported on first use only."""
    try:
        from momab.engine import compiled as module
    except ImportError as error:
        if (error.name or "").startswith("momab"):
            raise  # a fault of ours, not of the installation
        return None
    return module


_outside: set[type] = set()
"""Classes that turned out not to be in the subset; each is mentioned once."""


def _in_subset(kind: type) -> bool:
    """Whether a class may be compiled; the first time it may not, say why on standard error."""
    if subset.is_ours(kind):
        return True
    why = subset.outside(kind)
    if why is not None:
        _leave_outside(kind, why)
    return kind not in _outside


def _leave_outside(kind: type, why: str) -> None:
    if kind not in _outside:
        _outside.add(kind)
        print(f"momab: {why}", file=sys.stderr)


def is_compiled(policy: Policy, engine: str = "auto") -> bool:
    """Whether :func:`play_block` would use a compiled driver for this policy."""
    if engine not in ENGINES:
        raise MomabError(f"engine must be one of {', '.join(ENGINES)}; it is {engine!r}.")
    if engine == "python":
        return False
    module = _compiler()
    found = module is not None and policy.compiled and _in_subset(type(policy))
    if engine in ("numba", "driver") and not found:
        why = "numba is not installed" if module is None else f"{policy.name} is not compiled"
        raise MomabError(f'engine="{engine}" cannot be used: {why}; use "auto" or "python".')
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
    is in the subset; "driver" leaves out accelerators.  An interrupt takes effect within about a
    second, between runs.
    """
    run_start = whole_number(run_start, "the first run", least=0)
    count = whole_number(count, "the number of runs", least=1)
    last = run_start + count - 1
    task = _task(instance, policy, horizon, seed, last, checkpoints, final_sums, arms)
    block = task.empty_block(count)
    if is_compiled(policy, engine):
        module = _compiler()
        assert module is not None
        try:
            _play_compiled(task, block, run_start, engine != "driver")
            return block
        except module.Refused as error:
            if subset.is_ours(type(policy)):
                raise
            _leave_outside(type(policy), subset.complaint(type(policy), error))
    for row in range(count):
        _play_plain(task, block, row, run_start + row)
    return block


def to_compile(policies: Iterable[tuple[Policy, str]]) -> list[type[Policy]]:
    """The kinds of policies, given with their engines, that this machine has not compiled yet."""
    module, found = _compiler(), []
    for policy, engine in policies:
        kind = type(policy)
        if module is None or kind in found or not is_compiled(policy, engine):
            continue
        player = ACCELERATORS.get(kind, kind) if engine != "driver" else kind
        if not module.is_kept(module.driver_for(player.select, player.moved)):
            found.append(kind)
    return found


def _play_compiled(task: Request, block: RunBlock, run_start: int, fast: bool) -> None:
    """Play all runs of a block with the compiled driver."""
    module = _compiler()
    assert module is not None
    player = task.player(fast)
    functions = (type(player).select, type(player).moved)
    drive = module.driver_for(*functions)
    seated, memory = module.seated(player, functions)
    coin, pulls = coins_for(coins_of(task.policy), task.seed), pulls_for(task.arrays)
    row, step, count = 0, 1, len(block.pulls)
    while row < count:
        began = perf_counter()
        stop = min(row + step, count)
        drive(seated, memory, pulls, coin, task.book(block, slice(row, stop)), run_start + row)
        # Few enough runs per call for an interrupt to be noticed, many enough to be fast.
        step = max(1, min(int(step * 0.2 / (perf_counter() - began + 1e-9)), 8 * step))
        row = stop


def draw_in_turn(
    instance: Instance, rounds: int, seed: int, run: int, engine: str = "auto"
) -> FloatArray:
    """Pull the arms one after the other and return the sums of their rewards, shape (K, d).

    No policy can play for less than the rewards cost, so this is what a policy's time is
    compared with: the same streams and buffers, and nothing to decide.
    """
    arrays = reward_arrays(instance.source)
    rounds = whole_number(rounds, "the number of rounds", least=1)
    validate_streams(arrays, rounds, seed, run)
    sums = np.zeros((arrays.K, arrays.d))
    module = None if engine == "python" else _compiler()
    draw = driver.take_turns if module is None else module.alone(driver.take_turns)
    draw(pulls_for(arrays), coins_for("", seed, run), rounds, sums)
    return sums
