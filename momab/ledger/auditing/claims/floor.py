"""Lemma 11, the width floor: before a certificate the sampled pair is at least g/2 wide."""

from __future__ import annotations

import numpy as np

from momab._util.validate import BoolArray
from momab.ledger.auditing.claims.races import Explanation, Scan
from momab.ledger.auditing.claims.session import Session
from momab.ledger.auditing.rounds import Decisions

CLAIMS: dict[str, tuple[str, str]] = {
    "lemma-11-champion": ("Lemma 11", "W >= g/2 for the champion objective"),
    "lemma-11-upset": ("Lemma 11", "beta_b >= g/2 if the champion's leader is not its best arm"),
    "lemma-11-every": ("Lemma 11, extended", "W_j >= g_j/2 for every objective"),
    "lemma-11-width": ("Lemma 11", "W >= g/2 for the sampled objective"),
    "lemma-11-radius": ("Lemma 11", "beta >= g/4 for the pulled arm"),
}
"""The claims audited here: where each is in the paper, and what it says."""


def audit_width_floor(
    session: Session, block: Decisions, scan: Scan, why: Explanation, on: BoolArray
) -> None:
    """Lemma 11, for every admissible pair of the champion objective and of the others."""
    t, arm, g = block.t, block.arm, session.g
    champion = session.geo.j_dagger
    n = len(t)
    half = np.full(n, g / 2)
    W = scan.W[:, champion]
    session.line(
        "lemma-11-champion", t, half, W, on, lambda i: f"W = {W[i]:.6g} on objective {champion}"
    )
    upset = ~session.maximisers[scan.best[:, champion], champion]
    rows = np.flatnonzero(upset)
    leader = scan.beta_best[:, champion]
    session.line(
        "lemma-11-upset",
        t[rows],
        half[rows],
        leader[rows],
        on[rows],
        lambda i: f"the leader of objective {champion} has radius {leader[rows[i]]:.6g}",
    )
    gaps = session.geo.objective_gaps
    room = scan.W - gaps / 2
    at = room.argmin(axis=1)
    each = np.arange(n)
    session.line(
        "lemma-11-every",
        t,
        gaps[at] / 2,
        scan.W[each, at],
        on,
        lambda i: f"objective {at[i]} has gap {gaps[at[i]]:.6g} and W = {scan.W[i, at[i]]:.6g}",
    )
    explained = np.flatnonzero(why.explains.any(axis=1))
    sampled = (scan.beta_arm + np.where(why.explains, why.partner, np.inf).min(axis=1))[explained]
    session.line(
        "lemma-11-width",
        t[explained],
        half[explained],
        sampled,
        on[explained],
        lambda i: f"the sampled pair has width {sampled[i]:.6g}",
    )
    session.line(
        "lemma-11-radius",
        t,
        half / 2,
        scan.beta_arm,
        on,
        lambda i: f"arm {arm[i]} is pulled with radius {scan.beta_arm[i]:.6g}",
    )
