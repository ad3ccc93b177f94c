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

jit = njit(cache=True, nogil=True, error_model="numpy")
inlined = njit(cache=True, nogil=True, error_model="numpy", inline="always")


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
    """Return the buffers: rewards made ahead per arm, first pull held, end, scratch words."""
    K, m, d = arrays.K, arrays.words, arrays.d
    pulls = max(2, min(64, 256 // max(m, d)))
    return (
        np.zeros((K, pulls, d)),
        np.zeros(K, dtype=np.int64),
        np.zeros(K, dtype=np.int64),
        np.zeros(4 * (pulls * m // 4 + 4), dtype=np.uint32),
    )


@jit
def _refill(arrays, ready, first, stop, words, a, n, run, key0, key1):  # type: ignore[no-untyped-def]
    """Make the rewards of pulls n, n + 1, ... of arm a: a few at first, then more at a time."""
    kind, m, thresholds, values, offsets, _, d = arrays
    pulls = min(ready.shape[1], max(2, 16 // m, n // 4))
    block = n * m // 4
    blocks = ((n + pulls) * m + 3) // 4 - block
    _fill(words, u64(block), blocks, u64(a), run, u64(0), key0, key1)
    # Unsigned positions spare the check for negative ones.
    at = u64(n * m - 4 * block)
    base = u64(a * d)
    for i in range(pulls):
        if kind == BERNOULLI:
            for j in range(d):
                one = words[at + u64(j)] < thresholds[base + u64(j)]
                ready[a, i, j] = 1.0 if one else 0.0
        elif kind == DUPLICATED:
            one = words[at] < thresholds[a]
            for j in range(d):
                ready[a, i, j] = 1.0 if one else 0.0
        elif kind == ROWS:
            size = u64(offsets[a + 1] - offsets[a])
            source = (u64(offsets[a]) + ((u64(words[at]) * size) >> u64(32))) * u64(d)
            for j in range(d):
                ready[a, i, j] = values[source + u64(j)]
        else:
            for j in range(d):
                start = u64(offsets[base + u64(j)])
                size = u64(offsets[base + u64(j + 1)]) - start
                ready[a, i, j] = values[start + ((u64(words[at + u64(j)]) * size) >> u64(32))]
        at += u64(m)
    first[a] = n
    stop[a] = n + pulls


@jit
def _draw_many(arrays, ready, first, stop, words, a, n, pulls, sums, run, key0, key1):  # type: ignore[no-untyped-def]
    """Add the rewards of pulls n, ..., n + pulls - 1 of arm a to its sums, in this order."""
    for n in range(n, n + pulls):
        if n >= stop[a]:
            _refill(arrays, ready, first, stop, words, a, n, run, key0, key1)
        i = n - first[a]
        for j in range(ready.shape[2]):
            sums[a, j] += ready[a, i, j]


# What a run leaves behind.


@jit
def _note(t, row, counts, checkpoints, at, tail_start, checkpoint_pulls, tail_pulls):  # type: ignore[no-untyped-def]
    """Record the counts if t is a checkpoint or starts the tail; return the next such round."""
    if t == tail_start:
        for a in range(counts.size):
            tail_pulls[row, a] = -counts[a]
    while at < checkpoints.size and checkpoints[at] == t:
        for a in range(counts.size):
            checkpoint_pulls[row, at, a] = counts[a]
        at += 1
    following = checkpoints[at] if at < checkpoints.size else np.int64(1) << 62
    if t < tail_start < following:
        following = tail_start
    return at, following


@jit
def _finish(  # type: ignore[no-untyped-def]
    T, t, arm, row, counts, checkpoints, at, tail_start, pulls, tail_pulls, checkpoint_pulls, arms
):
    """Give the pulls from round t on to one arm, and close the books."""
    for i in range(at, checkpoints.size):
        for a in range(counts.size):
            checkpoint_pulls[row, i, a] = counts[a]
        checkpoint_pulls[row, i, arm] += checkpoints[i] - t
    if t < tail_start:
        for a in range(counts.size):
            tail_pulls[row, a] = -counts[a]
        tail_pulls[row, arm] -= tail_start - t
    counts[arm] += T - t
    for a in range(counts.size):
        pulls[row, a] = counts[a]
        tail_pulls[row, a] += counts[a]
    if arms.size > 0:
        for i in range(t, T):
            arms[row, i] = arm


# Width-guided.


@jit
def _race(U, j, t, run, stream, key0, key1):  # type: ignore[no-untyped-def]
    """Scan one objective as the plain loop does.

    Returns the top two arms, the largest bound of the others, and whether a coin was used.
    """
    K = U.shape[0]
    first, second, third = -np.inf, -np.inf, -np.inf
    b, c = 0, 0
    for a in range(K):
        u = U[a, j]
        if u > second:
            third = second
            if u > first:
                second, c = first, b
                first, b = u, a
            else:
                second, c = u, a
        elif u > third:
            third = u
    if second < first - NEAR and third < second - NEAR:
        return b, c, third, False
    # Near ties: all arms within TIE of the best have the same chance.
    n = 0
    for a in range(K):
        if U[a, j] >= first - TIE:
            n += 1
    tied = n > 1
    if tied:
        k = np.int64((_coin(t, 2 * j, run, stream, key0, key1) * u64(n)) >> u64(32))
        for a in range(K):
            if U[a, j] >= first - TIE:
                if k == 0:
                    b = a
                k -= 1
    second = -np.inf
    for a in range(K):
        if a != b:
            second = max(second, U[a, j])
    n = 0
    for a in range(K):
        if a != b and U[a, j] >= second - TIE:
            if n == 0:
                c = a
            n += 1
    if n > 1:
        tied = True
        k = np.int64((_coin(t, 2 * j + 1, run, stream, key0, key1) * u64(n)) >> u64(32))
        for a in range(K):
            if a != b and U[a, j] >= second - TIE:
                if k == 0:
                    c = a
                k -= 1
    third = -np.inf
    for a in range(K):
        if a != b and a != c:
            third = max(third, U[a, j])
    return b, c, third, tied


@jit
def _own(own, owned, j, old_b, old_c, new_b, new_c):  # type: ignore[no-untyped-def]
    """Move objective j from the lists of the old pair to those of the new one."""
    for old in (old_b, old_c):
        if old >= 0 and old != new_b and old != new_c:
            i = 0
            while own[old, i] != j:
                i += 1
            owned[old] -= 1
            own[old, i] = own[old, owned[old]]
    for new in (new_b, new_c):
        if new != old_b and new != old_c:
            own[new, owned[new]] = j
            owned[new] += 1


@jit
def _certificate(b, c, W, U, beta, sums, counts, t, run, stream, key0, key1):  # type: ignore[no-untyped-def]
    """Choose the widest of the certifying objectives; -1 if there is none after all."""
    d = W.size
    proved = np.zeros(d, dtype=np.bool_)
    widest = -np.inf
    for j in range(d):
        proved[j] = sums[b[j], j] / counts[b[j]] - beta[b[j]] > U[c[j], j]
        if proved[j]:
            widest = max(widest, W[j])
    n = 0
    for j in range(d):
        if proved[j] and W[j] >= widest - TIE:
            n += 1
    chosen = -1
    if n > 0:
        k = np.int64((_coin(t, 2 * d, run, stream, key0, key1) * u64(n)) >> u64(32))
        for j in range(d):
            if proved[j] and W[j] >= widest - TIE:
                if k == 0:
                    chosen = j
                k -= 1
    return chosen


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
    """Play Width-guided.

    Per objective the kernel keeps the pair (b, c), its bounds and width, and an upper bound
    ``rest`` on every other arm's U; per arm, the objectives whose pair it belongs to.  A pull
    moves one arm, so only its own races change, and those it enters: these are found by
    counting the objectives where its U reaches U_c.  A race whose pair may have changed is
    scanned again, and so is, each round, a race decided by a coin.
    """
    K, d = arrays.K, arrays.d
    ready, first, stop, words = state
    counts = np.zeros(K, dtype=np.int64)
    sums = np.zeros((K, d))
    U = np.zeros((K, d))
    beta = np.zeros(K)
    b = np.zeros(d, dtype=np.int64)
    c = np.zeros(d, dtype=np.int64)
    Ub, Uc, rest, W = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    own = np.zeros((K, d), dtype=np.int64)
    owned = np.zeros(K, dtype=np.int64)
    saved = np.zeros(d)
    stale = np.zeros(d, dtype=np.int64)
    coined = np.zeros(d, dtype=np.bool_)
    for row in range(pulls.shape[0]):
        run = u64(run_start + row)
        counts.fill(0)
        stop.fill(0)
        sums.fill(0.0)
        owned.fill(0)
        b.fill(-1)
        c.fill(-1)
        coined.fill(False)
        at, event, coins, stales = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        arm, t = np.int64(0), np.int64(0)
        proved = False
        while t < T:
            if t == event:
                at, event = _note(
                    t, row, counts, checkpoints, at, tail_start, checkpoint_pulls, tail_pulls
                )
            if t < K:
                arm = t
            else:
                if t == K:
                    for j in range(d):
                        stale[j] = j
                    stales = d
                elif coins > 0:
                    for j in range(d):
                        if coined[j]:
                            stale[stales] = j
                            stales += 1
                for i in range(stales):
                    j = stale[i]
                    new_b, new_c, rest[j], coin = _race(U, j, t, run, stream, key0, key1)
                    coins += (1 if coin else 0) - (1 if coined[j] else 0)
                    coined[j] = coin
                    _own(own, owned, j, b[j], c[j], new_b, new_c)
                    b[j], c[j] = new_b, new_c
                    Ub[j], Uc[j] = U[new_b, j], U[new_c, j]
                    W[j] = beta[new_b] + beta[new_c]
                    low = sums[new_b, j] / counts[new_b] - beta[new_b]
                    proved |= low > Uc[j]
                if proved:
                    j = _certificate(b, c, W, U, beta, sums, counts, t, run, stream, key0, key1)
                    if j >= 0:
                        arm = b[j]
                        cert_round[row], cert_arm[row], cert_objective[row] = t, arm, j
                        break
                    proved = False
                # Which race?  Usually several are equally wide: a coin decides between them,
                # unless they all lead to the same arm, or to the same tied pair of arms.
                j = champion
                if rule == 0:
                    m0, m1, m2, m3 = W[0], W[0], W[0], W[0]  # four at a time: less waiting
                    for i in range(0, d - 3, 4):
                        m0 = max(m0, W[i])
                        m1 = max(m1, W[i + 1])
                        m2 = max(m2, W[i + 2])
                        m3 = max(m3, W[i + 3])
                    for i in range(d - d % 4, d):
                        m0 = max(m0, W[i])
                    least = max(max(m0, m1), max(m2, m3)) - TIE
                    widest, goal, differ = 0, -1, 0
                    for i in range(d):
                        if W[i] >= least:
                            radius_b, radius_c = beta[b[i]], beta[c[i]]
                            most = max(radius_b, radius_c) - TIE
                            low, high = min(b[i], c[i]), max(b[i], c[i])
                            goal_i = K + low * K + high
                            if radius_b < most:
                                goal_i = c[i]
                            elif radius_c < most:
                                goal_i = b[i]
                            if widest == 0:
                                j, goal = i, goal_i
                            differ |= goal_i ^ goal
                            widest += 1
                    if differ != 0:
                        word = _coin(t, 2 * d + 1, run, stream, key0, key1)
                        k = np.int64((word * u64(widest)) >> u64(32))
                        for i in range(d):
                            if W[i] >= least:
                                if k == 0:
                                    j = i
                                k -= 1
                elif rule == 1:
                    word = _coin(t, 2 * d + 1, run, stream, key0, key1)
                    j = np.int64((word * u64(d)) >> u64(32))
                elif rule == 2:
                    j = (t - K) % d
                # Which arm of the pair?
                most = max(beta[b[j]], beta[c[j]]) - TIE
                if beta[b[j]] < most:
                    arm = c[j]
                elif beta[c[j]] < most:
                    arm = b[j]
                else:
                    half = _coin(t, 2 * d + 2, run, stream, key0, key1) >> u64(31)
                    arm = min(b[j], c[j]) if half == 0 else max(b[j], c[j])
            # One pull, written out: a call would cost more than the work.
            if counts[arm] >= stop[arm]:
                _refill(arrays, ready, first, stop, words, arm, counts[arm], run, key0, key1)
            i = counts[arm] - first[arm]
            for j in range(d):
                sums[arm, j] += ready[arm, i, j]
            counts[arm] += 1
            n = float(counts[arm])
            radius = math.sqrt(clog / n)
            beta[arm] = radius
            if arms.size > 0:
                arms[row, t] = arm
            t += 1
            mine = owned[arm]
            for i in range(mine):
                saved[i] = rest[own[arm, i]]
            reached = 0
            for j in range(d):
                u = sums[arm, j] / n + radius
                U[arm, j] = u
                reached += 1 if u > Uc[j] - NEAR else 0
                rest[j] = u if u > rest[j] else rest[j]
            stales = 0
            for i in range(mine):
                j = own[arm, i]
                u = U[arm, j]
                rest[j] = saved[i]
                reached -= 1 if u > Uc[j] - NEAR else 0
                if b[j] == arm:
                    keep = u > Uc[j] + NEAR
                    Ub[j] = u
                    W[j] = radius + beta[c[j]]
                else:
                    keep = u > rest[j] + NEAR and u < Ub[j] - NEAR
                    Uc[j] = u
                    W[j] = radius + beta[b[j]]
                if coined[j]:
                    continue
                if keep:
                    proved |= Ub[j] - 2.0 * beta[b[j]] > Uc[j] - NEAR
                else:
                    stale[stales] = j
                    stales += 1
            if reached > 0:
                for j in range(d):
                    if U[arm, j] > Uc[j] - NEAR and b[j] != arm and c[j] != arm and not coined[j]:
                        stale[stales] = j
                        stales += 1
        _finish(
            T,
            t,
            arm,
            row,
            counts,
            checkpoints,
            at,
            tail_start,
            pulls,
            tail_pulls,
            checkpoint_pulls,
            arms,
        )
        if final_sums.size > 0:
            if t < T:
                n = counts[arm] - (T - t)
                _draw_many(arrays, ready, first, stop, words, arm, n, T - t, sums, run, key0, key1)
            for a in range(K):
                for j in range(d):
                    final_sums[row, a, j] = sums[a, j]


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
