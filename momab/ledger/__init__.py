"""Every claim of the paper and of ours: its check and its verdict, and the audit of one run.

This file imports nothing, because `momab.ledger.auditing` needs less than `momab.ledger.claims`.
"""
