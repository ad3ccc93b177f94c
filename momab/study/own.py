"""A table of one's own as a bandit: which arms are good, how sure that is, what would settle it.

The means of a table are estimates.  How far they can be trusted is told by the *bootstrap*: every
arm's rows are drawn again with replacement, many times.  An arm that no other arm dominates, in the
table and in nearly all of those drawn again, is called *optimal*.  An arm of which that is *open*
comes with about the number of rows that would settle it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momab._util.commands import command_line
from momab._util.prose import literal, words
from momab._util.validate import BoolArray, FloatArray, IntArray, whole_number
from momab.engine.policies import (
    AnnealingPareto,
    ParetoIMED,
    ParetoUCB1,
    Policy,
    ScalarizedUCB,
    WidthGuided,
)
from momab.errors import MomabError
from momab.model import pareto
from momab.model.instances import Instance, from_rows
from momab.model.price import Price, price
from momab.model.tables import Cleaned, clean_frame, delimiter_name, read_table

if TYPE_CHECKING:
    import pandas as pd

    from momab.study.results import Results

SURE = 0.975
"""From which share of the redrawn tables on, without a rival, an arm is called optimal."""

ANSWERS = {"optimal": "yes", "open": "open", "not optimal": "no"}
"""Whether an arm is optimal, as the tables say it."""

FEW = 30
"""With fewer rows an arm's bootstrap is itself a rough estimate."""

MOST = 25
"""How many arms the tables of a report have a line for."""

_DRAWS = 1000
_WORK = 4e9  # multiplications that all bootstrap gaps may take
_LARGE = 2000  # from how many rows on the mean of redrawn rows is drawn as a normal vector
_Z = 1.96 + 0.84  # two means are told apart with a chance of 80%

GUARANTEED: Mapping[str, str] = {
    "Pareto IMED": "it needs no tuning, and its regret grows only with the logarithm of the rounds",
    "Width-guided": "its regret has the bound of the paper's Theorem 4",
    "Pareto UCB1": "its regret has a bound, and it keeps trying every good arm",
}
"""The policies of the race whose Pareto regret is bounded, and why one would use them."""


@dataclass(frozen=True)
class Request:
    """What a report is asked for: a file, its columns, how they are read, and a race."""

    table: str
    arm: str
    objectives: Sequence[str]
    units: Mapping[str, str] = field(default_factory=dict)
    scale: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    minimize: Sequence[str] = ()
    missing: str = "error"
    delimiter: str = ""
    encoding: str = ""
    horizon: int = 100_000
    runs: int = 20
    seed: int = 1

    def __post_init__(self) -> None:
        """Validate the sizes, and that units belong to objectives."""
        whole_number(self.horizon, "the horizon T", least=1, most=10**9)
        whole_number(self.runs, "runs", least=2, most=100_000)
        whole_number(self.seed, "the seed", least=0, most=2**64 - 1)
        for column in self.units:
            if column not in self.objectives:
                raise MomabError(f"unit names {column!r}, which is not one of the objectives.")
            if "=" in self.units[column]:
                raise MomabError(f"a unit has no equals sign; it is {self.units[column]!r}.")

    @property
    def values(self) -> dict[str, Any]:
        """What the report's first cell sets."""
        kept = {f.name: getattr(self, f.name) for f in fields(self)}
        lists = {name: list(kept[name]) for name in ("objectives", "minimize")}
        return kept | lists | {name: dict(kept[name]) for name in ("units", "scale")}

    @property
    def command(self) -> str:
        """The command that makes this report again, quoted for a shell."""
        options = [("--arm", self.arm), ("--objectives", join_columns(self.objectives))]
        options += [("--unit", f"{column}={unit}") for column, unit in self.units.items()]
        options += [
            ("--scale", f"{column}={_exact(low)}:{_exact(high)}")
            for column, (low, high) in self.scale.items()
        ]
        options += [("--minimize", column) for column in self.minimize]
        options += [
            ("--missing", self.missing),
            ("--delimiter", delimiter_name(self.delimiter)),
            ("--encoding", self.encoding),
            ("-T", str(self.horizon)),
            ("-n", str(self.runs)),
            ("--seed", str(self.seed)),
        ]
        return command_line("study", [self.table], options)

    @property
    def digest(self) -> str:
        """Eight letters that tell this request, and the content of its file, from others."""
        content = hashlib.sha256(Path(self.table).read_bytes()).hexdigest()
        return hashlib.sha256(f"{self.command}\0{content}".encode()).hexdigest()[:8]

    def clean(self) -> Cleaned:
        """Read the table; everything that is wrong with its columns is said at once."""
        path = Path(self.table)
        columns = [self.arm, *self.objectives]
        frame = read_table(path, columns, self.delimiter or None, self.encoding or None)
        return clean_frame(
            frame,
            self.arm,
            self.objectives,
            self.scale,
            minimize=self.minimize,
            missing=self.missing,
        )


