"""The price of an instance: alternatives, likelihood ratios, and how the price depends on means.

The computations are the steps of the lower bound's proof, the price on grids and on random
instances, and the evidence of dependent coins; the figures show them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray, IntArray
from momab.chapters.figures.style import (
    BLUE,
    FAINT,
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
from momab.engine.streams import RewardStream, reward_arrays
from momab.model import instances, pareto, theory
from momab.study.price import final_log_ratios, raised_arm

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# ---- the steps of the proof ----------------------------------------------------------------


def log_ratio_steps(rewards: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
    """Log-likelihood ratios of 0/1 rewards (..., d) under independent means p against q."""
    steps = np.where(rewards > 0, np.log(p / q), np.log((1 - p) / (1 - q)))
    return np.asarray(steps.sum(axis=-1))


def log_ratio_paths(
    means: FloatArray, b: int, q: FloatArray, runs: int, length: int, seed: int
) -> FloatArray:
    """The log-likelihood ratio of the first n samples of arm b, (runs, length + 1), n = 0, 1, ...

    These are the samples that every policy sees in these runs, if it pulls b often enough.
    """
    arrays = reward_arrays(instances.bernoulli(means).source)
    rows = [RewardStream(arrays, seed, run).batch(b, 0, length) for run in range(runs)]
    steps = log_ratio_steps(np.array(rows), means[b], q)
    return np.concatenate([np.zeros((runs, 1)), steps.cumsum(axis=1)], axis=1)


def ratio_case(means: FloatArray, b: int, a: int, block: RunBlock, seed: int) -> dict[str, Any]:
    """What `likelihood_fan` shows of arm b and candidate a, for runs 0, 1, ... of a policy."""
    q = raised_arm(means, b, a)[b]
    pulls, slope = block.pulls[:, b], float(theory.evidence(means)[b, a])
    length = int(1.1 * max(pulls.max(), np.log(block.pulls[0].sum()) / slope))
    return {
        "title": f"arm {b + 1}, candidate {a + 1}",
        "paths": log_ratio_paths(means, b, q, len(pulls), length, seed),
        "slope": slope,
        "pulls": pulls,
        "ratios": final_log_ratios(pulls, block.sums[:, b], means[b], q),
    }


def candidate_table(means: FloatArray) -> pd.DataFrame:
    """One row per paid arm: its gap, and its evidence against every free arm; then the prices."""
    import pandas as pd

    gaps, D = pareto.gaps(means), theory.evidence(means)
    found = theory.price(means)
    free, paid = np.flatnonzero(gaps == 0), np.flatnonzero(gaps > 0)
    frame = pd.DataFrame(
        {"Paid arm": [str(b + 1) for b in paid], "Gap": [f"{gaps[b]:g}" for b in paid]}
    )
    for a in free:
        frame[f"Evidence for arm {a + 1}"] = D[paid, a]
    last = ["price", "", *found.per_arm[free]]
    return pd.concat([frame, pd.DataFrame([last], columns=frame.columns)], ignore_index=True)


# ---- the price on many instances -----------------------------------------------------------


def moved_arm(front: FloatArray, points: FloatArray) -> FloatArray:
    """The price when one arm joins the front's arms and stands at (x, y), shape (n, n): [y, x]."""
    n, K = len(points), len(front)
    stack = np.empty((n, n, K + 1, 2))
    stack[..., :K, :] = front
    stack[..., K, 0], stack[..., K, 1] = points[None, :], points[:, None]
    beaten = (pareto.gaps(stack)[..., K] > 0) & (pareto.gaps(stack)[..., :K] == 0).all(axis=-1)
    return np.where(beaten, theory.price(stack).value, np.nan)


def lead_and_price(seed: int, K: int, d: int, count: int) -> pd.DataFrame:
    """For random instances: g, the bound (K - 1)/(2 g), the price, and KL-UCB's best constant."""
    import pandas as pd

    stack = instances.random_means(K, d, seed=seed, instances=count)
    g = pareto.g_dagger(stack)
    best = theory.marginal_price(stack).min(axis=-1)
    columns = {"g": g, "bound": (K - 1) / (2 * g), "price": theory.price(stack).value}
    return pd.DataFrame({**columns, "scalar": best})


