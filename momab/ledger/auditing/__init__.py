"""One run in full, and every lemma of the paper checked at every round of it."""

from momab.ledger.auditing.auditor import audit, audit_all
from momab.ledger.auditing.claims import CHECKS
from momab.ledger.auditing.claims.event import EVENTS
from momab.ledger.auditing.claims.session import LEEWAY
from momab.ledger.auditing.report import QUANTILES, AuditReport, Check, Event, Finding

__all__ = [
    "CHECKS",
    "EVENTS",
    "LEEWAY",
    "QUANTILES",
    "AuditReport",
    "Check",
    "Event",
    "Finding",
    "audit",
    "audit_all",
]
