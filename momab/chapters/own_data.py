"""The chapter *Bring your own data*: from a table of rewards to an instance and a report.

It says which bounds are in force, makes the tables of the page, and draws the geometry of an
instance and the paths of the policies.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab._util.validate import BoolArray, FloatArray
from momab.chapters.figures.show import unset
from momab.chapters.figures.style import (
    BLUE,
    FAINT,
    GREEN,
    ORANGE,
    STYLE,
    drawable,
)
from momab.model import theory
from momab.model.instances import Instance, Rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from momab.model.pareto import Geometry
    from momab.study.results import Results

MOST = 40
"""Of how many arms or objectives the page's tables show a line."""

MOST_ROWS = 2_000_000
"""Up to how many rows, counted once per pair of arms, the price by the law is computed."""


def objective_table(instance: Instance) -> pd.DataFrame:
    """One line per objective: its best arm, that arm's mean, and the lead over the second."""
    import pandas as pd

    means = instance.means
    best = means.argmax(axis=0)
    tied = (means == means.max(axis=0)).sum(axis=0) > 1
    return pd.DataFrame(
        {
            "objective": instance.objective_names,
            "best_arm": [
                "several" if many else instance.arm_names[a] for a, many in zip(best, tied)
            ],
            "best_mean": means.max(axis=0),
            "lead": instance.geometry.objective_gaps,
        }
    )


@dataclass(frozen=True)
class InForce:
    """Which regret bounds hold for an instance at a horizon, and what they say."""

    g_dagger: float
    theorem: float  # infinite when no objective has a unique best arm
    sharper: float
    pareto_ucb1: float
    trivial: float  # the horizon times the largest gap

    @property
    def vacuous(self) -> bool:
        """Whether none of the bounds is below the trivial one."""
        return min(self.theorem, self.sharper, self.pareto_ucb1) >= self.trivial


def brief(value: float) -> str:
    """A bound in few digits: whole from 100 on, else three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def in_force(instance: Instance, horizon: int) -> InForce:
    """The bounds on an instance, with the theorem's coefficient c = 2."""
    return InForce(
        g_dagger=instance.geometry.g_dagger,
        theorem=theory.theorem_bound(instance.means, horizon).total,
        sharper=theory.sharper_bound(instance.means, horizon).total,
        pareto_ucb1=theory.pareto_ucb1_bound(instance.means, horizon).total,
        trivial=horizon * instance.geometry.max_gap,
    )


def speaks_from(
    bound: Callable[[FloatArray, int], Any], means: FloatArray, gap: float, first: int
) -> int | None:
    """From about which horizon on a bound is below the horizon times the largest gap.

    The difference of the two is convex in the horizon, so the horizons with a vacuous bound are
    an interval; its end is looked for by doubling, from the first horizon on, and by bisection.
    None if there is no such horizon below 10^15.
    """
    low, high = first, first
    while bound(means, high).total >= high * gap or high < 2 * low:
        if high > 10**15:
            return None
        low, high = (high if bound(means, high).total >= high * gap else low), 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(means, middle).total >= middle * gap else (low, middle)
    return high


def bound_table(instance: Instance, horizon: int) -> pd.DataFrame:
    """The bounds on an instance beside the trivial one, and where each starts to say something."""
    import pandas as pd

    means, gap = instance.means, instance.geometry.max_gap
    rows = [{"Bound": "any policy: T times the largest gap", "says": brief(horizon * gap)}]
    for title, bound in {
        "Width-guided, c = 2: Theorem 4": theory.theorem_bound,
        "Width-guided, c = 2: the sharper bound": theory.sharper_bound,
        "Pareto UCB1": theory.pareto_ucb1_bound,
    }.items():
        value = bound(means, horizon).total
        start = speaks_from(bound, means, gap, instance.K)
        rows.append(
            {
                "Bound": title,
                "says": brief(value) if np.isfinite(value) else "nothing",
                "At this horizon": "vacuous" if value >= horizon * gap else "not vacuous",
                "Not vacuous from": "no horizon"
                if start is None
                else f"{float(f'{start:.2g}'):,.0f}",
            }
        )
    return pd.DataFrame(rows).fillna("")


