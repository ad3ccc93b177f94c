"""Lemma 10, the local charge: what a pull costs is at most a multiple of its radius."""

from __future__ import annotations

import numpy as np

from momab._util.validate import BoolArray, IntArray
from momab.ledger.auditing.claims.races import Explanation, Scan
from momab.ledger.auditing.claims.session import Session
from momab.ledger.auditing.report import Words
from momab.ledger.auditing.rounds import Decisions

CLAIMS: dict[str, tuple[str, str]] = {
    "lemma-10": ("Lemma 10", "gap <= 4 beta of the pulled arm"),
    "lemma-10-leader": ("Lemma 10", "deficit <= 2 beta, leader pulled"),
    "lemma-10-challenger": ("Lemma 10", "deficit <= 4 beta, challenger behind a maximiser"),
    "lemma-10-other": ("Lemma 10", "deficit <= 2 beta, challenger behind another arm"),
    "lemma-10-tied": ("Lemma 10, sharpened", "deficit <= 2 beta if the objective's best is tied"),
    "bridge": ("Lemma 10", "Pareto gap <= deficit on the sampled objective"),
}
"""The claims audited here: where each is in the paper, and what it says."""


def audit_local_charge(
    session: Session, block: Decisions, scan: Scan, why: Explanation, on: BoolArray
) -> None:
    """Lemma 10 for every explanation of every pull, by case, and the bridge."""
    t, arm, radius = block.t, block.arm, scan.beta_arm
    gap = session.geo.gaps[arm]
    session.line(
        "lemma-10",
        t,
        gap,
        4 * radius,
        on,
        lambda i: f"arm {arm[i]} has gap {gap[i]:.6g} and radius {radius[i]:.6g}",
    )
    row, j = np.nonzero(why.explains)
    deficit = session.deficits[arm[row], j]
    beta = radius[row]
    leads = why.leads[row, j]
    behind = session.maximisers[why.leader[row, j], j] & ~leads
    tied = (session.maximisers.sum(axis=0) > 1)[j]

    def words(rows: IntArray) -> Words:
        return lambda i: (
            f"arm {arm[row[rows[i]]]} on objective {j[rows[i]]} has deficit "
            f"{deficit[rows[i]]:.6g} and radius {beta[rows[i]]:.6g}"
        )

    cases = [("leader", leads, 2.0), ("challenger", behind, 4.0)]
    cases += [("other", ~leads & ~behind, 2.0)]
    if session.claimed_on == "two-sided":
        cases += [("tied", tied, 2.0)]
    for name, mask, factor in cases:
        rows = np.flatnonzero(mask)
        session.line(
            f"lemma-10-{name}",
            t[row[rows]],
            deficit[rows],
            factor * beta[rows],
            on[row[rows]],
            words(rows),
        )
    everywhere = np.ones(len(row), dtype=np.bool_)
    every = np.arange(len(row))
    session.line("bridge", t[row], gap[row], deficit, everywhere, words(every))
