"""Every numbered claim of the paper and every claim of ours, its check and its verdict."""

from momab.ledger.claims import (
    NUMBERED,
    STATUSES,
    VERDICTS,
    Claim,
    ClaimOutcome,
    ClaimResult,
    audit_claim,
    audit_claims,
    default_path,
    dependency_order,
    ledger_table,
    our_claims,
    paper_claims,
    read_claims,
    status_counts,
    uncovered,
)

__all__ = [
    "NUMBERED",
    "STATUSES",
    "VERDICTS",
    "Claim",
    "ClaimOutcome",
    "ClaimResult",
    "audit_claim",
    "audit_claims",
    "default_path",
    "dependency_order",
    "ledger_table",
    "our_claims",
    "paper_claims",
    "read_claims",
    "status_counts",
    "uncovered",
]
