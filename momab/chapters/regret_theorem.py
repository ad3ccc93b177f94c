"""The regret theorem (Theorem 4): the account of its proof, measured regret, and both bounds.

The computations play Width-guided and keep what every inequality of the proof adds; the figures
show the account as a waterfall, and the regret below its bounds against one number at a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.chapters.figures.style import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PINK,
    STYLE,
    legend_above,
    new_axes,
    plain_log,
)
from momab.engine.driver import RunBlock
from momab.engine.loop import play_block
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.auditing import AuditReport
from momab.ledger.auditing.trace import trace
from momab.model import theory, two_arms
from momab.model.families import one_leader
from momab.model.instances import Instance
from momab.model.statistics import mean_interval, normal_half_width

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Account:
    """Theorem 4's chain for many runs: arrays have one entry per run."""

    warm: FloatArray
    """Regret of the first K pulls."""
    explore: FloatArray
    """Regret of the pulls between the warm start and the certificate."""
    after: FloatArray
    """Regret from the certificate on."""
    charge: FloatArray
    r"""Lemma 10 for every pull: :math:`4\sum_a\sum_{s\le m_a}\sqrt{c\log T/s}`."""
    root: FloatArray
    r"""And :math:`\sum_{s\le m}s^{-1/2}\le 2\sqrt m`: :math:`8\sqrt{c\log T}\sum_a\sqrt{m_a}`."""
    pulls: IntArray
    """(R, K): the pulls m_a between the warm start and the certificate."""
    certified: BoolArray
    theorem: theory.RegretBound
    sharper: theory.RegretBound
    pull_caps: FloatArray
    """(K,): the sharper bound on m_a."""

    @property
    def regret(self) -> FloatArray:
        """The whole regret of every run."""
        return self.warm + self.explore + self.after

    def steps(self) -> pd.DataFrame:
        """The waterfall: the mean of every stage with its 95 % interval, and the factor lost."""
        import pandas as pd

        stages = [
            ("measured regret after the warm start", self.explore + self.after),
            ("every pull charged 4 radii", self.charge),
            ("sums replaced by square roots", self.root),
            ("every arm pulled as often as the floor allows", np.array([self.theorem.exploration])),
            ("plus warm start and tail", np.array([self.theorem.total])),
        ]
        rows = []
        for name, values in stages:
            mean = float(values.mean())
            n = len(values)
            half = normal_half_width(float(values.std(ddof=1)), n) if n > 1 else 0
            rows.append({"stage": name, "value": mean, "low": mean - half, "high": mean + half})
        frame = pd.DataFrame(rows)
        frame["factor"] = frame["value"] / frame["value"].shift(1)
        return frame


def exploration_pulls(block: RunBlock, horizon: int) -> IntArray:
    """Pulls m_a between the warm start and the certificate of every run, shape (R, K)."""
    pulls = block.pulls - 1
    done = np.flatnonzero(block.cert_round >= 0)
    pulls[done, block.cert_arm[done]] -= horizon - block.cert_round[done]
    return pulls


def account(instance: Instance, horizon: int, runs: int, seed: int, c: float = 2.0) -> Account:
    """Play Width-guided and keep the accounts of Theorem 4's proof."""
    block = play_block(instance, WidthGuided(c=c), horizon, seed, 0, runs)
    gaps = instance.geometry.gaps
    m = exploration_pulls(block, horizon)
    scale = math.sqrt(c * math.log(horizon))
    partial = np.concatenate([[0.0], np.cumsum(1.0 / np.sqrt(np.arange(1, m.max() + 1)))])
    certified = block.cert_round >= 0
    committed = np.where(certified, horizon - block.cert_round, 0)
    return Account(
        warm=np.full(runs, gaps.sum()),
        explore=m @ gaps,
        after=np.where(certified, gaps[block.cert_arm], 0.0) * committed,
        charge=4 * scale * partial[m].sum(axis=1),
        root=8 * scale * np.sqrt(m).sum(axis=1),
        pulls=m,
        certified=certified,
        theorem=theory.theorem_bound(instance.means, horizon, c),
        sharper=theory.sharper_bound(instance.means, horizon, c),
        pull_caps=theory.pull_bounds(instance.means, horizon, c),
    )


def scaling(
    problems: Mapping[float, tuple[Instance, int]], runs: int, seed: int, c: float = 2.0
) -> pd.DataFrame:
    """Measured regret and both bounds, one row per problem: value -> (instance, horizon)."""
    import pandas as pd

    rows = []
    for value, (instance, horizon) in problems.items():
        kept = account(instance, horizon, runs, seed, c)
        mean, low, high = mean_interval(kept.regret)
        rows.append(
            {
                "value": value,
                "mean": mean,
                "low": low,
                "high": high,
                "median": float(np.median(kept.regret)),
                "theorem": kept.theorem.total,
                "sharper": kept.sharper.total,
                "trivial": horizon * instance.geometry.max_gap,
                "certified": float(kept.certified.mean()),
                "wrong": float((kept.after > 0).mean()),
                "fullest": float(np.max(kept.pulls / kept.pull_caps)),
            }
        )
    return pd.DataFrame(rows)


