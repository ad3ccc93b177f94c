"""The decisions of a run: blocks of them to scan, and every variable of Algorithm 1 at each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.engine.tools import TIE
from momab.model import pareto

if TYPE_CHECKING:
    from momab.ledger.auditing.trace import Trace

CASES = (
    "leader",
    "challenger behind a maximiser",
    "challenger behind another arm",
    "certificate",
    "committed",
    "unexplained",
)
"""Why an arm was pulled.  The first three are the cases of Lemma 10: it was the leader b of the
sampled race; it was the challenger c, and b is, or is not, a maximiser of that objective.
"Unexplained": it is neither, under the tie-breaking in use."""
LEADER, BEHIND_MAXIMISER, BEHIND_OTHER, CERTIFICATE, COMMITTED, UNEXPLAINED = range(len(CASES))


@dataclass(frozen=True)
class Decisions:
    """Consecutive decisions with arms along the first axis, the layout that is fast to scan."""

    t: IntArray
    """(n,): pulls made before each decision."""
    arm: IntArray
    """(n,): the arm pulled."""
    counts: IntArray
    """(K, n): pulls of each arm before the decision."""
    means: FloatArray
    """(K, n, d): empirical means before the decision."""
    beta: FloatArray
    """(K, n): radii sqrt(c log T / N)."""


@dataclass(frozen=True)
class Rounds:
    """Every variable of Algorithm 1 at n consecutive decisions."""

    t: IntArray
    """(n,): pulls made before each decision."""
    arm: IntArray
    """(n,): the arm pulled."""
    counts: IntArray
    """(n, K)."""
    means: FloatArray
    """(n, K, d)."""
    beta: FloatArray
    """(n, K)."""
    b: IntArray
    """(n, d): leaders."""
    c: IntArray
    """(n, d): challengers."""
    W: FloatArray
    """(n, d): pair widths."""
    margin: FloatArray
    """(n, d): L[b_j, j] - U[c_j, j]; objective j certifies where it is positive."""
    certified: BoolArray
    """(n, d): L[b_j, j] > U[c_j, j]."""
    objective: IntArray
    """(n,): the objective that was sampled or that certified, -1 after the commitment."""
    case: NDArray[np.int8]
    """(n,): indices into :data:`CASES`."""
    noncertifying: BoolArray
    """(n,): no arm is stored and no objective certifies."""

    @property
    def U(self) -> FloatArray:  # noqa: N802
        """(n, K, d): upper confidence bounds."""
        upper: FloatArray = self.means + self.beta[:, :, None]
        return upper

    @property
    def L(self) -> FloatArray:  # noqa: N802
        """(n, K, d): lower confidence bounds."""
        lower: FloatArray = self.means - self.beta[:, :, None]
        return lower


def reconstruct(trace: Trace, pieces: Sequence[Decisions]) -> Rounds:
    """Every variable of Algorithm 1 at the decisions of some blocks, ties broken as in the run."""
    t = np.concatenate([p.t for p in pieces])
    arm = np.concatenate([p.arm for p in pieces])
    counts = np.concatenate([p.counts for p in pieces], axis=1).T
    means = np.concatenate([p.means for p in pieces], axis=1).transpose(1, 0, 2)
    beta = np.concatenate([p.beta for p in pieces], axis=1).T
    U = means + beta[:, :, None]
    b, c = _pairs(trace, t, U)
    rows, objectives = np.arange(len(t))[:, None], np.arange(trace.d)
    W = beta[rows, b] + beta[rows, c]
    lower = means[rows, b, objectives] - beta[rows, b]
    upper = U[rows, c, objectives]
    certified: BoolArray = lower > upper
    over = np.full(len(t), trace.recorded) if trace.commitment is None else trace.commitment.t
    noncertifying = (t < over) & ~certified.any(axis=1)
    objective = _sampled(trace, t, W, certified, over)
    leader = b[np.arange(len(t)), objective]
    challenger = c[np.arange(len(t)), objective]
    best = pareto.marginal_maximisers(trace.means)[leader, objective]
    case = np.select(
        [t > over, t == over, arm == leader, (arm == challenger) & best, arm == challenger],
        [COMMITTED, CERTIFICATE, LEADER, BEHIND_MAXIMISER, BEHIND_OTHER],
        default=UNEXPLAINED,
    ).astype(np.int8)
    return Rounds(
        t=t,
        arm=arm,
        counts=counts,
        means=means,
        beta=beta,
        b=b,
        c=c,
        W=W,
        margin=lower - upper,
        certified=certified,
        objective=np.where(t > over, -1, objective),
        case=case,
        noncertifying=noncertifying,
    )


def _pairs(trace: Trace, t: IntArray, U: FloatArray) -> tuple[IntArray, IntArray]:
    """The top two arms per round and objective, shape (n, d) each, as the policy chose."""
    slots = 2 * np.arange(trace.d)
    tied: BoolArray = (U.max(axis=1, keepdims=True) - TIE <= U).transpose(0, 2, 1)
    b = _choose(trace, t, tied, slots)
    rows, objectives = np.arange(len(t))[:, None], np.arange(trace.d)
    others = U.copy()
    if trace.leaders is not None:
        known = (t >= trace.K) & (t < trace.K + len(trace.leaders))
        b[known] = trace.leaders[t[known] - trace.K]
    others[rows, b, objectives] = -np.inf
    tied = (others >= others.max(axis=1, keepdims=True) - TIE).transpose(0, 2, 1)
    c = _choose(trace, t, tied, slots + 1)
    if trace.challengers is not None:
        known = (t >= trace.K) & (t < trace.K + len(trace.challengers))
        c[known] = trace.challengers[t[known] - trace.K]
    return b, c


def _sampled(
    trace: Trace, t: IntArray, W: FloatArray, certified: BoolArray, over: int | IntArray
) -> IntArray:
    """The widest objective, among those that certify if any does; ties by coin."""
    proved: BoolArray = np.asarray(certified.any(axis=1))
    width = np.where(certified | ~proved[:, None], W, -np.inf)
    tied: BoolArray = width.max(axis=1, keepdims=True) - TIE <= width
    slot = np.where(proved, 2 * trace.d, 2 * trace.d + 1)
    chosen = _choose(trace, t, tied[:, None, :], slot[:, None])[:, 0]
    if trace.objectives is not None:
        known = (t >= trace.K) & (t < trace.K + len(trace.objectives))
        chosen[known] = trace.objectives[t[known] - trace.K]
    if trace.certificate is not None:
        chosen[t == over] = trace.certificate.objective
    return chosen


def _choose(trace: Trace, t: IntArray, tied: BoolArray, slots: IntArray) -> IntArray:
    """Choose one true entry along the last axis of ``tied``, shape (n, m, options)."""
    chosen: IntArray = tied.argmax(axis=-1).astype(np.int64)
    if trace.coins is None:
        return chosen
    row, column = np.nonzero(tied.sum(axis=-1) > 1)
    if len(row):
        options = tied[row, column]
        all_slots = np.broadcast_to(slots, chosen.shape)[row, column]
        words = trace.coins.words(t[row], all_slots)
        rank = words * options.sum(axis=1).astype(np.uint64) >> np.uint64(32)
        chosen[row, column] = (np.cumsum(options, axis=1) > rank[:, None]).argmax(axis=1)
    return chosen


def top_two(U: FloatArray) -> tuple[IntArray, IntArray]:
    """Indices of the largest and second-largest entry along the first axis, lowest index first.

    One pass over the arms: K is small and each arm's slice is contiguous.
    """
    best = np.zeros(U.shape[1:], dtype=np.int64)
    second = np.ones(U.shape[1:], dtype=np.int64)
    swap = U[1] > U[0]
    best[swap], second[swap] = 1, 0
    high, low = np.maximum(U[0], U[1]), np.minimum(U[0], U[1])
    for a in range(2, len(U)):
        lead = U[a] > high
        chase = U[a] > low
        chase &= ~lead
        np.copyto(second, best, where=lead)
        np.copyto(best, a, where=lead)
        np.copyto(second, a, where=chase)
        # the second value is the middle one of the three
        np.maximum(low, np.minimum(high, U[a]), out=low)
        np.maximum(high, U[a], out=high)
    return best, second
