"""Every numbered claim of the paper, its check and its verdict."""

from momab.ledger.claims import (
    NUMBERED,
    VERDICTS,
    Claim,
    ClaimOutcome,
    ClaimResult,
    audit_claim,
    audit_claims,
    default_path,
    ledger_table,
    read_claims,
    uncovered,
)

__all__ = [
    "NUMBERED",
    "VERDICTS",
    "Claim",
    "ClaimOutcome",
    "ClaimResult",
    "audit_claim",
    "audit_claims",
    "default_path",
    "ledger_table",
    "read_claims",
    "uncovered",
]
