"""The same tuning for everyone: what validation chooses, and Table 1 with every policy tuned.

Curves of the validation regret against the coefficient, regret before and after tuning, who has
the least mean, and where the choice went wrong; with the tables and pictures of these.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from momab import study
from momab.chapters.figures.groups import frame_groups, group_axes
from momab.chapters.figures.style import FAINT, INK, STYLE, policy_style
from momab.model.statistics import normal_half_width
from momab.study.design import POLICIES
from momab.study.groups import GROUP, by_group, group_name, lay_out, one_group
from momab.study.simulate import simulate
from momab.study.tables import plus_minus

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from momab.model.instances import Instance


def tuning_curves(validation: pd.DataFrame) -> pd.DataFrame:
    """Mean validation regret per group, policy and coefficient, with its standard error.

    ``chosen`` is true for the coefficient that :func:`momab.study.choose_coefficients` takes.
    """
    import pandas as pd

    chosen: Any = study.choose_coefficients(validation)
    rows = []
    for dataset, kind, part in by_group(validation):
        picked = one_group(chosen, dataset, kind).set_index("policy")["c"]
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

    ``runs`` are those of Table 1, ``retuned`` is :func:`momab.study.run_retuned`.  Annealing-Pareto
    has no coefficient and keeps its line.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(runs):
        again = one_group(retuned, dataset, kind)
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
    """Lines of :func:`tuning_effect` with every policy tuned, Width-guided by the paper."""
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


def live_data() -> dict[str, Any]:
    """What the page's explorable shows: recorded validation means, choices, and their test means.

    A group has, per policy, its mean at every coefficient, the coefficient that validation
    chooses, and the mean on the test subsets with that one.
    """
    curves: Any = tuning_curves(study.recorded_results("validation"))
    retuned: Any = study.recorded_results("retuned")
    effect: Any = tuning_effect(study.recorded_results("real"), retuned)
    groups = []
    for dataset, kind, part in by_group(curves):
        tested = one_group(effect, dataset, kind).set_index("policy")["after"]
        lines = {name: line.sort_values("c") for name, line in part.groupby("policy")}
        groups.append(
            {
                "name": group_name(dataset, kind),
                "means": {name: line["mean"].tolist() for name, line in lines.items()},
                "chosen": {
                    n: float(line.loc[line["chosen"], "c"].iloc[0]) for n, line in lines.items()
                },
                "test": {name: float(tested[name]) for name in lines},
            }
        )
    return {
        "coefficients": sorted(set(curves["c"])),
        "runs": int(curves["runs"].iloc[0]),
        "test_runs": int(retuned.groupby([*GROUP, "policy"]).size().iloc[0]),
        "groups": groups,
    }


def fresh_means(
    picks: pd.DataFrame, example: Instance, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """The mean regret of each picked policy and coefficient in runs that did not choose it.

    ``picks`` has the columns policy, c, mean and se; added are ``fresh`` and ``fresh_se``.  The
    mean of the runs that chose is biased: it is a minimum over the candidates.
    """
    means, errors = [], []
    for line in picks.to_dict("records"):
        player = {line["policy"]: study.tunable_policies(line["c"])[line["policy"]]}
        found = simulate(example, player, horizon, runs, seed, checkpoints=0).summary()
        means.append(found["mean"].iloc[0])
        errors.append(found["se"].iloc[0])
    return picks.assign(fresh=means, fresh_se=errors)


def coefficient_table(live: pd.DataFrame) -> pd.DataFrame:
    """Mean regret to read: a line per coefficient ``c``, a column per policy."""
    means = live.pivot_table("mean", "c", "policy")[list(live["policy"].unique())]
    names = [f"{c:g}" for c in means.index]
    return means.rename_axis(columns=None).reset_index().assign(c=names)


def choice_table(chosen: pd.DataFrame) -> pd.DataFrame:
    """:func:`momab.study.choose_coefficients` to read, beside the paper's for Width-guided."""
    per_policy = chosen.pivot_table("c", GROUP, "policy").reset_index()
    return lay_out(
        study.table3(chosen).merge(per_policy, on=GROUP),
        {
            "Group": "group",
            "Paper's c for Width-guided": "{paper_c:.3g}",
            "ours": "{c:g}",
            "Pareto UCB1": "{Pareto UCB1:g}",
            "Scalarized UCB": "{Scalarized UCB:g}",
        },
    )


