"""The house style, and one function per figure.

Every function returns a matplotlib figure and draws only what it is given.  Colours come from
`PALETTE`, which is safe for colour-blind readers (Okabe and Ito's set, with greys); the book's
style sheet maps each of them to its counterpart in dark mode, so use no other colour.  A policy
has one colour and one marker throughout: `POLICY_STYLE`.  Figures are about 5 inches wide: they are
shown enlarged on a desk and still legible on a phone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib import font_manager
from numpy.typing import ArrayLike

from momab import pareto
from momab.checks import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = {
    "ink": "#1f2933",
    "muted": "#5f6b7a",
    "faint": "#c9d1da",
    "blue": "#0072b2",
    "orange": "#d55e00",
    "green": "#009e73",
    "pink": "#b8578f",
    "gold": "#e69f00",
    "sky": "#56b4e9",
}
INK, MUTED, FAINT = PALETTE["ink"], PALETTE["muted"], PALETTE["faint"]
BLUE, ORANGE, GREEN, PINK = (PALETTE[name] for name in ("blue", "orange", "green", "pink"))

POLICY_STYLE = {
    "Width-guided": (BLUE, "o"),
    "Pareto UCB1": (ORANGE, "s"),
    "Annealing-Pareto": (GREEN, "^"),
    "Scalarized UCB": (PINK, "D"),
}

for _font in sorted((Path(__file__).parent / "fonts").glob("*.ttf")):
    font_manager.fontManager.addfont(str(_font))

STYLE: Any = {
    "font.family": ["Momab Sans", "DejaVu Sans"],
    "font.size": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, PINK]),
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "lines.linewidth": 1.7,
    "lines.markersize": 6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "mathtext.fontset": "stix",
}


def _axes(columns: int = 1, size: tuple[float, float] | None = None) -> tuple[Figure, list[Axes]]:
    """A figure in the house style, not shown by itself, with a row of axes."""
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        fig = Figure(figsize=size or (5.0, 3.2), layout="constrained")
        axes = [fig.add_subplot(1, columns, number + 1) for number in range(columns)]
    return fig, axes


def _dominated_region(axes: Axes, mu: FloatArray, corner: float) -> None:
    """Shade what some arm dominates: the staircase below the front."""
    best = mu[pareto.front(mu)]
    best = best[np.argsort(best[:, 0])]
    xs = np.concatenate([[corner], np.repeat(best[:, 0], 2)])
    ys = np.concatenate([np.repeat(best[:, 1], 2), [corner]])
    axes.fill_between(xs, ys, corner, color=FAINT, alpha=0.45, lw=0, zorder=0)


def pareto_lift(means: ArrayLike, arm: int | None = None) -> Figure:
    """Arms in the plane of two objectives, with one arm lifted until nothing dominates it.

    The lifted arm is, unless given, the one with the largest Pareto gap.
    """
    mu = np.asarray(means, dtype=np.float64)
    on_front, gap = pareto.front(mu), pareto.gaps(mu)
    arm = int(gap.argmax()) if arm is None else arm
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(4.4, 4.2))
        low = max(0.0, float(mu.min()) - 0.1)
        _dominated_region(axes, mu, low)
        axes.scatter(
            mu[on_front, 0], mu[on_front, 1], s=46, color=BLUE, label="on the front", zorder=3
        )
        axes.scatter(
            mu[~on_front, 0],
            mu[~on_front, 1],
            s=42,
            marker="s",
            fc="none",
            ec=ORANGE,
            lw=2,
            label="dominated",
        )
        top = mu[arm] + gap[arm]
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.8, "shrinkA": 6, "shrinkB": 0}
        axes.annotate("", xy=tuple(top), xytext=tuple(mu[arm]), arrowprops=arrow, zorder=4)
        axes.plot(*top, marker="*", ms=10, color=INK, ls="none", label="lifted by its gap")
        for number, point in enumerate(mu):
            axes.annotate(
                str(number + 1), tuple(point), xytext=(7, -13), textcoords="offset points"
            )
        axes.set(
            xlabel="mean of objective 1",
            ylabel="mean of objective 2",
            xlim=(low, mu.max() + 0.1),
            ylim=(low, mu.max() + 0.1),
            aspect="equal",
        )
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, handletextpad=0.3)
    return fig


def zero_gap(means: ArrayLike) -> Figure:
    """The two arms of Proposition 1: one on the edge of what the other dominates."""
    mu = np.asarray(means, dtype=np.float64)
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(3.7, 3.4))
        _dominated_region(axes, mu, -0.1)
        axes.plot(*mu[0], marker="o", ms=7, color=BLUE)
        axes.plot(*mu[1], marker="s", ms=7, mfc="none", mec=ORANGE, mew=2)
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.8, "shrinkA": 6, "shrinkB": 0}
        axes.annotate("", xy=tuple(mu[1] + 0.15), xytext=tuple(mu[1]), arrowprops=arrow)
        far: Any = {"textcoords": "offset points", "va": "center"}
        axes.annotate("arm 1", tuple(mu[0]), xytext=(-12, 0), ha="right", **far)
        axes.annotate("arm 2", tuple(mu[1]), xytext=(-12, 0), ha="right", **far)
        axes.text(0.4, 0.5, "dominated\nby arm 1", color=MUTED, ha="center", va="center")
        axes.set(
            xlim=(-0.1, 1.25),
            ylim=(-0.1, 1.25),
            xlabel="mean of objective 1",
            ylabel="mean of objective 2",
            aspect="equal",
        )
    return fig


def tie_rates(frame: pd.DataFrame, draws: int) -> Figure:
    """Shares of instances with ties that matter, against how coarse the means are.

    ``frame`` has the columns levels, trapped and inconsistent; ``draws`` is the number of
    instances behind each share, for the intervals (Wilson's).
    """
    curves = {
        "trapped": ("some dominated arm has gap zero", BLUE, "o"),
        "inconsistent": ("not consistent", ORANGE, "s"),
    }
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(5.0, 3.1))
        for column, (label, colour, marker) in curves.items():
            share = frame[column].to_numpy(dtype=np.float64)
            low, high = _wilson(share, draws)
            errors = np.clip([share - low, high - share], 0, None)
            axes.errorbar(
                frame["levels"], share, errors, color=colour, marker=marker, capsize=3, label=label
            )
        axes.set_xscale("log")
        axes.set_xticks(frame["levels"], [str(level) for level in frame["levels"]])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.set(xlabel="levels a mean can take", ylabel="share of instances", ylim=(0, None))
        axes.legend()
    return fig


def _wilson(share: FloatArray, n: int, z: float = 1.96) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval for a share of n draws."""
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - half, middle + half


#: The three problems of the opening picture: name -> the objectives that the policy sees.
ANSWER_PROBLEMS = {"hard": (0,), "easy": (1,), "both": (0, 1)}


def answer(points: pd.DataFrame, horizon: int) -> Figure:
    """The opening picture: regret of each objective alone and of both, as one gets harder.

    ``points`` has the columns instance ("hard|0.1": problem and lead of objective 1), mean,
    mean_low and mean_high.
    """
    labels = {
        "hard": ("objective 1 alone", ORANGE, "s", (0, 9), "right", "bottom"),
        "easy": ("objective 2 alone", GREEN, "^", (0, 7), "right", "bottom"),
        "both": ("both at once: Pareto regret", BLUE, "o", (0, 7), "right", "bottom"),
    }
    split = points["instance"].str.split("|", expand=True)
    with mpl.rc_context(STYLE):
        fig, (axes,) = _axes(size=(5.2, 3.3))
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
