"""chapters.real_data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab.datasets import subsets
from momab.datasets.subsets import NEAR, TINY
from momab.figures.groups import frame_groups, group_axes
from momab.figures.style import BLUE, FAINT, INK, ORANGE, POLICY_STYLE, STYLE
from momab.study.groups import by_group
from momab.study.tables import beside

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def wide(cells: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Cells of :func:`momab.study.compare` with a row per group and policy."""
    import pandas as pd

    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for column, name in names.items():
        shown = beside(cells[cells["column"] == column], {column: name})
        for line in shown.to_dict("records"):
            key = (line["Group"], line["Policy"])
            row = rows.setdefault(key, {"Group": key[0], "Policy": key[1]})
            row |= {f"{name}, paper": line["Paper"], "ours" + " " * len(row): line["Ours"]}
            row["z" + " " * len(row)] = line["z"]
    return pd.DataFrame(list(rows.values()))


def explain(cell: Mapping[str, Any]) -> str:
    """Why a cell may lie outside three standard errors, as far as its own numbers tell."""
    heavy = max(cell["paper_sd"] / max(abs(cell["paper"]), 1e-12), 0.0) > 1 or (
        cell["ours_sd"] > abs(cell["ours"])
    )
    if cell["policy"] == "Width-guided" and cell["column"] in ("front_precision", "front_recall"):
        return (
            "after the commitment the released runs add the true mean instead of drawing rewards, "
            "so that their committed arm sits exactly at its mean; ours draws"
        )
    if heavy:
        return "a few bad runs make up the mean, and z is no guide for such a distribution"
    if cell["column"] == "coverage_entropy":
        return "a share of pulls that depends on details of the tie-breaking"
    return "no explanation: the two implementations differ, or chance (1 in 370 per cell) has it"


def shaky(cells: pd.DataFrame, factor: float = 3.0) -> pd.DataFrame:
    """Cells that agree although the two means differ by more than this factor."""
    both = cells[["paper", "ours"]].to_numpy()
    apart = both.max(axis=1) > factor * np.maximum(both.min(axis=1), 1e-12)
    kept: pd.DataFrame = cells.loc[apart & (cells["verdict"] == "agrees").to_numpy()]
    return kept


def certified_objectives(runs: pd.DataFrame) -> pd.DataFrame:
    """Which objectives certified first, per group, and how often it was the champion.

    ``runs`` are those of Table 1.  ``champion`` is the share of certificates for the objective
    with the largest lead of its subset, ``distinct`` the number of objectives that ever
    certified, ``shares`` maps objectives (counted from 0) to their shares.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(runs[runs["policy"] == "Width-guided"]):
        found = part[part["certified"]]
        best = {
            str(i): int(np.argmax(subset.objective_gaps))
            for i, subset in enumerate(subsets.frozen(dataset, kind), start=1)
        }
        objective = found["cert_objective"].astype(int)
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "certified": len(found) / len(part),
                "distinct": int(objective.nunique()),
                "most": int(found.groupby("subset")["cert_objective"].nunique().max()),
                "champion": float((objective == found["subset"].map(best)).mean()),
                "shares": objective.value_counts(normalize=True).to_dict(),
            }
        )
    return pd.DataFrame(rows)


def share_text(
    shares: Mapping[int, float], names: Iterable[str] | None = None, most: int = 4
) -> str:
    """The largest shares in words: "acousticness 43 %, valence 33 %"."""
    known = list(names) if names else None
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    parts = [f"{known[j] if known else f'no. {j + 1}:'} {share:.0%}" for j, share in ordered[:most]]
    return ", ".join(parts) + (", ..." if len(ordered) > most else "")


def subset_geometry() -> pd.DataFrame:
    """Per frozen subset: size of the front, range of positive gaps, and the largest lead."""
    import pandas as pd

    from momab.study.arm_tables import subset_arms

    rows = []
    for dataset, kind, part in by_group(subset_arms()):
        for number, subset in enumerate(subsets.frozen(dataset, kind), start=1):
            arms = part[part["subset"] == str(number)]
            positive = arms.loc[arms["gap"] > subsets.ZERO, "gap"]
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "subset": str(number),
                    "front": int(arms["on_front"].sum()),
                    "positive": len(positive),
                    "least": float(positive.min()) if len(positive) else 0.0,
                    "largest": float(positive.max()) if len(positive) else 0.0,
                    "g_dagger": subset.g_dagger,
                }
            )
    return pd.DataFrame(rows)


def geometry_groups(arms: pd.DataFrame) -> Figure:
    """Pareto gaps of all arms of the frozen subsets, one panel per group, one row per subset.

    ``arms`` is :func:`momab.describe.subset_arms`.
    """
    with mpl.rc_context(STYLE):
        fig, panels = group_axes((5.8, 3.8))
        for dataset, kind, part in by_group(arms):
            axes = panels[dataset, kind]
            axes.axvspan(TINY, NEAR, color=FAINT, alpha=0.6, lw=0)
            y = part["subset"].astype(int) + 0.26 * ((part["position"] % 3) - 1)
            front = part["on_front"]
            axes.plot(part["gap"][front], y[front], "o", ms=4, color=BLUE, label="on the front")
            axes.plot(
                part["gap"][~front], y[~front], "s", ms=4, mfc="none", mec=ORANGE, label="dominated"
            )
            axes.set_xscale("symlog", linthresh=1e-3, linscale=0.4)
            axes.set(xlim=(-3e-4, 0.4), ylim=(3.6, 0.4), yticks=(1, 2, 3))
            axes.set_xticks([0, 1e-3, 1e-2, 1e-1], ["0", ".001", ".01", ".1"])
            axes.minorticks_off()
            axes.grid(visible=False, axis="y")
        frame_groups(fig, panels, "Pareto gap", "subset", 2)
    return fig


def regret_dots(runs: pd.DataFrame) -> Figure:
    """Every single run of Table 1 on a log axis, one panel per group, one row per policy.

    The bar marks the mean.
    """
    with mpl.rc_context(STYLE):
        fig, panels = group_axes((5.8, 4.2))
        for dataset, kind, part in by_group(runs):
            axes = panels[dataset, kind]
            for row, (name, (colour, _)) in enumerate(POLICY_STYLE.items()):
                regret = part.loc[part["policy"] == name, "pareto_regret"].clip(lower=1e-3)
                y = row + 0.3 * np.sin(np.arange(len(regret)) * 2.4)
                axes.plot(regret, y, ".", ms=3, color=colour, alpha=0.6)
                axes.plot([regret.mean()] * 2, [row - 0.42, row + 0.42], color=INK, lw=1.6)
            axes.set(xscale="log", ylim=(3.6, -0.6))
            axes.set_yticks(range(4), list(POLICY_STYLE))
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0, labelsize=8.5)
        for axes in list(panels.values())[3:]:
            axes.set_xlabel("Pareto regret")
    return fig
