"""The streams of :mod:`momab.engine.streams` in a form for the compiler alone.

These functions take the places of their namesakes in ``streams``, which make many words at a time
with NumPy.  Unsigned numbers spare the check for negative positions, and short loops without
branches become vector instructions.
"""
# numba finds the types:
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from momab.engine.streams import BERNOULLI, DUPLICATED, NO_COINS, ROWS

u32, u64 = np.uint32, np.uint64
LOW = u64(0xFFFFFFFF)


def philox_block(x0, x1, x2, x3, key0, key1):
    """Return the four words of one counter."""
    for _ in range(10):
        p0 = u64(0xD2511F53) * x0
        p1 = u64(0xCD9E8D57) * x2
        x0, x1 = (p1 >> u64(32)) ^ x1 ^ key0, p1 & LOW
        x2, x3 = (p0 >> u64(32)) ^ x3 ^ key1, p0 & LOW
        key0 = (key0 + u64(0x9E3779B9)) & LOW
        key1 = (key1 + u64(0xBB67AE85)) & LOW
    return x0, x1, x2, x3


def four_words_of(coin, group):
    """Return the words of the slots 4 group, ..., 4 group + 3 of this round."""
    t, run, stream = u64(coin.t[0]), u64(coin.run[0]), u64(coin.stream)
    x0, x1, x2, x3 = philox_block(t, u64(group), run, stream, u64(coin.key0), u64(coin.key1))
    if coin.stream == NO_COINS:
        return 0, 0, 0, 0
    return np.int64(x0), np.int64(x1), np.int64(x2), np.int64(x3)


def word_of(coin, slot):
    """Return the word of a slot of this round."""
    x0, x1, x2, x3 = four_words_of(coin, slot // 4)
    lane = slot % 4
    return x0 if lane == 0 else x1 if lane == 1 else x2 if lane == 2 else x3


def refill_with(pulls, coin, arm, n):
    """Make the rewards of pulls n, n + 1, ... of an arm: a few at first, then more at a time."""
    m, ready = pulls.source.words, pulls.ready
    count = min(ready.shape[1], max(2, 32 // m, n // 2))
    first = n * m // 4
    fill_words(pulls.words, first, ((n + count) * m + 3) // 4 - first, arm, coin)
    at = u64(n * m - 4 * first)
    for i in range(count):
        turn_into_rewards(pulls.source, pulls.words, at, arm, ready[arm, i])
        at += u64(m)
    pulls.first[arm] = n
    pulls.stop[arm] = n + count


def fill_words(out, first, blocks, arm, coin):
    """Write the words of consecutive blocks of an arm."""
    run, slot, key0, key1 = u64(coin.run[0]), u64(arm), u64(coin.key0), u64(coin.key1)
    for i in range(blocks):
        block = (u64(first) + u64(i)) & LOW
        x0, x1, x2, x3 = philox_block(block, slot, run, u64(0), key0, key1)
        out[4 * i] = u32(x0)
        out[4 * i + 1] = u32(x1)
        out[4 * i + 2] = u32(x2)
        out[4 * i + 3] = u32(x3)


def turn_into_rewards(source, words, at, arm, reward):
    """Turn the words of one pull, from a position on, into its rewards."""
    kind, d, base = source.kind, source.d, u64(arm * source.d)
    if kind == BERNOULLI:
        for j in range(d):  # a number, not a branch, which would be mispredicted
            reward[j] = np.float64(words[at + u64(j)] < source.thresholds[base + u64(j)])
    elif kind == DUPLICATED:
        one = np.float64(words[at] < source.thresholds[arm])
        for j in range(d):
            reward[j] = one
    elif kind == ROWS:
        size = u64(source.offsets[arm + 1] - source.offsets[arm])
        row = u64(source.offsets[arm]) + ((u64(words[at]) * size) >> u64(32))
        for j in range(d):
            reward[j] = source.values[row * u64(d) + u64(j)]
    else:
        for j in range(d):
            start = u64(source.offsets[base + u64(j)])
            size = u64(source.offsets[base + u64(j + 1)]) - start
            place = start + ((u64(words[at + u64(j)]) * size) >> u64(32))
            reward[j] = source.values[place]


INLINED = (philox_block, turn_into_rewards)
