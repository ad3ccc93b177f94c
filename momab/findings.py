r"""What the chapters on the computational study compute from runs, recorded or fresh.

Every function takes tables of runs as :mod:`momab.study` makes them and returns tables; nothing
here simulates.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from momab import datasets, instances, reproduce, study, subsets, theory
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


def by_group(frame: pd.DataFrame) -> list[tuple[str, str, Any]]:
    """The lines of each group that a table holds, in the order of the paper's rows."""
    parts = [(dataset, kind, _group(frame, dataset, kind)) for dataset, kind in PAPER_RATIOS]
    return [part for part in parts if len(part[2])]


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
    with warnings.catch_warnings():
        # importing the downloader inside a notebook makes its progress bar ask for widgets
        warnings.simplefilter("ignore")
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


# --- what 60 runs cannot see ----------------------------------------------------------------


def group_risk(risk: pd.DataFrame) -> pd.DataFrame:
    """Pool the three subsets of every group, per coefficient.

    ``risk`` is :func:`momab.study.risk`.  Subsets weigh alike, as in the paper's rows.  ``typical``
    is the mean of the subsets' medians, ``se`` the standard error of the mean; the rate of
    commitments to a dominated arm comes with its exact 95 % interval.
    """
    import pandas as pd

    from momab.simulate import rate_interval

    rows = []
    for dataset, kind, group in by_group(risk):
        for c in sorted(set(group["c"])):
            part = group[group["c"] == c]
            hits = int((part["wrong_commit_rate"] * part["runs"]).round().sum())
            runs = int(part["runs"].sum())
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "c": c,
                    "runs": runs,
                    "mean": part["mean"].mean(),
                    "se": math.sqrt((part["se"] ** 2).sum()) / len(part),
                    "typical": part["median"].mean(),
                    "max": part["max"].max(),
                    **rate_interval("wrong", np.arange(runs) < hits),
                }
            )
    return pd.DataFrame(rows)


def at_paper(risk: pd.DataFrame) -> pd.DataFrame:
    """The lines of :func:`momab.study.risk` or :func:`group_risk` at the paper's coefficient."""
    papers = [study.paper_coefficient(d, k) for d, k in zip(risk["dataset"], risk["subset_type"])]
    return in_order(risk[np.isclose(risk["c"], papers, rtol=1e-6)])


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The lines of a table, group by group in the order of the paper's rows."""
    import pandas as pd

    parts: list[pd.DataFrame] = [part for _, _, part in by_group(frame)]
    return pd.concat(parts)


def unseen(risk: pd.DataFrame, runs: int = study.RUNS) -> pd.DataFrame:
    """The chance that ``runs`` runs on each subset of a group show no wrong commitment.

    Also the chance at the lower and the upper end of the exact interval of each subset's rate.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(at_paper(risk)):
        row: dict[str, Any] = {"dataset": dataset, "subset_type": kind}
        for name, column in (
            ("none", "wrong_commit_rate"),
            ("none_high", "wrong_commit_low"),
            ("none_low", "wrong_commit_high"),
        ):
            row[name] = float(((1.0 - part[column]) ** runs).prod())
        rows.append(row)
    return pd.DataFrame(rows)


def best_coefficients(pooled: pd.DataFrame) -> pd.DataFrame:
    """Per group of :func:`group_risk`, the coefficient with the least mean, and its rivals.

    ``not_worse`` lists the coefficients whose mean is within two standard errors of the
    difference from the least.  ``ceiling`` is what the mean could be if wrong commitments
    happened as often as the runs still allow (95 %) and cost what seen ones cost on average.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(pooled):
        best = part.loc[part["mean"].idxmin()]
        near = part["mean"] - best["mean"] <= 2 * np.hypot(part["se"], best["se"])
        at = at_paper(part).iloc[0]
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "c": best["c"],
                "mean": best["mean"],
                "se": best["se"],
                "wrong_rate": best["wrong_rate"],
                "ceiling": best["mean"]
                + (best["wrong_high"] - best["wrong_rate"]) * _wrong_cost(part),
                "not_worse": sorted(part.loc[near, "c"].tolist()),
                "paper_c": at["c"],
                "paper_mean": at["mean"],
                "paper_se": at["se"],
            }
        )
    return pd.DataFrame(rows)


