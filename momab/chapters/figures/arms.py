"""The pictures of a report on a reader's own table: its arms with their names, and a race."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from momab.chapters.figures.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    STYLE,
    drawable,
    palette,
    policy_style,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from momab.study.own import Study

COLOURS = {"optimal": BLUE, "open": ORANGE, "not optimal": MUTED}
"""The colour of an arm by its answer."""

MARKERS = {"optimal": "o", "open": "D", "not optimal": "x"}
"""The marker of an arm by its answer."""


def arms_figure(study: Study) -> Figure:
    """The means of the arms with their 95% intervals, in units of the file.

    Two objectives make a plane; otherwise there is a panel per objective and a line per arm.
    """
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        if study.instance.d == 2:
            fig = Figure(figsize=(6.2, 4.4), layout="constrained")
            _plane(fig.subplots(), study)
        else:
            panels, lines = min(study.instance.d, 8), max(len(study.shown), 3)
            fig = Figure(figsize=(1.6 + 1.5 * panels, 1.1 + 0.24 * lines), layout="constrained")
            _panels(list(fig.subplots(1, panels, sharey=True, squeeze=False)[0]), study)
        _legend(fig, study)
    return fig


def _plane(axes: Axes, study: Study) -> None:
    ends = [study.interval(j) for j in range(2)]
    for a in study.order[::-1]:
        answer, (x, y) = study.answers[a], study.means[a]
        errors = [[[v - low[a]], [high[a] - v]] for v, (low, high) in zip((x, y), ends)]
        axes.errorbar(
            x, y, xerr=np.abs(errors[0]), yerr=np.abs(errors[1]), fmt=MARKERS[answer],
            color=COLOURS[answer], ecolor=FAINT, ms=5, lw=1.2, zorder=3,
        )  # fmt: skip
    named = [a for n, a in enumerate(study.order) if n < 14 or a in study.best]
    for number, a in enumerate(named):
        over = number % 2 == 0
        axes.annotate(
            arm_label(study.arms[a], int(a)), study.means[a], xytext=(6, 5 if over else -11),
            textcoords="offset points", fontsize=8.5, color=INK, zorder=4,
        )  # fmt: skip
    axes.set(xlabel=_title(study, 0), ylabel=_title(study, 1))
    axes.margins(0.12)
    if study.less[0]:
        axes.invert_xaxis()
    if study.less[1]:
        axes.invert_yaxis()


def _panels(panels: list[Axes], study: Study) -> None:
    rows = study.shown
    for j, axes in enumerate(panels):
        low, high = study.interval(j)
        for row, a in enumerate(rows):
            mean = study.means[a, j]
            axes.errorbar(
                mean, row, xerr=np.abs([[mean - low[a]], [high[a] - mean]]), lw=1.2, capsize=3,
                fmt=MARKERS[study.answers[a]], ms=3, color=COLOURS[study.answers[a]],
            )  # fmt: skip
        axes.set_title(_title(study, j, "\n"), fontsize=8.5)
        axes.tick_params(axis="x", labelsize=8)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.locator_params(axis="x", nbins=4)
        if study.less[j]:
            axes.invert_xaxis()
    panels[0].set_yticks(
        range(len(rows)), [arm_label(study.arms[a], a) for a in rows], fontsize=8.5
    )


def _title(study: Study, j: int, between: str = ", ") -> str:
    name = study.titled(j)
    name = name if drawable(name) else f"objective {j + 1}"
    less = f"{between}less is better" if study.less[j] else ""
    return clip(name, 22 if between == "\n" else 60) + less


def _legend(fig: Figure, study: Study) -> None:
    from matplotlib.lines import Line2D

    drawn = study.order if study.instance.d == 2 else study.shown
    seen = [answer for answer in COLOURS if answer in {study.answers[a] for a in drawn}]
    marks = [
        Line2D([], [], color=COLOURS[answer], marker=MARKERS[answer], ls="", label=answer)
        for answer in seen
    ]
    fig.legend(handles=marks, loc="outside upper left", ncols=3)


def arm_label(name: str, number: int) -> str:
    """An arm's name as a label; what no font can draw is called by its number."""
    return clip(name, 24) if drawable(name) else f"arm {number + 1}"


def clip(name: str, most: int) -> str:
    """A name that is short, and no formula whatever it holds."""
    name = " ".join(name.split())
    return (name if len(name) <= most else name[: most - 1] + "…").replace("$", r"\$")


def race_figure(trajectories: pd.DataFrame) -> Figure:
    """Mean regret along the runs of several policies."""
    from matplotlib.figure import Figure

    spare = iter((INK, MUTED, ORANGE, GREEN))
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(6.2, 3.6), layout="constrained")
        axes = fig.subplots()
        for name, part in trajectories.groupby("policy", sort=False):
            mean = part.groupby("t")["pareto_regret"].mean()
            colour = policy_style(str(name))[0] if str(name) in palette else next(spare)
            axes.plot(mean.index, mean, color=colour, label=str(name))
        seen = bool((trajectories["pareto_regret"] > 0).any())  # zero has no place on a log axis
        yscale = "log" if seen else "linear"
        axes.set(xscale="log", yscale=yscale, xlabel="round", ylabel="Pareto regret (in ranges)")
        fig.legend(loc="outside upper left", ncols=3)
    return fig
