"""Our numbers beside the paper's, cell by cell.

The paper's own numbers come with the package, in ``momab/data/paper``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from momab.errors import MomabError
from momab.study.datasets import subsets
from momab.study.design import RUNS
from momab.study.groups import group_name
from momab.study.tables import plus_minus, table1, table2, table4

if TYPE_CHECKING:
    import pandas as pd

#: Half a unit of the last printed digit, per column: rounding is not disagreement.
ROUNDING = {
    "pareto_regret_mean": 0.005,
    "detection_rate": 0.0005,
    "fairness_mean": None,  # three significant digits
    "pareto_ucb1_mean": 0.05,
    "width_guided_mean": 0.05,
    "front_precision": 0.0005,
    "front_recall": 0.0005,
    "coverage_entropy": 0.0005,
}


def paper_table(number: int) -> pd.DataFrame:
    """The numbers that the paper prints in Table 1, 2, 3 or 4."""
    import pandas as pd

    names = {
        1: "table1_real",
        2: "table2_synthetic",
        3: "table3_tuning",
        4: "table4_front_coverage",
    }
    if number not in names:
        raise MomabError(f"the paper has Tables 1 to 4; there is no Table {number}.")
    source = resources.files("momab") / "data" / "paper" / f"{names[number]}.csv"
    with source.open() as file:
        table = pd.read_csv(file)
    if number == 4:
        table["subset_type"] = table["subset_type"].map(subsets.kind_of)
    return table


def compare_with_paper(number: int, runs: pd.DataFrame) -> pd.DataFrame:
    """Set our cells of Table 1, 2 or 4 beside the paper's, with a verdict each.

    z is the difference, less half a unit of the last printed digit, over the root of both
    squared standard errors.  Table 4 prints no spread, so ours serves for both sides; for
    rates the pooled binomial variance does.  Within 3 the cell agrees.
    """
    import pandas as pd

    makers = {1: table1, 2: table2, 4: table4}
    if number not in makers:
        raise MomabError("cells are compared for Tables 1, 2 and 4.")
    ours, theirs = makers[number](runs), paper_table(number)
    keys = ["delta", "m"] if number == 2 else ["dataset", "subset_type", "policy"]
    paper_runs = RUNS if number == 2 else 3 * RUNS
    our_runs = len(runs) // (len(theirs) * (2 if number == 2 else 1))
    both = theirs.merge(ours, on=keys, suffixes=("_paper", "_ours"), validate="one_to_one")
    cells = []
    for column in ROUNDING:
        if f"{column}_paper" not in both:
            continue
        for _, row in both.iterrows():
            paper, mine = float(row[f"{column}_paper"]), float(row[f"{column}_ours"])
            paper_sd, our_sd = _spreads(row, column, paper, mine, paper_runs, our_runs)
            error = math.sqrt(paper_sd**2 / paper_runs + our_sd**2 / our_runs)
            excess = max(0.0, abs(mine - paper) - _half_unit(column, paper))
            z = 0.0 if excess == 0 else excess / error if error > 0 else math.inf
            cells.append(
                {
                    **{key: row[key] for key in keys},
                    "column": column,
                    "paper": paper,
                    "paper_sd": paper_sd,
                    "ours": mine,
                    "ours_sd": our_sd,
                    "runs": our_runs,
                    "z": math.copysign(z, mine - paper),
                    "verdict": "agrees" if z <= 3 else "differs",
                }
            )
    return pd.DataFrame(cells)


def _half_unit(column: str, value: float) -> float:
    half = ROUNDING[column]
    if half is not None:
        return half
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    # Table 1 prints the smallest fairness regrets as multiples of 1
    return 0.5 * float(np.power(10.0, -min(digits, 0)))


def _spreads(
    row: pd.Series[Any], column: str, paper: float, mine: float, n: int, m: int
) -> tuple[float, float]:
    """The standard deviations of one run in the paper's cell and in ours."""
    if column == "detection_rate":
        pooled = (paper * n + mine * m) / (n + m)
        spread = math.sqrt(pooled * (1 - pooled))
        return spread, spread
    base = column.removesuffix("_mean")
    if f"{base}_std_paper" in row:
        return float(row[f"{base}_std_paper"]), float(row[f"{base}_std_ours"])
    return float(row[f"{column}_std"]), float(row[f"{column}_std"])


def beside(cells: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Cells of :func:`compare_with_paper` as a table to read, with a row per cell.

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


def _z_text(z: float) -> str:
    if not math.isfinite(z):
        return "∞"
    return "0.0" if abs(z) < 0.05 else f"{z:+.1f}"