def power(frame: pd.DataFrame, column: str = "mean") -> float:
    """The least-squares slope of log(column) against log(value)."""
    x, y = np.log(frame["value"].to_numpy(float)), np.log(frame[column].to_numpy(float))
    return float(np.polyfit(x, y, 1)[0])


PROOF_CHECKS = (
    "sum-warm", "sum-after", "pulls-theorem", "sum-charge",
    "sum-root", "sum-floor", "sum-explore", "regret",
)  # fmt: skip
"""The audit's checks that make up the proof of Theorem 4, in its order."""


def proof_table(report: AuditReport) -> pd.DataFrame:
    """What an audit says about the inequalities of Theorem 4's proof, with headings for a page."""
    import pandas as pd

    lines = report.table().set_index("check").loc[list(PROOF_CHECKS)]
    return pd.DataFrame(
        {
            "Inequality (c = 2, g stands for g†)": lines["claim"].str.replace("<=", "≤"),
            "Checked": lines["checked"],
            "Least slack": lines["slack_min"],
            "Holds": np.where(lines["violations"] == 0, "yes", "no"),
        }
    )


def phases(horizon: int = 6_000) -> Figure:
    """What one run of the one-leader family with five arms has paid, round by round."""
    instance = one_leader(5, 2, 0.4)
    record = trace(instance, WidthGuided(), horizon, seed=1)
    paid = np.cumsum(instance.geometry.gaps[record.arms])
    end = len(paid)
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.4, 3.1))
        axes.axvspan(0, end, color=ORANGE, alpha=0.13, lw=0)
        axes.axvspan(end, horizon, color=GREEN, alpha=0.13, lw=0)
        axes.plot(np.arange(1, end + 1), paid, color=BLUE)
        axes.plot([end, horizon], [paid[-1], paid[-1]], color=BLUE)
        axes.plot(end, paid[-1], marker="*", ms=15, color=INK)
        height = paid[-1]
        axes.text(end / 2, 1.12 * height, "races", ha="center")
        axes.text((end + horizon) / 2, 1.12 * height, "the certified arm, free", ha="center")
        axes.annotate(
            "warm start", (instance.K, paid[instance.K - 1]), xytext=(34, 10),
            textcoords="offset points", arrowprops={"arrowstyle": "->", "color": MUTED},
        )  # fmt: skip
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set(xlim=(0, horizon), ylim=(0, 1.25 * height), xlabel="round", ylabel="Pareto regret")
    return fig


def waterfall(charts: dict[str, pd.DataFrame]) -> Figure:
    """The stages of :meth:`Account.steps` as points, for one or two instances."""
    styles = [(BLUE, "o"), (ORANGE, "s")]
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 4.6))
        for number, ((name, frame), (colour, marker)) in enumerate(zip(charts.items(), styles)):
            y = np.arange(len(frame)) + (number - (len(charts) - 1) / 2) * 0.4
            errors = np.array([frame["value"] - frame["low"], frame["high"] - frame["value"]])
            errors[errors == 0] = np.nan  # not random
            axes.errorbar(
                frame["value"], y, xerr=errors, color=colour, marker=marker, ms=7, ls="none",
                capsize=2, label=name,
            )  # fmt: skip
            for place, value, factor in zip(y, frame["value"], frame["factor"]):
                text = f"{value:,.0f}" + (f" (×{factor:.2f})" if np.isfinite(factor) else "")
                axes.annotate(
                    text, (value, place), xytext=(7, 0), textcoords="offset points", va="center"
                )
        first = next(iter(charts.values()))
        axes.set_yticks(range(len(first)), [_wrapped(stage) for stage in first["stage"]])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        least = min(float(frame["value"].min()) for frame in charts.values())
        most = max(float(frame["value"].max()) for frame in charts.values())
        axes.set(
            xscale="log", xlabel="Pareto regret, or what bounds it", xlim=(least / 2, most * 16)
        )
        legend_above(axes, 2)
    return fig


def _wrapped(text: str, width: int = 18) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width))