def _wrong_cost(part: Any) -> float:
    """What one wrong commitment costs on average, where fewest were seen but some."""
    seen = part[part["wrong_rate"] > 0]
    if seen.empty:
        return 0.0
    last = seen.loc[seen["c"].idxmax()]
    return float((last["mean"] - last["typical"]) / last["wrong_rate"])


def never_below(survived: pd.DataFrame, runs: pd.DataFrame, policies: Iterable[str]) -> list[str]:
    """The groups in which some of these policies have a mean below Width-guided's.

    ``survived`` is :func:`survival`, whose means are those of many runs; ``runs`` are those of
    Table 1.
    """
    table: Any = study.table1(runs)
    lost = []
    for line in survived.to_dict("records"):
        rows = _group(table, line["dataset"], line["subset_type"])
        rows = rows[rows["policy"].isin(list(policies))]
        if (rows["pareto_regret_mean"] < line["mean"]).any():
            lost.append(group_name(line["dataset"], line["subset_type"]))
    return lost


def times(ratio: float) -> str:
    """A ratio as people write it: 0.05×, 1.7×, 111×."""
    text = f"{ratio:,.0f}" if ratio >= 99.5 else f"{ratio:.2g}"
    return f"{text}×"


def listed(frame: pd.DataFrame) -> str:
    """The groups of a table's lines, in words."""
    names = [group_name(d, k) for d, k in zip(frame["dataset"], frame["subset_type"])]
    return ", ".join(dict.fromkeys(names)) or "none"


def survival(
    pooled: pd.DataFrame, rivals: pd.DataFrame, runs: pd.DataFrame, coefficient: str = "paper"
) -> pd.DataFrame:
    """How often the best rival's mean regret exceeds Width-guided's, with what many runs show.

    ``runs`` are those of Table 1, ``pooled`` is :func:`group_risk`, ``rivals`` is
    :func:`momab.study.rivals`.  ``ratio`` uses many runs on both sides, ``ratio_low`` and
    ``ratio_high`` are its 95 % limits on the log scale; ``ratio_60`` uses our 60 runs, and
    ``claimed`` is the paper's.  With ``coefficient="best"`` Width-guided gets the coefficient
    that :func:`best_coefficients` finds.
    """
    import pandas as pd

    table: Any = study.table1(runs)
    best_c: Any = best_coefficients(pooled)
    rows = []
    for dataset, kind, more in by_group(rivals):
        means: dict[str, tuple[float, float]] = {}
        for line in _group(table, dataset, kind).to_dict("records"):
            count = len(_group(runs, dataset, kind)) / len(study.POLICIES)
            error = line["pareto_regret_std"] / math.sqrt(count)
            means[line["policy"]] = (line["pareto_regret_mean"], error)
        ratio_60 = _best_rival(means)[1] / means["Width-guided"][0]
        means["Annealing-Pareto"] = (
            more["mean"].mean(),
            math.sqrt((more["se"] ** 2).sum()) / len(more),
        )
        found = _group(best_c, dataset, kind).iloc[0]
        prefix = "paper_" if coefficient == "paper" else ""
        mean, error = found[f"{prefix}mean"], found[f"{prefix}se"]
        rival, rival_mean, rival_error = _best_rival(means)
        spread = math.exp(1.96 * math.hypot(error / mean, rival_error / rival_mean))
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "claimed": PAPER_RATIOS[dataset, kind],
                "ratio_60": ratio_60,
                "c": found[f"{prefix}c"],
                "mean": mean,
                "se": error,
                "rival": rival,
                "rival_mean": rival_mean,
                "rival_se": rival_error,
                "ratio": rival_mean / mean,
                "ratio_low": rival_mean / mean / spread,
                "ratio_high": rival_mean / mean * spread,
            }
        )
    frame = pd.DataFrame(rows)
    verdicts = np.select(
        [frame["ratio_low"] > 1, frame["ratio_high"] < 1],
        ["Width-guided is better", "the rival is better"],
        default="undecided",
    )
    return frame.assign(verdict=verdicts)


def _group(frame: Any, dataset: str, kind: str) -> Any:
    return frame[(frame["dataset"] == dataset) & (frame["subset_type"] == kind)]


