"""The opening page: the regret of each objective alone and of both together, and its picture.

One objective gets harder and harder while the other stays easy, and the Pareto regret of the two
together follows the easy one.  The card that a link to the book shows is here, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab.engine.policies import WidthGuided
from momab.engine.simulate import simulate
from momab.figures.style import BLUE, GREEN, ORANGE, STYLE, new_axes
from momab.model import instances

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


#: The three problems of the opening picture: name -> the objectives that the policy sees.
ANSWER_PROBLEMS = {"hard": (0,), "easy": (1,), "both": (0, 1)}
#: The leads of the best arm on objective 1, from easy to hard.
ANSWER_LEADS = np.geomspace(0.3, 0.03, 7).round(3)


def answer_points(arms: int, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Play the three problems at every lead; one row per point of the opening picture.

    Arm 1 has the means (0.5, 0.8), arm 2 (0.5 + lead, 0.3), all others (0.2, 0.2).  The columns
    are instance ("hard|0.1": problem and lead of objective 1), mean, mean_low and mean_high.
    """
    problems = {}
    for lead in ANSWER_LEADS:
        means = np.array([[0.5, 0.8], [0.5 + lead, 0.3]] + [[0.2, 0.2]] * (arms - 2))
        for name, columns in ANSWER_PROBLEMS.items():
            problems[f"{name}|{lead}"] = instances.bernoulli(means[:, list(columns)])
    played = simulate(problems, [WidthGuided()], horizon, runs, seed, progress=False)
    return played.summary()[["instance", "mean", "mean_low", "mean_high"]]


def answer_costs(points: pd.DataFrame) -> tuple[float, float, float]:
    """The regret of objective 1 alone and of both at the smallest lead, and how the first grew.

    The third number is the regret of objective 1 alone at the smallest lead as a multiple of that
    at the largest.
    """
    cost = points.set_index("instance")["mean"]
    easiest, hardest = ANSWER_LEADS[0], ANSWER_LEADS[-1]
    hard, both = float(cost[f"hard|{hardest}"]), float(cost[f"both|{hardest}"])
    return hard, both, hard / float(cost[f"hard|{easiest}"])


def answer(points: pd.DataFrame, horizon: int) -> Figure:
    """The opening picture: regret of each objective alone and of both, as one gets harder.

    ``points`` comes from :func:`answer_points`.
    """
    labels = {
        "hard": ("objective 1 alone", ORANGE, "s", (0, 9), "right", "bottom"),
        "easy": ("objective 2 alone", GREEN, "^", (0, 7), "right", "bottom"),
        "both": ("both at once: Pareto regret", BLUE, "o", (0, 7), "right", "bottom"),
    }
    split = points["instance"].str.split("|", expand=True)
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.2, 3.3))
        for name, (label, colour, marker, shift, side, up) in labels.items():
            rows = points[split[0] == name]
            lead = split.loc[rows.index, 1].astype(float).to_numpy()
            mean = rows["mean"].to_numpy()
            axes.fill_between(lead, rows["mean_low"], rows["mean_high"], color=colour, alpha=0.2)
            axes.plot(lead, mean, color=colour, marker=marker)
            axes.annotate(
                label,
                (float(lead[-1]), float(mean[-1])),
                xytext=shift,
                textcoords="offset points",
                ha=side,
                va=up,
                color=colour,
                weight="bold",
            )
        axes.set_xscale("log")
        axes.invert_xaxis()
        leads = sorted(set(split[1].astype(float)), reverse=True)
        axes.set_xticks(leads, [f"{lead:g}" for lead in leads])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set(
            xlabel="lead of the best arm on objective 1 (harder to the right)",
            ylabel=f"regret after {horizon:,} rounds",
            ylim=(0, None),
        )
    return fig


def social_card() -> Figure:
    """The preview that a link to the book shows: 1200 x 630 pixels at 100 dpi."""
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(12, 6.3), facecolor="#12344d")
        axes = fig.add_axes((0.58, 0.1, 0.38, 0.78))
        axes.set_axis_off()
        front = np.array([[0.05, 0.97], [0.4, 0.84], [0.68, 0.62], [0.9, 0.28]])
        xs = np.concatenate([[0.0], np.repeat(front[:, 0], 2)])
        ys = np.concatenate([np.repeat(front[:, 1], 2), [0.0]])
        axes.fill_between(xs, ys, 0, color="#1d4a6b", lw=0)
        axes.scatter(front[:, 0], front[:, 1], s=260, color="#7fc4ee", zorder=3)
        arrow = {"arrowstyle": "-|>", "color": "#ffb066", "lw": 5, "mutation_scale": 30}
        axes.annotate("", xy=(0.62, 0.6), xytext=(0.27, 0.25), arrowprops=arrow)
        axes.scatter([0.27], [0.25], s=260, marker="s", color="#ffb066", zorder=3)
        axes.set(xlim=(0, 1.02), ylim=(0, 1.05))
        white: Any = {"color": "white", "va": "top"}
        fig.text(
            0.06, 0.84, "Are multi-objective\nbandits harder?", size=46, weight="bold", **white
        )
        fig.text(
            0.06,
            0.44,
            "An executable companion:\nevery claim checked, every\npicture yours to vary.",
            size=26,
            color="#cfe3f1",
            va="top",
        )
        fig.text(0.06, 0.1, "momab", size=24, color="#ffb066", weight="bold")
    return fig
