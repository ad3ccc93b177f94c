"""The lower bound (Proposition 3): its arithmetic, and regret divided by log T.

The computations evaluate the chain of inequalities and scale curves of regret; the figures show
what the chain gives away, and measured curves against the constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray, IntArray
from momab.chapters.figures.style import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PINK,
    STYLE,
    axes_grid,
    legend_above,
    new_axes,
    plain_log,
    policy_style,
)
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.engine.policies.width_guided import WidthGuided
from momab.model import theory
from momab.model.instances import duplicated
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class FirstOfTies(WidthGuided):
    """Width-guided with every tie given to the first, so that a run has no coins."""

    name: ClassVar[str] = "width-guided-first"
    label: ClassVar[str] = "Width-guided, first of ties"
    coins: ClassVar[str] = ""


def first_difference(
    policy: Policy, delta: float, K: int, d: int, horizon: int, seed: int, run: int = 0
) -> int | None:
    """Compare a run on d duplicated coordinates with the one on the scalar instance.

    Returns the first round t with different arms, or None if all arms agree.
    """
    runs = [
        play_block(duplicated(delta, K, size), policy, horizon, seed, run, 1, arms=True).arms
        for size in (1, d)
    ]
    scalar, copied = (cast(IntArray, arms)[0] for arms in runs)
    different = np.flatnonzero(scalar != copied)
    return int(different[0]) if len(different) else None


def chain_steps(K: int, delta: float) -> pd.DataFrame:
    """The arithmetic of Proposition 3 for K arms and gap delta, one row per step.

    The columns are Step, Left, Right, Slack (right minus left) and Holds, up to rounding.
    """
    import pandas as pd

    chain = theory.lower_bound(K, delta)
    kl = theory.bernoulli_kl(0.5, 0.5 + delta)
    steps = [
        ("kl by its definition = −½ log(1 − 4Δ²)", kl, chain.kl, abs(kl - chain.kl) < 1e-12),
        ("−½ log(1 − 4Δ²) ≤ 2Δ²/(1 − 4Δ²)", chain.kl, chain.kl_rational,
         chain.kl <= chain.kl_rational),
        ("2Δ²/(1 − 4Δ²) ≤ (8/3)Δ²", chain.kl_rational, chain.kl_quadratic,
         chain.kl_rational <= chain.kl_quadratic + 1e-15),
        ("(3/8)(K−1)/Δ ≤ (K−1)(1 − 4Δ²)/(2Δ)", chain.stated, chain.rational,
         chain.stated <= chain.rational + 1e-12),
        ("(K−1)(1 − 4Δ²)/(2Δ) ≤ (K−1)Δ/kl", chain.rational, chain.exact,
         chain.rational <= chain.exact),
    ]  # fmt: skip
    frame = pd.DataFrame(steps, columns=["Step", "Left", "Right", "Holds"])
    frame.insert(3, "Slack", frame["Right"] - frame["Left"])
    return frame


def divided_by_log(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean, low and high of a frame of regret, divided by log T; T is the column value."""
    columns = ["mean", "low", "high"]
    scaled = frame.copy()
    scaled[columns] = frame[columns].div(np.log(frame["value"]), axis=0)
    return scaled


def paths_over_log(paths: FloatArray, points: IntArray) -> pd.DataFrame:
    """Mean regret with its interval at these points, divided by log T; paths has shape (R, n)."""
    import pandas as pd

    rows = [mean_interval(column) for column in paths.T]
    frame = pd.DataFrame(rows, columns=["mean", "low", "high"]).assign(value=points)
    return divided_by_log(frame)


def lower_chain(deltas: FloatArray, exact: FloatArray, delta: float) -> Figure:
    """The chain of Proposition 3: each constant times delta / (K - 1), against delta."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.4, 3.9))
        rational = (1 - 4 * deltas**2) / 2
        flat = 1 / (8 * np.log(4 / 3))
        axes.plot(deltas, exact, color=BLUE, label="exact, with kl")
        axes.plot(deltas, rational, color=GREEN, ls="-.", label="after −log(1−x) ≤ x/(1−x)")
        axes.axhline(0.375, color=ORANGE, ls="--", label="stated, 3/8")
        axes.axhline(flat, color=PINK, ls=":", label=f"best constant, {flat:.3f}")
        axes.axvline(delta, color=MUTED, lw=1)
        axes.annotate(
            "this page", (delta, 0.362), xytext=(-4, 0), textcoords="offset points",
            ha="right", color=MUTED,
        )  # fmt: skip
        axes.set(
            xlabel="scalar gap Δ", ylabel="constant × Δ / (K − 1)",
            ylim=(0.355, 0.51), xlim=(0, 0.26),
        )  # fmt: skip
        legend_above(axes, 2)
    return fig


def first_useful(constant: float, gap: float) -> int:
    """The least T from which on constant log T is below T gap, the most that can be lost."""
    T = 3
    while constant * np.log(T) >= gap * T:
        T *= 2
    low, high = T // 2, T  # x / log x rises from e on, so that the order changes once
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if constant * np.log(middle) < gap * middle else (middle, high)
    return high


def regret_over_log(
    curves: dict[str, pd.DataFrame], exact: float, upper: float, gap: float
) -> Figure:
    """Regret divided by log T against T, with the exact constant, Theorem 4's and the trivial one.

    A frame has the columns value (T), mean, low and high, already divided by log T.
    """
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.4, 4.4))
        for name, frame in curves.items():
            colour, marker = policy_style(name)
            errors = [frame["mean"] - frame["low"], frame["high"] - frame["mean"]]
            axes.errorbar(
                frame["value"], frame["mean"], errors, color=colour, marker=marker, ms=5,
                capsize=2, label=name,
            )  # fmt: skip
        axes.axhline(exact, color=INK, lw=1.5, label="exact constant")
        axes.axhline(upper, color=INK, lw=1.3, ls="--", label="Theorem 4, 64 K / g†")
        ends = [min(frame["value"].iloc[i] for frame in curves.values()) for i in (0, -1)]
        T = np.geomspace(ends[0], ends[1], 60)
        axes.plot(
            T, gap * T / np.log(T), color=MUTED, lw=1.3, ls="-.", label="trivial, T Δ / log T"
        )
        axes.set(
            xscale="log", yscale="log", xlabel="T", ylabel="Pareto regret / log T",
            ylim=(None, 3 * upper),
        )  # fmt: skip
        plain_log(axes, "y")
        legend_above(axes, 2)
    return fig


def disguise(pulls: int = 12, objectives: int = 4) -> Figure:
    """The rewards of two arms whose objectives are copies of one coin, as filled squares."""
    draws = np.random.default_rng(6).random((2, pulls))
    with mpl.rc_context(STYLE):
        fig, panels = axes_grid(2, 1, (5.2, 3.2))
        for axes, row, mean, colour in zip(panels, draws, (0.7, 0.5), (BLUE, ORANGE)):
            for n, hit in enumerate(row < mean):
                for j in range(objectives):
                    axes.plot(
                        n + 1, j + 1, marker="s", ms=10, ls="none", mec=colour,
                        mfc=colour if hit else "none",
                    )  # fmt: skip
            axes.set(
                title=f"arm {1 if mean > 0.5 else 2}: a coin with mean {mean:g}", yticks=[],
                xticks=[], xlim=(0.4, pulls + 0.6), ylim=(0.4, objectives + 0.6),
                ylabel="objectives",
            )  # fmt: skip
            axes.grid(visible=False)
            for side in ("left", "bottom"):
                axes.spines[side].set_visible(False)
        panels[-1].set_xlabel("pulls")
    return fig
