"""The claims that are audited, a module per lemma; each lists its claims beside their checks."""

from momab.ledger.auditing.claims import algorithm, certificates, charge, floor, theorem

CHECKS: dict[str, tuple[str, str]] = (
    algorithm.CLAIMS | certificates.CLAIMS | charge.CLAIMS | floor.CLAIMS | theorem.CLAIMS
)
"""Every check, in the order of a report: where its claim is in the paper, and the claim."""
