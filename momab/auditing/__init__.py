"""One run in full, and every lemma of the paper checked at every round of it."""

from momab.auditing.claims import (
    CHECKS,
    EVENTS,
    LEEWAY,
    QUANTILES,
    Cells,
    Check,
    Event,
    Finding,
    Report,
    Words,
    audit,
    audit_all,
)

__all__ = [
    "CHECKS",
    "EVENTS",
    "LEEWAY",
    "QUANTILES",
    "Cells",
    "Check",
    "Event",
    "Finding",
    "Report",
    "Words",
    "audit",
    "audit_all",
]
