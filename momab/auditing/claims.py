r"""Checks every lemma of the paper at every round of a trace.

A trace is audited from its arms, rewards and true means alone; what the policy reports of itself
(its top-two pairs, the objective it sampled, its certificate) is checked where it is given.
Three kinds of checks:

*The algorithm.*  Warm start, top two, widest objective, endpoint, certificate and commitment are
claims about the policy: they must hold at every round, whatever the rewards did.  Ties leave the
policy a choice, so a pull passes when *some* admissible choice of ties explains it.

*The lemmas.*  Lemmas 9, 10 and 11 at round t are deterministic consequences of the confidence
intervals at round t.  They are claimed at every round whose own intervals all hold, which are all
rounds on :math:`\Omega_T` and most rounds off it; elsewhere a violation is counted as "off the
event", not as a failure.

*The sums.*  The bounds on the pulls :math:`m_a` and every inequality in the proof of Theorem 4
use the lemmas at all rounds before the certificate, and are claimed when those rounds' intervals
hold.

**Tolerances.**  The audit uses the very means and radii that the policy computed (sums in pull
order over counts, the same logarithm), so that sampling error never enters: the lemmas are exact
statements about whatever numbers the policy saw.  Two things remain.  The policy treats upper
bounds, widths and radii within ``TIE`` = 1e-12 of the largest as tied; following the proofs, this
costs a lemma at most 2 TIE (once for the top two, once for the width and once for the radius, the
latter two halved in Lemma 11).  Each inequality adds about ten roundings of numbers below 10,
some 1e-14.  Both fit into :data:`LEEWAY` = 4 TIE.  A certificate is a strict inequality and gets
no tolerance at all.  For a trace of another program, whose means may differ in the last digits,
``rounding`` widens ties, leeway and the certificate's inequality by that amount.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.auditing.trace import Block, Trace, top_two
from momab.engine.policies.base import TIE, Certificate
from momab.errors import MomabError
from momab.model import pareto

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

LEEWAY = 4 * TIE
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95)
EVENTS = ("two-sided", "one-sided")

CHECKS: dict[str, tuple[str, str]] = {
    "warm-start": ("Algorithm 1", "the first K pulls take every arm once"),
    "top-two": ("Algorithm 1", "the pulled arm is in the top two of some objective"),
    "widest": ("Algorithm 1", "that objective's pair is the widest"),
    "endpoint": ("Algorithm 1", "the pulled arm has the larger radius of that pair"),
    "certificate": ("Algorithm 1", "the stored arm has L_b > U_c on its objective"),
    "overlooked": ("Algorithm 1", "the first certificate is taken when it appears"),
    "commitment": ("Algorithm 1", "from the certificate on, only the stored arm is pulled"),
    "lemma-9": ("Lemma 9", "a certified arm is the only maximiser of its objective"),
    "lemma-9-front": ("Lemma 9", "a certified arm is on the Pareto front"),
    "lemma-10": ("Lemma 10", "gap <= 4 beta of the pulled arm"),
    "lemma-10-leader": ("Lemma 10", "deficit <= 2 beta, leader pulled"),
    "lemma-10-challenger": ("Lemma 10", "deficit <= 4 beta, challenger behind a maximiser"),
    "lemma-10-other": ("Lemma 10", "deficit <= 2 beta, challenger behind another arm"),
    "lemma-10-tied": ("Lemma 10, sharpened", "deficit <= 2 beta if the objective's best is tied"),
    "bridge": ("Lemma 10", "Pareto gap <= deficit on the sampled objective"),
    "lemma-11-champion": ("Lemma 11", "W >= g/2 for the champion objective"),
    "lemma-11-upset": ("Lemma 11", "beta_b >= g/2 if the champion's leader is not its best arm"),
    "lemma-11-every": ("Lemma 11, extended", "W_j >= g_j/2 for every objective"),
    "lemma-11-width": ("Lemma 11", "W >= g/2 for the sampled objective"),
    "lemma-11-radius": ("Lemma 11", "beta >= g/4 for the pulled arm"),
    "pulls-theorem": ("Theorem 4", "m_a <= 16 c log T / g^2"),
    "pulls-sharper": ("Theorem 4, sharpened", "m_a <= 16 c log T / max(gap_a, g)^2"),
    "pulls-deficit": ("Theorem 4, sharpened", "m_a <= 16 c log T / max(least deficit_a, g)^2"),
    "sum-warm": ("Theorem 4", "regret of the warm start <= K gap_max"),
    "sum-after": ("Theorem 4", "regret from the certificate on is 0"),
    "sum-charge": ("Theorem 4", "sum of gaps <= 4 sum of radii"),
    "sum-root": ("Theorem 4", "sum of radii <= 2 sqrt(c log T) sum_a sqrt(m_a)"),
    "sum-floor": ("Theorem 4", "2 sqrt(c log T) sum_a sqrt(m_a) <= 8 c K log T / g"),
    "sum-explore": ("Theorem 4", "exploration regret <= 32 c K log T / g"),
    "sum-sharper": (
        "Theorem 4, sharpened",
        "exploration regret <= 16 c log T sum_a gap_a / max(gap_a, g)^2",
    ),
    "sum-deficit": (
        "Theorem 4, sharpened",
        "exploration regret <= 16 c log T sum_a gap_a / max(least deficit_a, g)^2",
    ),
    "regret": ("Theorem 4", "regret <= K gap_max + 32 c K log T / g on the event"),
}
"""Every check: where its claim stands in the paper, and the claim."""

Words = Callable[[int], str]
Cells = tuple[NDArray[np.intp], ...]


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
    """The least beta - |mean - mu|."""

    @property
    def holds(self) -> bool:
        """Whether every interval held at every recorded decision."""
        return self.outside == 0


@dataclass(frozen=True)
class Report:
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
        raise MomabError(f"there is no check {key!r}; the checks are {', '.join(CHECKS)}.")

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


def audit(trace: Trace, *, claimed_on: str = "two-sided", rounding: float = 0.0) -> Report:
    r"""Check every lemma at every round of one trace; see the module's description.

    ``claimed_on="one-sided"`` claims the lemmas on a larger event, the sides of the intervals
    that the proofs use.  Fix for every objective j a maximiser :math:`a_j` on the front: its
    means must not fall below :math:`\mu-\beta`, those of the other arms must not exceed
    :math:`\mu+\beta`.
    """
    return audit_all([trace], claimed_on=claimed_on, rounding=rounding)


def audit_all(
    traces: Iterable[Trace], *, claimed_on: str = "two-sided", rounding: float = 0.0
) -> Report:
    """Audit many traces into one report."""
    if claimed_on not in EVENTS:
        raise MomabError(f"claimed_on must be one of {', '.join(EVENTS)}; it is {claimed_on!r}.")
    if not (math.isfinite(rounding) and rounding >= 0):
        raise MomabError(f"rounding must be a number >= 0; it is {rounding!r}.")
    checks = {key: Check(key, item, claim) for key, (item, claim) in CHECKS.items()}
    event = Event()
    number = rounds = recorded = 0
    for trace in traces:
        number += 1
        recorded += trace.recorded
        rounds += _Audit(trace, checks, event, claimed_on, rounding).run()
    return Report(tuple(checks.values()), event, number, rounds, recorded, claimed_on)


@dataclass(frozen=True)
class _Scan:
    """The races of a block of decisions, with every admissible choice of ties.

    Per round and objective let M1 >= M2 be the two largest upper bounds, ``best`` the first arm
    at M1, B the arms within the tie tolerance of M1, and C the arms other than ``best`` within
    it of M2.  The admissible pairs are {best, c} for c in C and all pairs within B.
    """

    best: IntArray
    """(n, d)."""
    second: IntArray
    M1: FloatArray
    M2: FloatArray
    L: FloatArray
    """Lower bound of ``best``."""
    beta_best: FloatArray
    W: FloatArray
    """(n, d): the least width among the admissible pairs."""
    U_arm: FloatArray
    """(n, d): upper bounds of the pulled arm."""
    beta_arm: FloatArray
    """(n,): radius of the pulled arm."""


@dataclass(frozen=True)
class _Explanation:
    """Why the arm was pulled, per round and objective."""

    in_pair: BoolArray
    """(n, d): the arm is in an admissible pair of the objective."""
    width: FloatArray
    """(n, d): the largest width of such a pair."""
    partner: FloatArray
    """(n, d): the smallest radius of a partner that makes the pair the widest, inf if none."""
    explains: BoolArray
    """(n, d): and the arm's radius is the larger one."""
    leads: BoolArray
    """(n, d): the arm may be the leader."""
    leader: IntArray
    """(n, d): the leader when it is not."""


