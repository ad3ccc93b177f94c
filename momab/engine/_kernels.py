r"""Every compiled kernel, in one module: numba's cache does not see edits in other files.

A kernel plays whole runs and makes the same decisions as the plain loop of
momab.engine.loop, arm by arm.  Rewards come from :mod:`momab.engine.streams`; they are made many
at a time into one buffer per arm, in a loop that the compiler turns into vector
instructions.  Nothing here may change a digit: no fastmath, sums in pull order, the same
expressions as the selection functions, and
every shortcut decides only what the full computation would decide as well.
"""
# numba finds the types of the kernels:
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numba import njit

from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.anytime import AnytimeWidthGuided, epoch_end
from momab.engine.policies.base import OBJECTIVE_SLOT, TIE, OneObjective, coins_of
from momab.engine.policies.kl_ucb import KLUCB, PRECISION
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.policies.pareto_thompson import CELL, SQUEEZE, ParetoThompson
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB
from momab.engine.policies.single_ucb1 import SingleUCB1
from momab.engine.policies.width_guided import OBJECTIVE_RULES, WidthGuided
from momab.engine.streams import BERNOULLI, DUPLICATED, ROWS, coin_stream
from momab.model.numerics import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from momab._util.validate import FloatArray
    from momab.engine.loop import Request, RunBlock
    from momab.engine.streams import RewardArrays

u32, u64, f32 = np.uint32, np.uint64, np.float32
LOW = u64(0xFFFFFFFF)
NEAR = 4 * TIE
"""Differences below this are left to the expressions of the plain loop."""
GUARD = 1e-11
"""What rounding can do to a difference of bounds, with a margin of four digits."""

FEW = 4
"""Width-guided keeps the arms in order on each of so few objectives."""

WIDE = 64
"""Width-guided keeps the state of so many objectives in rows of this length."""

STRIDE = u64(4 * WIDE + 8)
"""From arm to arm in a table of four rows; a power of two would crowd them in the cache."""

PLACES = np.array(
    [[*(i for i in range(8) if byte >> i & 1), *[0] * 8][:8] for byte in range(256)], dtype=np.int64
)
"""Where the bits of a byte are that are set."""

SLOWEST = 0.97
"""1 / sqrt(N) falls by no more than this factor while N grows by a sixteenth."""

LAZY, EAGER, BUSY = 256, 4096, 20
"""Pareto UCB1: rounds of a trial with boxes, least rounds without, how often a box may be left."""

FLIP, SQRT_HALF, HALF_CELL = np.int32(-(2**31)), np.int32(0x3F3504F3), f32(2**-31)
"""Pareto Thompson: flips the sign, the bits of sqrt(1/2), half a cell in (-1, 1)."""

jit = njit(cache=True, nogil=True, error_model="numpy")
# Functions that make no arrays need no counts of who uses them, which are kept with locked
# instructions: half the time of a short function.
without_counts: dict[str, Any] = {"_nrt": False}  # numba's stubs do not know it
lean = njit(cache=True, nogil=True, error_model="numpy", **without_counts)
# Maxima and minima become vector instructions only if they need not care for NaN and the sign
# of zero.  There are none here, and nothing else about the arithmetic changes.
jit_extremes = njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"}, **without_counts
)
inlined = njit(cache=True, nogil=True, error_model="numpy", inline="always")


# Random words.


@inlined
def _philox(x0, x1, x2, x3, key0, key1):
    for _ in range(10):
        p0 = u64(0xD2511F53) * x0
        p1 = u64(0xCD9E8D57) * x2
        x0, x1 = (p1 >> u64(32)) ^ x1 ^ key0, p1 & LOW
        x2, x3 = (p0 >> u64(32)) ^ x3 ^ key1, p0 & LOW
        key0 = (key0 + u64(0x9E3779B9)) & LOW
        key1 = (key1 + u64(0xBB67AE85)) & LOW
    return x0, x1, x2, x3


@lean
def _fill(out, block, blocks, slot, run, stream, key0, key1):
    """Write the words of consecutive blocks."""
    for i in range(blocks):
        w0, w1, w2, w3 = _philox((block + u64(i)) & LOW, slot, run, stream, key0, key1)
        out[4 * i] = u32(w0)
        out[4 * i + 1] = u32(w1)
        out[4 * i + 2] = u32(w2)
        out[4 * i + 3] = u32(w3)


