"""What 60 runs cannot see: the data of the page's explorable."""

from __future__ import annotations

from typing import Any

from momab import study
from momab.study.groups import by_group, group_name
from momab.study.survival import at_paper, group_risk


def paper_means() -> dict[tuple[str, str], float]:
    """Width-guided's mean regret in the paper's Table 1, per group."""
    table: Any = study.paper_table(1)
    guided = table[table["policy"] == "Width-guided"]
    return {(r.dataset, r.subset_type): r.pareto_regret_mean for r in guided.itertuples()}


def live_data() -> dict[str, Any]:
    """What the page's explorable draws from: the recorded tails of every group.

    A group has its mean, the paper's, and per subset the regrets, how many runs have each, and how
    many of these lines are ``right``, not commitments to a dominated arm; those come first.
    """
    tails: Any = study.recorded_results("tails")
    means = at_paper(group_risk(study.recorded_results("risk")))["mean"]
    printed = paper_means()
    return {
        group_name(dataset, kind): {
            "key": [dataset, kind],
            "mean": mean,
            "paper": printed[dataset, kind],
            "subsets": [
                {
                    "regrets": lines["regret"].tolist(),
                    "runs": lines["runs"].tolist(),
                    "right": int((~lines["wrong"]).sum()),
                }
                for _, lines in group.groupby("subset")
            ],
        }
        for (dataset, kind, group), mean in zip(by_group(tails), means, strict=True)
    }
