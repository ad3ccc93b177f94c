"""Lemma 9: on the event a certified arm is the only maximiser of its objective."""

from __future__ import annotations

import numpy as np

from momab._util.validate import IntArray
from momab.ledger.auditing.claims.races import Scan
from momab.ledger.auditing.claims.session import Session
from momab.ledger.auditing.rounds import Decisions

CLAIMS: dict[str, tuple[str, str]] = {
    "lemma-9": ("Lemma 9", "a certified arm is the only maximiser of its objective"),
    "lemma-9-front": ("Lemma 9", "a certified arm is on the Pareto front"),
}
"""The claims audited here: where each is in the paper, and what it says."""


def audit_certified_arms(
    session: Session, block: Decisions, scan: Scan, certified: IntArray
) -> None:
    """Lemma 9 for every objective that certifies at the decision."""
    if not len(certified):
        return
    arms = scan.best[0, certified]
    on = np.full(len(certified), session.on[block.t[0]])
    t = np.full(len(certified), block.t[0])
    mu = session.trace.means
    own = mu[arms, certified]
    rest = np.array([np.delete(mu[:, j], a).max() for a, j in zip(arms, certified)])

    def words(i: int) -> str:
        return f"arm {arms[i]} is certified for objective {certified[i]}, mean {own[i]:.6g}"

    if session.claimed_on == "one-sided":
        # the lower sides of a tied maximiser are not part of the one-sided event
        unique = session.maximisers.sum(axis=0)[certified] == 1
        keep = np.flatnonzero(unique)
        session.line(
            "lemma-9", t[keep], rest[keep], own[keep], on[keep], lambda i: words(keep[i]),
            bad=rest[keep] >= own[keep],
        )  # fmt: skip
    else:
        session.line("lemma-9", t, rest, own, on, words, bad=rest >= own)
    front = np.isin(arms, session.geo.front)
    zeros = np.zeros(len(arms))
    session.line("lemma-9-front", t, zeros, np.where(front, 0.0, -1.0), on, words, bad=~front)
