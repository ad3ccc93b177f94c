"""Theorem 4: the pull counts, and every inequality of the proof as a sum over the run."""

from __future__ import annotations

import math

import numpy as np

from momab._util.validate import IntArray
from momab.ledger.auditing.claims.session import Session

CLAIMS: dict[str, tuple[str, str]] = {
    "pulls-theorem": ("Theorem 4", "m_a <= 16 c log T / g^2"),
    "pulls-sharper": ("Theorem 4, sharpened", "m_a <= 16 c log T / max(gap_a, g)^2"),
    "pulls-deficit": ("Theorem 4, sharpened", "m_a <= 16 c log T / max(least deficit_a, g)^2"),
    "sum-warm": ("Theorem 4", "regret of the warm start <= K gap_max"),
    "sum-after": ("Theorem 4", "regret from the certificate on is 0"),
    "sum-charge": ("Theorem 4", "sum of gaps <= 4 sum of radii"),
    "sum-root": ("Theorem 4", "sum of radii <= 2 sqrt(c log T) sum_a sqrt(m_a)"),
    "sum-floor": ("Theorem 4", "2 sqrt(c log T) sum_a sqrt(m_a) <= 8 c K log T / g"),
    "sum-explore": ("Theorem 4", "exploration regret <= 32 c K log T / g"),
    "sum-sharper": (
        "Theorem 4, sharpened",
        "exploration regret <= 16 c log T sum_a gap_a / max(gap_a, g)^2",
    ),
    "sum-deficit": (
        "Theorem 4, sharpened",
        "exploration regret <= 16 c log T sum_a gap_a / max(least deficit_a, g)^2",
    ),
    "regret": ("Theorem 4", "regret <= K gap_max + 32 c K log T / g on the event"),
}
"""The claims audited here: where each is in the paper, and what it says."""


def audit_sums(session: Session, end: int, start: int | None, stored: int | None) -> None:
    """Check the pull counts and every inequality in the proof of Theorem 4."""
    trace, geo, g = session.trace, session.geo, session.g
    K, S = trace.K, trace.scale
    gaps, top_gap = geo.gaps, geo.max_gap
    pulls = np.bincount(trace.arms[K:end], minlength=K)
    calm = bool(session.on[K:end].all())
    safe = bool(session.on[K : end + 1].all())
    least = session.deficits.min(axis=1)
    _pull_bounds(session, pulls, calm)
    m = int(pulls.sum())
    radii = float(sum(np.sqrt(S / np.arange(1, k + 1)).sum() for k in pulls))
    roots = 2 * math.sqrt(S) * float(np.sqrt(pulls).sum())
    explore = float(gaps @ pulls)
    warm = float(gaps[trace.arms[:K]].sum())
    later = trace.arms[end:]
    after = float(gaps @ np.bincount(later, minlength=K))
    if stored is not None:
        after += float(gaps[stored]) * (trace.horizon - trace.recorded)
    loose = session.leeway * (m + 1)
    session.total("sum-warm", warm, K * top_gap, True, "the warm start")
    if start is not None:
        at = f"after the certificate at t = {start}"
        session.total("sum-after", after, 0.0, bool(session.on[end]), at)
    session.total("sum-charge", explore, 4 * radii, calm, f"{m} pulls", loose)
    session.total("sum-root", radii, roots, True, f"{m} pulls")
    positive = gaps > 0
    for key, scale in (("sharper", np.maximum(gaps, g)), ("deficit", np.maximum(least, g))):
        weights = gaps[positive] / scale[positive] ** 2
        rhs = 16 * S * float(weights.sum())
        session.total(f"sum-{key}", explore, rhs, calm, f"{m} pulls", loose)
    if g > 0:
        paper = 32 * K * S / g
        session.total("sum-floor", roots, paper / 4, calm, f"{m} pulls", loose)
        session.total("sum-explore", explore, paper, calm, f"{m} pulls", loose)
        total = warm + explore + after
        session.total("regret", total, K * top_gap + paper, safe, "the whole run", loose)


def _pull_bounds(session: Session, pulls: IntArray, calm: bool) -> None:
    """Check the three bounds on the pulls of every arm before the certificate."""
    trace, gaps, g = session.trace, session.geo.gaps, session.g
    K, S = trace.K, trace.scale
    least = session.deficits.min(axis=1)
    scales = {
        "pulls-theorem": np.full(K, g),
        "pulls-sharper": np.maximum(gaps, g),
        "pulls-deficit": np.maximum(least, g),
    }
    for key, scale in scales.items():
        arms = np.flatnonzero(scale > 4 * session.leeway)
        bound = S / (scale[arms] / 4 - session.leeway) ** 2
        session.checks[key].add(
            trace.name,
            None,
            pulls[arms].astype(np.float64),
            16 * S / scale[arms] ** 2,
            np.full(len(arms), calm),
            pulls[arms] > bound,
            lambda i, arms=arms: f"arm {arms[i]} is pulled {pulls[arms[i]]} times",  # type: ignore[misc]
        )
