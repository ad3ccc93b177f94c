"""Certificates (Lemma 9, Corollary 6): what they prove, and how often they are false.

The computations follow the lemma's chain of inequalities at a certificate, count false
certificates, and ask which objective certifies; the figures show the rates and the shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray, IntArray, whole_number
from momab.auditing import AuditReport
from momab.auditing.hand_made import edge_sequence, play_sequences
from momab.auditing.trace import Trace
from momab.engine.loop import play_block
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.simulate import simulate
from momab.figures.style import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    PINK,
    STYLE,
    draw_points,
    legend_above,
    new_axes,
)
from momab.model import pareto, theory
from momab.model.instances import Instance, bernoulli
from momab.model.numerics import log
from momab.model.statistics import rates

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def certificate_chain(trace: Trace) -> pd.DataFrame:
    """Every inequality in the proof of Lemma 9, at the certificate of a run.

    One row per inequality with its tightest instance over the other arms.  Empty if the run
    has no certificate.
    """
    import pandas as pd

    columns = ["inequality", "left", "right", "slack", "holds"]
    stored = trace.commitment
    if stored is None:
        return pd.DataFrame(columns=columns)
    r = trace.rounds(stored.t, stored.t + 1)
    j, b = stored.objective, stored.arm
    c = int(r.c[0, j])
    U, L, mu = r.U[0, :, j], r.L[0, :, j], trace.means[:, j]
    others = np.delete(np.arange(trace.K), b)
    steps: list[tuple[str, FloatArray, FloatArray, bool]] = [
        ("U_a ≤ U_c for every a other than b", U[others], np.full(len(others), U[c]), False),
        ("U_c < L_b: the certificate", U[[c]], L[[b]], True),
        ("L_b ≤ μ_b: the interval of b holds", L[[b]], mu[[b]], False),
        ("μ_a ≤ U_a: the intervals of the others hold", mu[others], U[others], False),
        ("μ_a < μ_b: the conclusion", mu[others], np.full(len(others), mu[b]), True),
    ]
    rows = []
    for name, left, right, strict in steps:
        i = int((right - left).argmin())
        slack = float(right[i] - left[i])
        rows.append((name, float(left[i]), float(right[i]), slack, slack > 0 or
                     (slack == 0 and not strict)))  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def front_maximisers(means: FloatArray) -> IntArray:
    """Per objective, a maximiser in the Pareto set: the one whose means have the largest sum."""
    best = means == means.max(axis=0)
    return np.asarray(np.where(best, means.sum(axis=1)[:, None], -np.inf).argmax(axis=0))


def failed_sides(trace: Trace) -> tuple[bool, bool]:
    """Which of the two sides failed when a run stored an arm b for objective j.

    Whether :math:`L_b>\\mu_b`, and whether :math:`U_{a_j}<\\mu_{a_j}` for the maximiser of
    :func:`front_maximisers`.  If b is off the front, at least one of them did.
    """
    stored = trace.commitment
    if stored is None:
        return False, False
    r = trace.rounds(stored.t, stored.t + 1)
    j, b = stored.objective, stored.arm
    a = int(front_maximisers(trace.means)[j])
    low, high = r.L[0, b, j] > trace.means[b, j], r.U[0, a, j] < trace.means[a, j]
    return bool(low), bool(high)


def lemma_9_table(report: AuditReport) -> pd.DataFrame:
    """What an audit says about the two claims of Lemma 9, with headings for a page."""
    headings = {
        "claim": "claim",
        "checked": "certificates where it is claimed",
        "violations": "violations",
        "off_event": "false, off the event",
    }
    lines = report.table().set_index("check").loc[["lemma-9", "lemma-9-front"]]
    return lines[list(headings)].rename(columns=headings).reset_index(drop=True)


def photo_finish(d: int, lead: float, margin: float, low: float = 0.3) -> Instance:
    """Every objective has its own winner; objective 0 leads by ``lead``, the rest by less.

    Arm j has the mean ``low`` everywhere except on objective j, where it has ``low + lead``
    for j = 0 and ``low + lead - margin`` otherwise.
    """
    d = whole_number(d, "d", least=2)
    means = np.full((d, d), low)
    means[np.arange(d), np.arange(d)] = low + lead - margin
    means[0, 0] = low + lead
    return bernoulli(means, name=f"photo finish (d={d}, lead={lead:g}, margin={margin:g})")


def crowded_champion(K: int, lead: float, margin: float) -> Instance:
    """Two objectives: the champion's runner-up is a crowd, the other's is a single arm.

    On objective 0 arm 0 leads all K - 1 others, which tie; on objective 1 arm 1 leads arm 2
    by ``lead - margin`` and everybody else is far behind.
    """
    K = whole_number(K, "K", least=3)
    means = np.full((K, 2), [0.5, 0.05])
    means[0, 0] = 0.5 + lead
    means[1, 1] = 0.5 + lead - margin
    means[2, 1] = 0.5
    return bernoulli(means, name=f"crowded champion (K={K}, lead={lead:g}, margin={margin:g})")


def champion_shares(
    instances: Mapping[str, Instance], c: float, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """How often the certified objective is the one with the largest gap, with exact intervals."""
    import pandas as pd

    played = simulate(
        instances, WidthGuided(c=c), horizon, runs, seed, checkpoints=1, workers=1, progress=False
    ).runs
    rows = []
    for name, instance in instances.items():
        mine = played[(played["instance"] == name) & played["certified"]]
        gaps = instance.geometry.objective_gaps
        champions = np.flatnonzero(gaps == gaps.max())
        row: dict[str, Any] = {"instance": name, "certified": len(mine), "runs": runs}
        if len(mine):
            hit = mine["cert_objective"].isin(champions.tolist()).to_numpy(dtype=np.bool_)
            row |= rates(hit)
            row["on_front"] = float(mine["cert_on_front"].mean())
        rows.append(row)
    return pd.DataFrame(rows)


def false_rates(
    instance: Instance, coefficients: Sequence[float], horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """How often a certificate is false, per coefficient c, with exact intervals and the bounds.

    ``false``: the stored arm is not the only maximiser of its objective; ``dominated``: it is
    not even in the Pareto set.  Runs without a certificate count as not false, as in
    Corollary 6.
    """
    import pandas as pd

    rules = {f"{c:g}": WidthGuided(c=c) for c in coefficients}
    played = simulate(
        instance, rules, horizon, runs, seed, checkpoints=1, workers=1, progress=False
    )
    rows: list[dict[str, Any]] = []
    for c, columns in zip(coefficients, played.columns):
        certified = columns["certified"]
        row: dict[str, Any] = {"c": c, "runs": runs, "certified": float(certified.mean())}
        for name, column in (("false", "cert_true"), ("dominated", "cert_on_front")):
            found = rates(certified & ~columns[column])
            row |= {f"{name}_{key}": x for key, x in found.items()}
        row["crossing"] = theory.event_failure_probability(instance.means, horizon, c)
        row["stated"] = theory.union_bound(instance.K, instance.d, horizon, c)
        rows.append(row)
    return pd.DataFrame(rows)


def kl_rounds(
    levels: Mapping[str, Sequence[Sequence[float]]], c: float, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """The certificate's round in the same runs, with Hoeffding's and with kl intervals.

    One row per run with the columns instance, hoeffding, kl and off (whether the arm of the kl
    certificate is off the front); a run without a certificate has the horizon as its round.
    """
    import pandas as pd

    frames = []
    for name, means in levels.items():
        instance = bernoulli(np.asarray(means, dtype=np.float64))
        rounds, off = {}, np.zeros(runs, dtype=bool)
        for kind in ("hoeffding", "kl"):
            policy = WidthGuided(c=c, certificate=kind)
            block = play_block(instance, policy, horizon, seed, 0, runs)
            found = block.cert_round >= 0
            rounds[kind] = np.where(found, block.cert_round + 1, horizon)
            off = found & ~pareto.front(instance.means)[block.cert_arm]
        frames.append(pd.DataFrame({"instance": name, **rounds, "off": off}))
    return pd.concat(frames, ignore_index=True)


def kl_figure(stops: pd.DataFrame) -> Figure:
    """The round of the kl certificate against that of Hoeffding's, with the diagonal."""
    colours, markers = (BLUE, ORANGE, PINK, INK), ("o", "^", "s", "D")
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.8, 4.0))
        rounds = stops[["hoeffding", "kl"]].to_numpy(dtype=float)
        ends = [rounds.min() / 1.3, rounds.max() * 1.3]
        axes.plot(ends, ends, color=MUTED, lw=1, ls="--")
        for i, (name, rows) in enumerate(stops.groupby("instance", sort=False)):
            axes.plot(
                rows["hoeffding"], rows["kl"], color=colours[i % 4], marker=markers[i % 4],
                ms=4, ls="none", alpha=0.7, label=str(name),
            )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel="round of Hoeffding's certificate")
        axes.set(ylabel="round of the kl certificate")
        legend_above(axes, 2)
    return fig


