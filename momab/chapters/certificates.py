"""Certificates (Lemma 9, Corollary 6): what they prove, and how often they are false.

The computations follow the lemma's chain of inequalities at a certificate, count false
certificates, and ask which objective certifies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momab._util.validate import FloatArray, IntArray, whole_number
from momab.engine.loop import play_block
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.auditing.hand_made import edge_sequence, play_sequences
from momab.ledger.auditing.trace import Trace
from momab.model import pareto, theory
from momab.model.instances import Instance, bernoulli
from momab.model.numerics import log
from momab.model.statistics import rates
from momab.study.simulate import simulate

if TYPE_CHECKING:
    import pandas as pd


def certificate_chain(trace: Trace) -> pd.DataFrame:
    """Every inequality in the proof of Lemma 9, at the certificate of a run.

    One row per inequality with its tightest instance over the other arms.  Empty if the run
    has no certificate.
    """
    import pandas as pd

    columns = ["inequality", "left", "right", "slack", "holds"]
    stored = trace.commitment
    if stored is None:
        return pd.DataFrame(columns=columns)
    r = trace.rounds(stored.t, stored.t + 1)
    j, b = stored.objective, stored.arm
    c = int(r.c[0, j])
    U, L, mu = r.U[0, :, j], r.L[0, :, j], trace.means[:, j]
    others = np.delete(np.arange(trace.K), b)
    steps: list[tuple[str, FloatArray, FloatArray, bool]] = [
        ("U_a ≤ U_e for every a other than b", U[others], np.full(len(others), U[c]), False),
        ("U_e < L_b: the certificate", U[[c]], L[[b]], True),
        ("L_b ≤ μ_b: the interval of b holds", L[[b]], mu[[b]], False),
        ("μ_a ≤ U_a: the intervals of the others hold", mu[others], U[others], False),
        ("μ_a < μ_b: the conclusion", mu[others], np.full(len(others), mu[b]), True),
    ]
    rows = []
    for name, left, right, strict in steps:
        i = int((right - left).argmin())
        slack = float(right[i] - left[i])
        rows.append((name, float(left[i]), float(right[i]), slack, slack > 0 or
                     (slack == 0 and not strict)))  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def front_maximisers(means: FloatArray) -> IntArray:
    """Per objective, a maximiser in the Pareto set: the one whose means have the largest sum."""
    best = means == means.max(axis=0)
    return np.asarray(np.where(best, means.sum(axis=1)[:, None], -np.inf).argmax(axis=0))


def failed_sides(trace: Trace) -> tuple[bool, bool]:
    """Which of the two sides failed when a run stored an arm b for objective j.

    Whether :math:`L_b>\\mu_b`, and whether :math:`U_{a_j}<\\mu_{a_j}` for the maximiser of
    :func:`front_maximisers`.  If b is off the front, at least one of them did.
    """
    stored = trace.commitment
    if stored is None:
        return False, False
    r = trace.rounds(stored.t, stored.t + 1)
    j, b = stored.objective, stored.arm
    a = int(front_maximisers(trace.means)[j])
    low, high = r.L[0, b, j] > trace.means[b, j], r.U[0, a, j] < trace.means[a, j]
    return bool(low), bool(high)


def photo_finish(d: int, lead: float, margin: float, low: float = 0.3) -> Instance:
    """Every objective has its own winner; objective 0 leads by ``lead``, the rest by less.

    Arm j has the mean ``low`` everywhere except on objective j, where it has ``low + lead``
    for j = 0 and ``low + lead - margin`` otherwise.
    """
    d = whole_number(d, "d", least=2)
    means = np.full((d, d), low)
    means[np.arange(d), np.arange(d)] = low + lead - margin
    means[0, 0] = low + lead
    return bernoulli(means, name=f"photo finish (d={d}, lead={lead:g}, margin={margin:g})")


def many_runners_up(K: int, lead: float, margin: float) -> Instance:
    """Two objectives: that with the larger lead has many runners-up, the other a single one.

    On objective 0 arm 0 leads all K - 1 others, which tie; on objective 1 arm 1 leads arm 2
    by ``lead - margin`` and all other arms are far behind.
    """
    K = whole_number(K, "K", least=3)
    means = np.full((K, 2), [0.5, 0.05])
    means[0, 0] = 0.5 + lead
    means[1, 1] = 0.5 + lead - margin
    means[2, 1] = 0.5
    return bernoulli(means, name=f"many runners-up (K={K}, lead={lead:g}, margin={margin:g})")


def champion_shares(
    instances: Mapping[str, Instance], c: float, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """How often the certified objective is the one with the largest gap, with exact intervals."""
    import pandas as pd

    played = simulate(
        instances, WidthGuided(c=c), horizon, runs, seed, checkpoints=1, workers=1, progress=False
    ).runs
    rows = []
    for name, instance in instances.items():
        mine = played[(played["instance"] == name) & played["certified"]]
        gaps = instance.geometry.objective_gaps
        champions = np.flatnonzero(gaps == gaps.max())
        row: dict[str, Any] = {"instance": name, "certified": len(mine), "runs": runs}
        if len(mine):
            hit = mine["cert_objective"].isin(champions.tolist()).to_numpy(dtype=np.bool_)
            row |= rates(hit)
            row["on_front"] = float(mine["cert_on_front"].mean())
        rows.append(row)
    return pd.DataFrame(rows)


def false_rates(
    instance: Instance, coefficients: Sequence[float], horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """How often a certificate is false, per coefficient c, with exact intervals and the bounds.

    ``false``: the stored arm is not the only maximiser of its objective; ``dominated``: it is
    not even in the Pareto set.  Runs without a certificate count as not false, as in
    Corollary 6.
    """
    import pandas as pd

    rules = {f"{c:g}": WidthGuided(c=c) for c in coefficients}
    played = simulate(
        instance, rules, horizon, runs, seed, checkpoints=1, workers=1, progress=False
    )
    rows: list[dict[str, Any]] = []
    for c, columns in zip(coefficients, played.columns):
        certified = columns["certified"]
        row: dict[str, Any] = {"c": c, "runs": runs, "certified": float(certified.mean())}
        for name, column in (("false", "cert_true"), ("dominated", "cert_on_front")):
            found = rates(certified & ~columns[column])
            row |= {f"{name}_{key}": x for key, x in found.items()}
        row["crossing"] = theory.event_failure_probability(instance.means, horizon, c)
        row["stated"] = theory.union_bound(instance.K, instance.d, horizon, c)
        rows.append(row)
    return pd.DataFrame(rows)


def kl_rounds(
    levels: Mapping[str, Sequence[Sequence[float]]], c: float, horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """The certificate's round in the same runs, with Hoeffding's and with kl intervals.

    One row per run with the columns instance, hoeffding, kl and off (whether the arm of the kl
    certificate is off the front); a run without a certificate has the horizon as its round.
    """
    import pandas as pd

    frames = []
    for name, means in levels.items():
        instance = bernoulli(np.asarray(means, dtype=np.float64))
        rounds, off = {}, np.zeros(runs, dtype=bool)
        for kind in ("hoeffding", "kl"):
            policy = WidthGuided(c=c, certificate=kind)
            block = play_block(instance, policy, horizon, seed, 0, runs)
            found = block.cert_round >= 0
            rounds[kind] = np.where(found, block.cert_round + 1, horizon)
            off = found & ~pareto.front(instance.means)[block.cert_arm]
        frames.append(pd.DataFrame({"instance": name, **rounds, "off": off}))
    return pd.concat(frames, ignore_index=True)


def lucky_small_gap(lead: float, small: float, horizon: int, c: float) -> Trace:
    """A run inside the confidence event in which the objective with the smaller gap certifies.

    Two arms: arm 0 leads objective 0 by ``lead``, arm 1 leads objective 1 by ``small``.  On
    objective 0 both means sit on the edges that hide the lead, on objective 1 on those that
    exaggerate it.
    """
    means = np.array([[0.5 + lead / 2, 0.5 - small / 2], [0.5 - lead / 2, 0.5 + small / 2]])
    sides = [[-1, -1], [1, 1]]
    n = min(horizon, int(16 * c * log(horizon) / lead**2) + 3)
    rewards = [
        np.column_stack(
            [edge_sequence(float(means[a, j]), n, horizon, c, sides[a][j]) for j in range(2)]
        )
        for a in range(2)
    ]
    return play_sequences(np.array(rewards), means, horizon, c)