class _Audit:
    """One trace being audited into the shared checks."""

    def __init__(
        self, trace: Trace, checks: dict[str, Check], event: Event, claimed_on: str, rounding: float
    ) -> None:
        self.trace, self.checks, self.event = trace, checks, event
        self.claimed_on, self.rounding = claimed_on, rounding
        self.tie, self.leeway = TIE + rounding, LEEWAY + 4 * rounding
        self.geo = trace.geometry
        self.deficits = pareto.objective_deficits(trace.means)
        self.maximisers = pareto.marginal_maximisers(trace.means)
        self.g = self.geo.g_dagger

    # --- recording ------------------------------------------------------------------------

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

    # --- the audit ------------------------------------------------------------------------

    def run(self) -> int:
        """Audit the trace; returns the number of audited decisions."""
        trace = self.trace
        if not self.warm_start():
            self.unclaimed([key for key in CHECKS if key != "warm-start"], "no valid warm start")
            return 0
        if self.g == 0:
            keys = [key for key in CHECKS if key.startswith("lemma-11")]
            keys += ["pulls-theorem", "sum-floor", "sum-explore", "regret"]
            self.unclaimed(keys, "not claimed where g = 0")
        self.on = self.confidence_event()
        reported = trace.certificate
        end = trace.recorded if reported is None else reported.t
        found: int | None = None
        for block in trace.blocks(stop=end):
            found = self.decisions(block)
            if found is not None:
                end = found
                break
        if reported is not None:
            self.reported_certificate(reported)
        start, stored = self.commitment(end, found)
        self.sums(end, start, stored)
        return end - trace.K + (start is not None)

    def warm_start(self) -> bool:
        """Whether the first K pulls are all arms once."""
        K, arms = self.trace.K, self.trace.arms
        counts = np.bincount(arms[:K], minlength=K)
        twice = int(counts.argmax())
        good = bool((counts == 1).all())
        self.line(
            "warm-start",
            np.array([K - 1]),
            np.array([float(counts.max())]),
            np.array([1.0]),
            np.array([True]),
            lambda _: f"arm {twice} is pulled {counts[twice]} times in the first {K} rounds",
            bad=np.array([not good]),
        )
        return good

    def confidence_event(self) -> BoolArray:
        """Scan every (arm, sample count); returns which decisions have all intervals hold.

        An arm's interval changes only when it is pulled, so n + K intervals per objective
        cover all n rounds.
        """
        trace, event = self.trace, self.event
        K, n = trace.K, trace.recorded
        # one front maximiser per objective, whose lower side the proofs use
        champions = (self.maximisers & pareto.front(trace.means)[:, None]).argmax(axis=0)
        outside = np.zeros((2, n + 1), dtype=np.int64)
        first: tuple[int, Finding] | None = None
        for a in range(K):
            rounds = np.flatnonzero(trace.arms == a)
            ends = np.append(rounds[1:], n - 1) + 1
            carry = np.zeros((1, trace.d))
            is_champion = champions == a
            for lo in range(0, len(rounds), 1 << 15):
                part = rounds[lo : lo + (1 << 15)]
                stops = ends[lo : lo + (1 << 15)]
                partial = np.cumsum(np.concatenate([carry, trace.rewards[part]]), axis=0)
                carry = partial[-1:]
                samples = np.arange(lo + 1, lo + len(part) + 1)
                radius = np.sqrt(trace.scale / samples)
                deviation = partial[1:] / samples[:, None] - trace.means[a]
                # the last count of the last round is never used by a decision
                used = np.minimum(stops, n) > np.maximum(part + 1, K)
                if not used.any():
                    continue
                size = np.abs(deviation).max(axis=1)
                event.tightest = min(event.tightest, float((radius - size)[used].min()))
                away = (size > radius) & used
                signed = np.where(is_champion, -deviation, deviation).max(axis=1)
                away_one_sided = (signed > radius) & used
                for side, mask in enumerate((away, away_one_sided)):
                    np.add.at(outside[side], np.maximum(part[mask] + 1, K), 1)
                    np.add.at(outside[side], stops[mask], -1)
                for i in np.flatnonzero(away)[:1]:
                    t = int(max(part[i] + 1, K))
                    j = int(np.abs(deviation[i]).argmax())
                    what = f"arm {a}, objective {j}, {samples[i]} samples: |mean - mu| > beta"
                    if first is None or t < first[0]:
                        at = Finding(trace.name, t, float(size[i]), float(radius[i]), what)
                        first = (t, at)
        inside = np.cumsum(outside, axis=1)[:, :n] == 0
        lost = (~inside[:, K:]).sum(axis=1)
        event.decisions += n - K
        event.outside += int(lost[0])
        event.outside_one_sided += int(lost[1])
        if first is not None:
            event.failures += 1
            event.first = event.first or first[1]
        return np.asarray(inside[EVENTS.index(self.claimed_on)])

    def scan(self, block: Block) -> tuple[_Scan, Cells, FloatArray]:
        """Compute the races; also the cells with a third tied arm, and all upper bounds."""
        U = block.means + block.beta[:, :, None]
        best, second = top_two(U)
        n, d = best.shape
        rows = np.arange(n)[:, None]
        objectives = np.arange(d)
        M1 = U[best, rows, objectives]
        M2 = U[second, rows, objectives]
        beta_best = block.beta[best, rows]
        W = beta_best + block.beta[second, rows]
        threshold = M2 - self.tie
        near = np.zeros((n, d), dtype=np.int16)
        for upper in U:
            near += upper >= threshold
        cells = np.nonzero(near > 2)
        if len(cells[0]):
            W[cells] = self.least_widths(block, U, best, M1, M2, cells)
        arm = block.arm
        scan = _Scan(
            best=best,
            second=second,
            M1=M1,
            M2=M2,
            L=block.means[best, rows, objectives] - beta_best,
            beta_best=beta_best,
            W=W,
            U_arm=U[arm, rows[:, 0]],
            beta_arm=block.beta[arm, rows[:, 0]],
        )
        return scan, cells, U

    def least_widths(
        self,
        block: Block,
        U: FloatArray,
        best: IntArray,
        M1: FloatArray,
        M2: FloatArray,
        cells: Cells,
    ) -> FloatArray:
        """The least width of an admissible pair, in cells where more than two arms tie."""
        i = cells[0]
        upper, radii = _columns(U, cells), block.beta.take(i, axis=1)
        B = upper >= M1[cells] - self.tie
        C = upper >= M2[cells] - self.tie
        top = best[cells]
        each = np.arange(len(i))
        C[top, each] = False
        with_top = radii[top, each] + np.where(C, radii, np.inf).min(axis=0)
        within = np.partition(np.where(B, radii, np.inf), 1, axis=0)[:2].sum(axis=0)
        return np.asarray(np.minimum(with_top, within))

    def explain(self, block: Block, scan: _Scan, cells: Cells, U: FloatArray) -> _Explanation:
        """Look for a choice of ties under which Algorithm 1 pulls the arm that was pulled."""
        arm = block.arm[:, None]
        radius = scan.beta_arm[:, None]
        rows = np.arange(len(block.t))[:, None]
        widest = scan.W.max(axis=1, keepdims=True)
        need = widest - self.tie - radius  # the partner's radius that makes the pair widest
        is_best = scan.best == arm
        allowed = self.allowed(block.t)
        in_pair = (is_best | (scan.U_arm >= scan.M2 - self.tie)) & allowed
        leads = scan.U_arm >= scan.M1 - self.tie
        other = np.where(is_best, block.beta[scan.second, rows], scan.beta_best)
        partner = np.where(in_pair & (other >= need), other, np.inf)
        width = np.where(in_pair, radius + other, -np.inf)
        if len(cells[0]):
            i = cells[0]
            each = np.arange(len(i))
            a, top = block.arm[i], scan.best[cells]
            upper, radii = _columns(U, cells), block.beta.take(i, axis=1)
            # the bar that a partner's bound must reach: C for best, B for others in B
            bar = np.where(leads[cells], scan.M1[cells] - self.tie, np.inf)
            bar = np.where(a == top, scan.M2[cells] - self.tie, bar)
            partners = upper >= bar
            partners[top, each] |= in_pair[cells] & (a != top)
            partners[a, each] = False
            partners &= allowed[cells]
            fits = np.where(partners & (radii >= need[i, 0]), radii, np.inf)
            partner[cells] = fits.min(axis=0)
            width[cells] = radii[a, each] + np.where(partners, radii, -np.inf).max(axis=0)
        return _Explanation(
            in_pair=in_pair,
            width=width,
            partner=partner,
            explains=partner <= radius + self.tie,
            leads=leads,
            leader=scan.best,
        )

    def allowed(self, t: IntArray) -> BoolArray:
        """The objectives that may explain a pull, (n, d): the reported one, else all."""
        result = np.ones((len(t), self.trace.d), dtype=np.bool_)
        reported = self.trace.objectives
        if reported is not None:
            known = t - self.trace.K < len(reported)
            sampled = reported[t[known] - self.trace.K]
            result[known] = sampled[:, None] == np.arange(self.trace.d)
        return result

    def explain_reported(self, block: Block, scan: _Scan, U: FloatArray) -> _Explanation:
        """Take the reported pairs at their word, after checking that they are admissible."""
        trace = self.trace
        assert trace.leaders is not None
        assert trace.challengers is not None
        K = trace.K
        b = trace.leaders[block.t - K].astype(np.int64)
        c = trace.challengers[block.t - K].astype(np.int64)
        rows, objectives = np.arange(len(block.t))[:, None], np.arange(trace.d)
        U_b, U_c = U[b, rows, objectives], U[c, rows, objectives]
        rest = np.where(b == scan.best, scan.M2, scan.M1)
        short = np.maximum(scan.M1 - U_b, rest - U_c)
        wrong = (U_b < scan.M1 - self.tie) | (U_c < rest - self.tie) | (b == c)
        at = np.where(wrong, np.inf, short).argmax(axis=1)
        self.line(
            "top-two",
            block.t,
            np.maximum(short.max(axis=1), 0.0),
            np.full(len(block.t), self.tie),
            np.ones(len(block.t), dtype=np.bool_),
            lambda i: (
                f"objective {at[i]} reports b = {b[i, at[i]]}, c = {c[i, at[i]]}; the largest "
                f"bounds are those of {scan.best[i, at[i]]} and {scan.second[i, at[i]]}"
            ),
            bad=wrong.any(axis=1),
        )
        radius = scan.beta_arm[:, None]
        beta_b, beta_c = block.beta[b, rows], block.beta[c, rows]
        W = beta_b + beta_c
        arm = block.arm[:, None]
        in_pair = (arm == b) | (arm == c)
        in_pair &= self.allowed(block.t)
        other = np.where(arm == b, beta_c, beta_b)
        wide: BoolArray = W.max(axis=1, keepdims=True) - self.tie <= W
        partner = np.where(in_pair & wide, other, np.inf)
        return _Explanation(
            in_pair=in_pair,
            width=np.where(in_pair, W, -np.inf),
            partner=partner,
            explains=partner <= radius + self.tie,
            leads=arm == b,
            leader=b,
        )

    def decisions(self, block: Block) -> int | None:
        """Check a block of decisions; returns the round at which a certificate appears."""
        scan, cells, U = self.scan(block)
        margin = scan.L - scan.M2
        certified = (margin > self.rounding).any(axis=1)
        found = None
        if certified.any():
            stop = int(certified.argmax())
            found = int(block.t[stop])
            if stop == 0:
                return found
            return self.decisions(_head(block, stop)) or found
        everywhere = np.ones(len(block.t), dtype=np.bool_)
        zeros = np.zeros(len(block.t))
        self.line("overlooked", block.t, zeros, zeros, everywhere, str)
        reported = self.trace.leaders
        if reported is not None and block.t[-1] - self.trace.K < len(reported):
            why = self.explain_reported(block, scan, U)
        else:
            why = self.explain(block, scan, cells, U)
        self.selection(block, scan, why)
        on = self.on[block.t]
        self.local_charge(block, scan, why, on)
        if self.g > 0:
            self.width_floor(block, scan, why, on)
        return None

    def selection(self, block: Block, scan: _Scan, why: _Explanation) -> None:
        """Check top two, widest, endpoint: the first of the three that no tie can explain."""
        t, arm = block.t, block.arm
        n = len(t)
        everywhere = np.ones(n, dtype=np.bool_)
        member: BoolArray = np.asarray(why.in_pair.any(axis=1))
        short = np.maximum(scan.M2 - scan.U_arm, 0.0)
        if self.trace.leaders is None or not member.all():
            self.line(
                "top-two",
                t,
                np.where(member, 0.0, short.min(axis=1)),
                np.full(n, self.tie),
                everywhere,
                lambda i: (
                    f"arm {arm[i]} is pulled but in no objective's top two; the least shortfall "
                    f"is {short[i].min():.3g}, on objective {short[i].argmin()}"
                ),
                bad=~member,
            )
        widest = scan.W.max(axis=1)
        width = np.where(why.in_pair, why.width, -np.inf).max(axis=1)
        wide: BoolArray = np.asarray(np.isfinite(why.partner).any(axis=1))
        self.line(
            "widest",
            t,
            widest,
            np.where(member, width, widest) + self.tie,
            member,
            lambda i: (
                f"arm {arm[i]} is pulled from objective {why.width[i].argmax()} with width "
                f"{width[i]:.6g}; objective {scan.W[i].argmax()} has width {widest[i]:.6g}"
            ),
            bad=member & ~wide,
        )
        partner = why.partner.min(axis=1)
        self.line(
            "endpoint",
            t,
            np.where(wide, partner, 0.0),
            scan.beta_arm + self.tie,
            wide,
            lambda i: (
                f"arm {arm[i]} is pulled from objective {why.partner[i].argmin()} though its "
                f"radius {scan.beta_arm[i]:.6g} is the smaller one"
            ),
            bad=wide & np.asarray(~why.explains.any(axis=1)),
        )

    def local_charge(self, block: Block, scan: _Scan, why: _Explanation, on: BoolArray) -> None:
        """Lemma 10 for every explanation of every pull, by case, and the bridge."""
        t, arm, radius = block.t, block.arm, scan.beta_arm
        gap = self.geo.gaps[arm]
        self.line(
            "lemma-10",
            t,
            gap,
            4 * radius,
            on,
            lambda i: f"arm {arm[i]} has gap {gap[i]:.6g} and radius {radius[i]:.6g}",
        )
        row, j = np.nonzero(why.explains)
        deficit = self.deficits[arm[row], j]
        beta = radius[row]
        leads = why.leads[row, j]
        behind = self.maximisers[why.leader[row, j], j] & ~leads
        tied = (self.maximisers.sum(axis=0) > 1)[j]

        def words(rows: IntArray) -> Words:
            return lambda i: (
                f"arm {arm[row[rows[i]]]} on objective {j[rows[i]]} has deficit "
                f"{deficit[rows[i]]:.6g} and radius {beta[rows[i]]:.6g}"
            )

        cases = [("leader", leads, 2.0), ("challenger", behind, 4.0)]
        cases += [("other", ~leads & ~behind, 2.0)]
        if self.claimed_on == "two-sided":
            cases += [("tied", tied, 2.0)]
        for name, mask, factor in cases:
            rows = np.flatnonzero(mask)
            self.line(
                f"lemma-10-{name}",
                t[row[rows]],
                deficit[rows],
                factor * beta[rows],
                on[row[rows]],
                words(rows),
            )
        everywhere = np.ones(len(row), dtype=np.bool_)
        every = np.arange(len(row))
        self.line("bridge", t[row], gap[row], deficit, everywhere, words(every))

    def width_floor(self, block: Block, scan: _Scan, why: _Explanation, on: BoolArray) -> None:
        """Lemma 11, for every admissible pair of the champion objective and of the others."""
        t, arm, g = block.t, block.arm, self.g
        champion = self.geo.j_dagger
        n = len(t)
        half = np.full(n, g / 2)
        W = scan.W[:, champion]
        self.line(
            "lemma-11-champion", t, half, W, on, lambda i: f"W = {W[i]:.6g} on objective {champion}"
        )
        upset = ~self.maximisers[scan.best[:, champion], champion]
        rows = np.flatnonzero(upset)
        leader = scan.beta_best[:, champion]
        self.line(
            "lemma-11-upset",
            t[rows],
            half[rows],
            leader[rows],
            on[rows],
            lambda i: f"the leader of objective {champion} has radius {leader[rows[i]]:.6g}",
        )
        gaps = self.geo.objective_gaps
        room = scan.W - gaps / 2
        at = room.argmin(axis=1)
        each = np.arange(n)
        self.line(
            "lemma-11-every",
            t,
            gaps[at] / 2,
            scan.W[each, at],
            on,
            lambda i: f"objective {at[i]} has gap {gaps[at[i]]:.6g} and W = {scan.W[i, at[i]]:.6g}",
        )
        explained = np.flatnonzero(why.explains.any(axis=1))
        sampled = (scan.beta_arm + np.where(why.explains, why.partner, np.inf).min(axis=1))[
            explained
        ]
        self.line(
            "lemma-11-width",
            t[explained],
            half[explained],
            sampled,
            on[explained],
            lambda i: f"the sampled pair has width {sampled[i]:.6g}",
        )
        self.line(
            "lemma-11-radius",
            t,
            half / 2,
            scan.beta_arm,
            on,
            lambda i: f"arm {arm[i]} is pulled with radius {scan.beta_arm[i]:.6g}",
        )

    def race_at(self, t: int) -> tuple[Block, _Scan, FloatArray]:
        """The races of one decision."""
        block = next(self.trace.blocks(t, t + 1))
        scan, _, U = self.scan(block)
        return block, scan, U[:, 0]

    def reported_certificate(self, reported: Certificate) -> None:
        """Check the reported certificate against the strict inequality that defines it."""
        block, _, U = self.race_at(reported.t)
        arm, j = reported.arm, reported.objective
        others = np.delete(U[:, j], arm)
        # any challenger within the tie tolerance of the largest bound is admissible
        upper = float(others[others >= others.max() - self.tie].min())
        lower = float(block.means[arm, 0, j] - block.beta[arm, 0])
        bad = not lower > upper - self.rounding
        self.line(
            "certificate",
            block.t,
            np.array([upper]),
            np.array([lower]),
            np.array([True]),
            lambda _: (
                f"arm {arm} is stored for objective {j} with L = {lower:.10g}, but the largest "
                f"other U is {upper:.10g}"
            ),
            bad=np.array([bad]),
        )

    def commitment(self, end: int, found: int | None) -> tuple[int | None, int | None]:
        """Check what follows the certificate; returns the round of the commitment and its arm."""
        trace, reported = self.trace, self.trace.certificate
        if end == trace.recorded:
            return None, None
        block, scan, _ = self.race_at(end)
        margins = scan.L[0] - scan.M2[0]
        certified = np.flatnonzero(margins > self.rounding)
        self.certified_arms(block, scan, certified)
        arm = int(block.arm[0])
        if reported is not None:
            late = found is not None
            start, stored = reported.t, reported.arm
        else:
            late = arm not in scan.best[0, certified]
            start, stored = end, arm
        j = int(margins.argmax())
        self.line(
            "overlooked",
            block.t,
            np.array([float(late) * margins[j]]),
            np.zeros(1),
            np.array([True]),
            lambda _: (
                f"objective {j} certifies arm {scan.best[0, j]} with L = {scan.L[0, j]:.10g} > "
                f"U = {scan.M2[0, j]:.10g}, yet arm {arm} is pulled"
                + ("" if reported is None else f" and the commitment comes at t = {start}")
            ),
            bad=np.array([late]),
        )
        if late and reported is None:
            return end, None
        after = np.arange(start, trace.recorded)
        pulled = trace.arms[start:]
        zeros = np.zeros(len(after))
        strays = pulled != stored
        self.line(
            "commitment",
            after,
            strays.astype(np.float64),
            zeros,
            np.ones(len(after), dtype=np.bool_),
            lambda i: f"arm {pulled[i]} is pulled after arm {stored} was stored at t = {start}",
            bad=strays,
        )
        return end, stored

    def certified_arms(self, block: Block, scan: _Scan, certified: IntArray) -> None:
        """Lemma 9 for every objective that certifies at the decision."""
        if not len(certified):
            return
        arms = scan.best[0, certified]
        on = np.full(len(certified), self.on[block.t[0]])
        t = np.full(len(certified), block.t[0])
        mu = self.trace.means
        own = mu[arms, certified]
        rest = np.array([np.delete(mu[:, j], a).max() for a, j in zip(arms, certified)])

        def words(i: int) -> str:
            return f"arm {arms[i]} is certified for objective {certified[i]}, mean {own[i]:.6g}"

        if self.claimed_on == "one-sided":
            # the lower sides of a tied maximiser are not part of the one-sided event
            unique = self.maximisers.sum(axis=0)[certified] == 1
            keep = np.flatnonzero(unique)
            self.line(
                "lemma-9", t[keep], rest[keep], own[keep], on[keep], lambda i: words(keep[i]),
                bad=rest[keep] >= own[keep],
            )  # fmt: skip
        else:
            self.line("lemma-9", t, rest, own, on, words, bad=rest >= own)
        front = np.isin(arms, self.geo.front)
        zeros = np.zeros(len(arms))
        self.line("lemma-9-front", t, zeros, np.where(front, 0.0, -1.0), on, words, bad=~front)

    def sums(self, end: int, start: int | None, stored: int | None) -> None:
        """Check the pull counts and every inequality in the proof of Theorem 4."""
        trace, geo, g = self.trace, self.geo, self.g
        K, S = trace.K, trace.scale
        gaps, top_gap = geo.gaps, geo.max_gap
        pulls = np.bincount(trace.arms[K:end], minlength=K)
        calm = bool(self.on[K:end].all())
        safe = bool(self.on[K : end + 1].all())
        least = self.deficits.min(axis=1)
        scales = {
            "pulls-theorem": np.full(K, g),
            "pulls-sharper": np.maximum(gaps, g),
            "pulls-deficit": np.maximum(least, g),
        }
        for key, scale in scales.items():
            arms = np.flatnonzero(scale > 4 * self.leeway)
            bound = S / (scale[arms] / 4 - self.leeway) ** 2
            self.checks[key].add(
                trace.name,
                None,
                pulls[arms].astype(np.float64),
                16 * S / scale[arms] ** 2,
                np.full(len(arms), calm),
                pulls[arms] > bound,
                lambda i, arms=arms: f"arm {arms[i]} is pulled {pulls[arms[i]]} times",  # type: ignore[misc]
            )
        m = int(pulls.sum())
        radii = float(sum(np.sqrt(S / np.arange(1, k + 1)).sum() for k in pulls))
        roots = 2 * math.sqrt(S) * float(np.sqrt(pulls).sum())
        explore = float(gaps @ pulls)
        warm = float(gaps[trace.arms[:K]].sum())
        later = trace.arms[end:]
        after = float(gaps @ np.bincount(later, minlength=K))
        if stored is not None:
            after += float(gaps[stored]) * (trace.horizon - trace.recorded)
        loose = self.leeway * (m + 1)
        self.total("sum-warm", warm, K * top_gap, True, "the warm start")
        if start is not None:
            at = f"after the certificate at t = {start}"
            self.total("sum-after", after, 0.0, bool(self.on[end]), at)
        self.total("sum-charge", explore, 4 * radii, calm, f"{m} pulls", loose)
        self.total("sum-root", radii, roots, True, f"{m} pulls")
        positive = gaps > 0
        for key, scale in (("sharper", np.maximum(gaps, g)), ("deficit", np.maximum(least, g))):
            weights = gaps[positive] / scale[positive] ** 2
            rhs = 16 * S * float(weights.sum())
            self.total(f"sum-{key}", explore, rhs, calm, f"{m} pulls", loose)
        if g > 0:
            paper = 32 * K * S / g
            self.total("sum-floor", roots, paper / 4, calm, f"{m} pulls", loose)
            self.total("sum-explore", explore, paper, calm, f"{m} pulls", loose)
            total = warm + explore + after
            self.total("regret", total, K * top_gap + paper, safe, "the whole run", loose)


def _columns(U: FloatArray, cells: Cells) -> FloatArray:
    """The columns U[:, i, j] of the cells, faster than by two index arrays."""
    K, _, d = U.shape
    return np.asarray(U.reshape(K, -1).take(cells[0] * d + cells[1], axis=1))


def _head(block: Block, n: int) -> Block:
    """The first n decisions of a block."""
    return Block(
        block.t[:n], block.arm[:n], block.counts[:, :n], block.means[:, :n], block.beta[:, :n]
    )
