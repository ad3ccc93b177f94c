"""One run in full, and every lemma of the paper checked at every round of it."""

from momab.auditing.auditor import audit, audit_all
from momab.auditing.claims import CHECKS
from momab.auditing.claims.event import EVENTS
from momab.auditing.claims.session import LEEWAY
from momab.auditing.report import QUANTILES, AuditReport, Check, Event, Finding

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
