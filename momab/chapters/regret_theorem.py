"""The regret theorem (Theorem 4): the account of its proof, measured regret, and both bounds.

The computations play Width-guided and keep what every inequality of the proof adds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.engine.driver import RunBlock
from momab.engine.loop import play_block
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.auditing import AuditReport
from momab.model import theory
from momab.model.instances import Instance
from momab.model.statistics import mean_interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Account:
    """Theorem 4's chain for many runs: arrays have one entry per run."""

    warm: FloatArray
    """Regret of the first K pulls."""
    explore: FloatArray
    """Regret of the pulls between the warm start and the certificate."""
    after: FloatArray
    """Regret from the certificate on."""
    charge: FloatArray
    r"""Lemma 10 for every pull: :math:`4\sum_a\sum_{s\le m_a}\sqrt{c\log T/s}`."""
    root: FloatArray
    r"""And :math:`\sum_{s\le m}s^{-1/2}\le 2\sqrt m`: :math:`8\sqrt{c\log T}\sum_a\sqrt{m_a}`."""
    pulls: IntArray
    """(R, K): the pulls m_a between the warm start and the certificate."""
    certified: BoolArray
    theorem: theory.RegretBound
    sharper: theory.RegretBound
    pull_caps: FloatArray
    """(K,): the sharper bound on m_a."""

    @property
    def regret(self) -> FloatArray:
        """The whole regret of every run."""
        return self.warm + self.explore + self.after


def exploration_pulls(block: RunBlock, horizon: int) -> IntArray:
    """Pulls m_a between the warm start and the certificate of every run, shape (R, K)."""
    pulls = block.pulls - 1
    done = np.flatnonzero(block.cert_round >= 0)
    pulls[done, block.cert_arm[done]] -= horizon - block.cert_round[done]
    return pulls


def account(instance: Instance, horizon: int, runs: int, seed: int, c: float = 2.0) -> Account:
    """Play Width-guided and keep the accounts of Theorem 4's proof."""
    block = play_block(instance, WidthGuided(c=c), horizon, seed, 0, runs)
    gaps = instance.geometry.gaps
    m = exploration_pulls(block, horizon)
    scale = math.sqrt(c * math.log(horizon))
    partial = np.concatenate([[0.0], np.cumsum(1.0 / np.sqrt(np.arange(1, m.max() + 1)))])
    certified = block.cert_round >= 0
    committed = np.where(certified, horizon - block.cert_round, 0)
    return Account(
        warm=np.full(runs, gaps.sum()),
        explore=m @ gaps,
        after=np.where(certified, gaps[block.cert_arm], 0.0) * committed,
        charge=4 * scale * partial[m].sum(axis=1),
        root=8 * scale * np.sqrt(m).sum(axis=1),
        pulls=m,
        certified=certified,
        theorem=theory.theorem_bound(instance.means, horizon, c),
        sharper=theory.sharper_bound(instance.means, horizon, c),
        pull_caps=theory.pull_bounds(instance.means, horizon, c),
    )


def scaling(
    problems: Mapping[float, tuple[Instance, int]], runs: int, seed: int, c: float = 2.0
) -> pd.DataFrame:
    """Measured regret and both bounds, one row per problem: value -> (instance, horizon)."""
    import pandas as pd

    rows = []
    for value, (instance, horizon) in problems.items():
        kept = account(instance, horizon, runs, seed, c)
        mean, low, high = mean_interval(kept.regret)
        rows.append(
            {
                "value": value,
                "mean": mean,
                "low": low,
                "high": high,
                "median": float(np.median(kept.regret)),
                "theorem": kept.theorem.total,
                "sharper": kept.sharper.total,
                "trivial": horizon * instance.geometry.max_gap,
                "certified": float(kept.certified.mean()),
                "wrong": float((kept.after > 0).mean()),
                "fullest": float(np.max(kept.pulls / kept.pull_caps)),
            }
        )
    return pd.DataFrame(rows)


PROOF_CHECKS = (
    "sum-warm", "sum-after", "pulls-theorem", "sum-charge",
    "sum-root", "sum-floor", "sum-explore", "regret",
)  # fmt: skip
"""The audit's checks that make up the proof of Theorem 4, in its order."""


def proof_table(report: AuditReport) -> pd.DataFrame:
    """What an audit says about the inequalities of Theorem 4's proof, with headings for a page."""
    import pandas as pd

    lines = report.table().set_index("check").loc[list(PROOF_CHECKS)]
    return pd.DataFrame(
        {
            "Inequality (c = 2, g stands for g†)": lines["claim"].str.replace("<=", "≤"),
            "Checked": lines["checked"],
            "Least slack": lines["slack_min"],
            "Holds": np.where(lines["violations"] == 0, "yes", "no"),
        }
    )
