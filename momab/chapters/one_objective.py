"""One objective is enough: Pareto regret against marginal regret, in bounds and in runs.

The computations bound the Pareto regret of policies that look at one objective, build three
instances on which such policies do well or badly, and play them beside policies that look at all
objectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from momab._util.validate import FloatArray, IntArray
from momab.engine.policies.base import Policy
from momab.engine.policies.kl_ucb import KLUCB
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.single_ucb1 import SingleUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.streams import Coins
from momab.engine.tools import choose_top
from momab.model.instances import Instance
from momab.model.numerics import log
from momab.study.one_objective import each_objective, regret_paths

if TYPE_CHECKING:
    import pandas as pd


class AverageUCB1(Policy):
    """UCB1 on the average of all objectives."""

    name: ClassVar[str] = "average-ucb1"
    label: ClassVar[str] = "UCB1 on the average"
    compiled: ClassVar[bool] = False

    def select(self, t: int, coin: Coins) -> int:
        """Slot 0 breaks the ties of the index."""
        index = self.means.mean(axis=1) + np.sqrt(2.0 * log(t) / self.counts)
        return choose_top(index, 0, coin)


# --- runs -------------------------------------------------------------------------------


def contest(
    instance: Instance, points: Sequence[int] | IntArray, runs: int, few: int, seed: int
) -> dict[tuple[str, str], FloatArray]:
    """Regret paths by policy and by what it looks at; KL-UCB, which is slow, in few runs."""
    found: dict[tuple[str, str], FloatArray] = {}
    for name, record, count in (("UCB1", SingleUCB1, runs), ("KL-UCB", KLUCB, few)):
        for choice, paths in each_objective(instance, record, points, count, seed).items():
            found[name, choice] = paths
    for policy in (WidthGuided(), ParetoUCB1()):
        found[policy.label, "all"] = regret_paths(instance, policy, points, runs, seed)
    return found


def written(final: pd.DataFrame) -> pd.DataFrame:
    """The final regrets as a reader wants them, one column per instance."""
    texts = [f"{m:,.1f} ({low:,.1f}–{high:,.1f})" for m, low, high in final.to_numpy()[:, 3:]]
    keys = ["policy", "choice"]
    wide = final.assign(text=texts).pivot_table("text", keys, "instance", "first", sort=False)
    names = {"policy": "Policy", "choice": "Looks at"}
    return wide.rename_axis(columns=None).reset_index().rename(columns=names)
