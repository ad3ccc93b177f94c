"""One objective is enough: Pareto regret against marginal regret, in bounds and in runs.

The computations bound the Pareto regret of policies that look at one objective, build three
instances on which such policies do well or badly, and play them beside policies that look at all
objectives.  The figures show gaps against deficits, and regret against a lead and against time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import matplotlib as mpl
import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import FloatArray, IntArray, mean_array
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy, View, selection, top
from momab.engine.policies.kl_ucb import KLUCB
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.single_ucb1 import SingleUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.streams import Coins
from momab.figures.style import (
    FAINT,
    INK,
    LINES,
    MUTED,
    POLICY_STYLE,
    STYLE,
    axes_grid,
    legend_above,
    new_axes,
    plain_log,
)
from momab.model import metrics, pareto, theory
from momab.model.instances import Instance, bernoulli, synthetic
from momab.model.numerics import log
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RARE = 1.0 + math.pi**2 / 3.0
"""What failing intervals add to the pulls of an arm in the bound of UCB1."""

MARKERS = ("o", "s", "^", "D", "v", "X")
DASHES = {"objective 1": "-", "objective 2": "--", "by a coin": "-."}


# --- bounds -----------------------------------------------------------------------------


def pull_weights(means: ArrayLike) -> FloatArray:
    r"""The sums :math:`\sum_{a\in P}\Delta_a/(\Delta_a^{(j)})^2` per objective, shape (..., d).

    P holds the arms with positive Pareto gap; their deficits are positive on every objective.
    """
    mu = mean_array(means)
    gaps = pareto.gaps(mu)[..., None]
    deficits = pareto.objective_deficits(mu)
    terms = np.zeros_like(deficits)
    np.divide(gaps, deficits**2, out=terms, where=gaps > 0)
    return np.asarray(terms.sum(axis=-2))


def ucb1_bounds(means: ArrayLike, T: int) -> FloatArray:
    r"""Bound the Pareto regret of UCB1 on each of the objectives, shape (..., d).

    UCB1 on objective j pulls an arm with :math:`\Delta_a^{(j)}>0` at most
    :math:`8\log T/(\Delta_a^{(j)})^2+1+\pi^2/3` times in expectation, and a pull costs the
    Pareto gap:

    .. math:: \sum_{a:\Delta_a>0}\Delta_a\Bigl(\frac{8\log T}{(\Delta_a^{(j)})^2}
        +1+\frac{\pi^2}3\Bigr).
    """
    total = pareto.gaps(means).sum(axis=-1)[..., None]
    return np.asarray(8.0 * math.log(T) * pull_weights(means) + RARE * total)


def constants_table(games: Mapping[str, Instance]) -> pd.DataFrame:
    """What stands before log T in every bound, one column per instance with two objectives."""
    import pandas as pd

    rows: dict[str, list[float]] = {}
    for game in games.values():
        geo, gaps = game.geometry, game.geometry.positive_gaps
        one, two = 8.0 * pull_weights(game.means)
        least = pareto.objective_deficits(game.means).min(axis=-1)[geo.gaps > 0]
        guided = 32.0 * float((gaps / np.maximum(least, geo.g_dagger) ** 2).sum())
        limits = theory.marginal_price(game.means)
        for name, value in (
            ("UCB1 on objective 1", one),
            ("UCB1 on objective 2", two),
            ("Pareto UCB1", 8.0 * float((1.0 / gaps).sum())),
            ("Width-guided, sharpest bound", guided),
            ("Width-guided, Theorem 4", 64.0 * geo.K / geo.g_dagger),
            ("KL-UCB on objective 1, limit", limits[0]),
            ("KL-UCB on objective 2, limit", limits[1]),
        ):
            rows.setdefault(name, []).append(float(value))
    frame = pd.DataFrame(rows, index=list(games)).T
    return frame.rename_axis("Bound").reset_index()


# --- instances --------------------------------------------------------------------------


def three_games(delta: float, K: int) -> dict[str, Instance]:
    """Three instances with K arms, two objectives and crowds at a Pareto gap of delta.

    The first is of the paper's synthetic family, with K // 2 arms in the crowd: objective 1 is
    easy, objective 2 is not.  In the second a filler becomes a copy of the winner of objective 1,
    so that nobody leads there any more.  The third has a crowd below both winners, and a balanced
    arm.
    """
    first = synthetic(delta, K // 2, K)
    second = first.means.copy()
    second[-1] = second[0]
    left = (K - 3) // 2
    third = [(0.8, 0.25), (0.25, 0.8), (0.65, 0.65)]
    third += [(0.8 - delta, 0.05)] * left + [(0.05, 0.8 - delta)] * (K - 3 - left)
    return {
        "clear champion": first,
        "doubled winner": bernoulli(second, name="doubled winner"),
        "crowded ends": bernoulli(third, name="crowded ends"),
    }


def two_arms(lead: float, other: float) -> Instance:
    """Arm 1 leads objective 1 by ``lead`` and objective 2 by ``other``; arm 2 is (1/2, 1/2)."""
    return bernoulli([[0.5 + lead, 0.5 + other], [0.5, 0.5]], name="two arms")


@dataclass(frozen=True)
class AverageUCB1:
    """UCB1 on the average of all objectives."""

    name: ClassVar[str] = "average-ucb1"
    label: ClassVar[str] = "UCB1 on the average"


@selection(AverageUCB1)
def select_average_ucb1(policy: AverageUCB1, view: View, coin: Coins) -> int:
    """Slot 0 breaks the ties of the index."""
    index = view.means.mean(axis=1) + np.sqrt(2.0 * log(view.t) / view.counts)
    return coin.choose(top(index), slot=0)


# --- runs -------------------------------------------------------------------------------


def regret_paths(
    instance: Instance, policy: Policy, points: Sequence[int] | IntArray, runs: int, seed: int
) -> FloatArray:
    """Pareto regret of every run at every point, shape (runs, points).

    Width-guided has the horizon in its radius, so each of its points is a play of its own.
    """
    ends = [int(point) for point in points]
    if isinstance(policy, WidthGuided):
        blocks = [play_block(instance, policy, T, seed, 0, runs).pulls for T in ends]
        pulls = np.stack(blocks, axis=1)
    else:
        pulls = play_block(instance, policy, ends[-1], seed, 0, runs, ends).checkpoint_pulls
    return metrics.pareto_regret(pulls, instance.means)


def each_objective(
    instance: Instance,
    record: type[SingleUCB1] | type[KLUCB],
    points: Sequence[int] | IntArray,
    runs: int,
    seed: int,
) -> dict[str, FloatArray]:
    """Regret paths of a policy on each objective, and of the choice by a coin.

    Run by run the last is the mean over the objectives: what is expected when a fair coin chooses
    the objective, without the noise of the coin.
    """
    paths = {
        f"objective {j + 1}": regret_paths(instance, record(objective=j), points, runs, seed)
        for j in range(instance.d)
    }
    return paths | {"by a coin": np.mean(list(paths.values()), axis=0)}


def contest(
    instance: Instance, points: Sequence[int] | IntArray, runs: int, few: int, seed: int
) -> dict[tuple[str, str], FloatArray]:
    """Regret paths by policy and by what it looks at; KL-UCB, which is slow, in few runs."""
    found: dict[tuple[str, str], FloatArray] = {}
    for name, record, count in (("UCB1", SingleUCB1, runs), ("KL-UCB", KLUCB, few)):
        for choice, paths in each_objective(instance, record, points, count, seed).items():
            found[name, choice] = paths
    for policy in (WidthGuided(), ParetoUCB1()):
        found[policy.label, "all"] = regret_paths(instance, policy, points, runs, seed)
    return found


def over_leads(
    lead: float, others: Sequence[float] | FloatArray, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """Regret on two arms against the lead on objective 2, with columns other, name, mean, ..."""
    import pandas as pd

    rows = []
    for other in map(float, others):
        instance = two_arms(lead, other)
        paths = each_objective(instance, SingleUCB1, [horizon], runs, seed)
        paths["Width-guided"] = regret_paths(instance, WidthGuided(), [horizon], runs, seed)
        rows += [(other, name, *mean_interval(path[:, 0])) for name, path in paths.items()]
    return pd.DataFrame(rows, columns=["other", "name", "mean", "low", "high"])


def final_table(contests: Mapping[str, Mapping[tuple[str, str], FloatArray]]) -> pd.DataFrame:
    """Final regret of every policy on every instance: mean and 95 % interval."""
    import pandas as pd

    rows = [
        (game, name, choice, *mean_interval(paths[:, -1]))
        for game, contest in contests.items()
        for (name, choice), paths in contest.items()
    ]
    return pd.DataFrame(rows, columns=["instance", "policy", "choice", "mean", "low", "high"])


def written(final: pd.DataFrame) -> pd.DataFrame:
    """The final regrets as a reader wants them, one column per instance."""
    texts = [f"{m:,.1f} ({low:,.1f}–{high:,.1f})" for m, low, high in final.to_numpy()[:, 3:]]
    keys = ["policy", "choice"]
    wide = final.assign(text=texts).pivot_table("text", keys, "instance", "first", sort=False)
    names = {"policy": "Policy", "choice": "Looks at"}
    return wide.rename_axis(columns=None).reset_index().rename(columns=names)


def not_separated(final: pd.DataFrame, game: str) -> list[str]:
    """The policies on an instance whose intervals reach that of the lowest mean, lowest first."""
    here = final[final["instance"] == game].sort_values("mean")
    near = here[here["low"] <= here["high"].iloc[0]]
    return [f"{row.policy} ({row.choice})" for row in near.itertuples()]


# --- figures ----------------------------------------------------------------------------


def gaps_below_deficits(means: ArrayLike) -> Figure:
    """The Pareto gap of every arm against its deficit on each objective, with the diagonal."""
    gaps, deficits = pareto.gaps(means), pareto.objective_deficits(means)
    top = 1.05 * float(deficits.max())
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.4, 3.4))
        axes.fill_between([0, top], [0, top], 2 * top, color=FAINT, alpha=0.45, lw=0)
        axes.plot([0, top], [0, top], color=MUTED, lw=1)
        axes.hlines(gaps, deficits.min(axis=1), deficits.max(axis=1), color=MUTED, lw=0.8)
        for j, (colour, marker) in enumerate(zip(LINES, MARKERS)):
            if j < deficits.shape[1]:
                axes.plot(
                    deficits[:, j], gaps, marker, color=colour, ls="none", mfc="none", mew=1.6,
                    label=f"objective {j + 1}", clip_on=False,
                )  # fmt: skip
        axes.text(0.25 * top, 0.62 * top, "empty, by the theorem", color=MUTED)
        axes.set(
            xlim=(0, top), ylim=(0, max(1.15 * float(gaps.max()), 0.75 * top)),
            xlabel="deficit of the arm on the objective", ylabel="Pareto gap of the arm",
        )  # fmt: skip
        legend_above(axes, min(3, deficits.shape[1]))
    return fig


def hump(frame: pd.DataFrame, horizon: int) -> Figure:
    """Regret on two arms against the lead on the other objective, below T times that lead."""
    lines = {
        "objective 1": ("UCB1 on objective 1", *_ucb1_style("objective 1")),
        "objective 2": ("UCB1 on objective 2", *_ucb1_style("objective 2")),
        "by a coin": ("UCB1, objective by a coin", *_ucb1_style("by a coin")),
        "Width-guided": ("Width-guided", *POLICY_STYLE["Width-guided"], "-"),
    }
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.4, 4.2))
        for name, (label, colour, marker, dash) in lines.items():
            rows = frame[frame["name"] == name]
            errors = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
            axes.errorbar(
                rows["other"], rows["mean"], errors, color=colour, marker=marker, ls=dash,
                ms=5, capsize=2, label=label,
            )  # fmt: skip
        leads = np.unique(frame["other"])
        axes.plot(leads, horizon * leads, color=INK, lw=1, label="T × gap: only arm 2")
        axes.set(
            xscale="log", yscale="log", ylabel="Pareto regret",
            xlabel="lead on objective 2, which is the Pareto gap",
            ylim=(0.5 * float(frame["mean"].min()), 2.5 * float(frame["high"].max())),
        )  # fmt: skip
        plain_log(axes, "x")
        plain_log(axes, "y")
        legend_above(axes, 2)
    return fig


def regret_curves(
    contests: Mapping[str, Mapping[tuple[str, str], FloatArray]],
    points: Sequence[int] | IntArray,
    prices: Mapping[str, float],
) -> Figure:
    """Mean Pareto regret against the round on every instance, with 95 % bands.

    A thin line shows the price of the instance times log T.
    """
    from matplotlib.ticker import NullFormatter

    with mpl.rc_context(STYLE):
        fig, panels = axes_grid(len(contests), 1, (5.4, 1.8 * len(contests) + 1.1))
        for axes, (game, contest) in zip(panels, contests.items(), strict=True):
            _draw_contest(axes, contest, points)
            limit = prices[game] * np.log(points)
            axes.plot(points, limit, color=INK, lw=1, label="price × log T")
            axes.set(title=game, xscale="log", yscale="log", ylabel="Pareto regret")
            axes.xaxis.set_minor_formatter(NullFormatter())
            plain_log(axes, "y")
        low = min(axes.get_ylim()[0] for axes in panels)
        high = max(axes.get_ylim()[1] for axes in panels)
        for axes in panels:
            axes.set_ylim(low, high)
        panels[-1].set_xlabel("rounds")
        handles, labels = panels[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside upper left", ncols=2)
    return fig


def _ucb1_style(choice: str) -> tuple[str, str, str]:
    """Colour, marker and dashes of UCB1 that looks at one objective."""
    colours = {"objective 1": LINES[5], "objective 2": LINES[3], "by a coin": LINES[4]}
    markers = {"objective 1": "X", "objective 2": "s", "by a coin": "D"}
    return colours[choice], markers[choice], DASHES[choice]


def _draw_contest(
    axes: Axes, contest: Mapping[tuple[str, str], FloatArray], points: Sequence[int] | IntArray
) -> None:
    for (name, choice), paths in contest.items():
        if name == "KL-UCB":
            continue
        if name == "UCB1":
            label = "UCB1, " + choice
            colour, marker, dash = _ucb1_style(choice)
        else:
            label, (colour, marker), dash = name, POLICY_STYLE[name], "-"
        mean, low, high = np.transpose([mean_interval(column) for column in paths.T])
        axes.fill_between(points, low, high, color=colour, alpha=0.2, lw=0)
        axes.plot(points, mean, color=colour, marker=marker, ms=4, ls=dash, label=label)