@lean
def _coin(t, slot, run, stream, key0, key1):
    """Return the word of one coin."""
    w0, w1, w2, w3 = _philox(u64(t), u64(slot // 4), run, stream, key0, key1)
    lane = slot % 4
    return w0 if lane == 0 else w1 if lane == 1 else w2 if lane == 2 else w3


@lean
def _two_coins(t, slot, run, stream, key0, key1):
    """Return the words of an even slot and of the next one."""
    w0, w1, w2, w3 = _philox(u64(t), u64(slot // 4), run, stream, key0, key1)
    return (w0, w1) if slot % 4 == 0 else (w2, w3)


@lean
def _first_coins(out, t, run, stream, key0, key1):
    """Write the words of slot 0 of consecutive rounds."""
    for i in range(out.size):
        out[i] = _philox((u64(t) + u64(i)) & LOW, u64(0), run, stream, key0, key1)[0]


@lean
def _coins_ahead(out, t, slot, run, stream, key0, key1):
    """Write the words of two consecutive slots, out[0] and out[1], of consecutive rounds."""
    lane, group = slot % 4, u64(slot // 4)
    for i in range(out.shape[1]):
        words = _philox((u64(t) + u64(i)) & LOW, group, run, stream, key0, key1)
        w0, w1, w2, w3 = words
        out[0, i] = w0 if lane == 0 else w1 if lane == 1 else w2 if lane == 2 else w3
        out[1, i] = w1 if lane == 0 else w2 if lane == 1 else w3
    if lane == 3:
        for i in range(out.shape[1]):
            out[1, i] = _philox((u64(t) + u64(i)) & LOW, group + u64(1), run, stream, key0, key1)[0]


# Rewards.


def _source(arrays: RewardArrays) -> tuple[Any, ...]:
    """Return the reward arrays with buffers: rewards made ahead, and which pulls they are.

    Rows of many rewards are padded with zeros: no rest is left when several are done at a time.
    """
    K, m, d = arrays.K, arrays.words, arrays.d
    pulls = max(2, min(64, 256 // max(m, d)))
    ready = np.zeros((K, pulls, d if d <= FEW else (d + 15) // 16 * 16))
    first, stop = np.zeros(K, dtype=np.int64), np.zeros(K, dtype=np.int64)
    words = np.zeros(4 * (pulls * m // 4 + 4), dtype=np.uint32)
    return (*arrays[:5], ready, first, stop, words, d)


@lean
def _refill(source, a, n, run, key0, key1):
    """Make the rewards of pulls n, n + 1, ... of arm a: a few at first, then more at a time."""
    kind, m, thresholds, values, offsets, ready, first, stop, words, d = source
    pulls = min(ready.shape[1], max(2, 32 // m, n // 2))
    block = n * m // 4
    blocks = ((n + pulls) * m + 3) // 4 - block
    _fill(words, u64(block), blocks, u64(a), run, u64(0), key0, key1)
    # Unsigned positions spare the check for negative ones.
    at = u64(n * m - 4 * block)
    base = u64(a * d)
    for i in range(pulls):
        if kind == BERNOULLI:
            for j in range(d):
                # a number, not a branch, which would be mispredicted
                ready[a, i, j] = np.float64(words[at + u64(j)] < thresholds[base + u64(j)])
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
def _refill_watched(source, a, n, j, run, key0, key1):
    """Do the same for one objective only; the others' places in the buffer keep what they had."""
    kind, m, thresholds, values, offsets, ready, first, stop, words, d = source
    pulls = min(ready.shape[1], max(2, 32 // m, n // 2))
    lane = u64(0) if kind in (DUPLICATED, ROWS) else u64(j)
    for i in range(pulls):  # the word at this place of every pull, whatever its block
        place = u64(n + i) * u64(m) + lane
        w0, w1, w2, w3 = _philox((place >> u64(2)) & LOW, u64(a), run, u64(0), key0, key1)
        low, high = (w1, w3) if place & u64(1) else (w0, w2)
        words[i] = u32(high if place & u64(2) else low)
    for i in range(pulls):
        if kind == BERNOULLI:
            ready[a, i, j] = np.float64(words[i] < thresholds[a * d + j])
        elif kind == DUPLICATED:
            ready[a, i, j] = np.float64(words[i] < thresholds[a])
        elif kind == ROWS:
            size = u64(offsets[a + 1] - offsets[a])
            drawn = u64(offsets[a]) + ((u64(words[i]) * size) >> u64(32))
            ready[a, i, j] = values[drawn * u64(d) + u64(j)]
        else:
            start = u64(offsets[a * d + j])
            size = u64(offsets[a * d + j + 1]) - start
            ready[a, i, j] = values[start + ((u64(words[i]) * size) >> u64(32))]
    first[a] = n
    stop[a] = n + pulls


@lean
def _draw_many(source, a, n, pulls, sums, run, key0, key1):
    """Add the rewards of pulls n, ..., n + pulls - 1 of arm a to its sums, in this order."""
    _, _, _, _, _, ready, first, stop, _, d = source
    for pull in range(n, n + pulls):
        if pull >= stop[a]:
            _refill(source, a, pull, run, key0, key1)
        i = pull - first[a]
        for j in range(d):
            sums[a, j] += ready[a, i, j]


@jit
def _draw_in_turn(source, K, rounds, run, key0, key1, sums):
    """Pull the arms one after the other and add up their rewards, which decides nothing."""
    _, _, _, _, _, ready, first, stop, _, _ = source
    counts = np.zeros(K, dtype=np.int64)
    arm = np.int64(0)
    for _ in range(rounds):
        if counts[arm] >= stop[arm]:
            _refill(source, arm, counts[arm], run, key0, key1)
        i = counts[arm] - first[arm]
        for j in range(sums.shape[1]):
            sums[arm, j] += ready[arm, i, j]
        counts[arm] += 1
        arm = arm + 1 if arm + 1 < K else np.int64(0)


# What a run leaves behind.


@lean
def _note(book, t, row, counts, at):
    """Record the counts if t is a checkpoint or starts the tail; return the next such round."""
    checkpoints, tail_start, _, tail_pulls, checkpoint_pulls, _, _ = book
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
def _finish(book, T, t, arm, row, counts, at):
    """Give the pulls from round t on to one arm, and close the books."""
    checkpoints, tail_start, pulls, tail_pulls, checkpoint_pulls, _, arms = book
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


@inlined
def _merge(one, two):
    """Return the three largest of two descending triples."""
    a, b, c = one
    x, y, z = two
    low, high = min(a, x), max(b, y)
    return max(a, x), max(low, high), max(max(min(low, high), min(b, y)), max(c, z))


@jit_extremes
def _top_three(U, j):
    """Return the three largest U of an objective; U has a multiple of four rows.

    Without branches, which would be mispredicted, and in four chains, which wait less.
    """
    a0, a1, a2, a3 = U[0, j], U[1, j], U[2, j], U[3, j]
    b0, b1, b2, b3 = -np.inf, -np.inf, -np.inf, -np.inf
    c0, c1, c2, c3 = -np.inf, -np.inf, -np.inf, -np.inf
    for i in range(4, U.shape[0], 4):
        k = u64(i)
        u0, u1, u2, u3 = U[k, j], U[k + u64(1), j], U[k + u64(2), j], U[k + u64(3), j]
        c0, c1 = max(c0, min(b0, u0)), max(c1, min(b1, u1))
        c2, c3 = max(c2, min(b2, u2)), max(c3, min(b3, u3))
        b0, b1 = max(b0, min(a0, u0)), max(b1, min(a1, u1))
        b2, b3 = max(b2, min(a2, u2)), max(b3, min(a3, u3))
        a0, a1, a2, a3 = max(a0, u0), max(a1, u1), max(a2, u2), max(a3, u3)
    return _merge(
        _merge((a0, b0, c0), (a1, b1, c1)),
        _merge((a2, b2, c2), (a3, b3, c3)),
    )


@lean
def _break_ties(U, j, K, first, second, third, ties, words):
    """Break near ties as the plain loop does: all arms within TIE of the best are alike."""
    n = 0
    for a in range(K):
        ties[n] = a
        n += 1 if U[a, j] >= first - TIE else 0
    tied = n > 1
    b = ties[np.int64((words[0] * u64(n)) >> u64(32))]
    if tied:
        second = -np.inf
        for a in range(K):
            second = max(second, -np.inf if a == b else U[a, j])
    n = 0
    for a in range(K):
        ties[n] = a
        n += 1 if a != b and U[a, j] >= second - TIE else 0
    c = ties[np.int64((words[1] * u64(n)) >> u64(32))]
    return b, c, second if tied or n > 1 else third


@jit
def _kl_apart(p, p_radius, n, q, q_radius, m, level):
    """Decide as the plain loop whether two kl intervals, p's above q's, are apart.

    Returns 2 if they are, else a point that both hold, or 0 if none was looked for or found.
    """
    if p - p_radius > q + q_radius:
        return 2.0
    gap, radii = p - q, p_radius + q_radius
    if gap <= PRECISION or gap * gap <= 4.0 * min(p * (1.0 - p), q * (1.0 - q)) * (radii * radii):
        return 0.0
    high, low = p, q
    while high - low > PRECISION:
        x = 0.5 * (high + low)
        above, below = m * _kl(q, x) > level, n * _kl(p, x) > level
        if above and below:
            return 2.0
        if not (above or below):
            return x
        if above:
            high = x
        else:
            low = x
    return 0.0


@lean
def _kl_alert(j, b, c, means, beta, U, floor):
    """Whether objective j may have a kl certificate; cheap, and never wrong about a no.

    Let all radii be at least ``floor``.  If b and c are not apart, the proved arm z is a third
    one, apart from b.  Then gap <= beta_b - beta_z, as U_z <= U_b, and gap > 2 sqrt(v) (beta_b
    + beta_z), see `kl_apart`; the margins cover ties and rounding.
    """
    p, q = means[b, j], means[c, j]
    gap, radii = abs(p - q), beta[b] + beta[c]
    v = min(p * (1.0 - p), q * (1.0 - q)) * (1.0 - 1e-9)
    if gap * gap > 4.0 * v * (radii * radii):
        return True
    margin = GUARD * (1.0 + beta[b])
    q = min(1.0, U[b, j] - floor + margin)
    v = min(p * (1.0 - p), q * (1.0 - q)) * (1.0 - 1e-9)
    gap, radii = beta[b] - floor + margin, beta[b] + floor
    return gap * gap >= 4.0 * v * (radii * radii)


@lean
def _kl_winner(j, b, c, means, beta, counts, level, hold):
    """Return the arm that the kl intervals of objective j prove, or -1.

    A point x in the intervals of two arms stays in both for a while: by convexity a pull adds
    at most max(-log x, -log(1 - x)) to N kl.  ``hold`` remembers the two arms and their last safe
    counts.
    """
    best = 0
    for a in range(1, counts.size):
        if means[a, j] > means[best, j]:
            best = a
    x, y = hold[j, 0], hold[j, 1]
    if (x == best or y == best) and counts[x] <= hold[j, 2] and counts[y] <= hold[j, 3]:
        return -1
    for i in range(-2, counts.size):  # the likely ones first
        a = b if i == -2 else c if i == -1 else i
        if a == best or (i >= 0 and a in (b, c)):
            continue
        p, q, n, m = means[best, j], means[a, j], counts[best], counts[a]
        point = _kl_apart(p, beta[best], n, q, beta[a], m, level)
        if point == 2.0:
            continue
        if point > 0.0:
            step = max(-_log(point), -_log(1.0 - point))
            margin = 1e-6 * (1.0 + level)
            hold[j, 0], hold[j, 1] = best, a
            slack = level - n * (_kl(p, point) + 1e-13) - margin
            hold[j, 2] = n + np.int64(max(-1.0, min(1e9, slack / step)))
            slack = level - m * (_kl(q, point) + 1e-13) - margin
            hold[j, 3] = m + np.int64(max(-1.0, min(1e9, slack / step)))
        return -1
    return best


@jit
def _certificate(b, c, W, U, means, beta, winner, t, run, stream, key0, key1):
    """Choose the widest of the certifying objectives; -1 if there is none after all.

    ``winner`` holds the arms that kl intervals prove, -1 elsewhere; Hoeffding's are added.
    """
    d = W.size
    proved = np.zeros(d, dtype=np.bool_)
    widest = -np.inf
    for j in range(d):
        if means[b[j], j] - beta[b[j]] > U[c[j], j]:
            winner[j] = b[j]
        proved[j] = winner[j] >= 0
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


@lean
def _hold_on(source, book, t, end, arm, row, counts, sums, at, event, run, key0, key1):
    """Pull one arm until the epoch ends, with the books kept; return where they are."""
    arms = book[6]
    while t < end:
        if t == event:
            at, event = _note(book, t, row, counts, at)
        step = min(end, event) - t
        _draw_many(source, arm, counts[arm], step, sums, run, key0, key1)
        counts[arm] += step
        if arms.size > 0:
            for i in range(t, t + step):
                arms[row, i] = arm
        t += step
    return t, at, event


@inlined
def _pull_races(state, U, means, sums, arm, n, radius, d):
    """Bring the state of every race up to date after a pull; is a pair in doubt, is one proved?

    The rows of ``state``, for every WIDE objectives: b, c, U_b, U_c, beta_b, beta_c, the width,
    and ``rest``, an upper bound on the U of the others.  Arms are written as floats and there is
    no branch, so that the compiler can do four objectives at a time.
    """
    doubts, proofs, name = 0, 0, float(arm)
    for chunk in range(0, d, WIDE):
        at = u64(chunk * 8)
        for i in range(min(WIDE, d - chunk)):
            j, k = u64(chunk + i), at + u64(i)
            mean = sums[arm, j] / n
            u = mean + radius
            means[arm, j] = mean
            U[arm, j] = u
            leads, follows = state[k] == name, state[k + u64(WIDE)] == name
            first, second = state[k + u64(2 * WIDE)], state[k + u64(3 * WIDE)]
            beta_b, beta_c = state[k + u64(4 * WIDE)], state[k + u64(5 * WIDE)]
            rest = state[k + u64(7 * WIDE)]
            new = u  # of no interest to ``rest`` if the arm is one of the pair
            new = rest if leads else new
            new = rest if follows else new
            # Adding zero changes nothing here, but keeps the compiler from storing the changed ones
            # only, by masks, which is slow.
            rest = max(rest, new) + 0.0
            first = (u if leads else first) + 0.0
            second = (u if follows else second) + 0.0
            beta_b = (radius if leads else beta_b) + 0.0
            beta_c = (radius if follows else beta_c) + 0.0
            state[k + u64(2 * WIDE)] = first
            state[k + u64(3 * WIDE)] = second
            state[k + u64(4 * WIDE)] = beta_b
            state[k + u64(5 * WIDE)] = beta_c
            state[k + u64(6 * WIDE)] = beta_b + beta_c
            state[k + u64(7 * WIDE)] = rest
            doubts += 1 if min(first - second, second - rest) <= NEAR else 0
            proofs += 1 if first - 2.0 * beta_b > second - NEAR else 0
    return doubts, proofs


@lean
def _bounds(j, sums, counts, beta, means, U):
    """Compute the means and the upper bounds of an objective."""
    for a in range(counts.size):
        means[a, j] = sums[a, j] / counts[a]
        U[a, j] = means[a, j] + beta[a]


@inlined
def _rerank(keys, order, rank, base, a, u):
    """Move an arm to its place in an objective's order: U falls, the names of equal U rise."""
    one = u64(1)
    p = u64(rank[base + u64(a)])
    while keys[p - one] < u or (keys[p - one] == u and order[p - one] > a):
        other = order[p - one]
        keys[p], order[p], rank[base + u64(other)] = keys[p - one], other, p
        p -= one
    while keys[p + one] > u or (keys[p + one] == u and order[p + one] < a):
        other = order[p + one]
        keys[p], order[p], rank[base + u64(other)] = keys[p + one], other, p
        p += one
    keys[p], order[p], rank[base + u64(a)] = u, a, p


@lean
def _tied_pair(keys, order, p, first, second):
    """Return the pair of an objective that is ranked from place p on, by the words of two coins.

    The first is -1 where bounds are close without being equal, which `_break_ties` is for.
    """
    n = 1
    while keys[p + n] >= keys[p] - TIE:
        n += 1
    i = np.int64((first * u64(n)) >> u64(32))
    rivals, k = n - 1, 0
    if n == 1:
        k = 1
        while keys[p + k + rivals] >= keys[p + 1] - TIE:
            rivals += 1
    if keys[p + n - 1] != keys[p] or keys[p + k + rivals - (0 if n > 1 else 1)] != keys[p + k]:
        return -1, -1
    k += np.int64((second * u64(rivals)) >> u64(32))
    return order[p + i], order[p + k + (1 if n > 1 and k >= i else 0)]


@lean
def _race_on(source, t, until, clog, row, arms, books, ranks, coins, run, stream, key0, key1):
    """Play the widest race of few objectives up to round ``until`` or to a certificate.

    Returns the next round and the arm of the last one.  Ties that are not exact, and
    certificates, are left to the caller.
    """
    _, _, _, _, _, ready, first, stop, _, _ = source
    counts, sums, means, U, beta, radii = books
    keys, order, rank, pairs, widths = ranks
    pair_words, tie_words, froms = coins
    K, d = counts.size, tie_words.shape[0]
    size = u64(K + 2)
    arm = np.int64(-1)
    while t < until:
        widest, wides = -1.0, u64(0)
        for i in range(d):
            j, p = u64(i), u64(i) * size + u64(1)
            best, second, third = keys[p], keys[p + u64(1)], keys[p + u64(2)]
            b, c = order[p], order[p + u64(1)]
            if not (second < best - NEAR and third < second - NEAR):
                if t - froms[j + u64(1)] >= 16:
                    froms[j + u64(1)] = t
                    _coins_ahead(tie_words[j], t, 2 * i, run, stream, key0, key1)
                k = u64(t - froms[j + u64(1)])
                b, c = _tied_pair(keys, order, p, tie_words[j, u64(0), k], tie_words[j, u64(1), k])
                if b < 0:
                    return t, arm
            beta_b, beta_c = beta[u64(b)], beta[u64(c)]
            if means[u64(b), j] - beta_b > U[u64(c), j]:
                return t, arm
            pairs[u64(0), j], pairs[u64(1), j] = b, c
            widths[j] = beta_b + beta_c
            widest = max(widest, beta_b + beta_c)
        if t - froms[u64(0)] >= 64:
            froms[u64(0)] = t
            _coins_ahead(pair_words, t, 2 * d + 1, run, stream, key0, key1)
        word = u64(t - froms[u64(0)])
        for i in range(d):
            pairs[u64(2), wides] = i
            wides += u64(1) if widths[u64(i)] >= widest - TIE else u64(0)
        j = u64(pairs[u64(2), (pair_words[u64(0), word] * wides) >> u64(32)])
        b, c = pairs[u64(0), j], pairs[u64(1), j]
        low, high = min(b, c), max(b, c)
        arm = low if pair_words[u64(1), word] >> u64(31) == u64(0) else high
        arm = low if beta[u64(high)] < beta[u64(low)] - TIE else arm
        arm = high if beta[u64(low)] < beta[u64(high)] - TIE else arm
        a = u64(arm)
        n = counts[a]
        if n >= stop[a]:
            _refill(source, arm, n, run, key0, key1)
        i = u64(n - first[a])
        counts[a] = n + 1
        weight = n + 1.0
        radius = radii[u64(n + 1)] if n + 1 < radii.size else math.sqrt(clog / weight)
        beta[a] = radius
        if arms.size > 0:
            arms[row, t] = arm
        t += 1
        for i0 in range(d):
            j = u64(i0)
            total = sums[a, j] + ready[a, i, j]
            mean = total / weight
            sums[a, j], means[a, j], U[a, j] = total, mean, mean + radius
            _rerank(keys, order, rank, j * size, arm, mean + radius)
    return t, arm


# Width-guided with many objectives.  Which arm is pulled depends on the counts and on the pairs,
# not on who leads a pair.  So every objective has two marks.  The upper bounds of its pair are
# above the bar, those of all other arms below.  The pin lies in both intervals of the pair, so that
# nothing is certified.  While the arm that was pulled stays on its sides of all marks, nothing
# changes.  An objective on which the second place is tied is open: its pair is drawn every round.
#
# An arm has four rows of WIDE numbers in ``table``: its sums, and for each objective the least and
# the largest upper bound and the largest lower bound that keep it on its sides.  ``pair_of`` holds
# the pair b < c of each objective.  Each different pair has a column in ``pairs``, with b and c,
# and in ``members``, with the set of its objectives as bits.  ``place`` says which column that is,
# or -1; place[0, 0] counts the columns.  ``held``: the set of objectives whose pair an arm is in.


@inlined
def _member(x, word):
    """Return one of the bits that are set in x, drawn by the word of a coin; the first for 0.

    Without branches, which would be mispredicted: the bits are counted byte by byte.
    """
    ones = u64(0x0101010101010101)
    s = x - (x >> u64(1) & u64(0x5555555555555555))
    s = (s & u64(0x3333333333333333)) + (s >> u64(2) & u64(0x3333333333333333))
    s = (s + (s >> u64(4)) & u64(0x0F0F0F0F0F0F0F0F)) * ones  # byte i: how many up to there
    k = word * (s >> u64(56)) >> u64(32)
    passed = ((k * ones | u64(0x80) * ones) - s >> u64(7)) & ones  # 1 in bytes with at most k
    at = passed * ones >> u64(56) << u64(3)
    byte = x >> at & u64(0xFF)
    return at + u64(PLACES[byte, k - (s << u64(8) >> at & u64(0xFF))])


@inlined
def _move(j, b, c, races):
    """Move objective j to the pair b < c; the last column takes the place of one that is empty."""
    _, pair_of, pairs, members, held, place = races
    old_b, old_c = pair_of[0, j], pair_of[1, j]
    if old_b != b or old_c != c:
        pair_of[0, j], pair_of[1, j] = b, c
        bit = u64(1) << u64(j)
        if old_b >= 0:
            held[old_b] ^= bit
            held[old_c] ^= bit
            p = place[old_b, old_c]
            members[p] ^= bit
            if members[p] == u64(0):
                place[0, 0] -= 1
                last = place[0, 0]
                place[pairs[0, last], pairs[1, last]] = p
                place[old_b, old_c] = -1
                pairs[0, p], pairs[1, p], members[p] = pairs[0, last], pairs[1, last], members[last]
        held[b] |= bit
        held[c] |= bit
        p = place[b, c]
        if p < 0:
            p = place[0, 0]
            place[0, 0] += 1
            place[b, c] = p
            pairs[0, p], pairs[1, p], members[p] = b, c, u64(0)
        members[p] |= bit


@inlined
def _look(j, t, counts, beta, inverse, races, column, ties, coins, run, stream, key0, key1):
    """Find the pair of objective j and its marks; is it open, and may it certify?"""
    _, tie_words, froms = coins
    table, pair_of, _, _, _, _ = races
    K, at = counts.size, u64(j)
    for a in range(K):
        x = u64(a)
        column[x, u64(0)] = table[x * STRIDE + at] * inverse[x] + beta[x]
    best, least, third = _top_three(column, 0)
    tied = not third < least - 2.0 * NEAR
    if tied:
        for a in range(K):
            column[a, 0] = table[u64(a) * STRIDE + at] / counts[a] + beta[a]
        best, least, third = _top_three(column, 0)
        if t - froms[j + 1] >= 16:
            froms[j + 1] = t
            _coins_ahead(tie_words[j], t, 2 * j, run, stream, key0, key1)
        i = t - froms[j + 1]
        words = tie_words[j, 0, i], tie_words[j, 1, i]
        b, c, _ = _break_ties(column, 0, K, best, least, third, ties, words)
        b, c = min(b, c), max(b, c)
        least = min(column[b, 0], column[c, 0])
    else:
        n = u64(0)
        for a in range(K):
            ties[n] = a
            n += u64(1) if column[u64(a), u64(0)] >= least else u64(0)
        b, c = ties[0], ties[1]
    lower = max(column[b, 0] - 2.0 * beta[b], column[c, 0] - 2.0 * beta[c])
    pin = -np.inf if tied else 0.5 * (lower + least)
    # Close to the others: pulls lower the bounds of the pair more often than they raise theirs.
    bar = np.inf if tied else 0.9 * third + 0.1 * least
    if pair_of[0, j] >= 0:
        for x in (u64(pair_of[0, j]), u64(pair_of[1, j])):
            table[x * STRIDE + u64(WIDE) + at] = -np.inf
            table[x * STRIDE + u64(3 * WIDE) + at] = np.inf
    for a in range(K):
        table[u64(a) * STRIDE + u64(2 * WIDE) + at] = bar - NEAR
    for x in (u64(b), u64(c)):
        table[x * STRIDE + u64(WIDE) + at] = -np.inf if tied else max(bar, pin) + NEAR
        table[x * STRIDE + u64(2 * WIDE) + at] = np.inf
        table[x * STRIDE + u64(3 * WIDE) + at] = np.inf if tied else pin - NEAR
    _move(j, b, c, races)
    return tied, not lower < least - 4.0 * NEAR


@jit_extremes
def _race_many(
    source, t, until, clog, row, arms, books, races, scratch, coins, run, stream, key0, key1
):
    """Play the widest of up to WIDE races up to round ``until`` or to a certificate.

    Returns the next round and the arm of the last one.  Certificates are left to the caller.
    """
    _, _, _, _, _, ready, first, stop, _, d = source
    counts, sums, _, _, beta, _ = books
    table, pair_of, pairs, members, held, place = races
    inverse, coming, widths, column, ties = scratch
    pair_words, _, froms = coins
    K = counts.size
    place.fill(-1)
    place[0, 0] = 0
    pair_of.fill(-1)
    for a in range(K):
        held[a] = u64(0)
        inverse[a] = 1.0 / counts[a]
        coming[a] = math.sqrt(clog / (counts[a] + 1.0))
        for i in range(WIDE):
            k = u64(a) * STRIDE + u64(i)
            table[k] = sums[a, i] if i < d else 0.0
            table[k + u64(WIDE)] = -np.inf
            table[k + u64(2 * WIDE)], table[k + u64(3 * WIDE)] = np.inf, np.inf
    due, opens = ~u64(0) >> u64(WIDE - d), u64(0)
    arm, widest, clear, certain = np.int64(-1), u64(0), False, True
    while t < until:
        while due != u64(0):
            bit = due & (~due + u64(1))
            due ^= bit
            i = np.int64(_member(bit, u64(0)))
            tied, proved = _look(
                i, t, counts, beta, inverse, races, column, ties, coins, run, stream, key0, key1
            )
            opens = opens | bit if tied else opens & ~bit
            certain &= not proved
            widest = u64(0)
        if not certain:
            break
        if t - froms[u64(0)] >= 64:
            froms[u64(0)] = t
            _coins_ahead(pair_words, t, 2 * d + 1, run, stream, key0, key1)
        word = u64(t - froms[u64(0)])
        # Which race?
        if widest == u64(0):
            columns, most, exact, near = place[u64(0), u64(0)], 0.0, u64(0), u64(0)
            for i in range(columns):
                p = u64(i)
                width = beta[u64(pairs[u64(0), p])] + beta[u64(pairs[u64(1), p])]
                widths[p] = width
                most = max(most, width)
            for i in range(columns):
                p = u64(i)
                width, some = widths[p], members[p]
                widest |= some if width >= most - TIE else u64(0)
                exact |= some if width >= most else u64(0)
                near |= some if width >= most - NEAR else u64(0)
            clear = exact == near
        j = _member(widest, pair_words[u64(0), word])
        # Which arm of the pair?
        low, high = pair_of[u64(0), j], pair_of[u64(1), j]
        arm = low if pair_words[u64(1), word] >> u64(31) == u64(0) else high
        arm = low if beta[u64(high)] < beta[u64(low)] - TIE else arm
        arm = high if beta[u64(low)] < beta[u64(high)] - TIE else arm
        a = u64(arm)
        n = counts[a]
        if n >= stop[a]:
            _refill(source, arm, n, run, key0, key1)
        pull = u64(n - first[a])
        counts[a] = n + 1
        radius, flat = coming[a], 1.0 / (n + 1.0)
        # The other races are as wide as before, so that the widest of them still are.
        same = clear & (radius < beta[a] - NEAR)
        widest = widest & ~held[a] if same else u64(0)
        beta[a], inverse[a], twice = radius, flat, 2.0 * radius
        coming[a] = math.sqrt(clog / (n + 2.0))  # for the next pull: nobody waits for it now
        if arms.size > 0:
            arms[row, t] = arm
        t += 1
        due = opens
        for i in range(ready.shape[2]):
            k, j = a * STRIDE + u64(i), u64(i)
            total = table[k] + ready[a, pull, j]
            table[k] = total
            u = total * flat + radius
            under, over = u < table[k + u64(WIDE)], u > table[k + u64(2 * WIDE)]
            gone = under | over | (u - twice > table[k + u64(3 * WIDE)])
            due |= (u64(1) if gone else u64(0)) << j
    for a in range(K):
        for i in range(d):
            sums[a, i] = table[u64(a) * STRIDE + u64(i)]
    return t, arm


@jit
def _width_guided(
    source,
    K,
    d,
    ends,
    clogs,
    rule,
    champion,
    kl,
    T,
    run_start,
    key0,
    key1,
    stream,
    book,
    certificates,
):
    """Play Width-guided, one epoch after the other.

    Epoch e has rounds t < ends[e] and radius sqrt(clogs[e] / N).  A certificate commits until the
    epoch ends, in closed form if the run ends first; Algorithm 1 is one epoch with T its end.

    Per objective the kernel keeps the pair (b, c), its bounds and width, and an upper bound on
    every other arm's U (`_pull_races`).  A pull moves one arm.  While the bounds of an objective
    are further apart than ties and rounding reach, its pair is the same; otherwise it is in
    doubt, and all arms are scanned again.  A race with a tie is in doubt each round, so that
    each round has its coin.  With FEW objectives the arms of each are kept in order instead, and
    the pair is read off (`_race_on`); with up to WIDE of them nothing is done while the pulled arm
    stays between marks (`_race_many`).  With kl certificates the kernel also keeps ``alert``: where
    the cheap test does not rule one out.
    """
    _, _, _, _, _, ready, first, stop, _, _ = source
    _, _, pulls, _, _, final_sums, arms = book
    cert_round, cert_arm, cert_objective = certificates
    counts = np.zeros(K, dtype=np.int64)
    padded = (d + 3) // 4 * 4
    sums, means = np.zeros((K, padded)), np.zeros((K, padded))
    U = np.full(((K + 3) // 4 * 4, padded), -np.inf)
    beta, radii = np.zeros(K), np.zeros(min(T, 2048) + 1)
    b, c = np.zeros(d, dtype=np.int64), np.zeros(d, dtype=np.int64)
    W = np.zeros(d)
    state = np.zeros((d + WIDE - 1) // WIDE * WIDE * 8)
    ties, stale = np.zeros(K + 1, dtype=np.int64), np.zeros(d + 1, dtype=np.int64)
    widest = np.zeros(d + 1, dtype=np.int64)
    pair_words = np.zeros((2, 64), dtype=u64)
    alert = np.zeros(d, dtype=np.bool_)
    winner, hold = np.zeros(d, dtype=np.int64), np.zeros((d, 4), dtype=np.int64)
    ranked, plain = d <= FEW, rule == 0 and not kl
    many = plain and FEW < d <= WIDE and clogs.max() <= 1e4
    size = K + 2 if ranked else 0
    keys, order = np.zeros(d * size), np.zeros(d * size, dtype=np.int64)
    rank = np.zeros(d * size, dtype=np.int64)
    tie_words, froms = np.zeros((d, 2, 16), dtype=u64), np.zeros(d + 1, dtype=np.int64)
    books = counts, sums, means, U, beta, radii
    ranks = keys, order, rank, np.zeros((3, d + 1), dtype=np.int64), W
    coins = pair_words, tie_words, froms
    races = (
        np.zeros(K * STRIDE if many else 0),
        np.zeros((2, d), dtype=np.int64),
        np.zeros((2, WIDE), dtype=np.int64),
        np.zeros(WIDE, dtype=u64),
        np.zeros(K, dtype=u64),
        np.zeros((K, K), dtype=np.int64),
    )
    column = np.full(((K + 3) // 4 * 4, 1), -np.inf)
    scratch = np.zeros(K), np.zeros(K), np.zeros(WIDE), column, ties
    tabulated = -1
    for row in range(pulls.shape[0]):
        run = u64(run_start + row)
        counts.fill(0)
        stop.fill(0)
        sums.fill(0.0)
        state.fill(-1.0)
        for j in range(d, padded):  # where there is no objective: no doubt, no proof, no width
            k = j // WIDE * WIDE * 8 + j % WIDE
            state[k + 2 * WIDE], state[k + 3 * WIDE] = 1e300, 0.5e300
            state[k + 4 * WIDE], state[k + 5 * WIDE] = 1e300, -2e300
        if ranked:
            keys.fill(-np.inf)
            for j in range(d):
                keys[j * size], order[j * size] = np.inf, -1
                stale[j] = j
                for a in range(K + 1):
                    order[j * size + 1 + a], rank[j * size + a] = a, j * size + 1 + a
        alert.fill(False)
        winner.fill(-1)
        hold.fill(0)
        epoch, clog, smallest, floor = 0, clogs[0], np.inf, np.inf
        at, event, stales = np.int64(0), np.int64(0), np.int64(0)
        arm, t = np.int64(0), np.int64(0)
        froms.fill(-64)
        proved = False
        while t < T:
            if t == event:
                at, event = _note(book, t, row, counts, at)
            if t < K:
                arm = t
            else:
                fresh = t == K
                if t == ends[epoch]:
                    fresh = True
                    epoch += 1
                    clog = clogs[epoch]
                    for a in range(K):
                        beta[a] = math.sqrt(clog / counts[a])
                        smallest = min(smallest, beta[a])
                    for j in range(d):
                        _bounds(j, sums, counts, beta, means, U)
                        if ranked:
                            for a in range(K):
                                _rerank(keys, order, rank, u64(j * size), a, U[a, j])
                if fresh:
                    for j in range(d):
                        stale[j] = j
                    stales, proved = d, False
                if (many or (ranked and plain)) and tabulated == epoch:
                    until, began = min(min(T, event), ends[epoch]), t
                    if many:
                        t, last = _race_many(
                            source,
                            t,
                            until,
                            clog,
                            row,
                            arms,
                            books,
                            races,
                            scratch,
                            coins,
                            run,
                            stream,
                            key0,
                            key1,
                        )
                        for j in range(d):
                            _bounds(j, sums, counts, beta, means, U)
                            stale[j] = j
                        stales, proved = d, False
                    else:
                        t, last = _race_on(
                            source,
                            t,
                            until,
                            clog,
                            row,
                            arms,
                            books,
                            ranks,
                            coins,
                            run,
                            stream,
                            key0,
                            key1,
                        )
                    if t > began:
                        arm = last
                        continue
                for i in range(stales):
                    j = stale[i]
                    # The two best arms, and a bound on the others.
                    if ranked:
                        p = j * size + 1
                        best, second, third = keys[p], keys[p + 1], keys[p + 2]
                        new_b, new_c = order[p], order[p + 1]
                    else:
                        best, second, third = _top_three(U, j)
                        new_b, new_c = 0, 0
                        for a in range(K):
                            u = U[a, j]
                            new_b = a if u == best else new_b
                            new_c = a if u == second else new_c
                    if not (second < best - NEAR and third < second - NEAR):
                        if t - froms[j + 1] >= 16:
                            froms[j + 1] = t
                            _coins_ahead(tie_words[j], t, 2 * j, run, stream, key0, key1)
                        i0 = t - froms[j + 1]
                        words = tie_words[j, 0, i0], tie_words[j, 1, i0]
                        new_b = -1
                        if ranked:
                            new_b, new_c = _tied_pair(keys, order, p, words[0], words[1])
                        if new_b < 0:
                            new_b, new_c, third = _break_ties(
                                U, j, K, best, second, third, ties, words
                            )
                    b[j], c[j] = new_b, new_c
                    k = j // WIDE * WIDE * 8 + j % WIDE
                    state[k], state[k + WIDE] = new_b, new_c
                    state[k + 2 * WIDE], state[k + 3 * WIDE] = U[new_b, j], U[new_c, j]
                    state[k + 4 * WIDE], state[k + 5 * WIDE] = beta[new_b], beta[new_c]
                    state[k + 6 * WIDE] = beta[new_b] + beta[new_c]
                    state[k + 7 * WIDE] = third
                    proved |= means[new_b, j] - beta[new_b] > U[new_c, j]
                    if kl:
                        alert[j] = _kl_alert(j, new_b, new_c, means, beta, U, floor)
                if kl:
                    if smallest < floor:
                        floor = 0.9 * smallest
                        for j in range(d):
                            alert[j] = _kl_alert(j, b[j], c[j], means, beta, U, floor)
                    for j in range(d):
                        if alert[j]:
                            level = 2.0 * clog
                            winner[j] = _kl_winner(j, b[j], c[j], means, beta, counts, level, hold)
                            proved |= winner[j] >= 0
                if proved:
                    for j in range(d):
                        W[j] = beta[b[j]] + beta[c[j]]
                    j = _certificate(b, c, W, U, means, beta, winner, t, run, stream, key0, key1)
                    if j >= 0:
                        arm = winner[j]
                        if ends[epoch] >= T:
                            cert_round[row], cert_arm[row], cert_objective[row] = t, arm, j
                            break
                        winner.fill(-1)
                        t, at, event = _hold_on(
                            source,
                            book,
                            t,
                            ends[epoch],
                            arm,
                            row,
                            counts,
                            sums,
                            at,
                            event,
                            run,
                            key0,
                            key1,
                        )
                        continue
                    proved = False
                if t - froms[0] >= 64:
                    froms[0] = t
                    _coins_ahead(pair_words, t, 2 * d + 1, run, stream, key0, key1)
                word = pair_words[0, u64(t - froms[0])]
                # Which race?
                j = champion
                if rule == 0:
                    m0, m1, m2, m3 = 0.0, 0.0, 0.0, 0.0  # four at a time: less waiting
                    for chunk in range(0, d, WIDE):
                        k = u64(chunk * 8 + 6 * WIDE)
                        for _ in range((min(WIDE, d - chunk) + 3) // 4):
                            m0 = max(m0, state[k])
                            m1 = max(m1, state[k + u64(1)])
                            m2 = max(m2, state[k + u64(2)])
                            m3 = max(m3, state[k + u64(3)])
                            k += u64(4)
                    least = max(max(m0, m1), max(m2, m3)) - TIE
                    wides = u64(0)
                    for chunk in range(0, d, WIDE):
                        k = u64(chunk * 8 + 6 * WIDE)
                        for i in range(min(WIDE, d - chunk)):
                            widest[wides] = chunk + i
                            wides += u64(1) if state[k + u64(i)] >= least else u64(0)
                    j = widest[(word * wides) >> u64(32)]
                elif rule == 1:
                    j = np.int64((word * u64(d)) >> u64(32))
                elif rule == 2:
                    j = (t - K) % d
                # Which arm of the pair?
                low, high = min(b[j], c[j]), max(b[j], c[j])
                half = pair_words[1, u64(t - froms[0])] >> u64(31)
                arm = low if half == 0 else high
                arm = low if beta[high] < beta[low] - TIE else arm
                arm = high if beta[low] < beta[high] - TIE else arm
            if tabulated != epoch:
                tabulated = epoch
                for i in range(1, radii.size):
                    radii[i] = math.sqrt(clog / float(i))
            # One pull, written out: a call would cost more than the work.
            if counts[arm] >= stop[arm]:
                _refill(source, arm, counts[arm], run, key0, key1)
            i = counts[arm] - first[arm]
            for j in range(d):
                sums[arm, j] += ready[arm, i, j]
            counts[arm] += 1
            n = float(counts[arm])
            radius = radii[counts[arm]] if counts[arm] < radii.size else math.sqrt(clog / n)
            beta[arm] = radius
            smallest = min(smallest, radius)
            if arms.size > 0:
                arms[row, t] = arm
            t += 1
            doubts, proofs, stales = 0, 0, 0
            if ranked:
                stales = d
                for j in range(d):
                    means[arm, j] = sums[arm, j] / n
                    U[arm, j] = means[arm, j] + radius
                    _rerank(keys, order, rank, u64(j * size), arm, U[arm, j])
            else:
                doubts, proofs = _pull_races(state, U, means, sums, arm, n, radius, padded)
            proved |= proofs > 0
            if doubts > 0:
                for j in range(d):
                    k = j // WIDE * WIDE * 8 + j % WIDE
                    best, second = state[k + 2 * WIDE], state[k + 3 * WIDE]
                    stale[stales] = j
                    near = min(best - second, second - state[k + 7 * WIDE]) <= NEAR
                    stales += 1 if near else 0
            if kl and t > K:
                for j in range(d):
                    if b[j] == arm or c[j] == arm:
                        alert[j] = _kl_alert(j, b[j], c[j], means, beta, U, floor)
        _finish(book, T, t, arm, row, counts, at)
        if final_sums.size > 0:
            if t < T:
                n = counts[arm] - (T - t)
                _draw_many(source, arm, n, T - t, sums, run, key0, key1)
            for a in range(K):
                for j in range(d):
                    final_sums[row, a, j] = sums[a, j]


# Pareto UCB1 and Annealing-Pareto: sets of arms that change rarely.


@jit
def _log(x):
    """The logarithm of momab.engine.streams, operation by operation."""
    m, k = math.frexp(x)
    if m < 0.7071067811865476:
        m, k = 2.0 * m, k - 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 0.15331721600556042 + z * 0.14616449685043406
    p = 0.2222221113479508 + z * (0.18182889125261723 + z * p)
    p = 0.666666666666667 + z * (0.39999999999899505 + z * (0.28571428625975487 + z * p))
    half = 0.5 * f * f
    leading, rest = k * 0.6931471805582987, k * 1.6465949582897082e-12
    return leading - ((half - (s * (half + z * p) + rest)) - f)


@jit_extremes
def _extremes(V, a, f):
    """Return the maximum and the minimum over j of V_a - V_f, four objectives at a time."""
    x0, x1, x2, x3 = V[a, 0] - V[f, 0], V[a, 1] - V[f, 1], V[a, 2] - V[f, 2], V[a, 3] - V[f, 3]
    h0, h1, h2, h3 = x0, x1, x2, x3
    for i in range(1, V.shape[1] // 4):
        j0 = u64(4 * i)
        j1, j2, j3 = j0 + u64(1), j0 + u64(2), j0 + u64(3)
        y0, y1, y2, y3 = V[a, j0], V[a, j1], V[a, j2], V[a, j3]
        y0, y1, y2, y3 = y0 - V[f, j0], y1 - V[f, j1], y2 - V[f, j2], y3 - V[f, j3]
        h0, h1, h2, h3 = max(h0, y0), max(h1, y1), max(h2, y2), max(h3, y3)
        x0, x1, x2, x3 = min(x0, y0), min(x1, y1), min(x2, y2), min(x3, y3)
    return max(max(h0, h1), max(h2, h3)), min(min(x0, x1), min(x2, x3))


@lean
def _drift(slope, growth, a, f):
    """How much V_a - V_f can rise while the bonus grows, with what rounding can do."""
    return growth * max(0.0, slope[a] - SLOWEST * slope[f]) + 2.0 * GUARD


@lean
def _open_box(V, a, counts, low, high, reach, limit):
    """Give arm a a box of 32 steps to each side; narrow verdicts will cut it."""
    side = 32.0 / counts[a]
    reach[a] = 2.0 * side
    limit[a] = counts[a]
    for j in range(V.shape[1]):
        low[a, j] = V[a, j] - side
        high[a, j] = V[a, j] + side


@lean
def _separate(V, a, f, excess, drift, counts, inside, low, high, limit):
    """Keep arm a from being dominated by arm f: keep it ahead where it is ahead most.

    The two share the room in between by the steps they take, 1/N_a and 1/N_f.
    """
    j = 0
    while V[a, j] - V[f, j] != excess:
        j += 1
    share = counts[a] / (counts[a] + counts[f]) if inside[f] else 0.0
    side = V[f, j] + (excess - drift) * share
    if side < high[f, j]:
        high[f, j] = side
        limit[f] = counts[f]
    if side + drift > low[a, j]:
        low[a, j] = side + drift
        limit[a] = counts[a]


@lean
def _cover(V, a, f, drift, counts, low, limit):
    """Keep arm a, which is not pulled, dominated by arm f."""
    for j in range(V.shape[1]):
        side = V[a, j] + drift
        low[f, j] = max(low[f, j], side) + 0.0  # + 0.0 for a plain store; masked ones are slow
    limit[f] = counts[f]


@lean
def _find_set(V, d, K, annealing, epsilon, inside, witness, leads, G):
    r"""Find the arms that may be pulled, from scratch and exactly.

    With :math:`G_{af} = \max_j (V_a^{(j)} - V_f^{(j)})`, arm f dominates arm a when
    :math:`G_{af} \le 0 < G_{fa}`.  Pareto UCB1 takes the arms that are not dominated; the
    others have a witness.  Annealing-Pareto takes the arms within epsilon of the best on an
    objective, and those members that are not dominated.
    """
    if not annealing:
        # An arm that its old witness still dominates stays out, and cannot be the only one to
        # dominate another: only the members need to be compared with each other.
        again = True
        for a in range(K):
            if not inside[a]:
                most, least = _extremes(V, a, witness[a])
                again = again and most <= 0.0 and least < 0.0
        if not again:
            inside.fill(True)
        for a in range(K):
            if inside[a]:
                for f in range(a):
                    if inside[f]:
                        G[a, f], least = _extremes(V, a, f)
                        G[f, a] = -least
        for a in range(K):
            if inside[a]:
                witness[a] = -1
                for f in range(K):
                    if f != a and inside[f] and G[a, f] <= 0.0 and G[f, a] > 0.0:
                        witness[a] = f
        for a in range(K):
            inside[a] = witness[a] == -1
        return
    for a in range(K):
        leads[a] = False
        for f in range(a):
            G[a, f], least = _extremes(V, a, f)
            G[f, a] = -least
    for a in range(K):
        for f in range(K):
            if f != a and G[a, f] <= 0.0 and G[f, a] > 0.0:
                inside[a] = False
    for j in range(d):
        top = V[0, j]
        for a in range(1, K):
            top = max(top, V[a, j])
        for a in range(K):
            if V[a, j] >= top - epsilon:
                inside[a] = True
                leads[a] = True


@lean
def _level(V, sums, counts, a, f):
    """Whether two arms with equal counts have equal sums wherever their vectors are close.

    Then no growth of the bonus can change how they compare.
    """
    if counts[a] != counts[f]:
        return False
    for j in range(sums.shape[1]):
        if abs(V[a, j] - V[f, j]) <= 4.0 * GUARD and sums[a, j] != sums[f, j]:
            return False
    return True


@lean
def _close_box(a, counts, low, limit):
    """Let the next pull of arm a call for a new look."""
    low[a, 0] = np.inf
    limit[a] = counts[a]


@lean
def _box_optimistic(V, K, sums, counts, inside, witness, slope, gap, G, low, high, reach, limit):
    """Build the boxes of Pareto UCB1; return how far the bonus may grow, -1 for not at all."""
    growth = 1.0
    for a in range(K):
        if inside[a]:
            _open_box(V, a, counts, low, high, reach, limit)
            for f in range(K):
                if inside[f] and f != a:
                    if G[a, f] > 4.0 * GUARD:
                        rate = max(0.0, slope[f] - SLOWEST * slope[a])
                        growth = min(growth, (0.25 * G[a, f] - GUARD) / max(rate, 1e-30))
                    elif not _level(V, sums, counts, a, f):
                        return -1.0
        else:
            f = witness[a]
            deepest, _ = _extremes(V, a, f)
            if not inside[f] or deepest > -128.0 / counts[f]:
                deepest = np.inf
                for f in range(K):
                    if inside[f]:
                        most, _ = _extremes(V, a, f)
                        if most < deepest:
                            deepest = most
                            witness[a] = f
            gap[a] = -deepest
            if deepest < -2.0 * GUARD:
                rate = max(0.0, slope[a] - SLOWEST * slope[witness[a]])
                growth = min(growth, (-0.5 * deepest - GUARD) / max(rate, 1e-30))
            elif not _level(V, sums, counts, a, witness[a]):
                return -1.0
    for a in range(K):
        if inside[a]:
            for f in range(K):
                if inside[f] and f != a:
                    drift = _drift(slope, growth, f, a)
                    if G[a, f] <= 4.0 * GUARD:
                        _close_box(a, counts, low, limit)
                        _close_box(f, counts, low, limit)
                    elif G[a, f] - drift < reach[a] + reach[f]:
                        _separate(V, a, f, G[a, f], drift, counts, inside, low, high, limit)
        else:
            f = witness[a]
            drift = _drift(slope, growth, a, f)
            if gap[a] <= 2.0 * GUARD:
                _close_box(f, counts, low, limit)
            elif gap[a] - drift < reach[f]:
                _cover(V, a, f, drift, counts, low, limit)
    return growth


@lean
def _box_means(V, d, K, counts, inside, leads, G, low, high, reach, limit):
    """Build the boxes of Annealing-Pareto; return False when some verdict has no margin."""
    for a in range(K):
        _open_box(V, a, counts, low, high, reach, limit)
        for j in range(V.shape[1]):
            low[a, j] = -np.inf
            high[a, j] = np.inf
    for j in range(d):
        lead, top, second = 0, V[0, j], -np.inf
        for a in range(1, K):
            if V[a, j] > top:
                lead, top, second = a, V[a, j], top
            else:
                second = max(second, V[a, j])
        if top - second <= 4.0 * GUARD:
            return False
        side = 0.5 * (top + second)
        for a in range(K):
            if a != lead:
                high[a, j] = min(high[a, j], side - GUARD)
        low[lead, j] = max(low[lead, j], side + GUARD)
    for a in range(K):
        if inside[a] and not leads[a]:  # a leader is not dominated while it leads
            for f in range(K):
                if f != a:
                    if G[a, f] <= 4.0 * GUARD:
                        return False
                    _separate(V, a, f, G[a, f], 2.0 * GUARD, counts, inside, low, high, limit)
    return True


@lean
def _allowance(margin, slope, a, f, growth, used):
    """Return how far the bonus may grow for V_a - V_f to rise by less than the margin.

    That is ``growth`` if possible, else half of the most, if that is well above what it has
    grown already; else -1.
    """
    if margin > _drift(slope, growth, a, f):
        return growth
    half = 0.5 * (margin - 2.0 * GUARD) / max(0.0, slope[a] - SLOWEST * slope[f])
    return half if half > 2.0 * used else -1.0


@lean
def _settle(
    V, moved, K, counts, inside, witness, slope, growth, used, boxes, gap, above, below, queue
):
    """Find the verdicts about an arm that left its box, and those that hang on them.

    Every vector of a member is up to date, and the bonus has grown by ``used``.  Returns how far
    it may grow altogether, no further than before.  Returns -1 when a verdict is too close to
    call; the set is then found from scratch.
    """
    low, high, reach, limit = boxes
    queue[0] = moved
    waiting = 1
    while waiting > 0:
        waiting -= 1
        a = queue[waiting]
        went = 2.0 * reach[a]  # more than it has moved since it was last compared
        _open_box(V, a, counts, low, high, reach, limit)
        # Does a member dominate it?
        deepest, dominator = 0.0, -1
        for f in range(K):
            if inside[f] and f != a:
                above[f], least = _extremes(V, a, f)
                below[f] = -least
                if above[f] < deepest:
                    deepest, dominator = above[f], f
        if dominator >= 0:
            growth = _allowance(-deepest, slope, a, dominator, growth, used)
            if growth < 0.0:
                return -1.0
            inside[a] = False
            witness[a] = dominator
            gap[a] = -deepest
            drift = _drift(slope, growth, a, dominator)
            if -deepest - drift < reach[dominator]:
                _cover(V, a, dominator, drift, counts, low, limit)
        else:
            inside[a] = True
            witness[a] = -1
            for f in range(K):
                if not inside[f] or f == a:
                    continue
                near = reach[a] + reach[f]
                growth = _allowance(above[f], slope, f, a, growth, used)
                if growth < 0.0:
                    return -1.0
                rise = _drift(slope, growth, f, a)
                if below[f] < 0.0:
                    growth = _allowance(-below[f], slope, f, a, growth, used)
                    if growth < 0.0:
                        return -1.0
                    inside[f] = False
                    witness[f] = a
                    gap[f] = -below[f] + went
                    if -below[f] - rise < reach[a]:
                        _cover(V, f, a, rise, counts, low, limit)
                    continue
                growth = _allowance(below[f], slope, a, f, growth, used)
                if growth < 0.0:
                    return -1.0
                if above[f] - rise < near:
                    _separate(V, a, f, above[f], rise, counts, inside, low, high, limit)
                rise = _drift(slope, growth, a, f)
                if below[f] - rise < near:
                    _separate(V, f, a, below[f], rise, counts, inside, low, high, limit)
        # The arms that it dominated.
        for g in range(K):
            if witness[g] == a:
                gap[g] -= went
                rise = _drift(slope, growth, g, a)
                if gap[g] - rise > reach[a]:
                    continue
                _, least = _extremes(V, a, g)
                gap[g] = least
                if least <= rise:
                    witness[g] = -1
                    queue[waiting] = g
                    waiting += 1
                elif least - rise < reach[a]:
                    _cover(V, g, a, rise, counts, low, limit)
    return growth


@lean
def _locate(V, a, d, sums, counts, clog):
    """Compute mean + radius of an arm."""
    n = float(counts[a])
    radius = math.sqrt(clog / n)
    for j in range(d):
        V[a, j] = sums[a, j] / n + radius
    for j in range(d, V.shape[1]):
        V[a, j] = V[a, 0]


@jit_extremes
def _slack(V, low, high, a):
    """Return the distance of V_a from the nearest side of its box."""
    s0, s1, s2, s3 = np.inf, np.inf, np.inf, np.inf
    for i in range(V.shape[1] // 4):
        j0 = u64(4 * i)
        j1, j2, j3 = j0 + u64(1), j0 + u64(2), j0 + u64(3)
        s0 = min(s0, min(V[a, j0] - low[a, j0], high[a, j0] - V[a, j0]))
        s1 = min(s1, min(V[a, j1] - low[a, j1], high[a, j1] - V[a, j1]))
        s2 = min(s2, min(V[a, j2] - low[a, j2], high[a, j2] - V[a, j2]))
        s3 = min(s3, min(V[a, j3] - low[a, j3], high[a, j3] - V[a, j3]))
    return min(min(s0, s1), min(s2, s3))


# Pareto UCB1 while its set changes often: every pull is looked at.
#
# With root = 1 / sqrt(N) and the bonus s, U_a - U_f = mean_a - mean_f + s (root_a - root_f): the
# growth of the bonus moves all coordinates alike.  An epoch is a stretch of rounds.  A verdict is
# sure if it is the same, by 2 GUARD at least, for the least and the largest bonus of the epoch.
# Of two members each is ahead somewhere; ``ahead`` says on which objective.  Every other arm is the
# ward of a member, its guardian, which dominates it.  A member dominates all its wards surely
# while its means are above its ``floor``, which was found when its root was ``base``.  So a pull
# costs one look at the floor and two numbers for each other member.
#
# ``epoch`` holds its least and its largest bonus and its last round; the last round whose bonus was
# computed, and that bonus; and the first round of the coins at hand.


@lean
def _bonus(t, c, q, epoch):
    """Return the bonus of round t."""
    if epoch[3] != t:
        epoch[3], epoch[4] = t, math.sqrt(c * _log(t * q))
    return epoch[4]


@lean
def _sign(x, rate, t, c, q, epoch):
    """Return the sign of x + s rate, for the bonus s of round t; 0 when it is too close to call.

    If the sign would change in this epoch, the epoch is cut short: half of the way to the change
    is for the growth of the bonus, the other half for pulls.
    """
    one, two = x + epoch[0] * rate, x + epoch[1] * rate
    if min(one, two) > 2.0 * GUARD:
        return 1
    if max(one, two) < -2.0 * GUARD:
        return -1
    s = _bonus(t, c, q, epoch)
    now = x + s * rate
    epoch[0] = s
    if abs(now) <= 2.0 * GUARD:
        return 0
    if now * rate < 0.0:
        room = 0.5 * (abs(now) - 2.0 * GUARD) / abs(rate)
        # ds/dt falls, so that the bonus takes at least so many rounds to grow by the room.
        last = t + np.floor(min(room * 2.0 * t * s / c, 1e15))
        if last < epoch[2]:
            epoch[1], epoch[2] = s + room, last
    return 1 if now > 0.0 else -1


@lean
def _compare(a, f, t, c, q, books, epoch):
    """Return whether arm f dominates arm a in round t, and whether a dominates f."""
    counts, sums, mean, root, _ = books
    most, least = _extremes(mean, a, f)
    rate = root[a] - root[f]
    up, down = _sign(most, rate, t, c, q, epoch), _sign(least, rate, t, c, q, epoch)
    if up != 0 and down != 0:
        return up < 0, down > 0
    more, fewer, close = 0, 0, 0
    for j in range(sums.shape[1]):
        apart = sums[a, j] - sums[f, j]
        more += 1 if apart > 0.0 else 0
        fewer += 1 if apart < 0.0 else 0
        close += 1 if apart != 0.0 and abs(apart) <= 8.0 * GUARD * counts[a] else 0
    if counts[a] != counts[f] or close > 0:
        # As the plain loop does, for this round alone.
        epoch[2] = t
        clog = c * _log(t * q)
        n, m = float(counts[a]), float(counts[f])
        own, other = math.sqrt(clog / n), math.sqrt(clog / m)
        more, fewer = 0, 0
        for j in range(sums.shape[1]):
            x, y = sums[a, j] / n + own, sums[f, j] / m + other
            more += 1 if x > y else 0
            fewer += 1 if x < y else 0
    # With equal counts the order of the vectors is that of the sums, now and later.
    return more == 0 and fewer > 0, fewer == 0 and more > 0


@inlined
def _lift(a, f, mean, root, floor, base, epoch):
    """Lift the floor of arm f so that above it f surely dominates its ward a."""
    rate = root[a] - base[f]
    rise = max(epoch[0] * rate, epoch[1] * rate)
    for j in range(mean.shape[1]):
        side = mean[a, j] + rise
        floor[f, j] = max(floor[f, j], side) + 0.0  # + 0.0 for a plain store; masked ones are slow


@inlined
def _release(f, guardian, queue, waiting):
    """Put the wards of arm f into the queue; return how long it is."""
    for a in range(guardian.size):  # no branches: nobody could foresee them
        mine = guardian[a] == f
        queue[waiting] = a
        waiting += 1 if mine else 0
        guardian[a] = -1 if mine else guardian[a]
    return waiting


@inlined
def _look_down(f, waiting, t, c, q, books, wards, epoch):
    """Find the floor of member f; put the arms that it dominates no longer into the queue."""
    _, _, mean, root, _ = books
    _, guardian, _, floor, base, queue = wards
    base[f] = root[f]
    for j in range(floor.shape[1]):
        floor[f, j] = -np.inf
    for i in range(waiting, _release(f, guardian, queue, waiting)):
        a = queue[i]
        most, _ = _extremes(mean, a, f)
        rate = root[a] - root[f]
        dominated = most + max(epoch[0] * rate, epoch[1] * rate) < -2.0 * GUARD
        if not dominated:
            dominated, _ = _compare(a, f, t, c, q, books, epoch)
        if dominated:
            guardian[a] = f
            _lift(a, f, mean, root, floor, base, epoch)
        else:
            queue[waiting] = a
            waiting += 1
    return waiting


@inlined
def _note_leads(a, f, mean, ahead):
    """Note the objectives on which a is ahead of f most, and f of a."""
    j, k = u64(0), u64(0)
    most = least = mean[a, 0] - mean[f, 0]
    for i in range(1, mean.shape[1]):
        y = mean[a, i] - mean[f, i]
        j, k = u64(i) if y > most else j, u64(i) if y < least else k
        most, least = max(most, y), min(least, y)
    ahead[a, f], ahead[f, a] = j, k


@inlined
def _lead(a, f, mean, root, ahead, epoch):
    """Return by how much a and f are surely ahead of each other where they were; the smaller."""
    rate = root[a] - root[f]
    one, two = epoch[0] * rate, epoch[1] * rate
    j, k = ahead[a, f], ahead[f, a]
    return min(mean[a, j] - mean[f, j] + min(one, two), mean[f, k] - mean[a, k] - max(one, two))


@inlined
def _look_around(a, t, c, q, members, size, books, wards, epoch):
    """Find where member a is ahead of the other members, and they of it.

    Returns -1 if all are somewhere, a member that dominates a, or a itself if it dominates one.
    """
    _, _, mean, root, _ = books
    _, _, ahead, _, _, _ = wards
    for i in range(size):
        f = members[i]
        if f == a or _lead(a, f, mean, root, ahead, epoch) > 2.0 * GUARD:
            continue
        dominated, dominates = _compare(a, f, t, c, q, books, epoch)
        if dominated:
            return f
        if dominates:
            return a
        _note_leads(a, f, mean, ahead)
    return np.int64(-1)


@inlined
def _list_members(inside, members):
    """List the members; return how many they are."""
    size = np.int64(0)
    for a in range(inside.size):
        members[size] = a
        size += 1 if inside[a] else 0
    return size


@inlined
def _seat(waiting, t, c, q, members, books, wards, epoch):
    """Find a place for every arm in the queue: a member, or the ward of one.

    An arm that nobody dominates may dominate members, whose wards lose their guardian with that.
    In the end no member dominates another, and every other arm is dominated by a member.
    Returns how many members there are.
    """
    _, _, mean, root, _ = books
    inside, guardian, ahead, floor, base, queue = wards
    while waiting > 0:
        waiting -= 1
        a = queue[waiting]
        guardian[a] = -1
        inside[a] = False
        size = _list_members(inside, members)
        for i in range(size):
            f = members[i]
            most, least = _extremes(mean, a, f)
            rate = root[a] - root[f]
            one, two = epoch[0] * rate, epoch[1] * rate
            if most + min(one, two) > 2.0 * GUARD and least + max(one, two) < -2.0 * GUARD:
                continue
            dominated, dominates = most + max(one, two) < -2.0 * GUARD, False
            if not dominated:
                dominated, dominates = _compare(a, f, t, c, q, books, epoch)
            if dominated:
                guardian[a] = f
                break
            if dominates:
                inside[f] = False
                waiting = _release(f, guardian, queue, waiting)
                guardian[f] = a
        if guardian[a] >= 0:
            _lift(a, guardian[a], mean, root, floor, base, epoch)
            waiting = _release(a, guardian, queue, waiting)
        else:
            for i in range(size):
                f = members[i]
                if inside[f] and _lead(a, f, mean, root, ahead, epoch) <= 2.0 * GUARD:
                    _note_leads(a, f, mean, ahead)
            inside[a] = True
            waiting = _look_down(a, waiting, t, c, q, books, wards, epoch)
    return _list_members(inside, members)


@lean
def _begin_epoch(t, c, q, members, size, books, wards, epoch):
    """Look at all verdicts with the bonus of round t and of the rounds to come."""
    inside, _, _, _, _, queue = wards
    s, span = _bonus(t, c, q, epoch), min(t // 32, 64 + t // 512)
    growth = 0.5 * c * span / (t * s) if span > 0 else 0.0
    epoch[0], epoch[1], epoch[2] = s, s + growth, t + span
    for a in range(inside.size):
        if inside[a]:
            waiting = _look_down(a, 0, t, c, q, books, wards, epoch)
            if _look_around(a, t, c, q, members, size, books, wards, epoch) >= 0:
                queue[waiting] = a
                waiting += 1
            if waiting > 0:
                size = _seat(waiting, t, c, q, members, books, wards, epoch)
    return size


@inlined
def _rearrange(arm, under, near, t, c, q, members, size, books, wards, epoch):
    """Look at the verdicts about a member that has moved; return how many members there are."""
    _, _, mean, root, _ = books
    inside, guardian, _, floor, base, queue = wards
    waiting, other = 0, np.int64(-1)
    if near > 0:
        other = _look_around(arm, t, c, q, members, size, books, wards, epoch)
    if other >= 0 and other != arm:
        inside[arm] = False
        guardian[arm] = other
        _lift(arm, other, mean, root, floor, base, epoch)
        waiting = _release(arm, guardian, queue, waiting)
    else:
        if under > 0:
            waiting = _look_down(arm, waiting, t, c, q, books, wards, epoch)
        if other == arm:
            queue[waiting] = arm
            waiting += 1
    return _seat(waiting, t, c, q, members, books, wards, epoch)


@lean
def _start_over(source, run, key0, key1, done, books, wards, epoch):
    """Draw what is due, and let every arm wait for a place."""
    counts, sums, mean, root, coming = books
    inside, guardian, _, _, _, queue = wards
    K, d = sums.shape
    for a in range(K):
        _draw_many(source, a, done[a], counts[a] - done[a], sums, run, key0, key1)
        done[a] = counts[a]
        inverse = 1.0 / counts[a]
        root[a] = math.sqrt(inverse)
        coming[0, a] = 1.0 / (counts[a] + 1.0)
        coming[1, a] = math.sqrt(coming[0, a])
        for j in range(mean.shape[1]):
            mean[a, j] = sums[a, j if j < d else 0] * inverse
        inside[a], guardian[a], queue[a] = False, -1, a
    epoch[:] = -1.0
    epoch[5] = -64.0


@lean
def _eager(
    source,
    t,
    until,
    c,
    q,
    run,
    stream,
    key0,
    key1,
    row,
    arms,
    calm,
    done,
    members,
    books,
    wards,
    epoch,
    coins,
):
    """Play Pareto UCB1 up to round ``until``, or to a pull that may bring a certificate.

    Returns the next round and the arm of the last one.
    """
    _, _, _, _, _, ready, first, stop, _, _ = source
    counts, sums, mean, root, coming = books
    inside, _, ahead, floor, base, _ = wards
    d, padded = sums.shape[1], mean.shape[1]
    if epoch[2] < 0.0:
        _start_over(source, run, key0, key1, done, books, wards, epoch)
        epoch[0] = epoch[1] = _bonus(t, c, q, epoch)
        _seat(root.size, t, c, q, members, books, wards, epoch)
    arm, size = np.int64(-1), _list_members(inside, members)
    coins_from = np.int64(epoch[5])
    while t < until:
        if t > epoch[2]:
            size = _begin_epoch(t, c, q, members, size, books, wards, epoch)
        if t - coins_from >= 64:
            coins_from = t
            _first_coins(coins, t, run, stream, key0, key1)
        arm = members[np.int64((coins[t - coins_from] * u64(size)) >> u64(32))]
        if arms.size > 0:
            arms[row, t] = arm
        n = counts[arm]
        if n >= stop[arm]:
            _refill(source, arm, n, run, key0, key1)
        i = n - first[arm]
        counts[arm] = n + 1
        done[arm] = n + 1
        t += 1
        inverse, flatter = coming[0, arm], coming[1, arm]
        extra = epoch[1] * (base[arm] - flatter) + 2.0 * GUARD
        under = 0
        for j in range(d):
            total = sums[arm, j] + ready[arm, i, j]
            value = total * inverse
            sums[arm, j], mean[arm, j] = total, value
            under |= 1 if value - extra <= floor[arm, j] else 0
        for j in range(d, padded):
            mean[arm, j] = mean[arm, 0]
        root[arm] = flatter
        inverse = 1.0 / (n + 2.0)  # for the next pull: nobody waits for them now
        coming[0, arm], coming[1, arm] = inverse, math.sqrt(inverse)
        near = 0
        for i in range(size):
            f = members[u64(i)]
            lead = _lead(u64(arm), u64(f), mean, root, ahead, epoch)
            near |= 1 if f != arm and lead <= 2.0 * GUARD else 0
        if t <= epoch[2] and under | near:
            size = _rearrange(arm, under, near, t, c, q, members, size, books, wards, epoch)
        if counts[arm] > calm[arm]:
            break
    epoch[5] = coins_from
    return t, arm


@lean
def _first_proof(sums, counts, clog, beta, leaders, width, calm, t, run, stream, key0, key1):
    """Return the objective that certifies its leader, as the plain loop does; -1 for none.

    Without a certificate every arm's L is below another arm's U on every objective, by a margin
    that two arms can use up.  One pull moves a bound by at most (1 + beta / 2) / N, so nothing
    is certified while every arm has been pulled no more than ``calm`` times.
    """
    K, d = sums.shape
    for a in range(K):
        beta[a] = math.sqrt(clog / counts[a])
    margin, widest = np.inf, -np.inf
    for j in range(d):
        leader, top, second, lower = 0, -np.inf, -np.inf, -np.inf
        for a in range(K):
            mean = sums[a, j] / counts[a]
            if mean + beta[a] > top:
                leader, top, second = a, mean + beta[a], top
            else:
                second = max(second, mean + beta[a])
            lower = max(lower, mean - beta[a])
        leaders[j], width[j] = leader, -np.inf
        margin = min(margin, top - lower)
        lower = sums[leader, j] / counts[leader] - beta[leader]
        margin = min(margin, second - lower)
        if lower > second:
            rival = 0.0
            for a in range(K):
                if a != leader and sums[a, j] / counts[a] + beta[a] >= second - TIE:
                    rival = max(rival, beta[a])
            width[j] = beta[leader] + rival
            widest = max(widest, width[j])
    if widest == -np.inf:
        for a in range(K):
            steps = (0.4999 * margin - GUARD) * counts[a] / (1.0 + 0.5 * beta[a])
            calm[a] = counts[a] + np.int64(max(0.0, min(steps, 1e15)))
        return -1
    n = 0
    for j in range(d):
        n += 1 if width[j] >= widest - TIE else 0
    k = np.int64((_coin(t, 1, run, stream, key0, key1) * u64(n)) >> u64(32))
    chosen = -1
    for j in range(d):
        if width[j] >= widest - TIE:
            if k == 0:
                chosen = j
            k -= 1
    return chosen


@jit
def _front(
    source,
    K,
    d,
    annealing,
    c,
    q,
    decay,
    proof,
    T,
    run_start,
    key0,
    key1,
    stream,
    book,
    certificates,
):
    r"""Play Pareto UCB1 or Annealing-Pareto: a uniform choice from a set that changes rarely.

    Both sets rest on comparisons of vectors V_a, optimistic ones (mean + radius) or the plain
    means.  Once the set is found, every member gets a box, one interval per objective, such
    that no verdict changes while all vectors stay in their boxes.  One pull moves a vector by
    at most :math:`(1 + \tfrac12 \text{radius}) / N`, so many pulls need no look at the
    rewards: these are drawn when the box might be left.  When it is left, only the verdicts
    about that arm are found again.  The radii are those of round ``found``; the bonus
    :math:`s = \sqrt{c \log(tq)}` grows since (:math:`ds/dt = c / 2ts`), which every margin
    allows for, and when the allowance ends the set is found from scratch, with the very
    numbers of the plain loop.  So it is, every round, when a margin is below GUARD.

    If ``proof``, which is stop_c log T, is positive, the run ends at the first certificate.
    """
    _, _, _, _, _, ready, first, stop, _, _ = source
    _, _, pulls, _, _, final_sums, arms = book
    # Objectives are padded to a multiple of 4 with copies of the first, which change nothing.
    padded = (d + 3) // 4 * 4
    counts = np.zeros(K, dtype=np.int64)
    done = np.zeros(K, dtype=np.int64)
    limit = np.zeros(K, dtype=np.int64)
    most = np.zeros(K, dtype=np.int64)
    members = np.zeros(K + 1, dtype=np.int64)
    witness = np.zeros(K, dtype=np.int64)
    queue = np.zeros(K + 1, dtype=np.int64)
    inside = np.zeros(K, dtype=np.bool_)
    leads = np.zeros(K, dtype=np.bool_)
    sums = np.zeros((K, d))
    V, low, high = np.zeros((K, padded)), np.zeros((K, padded)), np.zeros((K, padded))
    G = np.zeros((K, K))
    above, below, slope = np.zeros(K), np.zeros(K), np.zeros(K)
    reach, gap = np.zeros(K), np.zeros(K)
    patience = np.zeros(K, dtype=np.int64)
    coins = np.zeros(64, dtype=np.uint64)
    cert_round, cert_arm, cert_objective = certificates
    beta, width, leaders = np.zeros(K), np.zeros(d), np.zeros(d, dtype=np.int64)
    calm = np.full(K, np.int64(1) << 62)
    mean, root, floor, base = np.zeros((K, padded)), np.zeros(K), np.zeros((K, padded)), np.zeros(K)
    books = counts, sums, mean, root, np.zeros((2, K))
    wards = inside, witness, np.zeros((K, K), dtype=u64), floor, base, queue
    epoch = np.zeros(6)
    for row in range(pulls.shape[0]):
        run = u64(run_start + row)
        counts.fill(0)
        done.fill(0)
        stop.fill(0)
        sums.fill(0.0)
        inside.fill(True)
        at, event, size = np.int64(0), np.int64(0), np.int64(0)
        arm, t, found, span = np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
        coins_from = np.int64(-64)
        clog, growth, per_growth, power = 0.0, 0.0, 1.0, 1.0
        busy, window, spell = 0, np.int64(0), EAGER
        epoch.fill(-1.0)
        eager_until = np.int64(0) if annealing or c * _log(T * q) > 1e4 else EAGER
        while t < T:
            if t == event:
                at, event = _note(book, t, row, counts, at)
            if t < K:
                counts[t] = 1
                if arms.size > 0:
                    arms[row, t] = t
                t += 1
                continue
            if proof > 0.0 and (counts[arm] > calm[arm] or t == K):
                for a in range(K):
                    if done[a] < counts[a]:
                        _draw_many(source, a, done[a], counts[a] - done[a], sums, run, key0, key1)
                        done[a] = counts[a]
                        _locate(V, a, d, sums, counts, clog)
                j = _first_proof(
                    sums, counts, proof, beta, leaders, width, calm, t, run, stream, key0, key1
                )
                if j >= 0:
                    arm = leaders[j]
                    cert_round[row], cert_arm[row], cert_objective[row] = t, arm, j
                    break
            if t < eager_until:
                t, arm = _eager(
                    source,
                    t,
                    min(min(T, event), eager_until),
                    c,
                    q,
                    run,
                    stream,
                    key0,
                    key1,
                    row,
                    arms,
                    calm,
                    done,
                    members,
                    books,
                    wards,
                    epoch,
                    coins,
                )
                if t == eager_until:
                    inside.fill(True)
                    found, span, coins_from = t, np.int64(-1), np.int64(-64)
                    busy, window = 0, t + LAZY
                continue
            if not annealing and t >= window:
                if busy > BUSY and clog <= 1e4:
                    epoch.fill(-1.0)
                    spell = min(2 * spell, 16 * EAGER)
                    eager_until = t + spell
                    continue
                busy, window, spell = 0, t + LAZY, EAGER
            if t - found > span:
                busy += 3
                if not annealing:
                    clog = c * _log(t * q)
                for a in range(K):
                    if done[a] < counts[a]:
                        _draw_many(source, a, done[a], counts[a] - done[a], sums, run, key0, key1)
                        done[a] = counts[a]
                    _locate(V, a, d, sums, counts, clog)
                    limit[a] = counts[a]
                    most[a] = counts[a] + counts[a] // 16
                    slope[a] = 1.0 / math.sqrt(counts[a])
                _find_set(V, d, K, annealing, power / (K * d), inside, witness, leads, G)
                found, span = t, np.int64(0)
                if not annealing:
                    growth = _box_optimistic(
                        V, K, sums, counts, inside, witness, slope, gap, G, low, high, reach, limit
                    )
                    per_growth = 2.0 * t * math.sqrt(clog) / c  # rounds per unit of the bonus
                    span = np.int64(min(growth * per_growth, 1e15))
                    if clog > 1e4:  # radii so large that rounding could exceed GUARD
                        span = np.int64(-1)
                elif power / (K * d) <= GUARD and _box_means(
                    V, d, K, counts, inside, leads, G, low, high, reach, limit
                ):
                    span = np.int64(1) << 62
                size = _list_members(inside, members)
            if t - coins_from >= 64:
                coins_from = t
                _first_coins(coins, t, run, stream, key0, key1)
            arm = members[np.int64((coins[t - coins_from] * u64(size)) >> u64(32))]
            if arms.size > 0:
                arms[row, t] = arm
            counts[arm] += 1
            power *= decay
            t += 1
            if counts[arm] <= limit[arm] or t - found > span:
                continue
            if not annealing and counts[arm] > most[arm]:
                span = np.int64(-1)
                continue
            # Draw what is due and look where the arm is now; written out, to save the calls.
            for n in range(done[arm], counts[arm]):
                if n >= stop[arm]:
                    _refill(source, arm, n, run, key0, key1)
                i = n - first[arm]
                for j in range(d):
                    sums[arm, j] += ready[arm, i, j]
            done[arm] = counts[arm]
            weight = float(counts[arm])
            inverse = 1.0 / weight  # good to two units in the last place; GUARD covers that
            radius = math.sqrt(clog * inverse)
            for j in range(d):
                V[arm, j] = sums[arm, j] * inverse + radius
            outside = 0
            for j in range(d):
                outside |= 1 if V[arm, j] <= low[arm, j] or V[arm, j] >= high[arm, j] else 0
            for j in range(d, padded):
                V[arm, j] = V[arm, 0]
            if outside == 0:
                # How many pulls it can wait; not asked again soon when the answer was none.
                patience[arm] -= 1
                if patience[arm] <= 0:
                    steps = _slack(V, low, high, arm) * weight / (1.0 + 0.5 * radius)
                    limit[arm] = counts[arm] + np.int64(min(steps, 1e15))
                    if not annealing:
                        limit[arm] = min(limit[arm], most[arm])
                    patience[arm] = 0 if steps >= 2.0 else 8
            elif annealing:
                span = np.int64(-1)
            else:
                for i in range(size):
                    a = members[i]
                    if done[a] < counts[a]:
                        _draw_many(source, a, done[a], counts[a] - done[a], sums, run, key0, key1)
                        done[a] = counts[a]
                        _locate(V, a, d, sums, counts, clog)
                busy += 1
                growth = _settle(
                    V,
                    arm,
                    K,
                    counts,
                    inside,
                    witness,
                    slope,
                    growth,
                    (t - found) / per_growth,
                    (low, high, reach, limit),
                    gap,
                    above,
                    below,
                    queue,
                )
                span = np.int64(min(growth * per_growth, 1e15))
                for a in range(K):
                    inside[a] = witness[a] == -1
                size = _list_members(inside, members)
        _finish(book, T, t, arm, row, counts, at)
        if final_sums.size > 0:
            for a in range(K):
                _draw_many(source, a, done[a], counts[a] - done[a], sums, run, key0, key1)
                for j in range(d):
                    final_sums[row, a, j] = sums[a, j]


# Scalarized UCB.


@jit
def _scalarized(
    source, K, d, clog, starts, objectives, weights, T, run_start, key0, key1, stream, book
):
    """Play Scalarized UCB.

    Vector w has the nonzero entries ``weights[starts[w]:starts[w + 1]]``.  Leaving out zeros
    changes no digit, since x + 0 m = x.  Arms are scored four at a time; there are up to three
    dummies at the end.
    """
    _, _, _, _, _, ready, first, stop, _, _ = source
    _, _, pulls, _, _, final_sums, arms = book
    padded = (K + 3) // 4 * 4
    vectors = starts.size - 1
    counts = np.zeros(K, dtype=np.int64)
    sums = np.zeros((K, d))
    means = np.zeros((d, padded))
    score, beta = np.zeros(padded), np.zeros(padded)
    for row in range(pulls.shape[0]):
        run = u64(run_start + row)
        counts.fill(0)
        stop.fill(0)
        sums.fill(0.0)
        at, event, turn = np.int64(0), np.int64(0), np.int64(0)
        arm, t = np.int64(0), np.int64(0)
        while t < T:
            if t == event:
                at, event = _note(book, t, row, counts, at)
            if t < K:
                arm = t
            else:
                for a in range(0, padded, 4):
                    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                    for i in range(starts[turn], starts[turn + 1]):
                        w, j = weights[i], objectives[i]
                        s0 += w * means[j, a]
                        s1 += w * means[j, a + 1]
                        s2 += w * means[j, a + 2]
                        s3 += w * means[j, a + 3]
                    score[a] = s0 + beta[a]
                    score[a + 1] = s1 + beta[a + 1]
                    score[a + 2] = s2 + beta[a + 2]
                    score[a + 3] = s3 + beta[a + 3]
                turn = turn + 1 if turn + 1 < vectors else 0
                arm, top, second = 0, score[0], -np.inf
                for a in range(1, K):
                    x = score[a]
                    if x > top:
                        second = top
                        arm, top = a, x
                    elif x > second:
                        second = x
                if second >= top - TIE:
                    n = 0
                    for a in range(K):
                        if score[a] >= top - TIE:
                            n += 1
                    k = np.int64((_coin(t, 0, run, stream, key0, key1) * u64(n)) >> u64(32))
                    for a in range(K):
                        if score[a] >= top - TIE:
                            if k == 0:
                                arm = a
                            k -= 1
            if counts[arm] >= stop[arm]:
                _refill(source, arm, counts[arm], run, key0, key1)
            i = counts[arm] - first[arm]
            counts[arm] += 1
            number = float(counts[arm])
            for j in range(d):
                sums[arm, j] += ready[arm, i, j]
            for j in range(d):
                means[j, arm] = sums[arm, j] / number
            beta[arm] = math.sqrt(clog / number)
            if arms.size > 0:
                arms[row, t] = arm
            t += 1
        _finish(book, T, t, arm, row, counts, at)
        if final_sums.size > 0:
            for a in range(K):
                for j in range(d):
                    final_sums[row, a, j] = sums[a, j]


# UCB1 on one objective.


@jit
def _objective(known, K, d, run, stream, key0, key1):
    """Return the objective of a scalar policy in one run; -1 is drawn by the first coin."""
    if known >= 0:
        return known
    word = _coin(K, OBJECTIVE_SLOT, run, stream, key0, key1)
    return np.int64((word * u64(d)) >> u64(32))


@jit_extremes
def _largest(score):
    """Return the largest of some numbers."""
    top = score[0]
    for a in range(score.size):
        top = max(top, score[a])
    return top


@jit
def _where(score, value):
    """Return the first place of a value that is there."""
    a = 0
    while score[a] != value:
        a += 1
    return a


@jit
def _leading(score, margin):
    """Return how many scores are within a margin of the largest, and which one if it is one."""
    bar = _largest(score) - margin
    near, which = 0, 0
    for a in range(score.size):
        close = 1 if score[a] >= bar else 0
        near += close
        which += close * a
    return near, which


@jit
def _top_arm(mean, counts, clog, score, t, run, stream, key0, key1):
    """Choose the arm with the largest index as the plain loop does."""
    K = counts.size
    top = -np.inf
    for a in range(K):
        score[a] = mean[a] + math.sqrt(clog / counts[a])
        top = max(top, score[a])
    n = 0
    for a in range(K):
        if score[a] >= top - TIE:
            n += 1
    arm, k = 0, np.int64((_coin(t, 0, run, stream, key0, key1) * u64(n)) >> u64(32))
    for a in range(K):
        if score[a] >= top - TIE:
            if k == 0:
                arm = a
            k -= 1
    return arm


@jit
def _single_ucb1(source, K, d, known, c, T, run_start, key0, key1, stream, book):
    """Play UCB1 on one objective.

    The scores are mean + bonus / sqrt(N) with the bonus of round ``found``, without a division:
    good to far less than NEAR while the bonus is below 100.  The bonus s = sqrt(c log t) is
    concave, so it has grown by at most (t - found) c / (2 found s), and every score's error is
    at most this times the largest 1 / sqrt(N).  An arm that is ahead by more is the arm of
    the plain loop.  Otherwise the scores are found anew with the bonus of this round, and where
    two of them are within NEAR the plain loop's expressions decide.  The arrays end with up to
    three dummies.
    """
    _, _, _, _, _, ready, first, stop, _, _ = source
    _, _, pulls, _, _, final_sums, arms = book
    padded = (K + 3) // 4 * 4
    counts = np.zeros(K, dtype=np.int64)
    sums = np.zeros((K, d))
    mean, slope, score = np.full(padded, -1e9), np.zeros(padded), np.full(padded, -1e9)
    for row in range(pulls.shape[0]):
        run = u64(run_start + row)
        objective = _objective(known, K, d, run, stream, key0, key1)
        counts.fill(0)
        stop.fill(0)
        sums.fill(0.0)
        at, event, found, span = np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
        arm, t = np.int64(0), np.int64(0)
        bonus, rate = 0.0, 0.0
        while t < T:
            if t == event:
                at, event = _note(book, t, row, counts, at)
            if t < K:
                arm = t
            else:
                near, which = 2, 0
                if t - found <= span:
                    near, which = _leading(score, (t - found) * rate + NEAR)
                if near > 1:
                    clog = c * _log(t)
                    bonus = math.sqrt(clog)
                    for a in range(padded):
                        score[a] = mean[a] + bonus * slope[a]
                    rate = 0.5 * c / (t * bonus) * _largest(slope)
                    found, span = t, t // 128
                    near, which = _leading(score, NEAR)
                    if near > 1 or clog > 1e4:
                        which = _top_arm(mean, counts, clog, score, t, run, stream, key0, key1)
                        span = np.int64(-1)
                arm = which
            if counts[arm] >= stop[arm]:
                _refill(source, arm, counts[arm], run, key0, key1)
            i = counts[arm] - first[arm]
            counts[arm] += 1
            number = float(counts[arm])
            if final_sums.size > 0:
                for j in range(d):
                    sums[arm, j] += ready[arm, i, j]
            else:
                sums[arm, objective] += ready[arm, i, objective]
            mean[arm] = sums[arm, objective] / number
            slope[arm] = 1.0 / math.sqrt(number)
            score[arm] = mean[arm] + bonus * slope[arm]
            if arms.size > 0:
                arms[row, t] = arm
            t += 1
        _finish(book, T, t, arm, row, counts, at)
        if final_sums.size > 0:
            final_sums[row] = sums


# KL-UCB.


@jit
def _kl(p, q):
    """Compute kl(p, q) for 0 <= p <= q <= 1."""
    total = 0.0
    if p > 0.0:
        total += p * _log(p / q)
    if p < 1.0:
        if q >= 1.0:
            return np.inf
        total += (1.0 - p) * _log((1.0 - p) / (1.0 - q))
    return total


@jit
def _klucb_index(p, n, level):
    """Compute the index as the plain loop does."""
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
def _klucb_step(p, n, level, x):
    """Make a step of Newton's from x towards the zero u of f(x) = kl(p, x) - level / n; p < x < 1.

    f increases and is convex above p, so where the step leads is never below u.  Let a be its
    length and M the largest f'' / f' from x - 2a to x + a.  If M a <= 1/4, then f' changes so
    little there that u is not below x - 2a, and Taylor's formula leaves an error of at most
    2 M a^2.  Returns a bound of u from above and one from below, p if nothing is known.  Both
    allow for the rounding of kl, here and in the index of the plain loop.
    """
    slack = x * (1.0 - x) / (x - p)  # 1 / f'
    step = (_kl(p, x) - level / n) * slack
    a = abs(step)
    high, left, right = x - step + 1e-13 * slack, x - 2.0 * a, x + a
    if not (left > p and right < 1.0):
        return high, p
    room = min(left * (1.0 - left), right * (1.0 - right)) * (left - p)
    M = ((right - p) * (right - p) + p * (1.0 - p)) / room
    return high, max(p, high - 2.0 * M * a * a - 2e-13 * slack) if M * a <= 0.25 else p


@jit
def _klucb_bounds(state, a, p, n, level, steps):
    """Bound the index of an arm at a level, starting from the last bound, until it is sharp.

    The rows of ``state`` hold a bound from above, one from below, by how much the former
    grows with the level, and the level.  The index is concave in the level.
    """
    high, low, slope = 1.0, p, 0.0
    if p >= 1.0:
        low = 1.0
    else:
        x = state[0, a]
        if not p < x < 1.0:
            x = min(p + math.sqrt(level / (2.0 * n)), 0.5 * (1.0 + p))
        for _ in range(steps):
            upper, low = _klucb_step(p, n, level, x)
            if low > p:
                high, slope = upper, low * (1.0 - low) / (n * (low - p))
                if high - low <= 0.1 * PRECISION:
                    break
            x = upper if upper < 1.0 else 0.5 * (1.0 + x)
            if not x > p:
                break
    state[0, a], state[1, a], state[2, a], state[3, a] = high, low, slope, level


@jit_extremes
def _klucb_scores(state, level, score):
    """Bound all indices at a level from above; return the largest bound."""
    top = -1e9
    for a in range(score.size):
        score[a] = state[0, a] + state[2, a] * (level - state[3, a])
        top = max(top, score[a])
    return top


@jit
def _choose_klucb(means, counts, level, score, bar):
    """Choose the largest index as the plain loop does, among the arms whose score reaches a bar."""
    best, q = -1, -1.0
    for a in range(counts.size):
        if score[a] < bar:
            continue
        if best < 0:
            best = a
        elif means[a] != means[best] or counts[a] != counts[best]:  # else their indices are equal
            if q < 0.0:
                q = _klucb_index(means[best], counts[best], level)
            index = _klucb_index(means[a], counts[a], level)
            if index > q or (index == q and counts[a] < counts[best]):
                best, q = a, index
    return best


@jit
def _klucb_leader(state, means, counts, level, score):
    """Find the arm with the largest index; sharpen the bounds of those that may be it.

    Returns it, and a bar above all that the others may have, with the precision of an index to
    spare.  The bar is out of reach if it took exact indices to decide.
    """
    while True:
        top = _klucb_scores(state, level, score)
        b = _where(score, top)
        score[b] = -1e9
        second = _largest(score)
        if state[1, b] > second + 2.0 * PRECISION:
            return b, second + 2.0 * PRECISION
        a = b if state[3, b] < level else _where(score, second)
        score[b] = top
        if state[3, a] == level:
            bar = state[1, b] - 2.0 * PRECISION
            return _choose_klucb(means, counts, level, score, bar), 2.0
        _klucb_bounds(state, a, means[a], counts[a], level, 12)


@jit
def _klucb(source, K, d, known, T, run_start, key0, key1, stream, book):
    """Play KL-UCB on one objective.

    The leader of round ``found`` plays on for ``span`` rounds or until its index may have
    fallen below the bar.  Meanwhile log t grows by at most (t - found) / found, and the largest
    of the others' bounds, which is convex in the level, stays below the chord ``bar + (t - found)
    rate``.  The leader's own bound is found at a level that is not above log t.  The arrays end
    with up to seven dummies.
    """
    _, _, _, _, _, ready, first, stop, _, _ = source
    _, _, pulls, _, _, final_sums, arms = book
    padded = (K + 7) // 8 * 8
    counts = np.zeros(K, dtype=np.int64)
    sums, means = np.zeros((K, d)), np.zeros(K)
    state, score = np.zeros((4, padded)), np.zeros(padded)
    for row in range(pulls.shape[0]):
        run = u64(run_start + row)
        objective = _objective(known, K, d, run, stream, key0, key1)
        counts.fill(0)
        stop.fill(0)
        sums.fill(0.0)
        state.fill(0.0)
        state[0, :K] = 1.0
        state[0, K:] = -1e9
        at, event, found, span = np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
        arm, t = np.int64(0), np.int64(0)
        level, bar, rate, pace = 0.0, 0.0, 0.0, 0.0
        while t < T:
            if t == event:
                at, event = _note(book, t, row, counts, at)
            if t < K:
                arm = t
            elif t - found > span or not state[1, arm] > bar + (t - found) * rate:
                level = _log(t)
                arm, bar = _klucb_leader(state, means, counts, level, score)
                found, span = t, 1 + t // 256
                pace = 1.0 / (t + span)
                own, state[0, arm] = state[0, arm], -1e9
                ahead = _klucb_scores(state, level + span / t, score) + 2.0 * PRECISION
                rate = (ahead - bar) / span
                state[0, arm] = own
            if counts[arm] >= stop[arm]:
                if final_sums.size > 0:
                    _refill(source, arm, counts[arm], run, key0, key1)
                else:
                    _refill_watched(source, arm, counts[arm], objective, run, key0, key1)
            i = counts[arm] - first[arm]
            counts[arm] += 1
            if final_sums.size > 0:
                for j in range(d):
                    sums[arm, j] += ready[arm, i, j]
            else:
                sums[arm, objective] += ready[arm, i, objective]
            means[arm] = sums[arm, objective] / counts[arm]
            t += 1
            if t > K:
                now = level + (t - found) * pace
                _klucb_bounds(state, arm, means[arm], counts[arm], now, 1)
            if arms.size > 0:
                arms[row, t - 1] = arm
        _finish(book, T, t, arm, row, counts, at)
        if final_sums.size > 0:
            final_sums[row] = sums


# Pareto IMED.


@jit
def _log_many(work, n):
    """Take _log of the first n numbers > 0 of row 0 into row 3, in vector instructions.

    The rows between hold the mantissas and the exponents.  An exponent, biased by 1022, becomes
    a number by being the last bits of 2^52.  Where there is a zero the result has no meaning.
    """
    bits = work.view(np.uint64)
    for i in range(n):
        word = bits[0, i]
        bits[1, i] = (word & u64(0x000FFFFFFFFFFFFF)) | u64(0x3FE0000000000000)
        bits[2, i] = (word >> u64(52)) | u64(0x4330000000000000)
    for i in range(n):
        m, k = work[1, i], work[2, i] - 4503599627371518.0
        low = m < 0.7071067811865476
        m = m + m if low else m
        k = k - 1.0 if low else k
        f = m - 1.0
        s = f / (2.0 + f)
        z = s * s
        p = 0.15331721600556042 + z * 0.14616449685043406
        p = 0.2222221113479508 + z * (0.18182889125261723 + z * p)
        p = 0.666666666666667 + z * (0.39999999999899505 + z * (0.28571428625975487 + z * p))
        half = 0.5 * f * f
        leading, rest = k * 0.6931471805582987, k * 1.6465949582897082e-12
        work[3, i] = leading - ((half - (s * (half + z * p) + rest)) - f)


@jit
def _imed_terms(terms, a, sums, n, work):
    """Write m, 1 - m, log m, log(1 - m) and h(m) of arm a after n pulls."""
    d = terms.shape[0]
    for j in range(d):
        m = sums[a, j] / n
        work[0, j] = m
        work[0, d + j] = 1.0 - m
    _log_many(work, 2 * d)
    for j in range(d):
        m, w = work[0, j], work[0, d + j]
        one = work[3, j] if m > 0.0 else 0.0
        zero = work[3, d + j] if m < 1.0 else -np.inf
        terms[j, 0, a] = m
        terms[j, 1, a] = w
        terms[j, 2, a] = one
        terms[j, 3, a] = zero
        terms[j, 4, a] = m * one + w * zero if m < 1.0 else 0.0


@jit
def _imed_compare(terms, arm, add, table, strip):
    """Compare the arm that moved with all others: one row and one column of each table.

    ``lead[c, b]`` is min_j (m_c - m_b), ``D[a, b]`` the evidence D_b(a), and ``each[b, a]`` its
    inverse.  Rows have room for a multiple of four arms; what is beyond K is not used.
    """
    lead, D, each = table
    K, width = lead.shape
    ahead, behind, lower, upper = strip[0], strip[1], strip[2], strip[3]
    strip[:2] = np.inf
    strip[2:] = 0.0
    for j in range(terms.shape[0]):
        m, w, one, zero, h = terms[j, 0], terms[j, 1], terms[j, 2], terms[j, 3], terms[j, 4]
        m0, w0, one0, zero0, h0 = m[arm], w[arm], one[arm], zero[arm], h[arm]
        for a in range(width):  # the arm as b, then as a
            x = m[a] - m0
            least = 2.0 * x * x
            kl = h0 - (m0 * one[a] + w0 * zero[a])
            kl = kl if kl > least else least
            kl = kl if x > 0.0 else 0.0
            low = lower[a]
            lower[a] = low + kl if add else (kl if kl > low else low)
            kl = h[a] - (m[a] * one0 + w[a] * zero0)
            kl = kl if kl > least else least
            kl = kl if x < 0.0 else 0.0
            up = upper[a]
            upper[a] = up + kl if add else (kl if kl > up else up)
            ahead[a] = -x if -x < ahead[a] else ahead[a]
            behind[a] = x if x < behind[a] else behind[a]
    for a in range(width):
        lead[arm, a] = ahead[a]
        D[arm, a] = upper[a]
        each[arm, a] = 1.0 / lower[a] if lower[a] > 0.0 else 0.0
    for a in range(K):
        lead[a, arm] = behind[a]
        D[a, arm] = lower[a]
        each[a, arm] = 1.0 / upper[a] if upper[a] > 0.0 else 0.0


@jit
def _least(values, t, slot, run, stream, key0, key1):
    """Choose among the values within TIE of the least by a coin."""
    least, n, arm = np.inf, 0, 0
    for a in range(values.size):
        least = min(least, values[a])
    for a in range(values.size):
        if values[a] <= least + TIE:
            arm = a if n == 0 else arm
            n += 1
    if n > 1:
        k = np.int64((_coin(t, slot, run, stream, key0, key1) * u64(n)) >> u64(32))
        for a in range(values.size):
            if values[a] <= least + TIE:
                if k == 0:
                    arm = a
                k -= 1
    return arm


@jit
def _imed_candidate(table, gap, price, t, run, stream, key0, key1):
    """Return the free arm of least price; there are no prices when only one arm is free."""
    lead, _, each = table
    K, width = lead.shape
    gap[:] = 0.0
    for c in range(K):
        for b in range(width):
            gap[b] = max(gap[b], lead[c, b])
    free, arm = 0, 0
    for b in range(K):
        if gap[b] <= TIE:
            free += 1
            arm = b
    if free == 1:
        return arm
    price[:] = 0.0
    for b in range(K):
        if gap[b] > TIE:
            for a in range(width):
                price[a] += gap[b] * each[b, a]
    for a in range(K):
        price[a] = np.inf if gap[a] > TIE else price[a]
    return _least(price[:K], t, 0, run, stream, key0, key1)


@jit
def _imed_corner(terms, a, add, side, evidence, work):
    """Write a lower bound of D_b(a) for all b while no mean of arm a falls by more than side."""
    d, _, width = terms.shape
    evidence[:] = 0.0
    for j in range(d):
        q = max(terms[j, 0, a] - side, 0.0)
        work[0, j] = q
        work[0, d + j] = 1.0 - q
    _log_many(work, 2 * d)
    for j in range(d):
        q, one, zero = work[0, j], work[3, j], work[3, d + j]
        if q > 0.0:
            m, w, h = terms[j, 0], terms[j, 1], terms[j, 4]
            for b in range(width):
                x = q - m[b]
                kl = h[b] - (m[b] * one + w[b] * zero)
                kl = kl if x > 0.0 and kl > 0.0 else 0.0
                low = evidence[b]
                evidence[b] = low + kl if add else (kl if kl > low else low)
    for b in range(width):
        evidence[b] = evidence[b] * (1.0 - GUARD) - d * GUARD


@jit
def _imed_room(terms, table, counts, logs, a, add, side, strip, work):
    """Find how many more pulls of arm a the full computation certainly wants, or 0.

    That is while no mean of arm a moves by more than ``side`` and it is the only arm that does.
    It stays free if nobody comes within the side of beating it.  The indices of the others do
    not fall below those with the evidence of the box's lower corner, and log n grows by less
    than 1/n per pull.  It remains the candidate if the most that it can cost is less than the
    least that any other arm can, among those that can be free at all.
    """
    lead, _, each = table
    K, width = lead.shape
    evidence, low, high, price = strip[0], strip[1], strip[2], strip[3]
    for c in range(K):
        if c != a and lead[c, a] + side > 0.0:
            return np.int64(0)
    _imed_corner(terms, a, add, side, evidence, work)
    least = np.inf
    for b in range(K):
        if b != a:
            least = min(least, counts[b] * evidence[b] + logs[b])
    room = min(1.0, least * (1.0 - GUARD) - logs[a] - GUARD) * counts[a]
    if not room >= 4.0:
        return np.int64(0)
    low[:] = 0.0
    for c in range(K):
        if c != a:
            for b in range(width):
                low[b] = max(low[b], lead[c, b])
    rivals = 0
    for b in range(K):
        high[b] = max(low[b], lead[a, b] + side)
        low[b] = max(low[b], lead[a, b] - side)
        rivals += 1 if low[b] <= 2.0 * TIE else 0
    if rivals > 1:  # arm a is one of them
        most = 0.0
        price[:] = 0.0
        for b in range(K):
            if b != a:
                if high[b] > 0.0:
                    if not evidence[b] > 0.0:
                        return np.int64(0)
                    most += high[b] / evidence[b]
                if low[b] > 2.0 * TIE:
                    for f in range(width):
                        price[f] += low[b] * each[b, f]
        for f in range(K):
            if f != a and low[f] <= 2.0 * TIE and not price[f] * 0.999999 - GUARD > most:
                return np.int64(0)
    return np.int64(room)


@jit
def _imed_stay(source, a, counts, sums, box, side, most, run, key0, key1):
    """Pull arm a until a mean has left its box, or it has been pulled ``most`` times.

    Returns whether all means are in the box.
    """
    _, _, _, _, _, ready, first, stop, _, _ = source
    d = sums.shape[1]
    n = counts[a]
    outside = 0
    while outside == 0 and n < most:
        if n >= stop[a]:
            _refill(source, a, n, run, key0, key1)
        i = n - first[a]
        n += 1
        middle, reach = float(n), side * n
        for j in range(d):
            total = sums[a, j] + ready[a, i, j]
            sums[a, j] = total
            outside += 1 if abs(total - box[j] * middle) > reach else 0
    counts[a] = n
    return outside == 0


@jit
def _pareto_imed(source, K, d, add, T, run_start, key0, key1, stream, book):
    """Play Pareto IMED: a pull moves one arm, and with it one row and one column.

    Nearly all pulls are of the candidate.  They come in stays: a box around its means and a
    number of pulls within which the full computation is known to want it again.
    """
    _, _, _, _, _, ready, first, stop, _, _ = source
    _, _, pulls, _, _, final_sums, arms = book
    width = (K + 3) // 4 * 4
    counts = np.zeros(K, dtype=np.int64)
    sums, logs, index, box = np.zeros((K, d)), np.zeros(K), np.zeros(K), np.zeros(d)
    gap, price = np.zeros(width), np.zeros(width)
    terms, strip, work = np.zeros((d, 5, width)), np.zeros((4, width)), np.zeros((4, 2 * d))
    table = np.zeros((K, width)), np.zeros((K, width)), np.zeros((K, width))
    for row in range(pulls.shape[0]):
        run = u64(run_start + row)
        counts.fill(0)
        stop.fill(0)
        sums.fill(0.0)
        at, event = np.int64(0), np.int64(0)
        arm, t, retry = np.int64(0), np.int64(0), np.int64(0)
        last = np.int64(0)  # a stay ends before this many pulls of the arm, if there is one
        reach, side = 8.0, 0.0
        while t < T:
            if t == event:
                at, event = _note(book, t, row, counts, at)
            began = t
            if t < K:
                arm = t
            elif last == 0:
                a = _imed_candidate(table, gap, price, t, run, stream, key0, key1)
                for b in range(K):
                    index[b] = counts[b] * table[1][a, b] + logs[b]
                arm = _least(index, t, 1, run, stream, key0, key1)
                if arm == a and t >= retry:
                    side = reach / counts[a]
                    wide = side + GUARD
                    room = _imed_room(terms, table, counts, logs, a, add, wide, strip, work)
                    if room > 0:
                        last = counts[a] + room
                        box[:] = terms[:, 0, a]
                    elif reach > 2.0:
                        reach *= 0.5
                    else:
                        retry = t + 16
                        reach = 8.0
            if last > 0:
                n = counts[arm]
                most = min(last, n + min(T, event) - t)
                inside = _imed_stay(source, arm, counts, sums, box, side, most, run, key0, key1)
                t += counts[arm] - n
                if not inside:
                    reach *= 2.0
                if not inside or counts[arm] == last:
                    last = 0
            else:
                if counts[arm] >= stop[arm]:
                    _refill(source, arm, counts[arm], run, key0, key1)
                i = counts[arm] - first[arm]
                counts[arm] += 1
                for j in range(d):
                    sums[arm, j] += ready[arm, i, j]
                t += 1
            if last == 0:
                logs[arm] = _log(counts[arm])
                _imed_terms(terms, arm, sums, counts[arm], work)
                _imed_compare(terms, arm, add, table, strip)
            if arms.size > 0:
                arms[row, began:t] = arm
        _finish(book, T, t, arm, row, counts, at)
        if final_sums.size > 0:
            final_sums[row] = sums


# Pareto Thompson sampling.


@jit
def _gamma(e, c, x, word):
    """Make a gamma variable of shape e + 1/3 from a normal; -1 if it is rejected."""
    root = 1.0 + x * c
    if root <= 0.0:
        return -1.0
    g, xx, w = root * root * root, x * x, (word + 0.5) * CELL
    if w < 1.0 - SQUEEZE * (xx * xx) or _log(w) < 0.5 * xx + e * (1.0 - g + _log(g)):
        return e * g
    return -1.0


@jit
def _beta_draw(total, n, place, places, t, run, stream, key0, key1):
    """Draw one coordinate as the plain loop does."""
    e, f = 1.0 + total - 1.0 / 3.0, 1.0 + (n - total) - 1.0 / 3.0
    x, y, group = -1.0, -1.0, u64(1 + place)
    while not (x > 0.0 and y > 0.0):
        w0, w1, w2, w3 = _philox(u64(t), group, run, stream, key0, key1)
        u, v = (2.0 * w0 + 1.0) * CELL - 1.0, (2.0 * w1 + 1.0) * CELL - 1.0
        s = u * u + v * v
        if s < 1.0:
            scale = math.sqrt(-2.0 * _log(s) / s)
            x = _gamma(e, 1.0 / math.sqrt(9.0 * e), u * scale, w2)
            y = _gamma(f, 1.0 / math.sqrt(9.0 * f), v * scale, w3)
        group += u64(places)
    return x / (x + y)


@jit
def _normals(rounds, groups, n, words, s, out, run, stream, key0, key1):
    """Make the normals of n attempts, and their words in (-1, 1), in single precision.

    Rows 0 and 1 of ``out`` are within 8e-6 of what they should be, and infinite unless 2^-20 <= s
    <= 1 - 2^-11.  Short loops, which become vector instructions.
    """
    for i in range(n):
        w0, w1, w2, w3 = _philox(u64(rounds[i]), u64(groups[i]), run, stream, key0, key1)
        words[0, i], words[1, i], words[2, i], words[3, i] = u32(w0), u32(w1), u32(w2), u32(w3)
    signed, bits, mantissa = words.view(np.int32), s.view(np.int32), out.view(np.int32)
    for i in range(n):
        u, v = f32(signed[0, i] ^ FLIP) * HALF_CELL, f32(signed[1, i] ^ FLIP) * HALF_CELL
        s[i] = u * u + v * v
    for i in range(n):  # s = 2^k m with m between sqrt(1/2) and sqrt(2)
        k = (bits[i] - SQRT_HALF) >> np.int32(23)
        mantissa[0, i] = bits[i] - (k << np.int32(23))
        out[1, i] = f32(k)
    for i in range(n):  # log m = 2 artanh(z)
        f = out[0, i] - f32(1)
        z = f / (f32(2) + f)
        y = z * z
        z *= f32(2) + y * (f32(2 / 3) + y * (f32(2 / 5) + y * f32(2 / 7)))
        scale = math.sqrt(f32(-2) * (z + out[1, i] * f32(math.log(2))) / s[i])
        sure = (s[i] >= f32(2**-20)) & (s[i] <= f32(1 - 2**-11))
        scale = scale if sure else f32(np.inf)
        out[0, i] = f32(signed[0, i] ^ FLIP) * HALF_CELL * scale
        out[1, i] = f32(signed[1, i] ^ FLIP) * HALF_CELL * scale
    for i in range(n):
        out[2, i] = f32(signed[2, i] ^ FLIP) * HALF_CELL
        out[3, i] = f32(signed[3, i] ^ FLIP) * HALF_CELL


@jit
def _thompson_plan(size):
    """Make room for so many attempts: their rounds and groups, two lists, words, s, normals."""
    words, near = np.zeros((4, size), dtype=u32), np.ones((4, size), dtype=f32)
    lists = np.zeros((2, size), dtype=np.int64)
    numbers = np.zeros((2, size), dtype=u32)
    return numbers[0], numbers[1], lists[0], lists[1], words, np.ones(size, dtype=f32), near


@jit
def _outside(s, todo, n):
    """List those of n points that are outside the disc, or on its edge; return how many."""
    left = u64(0)
    for i in range(n):
        todo[left] = i
        left += u64(s[i] > f32(1 + 2**-11))
    return left


@jit
def _normals_ahead(places, t, plan, points, run, stream, key0, key1):
    """Make the normals of some rounds from t on: of every place's first attempt in the disc.

    They do not depend on the rewards, so many are made at a time.
    """
    rounds, groups, todo, where, words, s, near = plan
    n = points.shape[1]
    for start in range(0, n, places):
        for i in range(places):
            rounds[start + i], groups[start + i] = u32(t), u32(1 + i)
        t += 1
    for i in range(n):
        where[i] = i
    _normals(rounds, groups, n, words, s, points, run, stream, key0, key1)
    left = _outside(s, todo, n)
    while left > 0:
        for i in range(left):
            k = todo[i]
            where[i], rounds[i], groups[i] = where[k], rounds[k], groups[k] + u32(places)
        _normals(rounds, groups, left, words, s, near, run, stream, key0, key1)
        for i in range(left):
            k = where[i]
            points[0, k], points[1, k] = near[0, i], near[1, i]
            points[2, k], points[3, k] = near[2, i], near[3, i]
        left = _outside(s, todo, left)


@jit
def _set_shapes(shapes, i, total, rest):
    """Write e and c of both gamma variables of a place."""
    e, f = f32(2.0 / 3.0 + total), f32(2.0 / 3.0 + rest)
    shapes[0, i], shapes[1, i] = e, f32(1) / math.sqrt(f32(9) * e)
    shapes[2, i], shapes[3, i] = f, f32(1) / math.sqrt(f32(9) * f)


@jit
def _bound_draws(shapes, points, start, low, high):
    """Bound the draws of all places from below and above; return how many are left, with low -1.

    Let root = 1 + y with y = c x.  By the series, log root >= y - y^2/2 + y^3/3 - r y^4 with
    r = 1/4 if y >= 0, else r = 1/4 + |y| / (5 root).  As 9 e c^2 = 1 and log w <= w - 1, an attempt
    is accepted if w < 1 - r x^2 y^2 / 3.  An error of 8e-6 in x changes the logarithm of a gamma
    variable by at most 3 c 8e-6 / root, below 4e-5 if root >= 1/4, and rounding by less than 1e-5.
    So the draw b is known to within 1e-4 b (1 - b), and rounding.
    """
    stop = start + low.size
    x, x_word = points[0, start:stop], points[2, start:stop]
    y, y_word = points[1, start:stop], points[3, start:stop]
    e, x_c, f, y_c = shapes[0], shapes[1], shapes[2], shapes[3]
    for i in range(low.size):
        xx, yy = x[i] * x[i], y[i] * y[i]
        p, q = f32(1) + x[i] * x_c[i], f32(1) + y[i] * y_c[i]
        xx *= (p - f32(1)) * (p - f32(1)) * max(f32(1), f32(0.2) + f32(0.8) / p)
        yy *= (q - f32(1)) * (q - f32(1)) * max(f32(1), f32(0.2) + f32(0.8) / q)
        # the words are 2 w - 1; minima, because branches would keep this loop from vectors
        spare = min(f32(0.9998) - x_word[i] - f32(1 / 6) * xx, p - f32(0.25))
        other = min(f32(0.9998) - y_word[i] - f32(1 / 6) * yy, q - f32(0.25))
        p, q = e[i] * (p * p * p), f[i] * (q * q * q)
        b = p / (p + q)
        error = b * ((f32(1) - b) * f32(2**-13) + f32(2**-22))
        low[i] = b - error if (spare > f32(0)) & (other > f32(0)) else f32(-1)
        high[i] = b + error
    left = 0
    for i in range(low.size):
        left += 1 if low[i] < f32(0) else 0
    return left


@jit
def _dominates(c, a, low, high, counts, sums, t, run, stream, key0, key1):
    """Whether the draws of arm c dominate those of arm a; exact ones where the bounds overlap."""
    K, d = sums.shape
    more = False
    for j in range(d):
        if low[c * d + j] > high[a * d + j]:
            more = True
        else:
            place = a * d + j
            x = _beta_draw(sums[a, j], counts[a], place, K * d, t, run, stream, key0, key1)
            place = c * d + j
            y = _beta_draw(sums[c, j], counts[c], place, K * d, t, run, stream, key0, key1)
            if y < x:
                return False
            more = more or y > x
    return more


@jit
def _sampled_front(low, high, guess, counts, sums, front, t, run, stream, key0, key1):
    """List the arms whose drawn vectors no other dominates, in order; return how many.

    What has been found is tried first the next time: ``guess[a, a]`` is an arm that dominated
    arm a, and ``guess[a, c]`` an objective in which a was above c.
    """
    K, d = sums.shape
    size = 0
    for a in range(K):
        c, j = guess[a, a], 0
        while j < d and low[c * d + j] > high[a * d + j]:
            j += 1
        dominated = j == d
        c = 0
        while c < K and not dominated:
            j = guess[a, c]
            if c != a and not low[a * d + j] > high[c * d + j]:
                j = 0
                while j < d and not low[a * d + j] > high[c * d + j]:
                    j += 1
                if j < d:
                    guess[a, c] = j
                elif _dominates(c, a, low, high, counts, sums, t, run, stream, key0, key1):
                    dominated = True
                    guess[a, a] = c
            c += 1
        if not dominated:
            front[size] = a
            size += 1
    return size


@jit
def _pareto_thompson(source, K, d, T, run_start, key0, key1, stream, book):
    """Play Pareto Thompson sampling: bounds of the draws nearly always tell the front."""
    _, _, _, _, _, ready, first, stop, _, _ = source
    _, _, pulls, _, _, final_sums, arms = book
    n = K * d
    rounds = max(1, min(64, 2048 // n))
    counts, front = np.zeros(K, dtype=np.int64), np.zeros(K, dtype=np.int64)
    sums, guess = np.zeros((K, d)), np.zeros((K, K), dtype=np.int64)
    shapes, low, high = np.ones((4, n), dtype=f32), np.ones(n, dtype=f32), np.ones(n, dtype=f32)
    points, plan = np.ones((4, rounds * n), dtype=f32), _thompson_plan(rounds * n)
    for row in range(pulls.shape[0]):
        run = u64(run_start + row)
        counts.fill(0)
        stop.fill(0)
        sums.fill(0.0)
        guess.fill(0)
        at, event, ahead = np.int64(0), np.int64(0), np.int64(K)
        arm, t = np.int64(0), np.int64(0)
        while t < T:
            if t == event:
                at, event = _note(book, t, row, counts, at)
            if t < K:
                arm = t
            else:
                if t == ahead:
                    _normals_ahead(n, t, plan, points, run, stream, key0, key1)
                    ahead += rounds
                left = _bound_draws(shapes, points, (rounds - (ahead - t)) * n, low, high)
                i = 0
                while left > 0:
                    if low[i] < 0.0:
                        a, j = i // d, i % d
                        x = _beta_draw(sums[a, j], counts[a], i, n, t, run, stream, key0, key1)
                        low[i], high[i] = f32(x * (1.0 - 1e-6)), f32(x * (1.0 + 1e-6))
                        left -= 1
                    i += 1
                size = _sampled_front(
                    low, high, guess, counts, sums, front, t, run, stream, key0, key1
                )
                word = _coin(t, 0, run, stream, key0, key1) if size > 1 else u64(0)
                arm = front[np.int64((word * u64(size)) >> u64(32))]
            if counts[arm] >= stop[arm]:
                _refill(source, arm, counts[arm], run, key0, key1)
            i = counts[arm] - first[arm]
            counts[arm] += 1
            for j in range(d):
                total = sums[arm, j] + ready[arm, i, j]
                sums[arm, j] = total
                _set_shapes(shapes, arm * d + j, total, counts[arm] - total)
            if arms.size > 0:
                arms[row, t] = arm
            t += 1
        _finish(book, T, t, arm, row, counts, at)
        if final_sums.size > 0:
            final_sums[row] = sums


# The Python side.


def play_rows(block: RunBlock, task: Request, start: int, stop: int, run_start: int) -> None:
    """Play rows ``start``, ..., ``stop - 1`` of a block; row r is run ``run_start + r``."""
    rows = slice(start, stop)
    book = (
        task.checkpoints,
        task.tail_start,
        block.pulls[rows],
        block.tail_pulls[rows],
        block.checkpoint_pulls[rows],
        np.zeros((0, 0, 0)) if block.sums is None else block.sums[rows],
        np.zeros((0, 0), dtype=np.int32) if block.arms is None else block.arms[rows],
    )
    certificates = (block.cert_round[rows], block.cert_arm[rows], block.cert_objective[rows])
    play, options, certifies = KERNELS[type(task.policy)](task)
    play(
        _source(task.arrays),
        task.arrays.K,
        task.arrays.d,
        *options,
        task.horizon,
        run_start + start,
        u64(task.seed & 0xFFFFFFFF),
        u64(task.seed >> 32),
        u64(coin_stream(coins_of(task.policy))),
        book,
        *([certificates] if certifies else []),
    )


def draw_rows(arrays: RewardArrays, rounds: int, seed: int, run: int, sums: FloatArray) -> None:
    """Add the rewards of so many rounds to the sums; the arms take turns."""
    key0, key1 = u64(seed & 0xFFFFFFFF), u64(seed >> 32)
    _draw_in_turn(_source(arrays), arrays.K, rounds, u64(run), key0, key1, sums)


Plan = tuple[Any, tuple[Any, ...], bool]
"""A kernel, its policy's options, and whether it wants the certificates' arrays."""

KERNELS: dict[type, Callable[[Request], Plan]] = {}
"""The registry: how the kernel of a policy record is called."""


def kernel(record: type) -> Callable[[Callable[[Request], Plan]], Callable[[Request], Plan]]:
    """Register the kernel of a policy record, by a function from the request to the plan."""

    def register(plan: Callable[[Request], Plan]) -> Callable[[Request], Plan]:
        KERNELS[record] = plan
        return plan

    return register


@kernel(WidthGuided)
def _plan_width_guided(task: Request) -> Plan:
    policy = cast(WidthGuided, task.policy)
    rule = OBJECTIVE_RULES.index(policy.objective_rule)
    ends = np.array([task.horizon])
    clogs = np.array([policy.c * log(task.horizon)])
    kl = policy.certificate == "kl"
    return _width_guided, (ends, clogs, rule, task.given.champion_objective, kl), True


@kernel(AnytimeWidthGuided)
def _plan_anytime(task: Request) -> Plan:
    policy = cast(AnytimeWidthGuided, task.policy)
    ends = [epoch_end(task.arrays.K)]
    while ends[-1] < task.horizon:
        ends.append(epoch_end(ends[-1]))
    clogs = np.array([policy.c * log(end) for end in ends])
    return _width_guided, (np.array(ends), clogs, 0, 0, False), True


@kernel(ParetoUCB1)
def _plan_pareto_ucb1(task: Request) -> Plan:
    policy = cast(ParetoUCB1, task.policy)
    q = policy.scale(task.arrays.K, task.arrays.d, task.given)
    proof = policy.stop_c * log(task.horizon) if policy.stop else 0.0
    return _front, (False, policy.c, q, 0.0, proof), True


@kernel(AnnealingPareto)
def _plan_annealing_pareto(task: Request) -> Plan:
    return _front, (True, 0.0, 1.0, cast(AnnealingPareto, task.policy).decay, 0.0), True


@kernel(ScalarizedUCB)
def _plan_scalarized_ucb(task: Request) -> Plan:
    policy = cast(ScalarizedUCB, task.policy)
    matrix = policy.matrix(task.arrays.d)
    vectors, objectives = np.nonzero(matrix)
    starts = np.searchsorted(vectors, np.arange(len(matrix) + 1))
    weights = matrix[vectors, objectives]
    return _scalarized, (policy.c * log(task.horizon), starts, objectives, weights), False


def _known_objective(task: Request) -> int:
    """The objective of a scalar policy if it is known beforehand, -1 if a coin draws it."""
    policy = cast(OneObjective, task.policy)
    known = policy.known_objective(task.arrays.d, task.given)
    return -1 if known is None else known


@kernel(SingleUCB1)
def _plan_single_ucb1(task: Request) -> Plan:
    return _single_ucb1, (_known_objective(task), cast(SingleUCB1, task.policy).c), False


@kernel(KLUCB)
def _plan_klucb(task: Request) -> Plan:
    return _klucb, (_known_objective(task),), False


@kernel(ParetoIMED)
def _plan_pareto_imed(task: Request) -> Plan:
    return _pareto_imed, (cast(ParetoIMED, task.policy).evidence == "sum",), False


@kernel(ParetoThompson)
def _plan_pareto_thompson(task: Request) -> Plan:
    return _pareto_thompson, (), False
