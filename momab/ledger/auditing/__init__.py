"""One run in full, and every lemma of the paper checked at every round of it."""

from momab.ledger.auditing.auditor import audit, audit_all
from momab.ledger.auditing.claims import CHECKS
from momab.ledger.auditing.claims.session import LEEWAY
from momab.ledger.auditing.report import AuditReport, Event