def scaling_grid(charts: dict[str, pd.DataFrame]) -> Figure:
    """Measured regret and bounds against one number each: panels in two columns.

    A frame is that of :func:`scaling`; its key is the label of the horizontal axis.
    """
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        rows = (len(charts) + 1) // 2
        fig = Figure(figsize=(5.6, 2.7 * rows), layout="constrained")
        for number, (label, frame) in enumerate(charts.items()):
            axes = fig.add_subplot(rows, 2, number + 1)
            x = frame["value"]
            axes.plot(x, frame["theorem"], color=ORANGE, ls="--", label="Theorem 4")
            axes.plot(x, frame["sharper"], color=GREEN, ls="-.", label="sharper bound")
            _trivial(axes, x, frame)
            _measured(axes, x, frame)
            axes.set(xscale="log", yscale="log", xlabel=label)
            axes.set_ylabel("Pareto regret" if number % 2 == 0 else "")
            low, high = float(frame["low"].min()), float(frame["theorem"].max())
            axes.set_ylim(low / 2, high * 2)
            if float(x.max()) < 1000:
                plain_log(axes, "x")
            plain_log(axes, "y")
            axes.minorticks_off()
        handles, labels = fig.axes[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside upper left", ncols=2)
    return fig


def _trivial(axes: Axes, x: pd.Series[Any], frame: pd.DataFrame) -> None:
    """What no policy can exceed: T times the largest gap, where a bound is vacuous."""
    axes.plot(x, frame["trivial"], color=MUTED, lw=1.3, label="trivial, T times largest gap")


def _measured(axes: Axes, x: pd.Series[Any], frame: pd.DataFrame) -> None:
    """The measured means with their intervals: columns mean, low, high."""
    errors = [frame["mean"] - frame["low"], frame["high"] - frame["mean"]]
    axes.errorbar(
        x, frame["mean"], errors, color=BLUE, marker="o", ms=5, capsize=3, label="measured"
    )


def crowd_bounds(frame: pd.DataFrame) -> Figure:
    """Regret and both bounds against the crowd size, on a logarithmic axis."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.4, 3.9))
        x = frame["value"]
        axes.plot(x, frame["theorem"], color=ORANGE, ls="--", label="Theorem 4")
        axes.plot(x, frame["sharper"], color=GREEN, ls="-.", label="sharper bound")
        _trivial(axes, x, frame)
        _measured(axes, x, frame)
        axes.set(yscale="log", xlabel="size m of the crowd", ylabel="Pareto regret")
        axes.set_ylim(float(frame["low"].min()) / 2, float(frame["trivial"].max()) * 2)
        axes.set_xticks(list(x))
        plain_log(axes, "y")
        legend_above(axes, 2)
    return fig


def tied_regret(frame: pd.DataFrame) -> Figure:
    """Regret where g = 0 against the horizon: value, mean, low, high, sharper, tied, trivial."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.4, 3.8))
        x = frame["value"]
        axes.plot(x, frame["sharper"], color=GREEN, ls="-.", label="sharper bound")
        axes.plot(x, frame["tied"], color=PINK, ls="--", label="with ties, 2 radii")
        _trivial(axes, x, frame)
        _measured(axes, x, frame)
        axes.set(xscale="log", yscale="log", xlabel="horizon T", ylabel="Pareto regret")
        plain_log(axes, "y")
        legend_above(axes, 2)
    return fig


def wrong_costs(gap: float, cs: list[float], horizons: list[int]) -> pd.DataFrame:
    """The expected cost T * gap * Pr(wrong certificate) of two Bernoulli arms, exactly.

    The means are 1/2 + gap and 1/2; the columns are c, T, wrong and cost.
    """
    import pandas as pd

    rows = []
    for c in cs:
        for T in horizons:
            wrong = two_arms.paired_race(0.5 + gap, 0.5, T, c).wrong
            rows.append({"c": c, "T": T, "wrong": wrong, "cost": gap * T * wrong})
    return pd.DataFrame(rows)


def measured_slopes(costs: pd.DataFrame) -> dict[float, float]:
    """The power of T with which the cost changes between the last two horizons, for every c."""
    slopes = {}
    for c, rows in costs.groupby("c", sort=False):
        (T, U), (x, y) = rows["T"].iloc[-2:], rows["cost"].iloc[-2:]
        slopes[float(str(c))] = math.log(y / x) / math.log(U / T)
    return slopes


def wrong_cost_figure(costs: pd.DataFrame, kappa: float) -> Figure:
    """The cost of wrong certificates against T, with the slopes 1 - c kappa of the theorem."""
    colours, markers = (GREEN, BLUE, ORANGE, PINK), ("o", "s", "^", "D")
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.4, 4.0))
        for i, (c, rows) in enumerate(costs.groupby("c", sort=False)):
            T, cost = rows["T"].to_numpy(dtype=float), rows["cost"].to_numpy(dtype=float)
            slope = 1.0 - float(str(c)) * kappa
            axes.plot(T, cost[-1] * (T / T[-1]) ** slope, color=colours[i], lw=0.8, ls="--")
            label = f"c = {Fraction(float(str(c))).limit_denominator(1000)}"
            axes.plot(T, cost, color=colours[i], marker=markers[i], ms=5, ls="", label=label)
        axes.set(
            xscale="log", yscale="log", xlabel="horizon T", ylabel="cost of wrong certificates"
        )
        legend_above(axes, 4)
    return fig
