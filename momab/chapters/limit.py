"""The chapter *A policy at the limit*: Pareto IMED, what it pays, and where it is bad.

It recomputes the indices of a run, plays policies against the price, evaluates the bounds of the
proofs, makes the instances that hurt, and draws the recorded comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray, IntArray
from momab.chapters.figures.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    LINES,
    ORANGE,
    STYLE,
    axes_grid,
    legend_above,
    new_axes,
    palette,
    plain_log,
    policy_style,
)
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.streams import Coins, RewardStream, reward_arrays
from momab.engine.tools import choose_top
from momab.model import imed, pareto, theory
from momab.model.instances import Instance
from momab.model.metrics import weighted_pulls
from momab.model.statistics import bootstrap_interval, mean_interval
from momab.study.standings import SOURCES, most_runs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# ---- one run -------------------------------------------------------------------------------


@dataclass(frozen=True)
class IndexRun:
    """The indices of one run of Pareto IMED at some rounds.

    ``rounds`` (n,) are numbers of pulls, ``index`` (n, K) the indices of all arms before the next
    one, ``candidate`` (n,) the candidate, ``gaps`` (K,) the true Pareto gaps.
    """

    rounds: IntArray
    index: FloatArray
    candidate: IntArray
    gaps: FloatArray


def index_run(
    instance: Instance, policy: Policy, kind: str, horizon: int, seed: int, points: int = 300
) -> IndexRun:
    """Play one run and recompute the indices at rounds that are even on a logarithmic axis.

    ``kind`` is the evidence that the policy uses, "sum" or "max".
    """
    K, d = instance.means.shape
    block = play_block(instance, policy, horizon, seed, 0, 1, arms=True)
    arms = cast(IntArray, block.arms)[0]
    stream = RewardStream(reward_arrays(instance.source), seed, 0)
    counts = (arms[:, None] == np.arange(K)).cumsum(axis=0)
    rewards = np.empty((horizon, d))
    for t, arm in enumerate(arms.tolist()):
        rewards[t] = stream.pull(arm, int(counts[t, arm]) - 1)
    rounds = np.unique(np.geomspace(K, horizon - 1, points).astype(np.int64))
    sums = np.stack([(rewards * (arms == a)[:, None]).cumsum(axis=0)[rounds - 1] for a in range(K)])
    pulls = counts[rounds - 1]
    means = sums.transpose(1, 0, 2) / pulls[:, :, None]
    cost = theory.price(means, kind)
    at = cost.arm[:, None, None]
    D = np.take_along_axis(theory.evidence(means, kind), at, axis=2)[:, :, 0]
    return IndexRun(rounds, pulls * D + np.log(pulls), cost.arm, pareto.gaps(instance.means))


def last_change(run: IndexRun) -> int:
    """The first of the rounds from which on the candidate is the last one."""
    other = np.flatnonzero(run.candidate != run.candidate[-1])
    return int(run.rounds[other[-1] + 1] if len(other) else run.rounds[0])


def index_picture(run: IndexRun) -> Figure:
    """The indices of all arms over time: the candidate's, those of free arms and of paid ones."""
    from matplotlib.ticker import LogLocator

    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 3.9))
        last = int(run.candidate[-1])
        kinds = [
            ("paid arms", run.gaps > 0, ORANGE, 0.9),
            ("free arms", run.gaps == 0, BLUE, 1.4),
        ]
        for label, chosen, colour, width in kinds:
            chosen = chosen & (np.arange(len(chosen)) != last)
            if chosen.any():
                lines = axes.plot(
                    run.rounds, run.index[:, chosen], color=colour, lw=width, alpha=0.8
                )
                lines[0].set_label(label)
        axes.plot(
            run.rounds,
            run.index[:, last],
            color=INK,
            lw=2.4,
            label=f"the last candidate, arm {last + 1}",
        )
        axes.set(
            xscale="log", xlabel="round", ylabel="index", ylim=(0, 2.4 * np.log(run.rounds[-1]))
        )
        plain_log(axes, "x")
        axes.xaxis.set_major_locator(LogLocator())  # powers of ten: the picture spans several
        legend_above(axes, 2)
    return fig


# ---- measured ------------------------------------------------------------------------------