# ---- dependent objectives ------------------------------------------------------------------


def by_objectives(p: float, m: float, counts: IntArray) -> FloatArray:
    """Evidence of a pull of d independent coins with mean p against means above m, any joint law.

    The coins are exchangeable and the dual is concave, so its maximum has equal multipliers, and
    the value is the one-dimensional one of the coins' average.
    """
    from scipy.stats import binom

    values = []
    for d in counts:
        heads = np.arange(d + 1)
        weights = binom.pmf(heads, d, p)
        values.append(theory.kinf(heads[:, None] / d, [m], weights / weights.sum()))
    return np.array(values, dtype=float)


# ---- figures -------------------------------------------------------------------------------


def alternatives(means: FloatArray, candidates: Sequence[int]) -> Figure:
    """One panel per candidate: where each paid arm would have to be for it not to be free."""
    found = theory.price(means)
    free = np.flatnonzero(np.isfinite(found.per_arm))
    paid = np.flatnonzero(~np.isfinite(found.per_arm))
    with mpl.rc_context(STYLE):
        fig, panels = new_axes(len(candidates), size=(2.7 * len(candidates), 3.0))
        for axes, a in zip(panels, candidates, strict=True):
            x, y = means[a]
            axes.fill_between([x, 1], [y, y], 1, color=FAINT, alpha=0.55, lw=0)
            axes.plot(*means[free].T, "o", mfc="none", mec=BLUE, ms=7)
            axes.plot(x, y, "*", color=BLUE, ms=13)
            for b in paid:
                _raise(axes, means[b], np.maximum(means[b], means[a]))
            for k, (at, up) in enumerate(means):
                aside = (-6, -11) if k in paid else (9, 12)  # clear of the arrows
                axes.annotate(
                    str(k + 1), (at, up), xytext=aside, textcoords="offset points",
                    color=MUTED, fontsize=9, ha="center",
                )  # fmt: skip
            cheapest = " (cheapest)" if a == found.arm else ""
            axes.set(
                title=f"arm {a + 1}: {found.per_arm[a]:.2f}{cheapest}", xlim=(0, 1), ylim=(0, 1),
                xlabel="objective 1", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1],
            )  # fmt: skip
        panels[0].set_ylabel("objective 2")
    return fig


def _raise(axes: Axes, start: FloatArray, end: FloatArray) -> None:
    """Draw a paid arm, and the arrow to where it would have to be."""
    axes.plot(*start, "s", color=ORANGE, ms=6)
    arrow = {"arrowstyle": "->", "color": ORANGE, "lw": 1.2, "shrinkA": 3, "shrinkB": 0}
    axes.annotate("", tuple(end), tuple(start), arrowprops=arrow)


WALK_POINTS = 200  # of a random walk in a panel some 270 pixels wide


