"""The chapter *A policy at the limit*: Pareto IMED, what it pays, and where it is bad.

It recomputes the indices of a run, plays policies against the price, evaluates the bounds of the
proofs, makes the instances that hurt, and draws the recorded comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray, IntArray
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.engine.streams import RewardStream, reward_arrays
from momab.figures.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    LINES,
    MUTED,
    ORANGE,
    POLICY_STYLE,
    STYLE,
    axes_grid,
    legend_above,
    new_axes,
    plain_log,
)
from momab.model import pareto, theory
from momab.model.instances import Instance, bernoulli, duplicated_coordinates
from momab.model.metrics import weighted_pulls
from momab.model.statistics import mean_interval

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


def index_picture(run: IndexRun) -> Figure:
    """The indices of all arms over time: the candidate's, those of free arms and of paid ones."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(7.4, 4.2))
        last = int(run.candidate[-1])
        kinds = [
            ("paid arms", run.gaps > 0, BLUE, 0.9),
            ("free arms", run.gaps == 0, ORANGE, 1.4),
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
        axes.set(xscale="log", xlabel="round", ylabel="index", ylim=(0, 3 * np.log(run.rounds[-1])))
        plain_log(axes, "x")
        legend_above(axes, 3)
    return fig


# ---- what the theorems say -----------------------------------------------------------------


def worst_price(means: Any, kind: str = "sum") -> float:
    r"""The constant of the theorem without hypotheses, :math:`\sum_b\Delta_b/\min_{a\in F}D_b(a)`."""
    gaps = pareto.gaps(means)
    D = theory.evidence(means, kind)[gaps > 0][:, gaps == 0]
    return float((gaps[gaps > 0] / D.min(axis=1)).sum())


def is_settled(means: Any, kind: str = "sum") -> bool:
    """Whether an instance is settled: means below 1, no ties of free arms, one cheapest candidate.

    Two prices that differ by less than a relative 1e-12 count as equal.
    """
    mu = np.asarray(means, dtype=np.float64)
    free = pareto.gaps(mu) == 0
    same = (mu[:, None, :] == mu[None, :, :]).any(axis=2) & ~np.eye(len(mu), dtype=np.bool_)
    prices = np.sort(theory.price(mu, kind).per_arm[free])
    alone = len(prices) == 1 or prices[1] > prices[0] * (1 + 1e-12)
    return bool((mu < 1).all() and not same[free].any() and alone)


def balanced_regret(means: Any, horizon: Any, kind: str = "sum") -> FloatArray:
    r"""The regret at which all indices balance: :math:`\sum_b\Delta_bn_b` with n D + log n = log T.

    :math:`n_b=W(D_b(a)T)/D_b(a)` for the cheapest candidate a and Lambert's function W.  It is
    below :math:`C(\mu)\log T` because of log n, and the quotient of the two tends to 1.
    """
    from scipy.special import lambertw

    gaps = pareto.gaps(means)
    T = np.asarray(horizon, dtype=np.float64)[..., None]
    D = theory.evidence(means, kind)[gaps > 0, int(theory.price(means, kind).arm)]
    pulls = lambertw(D * T).real / D
    balanced: FloatArray = (gaps[gaps > 0] * pulls).sum(axis=-1)
    return balanced


def late_bound(n: int, p: float, q: float) -> float:
    """The lemma's bound on E[exp(n kl(m, q)); m <= q] for a mean m of n rewards of mean p > q."""
    return (1 - n * np.log1p(-q)) * float(np.exp(-n * theory.bernoulli_kl(q, p)))


def late_coins(n: int, p: float, q: float) -> float:
    """E[exp(n kl(m, q)); m <= q] for the mean m of n coins with mean p, by summation."""
    from scipy.stats import binom

    hits = np.arange(int(np.floor(n * q + 1e-9)) + 1)
    kl = np.array([theory.bernoulli_kl(h / n, q) for h in hits])
    return float(np.exp(binom.logpmf(hits, n, p) + n * kl).sum())


def copied_exponent(theta: Iterable[float], d: int) -> float:
    r"""The power of T below which `sum` does not stay on one coin copied to d objectives.

    :math:`1-\log(1-\theta_{(1)})/(d\log(1-\theta_{(2)}))` for the two largest means; it says
    something where it is positive.
    """
    first, second = sorted(theta, reverse=True)[:2]
    return float(1 - np.log1p(-first) / (d * np.log1p(-second)))


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


def regrets(
    problems: Mapping[str, tuple[Instance, Mapping[str, Policy], int, int]], seed: int
) -> pd.DataFrame:
    """The regret of every run; columns problem, policy, horizon, regret.

    A problem is an instance, its policies by label, a horizon and a number of runs.
    """
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
    """Mean with its interval, median and worst run of :func:`regrets`, by problem and policy."""
    import pandas as pd

    rows = []
    for (problem, policy), part in frame.groupby(["problem", "policy"], sort=False):
        mean, low, high = mean_interval(part["regret"])
        rows.append(
            {
                "problem": problem,
                "policy": policy,
                "mean": mean,
                "low": low,
                "high": high,
                "median": float(part["regret"].median()),
                "worst": float(part["regret"].max()),
            }
        )
    return pd.DataFrame(rows).set_index(["problem", "policy"])


# ---- instances that hurt -------------------------------------------------------------------


def one_coin(theta: Iterable[float] = (0.7, 0.5, 0.5, 0.5, 0.5), d: int = 5) -> Instance:
    """One Bernoulli coin per arm, copied to d objectives: `sum` counts it d times."""
    return duplicated_coordinates(list(theta), d, name="one coin, copied")


def unseen_gap(gap: float = 0.005, d: int = 5) -> Instance:
    """Build three arms: a specialist, its opposite, and the opposite lowered everywhere by a gap.

    While the last two cannot be told apart, nobody seems dominated.
    """
    low, high = 0.1, 0.9
    first = [high] + [low] * (d - 1)
    second = [low] + [high] * (d - 1)
    return bernoulli([first, second, [x - gap for x in second]], name="a gap that hides")


def mirrored(step: float = 0.1) -> Instance:
    """Build four arms in two mirrored pairs: both free arms have the same price."""
    pair = [[0.8, 0.3], [0.8 - step, 0.3 - step]]
    return bernoulli([*pair, *[arm[::-1] for arm in pair]], name="mirrored")


# ---- figures -------------------------------------------------------------------------------


def _styles(labels: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of every policy: its own if it has one, else a pair that is left."""
    styles: dict[str, tuple[str, str]] = {}
    pairs = ((colour, marker) for marker in "^vPXDhp<>8" for colour in LINES[:6])
    for label in labels:
        base, _, variant = label.partition(" (")
        if not variant and base in POLICY_STYLE:
            styles[label] = POLICY_STYLE[base]
        else:
            taken = {*POLICY_STYLE.values(), *styles.values()}
            styles[label] = next(pair for pair in pairs if pair not in taken)
    return styles


def over_time_picture(frame: pd.DataFrame, limits: Mapping[str, FloatArray]) -> Figure:
    """Mean regret over time with its intervals, and computed curves at the same rounds."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(7.4, 4.4))
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
        legend_above(axes, 3)
    return fig


def strips(frame: pd.DataFrame, marks: Mapping[str, Mapping[str, float]]) -> Figure:
    """Every run as a dot, a strip per policy and a panel per problem; diamonds are means.

    ``marks`` names vertical lines for each problem.
    """
    names = list(dict.fromkeys(frame["problem"]))
    with mpl.rc_context(STYLE):
        fig, panels = axes_grid(len(names), 1, (7.4, 2.1 * len(names)))
        for axes, name in zip(panels, names):
            _strip(axes, frame[frame["problem"] == name], marks.get(name, {}))
            axes.set_title(name)
        panels[-1].set_xlabel("Pareto regret of a run")
    return fig


def _strip(axes: Axes, frame: pd.DataFrame, marks: Mapping[str, float]) -> None:
    labels = list(dict.fromkeys(frame["policy"]))
    styles = _styles(labels)
    noise = np.random.default_rng(0)
    floor = max(1e-3, float(frame["regret"][frame["regret"] > 0].min(initial=1.0)) / 2)
    for row, label in enumerate(labels):
        values = frame["regret"][frame["policy"] == label].to_numpy()
        height = row + noise.uniform(-0.25, 0.25, len(values))
        colour = styles[label][0]
        axes.scatter(np.maximum(values, floor), height, s=7, color=colour, alpha=0.45, lw=0)
        axes.scatter(values.mean(), row, s=46, marker="D", color=colour, ec=INK, zorder=3)
    for (label, place), dashes in zip(marks.items(), ("--", ":")):
        axes.axvline(place, color=INK, ls=dashes, lw=1.3, label=label)
    axes.set(xscale="log", yticks=range(len(labels)), yticklabels=labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.yaxis.grid(visible=False)
    if marks:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.1)


# ---- the recorded comparison ---------------------------------------------------------------

DATASET_STYLE = {
    "synthetic": ("Synthetic", INK),
    "kuairec": ("KuaiRec", BLUE),
    "spotify": ("Spotify", ORANGE),
}
"""How the sources of instances are called and coloured."""


def most_runs(frame: pd.DataFrame, horizon: int) -> pd.DataFrame:
    """The recorded lines at a horizon; where a policy was played twice, those with more runs."""
    lines = frame[frame["horizon"] == horizon].sort_values("runs", kind="stable", ascending=False)
    return lines.drop_duplicates(["dataset", "group", "instance", "policy"]).sort_index()


def standings(frame: pd.DataFrame, horizon: int) -> pd.DataFrame:
    """Every policy over all instances at a horizon, in the order of the file.

    ``best`` counts the instances on which its 95 % interval lies below everybody else's,
    ``shared`` those on which its interval is not the lowest alone, but meets the lowest one;
    ``median``, ``least`` and ``most`` are of its ratio to the price, ``tail`` is the largest
    quotient of a worst run and the price.
    """
    import pandas as pd

    lines = most_runs(frame, horizon)
    place = ["dataset", "group", "instance"]
    best: dict[str, int] = {}
    shared: dict[str, int] = {}
    for _, part in lines.groupby(place, sort=False):
        lowest = part["high"].min()
        leaders = part["policy"][part["low"] <= lowest]
        count = best if len(leaders) == 1 else shared
        for name in leaders:
            count[name] = count.get(name, 0) + 1
    tail = lines["worst"] / lines["mean"] * lines["ratio"]
    rows = [
        {
            "policy": name,
            "instances": len(part),
            "best": best.get(str(name), 0),
            "shared": shared.get(str(name), 0),
            "median": part["ratio"].median(),
            "least": part["ratio"].min(),
            "most": part["ratio"].max(),
            "tail": tail[part.index].max(),
        }
        for name, part in lines.groupby("policy", sort=False)
    ]
    return pd.DataFrame(rows)


def printed_standings(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`standings` as the page prints it."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Policy": table["policy"],
            "Instances": table["instances"],
            "Lowest alone": table["best"],
            "Among the lowest": table["shared"],
            "Median ratio": table["median"].map("{:,.2f}".format),
            "Least to most": [
                f"{low:,.2f} to {high:,.2f}" for low, high in zip(table["least"], table["most"])
            ],
            "Worst run": table["tail"].map("{:,.1f}".format),
        }
    )


def printed_lines(frame: pd.DataFrame, horizon: int) -> pd.DataFrame:
    """All recorded lines at a horizon as the page prints them."""
    import pandas as pd

    lines = frame[frame["horizon"] == horizon]
    names = [DATASET_STYLE[name][0] for name in lines["dataset"]]
    return pd.DataFrame(
        {
            "Instance": [f"{a} {b}" for a, b in zip(names, lines["instance"])],
            "Policy": lines["policy"],
            "Runs": lines["runs"],
            "Mean (95 %)": [
                f"{mean:,.2f} ({low:,.2f} to {high:,.2f})"
                for mean, low, high in zip(lines["mean"], lines["low"], lines["high"])
            ],
            **{
                heading: lines[name].map("{:,.2f}".format)
                for heading, name in {
                    "Median": "median",
                    "99.9 %": "q999",
                    "Worst": "worst",
                }.items()
            },
            "Errors (95 %)": [
                f"{rate:.2%} ({low:.2%} to {high:.2%})"
                for rate, low, high in zip(lines["errors"], lines["error_low"], lines["error_high"])
            ],
            "Ratio": lines["ratio"].map("{:,.2f}".format),
        }
    )


def ratio_picture(frame: pd.DataFrame, horizon: int) -> Figure:
    """Mean regret over C log T with its interval, a row per policy and a point per instance."""
    lines = most_runs(frame, horizon)
    lines = lines[lines["ratio"] > 0]
    labels = list(dict.fromkeys(lines["policy"]))
    places = list(dict.fromkeys(zip(lines["dataset"], lines["instance"])))
    shift = dict(zip(places, np.linspace(-0.36, 0.36, len(places)) if len(places) > 1 else [0.0]))
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(7.4, 1.4 + 0.34 * len(labels)))
        for row in range(0, len(labels), 2):
            axes.axhspan(row - 0.5, row + 0.5, color=FAINT, alpha=0.25, lw=0)
        for dataset, (name, colour) in DATASET_STYLE.items():
            part = lines[lines["dataset"] == dataset]
            if len(part):
                unit = part["ratio"] / part["mean"]
                at = [
                    labels.index(policy) + shift[dataset, instance]
                    for policy, instance in zip(part["policy"], part["instance"])
                ]
                low = np.maximum(part["low"] * unit, 1e-3)
                axes.hlines(at, low, part["high"] * unit, color=colour, lw=1)
                axes.scatter(part["ratio"], at, s=8, color=colour, label=name, zorder=3)
        axes.axvline(1, color=GREEN, lw=1.8, label="the price C(μ) log T")
        axes.set(xscale="log", yticks=range(len(labels)), yticklabels=labels)
        axes.set(xlabel="mean regret / (C(μ) log T)", ylim=(len(labels) - 0.5, -0.5))
        axes.yaxis.grid(visible=False)
        plain_log(axes, "x")
        legend_above(axes, 4)
    return fig