def over_time(
    instance: Instance,
    policies: Mapping[str, Policy],
    horizon: int,
    runs: int,
    seed: int,
    points: int = 25,
) -> pd.DataFrame:
    """Mean regret with 95 % intervals along the runs; columns policy, t, mean, low, high."""
    import pandas as pd

    rounds = np.unique(np.geomspace(10 * instance.K, horizon, points).astype(np.int64))
    gaps, rows = instance.geometry.gaps, []
    for label, policy in policies.items():
        block = play_block(instance, policy, horizon, seed, 0, runs, checkpoints=rounds)
        regret = block.checkpoint_pulls @ gaps
        for t, values in zip(rounds.tolist(), regret.T):
            mean, low, high = mean_interval(values)
            rows.append({"policy": label, "t": t, "mean": mean, "low": low, "high": high})
    return pd.DataFrame(rows)


Problem = tuple[Instance, Mapping[str, Policy], int, int]
"""An instance, the policies that play it by label, a horizon and a number of runs."""


def regrets(problems: Mapping[str, Problem], seed: int) -> pd.DataFrame:
    """The regret of every run; columns problem, policy, horizon, regret."""
    import pandas as pd

    parts = []
    for name, (instance, policies, horizon, runs) in problems.items():
        for label, policy in policies.items():
            block = play_block(instance, policy, horizon, seed, 0, runs)
            values = weighted_pulls(block.pulls, instance.geometry.gaps)
            parts.append(
                pd.DataFrame(
                    {"problem": name, "policy": label, "horizon": horizon, "regret": values}
                )
            )
    return pd.concat(parts, ignore_index=True)


def run_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean with its bootstrap interval, median and worst run, by problem and policy."""
    import pandas as pd

    rows = []
    for (problem, policy), part in frame.groupby(["problem", "policy"], sort=False):
        low, high = bootstrap_interval(part["regret"].to_numpy())
        rows.append(
            {
                "problem": problem,
                "policy": policy,
                "mean": float(part["regret"].mean()),
                "low": low,
                "high": high,
                "median": float(part["regret"].median()),
                "worst": float(part["regret"].max()),
            }
        )
    return pd.DataFrame(rows).set_index(["problem", "policy"])


def drawn_duels(
    problems: Iterable[tuple[str, Instance]],
    ours: Policy,
    theirs: Policy,
    horizon: int,
    runs: int,
    seed: int,
) -> pd.DataFrame:
    """Two policies on instances of several kinds; one row per kind.

    ``ratio`` is the median of our mean over C(mu) log T where that is positive, with the evidence
    "sum", so that C(mu) is the price for independent coins; below, level and
    above count the instances by whether the 95 % intervals of the two means are apart.
    """
    import pandas as pd

    rows: dict[str, dict[str, Any]] = {}
    for kind, instance in problems:
        row = rows.setdefault(
            kind, {"kind": kind, "ratios": [], "below": 0, "level": 0, "above": 0}
        )
        gaps = instance.geometry.gaps
        both = [
            mean_interval(
                weighted_pulls(play_block(instance, policy, horizon, seed, 0, runs).pulls, gaps)
            )
            for policy in (ours, theirs)
        ]
        (mean, low, high), (_, least, most) = both
        row["below" if high < least else "above" if low > most else "level"] += 1
        cost = float(theory.price(instance.means).value) * np.log(horizon)
        if cost > 0:
            row["ratios"].append(mean / cost)
    frame = pd.DataFrame(rows.values())
    frame["ratio"] = [float(np.median(found)) if found else np.nan for found in frame["ratios"]]
    return frame.drop(columns="ratios")


def printed_duels(frame: pd.DataFrame) -> pd.DataFrame:
    """:func:`drawn_duels` as the page prints it."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Means": frame["kind"],
            "Median ratio to C log T": [
                f"{ratio:.2f}" if np.isfinite(ratio) else "all prices are 0"
                for ratio in frame["ratio"]
            ],
            "Below Width-guided": frame["below"],
            "No clear difference": frame["level"],
            "Above": frame["above"],
        }
    )


Marks = Mapping[tuple[str, str], Mapping[str, float]]
"""Named places on the axis of regret, by problem and policy."""


