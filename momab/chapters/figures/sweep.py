"""What changes in the runs of a sweep: a table and a plot of the numbers of a page."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib as mpl

from momab.chapters.figures.show import unset
from momab.chapters.figures.style import BLUE, LINES, STYLE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MOST = 12
"""How many numbers are drawn."""


@dataclass(frozen=True)
class ChangingNumbers:
    """The runs of a sweep, by what varies, and the numbers that change: words, then a text each."""

    runs: Sequence[Mapping[str, str]]
    pages: Sequence[str]
    numbers: Sequence[Sequence[str]]

    @property
    def names(self) -> list[str]:
        """The parameters that vary."""
        return list(self.runs[0])

    @property
    def labels(self) -> list[str]:
        """What tells the runs apart."""
        return [", ".join(f"{n} = {text}" for n, text in run.items()) for run in self.runs]

    @property
    def links(self) -> list[tuple[str, str]]:
        """The runs and their pages."""
        return list(zip(self.labels, self.pages, strict=True))

    def table(self) -> pd.DataFrame | None:
        """A line per number, a column per run; none if no number changes."""
        import pandas as pd

        lines = [dict(zip(["In the page", *self.labels], line)) for line in self.numbers]
        frame = pd.DataFrame(lines)
        return frame.map(unset) if lines else None

    def tidy(self) -> pd.DataFrame:
        """One row per number and run: which number, what varies, the value."""
        import pandas as pd

        rows = [
            {"number": k, **{n: _number(t) for n, t in run.items()}, "value": _number(text)}
            for k, (_, *texts) in enumerate(self.numbers[:MOST])
            for run, text in zip(self.runs, texts, strict=True)
        ]
        return pd.DataFrame(rows)

    def figure(self) -> Figure:
        """A panel per number over the first parameter that varies, a line per value of the next.

        There must be a number that changes.
        """
        import seaborn
        from matplotlib.figure import Figure

        columns = min(3, max(1, len(self.numbers)))
        lines = max(1, -(-min(len(self.numbers), MOST) // columns))
        data = self.tidy()
        with mpl.rc_context(STYLE):
            fig = Figure(figsize=(1.2 + 2.6 * columns, 0.6 + 2.1 * lines), layout="constrained")
            panels = fig.subplots(lines, columns, squeeze=False).ravel()
            hue = self.names[1] if len(self.names) > 1 else None
            for number, axes in enumerate(panels):
                if number >= min(len(self.numbers), MOST):
                    axes.axis("off")
                    continue
                words = self.numbers[number][0]
                part = data[data["number"] == number]
                seaborn.lineplot(
                    part, x=self.names[0], y="value", hue=hue, marker="o", ax=axes, errorbar=None,
                    legend=number == 0 and hue is not None,
                    **({"palette": LINES[: part[hue].nunique()]} if hue else {"color": BLUE}),
                )  # fmt: skip
                title = textwrap.fill(words.replace("▢", "□"), 34)
                axes.set_title(title.replace("$", r"\$"), fontsize=8)
                axes.set(ylabel="", xlabel=self.names[0])
        return fig


def _number(text: str) -> float | str:
    """A number as a page writes it; any other text as it is."""
    plain = text.replace(",", "").replace("−", "-").strip()
    try:
        return float(plain.rstrip("% ")) / (100 if plain.endswith("%") else 1)
    except ValueError:
        return text
