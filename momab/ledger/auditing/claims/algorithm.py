"""Algorithm 1: warm start, top two, widest objective, endpoint, certificate and commitment.

These are claims about the policy: they must hold at every round, whatever the rewards did.
"""

from __future__ import annotations

import numpy as np

from momab._util.validate import BoolArray, FloatArray
from momab.engine.policies.base import Certificate
from momab.ledger.auditing.claims.certificates import audit_certified_arms
from momab.ledger.auditing.claims.races import Explanation, Scan, allowed_objectives, race_at
from momab.ledger.auditing.claims.session import Session
from momab.ledger.auditing.rounds import Decisions

CLAIMS: dict[str, tuple[str, str]] = {
    "warm-start": ("Algorithm 1", "the first K pulls take every arm once"),
    "top-two": ("Algorithm 1", "the pulled arm is in the top two of some objective"),
    "widest": ("Algorithm 1", "that objective's pair is the widest"),
    "endpoint": ("Algorithm 1", "the pulled arm has the larger radius of that pair"),
    "certificate": ("Algorithm 1", "the stored arm has L_b > U_c on its objective"),
    "overlooked": ("Algorithm 1", "the first certificate is taken when it appears"),
    "commitment": ("Algorithm 1", "from the certificate on, only the stored arm is pulled"),
}
"""The claims audited here: where each is in the paper, and what it says."""


def audit_warm_start(session: Session) -> bool:
    """Whether the first K pulls are all arms once."""
    K, arms = session.trace.K, session.trace.arms
    counts = np.bincount(arms[:K], minlength=K)
    twice = int(counts.argmax())
    good = bool((counts == 1).all())
    session.line(
        "warm-start",
        np.array([K - 1]),
        np.array([float(counts.max())]),
        np.array([1.0]),
        np.array([True]),
        lambda _: f"arm {twice} is pulled {counts[twice]} times in the first {K} rounds",
        bad=np.array([not good]),
    )
    return good


def explain_reported(session: Session, block: Decisions, scan: Scan, U: FloatArray) -> Explanation:
    """Take the reported pairs at their word, after checking that they are admissible."""
    trace = session.trace
    assert trace.leaders is not None
    assert trace.challengers is not None
    K = trace.K
    b = trace.leaders[block.t - K].astype(np.int64)
    c = trace.challengers[block.t - K].astype(np.int64)
    rows, objectives = np.arange(len(block.t))[:, None], np.arange(trace.d)
    U_b, U_c = U[b, rows, objectives], U[c, rows, objectives]
    rest = np.where(b == scan.best, scan.M2, scan.M1)
    short = np.maximum(scan.M1 - U_b, rest - U_c)
    wrong = (U_b < scan.M1 - session.tie) | (U_c < rest - session.tie) | (b == c)
    at = np.where(wrong, np.inf, short).argmax(axis=1)
    session.line(
        "top-two",
        block.t,
        np.maximum(short.max(axis=1), 0.0),
        np.full(len(block.t), session.tie),
        np.ones(len(block.t), dtype=np.bool_),
        lambda i: (
            f"objective {at[i]} reports b = {b[i, at[i]]}, c = {c[i, at[i]]}; the largest "
            f"bounds are those of {scan.best[i, at[i]]} and {scan.second[i, at[i]]}"
        ),
        bad=wrong.any(axis=1),
    )
    radius = scan.beta_arm[:, None]
    beta_b, beta_c = block.beta[b, rows], block.beta[c, rows]
    W = beta_b + beta_c
    arm = block.arm[:, None]
    in_pair = (arm == b) | (arm == c)
    in_pair &= allowed_objectives(session, block.t)
    other = np.where(arm == b, beta_c, beta_b)
    wide: BoolArray = W.max(axis=1, keepdims=True) - session.tie <= W
    partner = np.where(in_pair & wide, other, np.inf)
    return Explanation(
        in_pair=in_pair,
        width=np.where(in_pair, W, -np.inf),
        partner=partner,
        explains=partner <= radius + session.tie,
        leads=arm == b,
        leader=b,
    )


