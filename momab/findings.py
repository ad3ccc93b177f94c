r"""What the chapters on the computational study compute from runs, recorded or fresh.

Every function takes tables of runs as :mod:`momab.study` makes them and returns tables; nothing
here simulates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momab import datasets, instances, reproduce, study, theory
from momab.subsets import EASY, FRIENDLY, MISLEADING

if TYPE_CHECKING:
    import pandas as pd

GROUP = ["dataset", "subset_type"]
DATASET_NAMES = {"spotify": "Spotify", "kuairec": "KuaiRec"}
KIND_NAMES = {MISLEADING: "misleading", FRIENDLY: "friendly", EASY: "easy"}
#: How often the best other policy's regret exceeds Width-guided's, as the paper's text says.
PAPER_RATIOS = {
    ("spotify", MISLEADING): 111.0,
    ("spotify", FRIENDLY): 223.0,
    ("spotify", EASY): 591.0,
    ("kuairec", MISLEADING): 1.7,
    ("kuairec", FRIENDLY): 16.0,
    ("kuairec", EASY): 1.2,
}


def group_name(dataset: str, kind: str) -> str:
    """A group as people say it: "Spotify misleading"."""
    return f"{DATASET_NAMES[dataset]} {KIND_NAMES[kind]}"


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


def data_text(data_dir: str | None = None) -> str:
    """Say whether the data sets are on this machine, and how to get those that are not."""
    absent = [name for name in study.DATASETS if datasets.find(name, data_dir) is None]
    again = "`momab reproduce all --check` recomputes every recorded number and compares it."
    if not absent:
        return f"The data sets are on this machine; {again}"
    get = " and ".join(f"`momab data get {name}`" for name in absent)
    return f"With the data ({get}), {again}"


def plus_minus(mean: float, spread: float) -> str:
    """A mean and its spread as the paper prints them, with three or four digits."""
    size = max(abs(mean), 1e-12)
    if size >= 10_000:
        power = math.floor(math.log10(size))
        return f"({mean / 10**power:.2f} ± {spread / 10**power:.2f})·10{_superscript(power)}"
    digits = 2 if size < 100 else 1
    return f"{mean:,.{digits}f} ± {spread:,.{digits}f}"


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
            "z": f"{cell['z']:+.1f}" if math.isfinite(cell["z"]) else "∞",
            "Verdict": cell["verdict"],
        }
        rows.append(row)
    frame = pd.DataFrame(rows)
    return frame.drop(columns="Quantity") if len(names) == 1 else frame


# --- the synthetic family -------------------------------------------------------------------


def synthetic_theory(horizon: int = study.HORIZON) -> pd.DataFrame:
    r"""Per setting of Table 2: what the bounds say.

    ``c_sharp`` is the sharper bound's exploration term on the theorem's scale
    :math:`K\log T/g^\dagger`, where the theorem's own coefficient is 64 and Pareto UCB1's is
    C_PUCB.
    """
    import pandas as pd

    rows = []
    for delta, m in instances.SYNTHETIC_SETTINGS:
        instance = instances.synthetic(delta, m)
        geometry = instance.geometry
        scale = geometry.K * math.log(horizon) / geometry.g_dagger
        sharper = theory.sharper_bound(instance.means, horizon)
        rows.append(
            {
                "delta": delta,
                "m": m,
                "sum_of_gaps": float(geometry.gaps.sum()),
                "theorem": theory.theorem_bound(instance.means, horizon).total,
                "sharper": sharper.total,
                "c_sharp": sharper.exploration / scale,
                "c_pucb": theory.c_pucb(instance.means, horizon),
            }
        )
    return pd.DataFrame(rows)


def pulls_by_kind(pulls: pd.DataFrame, policy: str = "Width-guided") -> pd.DataFrame:
    """Mean pulls of one front, crowd and filler arm, per synthetic setting, with standard errors.

    ``pulls`` is that of the results of :func:`momab.study.synthetic` or of its Width-guided half.
    """
    import pandas as pd

    rows = []
    for delta, m in instances.SYNTHETIC_SETTINGS:
        here = pulls[(pulls["instance"] == f"{delta:g}, {m}") & (pulls["policy"] == policy)]
        row: dict[str, Any] = {"delta": delta, "m": m}
        names = instances.synthetic(delta, m).arm_names
        kinds = np.array([name.split()[0] for name in names])
        for kind in ("crowd", "filler"):
            arms = np.flatnonzero(kinds == kind)
            per_run = here[here["arm"].isin(arms)].groupby("run")["pulls"].mean()
            row[kind] = per_run.mean()
            row[f"{kind}_se"] = per_run.sem()
        rows.append(row)
    return pd.DataFrame(rows)
