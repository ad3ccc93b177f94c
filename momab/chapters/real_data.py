"""Songs and videos: Tables 1 and 4 beside the paper's, and the geometry of the frozen subsets.

The tables compare recorded runs with the paper's cells, tell which objectives certified, and list
fronts, gaps and leads; the pictures show the gaps of all arms, every policy's mean regret in every
group, and each run of one group.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab import study
from momab.chapters.figures.groups import frame_groups, group_axes
from momab.chapters.figures.style import (
    BLUE,
    FAINT,
    INK,
    ORANGE,
    STYLE,
    policy_style,
)
from momab.model.statistics import normal_half_width
from momab.study.compare import beside
from momab.study.datasets import spotify, subsets
from momab.study.datasets.subsets import NEAR, TINY
from momab.study.design import POLICIES
from momab.study.groups import KIND_NAMES, by_group, group_name, lay_out, one_group

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


def shaky(cells: pd.DataFrame, factor: float = 3.0) -> pd.DataFrame:
    """Cells that agree although the two means differ by more than this factor."""
    both = cells[["paper", "ours"]].to_numpy()
    apart = both.max(axis=1) > factor * np.maximum(both.min(axis=1), 1e-12)
    kept: pd.DataFrame = cells.loc[apart & (cells["verdict"] == "agrees").to_numpy()]
    return kept


def group_lines(runs: pd.DataFrame) -> pd.DataFrame:
    """Per group and policy of Table 1: mean and median regret, and runs that ended wrong.

    ``se`` is the standard error of the mean; ``wrong`` counts the runs whose last recommendation
    is dominated; ``paper`` is the paper's mean and ``c`` the confidence coefficient (nan without).
    """
    import pandas as pd

    printed: Any = study.paper_table(1)
    rows = []
    for dataset, kind, part in by_group(runs):
        theirs = one_group(printed, dataset, kind).set_index("policy")["pareto_regret_mean"]
        for policy in POLICIES:
            few = part[part["policy"] == policy]
            player: Any = study.paper_policies(dataset, kind)[policy]
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "policy": policy,
                    "c": float(getattr(player, "c", math.nan)),
                    "runs": len(few),
                    "mean": few["pareto_regret"].mean(),
                    "se": few["pareto_regret"].sem(),
                    "median": few["pareto_regret"].median(),
                    "wrong": int((~few["detected"].astype(bool)).sum()),
                    "paper": float(theirs[policy]),
                }
            )
    return pd.DataFrame(rows)


def smaller_means(lines: pd.DataFrame) -> pd.DataFrame:
    """Where a rival's mean is below Width-guided's, with its distance in standard errors.

    ``lines`` is :func:`group_lines`; ``guided`` and ``guided_se`` are Width-guided's.
    """
    import pandas as pd

    rows = []
    for _, _, part in by_group(lines):
        [guided] = part[part["policy"] == "Width-guided"].to_dict("records")
        for line in part[part["mean"] < guided["mean"]].to_dict("records"):
            error = math.hypot(line["se"], guided["se"])
            more = {"guided": guided["mean"], "guided_se": guided["se"]}
            rows.append({**line, **more, "z": (guided["mean"] - line["mean"]) / error})
    return pd.DataFrame(rows, columns=[*lines.columns, "guided", "guided_se", "z"])


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
        fig, panels = group_axes((4.6, 4.4))
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


def mean_regrets(lines: pd.DataFrame) -> Figure:
    """Mean regret of every policy in every group, with 95 % intervals, and the paper's means.

    ``lines`` is :func:`group_lines`.  An interval that reaches below a tenth of its mean is cut
    there, for the axis is logarithmic.
    """
    from matplotlib.figure import Figure

    groups = [(dataset, kind) for dataset, kind, _ in by_group(lines)]
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 3.6), layout="constrained")
        axes = fig.subplots()
        for i, name in enumerate(POLICIES):
            colour, marker = policy_style(name)
            part = lines[lines["policy"] == name]
            y = np.arange(len(part)) + 0.17 * (i - 1.5)
            half = normal_half_width(part["se"])
            low = np.minimum(half, 0.9 * part["mean"])
            axes.errorbar(
                part["mean"],
                y,
                xerr=[low, half],
                color=colour,
                marker=marker,
                ms=5,
                ls="none",
                capsize=2,
                label=name,
            )
            paper = "the paper's mean" if i == 0 else None
            axes.plot(part["paper"], y, "|", ms=9, mew=1.6, color=INK, label=paper)
        axes.set(xscale="log", xlabel="Pareto regret", ylim=(len(groups) - 0.5, -0.5))
        axes.set_yticks(range(len(groups)), [group_name(*group) for group in groups])
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        fig.legend(loc="outside upper left", ncols=2)
    return fig


def group_runs(runs: pd.DataFrame, lines: pd.DataFrame, dataset: str, kind: str) -> Figure:
    """Every run of one group of Table 1 on a log axis, one row per policy.

    ``lines`` is :func:`group_lines`.  A bar marks our mean, an open diamond the paper's, a cross a
    run whose last recommendation is dominated; regrets below 0.001 are drawn there.
    """
    from matplotlib.figure import Figure

    part = one_group(runs, dataset, kind)
    told = one_group(lines, dataset, kind).set_index("policy")
    names = []
    with mpl.rc_context(STYLE):
        fig = Figure(figsize=(4.6, 2.2), layout="constrained")
        axes = fig.subplots()
        for row, name in enumerate(POLICIES):
            colour, _ = policy_style(name)
            few, line = part[part["policy"] == name], told.loc[name]
            regret = few["pareto_regret"].clip(lower=1e-3).to_numpy()
            y = row + 0.3 * np.sin(np.arange(len(regret)) * 2.4)
            good = few["detected"].to_numpy(bool)
            axes.plot(regret[good], y[good], ".", ms=4, color=colour, alpha=0.6)
            if not good.all():
                axes.plot(regret[~good], y[~good], "x", ms=6, mew=1.5, color=INK)
            axes.plot([line["mean"]] * 2, [row - 0.42, row + 0.42], color=INK, lw=1.8)
            axes.plot(line["paper"], row, "D", ms=6, mfc="none", mec=INK)
            c = "" if math.isnan(line["c"]) else f", c = {line['c']:.2g}"
            names.append(f"{name}{c}")
        axes.set(xscale="log", xlim=(7e-4, 3e4), ylim=(3.6, -0.6), xlabel="Pareto regret")
        axes.set_title(group_name(dataset, kind))
        axes.set_yticks(range(len(POLICIES)), names)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
    return fig