def lucky_small_gap(lead: float, small: float, horizon: int, c: float) -> Trace:
    """A run inside the confidence event in which the objective with the smaller gap certifies.

    Two arms: arm 0 leads objective 0 by ``lead``, arm 1 leads objective 1 by ``small``.  On
    objective 0 both means sit on the edges that hide the lead, on objective 1 on those that
    exaggerate it.
    """
    means = np.array([[0.5 + lead / 2, 0.5 - small / 2], [0.5 - lead / 2, 0.5 + small / 2]])
    sides = [[-1, -1], [1, 1]]
    n = min(horizon, int(16 * c * log(horizon) / lead**2) + 3)
    rewards = [
        np.column_stack(
            [edge_sequence(float(means[a, j]), n, horizon, c, sides[a][j]) for j in range(2)]
        )
        for a in range(2)
    ]
    return play_sequences(np.array(rewards), means, horizon, c)


def certificate_picture(trace: Trace) -> Figure:
    """All intervals on the certified objective at the certificate, the stored arm on top.

    Without a certificate, those of objective 1 at the last decision, by their upper bounds.
    """
    stored = trace.commitment
    t, j = (trace.recorded - 1, 0) if stored is None else (stored.t, stored.objective)
    r = trace.rounds(t, t + 1)
    order = np.argsort(r.U[0, :, j])
    best = order[-1]
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.2, 0.42 * trace.K + 0.9))
        axes.axvline(r.L[0, best, j], color=BLUE, lw=1)
        for row, a in enumerate(order):
            colour, width = (BLUE, 4.5) if a == best else (MUTED, 3.0)
            axes.plot([r.L[0, a, j], r.U[0, a, j]], [row, row], color=colour, lw=width)
            axes.plot(r.means[0, a, j], row, marker="o", ms=7, color=colour, mec="white")
            axes.plot(trace.means[a, j], row, marker="|", ms=17, mew=2, color=INK)
        axes.set_yticks(range(trace.K), [f"arm {a + 1}" for a in order])
        axes.set(xlabel=f"mean of objective {j + 1}", ylim=(-0.6, trace.K - 0.4))
        axes.grid(visible=False, axis="y")
    return fig


