"""The chapter on the model: the Pareto gap of every arm, in a table and in a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import FloatArray
from momab.figures.style import BLUE, INK, ORANGE, STYLE, dominated_region, new_axes
from momab.model import pareto

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def gap_table(means: FloatArray, searched: FloatArray) -> pd.DataFrame:
    """Every arm: whether it is Pareto-optimal, its gap found in two ways, and what it wins.

    ``searched`` holds the gaps as :func:`momab.model.pareto.gap_by_search` finds them.
    """
    import pandas as pd

    best = means.argmax(axis=0)
    won = [", ".join(map(str, np.flatnonzero(best == a) + 1)) for a in range(len(means))]
    return pd.DataFrame(
        {
            "Arm": np.arange(1, len(means) + 1),
            "Pareto set": np.where(pareto.front(means), "yes", "no"),
            "Gap, closed form": pareto.gaps(means),
            "Gap, by search": searched,
            "Best on objective": [objectives or "none" for objectives in won],
        }
    )


def pareto_lift(means: ArrayLike, arm: int | None = None) -> Figure:
    """Arms in the plane of two objectives, with one arm lifted until nothing dominates it.

    The lifted arm is, unless given, the one with the largest Pareto gap.
    """
    mu = np.asarray(means, dtype=np.float64)
    on_front, gap = pareto.front(mu), pareto.gaps(mu)
    arm = int(gap.argmax()) if arm is None else arm
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(4.4, 4.2))
        low = max(0.0, float(mu.min()) - 0.1)
        dominated_region(axes, mu, low)
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
