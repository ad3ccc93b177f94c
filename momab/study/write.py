"""The files of `momab reproduce`: CSV, LaTeX (booktabs) and SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momab._util.files import atomically, write_text
from momab.study.compare import compare_with_paper
from momab.study.design import HORIZON
from momab.study.parts import TARGETS, Parts

if TYPE_CHECKING:
    import pandas as pd


def write_files(
    parts: Parts,
    targets: Iterable[str],
    folder: Path,
    figures: Mapping[str, Callable[[Parts], Any]],
) -> list[Path]:
    """Write the files of some targets and return their paths.

    ``figures`` says how each figure is drawn, as a function of the parts that returns something
    with matplotlib's ``savefig``: the study itself draws nothing.
    """
    written = []
    for target in _expanded(targets):
        table = TARGETS[target].table
        if table is None:
            drawn = figures[target](parts)
            with atomically(folder / f"{target}.svg") as file:
                drawn.savefig(file, format="svg", metadata={"Date": None})
            written.append(folder / f"{target}.svg")
        else:
            made = table(parts)
            written.append(write_text(folder / f"{target}.csv", str(made.to_csv(index=False))))
            written.append(write_text(folder / f"{target}.tex", _latex(made)))
    return written


def _expanded(targets: Iterable[str]) -> list[str]:
    asked = set(targets)
    return [target for target in TARGETS if target in asked or "all" in asked]


def _latex(frame: pd.DataFrame) -> str:
    plain = frame.rename(columns=lambda name: str(name).replace("_", " "))
    plain = plain.map(lambda entry: entry.replace("_", " ") if isinstance(entry, str) else entry)
    return str(plain.to_latex(index=False, float_format="%.3f"))


def comparisons(parts: Parts, targets: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Our cells beside the paper's, for the tables among the targets that it prints.

    Like is compared with like: only at the paper's horizon, and with two runs or more, which a
    standard error needs; otherwise there is no comparison.
    """
    if parts.options.horizon != HORIZON or parts.options.runs < 2:
        return {}
    sources = {"table1": "real", "table2": "synthetic", "table4": "real"}
    return {
        target: compare_with_paper(int(target[-1]), getattr(parts, sources[target]))
        for target in _expanded(targets)
        if target in sources
    }
