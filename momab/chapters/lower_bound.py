"""The lower bound (Proposition 3): a policy without random ties, and a bandit in disguise."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import matplotlib as mpl
import numpy as np

from momab.chapters.figures.style import BLUE, ORANGE, STYLE, axes_grid
from momab.engine.policies.width_guided import WidthGuided

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class FirstOfTies(WidthGuided):
    """Width-guided with every tie given to the first, so that a run needs no random ties."""

    name: ClassVar[str] = "width-guided-first"
    label: ClassVar[str] = "Width-guided, first of ties"
    coins: ClassVar[str] = ""


def disguise(pulls: int = 12, names: tuple[str, ...] = ("plays", "saves")) -> Figure:
    """The rewards of two songs whose objectives are copies of each other, as filled squares."""
    draws = np.random.default_rng(6).random((2, pulls))
    with mpl.rc_context(STYLE):
        fig, panels = axes_grid(2, 1, (5.2, 2.3))
        for axes, row, mean, colour in zip(panels, draws, (0.7, 0.5), (BLUE, ORANGE)):
            for n, hit in enumerate(row < mean):
                for j in range(len(names)):
                    axes.plot(
                        n + 1, j + 1, marker="s", ms=10, ls="none", mec=colour,
                        mfc=colour if hit else "none",
                    )  # fmt: skip
            axes.set(
                title=f"song {1 if mean > 0.5 else 2}: played with probability {mean:g}",
                xticks=[], xlim=(0.4, pulls + 0.6), ylim=(len(names) + 0.6, 0.4),
                yticks=range(1, len(names) + 1), yticklabels=names,
            )  # fmt: skip
            axes.tick_params(left=False)
            axes.grid(visible=False)
            for side in ("left", "bottom"):
                axes.spines[side].set_visible(False)
        panels[-1].set_xlabel("listeners")
    return fig
