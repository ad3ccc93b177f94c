r"""Every compiled kernel, in one module: numba's cache does not see edits in other files.

A kernel plays whole runs and makes the same decisions as the plain loop of momab.twin, arm by
arm.  Rewards come from :mod:`momab.streams`; they are made many at a time into one buffer per
arm, in a loop that the compiler turns into vector instructions.  Nothing here may change a
digit: no fastmath, sums in pull order, the same expressions as the selection functions, and
every shortcut decides only what the full computation would decide as well.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numba import njit

from momab.policies import (
    OBJECTIVE_RULES,
    TIE,
    AnnealingPareto,
    ParetoUCB1,
    ScalarizedUCB,
    WidthGuided,
)
from momab.streams import BERNOULLI, DUPLICATED, ROWS, coin_stream, log

if TYPE_CHECKING:
    from momab.twin import Block, Task

u32, u64 = np.uint32, np.uint64
LOW = u64(0xFFFFFFFF)
NEAR = 4 * TIE
"""Differences below this are left to the expressions of the plain loop."""
GUARD = 1e-11
"""What rounding can do to a difference of bounds, with a margin of four digits."""

jit = njit(cache=True, nogil=True)
inlined = njit(cache=True, nogil=True, inline="always")


# Random words.


@inlined
def _philox(x0, x1, x2, x3, key0, key1):  # type: ignore[no-untyped-def]
    for _ in range(10):
        p0 = u64(0xD2511F53) * x0
        p1 = u64(0xCD9E8D57) * x2
        x0, x1 = (p1 >> u64(32)) ^ x1 ^ key0, p1 & LOW
        x2, x3 = (p0 >> u64(32)) ^ x3 ^ key1, p0 & LOW
        key0 = (key0 + u64(0x9E3779B9)) & LOW
        key1 = (key1 + u64(0xBB67AE85)) & LOW
    return x0, x1, x2, x3


@jit
def _fill(out, block, blocks, slot, run, stream, key0, key1):  # type: ignore[no-untyped-def]
    """Write the words of consecutive blocks."""
    for i in range(blocks):
        w0, w1, w2, w3 = _philox((block + u64(i)) & LOW, slot, run, stream, key0, key1)
        out[4 * i] = u32(w0)
        out[4 * i + 1] = u32(w1)
        out[4 * i + 2] = u32(w2)
        out[4 * i + 3] = u32(w3)


@jit
def _coin(t, slot, run, stream, key0, key1):  # type: ignore[no-untyped-def]
    """Return the word of one coin."""
    w0, w1, w2, w3 = _philox(u64(t), u64(slot // 4), run, stream, key0, key1)
    lane = slot % 4
    return w0 if lane == 0 else w1 if lane == 1 else w2 if lane == 2 else w3


@jit
def _first_coins(out, t, run, stream, key0, key1):  # type: ignore[no-untyped-def]
    """Write the words of slot 0 of consecutive rounds."""
    for i in range(out.size):
        out[i] = _philox((u64(t) + u64(i)) & LOW, u64(0), run, stream, key0, key1)[0]


# Rewards.


def _reward_state(arrays: Any) -> tuple[Any, ...]:
    """Return the per-arm buffers of words: rows of words, first word held, end of words held."""
    blocks = max(64, arrays.words // 4 + 2)
    return (
        np.zeros((arrays.K, 4 * blocks), dtype=np.uint32),
        np.zeros(arrays.K, dtype=np.int64),
        np.zeros(arrays.K, dtype=np.int64),
    )


@jit
def _refill(buffer, first, stop, a, word, words, run, key0, key1):  # type: ignore[no-untyped-def]
    """Hold words from ``word`` on: a few at first, more as the arm goes on being pulled."""
    block = word // 4
    least = (word + words + 3) // 4 - block
    blocks = min(buffer.shape[1] // 4, max(least, 8 + (block // 64) * 8))
    _fill(buffer[a], u64(block), blocks, u64(a), run, u64(0), key0, key1)
    first[a] = 4 * block
    stop[a] = 4 * (block + blocks)


@jit
def _draw(arrays, state, a, n, pulls, sums, run, key0, key1):  # type: ignore[no-untyped-def]
    """Add the rewards of pulls n, ..., n + pulls - 1 of arm a to its sums, in this order."""
    buffer, first, stop = state
    m, d = arrays.words, arrays.d
    while pulls > 0:
        word = n * m
        if word + m > stop[a]:
            _refill(buffer, first, stop, a, word, m, run, key0, key1)
        ready = (stop[a] - word) // m if m > 1 else stop[a] - word
        ready = min(ready, pulls)
        at = word - first[a]
        if arrays.kind == BERNOULLI:
            for _ in range(ready):
                for j in range(d):
                    if buffer[a, at + j] < arrays.thresholds[a * d + j]:
                        sums[a, j] += 1.0
                at += d
        elif arrays.kind == DUPLICATED:
            ones = 0.0
            for i in range(ready):
                if buffer[a, at + i] < arrays.thresholds[a]:
                    ones += 1.0
            for j in range(d):
                sums[a, j] += ones
        elif arrays.kind == ROWS:
            start = arrays.offsets[a]
            size = u64(arrays.offsets[a + 1] - start)
            for i in range(ready):
                row = (start + np.int64((u64(buffer[a, at + i]) * size) >> u64(32))) * d
                for j in range(d):
                    sums[a, j] += arrays.values[row + j]
        else:
            for _ in range(ready):
                for j in range(d):
                    start = u64(arrays.offsets[a * d + j])
                    size = u64(arrays.offsets[a * d + j + 1]) - start
                    sums[a, j] += arrays.values[
                        start + ((u64(buffer[a, at + j]) * size) >> u64(32))
                    ]
                at += d
        n += ready
        pulls -= ready


# What a run leaves behind.


@jit
def _note(t, counts, checkpoints, at, tail_start, checkpoint_pulls, tail_pulls):  # type: ignore[no-untyped-def]
    """Record the counts if t is a checkpoint or starts the tail; return the next such round."""
    if t == tail_start:
        tail_pulls[:] = -counts
    while at < checkpoints.size and checkpoints[at] == t:
        checkpoint_pulls[at] = counts
        at += 1
    following = checkpoints[at] if at < checkpoints.size else np.int64(1) << 62
    if t < tail_start < following:
        following = tail_start
    return at, following


@jit
def _width_guided(  # type: ignore[no-untyped-def]
    arrays,
    state,
    clog,
    rule,
    champion,
    T,
    run_start,
    key0,
    key1,
    stream,
    checkpoints,
    tail_start,
    pulls,
    tail_pulls,
    cert_round,
    cert_arm,
    cert_objective,
    checkpoint_pulls,
    final_sums,
    arms,
):
    K, d = arrays.K, arrays.d
    sums = np.zeros((K, d))
    U = np.zeros((K, d))
    L = np.zeros((K, d))
    beta = np.zeros(K)
    b = np.zeros(d, dtype=np.int64)
    c = np.zeros(d, dtype=np.int64)
    W = np.zeros(d)
    for row in range(pulls.shape[0]):
        run = u64(run_start + row)
        counts = pulls[row]
        state[1][:] = 0
        state[2][:] = 0
        sums[:] = 0.0
        at, event = 0, 0
        arm = 0
        t = 0
        while t < T:
            if t == event:
                at, event = _note(
                    t, counts, checkpoints, at, tail_start, checkpoint_pulls[row], tail_pulls[row]
                )
            if t < K:
                arm = t
            else:
                best_cert = -1.0
                ncert = 0
                for j in range(d):
                    mx = U[0, j]
                    for a in range(1, K):
                        mx = max(mx, U[a, j])
                    n = 0
                    for a in range(K):
                        if U[a, j] >= mx - TIE:
                            if n == 0:
                                b[j] = a
                            n += 1
                    if n > 1:
                        k = np.int64((_coin(t, 2 * j, run, stream, key0, key1) * u64(n)) >> u64(32))
                        for a in range(K):
                            if U[a, j] >= mx - TIE:
                                if k == 0:
                                    b[j] = a
                                k -= 1
                    mx = -np.inf
                    for a in range(K):
                        if a != b[j]:
                            mx = max(mx, U[a, j])
                    n = 0
                    for a in range(K):
                        if a != b[j] and U[a, j] >= mx - TIE:
                            if n == 0:
                                c[j] = a
                            n += 1
                    if n > 1:
                        k = np.int64(
                            (_coin(t, 2 * j + 1, run, stream, key0, key1) * u64(n)) >> u64(32)
                        )
                        for a in range(K):
                            if a != b[j] and U[a, j] >= mx - TIE:
                                if k == 0:
                                    c[j] = a
                                k -= 1
                    W[j] = beta[b[j]] + beta[c[j]]
                    if L[b[j], j] > U[c[j], j]:
                        ncert += 1
                        best_cert = max(best_cert, W[j])
                if ncert > 0:
                    n = 0
                    for j in range(d):
                        if L[b[j], j] > U[c[j], j] and W[j] >= best_cert - TIE:
                            n += 1
                    k = np.int64((_coin(t, 2 * d, run, stream, key0, key1) * u64(n)) >> u64(32))
                    for j in range(d):
                        if L[b[j], j] > U[c[j], j] and W[j] >= best_cert - TIE:
                            if k == 0:
                                cert_objective[row] = j
                            k -= 1
                    cert_round[row] = t
                    arm = b[cert_objective[row]]
                    cert_arm[row] = arm
                    break
                J = champion
                if rule == 0:
                    mx = W.max()
                    n = 0
                    for j in range(d):
                        if W[j] >= mx - TIE:
                            n += 1
                    k = np.int64((_coin(t, 2 * d + 1, run, stream, key0, key1) * u64(n)) >> u64(32))
                    for j in range(d):
                        if W[j] >= mx - TIE:
                            if k == 0:
                                J = j
                            k -= 1
                elif rule == 1:
                    J = np.int64((_coin(t, 2 * d + 1, run, stream, key0, key1) * u64(d)) >> u64(32))
                elif rule == 2:
                    J = (t - K) % d
                lo, hi = min(b[J], c[J]), max(b[J], c[J])
                mx = max(beta[lo], beta[hi]) - TIE
                if beta[lo] >= mx and beta[hi] >= mx:
                    k = (_coin(t, 2 * d + 2, run, stream, key0, key1) * u64(2)) >> u64(32)
                    arm = lo if k == 0 else hi
                else:
                    arm = lo if beta[lo] >= mx else hi
            _draw(arrays, state, arm, counts[arm], 1, sums, run, key0, key1)
            counts[arm] += 1
            n = counts[arm]
            beta[arm] = math.sqrt(clog / n)
            for j in range(d):
                mean = sums[arm, j] / n
                U[arm, j] = mean + beta[arm]
                L[arm, j] = mean - beta[arm]
            if arms.size > 0:
                arms[row, t] = arm
            t += 1
        _finish(
            T, t, arm, counts, checkpoints, at, tail_start, checkpoint_pulls[row], tail_pulls[row]
        )
        if arms.size > 0:
            arms[row, t:] = arm
        if final_sums.size > 0:
            if t < T:
                _draw(arrays, state, arm, counts[arm] - (T - t), T - t, sums, run, key0, key1)
            final_sums[row] = sums


@jit
def _finish(T, t, arm, counts, checkpoints, at, tail_start, checkpoint_pulls, tail_pulls):  # type: ignore[no-untyped-def]
    """Give the pulls from round t on to one arm, and close the books."""
    for i in range(at, checkpoints.size):
        checkpoint_pulls[i] = counts
        checkpoint_pulls[i, arm] += checkpoints[i] - t
    if t < tail_start:
        tail_pulls[:] = -counts
        tail_pulls[arm] -= tail_start - t
    counts[arm] += T - t
    tail_pulls += counts


def _keys(task: Task) -> tuple[Any, ...]:
    return u64(task.seed & 0xFFFFFFFF), u64(task.seed >> 32), u64(coin_stream(task.policy.name))


def _run_width_guided(
    task: Task, run_start: int, common: tuple[Any, ...], out: tuple[Any, ...]
) -> None:
    policy = cast(WidthGuided, task.policy)
    _width_guided(
        task.arrays,
        _reward_state(task.arrays),
        policy.c * log(task.horizon),
        OBJECTIVE_RULES.index(policy.objective_rule),
        task.given.champion_objective,
        task.horizon,
        run_start,
        *common,
        *out,
    )


KERNELS = {
    WidthGuided: _run_width_guided,
}


def play_rows(block: Block, task: Task, start: int, stop: int, run_start: int) -> None:
    """Play rows ``start``, ..., ``stop - 1`` of a block; row r is run ``run_start + r``."""
    rows = slice(start, stop)
    none = np.zeros((0, 0, 0))
    out = (
        block.pulls[rows],
        block.tail_pulls[rows],
        block.cert_round[rows],
        block.cert_arm[rows],
        block.cert_objective[rows],
        block.checkpoint_pulls[rows],
        none if block.sums is None else block.sums[rows],
        np.zeros((0, 0), dtype=np.int32) if block.arms is None else block.arms[rows],
    )
    common = (*_keys(task), task.checkpoints, task.tail_start)
    KERNELS[type(task.policy)](task, run_start + start, common, out)