def likelihood_fan(cases: list[dict[str, Any]], horizon: int, policy: str) -> Figure:
    """Log-likelihood ratios against pulls, one panel per paid arm, and where the runs ended.

    A case has the keys title, paths (R, n), slope, pulls (R,) and ratios (R,).
    """
    level = float(np.log(horizon))
    with mpl.rc_context(STYLE):
        fig, panels = new_axes(len(cases), size=(5.6, 3.8))
        for axes, case in zip(panels, cases, strict=True):
            paths, slope = case["paths"], case["slope"]
            n = np.arange(paths.shape[1])
            shown = n[:: -(-len(n) // WALK_POINTS)]
            axes.plot(shown, paths.T[shown], color=FAINT, lw=0.8, zorder=1)
            axes.plot(n, slope * n, color=INK, lw=1.4, label="n times the evidence")
            axes.axhline(level, color=PINK, ls="--", lw=1.4, label="log T")
            axes.axvline(level / slope, color=PINK, ls=":", lw=1.4, label="log T / evidence")
            axes.plot(
                case["pulls"], case["ratios"], "^", color=GREEN, ms=5, mew=0, alpha=0.8,
                label=f"runs of {policy} at T",
            )  # fmt: skip
            axes.set(title=case["title"], xlabel="pulls n of the arm", xlim=(0, n[-1]))
        panels[0].set_ylabel("log-likelihood ratio of its samples")
        handles, labels = panels[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside upper left", ncols=2)
    return fig


LEVELS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, np.inf)


def price_maps(fronts: dict[str, FloatArray], points: FloatArray) -> Figure:
    """The price as shades, over the place of one more arm; one panel per front."""
    with mpl.rc_context(STYLE):
        fig, panels = new_axes(len(fronts), size=(5.6, 4.3))
        shades = np.linspace(0.18, 0.95, len(LEVELS) - 1)
        for axes, (title, front) in zip(panels, fronts.items(), strict=True):
            values = moved_arm(front, points)
            for low, high, alpha in zip(LEVELS, LEVELS[1:], shades):
                top = min(high, 1e6)
                axes.contourf(points, points, values, [low, top], colors=[ORANGE], alpha=alpha)
            axes.plot(*front.T, "*", color=BLUE, ms=12, ls="none")
            axes.set(
                title=title, xlabel="objective 1", aspect="equal",
                xlim=(points[0], 1), ylim=(points[0], 1),
            )  # fmt: skip
        panels[0].set_ylabel("objective 2")
        handles = [
            mpl.patches.Patch(color=ORANGE, alpha=alpha, lw=0, label=_between(low, high))
            for low, high, alpha in zip(LEVELS, LEVELS[1:], shades)
        ]
        fig.legend(handles=handles, loc="outside upper left", ncols=3, title="price")
    return fig


def _between(low: float, high: float) -> str:
    return f"above {low:g}" if np.isinf(high) else f"to {high:g}"


def lead_scatter(frame: pd.DataFrame) -> Figure:
    """The price against (K - 1)/(2 g), one point per random instance, with the diagonal."""
    seen = frame[frame["price"] > 0]
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(5.2, 4.0))
        ends = [seen["bound"].min() / 1.5, seen["bound"].max() * 1.5]
        axes.plot(ends, ends, color=INK, lw=1.3, label="price = (K − 1) / (2 g†)")
        axes.plot(
            seen["bound"], seen["price"], "o", color=BLUE, ms=3, mew=0, alpha=0.45,
            label="a random instance",
        )  # fmt: skip
        axes.set(
            xscale="log", yscale="log", xlabel="(K − 1) / (2 g†): what the largest lead promises",
            ylabel="price C",
        )  # fmt: skip
        plain_log(axes, "x")
        legend_above(axes, 2)
    return fig


def dependence(
    rhos: FloatArray, joint: FloatArray, counts: IntArray, many: FloatArray, p: float, m: float
) -> Figure:
    """Evidence of one pull: against the correlation of two coins, and against their number."""
    one, ceiling = float(theory.kl_plus(p, m)), float(np.log((1 - p) / (1 - m)))
    with mpl.rc_context(STYLE):
        fig, (left, right) = new_axes(2, size=(5.6, 3.8))
        left.plot(rhos, joint, color=BLUE)
        left.axhline(2 * one, color=ORANGE, ls="--")
        left.axhline(one, color=GREEN, ls="-.")
        left.axhline(ceiling, color=MUTED, ls=":")
        left.set(
            title="two coins", xlabel="correlation", ylabel="evidence of one pull", ylim=(0, None)
        )
        right.plot(counts, many, color=BLUE, label="all joint laws")
        right.plot(counts, one * counts, color=ORANGE, ls="--", label="product laws: sum of kl")
        right.axhline(one, color=GREEN, ls="-.", label="copies of one coin: kl")
        right.axhline(ceiling, color=MUTED, ls=":", label="mixing in a perfect arm")
        right.set(title="independent coins", xlabel="number of coins d", ylim=(0, None))
        fig.legend(loc="outside upper left", ncols=2)
    return fig
