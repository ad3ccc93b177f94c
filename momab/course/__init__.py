"""Handouts, and grading what comes back."""
