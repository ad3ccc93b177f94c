"""The races of every decision, with every admissible choice of ties, and why an arm was pulled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.ledger.auditing.claims.session import Session
from momab.ledger.auditing.rounds import Decisions, top_two

Cells = tuple[NDArray[np.intp], ...]


@dataclass(frozen=True)
class Scan:
    """The races of a block of decisions, with every admissible choice of ties.

    Per round and objective let M1 >= M2 be the two largest upper bounds, ``best`` the first arm
    at M1, B the arms within the tie tolerance of M1, and C the arms other than ``best`` within
    it of M2.  The admissible pairs are {best, c} for c in C and all pairs within B.
    """

    best: IntArray
    """(n, d): the first arm at ``M1``."""
    second: IntArray
    M1: FloatArray
    M2: FloatArray
    L: FloatArray
    """Lower bound of ``best``."""
    beta_best: FloatArray
    W: FloatArray
    """(n, d): the least width among the admissible pairs."""
    U_arm: FloatArray
    """(n, d): upper bounds of the pulled arm."""
    beta_arm: FloatArray
    """(n,): radius of the pulled arm."""


@dataclass(frozen=True)
class Explanation:
    """Why the arm was pulled, per round and objective."""

    in_pair: BoolArray
    """(n, d): the arm is in an admissible pair of the objective."""
    width: FloatArray
    """(n, d): the largest width of such a pair."""
    partner: FloatArray
    """(n, d): the smallest radius of a partner that makes the pair the widest, inf if none."""
    explains: BoolArray
    """(n, d): and the arm's radius is the larger one."""
    leads: BoolArray
    """(n, d): the arm may be the leader."""
    leader: IntArray
    """(n, d): the leader when it is not."""


def scan_races(session: Session, block: Decisions) -> tuple[Scan, Cells, FloatArray]:
    """Compute the races; also the cells with a third tied arm, and all upper bounds."""
    U = block.means + block.beta[:, :, None]
    best, second = top_two(U)
    n, d = best.shape
    rows = np.arange(n)[:, None]
    objectives = np.arange(d)
    M1 = U[best, rows, objectives]
    M2 = U[second, rows, objectives]
    beta_best = block.beta[best, rows]
    W = beta_best + block.beta[second, rows]
    threshold = M2 - session.tie
    near = np.zeros((n, d), dtype=np.int16)
    for upper in U:
        near += upper >= threshold
    cells = np.nonzero(near > 2)
    if len(cells[0]):
        W[cells] = _least_widths(session, block, U, best, M1, M2, cells)
    arm = block.arm
    scan = Scan(
        best=best,
        second=second,
        M1=M1,
        M2=M2,
        L=block.means[best, rows, objectives] - beta_best,
        beta_best=beta_best,
        W=W,
        U_arm=U[arm, rows[:, 0]],
        beta_arm=block.beta[arm, rows[:, 0]],
    )
    return scan, cells, U


def _least_widths(
    session: Session,
    block: Decisions,
    U: FloatArray,
    best: IntArray,
    M1: FloatArray,
    M2: FloatArray,
    cells: Cells,
) -> FloatArray:
    """The least width of an admissible pair, in cells where more than two arms tie."""
    i = cells[0]
    upper, radii = _columns(U, cells), block.beta.take(i, axis=1)
    B = upper >= M1[cells] - session.tie
    C = upper >= M2[cells] - session.tie
    top = best[cells]
    each = np.arange(len(i))
    C[top, each] = False
    with_top = radii[top, each] + np.where(C, radii, np.inf).min(axis=0)
    within = np.partition(np.where(B, radii, np.inf), 1, axis=0)[:2].sum(axis=0)
    return np.asarray(np.minimum(with_top, within))


def explain_pulls(
    session: Session, block: Decisions, scan: Scan, cells: Cells, U: FloatArray
) -> Explanation:
    """Look for a choice of ties under which Algorithm 1 pulls the arm that was pulled."""
    arm = block.arm[:, None]
    radius = scan.beta_arm[:, None]
    rows = np.arange(len(block.t))[:, None]
    widest = scan.W.max(axis=1, keepdims=True)
    need = widest - session.tie - radius  # the partner's radius that makes the pair widest
    is_best = scan.best == arm
    allowed = allowed_objectives(session, block.t)
    in_pair = (is_best | (scan.U_arm >= scan.M2 - session.tie)) & allowed
    leads = scan.U_arm >= scan.M1 - session.tie
    other = np.where(is_best, block.beta[scan.second, rows], scan.beta_best)
    partner = np.where(in_pair & (other >= need), other, np.inf)
    width = np.where(in_pair, radius + other, -np.inf)
    if len(cells[0]):
        i = cells[0]
        each = np.arange(len(i))
        a, top = block.arm[i], scan.best[cells]
        upper, radii = _columns(U, cells), block.beta.take(i, axis=1)
        # the bar that a partner's bound must reach: C for best, B for others in B
        bar = np.where(leads[cells], scan.M1[cells] - session.tie, np.inf)
        bar = np.where(a == top, scan.M2[cells] - session.tie, bar)
        partners = upper >= bar
        partners[top, each] |= in_pair[cells] & (a != top)
        partners[a, each] = False
        partners &= allowed[cells]
        fits = np.where(partners & (radii >= need[i, 0]), radii, np.inf)
        partner[cells] = fits.min(axis=0)
        width[cells] = radii[a, each] + np.where(partners, radii, -np.inf).max(axis=0)
    return Explanation(
        in_pair=in_pair,
        width=width,
        partner=partner,
        explains=partner <= radius + session.tie,
        leads=leads,
        leader=scan.best,
    )


def allowed_objectives(session: Session, t: IntArray) -> BoolArray:
    """The objectives that may explain a pull, (n, d): the reported one, else all."""
    result = np.ones((len(t), session.trace.d), dtype=np.bool_)
    reported = session.trace.objectives
    if reported is not None:
        known = t - session.trace.K < len(reported)
        sampled = reported[t[known] - session.trace.K]
        result[known] = sampled[:, None] == np.arange(session.trace.d)
    return result


def race_at(session: Session, t: int) -> tuple[Decisions, Scan, FloatArray]:
    """The races of one decision."""
    block = next(session.trace.blocks(t, t + 1))
    scan, _, U = scan_races(session, block)
    return block, scan, U[:, 0]


def _columns(U: FloatArray, cells: Cells) -> FloatArray:
    """The columns U[:, i, j] of the cells, faster than by two index arrays."""
    K, _, d = U.shape
    return np.asarray(U.reshape(K, -1).take(cells[0] * d + cells[1], axis=1))
