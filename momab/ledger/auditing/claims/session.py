"""One trace being audited: what every claim needs of it, and how its comparisons are recorded."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.engine.tools import TIE
from momab.ledger.auditing.report import Check, Event, Words
from momab.ledger.auditing.trace import Trace
from momab.model import pareto

LEEWAY = 4 * TIE


class Session:
    """One trace being audited into the shared checks."""

    def __init__(
        self, trace: Trace, checks: dict[str, Check], event: Event, claimed_on: str, rounding: float
    ) -> None:
        """Prepare what all claims need of the trace: its geometry, and the tolerances."""
        self.trace, self.checks, self.event = trace, checks, event
        self.claimed_on, self.rounding = claimed_on, rounding
        self.tie, self.leeway = TIE + rounding, LEEWAY + 4 * rounding
        self.geo = trace.geometry
        self.deficits = pareto.objective_deficits(trace.means)
        self.maximisers = pareto.marginal_maximisers(trace.means)
        self.g = self.geo.g_dagger
        self.on: BoolArray = np.zeros(0, dtype=np.bool_)
        """(recorded,): the rounds where the lemmas are claimed."""

    def line(
        self,
        key: str,
        t: IntArray,
        lhs: FloatArray,
        rhs: FloatArray,
        on: BoolArray,
        words: Words,
        bad: BoolArray | None = None,
    ) -> None:
        """Record lhs <= rhs at rounds t, up to the leeway."""
        failed = lhs > rhs + self.leeway if bad is None else bad
        self.checks[key].add(self.trace.name, t, lhs, rhs, on, failed, words)

    def total(
        self, key: str, lhs: float, rhs: float, on: bool, what: str, leeway: float = 0.0
    ) -> None:
        """Record one inequality about the whole run."""
        leeway += 1e-12 * abs(rhs) if math.isfinite(rhs) else 0.0
        self.checks[key].add(
            self.trace.name,
            None,
            np.array([lhs]),
            np.array([rhs]),
            np.array([on]),
            np.array([lhs > rhs + leeway]),
            lambda _: what,
        )

    def unclaimed(self, keys: Iterable[str], note: str) -> None:
        """Say why checks were not made."""
        for key in keys:
            self.checks[key].note = self.checks[key].note or note
