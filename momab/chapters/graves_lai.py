"""The chapter *Several correct answers*: how far the textbook's program is below the price."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from momab._util.validate import FloatArray
from momab.chapters.figures.style import BLUE, INK, STYLE, new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def quotient_picture(ratio: FloatArray) -> Figure:
    """The cumulative distribution of the price over the textbook's value."""
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(4.8, 2.8))
        values = np.sort(ratio)
        axes.step(values, np.arange(1, len(values) + 1) / len(values), where="post", color=BLUE)
        axes.axvline(1, color=INK, linestyle="--", linewidth=1)
        axes.set(xlabel="C(μ) / value of the textbook's form", ylabel="share of the instances")
        axes.set(ylim=(0, 1.02))
        axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    return fig