def split_columns(text: str) -> list[str]:
    """Column names from one text with commas between them; one with a comma is in quotes."""
    names = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in names if name.strip()]


def join_columns(names: Sequence[str]) -> str:
    """Column names as :func:`split_columns` reads them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def parse_units(assignments: Sequence[str]) -> dict[str, str]:
    """Read ``column=unit`` as the command line takes it."""
    found = {}
    for text in assignments:
        column, equals, unit = text.rpartition("=")
        if not (equals and column.strip() and unit.strip()):
            raise MomabError(f"--unit takes column=unit, for example latency=ms; it is {text!r}.")
        found[column.strip()] = unit.strip()
    return found


def _exact(value: float) -> str:
    """A number in its shortest form that loses nothing."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


@dataclass(frozen=True)
class Study:
    """What a table says."""

    asked: Request
    cleaned: Cleaned

    @classmethod
    def of(cls, asked: Request) -> Study:
        """Read the table that is asked about."""
        return cls(asked, asked.clean())

    # ---- the table ---------------------------------------------------------------------------

    @cached_property
    def instance(self) -> Instance:
        """The table as an instance: a pull draws one of the arm's rows."""
        found = self.cleaned
        tables = {name: found.rewards[found.arms == name] for name in found.names}
        return from_rows(tables, list(self.asked.objectives), Path(self.asked.table).stem)

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms."""
        return self.instance.arm_names

    @cached_property
    def counts(self) -> IntArray:
        """How many rows every arm has."""
        return np.array([(self.cleaned.arms == name).sum() for name in self.arms])

    @property
    def dropped(self) -> int:
        """How many rows of the file are left out because a value is missing."""
        return self.cleaned.rows - len(self.cleaned.arms)

    @property
    def few(self) -> list[int]:
        """The arms with few rows, those with the fewest first."""
        return [int(a) for a in np.argsort(self.counts, kind="stable") if self.counts[a] < FEW]

    def called(self, arms: Iterable[int], most: int = 4 * MOST) -> str:
        """Arms by their names, for a sentence in Markdown; of more than ``most`` the first."""
        names = [f"*{literal(self.arms[a])}*" for a in arms]
        more = len(names) - most
        return words([*names[:most], f"{more:,} more"] if more > 0 else names)

    @cached_property
    def spans(self) -> FloatArray:
        """What one whole step on [0, 1] is worth in units of the file, per objective."""
        ranges = [self.asked.scale.get(c, (0.0, 1.0)) for c in self.asked.objectives]
        return np.array([abs(high - low) for low, high in ranges])

    @cached_property
    def less(self) -> list[bool]:
        """Of which objectives less is better."""
        ranges = [self.asked.scale.get(c, (0.0, 1.0)) for c in self.asked.objectives]
        return [
            (column in self.asked.minimize) != (low > high)
            for column, (low, high) in zip(self.asked.objectives, ranges, strict=True)
        ]

    def titled(self, j: int) -> str:
        """An objective with its unit."""
        column = self.asked.objectives[j]
        unit = self.asked.units.get(column)
        return f"{column} ({unit})" if unit else column

    @cached_property
    def means(self) -> FloatArray:
        """The mean of every arm and objective in units of the file."""
        return np.stack(
            [self.cleaned.values[self.cleaned.arms == name].mean(axis=0) for name in self.arms]
        )

    def columns(self) -> pd.DataFrame:
        """One line per objective: unit, direction, range, and what the rows hold."""
        import pandas as pd

        asked, values = self.asked, self.cleaned.values
        ranges = [asked.scale.get(c, (0.0, 1.0)) for c in asked.objectives]
        table: dict[str, Any] = {"Column": asked.objectives}
        if asked.units:
            table["Unit"] = [asked.units.get(c, "") for c in asked.objectives]
        table |= {
            "Better is": ["less" if less else "more" for less in self.less],
            "Range used": [f"{min(r):g} to {max(r):g}" for r in ranges],
            "Smallest": [f"{x:.4g}" for x in values.min(axis=0)],
            "Mean": [f"{x:.4g}" for x in values.mean(axis=0)],
            "Largest": [f"{x:.4g}" for x in values.max(axis=0)],
        }
        if self.dropped:
            table["Rows without a value"] = [self.cleaned.absent[c] for c in asked.objectives]
        return pd.DataFrame(table)

    # ---- how sure that is --------------------------------------------------------------------

    @cached_property
    def deviations(self) -> FloatArray:
        """The standard deviations of the rewards, per arm and objective; 0 for a single row."""
        found = self.cleaned
        parts = [found.rewards[found.arms == name] for name in self.arms]
        return np.stack([p.std(axis=0, ddof=1) if len(p) > 1 else 0 * p[0] for p in parts])

    @cached_property
    def drawn(self) -> FloatArray:
        """The means of tables whose rows are drawn again, shape (tables, arms, objectives)."""
        K, d = self.instance.means.shape
        tables = int(np.clip(_WORK / (K * K * d), 100, _DRAWS))
        rng = np.random.default_rng(self.asked.seed)
        result = np.empty((tables, K, d))
        for a, name in enumerate(self.arms):
            rows = self.cleaned.rewards[self.cleaned.arms == name]
            n = len(rows)
            if n > _LARGE:
                spread = np.atleast_2d(np.cov(rows, rowvar=False)) / n
                result[:, a] = rng.multivariate_normal(rows.mean(axis=0), spread, tables)
            else:
                result[:, a] = rng.multinomial(n, np.full(n, 1 / n), tables) @ rows / n
        return np.clip(result, 0.0, 1.0)

    @cached_property
    def drawn_gaps(self) -> FloatArray:
        """The Pareto gaps in the redrawn tables."""
        return pareto.gaps(self.drawn)

    @cached_property
    def on_front(self) -> FloatArray:
        """In what share of the redrawn tables no arm dominates this one."""
        shares: FloatArray = pareto.front(self.drawn).mean(axis=0)
        return shares

    @cached_property
    def front(self) -> BoolArray:
        """Which arms are on the front of the table's own means."""
        return pareto.front(self.instance.means)

    @cached_property
    def answers(self) -> list[str]:
        """The answer for every arm: it is optimal, it is not, or that is open."""
        shares = self.on_front
        return [
            "optimal" if s >= SURE and f else "not optimal" if s <= 1 - SURE and not f else "open"
            for s, f in zip(shares, self.front, strict=True)
        ]

    def answered(self, answer: str, among: Iterable[int] | None = None) -> list[int]:
        """The arms with this answer, the surest first."""
        arms = self.order if among is None else among
        return [int(a) for a in arms if self.answers[a] == answer]

    def interval(self, j: int) -> tuple[FloatArray, FloatArray]:
        """The 95% intervals of the means on an objective, in units of the file."""
        low, high = np.quantile(self.drawn[:, :, j], [1 - SURE, SURE], axis=0)
        column = self.asked.objectives[j]
        start, end = self.asked.scale.get(column, (0.0, 1.0))
        if column in self.asked.minimize:
            start, end = end, start
        ends = np.sort([start + (end - start) * low, start + (end - start) * high], axis=0)
        return ends[0], ends[1]

    @cached_property
    def order(self) -> IntArray:
        """The arms, those first that are on the front most surely, then by their gaps."""
        gaps = self.instance.geometry.gaps
        return np.lexsort((-self.margins, gaps, ~self.front, -self.on_front))

    @cached_property
    def chosen(self) -> int:
        """The arm that is optimal most surely."""
        return int(self.order[0])

    @property
    def tied(self) -> int:
        """How many arms are on the front in as many redrawn tables as the chosen one."""
        return int((self.on_front == self.on_front[self.chosen]).sum())

    @cached_property
    def decisive(self) -> list[tuple[int, int]]:
        """Per arm, the rival and the objective on which it is decided whether it is dominated."""
        mu = self.instance.means
        found = []
        for a in range(len(mu)):
            ahead = mu - mu[a]  # of every rival, per objective
            if not self.front[a]:
                worst = ahead.min(axis=1)
                worst[a] = -np.inf
                b = int(worst.argmax())
                found.append((b, int(ahead[b].argmin())))
            else:
                best = (-ahead).max(axis=1)  # where the arm is ahead of the rival
                best[a] = np.inf
                b = int(best.argmin())
                found.append((b, int((-ahead[b]).argmax())))
        return found

    @cached_property
    def margins(self) -> FloatArray:
        """By how much it is decided whether an arm is dominated; 0 is a tie."""
        mu = self.instance.means
        return np.array([abs(mu[a, j] - mu[b, j]) for a, (b, j) in enumerate(self.decisive)])

    @cached_property
    def needed(self) -> FloatArray:
        """About how many rows per arm settle, with a chance of 80%, whether an arm is dominated.

        That is :math:`(1.96+0.84)^2(s_a^2+s_b^2)/\\delta^2` for the decisive rival and objective,
        if the means are what the table says; infinite for a tie.
        """
        spread = np.array(
            [
                self.deviations[a, j] ** 2 + self.deviations[b, j] ** 2
                for a, (b, j) in enumerate(self.decisive)
            ]
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = np.ceil(_Z**2 * spread / self.margins**2)
        return np.where(self.margins > 0, rows, np.inf)

    @cached_property
    def best(self) -> list[int]:
        """The best arm of every objective."""
        return [int(a) for a in self.instance.means.argmax(axis=0)]

    @cached_property
    def shown(self) -> list[int]:
        """The arms of the tables and the picture: the best of every objective, then the surest."""
        best = set(self.best)
        others = [int(a) for a in self.order if a not in best][: max(0, MOST - len(best))]
        return [int(a) for a in self.order if a in best.union(others)]

    @property
    def left(self) -> list[int]:
        """The arms that are not shown."""
        return [int(a) for a in self.order if a not in self.shown]

    def measured(self, arms: Iterable[int], j: int) -> list[str]:
        """The means of arms on an objective with their intervals, all with as many digits."""
        low, high = self.interval(j)
        places = decimals((high - low)[self.shown], self.spans[j])
        return [measured(self.means[a, j], low[a], high[a], places) for a in arms]

    def arm_table(self) -> pd.DataFrame:
        """One line per arm: its answer, its means with intervals, its gap."""
        import pandas as pd

        chosen = self.shown
        low, high = np.quantile(self.drawn_gaps, [1 - SURE, SURE], axis=0)
        gaps = self.instance.geometry.gaps
        table: dict[str, Any] = {
            "Arm": [escaped(self.arms[a]) for a in chosen],
            "Rows": [int(self.counts[a]) for a in chosen],
            "Optimal?": [f"{ANSWERS[self.answers[a]]} ({self.on_front[a]:.1%})" for a in chosen],
        }
        for j in range(self.instance.d):
            table[escaped(self.titled(j)).replace("$", r"\$")] = self.measured(chosen, j)
        table["Pareto gap"] = [measured(gaps[a], low[a], high[a], 3) for a in chosen]
        return pd.DataFrame(table)

    def best_table(self) -> pd.DataFrame:
        """One line per objective: its best arm, by how much, and how surely."""
        import pandas as pd

        mu, winners = self.instance.means, self.drawn.argmax(axis=1)
        rows = []
        for j, best in enumerate(self.best):
            second = int(np.argsort(-mu[:, j], kind="stable")[1])
            mean, next_mean = self.measured([best, second], j)
            rows.append(
                {
                    "Column": escaped(self.titled(j)),
                    "Best arm": escaped(self.arms[best]),
                    "Optimal?": ANSWERS[self.answers[best]],
                    "Mean": mean,
                    "Best in": f"{(winners[:, j] == best).mean():.1%}",
                    "Next arm": escaped(self.arms[second]),
                    "Next mean": next_mean,
                }
            )
        return pd.DataFrame(rows)

    def open_table(self) -> pd.DataFrame | None:
        """One line per arm of which it is open whether it is optimal, and the rows it would take.

        None if nothing is open.
        """
        import pandas as pd

        open_arms = self.answered("open")
        if not open_arms:
            return None
        rows = []
        for a in open_arms[:MOST]:
            b, j = self.decisive[a]
            n = self.needed[a]
            rows.append(
                {
                    "Arm": escaped(self.arms[a]),
                    "Rows now": int(self.counts[a]),
                    "Decided against": escaped(self.arms[b]),
                    "On": escaped(self.titled(j)),
                    "Difference": f"{self.margins[a] * self.spans[j]:.3g}",
                    "Rows per arm needed in total": "none: a tie"
                    if np.isinf(n)
                    else f"about {float(f'{n:.2g}'):,.0f}",
                }
            )
        return pd.DataFrame(rows)

    # ---- what it costs to learn ----------------------------------------------------------------

    @cached_property
    def prices(self) -> dict[str, Price]:
        """The price of the instance by the evidence that is used."""
        return {kind: price(self.instance.means, kind) for kind in ("max", "sum")}

    def price_table(self) -> pd.DataFrame:
        """The price, and what it comes to at the horizon."""
        import pandas as pd

        titles = {"max": "dependent in any way", "sum": "independent"}
        drawn = [price(self.drawn[:200], kind).value for kind in titles]
        low, high = np.quantile(drawn, [1 - SURE, SURE], axis=1)
        values = [float(self.prices[kind].value) for kind in titles]
        places = decimals(high - low)
        return pd.DataFrame(
            {
                "The columns are": list(titles.values()),
                "Price": [measured(*row, places) for row in zip(values, low, high, strict=True)],
                f"Price × log {self.asked.horizon:,}": [
                    f"{value * math.log(self.asked.horizon):,.{max(0, places - 1)}f}"
                    for value in values
                ],
            }
        )

    def players(self) -> dict[str, Policy]:
        """The policies of the race."""
        return {
            "Pareto IMED": ParetoIMED(),
            "Width-guided": WidthGuided(),
            "Pareto UCB1": ParetoUCB1(),
            "Annealing-Pareto": AnnealingPareto(),
            "Scalarized UCB": ScalarizedUCB(),
        }

    def policy(self, results: Results) -> Advice:
        """Which policy to use, by the race: the least mean regret among those with a bound."""
        summary = results.summary().set_index("policy")
        bounded = summary.loc[list(GUARANTEED)]
        name = str(bounded["mean"].idxmin())
        least = str(summary["mean"].idxmin())
        close = [
            str(other)
            for other in bounded.index
            if other != name and bounded.loc[other, "mean_low"] <= bounded.loc[name, "mean_high"]
        ]
        return Advice(name, GUARANTEED[name], close, least if least != name else "")


@dataclass(frozen=True)
class Advice:
    """A policy, the reason for it, who is as good within the intervals, who was better still."""

    policy: str
    because: str
    close: Sequence[str]
    better: str


def race_table(results: Results) -> pd.DataFrame:
    """What every policy of a race ended up with."""
    import pandas as pd

    summary = results.summary().sort_values("mean", kind="stable")
    rows = list(summary.itertuples())
    return pd.DataFrame(
        {
            "Policy": summary["policy"],
            "Mean regret": [
                f"{r.mean:,.1f} ({r.mean_low:,.1f} to {r.mean_high:,.1f})" for r in rows
            ],
            "Median": [f"{r.median:,.1f}" for r in rows],
            "Worst run": [f"{r.max:,.1f}" for r in rows],
            "Dominated arm at the end": [f"{r.error_rate:.1%}" for r in rows],
            "Certified": [f"{r.certified_rate:.0%}" for r in rows],
        }
    )


def decimals(widths: FloatArray, span: float = 1.0) -> int:
    """How many decimals show two digits of a typical interval; without any spread, three."""
    some = widths[widths > 1e-9 * span]
    return max(0, 1 - math.floor(math.log10(np.median(some) / 2))) if len(some) else 3


def measured(mean: float, low: float, high: float, places: int) -> str:
    """A mean with its interval, between which alone a line may break."""
    ends = f"({low:,.{places}f} to {high:,.{places}f})".replace(" ", "\N{NO-BREAK SPACE}")
    return f"{mean:,.{places}f} {ends}"


def escaped(name: str) -> str:
    """A name on one line, in which nothing begins a formula; at most forty letters."""
    text = " ".join(str(name).split()).replace("\\(", "(").replace("\\[", "[")
    return text if len(text) <= 40 else text[:39] + "…"
