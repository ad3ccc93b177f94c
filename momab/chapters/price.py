"""The price of an instance: log-likelihood ratios along runs, and what must be ruled out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray
from momab.chapters.figures.style import BLUE, FAINT, MUTED, ORANGE, STYLE, new_axes
from momab.engine.driver import RunBlock
from momab.engine.streams import RewardStream, reward_arrays
from momab.model import instances, theory
from momab.study.price import final_log_ratios, raised_arm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    """The evidence of arm b for candidate a in runs 0, 1, ... of a policy.

    ``paths`` has the log-likelihood ratio along the first samples of every run, ``slope`` is what
    one sample adds on average, ``pulls`` and ``ratios`` say where every run ended.
    """
    q = raised_arm(means, b, a)[b]
    pulls, slope = block.pulls[:, b], float(theory.evidence(means)[b, a])
    length = int(1.1 * max(pulls.max(), np.log(block.pulls[0].sum()) / slope))
    return {
        "title": f"song {b + 1}, candidate {a + 1}",
        "paths": log_ratio_paths(means, b, q, len(pulls), length, seed),
        "slope": slope,
        "pulls": pulls,
        "ratios": final_log_ratios(pulls, block.sums[:, b], means[b], q),
    }


def alternatives(means: FloatArray, candidates: Sequence[int]) -> Figure:
    """One panel per candidate: where each suboptimal arm would have to be to beat it."""
    found = theory.price(means)
    optimal = np.flatnonzero(np.isfinite(found.per_arm))
    suboptimal = np.flatnonzero(~np.isfinite(found.per_arm))
    with mpl.rc_context(STYLE):
        fig, panels = new_axes(len(candidates), size=(2.7 * len(candidates), 3.0))
        for axes, a in zip(panels, candidates, strict=True):
            x, y = means[a]
            axes.fill_between([x, 1], [y, y], 1, color=FAINT, alpha=0.55, lw=0)
            axes.plot(*means[optimal].T, "o", mfc="none", mec=BLUE, ms=7)
            axes.plot(x, y, "*", color=BLUE, ms=13)
            for b in suboptimal:
                _raise(axes, means[b], np.maximum(means[b], means[a]))
            for k, (at, up) in enumerate(means):
                offset = (-6, -11) if k in suboptimal else (9, 12)  # clear of the arrows
                axes.annotate(
                    str(k + 1), (at, up), xytext=offset, textcoords="offset points",
                    color=MUTED, fontsize=9, ha="center",
                )  # fmt: skip
            cheapest = " (cheapest)" if a == found.arm else ""
            axes.set(
                title=f"song {a + 1}: {found.per_arm[a]:.2f}{cheapest}", xlim=(0, 1), ylim=(0, 1),
                xlabel="plays", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1],
            )  # fmt: skip
        panels[0].set_ylabel("saves")
    return fig


def _raise(axes: Axes, start: FloatArray, end: FloatArray) -> None:
    """Draw a suboptimal arm, and the arrow to where it would have to be."""
    axes.plot(*start, "s", color=ORANGE, ms=6)
    arrow = {"arrowstyle": "->", "color": ORANGE, "lw": 1.2, "shrinkA": 3, "shrinkB": 0}
    axes.annotate("", tuple(end), tuple(start), arrowprops=arrow)
