"""The opening page: one criterion, the other, or both; and three things that tables do not show.

The same policy sees one of two objectives, or both, while the lead on the first one grows.  All
three are charged Pareto regret.  The slider that shows it is here, and the card of a link.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab import study
from momab._util import prose
from momab._util.validate import FloatArray
from momab.chapters.figures import show, templates
from momab.chapters.figures.style import STYLE
from momab.engine.loop import play_block
from momab.engine.policies.width_guided import WidthGuided
from momab.model import instances, pareto
from momab.model.statistics import mean_interval
from momab.study import groups, standings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


VIEWS = {"first": (0,), "second": (1,), "both": (0, 1)}
"""The three views: name -> the objectives that the policy sees."""

LEADS = np.arange(6, 41, 2) / 100
"""The leads of the best arm on objective 1."""

LEAD_2 = 0.2
"""The lead of the best arm on objective 2."""

GAP = 0.05
"""The Pareto gap of the arms that win nothing."""

LABELS = {"first": "plays only", "second": "saves only", "both": "both"}


# --- what is played ---------------------------------------------------------------------


def songs(lead: float, arms: int) -> FloatArray:
    """The means: a winner of each objective, and arms that both of them beat by the same margin.

    On objective 1 the first arm leads by ``lead``, on objective 2 the second by ``LEAD_2``.  Each
    winner is ahead of all other arms by exactly ``GAP`` on the objective that it does not win.  So
    these arms have the Pareto gap ``GAP`` at every lead, and the two winners have none.
    """
    low = np.array([0.4, 0.3])
    winners = [low + GAP + [lead, 0.0], low + GAP + [0.0, LEAD_2]]
    return np.array(winners + [low] * (arms - 2))


def answer_points(arms: int, horizon: int, runs: int, seed: int) -> pd.DataFrame:
    """Pareto regret of Algorithm 1 in every view at every lead: view, lead, mean, low and high."""
    import pandas as pd

    rows = []
    for lead in LEADS.tolist():
        means = songs(lead, arms)
        gaps = pareto.gaps(means)
        for view, columns in VIEWS.items():
            seen = instances.bernoulli(means[:, list(columns)])
            pulls = play_block(seen, WidthGuided(), horizon, seed, 0, runs).pulls
            rows.append((view, lead, *mean_interval(pulls @ gaps)))
    return pd.DataFrame(rows, columns=["view", "lead", "mean", "low", "high"])


def answer_costs(points: pd.DataFrame) -> dict[str, float]:
    """What both cost, against the better and the worse objective alone.

    ``least`` and ``most``: the regret of both over that of the better objective, over all leads;
    ``wrong``: the largest ratio of the worse to the better one.
    """
    wide = points.pivot_table("mean", "lead", "view")
    alone = wide[["first", "second"]]
    told = wide["both"] / alone.min(axis=1)
    return {
        "least": float(told.min()),
        "most": float(told.max()),
        "wrong": float((alone.max(axis=1) / alone.min(axis=1)).max()),
    }


# --- what tables do not show ------------------------------------------------------------


def tail_finding() -> dict[str, Any]:
    """The recorded long runs at the paper's coefficients: means against medians.

    ``above`` of the ``subsets`` have a mean of more than twice the median; ``name``, ``median``,
    ``mean`` and ``wrong`` (the rate of wrong commitments) are of the one where the mean is the
    largest multiple of the median; ``none`` is the chance that sixty runs there show no such run.
    """
    risk = study.recorded_results("risk")
    papers = [study.paper_coefficient(d, k) for d, k in zip(risk["dataset"], risk["subset_type"])]
    kept = risk[np.isclose(risk["c"], papers, rtol=1e-6)]
    ratio = kept["mean"] / kept["median"]
    worst: Any = kept.iloc[int(ratio.argmax())]
    return {
        "subsets": len(kept),
        "above": int((ratio > 2).sum()),
        "name": f"{groups.group_name(worst['dataset'], worst['subset_type'])} {worst['subset']}",
        "runs": int(worst["runs"]),
        "median": float(worst["median"]),
        "mean": float(worst["mean"]),
        "wrong": float(worst["wrong_commit_rate"]),
        "none": float((1 - worst["wrong_commit_rate"]) ** 60),
    }


def tuning_finding() -> dict[str, int]:
    """In how many groups Width-guided has the least mean of the table, and with all tuned.

    ``kept``: Width-guided with the paper's coefficient, which was tuned, against the others tuned
    by the same protocol; ``after``: every policy with the coefficient of our own validation.
    """
    table, tuned = (
        study.recorded_results(part).pivot_table(
            "pareto_regret", ["dataset", "subset_type"], "policy"
        )
        for part in ("real", "retuned")
    )
    after = table.copy()
    after[tuned.columns] = tuned
    kept = after.assign(**{"Width-guided": table["Width-guided"]})
    frames = {"before": table, "kept": kept, "after": after}
    found = {name: int((x.idxmin(axis=1) == "Width-guided").sum()) for name, x in frames.items()}
    return {"groups": len(table), **found}


def limit_finding() -> dict[str, Any]:
    """Regret over the price, recorded: Pareto IMED and Width-guided on the synthetic family.

    ``ours`` and ``theirs`` are the least and the largest ratio; ``median`` and ``worst`` are of
    Pareto IMED over all ``instances``, the real ones included, and ``worst_long`` is its worst at
    the ``long`` horizon.
    """
    recorded = study.recorded_results("limit")
    horizon, long = sorted(recorded["horizon"].unique())[-2:]
    lines = standings.most_runs(recorded, horizon).set_index("policy")
    family = lines[lines["dataset"] == "synthetic"]["ratio"].groupby("policy").agg(["min", "max"])
    mine = lines["ratio"][lines.index == "Pareto IMED"]
    far = standings.most_runs(recorded, long).set_index("policy")["ratio"]
    return {
        "horizon": int(horizon),
        "ours": tuple(family.loc["Pareto IMED"]),
        "theirs": tuple(family.loc["Width-guided"]),
        "instances": len(mine),
        "median": float(mine.median()),
        "worst": float(mine.max()),
        "long": int(long),
        "worst_long": float(far[far.index == "Pareto IMED"].max()),
    }


# --- the slider -------------------------------------------------------------------------

_SIZE, _TOP, _BOTTOM = 264, 28, 222  # both panels in pixels
_PLANE, _PLOT, _WIDTH = (42, 256), (54, 412), 424  # left and right edges of the axes


def _scale(values: Any, low: float, high: float, start: float, stop: float) -> FloatArray:
    """Pixels of values on an axis from ``start`` (at low) to ``stop`` (at high)."""
    part = (np.asarray(values, dtype=np.float64) - low) / (high - low)
    return np.asarray(np.round(start + part * (stop - start), 1))


def _path(xs: Sequence[float] | FloatArray, ys: Sequence[float] | FloatArray) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in zip(xs, ys, strict=True))


def _plane(arms: int, start: int) -> dict[str, Any]:
    """What the plane of the songs draws."""
    left, right = _PLANE
    means = songs(float(LEADS[start]), arms)
    ends = 0.3, 0.9

    def across(x: Any) -> Any:
        return _scale(x, *ends, left, right).tolist()

    def up(y: Any) -> Any:
        return _scale(y, 0.25, 0.65, _BOTTOM, _TOP).tolist()

    best = means[1, 0] + LEADS
    others = "1 other song" if arms == 3 else f"{arms - 2} other songs"
    return {
        "size": _SIZE, "left": left, "right": right, "top": _TOP, "bottom": _BOTTOM,
        "xticks": [(across(x), f"{x:.0%}") for x in (0.4, 0.6, 0.8)],
        "yticks": [(up(y), f"{y:.0%}") for y in (0.3, 0.4, 0.5, 0.6)],
        "from": across(best[0]), "to": across(best[-1]), "y": up(means[0, 1]),
        "song": across(means[0, 0]), "songs": across(best),
        "rival": (across(means[1, 0]), up(means[1, 1])),
        "bad": (across(means[2, 0]), up(means[2, 1])), "others": others,
    }  # fmt: skip


def _plot(points: pd.DataFrame, start: int) -> dict[str, Any]:
    """What the panel of the three regrets draws."""
    left, right = _PLOT
    top = 1.08 * float(points["high"].max())
    step = 10.0 ** np.floor(np.log10(top))
    step = next(s for s in (step, step / 2, step / 5) if top / s >= 3)
    xs = _scale(LEADS, 0.04, LEADS[-1], left, right)

    def up(y: Any) -> FloatArray:
        return _scale(y, 0.0, top, _BOTTOM, _TOP)

    curves = []
    for view in VIEWS:
        rows = points[points["view"] == view]
        ys = up(rows["mean"])
        band = _path(np.r_[xs, xs[::-1]], np.r_[up(rows["low"]), up(rows["high"])[::-1]]) + "Z"
        curves.append({"name": view, "path": _path(xs, ys), "band": band, "ys": ys.tolist(),
                       "y": ys[start], "text": LABELS[view]})  # fmt: skip
    first, second, both = curves
    first["label"] = (xs[4] + 4, first["ys"][3] - 4, "start")
    second["label"] = (right, second["ys"][-1] - 8, "end")
    both["label"] = (right, min(both["ys"][-1] + 20, _BOTTOM - 6), "end")
    return {
        "width": _WIDTH, "left": left, "right": right, "x": xs[start], "xs": xs.tolist(),
        "curves": curves,
        "xticks": [(float(_scale(x, 0.04, LEADS[-1], left, right)), f"{x:.0%}")
                   for x in (0.1, 0.2, 0.3, 0.4)],
        "yticks": [(float(up(y)), f"{y:,.0f}") for y in np.arange(0, top, step)],
    }  # fmt: skip


def _lines(points: pd.DataFrame) -> list[str]:
    """What is said below the picture at every lead, as HTML (the template ``answer_line.html``)."""
    wide = points.pivot_table("mean", "lead", "view")
    facts: dict[str, Any] = {"other": LEAD_2, "labels": LABELS}
    return [
        prose.one_line(templates.fill_template("answer_line.html", lead=lead, cost=row, **facts))
        for lead, row in wide.iterrows()
    ]


def answer(points: pd.DataFrame, arms: int, horizon: int, runs: int, start: int = 3) -> str:
    """The opening picture with its slider, as one piece of HTML without kernel and network.

    Without scripts, and in print, it is a picture at the lead with the number ``start``.
    """
    plane, plot, lines = _plane(arms, start), _plot(points, start), _lines(points)
    data = {
        "names": list(VIEWS), "lead": [f"{lead:.0%}" for lead in LEADS], "song": plane["songs"],
        "x": plot["xs"], "y": {curve["name"]: curve["ys"] for curve in plot["curves"]},
        "line": lines,
    }  # fmt: skip
    text = json.dumps(data, separators=(",", ":"))
    return templates.fill_template(
        "answer.html",
        id="answer-" + hashlib.sha256(text.encode()).hexdigest()[:8],
        names=list(VIEWS),
        labels=LABELS,
        ends=points.pivot_table("mean", "lead", "view").iloc[[0, -1]],
        plane=plane,
        plot=plot,
        arms=arms,
        horizon=horizon,
        runs=runs,
        gap=GAP,
        last=len(LEADS) - 1,
        start=start,
        line=lines[start],
        data=text.replace("</", "<\\/"),
    )


def show_answer(points: pd.DataFrame, arms: int, horizon: int, runs: int, start: int = 3) -> None:
    """Show :func:`answer` in a notebook."""
    text = re.sub("<[^>]*>", "", _lines(points)[start])
    picture = answer(points, arms, horizon, runs, start)
    show.bundle({"text/html": picture, "text/plain": text})


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