def false_certificates(frame: pd.DataFrame) -> Figure:
    """Rates of false certificates against c, under the two bounds and the exact probability.

    ``frame`` has the columns c, runs, stated, crossing and, for false and dominated, rate, low
    and high.  A bound is drawn where it is below 1; between the coefficients its logarithm is
    linear in c.
    """
    floor = 0.3 / float(frame["runs"].max())
    with mpl.rc_context(STYLE):
        fig, (ax,) = new_axes(size=(5.6, 4.4))
        x = frame["c"].to_numpy(float)
        fine = np.geomspace(x[0], x[-1], 400)
        stated = np.exp(np.interp(fine, x, np.log(frame["stated"])))
        for bound, dash, label in (
            (stated, "--", "Corollary 6: $2KdT^{1-2c}$"),
            (stated / 2, "-.", "for dominated arms: $KdT^{1-2c}$"),
        ):
            if (bound < 1).any():
                ax.plot(fine[bound < 1], bound[bound < 1], color=INK, ls=dash, label=label)
        ax.plot(x, frame["crossing"], color=BLUE, label="some sample mean leaves, computed")
        style = {"label": "not the only best arm", "marker": "s", "ms": 6, "color": ORANGE}
        draw_points(ax, frame, "c", "false", floor, **style)
        style = {"label": "a dominated arm", "marker": "D", "ms": 6, "color": PINK}
        draw_points(ax, frame, "c", "dominated", floor, **style)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xticks(x.tolist(), [f"{tick:g}" for tick in x], rotation=45)
        ax.minorticks_off()
        ax.set(ylim=(floor, 1.15), xlabel="confidence coefficient $c$", ylabel="probability")
        legend_above(ax, 1)
    return fig


def champion_figure(frame: pd.DataFrame) -> Figure:
    """How often the certified objective is the one with the largest gap, by instance."""
    with mpl.rc_context(STYLE):
        fig, (ax,) = new_axes(size=(5.8, 0.42 * len(frame) + 1.0))
        rows = np.arange(len(frame))[::-1]
        share = frame["rate"].to_numpy(float)
        bars = np.array([share - frame["low"], frame["high"] - share], dtype=np.float64).clip(0)
        ax.errorbar(share, rows, xerr=bars, color=BLUE, marker="o", ls="none", capsize=3)
        ax.axvline(0.5, color=MUTED, lw=1, ls=":")
        ax.set_yticks(rows, frame["instance"].tolist())
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.set(xlim=(-0.02, 1.02), xlabel="runs certified by the largest-gap objective")
        ax.set_ylim(-0.6, len(frame) - 0.4)
    return fig
