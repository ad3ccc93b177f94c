r"""Named computations behind the chapters: what a page measures beyond what the library offers.

Four groups, one per chapter: frames of a run in slow motion (the algorithm), exits from the
confidence intervals (the confidence event), certificates and their objectives (certificates),
and the price of a pull in units of its radius (local charge).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from momab import pareto, theory
from momab.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    positive_number,
    probability,
    whole_number,
)
from momab.errors import MomabError
from momab.instances import Instance, bernoulli, random_bernoulli, random_means
from momab.policies import Policy, View, WidthGuided, given_for, select_width_guided
from momab.simulate import rate_interval, simulate
from momab.streams import Coins, RewardStream, log, reward_arrays
from momab.trace import CASES, CERTIFICATE, LEADER, Rounds, Trace
from momab.trace import trace as record
from momab.twin import play_block

if TYPE_CHECKING:
    import pandas as pd

# --- the algorithm ------------------------------------------------------------------------


def frame_rounds(trace: Trace, frames: int, first: int = 40) -> IntArray:
    """Choose at most ``frames`` decisions: the first ones all, then evenly, the last included."""
    frames = whole_number(frames, "frames", least=2)
    start, stop = trace.K, trace.recorded
    opening = np.arange(start, min(stop, start + min(first, frames // 2)))
    # backwards, so that a single one is the last decision
    rest = np.linspace(stop - 1, opening[-1] + 1, frames - len(opening))
    return np.unique(
        np.concatenate([opening, np.rint(rest).astype(np.int64)]).clip(start, stop - 1)
    )


def state_table(trace: Trace, t: int) -> tuple[pd.DataFrame, pd.DataFrame, Rounds]:
    """Every variable of Algorithm 1 at one decision: a table by arm, one by objective."""
    import pandas as pd

    r = trace.rounds(t, t + 1)
    by_arm = pd.DataFrame({"arm": np.arange(1, trace.K + 1), "N": r.counts[0], "β": r.beta[0]})
    for j in range(trace.d):
        bounds = zip(r.L[0, :, j], r.means[0, :, j], r.U[0, :, j])
        column = [" ".join(f"{x:.3f}" for x in three) for three in bounds]
        by_arm[f"L, mean, U on objective {j + 1}"] = column
    each = np.arange(trace.d)
    by_objective = pd.DataFrame(
        {
            "objective": each + 1,
            "leader b": r.b[0] + 1,
            "challenger c": r.c[0] + 1,
            "width W": r.W[0],
            "L of b": r.L[0, r.b[0], each],
            "U of c": r.U[0, r.c[0], each],
            "certifies": np.where(r.certified[0], "yes", "no"),
        }
    )
    return by_arm, by_objective, r


def why(trace: Trace, rounds: Rounds, i: int = 0) -> str:
    """One sentence on why a decision pulled what it pulled, with arms counted from 1."""
    arm, j, case = int(rounds.arm[i]) + 1, int(rounds.objective[i]), int(rounds.case[i])
    if CASES[case] == "committed":
        return f"Arm {arm} is pulled because it is the stored arm."
    b, c = int(rounds.b[i, j]) + 1, int(rounds.c[i, j]) + 1
    if case == CERTIFICATE:
        return (
            f"Objective {j + 1} certifies: the lower bound of arm {b} exceeds every other upper "
            f"bound. Arm {b} is stored, and pulled from now on."
        )
    W, beta = rounds.W[i], rounds.beta[i]
    tied = int((W.max() - 1e-12 <= W).sum())
    widest = (
        f"Objective {j + 1} is the widest"
        if tied == 1
        else (f"Objective {j + 1} is one of {tied} that are equally wide")
    )
    role, other = ("leader", c) if case == LEADER else ("challenger", b)
    radii = (
        f"the larger radius of the pair {{{b}, {c}}}"
        if abs(beta[arm - 1] - beta[other - 1]) > 1e-12
        else f"the same radius as arm {other}, and the coin chose it"
    )
    return f"{widest}; arm {arm}, its {role}, has {radii}."


def certificate_rounds(
    instance: Instance, rules: Mapping[str, Policy], horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """When the certificate comes under several rules: quartiles of its round, as in the paper."""
    import pandas as pd

    played = simulate(
        instance, rules, horizon, runs, seed, checkpoints=1, workers=1, progress=False
    ).runs
    rows: list[dict[str, Any]] = []
    for name, mine in played.groupby("policy", sort=False):
        found = mine["cert_round"].dropna().astype(float) + 1
        quartiles = found.quantile([0.25, 0.5, 0.75]).tolist()
        shown = dict(zip(("lower quartile", "median round", "upper quartile"), quartiles))
        rows.append({"rule": name, "runs": runs, "certify": len(found), **shown})
    return pd.DataFrame(rows)


# --- the confidence event -----------------------------------------------------------------


def tail_profile(p: float, counts: ArrayLike, T: int, c: float) -> FloatArray:
    r"""Exact chances :math:`\Pr(|\bar Y_n-p|>\sqrt{c\log T/n})` at many counts n at once."""
    from scipy.stats import binom

    p = probability(p, "p")
    n = np.asarray(counts, dtype=np.int64)
    reach = n * theory.confidence_radius(n, T, c)
    low = np.maximum(0, np.ceil(n * p - reach))
    high = np.minimum(n, np.floor(n * p + reach))
    return np.asarray(binom.cdf(low - 1, n, p) + binom.sf(high, n, p))


def tail_table(means: Sequence[float], counts: ArrayLike, T: int, c: float) -> pd.DataFrame:
    """:func:`tail_profile` for several means, in the columns p, n and tail."""
    import pandas as pd

    n = np.asarray(counts, dtype=np.int64)
    frames = [pd.DataFrame({"p": p, "n": n, "tail": tail_profile(p, n, T, c)}) for p in means]
    return pd.concat(frames, ignore_index=True)


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


def rates(hits: BoolArray, name: str = "rate") -> dict[str, float]:
    """A rate with its exact 95 % interval, under the keys rate, low and high."""
    found = rate_interval(name, hits)
    return {key: found[f"{name}_{key}"] for key in ("rate", "low", "high")}


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


# --- certificates -------------------------------------------------------------------------


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
        ("U_a <= U_c for every a other than b", U[others], np.full(len(others), U[c]), False),
        ("U_c < L_b: the certificate", U[[c]], L[[b]], True),
        ("L_b <= mu_b: the interval of b holds", L[[b]], mu[[b]], False),
        ("mu_a <= U_a: the intervals of the others hold", mu[others], U[others], False),
        ("mu_a < mu_b: the conclusion", mu[others], np.full(len(others), mu[b]), True),
    ]
    rows = []
    for name, left, right, strict in steps:
        i = int((right - left).argmin())
        slack = float(right[i] - left[i])
        rows.append((name, float(left[i]), float(right[i]), slack, slack > 0 or
                     (slack == 0 and not strict)))  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


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


def crowded_champion(K: int, lead: float, margin: float) -> Instance:
    """Two objectives: the champion's runner-up is a crowd, the other's is a single arm.

    On objective 0 arm 0 leads all K - 1 others, which tie; on objective 1 arm 1 leads arm 2
    by ``lead - margin`` and everybody else is far behind.
    """
    K = whole_number(K, "K", least=3)
    means = np.full((K, 2), [0.5, 0.05])
    means[0, 0] = 0.5 + lead
    means[1, 1] = 0.5 + lead - margin
    means[2, 1] = 0.5
    return bernoulli(means, name=f"crowded champion (K={K}, lead={lead:g}, margin={margin:g})")


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


def champion_random(count: int, K: int, d: int, c: float, horizon: int, seed: int) -> pd.DataFrame:
    """One run on each of many random instances: was the largest-gap objective certified?

    The columns are ratio (second-largest over largest objective gap), certified and hit.
    """
    import pandas as pd

    means = random_means(K, d, seed, instances=count)
    rows = []
    for number, mu in enumerate(means):
        played = play_block(bernoulli(mu), WidthGuided(c=c), horizon, seed, number, 1)
        gaps = np.sort(pareto.objective_gaps(mu))
        champion = int(pareto.j_dagger(mu))
        certified = bool(played.cert_round[0] >= 0)
        ratio = float(gaps[-2] / gaps[-1]) if d > 1 else 0.0
        rows.append((ratio, certified, certified and int(played.cert_objective[0]) == champion))
    return pd.DataFrame(rows, columns=["ratio", "certified", "hit"])


def binned_shares(frame: pd.DataFrame, bins: int) -> pd.DataFrame:
    """Share of hits among the certified rows in equally filled bins of ratio."""
    import pandas as pd

    kept = frame[frame["certified"]].sort_values("ratio")
    rows = []
    for part in np.array_split(np.arange(len(kept)), bins):
        if len(part):
            piece = kept.iloc[part]
            hits = piece["hit"].to_numpy(dtype=np.bool_)
            row = {"ratio": float(piece["ratio"].mean()), "runs": len(part)}
            rows.append({**row, **rates(hits)})
    return pd.DataFrame(rows, columns=["ratio", "runs", "rate", "low", "high"])


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


def random_traces(
    count: int,
    horizon: int,
    coefficients: Sequence[float],
    seed: int,
    levels: Sequence[int | None] = (None, 11, 4),
    most: tuple[int, int] = (8, 5),
) -> Iterator[Trace]:
    """Play one run on each of many random instances and yield its trace.

    Arms and objectives vary up to ``most``, means are continuous or on a grid (so that ties
    and inconsistent instances occur), and the coefficients take turns.
    """
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    for number in range(count):
        K, d = int(rng.integers(2, most[0] + 1)), int(rng.integers(1, most[1] + 1))
        grid = levels[number % len(levels)]
        instance = random_bernoulli(K, d, int(rng.integers(1 << 31)), grid)
        c = coefficients[(number // len(levels)) % len(coefficients)]
        yield record(instance, WidthGuided(c=c), horizon, seed, number)


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


# --- local charge -------------------------------------------------------------------------


@dataclass(frozen=True)
class Charges:
    """What every non-certifying pull costs, in units of the radius of the pulled arm."""

    gap: FloatArray
    """Pareto gap / beta."""
    deficit: FloatArray
    """Deficit on the sampled objective / beta."""
    width: FloatArray
    """Width of the sampled pair / beta, between 1 and 2."""
    beta: FloatArray
    case: IntArray
    """Index into :data:`momab.trace.CASES`: 0, 1 or 2."""
    on_event: BoolArray
    """Whether all intervals of the round hold."""
    run: IntArray
    """Which of the traces the pull belongs to."""


def charges(traces: Iterable[Trace]) -> Charges:
    """Collect gap / beta and deficit / beta of every non-certifying pull of some traces."""
    parts: list[tuple[Any, ...]] = []
    for number, trace in enumerate(traces):
        if trace.recorded <= trace.K:
            continue
        r = trace.rounds()
        keep = np.flatnonzero(r.noncertifying)
        arm, j = r.arm[keep], r.objective[keep]
        beta = r.beta[keep, arm]
        off: FloatArray = np.abs(r.means - trace.means) - r.beta[:, :, None]
        inside: BoolArray = np.asarray(off.max(axis=(1, 2)) <= 0.0)
        deficit = pareto.objective_deficits(trace.means)[arm, j]
        parts.append(
            (
                trace.geometry.gaps[arm] / beta,
                deficit / beta,
                r.W[keep, j] / beta,
                beta,
                r.case[keep].astype(np.int64),
                inside[keep],
                np.full(len(keep), number),
            )
        )
    if not parts:
        raise MomabError("there is no trace with a decision.")
    return Charges(*(np.concatenate(column) for column in zip(*parts)))


def charge_steps(traces: Iterable[Trace]) -> pd.DataFrame:
    """Every inequality in the proof of Lemma 10, at all rounds whose intervals hold.

    One row per case and inequality: how often it was used, its least slack, and how often it
    failed by more than rounding.
    """
    import pandas as pd

    slacks: dict[tuple[str, str], list[FloatArray]] = {}

    def note(case: str, claim: str, slack: FloatArray) -> None:
        slacks.setdefault((case, claim), []).append(slack)

    for trace in traces:
        if trace.recorded <= trace.K:
            continue
        r = trace.rounds()
        inside = np.abs(r.means - trace.means) <= r.beta[:, :, None]
        keep = np.flatnonzero(r.noncertifying & inside.reshape(len(inside), -1).all(axis=1))
        arm, j = r.arm[keep], r.objective[keep]
        b, c = r.b[keep, j], r.c[keep, j]
        mu, U, L, beta = trace.means, r.U[keep], r.L[keep], r.beta[keep]
        best, top = mu.argmax(axis=0)[j], mu.max(axis=0)[j]
        each = np.arange(len(keep))
        deficit = top - mu[arm, j]
        radius = beta[each, arm]
        note("all", "gap <= deficit on the sampled objective", deficit - trace.geometry.gaps[arm])
        note("all", "deficit <= 4 beta", 4 * radius - deficit)
        lead = (arm == b) & (mu[b, j] < top)
        behind = (arm != b) & (mu[b, j] == top)
        other = (arm != b) & (mu[b, j] < top)
        for case, i in (("leader", lead), ("challenger behind another arm", other)):
            e, a, k = each[i], arm[i], j[i]
            name = "U_b" if case == "leader" else "U_c"
            note(case, f"{name} >= U of a maximiser", U[e, a, k] - U[e, best[i], k])
            note(case, "U of a maximiser >= its mean", U[e, best[i], k] - top[i])
            note(case, f"{name} <= mean + 2 beta", mu[a, k] + 2 * beta[e, a] - U[e, a, k])
            note(case, "deficit <= 2 beta", 2 * radius[i] - deficit[i])
        case, e, k = "challenger behind a maximiser", each[behind], j[behind]
        x, y = b[behind], c[behind]
        note(case, "L_b <= U_c: no certificate", U[e, y, k] - L[e, x, k])
        note(case, "L_b >= mean of b - 2 beta_b", L[e, x, k] - top[behind] + 2 * beta[e, x])
        note(case, "U_c <= mean of c + 2 beta_c", mu[y, k] + 2 * beta[e, y] - U[e, y, k])
        note(case, "beta_b <= beta_c", beta[e, y] - beta[e, x])
        note(case, "deficit <= 2 W", 2 * r.W[keep[behind], k] - deficit[behind])
    rows = []
    for (case, claim), parts in slacks.items():
        slack = np.concatenate(parts)
        least = float(slack.min()) if len(slack) else np.nan
        rows.append((case, claim, len(slack), least, int((slack < -1e-11).sum())))
    return pd.DataFrame(rows, columns=["case", "claim", "checked", "least slack", "violations"])


def charge_search(
    coefficients: Sequence[float], count: int, horizon: int, seed: int
) -> pd.DataFrame:
    """The largest deficit / beta by case, over random instances, per coefficient c.

    Only pulls at rounds whose intervals hold count: elsewhere nothing is claimed.  0 if a case
    never occurs.
    """
    import pandas as pd

    rows = []
    for c in coefficients:
        found = charges(random_traces(count, horizon, [c], seed))
        on = found.on_event
        row: dict[str, Any] = {"c": c, "pulls": int(on.sum())}
        for case in range(3):
            mine = on & (found.case == case)
            row[CASES[case]] = float(found.deficit[mine].max(initial=0.0))
        row["largest gap / beta"] = float(found.gap[on].max(initial=0.0))
        rows.append(row)
    return pd.DataFrame(rows)


def edge_sequence(
    mean: float, n: int, T: int, c: float, side: int, whole: bool = False
) -> FloatArray:
    r"""Rewards whose running mean hugs one edge of the confidence interval, never beyond it.

    ``side`` is +1 for :math:`\mu+\beta`, -1 for :math:`\mu-\beta`; the running mean stays on the
    edge as soon as rewards in [0, 1] allow it.  ``whole`` asks for rewards 0 and 1 only.
    """
    p = probability(mean, "mean")
    if side not in (-1, 1):
        raise MomabError(f"side must be +1 or -1; it is {side!r}.")
    counts = np.arange(n + 1)
    # a hair inside the interval, so that rounding never leaves it
    reach = np.sqrt(positive_number(c, "c") * log(T) * (1.0 - 1e-12) * counts)
    sums = np.clip(counts * p + side * reach, 0.0, counts)
    if whole:
        sums = np.ceil(sums) if side < 0 else np.floor(sums)
    return np.asarray(np.diff(sums)).clip(0.0, 1.0)


def play_sequences(
    sequences: ArrayLike, means: ArrayLike, horizon: int, c: float, seed: int = 0
) -> Trace:
    """Run Algorithm 1 on given reward sequences, shape (K, n, d), up to the certificate.

    The lemmas hold for every sequence that stays inside the confidence intervals, random or
    not; this is how to look for the worst one.
    """
    rewards = np.asarray(sequences, dtype=np.float64)
    mu = np.asarray(means, dtype=np.float64)
    K, n, d = rewards.shape
    policy = WidthGuided(c=c)
    coins = Coins(policy.name, seed, 0)
    counts = np.zeros(K, dtype=np.int64)
    view = View(horizon, counts, np.zeros((K, d)), np.zeros((K, d)), given_for(mu))
    arms, received = [], []
    for t in range(min(horizon, K * n)):
        view.t = coins.t = t
        arm = t if t < K else select_width_guided(policy, view, coins)
        if counts[arm] == n:
            break
        arms.append(arm)
        received.append(rewards[arm, counts[arm]])
        view.sums[arm] += received[-1]
        counts[arm] += 1
        view.means[arm] = view.sums[arm] / counts[arm]
        if view.certificate is not None:
            break
    return Trace.from_arrays(
        arms, received, mu, c, horizon, certificate=view.certificate, name="edge of the event"
    )  # fmt: skip


def edge_run(
    gap: float, horizon: int, c: float, whole: bool = False, rivals: int = 1, d: int = 1
) -> Trace:
    """The worst case of Lemma 10: the best arm looks as bad, its rivals as good as allowed.

    The best arm has mean 1/2 + gap/2 and the rivals 1/2 - gap/2, on d equal objectives.
    """
    gap = positive_number(gap, "gap")
    if gap > 1:
        raise MomabError(f"gap must be at most 1; it is {gap!r}.")
    theta = np.full(1 + whole_number(rivals, "rivals", least=1), 0.5 - gap / 2)
    theta[0] = 0.5 + gap / 2
    n = min(horizon, int(16 * c * log(horizon) / gap**2) + 3)
    sides = [-1] + [1] * rivals
    rewards = [edge_sequence(p, n, horizon, c, s, whole) for p, s in zip(theta.tolist(), sides)]
    stacked = np.repeat(np.array(rewards)[:, :, None], d, axis=2)
    return play_sequences(stacked, np.repeat(theta[:, None], d, axis=1), horizon, c)