def price_marks(problems: Mapping[str, Problem]) -> dict[tuple[str, str], dict[str, float]]:
    """C(mu) log T and, where it is larger, U(mu) log T, by problem and policy.

    Both are taken with the evidence of the policy; a policy that uses none has no constants.
    """
    marks: dict[tuple[str, str], dict[str, float]] = {}
    for name, (instance, policies, horizon, _) in problems.items():
        for label, policy in policies.items():
            own = marks[name, label] = {}
            if isinstance(policy, ParetoIMED):
                least = float(theory.price(instance.means, policy.evidence).value)
                most = imed.worst_price(instance.means, policy.evidence)
                own["C(μ) log T"] = least * float(np.log(horizon))
                if most > least * (1 + 1e-9):
                    own["U(μ) log T"] = most * float(np.log(horizon))
    return marks


def printed_runs(parts: Sequence[pd.DataFrame], marks: Marks) -> pd.DataFrame:
    """Summaries of :func:`run_summary` as the page prints them, with :func:`price_marks`."""
    import pandas as pd

    rows = []
    for row in pd.concat(parts).reset_index().to_dict("records"):
        problem, policy = row["problem"], row["policy"]
        lines = marks[problem, policy]
        rows.append(
            {
                "Instance": problem,
                "Policy": policy,
                "Mean (95 %)": f"{row['mean']:,.2f} ({row['low']:,.2f} to {row['high']:,.2f})",
                "Median": f"{row['median']:,.2f}",
                "Worst run": f"{row['worst']:,.1f}",
                **{
                    name: f"{lines[name]:.3g}" if name in lines else ""
                    for name in ("C(μ) log T", "U(μ) log T")
                },
            }
        )
    return pd.DataFrame(rows)


# ---- another price -------------------------------------------------------------------------


class CautiousIMED(Policy):
    """Pareto IMED whose price counts gaps that may not have shown yet; evidence `max`."""

    name: ClassVar[str] = "cautious-imed"
    label: ClassVar[str] = "Pareto IMED, cautious"
    compiled: ClassVar[bool] = False

    def select(self, t: int, coin: Coins) -> int:
        """Price arm a by the sum over b of max(gap_b, 1/sqrt(N_b)) / D_b(a)."""
        D, gaps = theory.evidence(self.means, "max"), pareto.gaps(self.means)
        cost = np.maximum(gaps, 1 / np.sqrt(self.counts))[:, None] / np.maximum(D, 1e-9)
        np.fill_diagonal(cost, 0.0)
        prices = np.where(gaps > 0, np.inf, cost.sum(axis=0))
        candidate = choose_top(-prices, 0, coin)
        index = self.counts * D[:, candidate] + np.log(self.counts)
        return choose_top(-index, 1, coin)


# ---- figures -------------------------------------------------------------------------------