def _best_rival(means: Mapping[str, tuple[float, float]]) -> tuple[str, float, float]:
    name = min((key for key in means if key != "Width-guided"), key=lambda key: means[key][0])
    return (name, *means[name])


def averages(values: Any, size: int, count: int, seed: int) -> Any:
    """Averages of ``size`` values drawn with replacement, ``count`` times."""
    drawn = np.random.default_rng(seed).choice(np.asarray(values, dtype=float), (count, size))
    return drawn.mean(axis=1)


# --- the real-data tables -------------------------------------------------------------------


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

    from momab.describe import subset_arms

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


# --- the same tuning for everyone -----------------------------------------------------------


def tuning_curves(validation: pd.DataFrame) -> pd.DataFrame:
    """Mean validation regret per group, policy and coefficient, with its standard error.

    ``chosen`` is true for the coefficient that :func:`momab.study.choose` takes.
    """
    import pandas as pd

    chosen: Any = study.choose(validation)
    rows = []
    for dataset, kind, part in by_group(validation):
        picked = _group(chosen, dataset, kind).set_index("policy")["c"]
        for (policy, c), few in part.groupby(["policy", "c"], sort=False):
            regret = few["pareto_regret"]
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "policy": policy,
                    "c": c,
                    "runs": len(few),
                    "mean": regret.mean(),
                    "se": regret.sem(),
                    "worst": regret.max(),
                    "chosen": bool(np.isclose(picked[policy], c)),
                }
            )
    return pd.DataFrame(rows).sort_values(["policy", "c"], kind="stable").reset_index(drop=True)


def tuning_effect(runs: pd.DataFrame, retuned: pd.DataFrame) -> pd.DataFrame:
    """Regret with the paper's and with the tuned coefficient, per group and policy.

    ``runs`` are those of Table 1, ``retuned`` is :func:`momab.study.retuned`.  Annealing-Pareto
    has no coefficient and keeps its line.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(runs):
        again = _group(retuned, dataset, kind)
        for policy in study.POLICIES:
            before = part[part["policy"] == policy]
            after = again[again["policy"] == policy]
            same = after.empty
            after = before if same else after
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "policy": policy,
                    "c": math.nan if same else float(after["c"].iloc[0]),
                    "before": before["pareto_regret"].mean(),
                    "before_se": before["pareto_regret"].sem(),
                    "after": after["pareto_regret"].mean(),
                    "after_se": after["pareto_regret"].sem(),
                    "after_median": after["pareto_regret"].median(),
                    "wrong": 1.0 - after["detected"].mean(),
                }
            )
    return pd.DataFrame(rows)


def keep_paper(effect: pd.DataFrame) -> pd.DataFrame:
    """Lines of :func:`tuning_effect` with everybody tuned but Width-guided, which was before."""
    kept = effect.copy()
    guided = kept["policy"] == "Width-guided"
    for name in ("", "_se"):
        kept.loc[guided, f"after{name}"] = kept.loc[guided, f"before{name}"]
    return kept


def misled(effect: pd.DataFrame, factor: float = 3.0) -> pd.DataFrame:
    """Lines of :func:`tuning_effect` where the tuning made the mean this many times larger."""
    worse: pd.DataFrame = effect.loc[effect["after"] > factor * effect["before"]]
    return worse


def least(effect: pd.DataFrame, column: str) -> pd.DataFrame:
    """Per group of :func:`tuning_effect`, the policy with the least mean, and the runner-up.

    ``clear`` is true when they differ by more than two standard errors.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(effect):
        first, second = part.sort_values(column).head(2).to_dict("records")
        error = math.hypot(first[f"{column}_se"], second[f"{column}_se"])
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "best": first["policy"],
                "mean": first[column],
                "second": second["policy"],
                "second_mean": second[column],
                "clear": second[column] - first[column] > 2 * error,
            }
        )
    return pd.DataFrame(rows)


# --- fairness -------------------------------------------------------------------------------