def printed_arms(arms: pd.DataFrame) -> pd.DataFrame:
    """The first lines of :func:`momab.study.arm_tables.arm_table` as the page prints them."""
    titles = {
        "arm": "Arm",
        "on_front": "On the front",
        "gap": "Pareto gap",
        "wins": "Objectives won",
        "worst_mean": "Worst mean",
        "worst_objective": "on",
        "fairness_cost": "Fairness cost",
    }
    answers = arms["on_front"].map({True: "yes", False: "no"})
    names = {column: arms[column].map(unset) for column in ("arm", "worst_objective")}
    return arms.assign(on_front=answers, **names).head(MOST).rename(columns=titles)


def printed_objectives(instance: Instance) -> pd.DataFrame:
    """The first lines of :func:`objective_table` as the page prints them."""
    titles = {
        "objective": "Objective",
        "best_arm": "Best arm",
        "best_mean": "Its mean",
        "lead": "Lead",
    }
    table = objective_table(instance).head(MOST)
    names = {column: table[column].map(unset) for column in ("objective", "best_arm")}
    return table.assign(**names).rename(columns=titles)


def printed_results(results: Results) -> pd.DataFrame:
    """What every policy ended up with, as the page prints it: regret, errors, certificates."""
    import pandas as pd

    summary = results.summary()
    rows = list(summary.itertuples())
    errors = [f"{r.error_rate:.1%} (up to {r.error_high:.1%})" for r in rows]
    return pd.DataFrame(
        {
            "Policy": summary["policy"],
            "Regret": summary["mean"],
            "95% interval": [f"{r.mean_low:,.1f} to {r.mean_high:,.1f}" for r in rows],
            "Median": summary["median"],
            "Largest": summary["max"],
            "Dominated at the end": errors,
            "Certified": [f"{r.certified_rate:.0%}" for r in rows],
            "Fairness regret": results.summary("fairness_regret")["mean"],
        }
    )


def price_table(instance: Instance, horizon: int) -> pd.DataFrame:
    """The price of a table's instance and the arm that attains it, by the evidence.

    A line each for the law of the rows (unless the table is very large), for independent Bernoulli
    rewards with the same means, and for the evidence that is safe under any dependence.
    """
    import pandas as pd

    titles = {
        "kinf": "the law of the rows, against any other law (kinf)",
        "sum": "the means, as of independent Bernoulli rewards (sum)",
        "max": "the least evidence, safe to rely on (max)",
    }
    free, source = instance.geometry.gaps == 0, instance.source
    if isinstance(source, Rows) and free.sum() * np.diff(source.offsets)[~free].sum() > MOST_ROWS:
        del titles["kinf"]
    found = {kind: theory.instance_price(instance, kind) for kind in titles}
    values = [float(price.value) for price in found.values()]
    return pd.DataFrame(
        {
            "What is used": titles.values(),
            "Price": values,
            "times log T": [value * np.log(horizon) for value in values],
            "Candidate": [unset(instance.arm_names[price.arm]) for price in found.values()],
        }
    )


