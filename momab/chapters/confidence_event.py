"""The chapter on the confidence event: how likely it is that some interval ever misses its mean.

Exact tails at one sample count, simulated runs judged by their intervals, the chain of
probabilities from the event to the bound of Proposition 8, and what looking after every sample does
to an interval for a fixed count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import (
    BoolArray,
    FloatArray,
    IntArray,
    positive_number,
    probability,
    whole_number,
)
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.engine.policies.width_guided import WidthGuided
from momab.engine.streams import RewardStream, reward_arrays
from momab.ledger.auditing.trace import Trace
from momab.model import pareto, theory
from momab.model.instances import Instance
from momab.model.numerics import log
from momab.model.statistics import rates

if TYPE_CHECKING:
    import pandas as pd


def tail_profile(p: float, counts: ArrayLike, T: int, c: float) -> FloatArray:
    r"""Exact chances :math:`\Pr(|\bar Y_n-p|>\sqrt{c\log T/n})` at many counts n at once."""
    from scipy.stats import binom

    p = probability(p, "p")
    n = np.asarray(counts, dtype=np.int64)
    reach = n * theory.confidence_radius(n, T, c)
    low = np.maximum(0, np.ceil(n * p - reach))
    high = np.minimum(n, np.floor(n * p + reach))
    return np.asarray(binom.cdf(low - 1, n, p) + binom.sf(high, n, p))


@dataclass(frozen=True)
class EventRuns:
    """Many runs of a policy, judged by their confidence intervals."""

    failed: BoolArray
    """(runs,): some interval that a decision used misses its mean: Omega_T fails."""
    union: BoolArray
    """(runs,): some E_{a,j,n} with n <= T - K happens, reached by the policy or not."""
    certified: BoolArray
    cert_true: BoolArray
    """The certified arm is the only maximiser of its objective."""
    cert_on_front: BoolArray


def event_runs(instance: Instance, policy: Policy, horizon: int, runs: int, seed: int) -> EventRuns:
    """Play runs to the horizon and look at every mean that a decision used, and could have used.

    The union looks at the samples 1, ..., T - K of every arm, whether they were drawn or not:
    the n-th reward of an arm exists before anybody asks for it.
    """
    c = positive_number(getattr(policy, "c", None), f"the coefficient c of {policy.name}")
    K, T = instance.K, whole_number(horizon, "the horizon T", least=instance.K + 1)
    block = play_block(instance, policy, T, seed, 0, runs, np.array([T - 1]))
    used = block.checkpoint_pulls[:, 0, :]  # counts at the last decision
    arrays = reward_arrays(instance.source)
    n = np.arange(1, T - K + 1)
    radius = np.sqrt(c * log(T) / n)
    failed, union = np.zeros((2, runs), dtype=np.bool_)
    for run in range(runs):
        stream = RewardStream(arrays, seed, run)
        for a in range(K):
            means = np.cumsum(stream.batch(a, 0, T - K), axis=0) / n[:, None]
            away = (np.abs(means - instance.means[a]) > radius[:, None]).any(axis=1)
            if away.any():
                union[run] = True
                failed[run] |= bool(away[: used[run, a]].any())
    certified = block.cert_round >= 0
    best = instance.means.argmax(axis=0)[block.cert_objective]
    unique = instance.geometry.objective_gaps[block.cert_objective] > 0
    return EventRuns(
        failed=failed,
        union=union,
        certified=certified,
        cert_true=certified & unique & (best == block.cert_arm),
        cert_on_front=certified & pareto.front(instance.means)[block.cert_arm],
    )


def first_exits(p: float, samples: int, scale: float, runs: int, seed: int) -> IntArray:
    r"""The first n <= samples with :math:`|\bar Y_n-p|>\sqrt{\mathrm{scale}/n}`, 0 if none.

    One entry per simulated sequence of Bernoulli(p) samples.
    """
    p = probability(p, "p")
    N = whole_number(samples, "samples", least=1)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    n = np.arange(1, N + 1)
    radius = np.sqrt(positive_number(scale, "scale") / n)
    pieces = []
    step = max(1, 2_000_000 // N)
    for done in range(0, runs, step):
        draws = rng.random((min(step, runs - done), N)) < p
        away = np.abs(np.cumsum(draws, axis=1) / n - p) > radius
        pieces.append(np.where(away.any(axis=1), away.argmax(axis=1) + 1, 0))
    return np.concatenate(pieces)


def peek_table(p: float, counts: Sequence[int], scale: float, runs: int, seed: int) -> pd.DataFrame:
    r"""One look after n samples against a look after every one of them, for several n.

    The interval after n Bernoulli(p) samples has the radius :math:`\sqrt{\mathrm{scale}/n}`.
    """
    import pandas as pd

    T = max(counts) + 1
    c = positive_number(scale, "scale") / log(T)
    exits = first_exits(p, max(counts), scale, runs, seed)
    rows = []
    for n in counts:
        seen = rates((exits > 0) & (exits <= n))
        row = {"n": n, "once": theory.tail_probability(p, n, T, c)}
        row["always"] = theory.crossing_probability(p, n, T, c)
        rows.append({**row, **{f"peek_{key}": x for key, x in seen.items()}})
    return pd.DataFrame(rows)


def latent_difference(instance: Instance, trace: Trace, seed: int, run: int = 0) -> float:
    """The largest difference between a mean that a decision used and the mean of its samples.

    The samples are drawn again, arm by arm, without looking at the run.
    """
    stream = RewardStream(reward_arrays(instance.source), seed, run)
    rounds = trace.rounds()
    worst = 0.0
    for a in range(trace.K):
        n = rounds.counts[:, a]
        samples = stream.batch(a, 0, int(n.max()))
        means = np.cumsum(samples, axis=0) / np.arange(1, len(samples) + 1)[:, None]
        worst = max(worst, float(np.abs(rounds.means[:, a] - means[n - 1]).max()))
    return worst


def event_sweep(
    instance: Instance, coefficients: Sequence[float], horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """Every probability of the chain behind Proposition 8, per coefficient c.

    ``failed`` <= ``union`` (both simulated, on the same samples), ``union`` = ``crossing``
    (computed) <= ``tails`` (the union bound with exact tails) <= ``sharp`` (Hoeffding, counts up
    to T - K) <= ``stated`` (Hoeffding, counts up to T).  For independent Bernoulli coordinates.
    """
    import pandas as pd

    K, d, T = instance.K, instance.d, horizon
    counts = np.arange(1, T - K + 1)
    rows: list[dict[str, Any]] = []
    for c in coefficients:
        seen = event_runs(instance, WidthGuided(c=c), T, runs, seed)
        row: dict[str, Any] = {"c": c, "runs": runs}
        for name in ("failed", "union"):
            row |= {f"{name}_{key}": x for key, x in rates(getattr(seen, name)).items()}
        false = seen.certified & ~seen.cert_true
        off_front = seen.certified & ~seen.cert_on_front
        row |= {f"false_{key}": x for key, x in rates(false).items()}
        row |= {f"dominated_{key}": x for key, x in rates(off_front).items()}
        row |= {
            "certified": float(seen.certified.mean()),
            "false_on_event": int((false & ~seen.failed).sum()),
            "failed_outside_union": int((seen.failed & ~seen.union).sum()),
            "crossing": theory.event_failure_probability(instance.means, T, c),
            "tails": sum(
                float(tail_profile(float(p), counts, T, c).sum()) * int(times)
                for p, times in zip(*np.unique(instance.means, return_counts=True))
            ),
            "sharp": theory.union_bound(K, d, T, c) * (T - K) / T,
            "stated": theory.union_bound(K, d, T, c),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def event_steps(chain: pd.DataFrame, tail: float, bound: float, difference: float) -> pd.DataFrame:
    """The steps of the proof of Proposition 8: what each claims, what was found, if it holds.

    ``chain`` comes from :func:`event_sweep`; ``tail`` is the largest exact tail at one count and
    ``bound`` Hoeffding's; ``difference`` is that of :func:`latent_difference`.
    """
    import pandas as pd

    strays = int(chain["failed_outside_union"].sum())
    union = bool((chain["crossing"] <= chain["tails"] * (1 + 1e-9)).all())
    hoeffding = bool((chain["tails"] <= chain["sharp"]).all())
    every, ratio = "at every coefficient", f"largest ratio {tail / bound:.3g}"
    apart = f"largest difference {difference:.1g}"
    rows = [
        ("1", "exact tail at most Hoeffding's bound", ratio, tail <= bound),
        ("2", "means in the run equal means off the shelf", apart, difference < 1e-12),
        ("3", "a failing run lies in the union", f"{strays} runs outside", strays == 0),
        ("4", "exact union at most the sum of exact tails", every, union),
        ("4", "sum of exact tails at most Hoeffding's sum", every, hoeffding),
    ]
    steps = pd.DataFrame(rows, columns=["step", "claim", "found", "holds"])
    steps["holds"] = np.where(steps["holds"], "yes", "no")
    return steps
