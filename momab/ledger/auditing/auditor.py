r"""Checks every lemma of the paper at every round of a trace.

A trace is audited from its arms, rewards and true means alone; what the policy reports of itself
(its top-two pairs, the objective it sampled, its certificate) is checked where it is given.
Three kinds of checks:

*The algorithm.*  Warm start, top two, widest objective, endpoint, certificate and commitment are
claims about the policy: they must hold at every round, whatever the rewards did.  Ties leave the
policy a choice, so a pull passes when *some* admissible choice of ties explains it.

*The lemmas.*  Lemmas 9, 10 and 11 at round t are deterministic consequences of the confidence
intervals at round t.  They are claimed at every round whose own intervals all hold, which are all
rounds on :math:`\Omega_T` and most rounds off it; elsewhere a violation is counted as "off the
event", not as a failure.

*The sums.*  The bounds on the pulls :math:`m_a` and every inequality in the proof of Theorem 4
use the lemmas at all rounds before the certificate, and are claimed when those rounds' intervals
hold.

**Tolerances.**  The audit uses the very means and radii that the policy computed (sums in pull
order over counts, the same logarithm), so that sampling error never enters: the lemmas are exact
statements about whatever numbers the policy saw.  Two things remain.  The policy treats upper
bounds, widths and radii within ``TIE`` = 1e-12 of the largest as tied; following the proofs, this
costs a lemma at most 2 TIE (once for the top two, once for the width and once for the radius, the
latter two halved in Lemma 11).  Each inequality adds about ten roundings of numbers below 10,
some 1e-14.  Both fit into ``LEEWAY`` = 4 TIE.  A certificate is a strict inequality and gets
no tolerance at all.  For a trace of another program, whose means may differ in the last digits,
``rounding`` widens ties, leeway and the certificate's inequality by that amount.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from momab.errors import MomabError
from momab.ledger.auditing.claims import CHECKS
from momab.ledger.auditing.claims.algorithm import (
    audit_certificate,
    audit_commitment,
    audit_selection,
    audit_warm_start,
    explain_reported,
)
from momab.ledger.auditing.claims.charge import audit_local_charge
from momab.ledger.auditing.claims.event import EVENTS, audit_event
from momab.ledger.auditing.claims.floor import audit_width_floor
from momab.ledger.auditing.claims.races import explain_pulls, scan_races
from momab.ledger.auditing.claims.session import Session
from momab.ledger.auditing.claims.theorem import audit_sums
from momab.ledger.auditing.report import AuditReport, Check, Event
from momab.ledger.auditing.rounds import Decisions
from momab.ledger.auditing.trace import Trace


def audit(trace: Trace, *, claimed_on: str = "two-sided", rounding: float = 0.0) -> AuditReport:
    r"""Check every lemma at every round of one trace; see the module's description.

    ``claimed_on="one-sided"`` claims the lemmas on a larger event, the sides of the intervals
    that the proofs use.  Fix for every objective j a maximiser :math:`a_j` on the front: its
    means must not fall below :math:`\mu-\beta`, those of the other arms must not exceed
    :math:`\mu+\beta`.
    """
    return audit_all([trace], claimed_on=claimed_on, rounding=rounding)


def audit_all(
    traces: Iterable[Trace], *, claimed_on: str = "two-sided", rounding: float = 0.0
) -> AuditReport:
    """Audit many traces into one report."""
    if claimed_on not in EVENTS:
        raise MomabError(f"claimed_on must be one of {', '.join(EVENTS)}; it is {claimed_on!r}.")
    if not (math.isfinite(rounding) and rounding >= 0):
        raise MomabError(f"rounding must be a number >= 0; it is {rounding!r}.")
    checks = {key: Check(key, item, claim) for key, (item, claim) in CHECKS.items()}
    event = Event()
    number = rounds = recorded = 0
    for trace in traces:
        number += 1
        recorded += trace.recorded
        rounds += _audit_one(Session(trace, checks, event, claimed_on, rounding))
    return AuditReport(tuple(checks.values()), event, number, rounds, recorded, claimed_on)


def _audit_one(session: Session) -> int:
    """Audit the trace; returns the number of audited decisions."""
    trace = session.trace
    if not audit_warm_start(session):
        session.unclaimed([key for key in CHECKS if key != "warm-start"], "no valid warm start")
        return 0
    if session.g == 0:
        keys = [key for key in CHECKS if key.startswith("lemma-11")]
        keys += ["pulls-theorem", "sum-floor", "sum-explore", "regret"]
        session.unclaimed(keys, "not claimed where g = 0")
    session.on = audit_event(session)
    reported = trace.certificate
    end = trace.recorded if reported is None else reported.t
    found: int | None = None
    for block in trace.blocks(stop=end):
        found = _decisions(session, block)
        if found is not None:
            end = found
            break
    if reported is not None:
        audit_certificate(session, reported)
    start, stored = audit_commitment(session, end, found)
    audit_sums(session, end, start, stored)
    return end - trace.K + (start is not None)


def _decisions(session: Session, block: Decisions) -> int | None:
    """Check a block of decisions; returns the round at which a certificate appears."""
    scan, cells, U = scan_races(session, block)
    margin = scan.L - scan.M2
    certified = (margin > session.rounding).any(axis=1)
    found = None
    if certified.any():
        stop = int(certified.argmax())
        found = int(block.t[stop])
        if stop == 0:
            return found
        return _decisions(session, _head(block, stop)) or found
    everywhere = np.ones(len(block.t), dtype=np.bool_)
    zeros = np.zeros(len(block.t))
    session.line("overlooked", block.t, zeros, zeros, everywhere, str)
    reported = session.trace.leaders
    if reported is not None and block.t[-1] - session.trace.K < len(reported):
        why = explain_reported(session, block, scan, U)
    else:
        why = explain_pulls(session, block, scan, cells, U)
    audit_selection(session, block, scan, why)
    on = session.on[block.t]
    audit_local_charge(session, block, scan, why, on)
    if session.g > 0:
        audit_width_floor(session, block, scan, why, on)
    return None


def _head(block: Decisions, n: int) -> Decisions:
    """The first n decisions of a block."""
    return Decisions(
        block.t[:n], block.arm[:n], block.counts[:, :n], block.means[:, :n], block.beta[:, :n]
    )
