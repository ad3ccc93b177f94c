"""The chapters on Pareto IMED: the indices of a run, and runs on instances where it is bad."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from momab._util.validate import FloatArray, IntArray
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.engine.streams import Coins, RewardStream, reward_arrays
from momab.engine.tools import choose_top
from momab.model import pareto, theory
from momab.model.instances import Instance
from momab.model.metrics import weighted_pulls
from momab.model.statistics import bootstrap_interval, mean_interval
from momab.study.standings import most_runs

if TYPE_CHECKING:
    import pandas as pd


# ---- one run -------------------------------------------------------------------------------


@dataclass(frozen=True)
class IndexRun:
    """The indices of one run of Pareto IMED at some rounds.

    ``rounds`` (n,) are numbers of pulls, ``index`` (n, K) the indices of all arms before the next
    one, ``candidate`` (n,) the candidate, ``gaps`` (K,) the true Pareto gaps.
    """

    rounds: IntArray
    index: FloatArray
    candidate: IntArray
    gaps: FloatArray


def index_run(
    instance: Instance, policy: Policy, kind: str, horizon: int, seed: int, points: int = 300
) -> IndexRun:
    """Play one run and recompute the indices at rounds that are even on a logarithmic axis.

    ``kind`` is the evidence that the policy uses, "sum" or "max".
    """
    K, d = instance.means.shape
    block = play_block(instance, policy, horizon, seed, 0, 1, arms=True)
    arms = cast(IntArray, block.arms)[0]
    stream = RewardStream(reward_arrays(instance.source), seed, 0)
    counts = (arms[:, None] == np.arange(K)).cumsum(axis=0)
    rewards = np.empty((horizon, d))
    for t, arm in enumerate(arms.tolist()):
        rewards[t] = stream.pull(arm, int(counts[t, arm]) - 1)
    rounds = np.unique(np.geomspace(K, horizon - 1, points).astype(np.int64))
    sums = np.stack([(rewards * (arms == a)[:, None]).cumsum(axis=0)[rounds - 1] for a in range(K)])
    pulls = counts[rounds - 1]
    means = sums.transpose(1, 0, 2) / pulls[:, :, None]
    cost = theory.price(means, kind)
    at = cost.arm[:, None, None]
    D = np.take_along_axis(theory.evidence(means, kind), at, axis=2)[:, :, 0]
    return IndexRun(rounds, pulls * D + np.log(pulls), cost.arm, pareto.gaps(instance.means))


def last_change(run: IndexRun) -> int:
    """The first of the rounds from which on the candidate is the last one."""
    other = np.flatnonzero(run.candidate != run.candidate[-1])
    return int(run.rounds[other[-1] + 1] if len(other) else run.rounds[0])


# ---- measured ------------------------------------------------------------------------------


Problem = tuple[Instance, Mapping[str, Policy], int, int]
"""An instance, the policies that play it by label, a horizon and a number of runs."""


def regrets(problems: Mapping[str, Problem], seed: int) -> pd.DataFrame:
    """The regret of every run; columns problem, policy, horizon, regret."""
    import pandas as pd

    parts = []
    for name, (instance, policies, horizon, runs) in problems.items():
        for label, policy in policies.items():
            block = play_block(instance, policy, horizon, seed, 0, runs)
            values = weighted_pulls(block.pulls, instance.geometry.gaps)
            parts.append(
                pd.DataFrame(
                    {"problem": name, "policy": label, "horizon": horizon, "regret": values}
                )
            )
    return pd.concat(parts, ignore_index=True)


def run_summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean with its bootstrap interval, median and worst run, by problem and policy."""
    import pandas as pd

    rows = []
    for (problem, policy), part in frame.groupby(["problem", "policy"], sort=False):
        low, high = bootstrap_interval(part["regret"].to_numpy())
        rows.append(
            {
                "problem": problem,
                "policy": policy,
                "mean": float(part["regret"].mean()),
                "low": low,
                "high": high,
                "median": float(part["regret"].median()),
                "worst": float(part["regret"].max()),
            }
        )
    return pd.DataFrame(rows).set_index(["problem", "policy"])


def drawn_duels(
    problems: Iterable[tuple[str, Instance]],
    ours: Policy,
    theirs: Policy,
    horizon: int,
    runs: int,
    seed: int,
) -> pd.DataFrame:
    """Two policies on instances of several kinds; one row per kind.

    ``ratio`` is the median of our mean over C(mu) log T where that is positive, with the evidence
    "sum", so that C(mu) is the price for independent coins; below, level and
    above count the instances by whether the 95 % intervals of the two means are apart.
    """
    import pandas as pd

    rows: dict[str, dict[str, Any]] = {}
    for kind, instance in problems:
        row = rows.setdefault(
            kind, {"kind": kind, "ratios": [], "below": 0, "level": 0, "above": 0}
        )
        gaps = instance.geometry.gaps
        both = [
            mean_interval(
                weighted_pulls(play_block(instance, policy, horizon, seed, 0, runs).pulls, gaps)
            )
            for policy in (ours, theirs)
        ]
        (mean, low, high), (_, least, most) = both
        row["below" if high < least else "above" if low > most else "level"] += 1
        cost = float(theory.price(instance.means).value) * np.log(horizon)
        if cost > 0:
            row["ratios"].append(mean / cost)
    frame = pd.DataFrame(rows.values())
    frame["ratio"] = [float(np.median(found)) if found else np.nan for found in frame["ratios"]]
    return frame.drop(columns="ratios")


def printed_duels(frame: pd.DataFrame) -> pd.DataFrame:
    """:func:`drawn_duels` as the page prints it."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Means": frame["kind"],
            "Median ratio to C log T": [
                f"{ratio:.2f}" if np.isfinite(ratio) else "all prices are 0"
                for ratio in frame["ratio"]
            ],
            "Below Width-guided": frame["below"],
            "No clear difference": frame["level"],
            "Above": frame["above"],
        }
    )


# ---- another price -------------------------------------------------------------------------


class CautiousIMED(Policy):
    """Pareto IMED whose price counts gaps that may not have shown yet; evidence `max`."""

    name: ClassVar[str] = "cautious-imed"
    label: ClassVar[str] = "Pareto IMED, cautious"
    compiled: ClassVar[bool] = False

    def select(self, t: int, coin: Coins) -> int:
        """Price arm a by the sum over b of max(gap_b, 1/sqrt(N_b)) / D_b(a)."""
        D, gaps = theory.evidence(self.means, "max"), pareto.gaps(self.means)
        cost = np.maximum(gaps, 1 / np.sqrt(self.counts))[:, None] / np.maximum(D, 1e-9)
        np.fill_diagonal(cost, 0.0)
        prices = np.where(gaps > 0, np.inf, cost.sum(axis=0))
        candidate = choose_top(-prices, 0, coin)
        index = self.counts * D[:, candidate] + np.log(self.counts)
        return choose_top(-index, 1, coin)


# ---- the recorded comparison ---------------------------------------------------------------


def recorded_places(frame: pd.DataFrame, horizon: int) -> dict[str, Any]:
    """How many instances were played at a horizon, in all and by source, and in how many runs."""
    lines = most_runs(frame, horizon)
    found = lines.drop_duplicates(["dataset", "group", "instance"])["dataset"]
    made = int((found == "synthetic").sum())
    low, high = int(lines["runs"].min()), int(lines["runs"].max())
    runs = f"{low:,} runs each" if low == high else f"{low:,} to {high:,} runs, as the column says"
    return {"all": len(found), "synthetic": made, "real": len(found) - made, "runs": runs}
