"""The ledger's checks of the computational study, on the recorded results.

They read ``momab/data/results``, which ``momab reproduce all --check`` recomputes to the last
digit where the data sets are at hand.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from momab import study
from momab.ledger.claims import ClaimOutcome
from momab.study.groups import GROUP

if TYPE_CHECKING:
    import pandas as pd


@cache
def _recorded(part: str) -> pd.DataFrame:
    return study.recorded_results(part)


def _agreement(number: int, part: str) -> tuple[bool, dict[str, Any]]:
    cells = study.compare_with_paper(number, _recorded(part))
    agreed = int((cells["verdict"] == "agrees").sum())
    worst = cells.iloc[int(cells["z"].abs().to_numpy().argmax())]
    numbers = {"agreed": agreed, "cells": len(cells), "farthest": abs(worst["z"])}
    return agreed == len(cells), numbers


def _paper_risk() -> pd.DataFrame:
    """Many runs per subset at the paper's coefficient."""
    risk = _recorded("risk")
    wanted = [
        study.paper_coefficient(dataset, kind)
        for dataset, kind in zip(risk["dataset"], risk["subset_type"])
    ]
    return risk[risk["c"] == wanted]


def table_1() -> ClaimOutcome:
    """Table 1's cells, and who has the least regret, with sixty runs and with many."""
    agrees, numbers = _agreement(1, "real")
    table = study.table1(_recorded("real")).set_index([*GROUP, "policy"])["pareto_regret_mean"]
    sixty = table.unstack("policy")  # noqa: PD010
    lowest = (sixty.idxmin(axis=1) == "Width-guided").sum()
    many = _paper_risk().groupby(GROUP)["mean"].mean()
    rivals = sixty.drop(columns="Width-guided").min(axis=1)
    beaten = int((many > rivals[many.index]).sum())
    return ClaimOutcome(
        holds=agrees,
        caveat=beaten > 0,
        numbers=numbers | {"lowest": lowest, "groups": len(sixty), "beaten": beaten},
    )


def section_5() -> ClaimOutcome:
    """Commitments to dominated arms at the tuned coefficients, which sixty runs do not show."""
    risk = _paper_risk()
    sure = risk[risk["wrong_commit_low"] > 0]
    worst = risk.iloc[int(risk["wrong_commit_rate"].to_numpy().argmax())]
    return ClaimOutcome(
        holds=True,
        wrong=len(sure) > 0,
        numbers={"sure": len(sure), "subsets": len(risk), "worst": worst},
    )


def table_2() -> ClaimOutcome:
    """Table 2's cells, and its column C_PUCB to every printed digit."""
    agrees, numbers = _agreement(2, "synthetic")
    ours = study.table2(_recorded("synthetic"))
    exact = (ours["c_pucb"].round(2) == study.paper_table(2)["c_pucb"]).all()
    certified = (ours["certification_rate"] == 1).all()
    return ClaimOutcome(
        holds=bool(agrees and exact and certified),
        numbers=numbers,
    )


def table_3() -> ClaimOutcome:
    """The coefficient that validation picks, and the one that many runs would pick."""
    chosen = study.table3(study.choose_coefficients(_recorded("validation")))
    risk = _recorded("risk").groupby([*GROUP, "c"])["mean"].mean().reset_index()
    best = risk.loc[risk.groupby(GROUP)["mean"].idxmin(), [*GROUP, "c"]]
    both = chosen.merge(best, on=GROUP, suffixes=("", "_best"))
    larger = (both["c_best"] > both["paper_c"]).tolist()
    return ClaimOutcome(
        holds=True,
        caveat=any(larger),
        numbers={
            "chosen": sorted(set(chosen["c"])),
            "larger": sum(larger),
            "groups": len(larger),
        },
    )


def table_4() -> ClaimOutcome:
    """Table 4's cells."""
    agrees, numbers = _agreement(4, "real")
    return ClaimOutcome(holds=agrees, numbers=numbers)


def figure_1() -> ClaimOutcome:
    """The trends of Figure 1."""
    table = study.table2(_recorded("synthetic"))
    by_gap = table[table["m"] == 1].sort_values("delta", ascending=False)
    by_crowd = table[table["delta"] == 0.02].sort_values("m")
    rising = all(rows["pareto_ucb1_mean"].is_monotonic_increasing for rows in (by_gap, by_crowd))
    falling = by_crowd["width_guided_mean"].is_monotonic_decreasing
    ratio = table["pareto_ucb1_mean"] / table["width_guided_mean"]
    return ClaimOutcome(
        holds=bool(rising and falling),
        numbers={"ratio": ratio},
    )


def figure_2() -> ClaimOutcome:
    """The shapes of Figure 2: flat after the certificate, rising without one."""
    paths = _recorded("paths")
    flat = rising = True
    for _, rows in paths.groupby("instance"):
        width = rows[rows["policy"] == "Width-guided"]
        done = width[width["certified"] == 1]["mean"]
        flat &= len(done) > 1 and done.iloc[0] == done.iloc[-1]
        other = rows[rows["policy"] == "Pareto UCB1"]["mean"]
        rising &= bool(other.iloc[-1] > 1.05 * other.iloc[-10])
    return ClaimOutcome(
        holds=flat and rising,
    )