def commitment_check(runs: pd.DataFrame, arms: pd.DataFrame) -> pd.DataFrame:
    """Width-guided's fairness regret per run, beside T times the committed arm's cost.

    ``early`` is the number of pulls before the commitment.
    """
    keys = ["dataset", "subset_type", "subset"]
    guided: Any = runs[(runs["policy"] == "Width-guided") & runs["certified"]]
    guided = guided.assign(position=guided["cert_arm"].astype(int))
    frame: pd.DataFrame = guided.merge(
        arms[[*keys, "position", "fairness_cost"]], on=[*keys, "position"], validate="many_to_one"
    )
    horizon = reproduce.recorded_provenance()["real"]["horizon"]
    predicted = horizon * frame["fairness_cost"]
    return frame.assign(
        predicted=predicted,
        difference=frame["fairness_regret"] - predicted,
        early=frame["cert_round"].astype(float),
    )


def fairness_ranks(runs: pd.DataFrame) -> pd.DataFrame:
    """Per group, the fairest policy and Width-guided's place among the four.

    ``clear`` is true when the fairest is ahead of the second by two standard errors.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(runs):
        grouped = part.groupby("policy")["fairness_regret"]
        mean, error = grouped.mean(), grouped.sem()
        best, second = (str(name) for name in mean.sort_values().index[:2])
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "best": best,
                "second": second,
                "clear": mean[second] - mean[best] > 2 * math.hypot(error[best], error[second]),
                "best_mean": mean[best],
                "best_se": error[best],
                "guided": mean["Width-guided"],
                "guided_se": error["Width-guided"],
                "rank": int((mean < mean["Width-guided"]).sum()) + 1,
            }
        )
    return pd.DataFrame(rows)


def fairness_geometry(arms: pd.DataFrame, committed: pd.DataFrame) -> pd.DataFrame:
    """Per group, how many objectives the max-min arm wins and how often it gets certified.

    ``committed`` is :func:`momab.describe.certified_arms`.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(arms):
        best = part[part["fairness_cost"] == 0].groupby("subset")["wins"].max()
        held = _group(committed, dataset, kind)
        free = held.loc[held["fairness_cost"] == 0, "runs"].sum() / held["runs"].sum()
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "wins": float(best.mean()),
                "objectives": int(part.groupby("subset")["wins"].sum().min()),
                "free": float(free),
            }
        )
    return pd.DataFrame(rows)


def even_front(runs: pd.DataFrame, arms: pd.DataFrame, policy: str = "Pareto UCB1") -> pd.DataFrame:
    """A policy's fairness regret beside that of an even spread over the true front, per group."""
    import pandas as pd

    horizon = reproduce.recorded_provenance()["real"]["horizon"]
    rows = []
    for dataset, kind, part in by_group(runs[runs["policy"] == policy]):
        front = _group(arms, dataset, kind)
        even = front[front["on_front"]].groupby("subset")["fairness_cost"].mean().mean() * horizon
        measured = float(part["fairness_regret"].mean())
        rows.append(
            {
                "dataset": dataset,
                "subset_type": kind,
                "even": even,
                "measured": measured,
                "ratio": measured / even if even > 0 else math.inf,
            }
        )
    return pd.DataFrame(rows)


def fairness_spread(runs: pd.DataFrame) -> pd.DataFrame:
    """How much of the spread of Width-guided's fairness regret the committed arm explains.

    Only subsets where runs committed to different arms.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(runs[runs["policy"] == "Width-guided"]):
        for subset, few in part[part["certified"]].groupby("subset"):
            if few["cert_arm"].nunique() < 2:
                continue
            total = float(few["fairness_regret"].var(ddof=0))
            within = few.groupby("cert_arm")["fairness_regret"].transform("mean")
            left = float(((few["fairness_regret"] - within) ** 2).mean())
            low, high = float(few["fairness_regret"].min()), float(few["fairness_regret"].max())
            rows.append(
                {
                    "dataset": dataset,
                    "subset_type": kind,
                    "subset": subset,
                    "explained": 1.0 - left / total,
                    "low": low,
                    "high": high,
                    "ratio": high / max(low, 1.0),
                }
            )
    return pd.DataFrame(rows)


def short_objective(name: str) -> str:
    """An objective's name; of KuaiRec's cohorts only what tells them apart."""
    return ", ".join(part.partition("=")[2] or part for part in name.split("|"))