def audit_selection(session: Session, block: Decisions, scan: Scan, why: Explanation) -> None:
    """Check top two, widest, endpoint: the first of the three that no tie can explain."""
    t, arm = block.t, block.arm
    n = len(t)
    everywhere = np.ones(n, dtype=np.bool_)
    member: BoolArray = np.asarray(why.in_pair.any(axis=1))
    short = np.maximum(scan.M2 - scan.U_arm, 0.0)
    if session.trace.leaders is None or not member.all():
        session.line(
            "top-two",
            t,
            np.where(member, 0.0, short.min(axis=1)),
            np.full(n, session.tie),
            everywhere,
            lambda i: (
                f"arm {arm[i]} is pulled but in no objective's top two; the least shortfall "
                f"is {short[i].min():.3g}, on objective {short[i].argmin()}"
            ),
            bad=~member,
        )
    widest = scan.W.max(axis=1)
    width = np.where(why.in_pair, why.width, -np.inf).max(axis=1)
    wide: BoolArray = np.asarray(np.isfinite(why.partner).any(axis=1))
    session.line(
        "widest",
        t,
        widest,
        np.where(member, width, widest) + session.tie,
        member,
        lambda i: (
            f"arm {arm[i]} is pulled from objective {why.width[i].argmax()} with width "
            f"{width[i]:.6g}; objective {scan.W[i].argmax()} has width {widest[i]:.6g}"
        ),
        bad=member & ~wide,
    )
    partner = why.partner.min(axis=1)
    session.line(
        "endpoint",
        t,
        np.where(wide, partner, 0.0),
        scan.beta_arm + session.tie,
        wide,
        lambda i: (
            f"arm {arm[i]} is pulled from objective {why.partner[i].argmin()} though its "
            f"radius {scan.beta_arm[i]:.6g} is the smaller one"
        ),
        bad=wide & np.asarray(~why.explains.any(axis=1)),
    )


def audit_certificate(session: Session, reported: Certificate) -> None:
    """Check the reported certificate against the strict inequality that defines it."""
    block, _, U = race_at(session, reported.t)
    arm, j = reported.arm, reported.objective
    others = np.delete(U[:, j], arm)
    # any challenger within the tie tolerance of the largest bound is admissible
    upper = float(others[others >= others.max() - session.tie].min())
    lower = float(block.means[arm, 0, j] - block.beta[arm, 0])
    bad = not lower > upper - session.rounding
    session.line(
        "certificate",
        block.t,
        np.array([upper]),
        np.array([lower]),
        np.array([True]),
        lambda _: (
            f"arm {arm} is stored for objective {j} with L = {lower:.10g}, but the largest "
            f"other U is {upper:.10g}"
        ),
        bad=np.array([bad]),
    )


def audit_commitment(
    session: Session, end: int, found: int | None
) -> tuple[int | None, int | None]:
    """Check what follows the certificate; returns the round of the commitment and its arm."""
    trace, reported = session.trace, session.trace.certificate
    if end == trace.recorded:
        return None, None
    block, scan, _ = race_at(session, end)
    margins = scan.L[0] - scan.M2[0]
    certified = np.flatnonzero(margins > session.rounding)
    audit_certified_arms(session, block, scan, certified)
    arm = int(block.arm[0])
    if reported is not None:
        late = found is not None
        start, stored = reported.t, reported.arm
    else:
        late = arm not in scan.best[0, certified]
        start, stored = end, arm
    j = int(margins.argmax())
    session.line(
        "overlooked",
        block.t,
        np.array([float(late) * margins[j]]),
        np.zeros(1),
        np.array([True]),
        lambda _: (
            f"objective {j} certifies arm {scan.best[0, j]} with L = {scan.L[0, j]:.10g} > "
            f"U = {scan.M2[0, j]:.10g}, yet arm {arm} is pulled"
            + ("" if reported is None else f" and the commitment comes at t = {start}")
        ),
        bad=np.array([late]),
    )
    if late and reported is None:
        return end, None
    after = np.arange(start, trace.recorded)
    pulled = trace.arms[start:]
    zeros = np.zeros(len(after))
    strays = pulled != stored
    session.line(
        "commitment",
        after,
        strays.astype(np.float64),
        zeros,
        np.ones(len(after), dtype=np.bool_),
        lambda i: f"arm {pulled[i]} is pulled after arm {stored} was stored at t = {start}",
        bad=strays,
    )
    return end, stored
