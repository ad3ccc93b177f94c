"""study.tables."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momab import datasets, study
from momab.study import reproduce
from momab.study.groups import group_name

if TYPE_CHECKING:
    import pandas as pd


def provenance_text(parts: Iterable[str]) -> str:
    """Say what some recorded parts were made with, in Markdown."""
    made = [reproduce.recorded_provenance()[part] for part in parts]
    first = made[0]
    seeds = {f"{entry['seed']}" for entry in made}
    many = f", {first['risk_runs']:,} where the text says so" if "risk" in parts else ""
    return (
        f"seed {', '.join(sorted(seeds))}, horizon {first['horizon']:,}, {first['runs']} runs per "
        f"subset or setting{many}; momab {first['momab']} (source {first['source'][:8]}), "
        f"Python {first['python']}, NumPy {first['numpy']}"
    )


def absent_data(data_dir: str | None = None) -> list[str]:
    """The data sets that are not on this machine."""
    with warnings.catch_warnings():
        # importing the downloader inside a notebook makes its progress bar ask for widgets
        warnings.simplefilter("ignore")
        return [name for name in study.DATASETS if datasets.find(name, data_dir) is None]


def plus_minus(mean: float, spread: float) -> str:
    """A mean and its spread as the paper prints them, with three or four digits."""
    size = max(abs(mean), 1e-12)
    if size >= 10_000:
        power = math.floor(math.log10(size))
        return f"({mean / 10**power:.2f} ± {spread / 10**power:.2f})·10{_superscript(power)}"
    digits = 2 if size < 100 else 1
    return f"{mean:,.{digits}f} ± {spread:,.{digits}f}"


def _z_text(z: float) -> str:
    if not math.isfinite(z):
        return "∞"
    return "0.0" if abs(z) < 0.05 else f"{z:+.1f}"


def _superscript(number: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(number))


def beside(cells: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Cells of :func:`momab.study.compare` as a table to read, with a row per cell.

    ``names`` says which columns of the paper's table to show, and what to call them.
    """
    import pandas as pd

    rows = []
    for cell in cells.to_dict("records"):
        if cell["column"] not in names:
            continue
        row: dict[str, Any] = {}
        if "delta" in cell:
            row["δ"], row["m"] = f"{cell['delta']:g}", int(cell["m"])
        else:
            row["Group"] = group_name(cell["dataset"], cell["subset_type"])
            row["Policy"] = cell["policy"]
        rate = cell["column"] in ("detection_rate", "front_precision", "front_recall")
        if rate or cell["column"] == "coverage_entropy":
            shown = f"{cell['paper']:.3f}", f"{cell['ours']:.3f}"
        else:
            shown = (
                plus_minus(cell["paper"], cell["paper_sd"]),
                plus_minus(cell["ours"], cell["ours_sd"]),
            )
        row |= {
            "Quantity": names[cell["column"]],
            "Paper": shown[0],
            "Ours": shown[1],
            "z": _z_text(cell["z"]),
            "Verdict": cell["verdict"],
        }
        rows.append(row)
    frame = pd.DataFrame(rows)
    return frame.drop(columns="Quantity") if len(names) == 1 else frame


def averages(values: Any, size: int, count: int, seed: int) -> Any:
    """Averages of ``size`` values drawn with replacement, ``count`` times."""
    drawn = np.random.default_rng(seed).choice(np.asarray(values, dtype=float), (count, size))
    return drawn.mean(axis=1)
