"""The door to the driver: play runs of a policy on an instance, compiled or not.

:func:`play_block` plays many runs, compiled where numba is installed and the policy is in the
plain-loop subset, and as it stands elsewhere; the digits are the same.  :func:`play` plays one
run in CPython and lets an observer look.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from types import FunctionType, ModuleType
from typing import Any, TypedDict, Unpack

import numpy as np

from momab._util.validate import LONGEST, FloatArray, IntArray, horizon_for, whole_number
from momab.engine import driver, subset
from momab.engine.accelerators import ACCELERATORS
from momab.engine.driver import RunBlock, empty_block
from momab.engine.policies.base import (
    Certificate,
    Given,
    Policy,
    coins_of,
    given_for,
    require_policy,
    seat,
)
from momab.engine.reached import is_ours
from momab.engine.streams import (
    Coins,
    Pulls,
    RewardArrays,
    coins_for,
    pulls_for,
    reward_arrays,
    validate_streams,
)
from momab.errors import MomabError, NoArmError
from momab.model.instances import Instance

ENGINES = ("auto", "numba", "driver", "python")
"""Compiled if possible; compiled; compiled without accelerators; as it stands."""

Observer = Callable[[Any, int, int], None]
"""Called after every decision with the player, the round and the chosen arm, before the pull.
The player is live: copy what you keep."""


class Wanted(TypedDict, total=False):
    """What else runs may be asked for."""

    final_sums: bool
    """The sums of rewards at the end, the only thing that needs rewards after a commitment."""
    arms: bool
    """The arm of every round."""
    engine: str
    """One of :data:`ENGINES`; "auto" is the default."""


@dataclass(frozen=True)
class Match:
    """One policy on one instance, validated: all that decides what a run does but its number."""

    source: RewardArrays
    policy: Policy
    given: Given
    horizon: int
    seed: int

    def player(self, fast: bool = False) -> Any:
        """Return a player of the policy, ready to start; an accelerator's if it has one."""
        kind = ACCELERATORS.get(type(self.policy)) if fast else None
        return seat(self.policy, self.source.K, self.source.d, self.horizon, self.given, kind)

    def coins(self, run: int = 0) -> Coins:
        """Open the policy's coins."""
        return coins_for(coins_of(self.policy), self.seed, run)


def _match(instance: Instance, policy: Policy, horizon: int, seed: int, last_run: int) -> Match:
    source = reward_arrays(instance.source)
    require_policy(policy)
    horizon = horizon_for(horizon, source.K, LONGEST)
    seed = whole_number(seed, "the seed", least=0)
    validate_streams(source, horizon, seed, last_run)
    return Match(source, policy, given_for(instance.means), horizon, seed)


def _checkpoints(given: Sequence[int] | IntArray, horizon: int) -> IntArray:
    rounds = np.asarray(given if len(given) else np.zeros(0, dtype=np.int64))
    if rounds.ndim != 1 or rounds.dtype.kind not in "iu":
        raise MomabError("checkpoints must be a list of whole numbers.")
    if len(rounds) and (np.diff(rounds).min(initial=0) < 0 or not 0 <= rounds[0] <= rounds[-1]):
        raise MomabError("checkpoints must be sorted numbers of pulls, starting at 0 or later.")
    if len(rounds) and rounds[-1] > horizon:
        raise MomabError(
            f"checkpoints must not exceed the horizon, {horizon}; the last one is {rounds[-1]}."
        )
    return rounds.astype(np.int64)


def play(
    instance: Instance,
    policy: Policy,
    horizon: int,
    seed: int,
    run: int,
    arms: bool = False,
    observer: Observer | None = None,
) -> RunBlock:
    """Play one run in CPython; returns a block of one run."""
    run = whole_number(run, "the run number", least=0)
    match = _match(instance, policy, horizon, seed, run)
    block = empty_block(instance.K, instance.d, match.horizon, 1, arms=arms)
    _play_plain(match.player(), pulls_for(match.source), match.coins(), block, run, observer)
    return block


def _play_plain(
    player: Any,
    pulls: Pulls,
    coin: Coins,
    block: RunBlock,
    run: int,
    observer: Observer | None = None,
    **places: Any,
) -> None:
    """Play one run in CPython, with the policy's functions in the driver's places."""
    kind, nothing = type(player), np.zeros(0, dtype=np.uint8)

    def select(player: Any, t: int, coin: Any) -> int:
        arm = kind.select(player, t, coin)
        if not isinstance(arm, (int, np.integer)):
            raise NoArmError
        if observer is not None:
            observer(player, t, int(arm))
        return int(arm)

    names = {**vars(driver), "policy_select": select, "policy_moved": kind.moved, **places}
    for function in (driver.pull, driver.play_run, driver.drive):
        names[function.__name__] = FunctionType(function.__code__, names)
    with np.errstate(divide="ignore", invalid="ignore"), _an_arm_each_round(player, coin):
        names["drive"](player, driver.Memory(nothing, nothing), pulls, coin, block, run)


