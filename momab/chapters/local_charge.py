"""Local charge (Lemma 10): what every pull before the certificate costs, in radii.

The computations collect the cost of every pull, check the proof's inequalities one by one, and
build the run that approaches the constant 4; a diagram shows the three cases of the proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.chapters.figures.style import BLUE, GREEN, INK, MUTED, ORANGE, STYLE, new_axes
from momab.errors import MomabError
from momab.ledger.auditing.trace import Trace
from momab.model import pareto

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Charges:
    """What every non-certifying pull costs, in units of the radius of the pulled arm."""

    gap: FloatArray
    """Pareto gap / beta."""
    deficit: FloatArray
    """Deficit on the sampled objective / beta."""
    width: FloatArray
    """Width of the sampled pair / beta, between 1 and 2."""
    beta: FloatArray
    case: IntArray
    """Index into :data:`momab.ledger.auditing.rounds.CASES`: 0, 1 or 2."""
    on_event: BoolArray
    """Whether all intervals of the round hold."""
    run: IntArray
    """Which of the traces the pull belongs to."""


def charges(traces: Iterable[Trace]) -> Charges:
    """Collect gap / beta and deficit / beta of every non-certifying pull of some traces."""
    parts: list[tuple[Any, ...]] = []
    for number, trace in enumerate(traces):
        if trace.recorded <= trace.K:
            continue
        r = trace.rounds()
        keep = np.flatnonzero(r.noncertifying)
        arm, j = r.arm[keep], r.objective[keep]
        beta = r.beta[keep, arm]
        off: FloatArray = np.abs(r.means - trace.means) - r.beta[:, :, None]
        inside: BoolArray = np.asarray(off.max(axis=(1, 2)) <= 0.0)
        deficit = pareto.objective_deficits(trace.means)[arm, j]
        parts.append(
            (
                trace.geometry.gaps[arm] / beta,
                deficit / beta,
                r.W[keep, j] / beta,
                beta,
                r.case[keep].astype(np.int64),
                inside[keep],
                np.full(len(keep), number),
            )
        )
    if not parts:
        raise MomabError("there is no trace with a decision.")
    return Charges(*(np.concatenate(column) for column in zip(*parts)))


def charge_steps(traces: Iterable[Trace]) -> pd.DataFrame:
    """Every inequality in the proof of Lemma 10, at all rounds whose intervals hold.

    One row per case and inequality: how often it was used, its least slack, and how often it
    failed by more than rounding.
    """
    import pandas as pd

    slacks: dict[tuple[str, str], list[FloatArray]] = {}
    for trace in traces:
        if trace.recorded > trace.K:
            for case, claim, slack in _charge_slacks(trace):
                slacks.setdefault((case, claim), []).append(slack)
    rows = []
    for (case, claim), parts in slacks.items():
        slack = np.concatenate(parts)
        least = float(slack.min()) if len(slack) else np.nan
        rows.append((case, claim, len(slack), least, int((slack < -1e-11).sum())))
    return pd.DataFrame(rows, columns=["case", "claim", "checked", "least slack", "violations"])


def _charge_slacks(trace: Trace) -> Iterator[tuple[str, str, FloatArray]]:
    """Case, claim and slack (right side minus left) at the rounds of one run that count."""
    r = trace.rounds()
    inside = np.abs(r.means - trace.means) <= r.beta[:, :, None]
    keep = np.flatnonzero(r.noncertifying & inside.reshape(len(inside), -1).all(axis=1))
    arm, j = r.arm[keep], r.objective[keep]
    b, c = r.b[keep, j], r.c[keep, j]
    mu, U, L, beta = trace.means, r.U[keep], r.L[keep], r.beta[keep]
    best, top = mu.argmax(axis=0)[j], mu.max(axis=0)[j]
    each = np.arange(len(keep))
    deficit = top - mu[arm, j]
    radius = beta[each, arm]
    yield "all", "gap <= deficit on the sampled objective", deficit - trace.geometry.gaps[arm]
    yield "all", "deficit <= 4 beta", 4 * radius - deficit
    lead = (arm == b) & (mu[b, j] < top)
    behind = (arm != b) & (mu[b, j] == top)
    other = (arm != b) & (mu[b, j] < top)
    for case, i in (("leader", lead), ("challenger behind another arm", other)):
        e, a, k = each[i], arm[i], j[i]
        name = "U_b" if case == "leader" else "U_e"
        yield case, f"{name} >= U of a maximiser", U[e, a, k] - U[e, best[i], k]
        yield case, "U of a maximiser >= its mean", U[e, best[i], k] - top[i]
        yield case, f"{name} <= mean + 2 beta", mu[a, k] + 2 * beta[e, a] - U[e, a, k]
        yield case, "deficit <= 2 beta", 2 * radius[i] - deficit[i]
    case, e, k = "challenger behind a maximiser", each[behind], j[behind]
    x, y = b[behind], c[behind]
    yield case, "L_b <= U_e: no certificate", U[e, y, k] - L[e, x, k]
    yield case, "L_b >= mean of b - 2 beta_b", L[e, x, k] - top[behind] + 2 * beta[e, x]
    yield case, "U_e <= mean of e + 2 beta_e", mu[y, k] + 2 * beta[e, y] - U[e, y, k]
    yield case, "beta_b <= beta_e", beta[e, y] - beta[e, x]
    yield case, "deficit <= 2 W", 2 * r.W[keep[behind], k] - deficit[behind]


def typical_tops(traces: Sequence[Trace], found: Charges) -> FloatArray:
    """The largest deficit / beta of every certified run whose intervals held at all its pulls.

    ``found`` are the charges of ``traces``.
    """
    pulls = [
        np.flatnonzero(found.run == number)
        for number, trace in enumerate(traces)
        if trace.certificate is not None
    ]
    kept = [mine for mine in pulls if len(mine) and found.on_event[mine].all()]
    return np.array([found.deficit[mine].max() for mine in kept])


def worst_intervals() -> list[tuple[str, str, list[tuple[str, float, float, float]]]]:
    """Each case of Lemma 10 at its worst: title, label of the deficit, and the intervals.

    An interval is the name of its arm, its ends and its true mean; the last one is pulled.  The
    best mean is 0, and the pulled arm has the radius 1.
    """
    return [
        (
            "leader pulled",
            "2β",
            [("best arm", -1.2, 0.0, 0.0), ("leader b", -2.0, 0.0, -2.0)],
        ),
        (
            "challenger pulled, leader not best",
            "2β",
            [
                ("best arm", -1.2, 0.0, 0.0),
                ("leader b", -1.3, 0.4, -0.9),
                ("challenger e", -2.0, 0.0, -2.0),
            ],
        ),
        (
            "challenger pulled, leader best",
            "2β + 2β",
            [("leader b", -2.0, 0.0, 0.0), ("challenger e", -4.0, -2.0, -4.0)],
        ),
    ]


def three_cases() -> Figure:
    """The three cases of Lemma 10, each with the intervals that make the deficit largest."""
    colours = (BLUE, GREEN, ORANGE)
    with mpl.rc_context(STYLE):
        fig, (ax,) = new_axes(size=(5.4, 3.6))
        y = 0.0
        for (title, label, intervals), colour in zip(worst_intervals(), colours):
            ax.text(-4.15, y - 0.75, title, color=colour, fontweight="bold", va="center")
            for name, low, high, mean in intervals:
                pulled = name == intervals[-1][0]
                ax.plot([low, high], [y, y], color=colour if pulled else MUTED, lw=5, alpha=0.55)
                ax.plot(mean, y, marker="^", ms=9, color=INK, zorder=3)
                ax.text(0.55, y, name + (", pulled" if pulled else ""), va="center")
                y += 1
            ends = {"arrowstyle": "<->", "color": INK, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
            worst = intervals[-1][3]
            ax.annotate("", (0, y - 0.45), (worst, y - 0.45), arrowprops=ends)
            ax.text(worst - 0.1, y - 0.45, label, ha="right", va="center")
            y += 1.3
        ax.axvline(0, color=INK, lw=1.0, ls="--")
        ax.text(0.15, -1.2, "best mean m", va="center")
        ax.set(xlim=(-5.4, 2.7), ylim=(y - 1.3, -1.5), yticks=[], xticks=[])
        ax.grid(visible=False)
        for side in ("left", "bottom"):
            ax.spines[side].set_visible(False)
    return fig