def effect_table(effect: pd.DataFrame) -> pd.DataFrame:
    """:func:`tuning_effect` to read."""
    return lay_out(
        effect,
        {
            "Group": "group",
            "Policy": "policy",
            "c": lambda line: "" if math.isnan(line["c"]) else f"{line['c']:g}",
            "Before": lambda line: plus_minus(line["before"], line["before_se"]),
            "After": lambda line: plus_minus(line["after"], line["after_se"]),
            "Median after": "{after_median:,.2f}",
            "Dominated at the end": "{wrong:.1%}",
        },
    )


def greedy_table(greedy: pd.DataFrame) -> pd.DataFrame:
    """A summary of runs to read: the typical run, the mean, the worst, and the errors."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Policy": greedy["policy"],
            "Median": greedy["median"],
            "Mean": greedy["mean"],
            "Largest": greedy["max"],
            "Dominated at the end": greedy["error_rate"].map("{:.1%}".format),
        }
    )


def tuning_figure(curves: pd.DataFrame) -> Figure:
    """Validation regret against c for the three policies that have one, a panel per group.

    ``curves`` is :func:`tuning_curves`; stars mark the chosen coefficients.
    """
    with mpl.rc_context(STYLE):
        fig, panels = group_axes((4.6, 5.4))
        for dataset, kind, part in by_group(curves):
            axes = panels[dataset, kind]
            for name in POLICIES:
                colour, marker = policy_style(name)
                line = part[part["policy"] == name]
                if line.empty:
                    continue
                mean, half = line["mean"], normal_half_width(line["se"])
                low = np.maximum(mean - half, mean / 10)
                axes.fill_between(line["c"], low, mean + half, color=colour, alpha=0.2, lw=0)
                axes.plot(line["c"], mean, color=colour, marker=marker, ms=3.5, label=name)
                best = line[line["chosen"]]
                axes.plot(best["c"], best["mean"], "*", ms=11, color=INK)
            axes.set(xscale="log", yscale="log")
        frame_groups(fig, panels, "coefficient $c$", "validation regret", 3)
    return fig


def before_and_after(effect: pd.DataFrame) -> Figure:
    """Mean regret before and after every policy was tuned, a panel per group.

    ``effect`` is :func:`tuning_effect`: open marks before, filled ones after, with 95 % intervals
    that are cut at a tenth of the mean, for the axis is logarithmic.
    """
    with mpl.rc_context(STYLE):
        fig, panels = group_axes((4.6, 5.2))
        for dataset, kind, part in by_group(effect):
            axes = panels[dataset, kind]
            for row, name in enumerate(POLICIES):
                colour, marker = policy_style(name)
                [line] = part[part["policy"] == name].to_dict("records")
                axes.plot([line["before"], line["after"]], [row, row], color=FAINT, lw=2, zorder=1)
                axes.plot(line["before"], row, marker, mfc="none", mec=colour, ms=6)
                whole = normal_half_width(line["after_se"])
                half = min(whole, 0.9 * line["after"]), whole
                axes.errorbar(
                    line["after"],
                    row,
                    xerr=[[half[0]], [half[1]]],
                    color=colour,
                    marker=marker,
                    ms=6,
                    capsize=2,
                )
            axes.set(xscale="log", ylim=(3.6, -0.6))
            axes.set_yticks(range(4), POLICIES)
            axes.grid(visible=False, axis="y")
            axes.tick_params(axis="y", length=0)
        frame_groups(fig, panels, "Pareto regret", "", 1)
    return fig
