"""Songs and videos: Tables 1 and 4 beside the paper's, and the geometry of the frozen subsets.

The tables compare recorded runs with the paper's cells, tell which objectives certified, and list
fronts, gaps and leads; the pictures show the gaps of all arms and the regret of every run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab import study
from momab.datasets import spotify, subsets
from momab.datasets.subsets import NEAR, TINY
from momab.figures.groups import frame_groups, group_axes, lay_out
from momab.figures.style import BLUE, FAINT, INK, ORANGE, POLICY_STYLE, STYLE
from momab.study.compare import beside
from momab.study.design import POLICIES
from momab.study.groups import KIND_NAMES, by_group

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def wide(cells: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Cells of :func:`momab.study.compare_with_paper` with a row per group and policy."""
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


def outside(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells of ``study.compare_with_paper`` that differ, each with a :func:`reason`."""
    found: Any = cells[cells["verdict"] != "agrees"]
    kept: pd.DataFrame = found.assign(reason=[reason(cell) for cell in found.to_dict("records")])
    return kept


def reason(cell: Mapping[str, Any]) -> str:
    """Why a cell may lie outside three standard errors, as far as its own numbers tell.

    ``"true mean"``: the released runs add the true mean after a commitment, where ours draw;
    ``"bad runs"``: a spread larger than the mean; ``"ties"``: a share of pulls, which depends on
    the tie-breaking; and ``"unknown"``.
    """
    heavy = max(cell["paper_sd"] / max(abs(cell["paper"]), 1e-12), 0.0) > 1 or (
        cell["ours_sd"] > abs(cell["ours"])
    )
    if cell["policy"] == "Width-guided" and cell["column"] in ("front_precision", "front_recall"):
        return "true mean"
    if heavy:
        return "bad runs"
    return "ties" if cell["column"] == "coverage_entropy" else "unknown"


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


def first_certificates(runs: pd.DataFrame) -> pd.DataFrame:
    """Per subset, how close the second lead is to the first, and who certified first.

    ``ratio`` is the second largest lead over the largest; ``champion`` and ``three`` are the
    shares of certified Width-guided runs in which the objective with the largest lead, or one of
    the three largest, certified.  ``runs`` are those of Table 1.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(
        runs[(runs["policy"] == "Width-guided") & runs["certified"]]
    ):
        for number, subset in enumerate(subsets.frozen(dataset, kind), start=1):
            leads = np.array(subset.objective_gaps)
            first = part.loc[part["subset"] == str(number), "cert_objective"].astype(int).to_numpy()
            larger = (leads > leads[first][:, None]).sum(axis=1)
            second, largest = np.sort(leads)[-2:]
            rows.append((dataset, second / largest, (larger == 0).mean(), (larger < 3).mean()))
    return pd.DataFrame(rows, columns=["dataset", "ratio", "champion", "three"])


def play_subset(options: study.Options, dataset: str, group: str, subset: int) -> pd.DataFrame:
    """Runs of the paper's four policies on one frozen subset, summarised; needs the data.

    ``group`` is misleading, friendly or easy.
    """
    [kind] = [kind for kind, name in KIND_NAMES.items() if name == group]
    instance = study.real_instances(options, dataset, kind)[str(subset)]
    played: Any = options.simulate(instance, study.paper_policies(dataset, kind)).summary()
    columns = ["policy", "runs", "mean", "mean_low", "mean_high", "median", "error_rate"]
    found: pd.DataFrame = played[columns]
    return found


def geometry_table(geometry: pd.DataFrame) -> pd.DataFrame:
    """:func:`subset_geometry` to read."""
    return lay_out(
        geometry,
        {
            "Subset": "{group} {subset}",
            "Front": "front",
            "Positive gaps": "positive",
            "from": "least",
            "to": "largest",
            "Largest lead": "g_dagger",
        },
    )


def certificate_table(who: pd.DataFrame) -> pd.DataFrame:
    """:func:`certified_objectives` to read, with the four most frequent objectives."""
    return lay_out(
        who,
        {
            "Group": "group",
            "Certified runs": "{certified:.0%}",
            "Objectives seen": "distinct",
            "most on one subset": "most",
            "by the champion": "{champion:.0%}",
            "Most frequent": lambda line: _largest_shares(line["dataset"], line["shares"]),
        },
    )


def _largest_shares(dataset: str, shares: Mapping[int, float], most: int = 4) -> str:
    """The largest shares: "acousticness 43%, valence 33%"; KuaiRec's objectives are numbered."""
    names = spotify.OBJECTIVES if dataset == "spotify" else None
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    parts = [f"{names[j] if names else f'no. {j + 1}:'} {share:.0%}" for j, share in ordered[:most]]
    return ", ".join(parts) + (", ..." if len(ordered) > most else "")


def geometry_groups(arms: pd.DataFrame) -> Figure:
    """Pareto gaps of all arms of the frozen subsets, one panel per group, one row per subset.

    ``arms`` is :func:`momab.study.arm_tables.subset_arms`.
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
            for row, name in enumerate(POLICIES):
                colour, _ = POLICY_STYLE[name]
                regret = part.loc[part["policy"] == name, "pareto_regret"].clip(lower=1e-3)
                y = row + 0.3 * np.sin(np.arange(len(regret)) * 2.4)
                axes.plot(regret, y, ".", ms=3, color=colour, alpha=0.6)
                axes.plot([regret.mean()] * 2, [row - 0.42, row + 0.42], color=INK, lw=1.6)
            axes.set(xscale="log", ylim=(3.6, -0.6))
            axes.set_yticks(range(4), POLICIES)
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0, labelsize=8.5)
        for axes in list(panels.values())[3:]:
            axes.set_xlabel("Pareto regret")
    return fig
