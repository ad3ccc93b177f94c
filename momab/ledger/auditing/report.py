"""What an audit found: per claim, about the confidence event, and as a table."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.errors import MomabError

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95)

Words = Callable[[int], str]
"""Says in words what happened in one row of a comparison."""


@dataclass(frozen=True)
class Finding:
    """One place where a check failed: the round, both sides, and the rest in words."""

    trace: str
    t: int | None
    lhs: float
    rhs: float
    what: str

    def __str__(self) -> str:
        """The finding as one line."""
        where = "over the whole run" if self.t is None else f"at t = {self.t}"
        return f"{where}: {self.what} (left {self.lhs:.10g}, right {self.rhs:.10g})"


@dataclass
class Check:
    """What one check found: how often it was made, where it failed, how much room was left."""

    key: str
    item: str
    claim: str
    checked: int = 0
    """How often the claim was made and tested."""
    violations: int = 0
    off_event: int = 0
    """Failures at rounds whose confidence intervals do not hold: not claimed by the theory."""
    first: Finding | None = None
    first_off_event: Finding | None = None
    tightest: float = math.inf
    """The least slack, right side minus left side, where the claim was made."""
    note: str = ""
    """Why the claim was not made, if it never was."""
    _sample: list[FloatArray] = field(default_factory=list, repr=False)
    _stride: int = field(default=1, repr=False)
    _size: int = field(default=0, repr=False)
    _LIMIT = 200_000

    def quantiles(self) -> FloatArray:
        """Quantiles :data:`QUANTILES` of the slack; NaN if there is none.

        Beyond 200,000 checks they are taken over every second, fourth, ... one.
        """
        if not self._sample:
            return np.full(len(QUANTILES), math.nan)
        values = np.quantile(np.concatenate(self._sample), QUANTILES)
        values[0] = self.tightest
        return np.asarray(values)

    def add(
        self,
        where: str,
        t: IntArray | None,
        lhs: FloatArray,
        rhs: FloatArray,
        on: BoolArray,
        bad: BoolArray,
        words: Words,
    ) -> None:
        """Record one comparison per row; ``on`` marks the rows where the claim is made."""
        slack = (rhs - lhs)[on]
        self.checked += len(slack)
        if len(slack):
            self.tightest = min(self.tightest, float(slack.min()))
            self._keep(slack)
        for claimed, failed in ((True, bad & on), (False, bad & ~on)):
            rows = np.flatnonzero(failed)
            if not len(rows):
                continue
            i = int(rows[0])
            when = None if t is None else int(t[i])
            finding = Finding(where, when, float(lhs[i]), float(rhs[i]), words(i))
            if claimed:
                self.violations += len(rows)
                self.first = self.first or finding
            else:
                self.off_event += len(rows)
                self.first_off_event = self.first_off_event or finding

    def _keep(self, slack: FloatArray) -> None:
        thinned = slack[:: self._stride]
        self._sample.append(thinned)
        self._size += len(thinned)
        while self._size > self._LIMIT:
            self._sample = [np.concatenate(self._sample)[::2]]
            self._stride, self._size = 2 * self._stride, len(self._sample[0])


@dataclass
class Event:
    """Whether the confidence intervals held, at the decisions that are recorded."""

    decisions: int = 0
    outside: int = 0
    """Decisions with some interval that misses its mean: Omega_T fails if there is one."""
    outside_one_sided: int = 0
    """Decisions with an interval that misses on a side that the proofs use."""
    failures: int = 0
    """Traces on which some decision is outside."""
    first: Finding | None = None
    tightest: float = math.inf
    """The least ``beta - |mean - mu|``."""

    @property
    def holds(self) -> bool:
        """Whether every interval held at every recorded decision."""
        return self.outside == 0


@dataclass(frozen=True)
class AuditReport:
    """The outcome of an audit."""

    checks: tuple[Check, ...]
    event: Event
    traces: int
    rounds: int
    """Audited decisions: those before the commitment and the one that commits."""
    recorded: int
    """All recorded rounds, warm starts and committed rounds included."""
    claimed_on: str

    @property
    def ok(self) -> bool:
        """Whether no check failed where its claim is made."""
        return not any(check.violations for check in self.checks)

    @property
    def failed(self) -> tuple[str, ...]:
        """The keys of the checks that failed."""
        return tuple(check.key for check in self.checks if check.violations)

    def __getitem__(self, key: str) -> Check:
        """Return the check of this key."""
        for check in self.checks:
            if check.key == key:
                return check
        keys = ", ".join(check.key for check in self.checks)
        raise MomabError(f"there is no check {key!r}; the checks are {keys}.")

    def summary(self) -> str:
        """One paragraph: what was audited, the event, and every first violation."""
        runs = f"{self.traces} runs" if self.traces > 1 else "one run"
        lines = [
            f"{self.rounds:,} decisions of {runs} audited: "
            + ("no violation." if self.ok else f"violated: {', '.join(self.failed)}.")
        ]
        event = self.event
        if event.holds:
            lines.append(
                f"Every confidence interval held; the closest came within {event.tightest:.3g} "
                "of its edge."
            )
        else:
            lines.append(
                f"The confidence event failed at {event.outside:,} of {event.decisions:,} "
                f"decisions ({event.outside_one_sided:,} on a side that the proofs use), first "
                f"{event.first}."
            )
        for check in self.checks:
            if check.first is not None:
                lines.append(f"VIOLATION of {check.key}, {check.first}.")
        for check in self.checks:
            if check.first_off_event is not None:
                lines.append(
                    f"Off the event, not claimed: {check.key} fails {check.off_event:,} times, "
                    f"first {check.first_off_event}."
                )
        return "\n".join(lines)

    def table(self) -> pd.DataFrame:
        """One row per check, with the quantiles of the slack."""
        import pandas as pd

        rows = []
        for check in self.checks:
            row: dict[str, Any] = {
                "check": check.key,
                "item": check.item,
                "claim": check.claim,
                "checked": check.checked,
                "violations": check.violations,
                "off_event": check.off_event,
            }
            names = ["min" if q == 0 else f"q{round(100 * q):02d}" for q in QUANTILES]
            row |= {f"slack_{name}": x for name, x in zip(names, check.quantiles())}
            first = check.first or check.first_off_event
            row["first"] = str(first) if first else check.note
            rows.append(row)
        return pd.DataFrame(rows)

    def __rich__(self) -> Table:
        """The table for a terminal."""
        from rich.table import Table

        table = Table(title=None, caption=self.summary(), caption_justify="left", box=None)
        for column in ("check", "claim"):
            table.add_column(column, overflow="fold")
        for column in ("checked", "violations", "off event", "least slack", "median"):
            table.add_column(column, justify="right")
        for check in self.checks:
            least, median = (check.quantiles()[i] for i in (0, QUANTILES.index(0.5)))
            verdict = f"[bold red]{check.violations:,}" if check.violations else "0"
            numbers = [f"{x:.3g}" if check.checked else "-" for x in (least, median)]
            claim = f"{check.claim} [dim]({check.note})" if check.note else check.claim
            table.add_row(
                check.key, claim, f"{check.checked:,}", verdict, f"{check.off_event:,}", *numbers
            )
        return table

    def __str__(self) -> str:
        """The table as plain text."""
        from rich.console import Console

        console = Console(file=io.StringIO(), width=120, no_color=True, highlight=False)
        console.print(self)
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue()