def noise_table(found: Mapping[int, Geometry]) -> pd.DataFrame:
    """What is left of an instance when objectives of noise are added, by their number."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Noise objectives": extra,
            "Arms on the front": len(geometry.front),
            "Largest gap": geometry.max_gap,
            "Regret of random play per round": geometry.gaps.mean(),
        }
        for extra, geometry in found.items()
    )


def trust_table(
    names: Sequence[str], sure: Mapping[str, BoolArray], shares: Mapping[str, BoolArray]
) -> pd.DataFrame:
    """Who is on the front: as an answer in each of ``sure``, as a share in each of ``shares``.

    An entry of ``sure`` has one truth value per arm, of ``shares`` a row of them per table drawn.
    """
    import pandas as pd

    answers = {title: np.where(front, "yes", "no") for title, front in sure.items()}
    rates = {title: [f"{x:.0%}" for x in f.mean(axis=0)] for title, f in shares.items()}
    return pd.DataFrame({"Café": names, **answers, **rates})


def example_table(seed: int, rows: int = 120) -> pd.DataFrame:
    """A small table to try things on: visits to eight cafés, rated from 0 to 1.

    The qualities of the cafés are fixed; the ratings are drawn from the seed.
    """
    import pandas as pd

    qualities = {
        "Aurora": (0.82, 0.45, 0.35, 0.60),
        "Brick Lane": (0.64, 0.72, 0.55, 0.52),
        "Copper Pot": (0.60, 0.68, 0.50, 0.50),
        "Dock 4": (0.45, 0.30, 0.94, 0.42),
        "Espresso Bar": (0.70, 0.36, 0.25, 0.45),
        "Fig & Olive": (0.50, 0.55, 0.45, 0.74),
        "Glasshouse": (0.48, 0.52, 0.42, 0.66),
        "Harbour": (0.35, 0.22, 0.58, 0.32),
    }
    rng = np.random.default_rng(seed)
    parts = []
    for name, means in qualities.items():
        mean = np.asarray(means)
        ratings = rng.beta(6 * mean, 6 * (1 - mean), (rows, len(mean)))
        part = pd.DataFrame(ratings.round(2), columns=["coffee", "quiet", "price", "food"])
        part.insert(0, "cafe", name)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def live_data() -> dict[str, Any]:
    """The example table of seed 1, for the page's explorable: hundredths, a byte each.

    ``ratings`` goes through the arms in turn, row by row; ``rows`` is how many each arm has.
    """
    frame = example_table(1)
    ratings = (frame.iloc[:, 1:].to_numpy() * 100).round().astype(np.uint8)
    names = sorted(set(frame["cafe"]))
    return {
        "columns": list(frame.columns),
        "arms": names,
        "rows": len(frame) // len(names),
        "ratings": base64.b64encode(ratings.tobytes()).decode(),
    }


def columns_of(text: str) -> list[str]:
    """Column names from one text, separated by semicolons or commas."""
    return [name.strip() for name in text.replace(";", ",").split(",") if name.strip()]


def instance_geometry(instance: Instance, most: int = 24) -> Figure:
    """Pareto gaps of the arms and leads of the objectives of one instance, as dots on a line.

    Of more than ``most`` arms those nearest to the front are drawn, of as many objectives those
    with the largest leads.  A name that the fonts cannot draw becomes a number.
    """
    from matplotlib.figure import Figure

    geometry = instance.geometry
    front = np.isin(np.arange(instance.K), geometry.front)
    arms = np.lexsort((~front, geometry.gaps))[:most][::-1]
    leads = np.argsort(-geometry.objective_gaps, kind="stable")[:most]
    rows = max(len(arms), 2), max(len(leads), 2)
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 1.4 + 0.2 * sum(rows)), layout="constrained")
        left, right = fig.subplots(2, 1, height_ratios=rows)
        for row, a in enumerate(arms):
            colour, marker = (BLUE, "o") if front[a] else (ORANGE, "s")
            left.hlines(row, 0, geometry.gaps[a], color=FAINT, lw=2, zorder=1)
            left.plot(geometry.gaps[a], row, marker, ms=5, color=colour)
        left.set_yticks(range(len(arms)), _labels(instance.arm_names, arms, "arm"))
        left.set(xlabel="Pareto gap (blue: on the front)")
        right.hlines(range(len(leads)), 0, geometry.objective_gaps[leads], color=FAINT, lw=2)
        right.plot(geometry.objective_gaps[leads], range(len(leads)), "D", ms=5, color=GREEN)
        right.set_yticks(range(len(leads)), _labels(instance.objective_names, leads, "objective"))
        right.set(xlabel="lead of the best arm")
        for axes, drawn in ((left, len(arms)), (right, len(leads))):
            axes.set_ylim(drawn - 0.5, -0.5)
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0)
            axes.set_xlim(left=-0.02 * max(float(axes.get_xlim()[1]), 1e-6))
    return fig


def _labels(names: Sequence[str], chosen: Iterable[int], what: str) -> list[str]:
    """Names as labels; what no font can draw is called by its number in the tables below."""
    return [_clip(names[i]) if drawable(names[i]) else f"{what} {i + 1}" for i in map(int, chosen)]


def _clip(name: str, most: int = 18) -> str:
    """A name as a label: short, and no formula whatever it holds."""
    name = unset(name)
    short = name if len(name) <= most else name[: most - 1] + "…"
    return short.replace("$", r"\$")