@contextmanager
def _an_arm_each_round(player: Any, coin: Coins) -> Iterator[None]:
    """Say which policy chose something else, and when."""
    try:
        yield
    except NoArmError:
        raise MomabError(
            f"select of {type(player).__name__} must choose an arm, a whole number from 0 to "
            f"{player.K - 1}; in round {coin.t[0]} it does not."
        ) from None


_NO_SOURCE = RewardArrays(
    0, 1, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64), 0, 0
)


def play_rewards(
    policy: Policy, rewards: FloatArray, horizon: int, given: Given, coin: Coins
) -> tuple[list[int], Certificate | None]:
    """Play one run whose rewards are given, shape (K, n, d), until it commits or they run out.

    Returns the arms, that of the certificate included, and the certificate.
    """
    K, n, d = rewards.shape
    player, block, arms = seat(policy, K, d, horizon, given), empty_block(K, d, horizon, 1), []
    first, stop = np.zeros((2, K), dtype=np.int64)
    pulls = Pulls(_NO_SOURCE, rewards, first, stop, np.zeros(0, dtype=np.uint32))

    def refill(pulls: Pulls, coin: Coins, arm: int, pulled: int) -> None:
        if pulled == n:
            raise EOFError
        pulls.stop[arm] = n

    def moved(player: Any, arm: int) -> None:
        arms.append(arm)
        type(player).moved(player, arm)

    with suppress(EOFError):
        _play_plain(player, pulls, coin, block, 0, refill=refill, policy_moved=moved)
    certificate = certificate_of(block, 0)
    return arms + ([certificate.arm] if certificate else []), certificate


def certificate_of(block: RunBlock, row: int) -> Certificate | None:
    """Return the certificate of one of the runs, if it has one."""
    certificate = Certificate(*block.certificates[row].tolist())
    return certificate if certificate.t >= 0 else None


@cache
def compiler() -> ModuleType | None:
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
    if is_ours(kind):
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
    module = compiler()
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
    **wanted: Unpack[Wanted],
) -> RunBlock:
    """Play runs ``run_start``, ..., ``run_start + count - 1`` and return what they did.

    ``checkpoints`` are sorted numbers of pulls; :class:`Wanted` says what else there is.
    ``engine`` is "numba", "python", or "auto": numba if it is installed and the policy
    is in the subset; "driver" leaves out accelerators.  An interrupt takes effect within about a
    second, between runs.
    """
    run_start = whole_number(run_start, "the first run", least=0)
    count = whole_number(count, "the number of runs", least=1)
    engine = wanted.pop("engine", "auto")
    kept: Any = wanted  # the others, by name
    match = _match(instance, policy, horizon, seed, run_start + count - 1)
    rounds = _checkpoints(checkpoints, match.horizon)
    block = empty_block(instance.K, instance.d, match.horizon, count, rounds, **kept)
    if is_compiled(policy, engine):
        module = compiler()
        assert module is not None
        try:
            _play_compiled(match, block, run_start, engine != "driver")
            return block
        except module.Refused as error:
            if is_ours(type(policy)):
                raise
            _leave_outside(type(policy), subset.complaint(type(policy), error))
    for row in range(count):
        part, run = block.rows(row, row + 1), run_start + row
        _play_plain(match.player(), pulls_for(match.source), match.coins(), part, run)
    return block


def to_compile(policies: Iterable[tuple[Policy, str]]) -> list[type[Policy]]:
    """The kinds of policies, given with their engines, that this machine has not compiled yet."""
    module, found = compiler(), []
    for policy, engine in policies:
        kind = type(policy)
        if module is None or kind in found or not is_compiled(policy, engine):
            continue
        player = ACCELERATORS.get(kind, kind) if engine != "driver" else kind
        if not module.is_kept(module.driver_for(player.select, player.moved)):
            found.append(kind)
    return found


def _play_compiled(match: Match, block: RunBlock, run_start: int, fast: bool) -> None:
    """Play all runs of a block with the compiled driver."""
    module = compiler()
    assert module is not None
    player = match.player(fast)
    functions = (type(player).select, type(player).moved)
    drive = module.driver_for(*functions)
    seated, memory = module.seated(player, functions)
    coin, pulls = match.coins(), pulls_for(match.source)
    row, step, count = 0, 1, len(block.pulls)
    while row < count:
        began = perf_counter()
        stop = min(row + step, count)
        rows = block.rows(row, stop)
        with _an_arm_each_round(player, coin):
            try:
                drive(seated, memory, pulls, coin, rows, run_start + row)
            except ModuleNotFoundError as error:
                if error.name != "<dynamic>":
                    raise
                drive = module.driver_for(*functions, keep=False)
                drive(seated, memory, pulls, coin, rows, run_start + row)
        # Few enough runs per call for an interrupt to be noticed, many enough to be fast.
        step = max(1, min(int(step * 0.2 / (perf_counter() - began + 1e-9)), 8 * step))
        row = stop
