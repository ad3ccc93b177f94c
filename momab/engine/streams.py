r"""The random streams that every engine shares, digit for digit.

**Philox-4x32-10** (Salmon et al., SC 2011) turns a key and a counter into four 32-bit words:
a pure function, so any reward of any run can be computed on its own, in any order, anywhere.
The key is the seed (low word, high word); the counter is (block, slot, run, stream).

*Rewards* use stream 0 and slot = arm.  The words of an arm are numbered w = 0, 1, 2, ...:
word w is lane w % 4 of block w // 4.  With m words per pull, the n-th pull (from 0) uses words
n m, ..., n m + m - 1.  A Bernoulli(p) coordinate is 1 when its word is below
:math:`\mathrm{round}(2^{32} p)`, so its mean differs from p by at most :math:`2^{-33}`.  An
index into a list of ``size`` samples is (word * size) >> 32: no index's probability is off by
more than :math:`2^{-32}`, a total bias of at most :math:`\mathrm{size}/2^{32}`.

*Coins*, the policies' own random choices, use one stream per policy name (or a key that a record
shares, see :mod:`momab.engine.policies.base`).  The coin of a round
(t pulls already made) and slot is lane slot % 4 of the block with counter
(t, slot // 4, run, stream).  A choice among n items in index order takes item (word * n) >> 32.

No library logarithm is used in a decision: platforms differ in the last bit.
:func:`momab.model.numerics.log` needs only IEEE +, -, *, /, which do not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import FloatArray, IntArray
from momab.errors import MomabError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from momab.model.instances import RewardSource

Words = NDArray[np.uint64]

MASK = 0xFFFFFFFF
REWARDS = 0  # the stream of rewards; coin streams have their top bit set
NO_COINS = -1  # all words are 0: a choice takes the first

BERNOULLI, DUPLICATED, ROWS, SAMPLES = range(4)


def _mul(a: int, b: Words) -> tuple[Words, Words]:
    product = np.uint64(a) * b
    return product >> np.uint64(32), product & np.uint64(MASK)


def philox(counter: Sequence[int | Words], seed: int) -> Words:
    """Return the four words of every counter, shape (4, ...), as uint64 below 2**32.

    ``counter`` holds four numbers or arrays that broadcast; ``seed`` is the 64-bit key.
    """
    x0, x1, x2, x3 = np.broadcast_arrays(*(np.asarray(c, dtype=np.uint64) for c in counter))
    key0, key1 = seed & MASK, seed >> 32
    for _ in range(10):
        high0, low0 = _mul(0xD2511F53, x0)
        high1, low1 = _mul(0xCD9E8D57, x2)
        x0, x1, x2, x3 = high1 ^ x1 ^ np.uint64(key0), low1, high0 ^ x3 ^ np.uint64(key1), low0
        key0, key1 = (key0 + 0x9E3779B9) & MASK, (key1 + 0xBB67AE85) & MASK
    return np.stack([x0, x1, x2, x3])


def reward_words(seed: int, run: int, arm: int, first: int, count: int) -> Words:
    """Words ``first``, ..., ``first + count - 1`` of an arm's reward stream."""
    blocks = np.arange(first // 4, (first + count + 3) // 4, dtype=np.uint64)
    words = philox((blocks, arm, run, REWARDS), seed).T.reshape(-1)
    return words[first % 4 : first % 4 + count]


def coin_stream(name: str) -> int:
    """Return the stream that a policy of this name takes its coins from; -1 without a name."""
    return crc32(name.encode()) | 1 << 31 if name else NO_COINS


class RewardArrays(NamedTuple):
    """A reward source as plain arrays, the form that every engine draws from."""

    kind: int
    words: int
    """Words per pull."""
    thresholds: IntArray
    """BERNOULLI: (K d,), DUPLICATED: (K,); a coordinate is 1 when its word is below."""
    values: FloatArray
    """ROWS: the table, flat; SAMPLES: all samples."""
    offsets: IntArray
    """ROWS: (K + 1,) row numbers; SAMPLES: (K d + 1,) positions in ``values``."""
    K: int
    d: int


def reward_arrays(source: RewardSource) -> RewardArrays:
    """Lay a reward source out as plain read-only arrays."""
    from momab.model import instances

    p, values, offsets = np.zeros(0), np.zeros(0), np.zeros(1, dtype=np.int64)
    if isinstance(source, instances.Bernoulli):
        kind, p, (K, d) = BERNOULLI, source.means, source.means.shape
    elif isinstance(source, instances.Duplicated):
        kind, p, K, d = DUPLICATED, source.theta, len(source.theta), source.d
    elif isinstance(source, instances.Rows):
        kind, values, offsets = ROWS, source.table, source.offsets
        K, d = len(offsets) - 1, source.table.shape[1]
    else:
        kind, values, offsets = SAMPLES, source.values, source.offsets
        K, d = (len(offsets) - 1) // source.d, source.d
    # All read-only, so that the compiler sees one type of array and compiles once.
    thresholds = _thresholds(p)
    flat = np.ascontiguousarray(values, dtype=np.float64).reshape(-1).view()
    cuts = np.ascontiguousarray(offsets, dtype=np.int64).view()
    for array in (thresholds, flat, cuts):
        array.setflags(write=False)
    words = d if kind in (BERNOULLI, SAMPLES) else 1
    return RewardArrays(kind, words, thresholds, flat, cuts, K, d)


def _thresholds(p: FloatArray) -> IntArray:
    return cast(IntArray, np.rint(np.ravel(p) * 2.0**32).astype(np.int64))


def rewards(arrays: RewardArrays, words: Words, arm: int) -> FloatArray:
    """Turn the words of n pulls of an arm, shape (n, m), into n reward vectors, shape (n, d)."""
    d = arrays.d
    if arrays.kind == BERNOULLI:
        return (words < arrays.thresholds[arm * d : arm * d + d]).astype(np.float64)
    if arrays.kind == DUPLICATED:
        return np.repeat((words < arrays.thresholds[arm]).astype(np.float64), d, axis=1)
    if arrays.kind == ROWS:
        start, stop = arrays.offsets[arm : arm + 2]
        table = arrays.values.reshape(-1, d)
        return cast(FloatArray, table[start + _indices(words[:, 0], stop - start)])
    cuts = arrays.offsets[arm * d : arm * d + d + 1]
    return cast(FloatArray, arrays.values[cuts[:-1] + _indices(words, np.diff(cuts))])


def _indices(words: Words, size: IntArray) -> IntArray:
    return (words * np.asarray(size, dtype=np.uint64) >> np.uint64(32)).astype(np.int64)


class RewardStream(NamedTuple):
    """The rewards of one run: the n-th pull of an arm is a function of (seed, run, arm, n)."""

    arrays: RewardArrays
    seed: int
    run: int

    def pull(self, arm: int, n: int) -> FloatArray:
        """Return the reward vector of the n-th pull (from 0) of this arm, shape (d,)."""
        return cast(FloatArray, self.batch(arm, n, 1)[0])

    def batch(self, arm: int, start: int, count: int) -> FloatArray:
        """Return the reward vectors of pulls ``start``, ..., ``start + count - 1``."""
        m = self.arrays.words
        words = reward_words(self.seed, self.run, arm, start * m, count * m)
        return rewards(self.arrays, words.reshape(count, m), arm)


class Pulls(NamedTuple):
    """The rewards of one run, made ahead for each arm: a few at first, then more at a time."""

    source: RewardArrays
    ready: FloatArray
    """(K, some, d): row i of an arm holds the reward of its pull ``first`` + i."""
    first: IntArray
    stop: IntArray
    """(K,): the pull after the last one that is ready."""
    words: NDArray[np.uint32]
    """Room for the words of one refill."""


def pulls_for(source: RewardArrays) -> Pulls:
    """Make the buffers of a run's rewards."""
    some = max(2, min(64, 256 // max(source.words, source.d)))
    return Pulls(
        source,
        np.zeros((source.K, some, source.d)),
        np.zeros(source.K, dtype=np.int64),
        np.zeros(source.K, dtype=np.int64),
        np.zeros(4 * (some * source.words // 4 + 4), dtype=np.uint32),
    )


class Coins(NamedTuple):
    """What the coins and the rewards of a round are functions of."""

    t: IntArray
    """(1,): the round, set by the driver before each decision."""
    run: IntArray
    """(1,): the run."""
    stream: int
    key0: int
    """The low word of the seed."""
    key1: int

    @property
    def seed(self) -> int:
        """The seed."""
        return self.key0 | self.key1 << 32


def coins_for(name: str, seed: int, run: int = 0, t: int = 0) -> Coins:
    """Open the coins of the policy of this name, or with this key."""
    return Coins(np.array([t]), np.array([run]), coin_stream(name), seed & MASK, seed >> 32)


def refill(pulls: Pulls, coin: Coins, arm: int, n: int) -> None:
    """Make the rewards of pulls n, n + 1, ... of an arm."""
    count = min(pulls.ready.shape[1], max(2, 32 // pulls.source.words, n // 2))
    stream = RewardStream(pulls.source, coin.seed, int(coin.run[0]))
    pulls.ready[arm, :count] = stream.batch(arm, n, count)
    pulls.first[arm], pulls.stop[arm] = n, n + count


def word(coin: Coins, slot: int) -> int:
    """Return the word of a slot of this round."""
    return four_words(coin, slot // 4)[slot % 4]


def four_words(coin: Coins, group: int) -> tuple[int, int, int, int]:
    """Return the words of the slots 4 group, ..., 4 group + 3 of this round."""
    if coin.stream == NO_COINS:
        return 0, 0, 0, 0
    t = int(coin.t[0])
    block = _coins_ahead(coin.seed, int(coin.run[0]), coin.stream, int(group), t // _AHEAD)
    w0, w1, w2, w3 = block[:, t % _AHEAD].tolist()
    return w0, w1, w2, w3


_AHEAD = 64


@lru_cache(maxsize=2048)
def _coins_ahead(seed: int, run: int, stream: int, group: int, part: int) -> Words:
    """Make one group of coins for many rounds at a time."""
    rounds = np.arange(part * _AHEAD, (part + 1) * _AHEAD, dtype=np.uint64) & np.uint64(MASK)
    return philox((rounds, group, run, stream), seed)


def validate_streams(arrays: RewardArrays, horizon: int, seed: int, last_run: int) -> None:
    """Refuse numbers that do not fit the counters."""
    if not 0 <= seed < 1 << 64:
        raise MomabError(f"the seed must lie in 0..2**64 - 1; it is {seed}.")
    if not 0 <= last_run < 1 << 32:
        raise MomabError(f"run numbers must lie in 0..2**32 - 1; the last one is {last_run}.")
    if horizon > 1 << 32 or horizon * arrays.words > 1 << 34:
        most = min(1 << 32, (1 << 34) // arrays.words)
        raise MomabError(
            f"the horizon T must be at most {most} with {arrays.words} random words per pull; "
            f"it is {horizon}."
        )