def _styles(labels: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of every policy: its own if it has one, else a colour that is left."""
    names = list(labels)
    styles = {name: policy_style(name) for name in names if name in palette}
    taken = {colour for colour, _ in styles.values()}
    left = [colour for colour in LINES if colour not in taken] + list(LINES)
    others = [name for name in names if name not in styles]
    return styles | {name: (left[n % len(left)], "^") for n, name in enumerate(others)}


def over_time_picture(frame: pd.DataFrame, limits: Mapping[str, FloatArray]) -> Figure:
    """Mean regret over time with its intervals, and computed curves at the same rounds."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.6, 4.4))
        styles = _styles(frame["policy"].unique())
        rounds = np.sort(frame["t"].unique())
        for label, part in frame.groupby("policy", sort=False):
            colour, marker = styles[str(label)]
            axes.fill_between(part["t"], part["low"], part["high"], color=colour, alpha=0.2, lw=0)
            axes.plot(
                part["t"], part["mean"], color=colour, marker=marker, ms=4, markevery=4, label=label
            )
        for (label, values), dashes in zip(limits.items(), ("--", ":", "-.")):
            axes.plot(rounds, values, color=INK, ls=dashes, lw=1.6, label=label)
        axes.set(xscale="log", yscale="log", xlabel="rounds", ylabel="Pareto regret")
        plain_log(axes, "x")
        plain_log(axes, "y")
        axes.tick_params(axis="x", labelrotation=30)
        legend_above(axes, 2)
    return fig


def strips(frame: pd.DataFrame, marks: Marks) -> Figure:
    """Every run as a dot, a strip per policy and a panel per problem; diamonds are means.

    ``marks`` names vertical lines, each as high as the strip of its policy.
    """
    names = list(dict.fromkeys(frame["problem"]))
    with mpl.rc_context(STYLE):
        fig, panels = axes_grid(len(names), 1, (5.6, 2.1 * len(names)))
        styles = _styles(dict.fromkeys(frame["policy"]))
        for axes, name in zip(panels, names):
            own = {policy: lines for (problem, policy), lines in marks.items() if problem == name}
            _strip(axes, frame[frame["problem"] == name], own, styles)
            axes.set_title(name)
        panels[-1].set_xlabel("Pareto regret of a run")
    return fig


def _strip(
    axes: Axes,
    frame: pd.DataFrame,
    marks: Mapping[str, Mapping[str, float]],
    styles: Mapping[str, tuple[str, str]],
) -> None:
    labels = list(dict.fromkeys(frame["policy"]))
    noise = np.random.default_rng(0)
    values = frame["regret"].to_numpy()
    floor = max(1e-3, float(values[values > 0].min(initial=1.0)) / 2)
    for row, label in enumerate(labels):
        values = frame["regret"][frame["policy"] == label].to_numpy()
        height = row + noise.uniform(-0.25, 0.25, len(values))
        colour = styles[label][0]
        axes.scatter(np.maximum(values, floor), height, s=7, color=colour, alpha=0.45, lw=0)
        axes.scatter(values.mean(), row, s=46, marker="D", color=colour, ec=INK, zorder=3)
    named = dict.fromkeys(name for lines in marks.values() for name in lines)
    for name, dashes in zip(named, ("--", ":")):
        rows = [row for row, label in enumerate(labels) if name in marks.get(label, {})]
        for row in rows:
            place = [marks[labels[row]][name]] * 2
            (line,) = axes.plot(place, (row - 0.42, row + 0.42), color=INK, ls=dashes, lw=1.5)
            if row == rows[0]:
                line.set_label(name)
    axes.set(xscale="log", yticks=range(len(labels)), yticklabels=labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.yaxis.grid(visible=False)
    plain_log(axes, "x")
    if named:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.1)


# ---- the recorded comparison ---------------------------------------------------------------


def recorded_places(frame: pd.DataFrame, horizon: int) -> dict[str, Any]:
    """How many instances were played at a horizon, in all and by source, and in how many runs."""
    lines = most_runs(frame, horizon)
    found = lines.drop_duplicates(["dataset", "group", "instance"])["dataset"]
    made = int((found == "synthetic").sum())
    low, high = int(lines["runs"].min()), int(lines["runs"].max())
    runs = f"{low:,} runs each" if low == high else f"{low:,} to {high:,} runs, as the column says"
    return {"all": len(found), "synthetic": made, "real": len(found) - made, "runs": runs}


SOURCE_COLOURS = {"synthetic": INK, "kuairec": BLUE, "spotify": ORANGE}
"""The colours of the sources of instances."""


def ratio_picture(frame: pd.DataFrame, horizon: int) -> Figure:
    """Mean regret over C log T with its interval, a row per policy and a point per instance."""
    lines = most_runs(frame, horizon)
    lines = lines[lines["ratio"] > 0]
    labels = list(dict.fromkeys(lines["policy"]))
    place = lines.groupby(["dataset", "group", "instance"], sort=False).ngroup()
    row = lines["policy"].map({label: number for number, label in enumerate(labels)})
    height = row + 0.72 * ((place + 0.5) / (place.max() + 1) - 0.5)
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.8, 1.6 + 0.34 * len(labels)))
        for stripe in range(0, len(labels), 2):
            axes.axhspan(stripe - 0.5, stripe + 0.5, color=FAINT, alpha=0.25, lw=0)
        for dataset, colour in SOURCE_COLOURS.items():
            part = lines[lines["dataset"] == dataset]
            if len(part):
                unit = part["ratio"] / part["mean"]
                at = height[part.index]
                low = np.maximum(part["low"] * unit, 1e-3)
                axes.hlines(at, low, part["high"] * unit, color=colour, lw=1)
                axes.scatter(part["ratio"], at, s=8, color=colour, label=SOURCES[dataset], zorder=3)
        axes.axvline(1, color=GREEN, lw=1.8, label="the price C(μ) log T")
        axes.set(xscale="log", yticks=range(len(labels)), yticklabels=labels)
        axes.set(xlabel="mean regret / (C(μ) log T)", ylim=(len(labels) - 0.5, -0.5))
        axes.yaxis.grid(visible=False)
        fig.legend(loc="outside upper left", ncols=2)
    return fig
