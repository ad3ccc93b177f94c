r"""The proofs of Lemma 11 and Theorem 4 as bookkeeping: every inequality with its two sides.

Traces give the width floor round by round (:func:`floor_rounds`, :func:`floor_steps`); pull counts
give the regret theorem's chain run by run (:func:`account`).  A few families of instances that
the chapters on the bounds vary one number of are built here as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from momab import pareto, theory
from momab.checks import BoolArray, FloatArray, IntArray, positive_number, real_array, whole_number
from momab.errors import MomabError
from momab.instances import Instance, bernoulli
from momab.metrics import weighted_pulls
from momab.policies import Policy, WidthGuided
from momab.trace import Rounds, Trace, trace
from momab.twin import Block, play_block

if TYPE_CHECKING:
    import pandas as pd

_PIECE = 2_000_000  # numbers per array of a piece of a trace

# --- families -----------------------------------------------------------------------------


def one_leader(K: int, d: int, g: float, share: float = 1.0, base: float = 0.4) -> Instance:
    """Arm 0 leads objective 0 by g and every other objective by share * g; the rest are equal.

    The coordinates are independent.  Hence g-dagger = g, and every other arm has Pareto gap
    share * g, or g when d = 1.
    """
    K = whole_number(K, "K", least=2)
    d = whole_number(d, "d", least=1)
    means = np.full((K, d), base)
    means[0] += positive_number(share, "share") * positive_number(g, "g")
    means[0, 0] = base + g
    return bernoulli(means, name=f"one leader (K={K}, d={d}, g={g:g})")


def tied_front(gaps: ArrayLike, high: float = 0.8, low: float = 0.5) -> Instance:
    """Build an instance with g-dagger = 0: two copies each of (high, low) and (low, high).

    Every further arm lies on the diagonal below (high, low), by one of the given Pareto gaps.
    """
    below = real_array(gaps, "gaps")
    if below.ndim != 1 or not len(below) or not ((below > 0) & (below <= low)).all():
        raise MomabError(f"gaps must be a list of numbers in (0, {low:g}].")
    front = [(high, low)] * 2 + [(low, high)] * 2
    return bernoulli([*front, *[(high - gap, low - gap) for gap in below]], name="tied front")


def diagonal_crowd(
    ratio: float, m: int, front: int = 2, g: float = 0.2, p: float = 0.5
) -> Instance:
    """Build m dominated arms with Pareto gap ratio * g where g-dagger is g; d = 3.

    The front holds (p + g, p, p), which leads objective 0 by g, and (p, p + g, p); if it is to be
    larger, the others are poor on the first two objectives and share the third, with leads of at
    most g/4.  The crowd lies on the diagonal below (p, p + g, p).
    """
    m = whole_number(m, "the crowd size m", least=1)
    gap = positive_number(ratio, "ratio") * positive_number(g, "g")
    if gap > p + 1e-12:
        raise MomabError(f"ratio * g must not exceed p = {p:g}; it is {gap:g}.")
    others = whole_number(front, "the front size", least=2) - 2
    shift = np.arange(1, others + 1) / max(1, others) * g / 4
    third = [(0.2 * p - s / 2, 0.2 * p, p + s) for s in shift]
    crowd = [(max(p - gap, 0.0), p + g - gap, max(p - gap, 0.0))] * m
    means = [(p + g, p, p), (p, p + g, p), *third, *crowd]
    return bernoulli(means, name=f"crowd (x={ratio:g}, m={m})")


def compare(
    problems: Mapping[Any, Instance],
    policies: Mapping[str, Policy],
    horizon: int,
    runs: int,
    seed: int,
) -> pd.DataFrame:
    """Play policies on named instances: one row per pair with mean, interval and median regret."""
    import pandas as pd

    rows = []
    for name, instance in problems.items():
        gaps = instance.geometry.gaps
        for label, policy in policies.items():
            block = play_block(instance, policy, horizon, seed, 0, runs)
            regret = weighted_pulls(block.pulls, gaps)
            mean, low, high = mean_interval(regret)
            rows.append(
                {
                    "problem": name,
                    "policy": label,
                    "mean": mean,
                    "low": low,
                    "high": high,
                    "median": float(np.median(regret)),
                    "worst": float(regret.max()),
                }
            )
    return pd.DataFrame(rows)


# --- the width floor ----------------------------------------------------------------------


def _pieces(record: Trace) -> Iterator[Rounds]:
    """The decisions of a trace up to and including the certificate, piece by piece."""
    end = record.recorded if record.commitment is None else record.commitment.t + 1
    size = max(256, _PIECE // (record.K * record.d))
    for start in range(record.K, end, size):
        yield record.rounds(start, min(start + size, end))


def _intervals_hold(record: Trace, rounds: Rounds) -> BoolArray:
    """Whether all intervals of a decision hold their means, shape (n,)."""
    miss = np.abs(rounds.means - record.means).max(axis=2) - rounds.beta
    return np.asarray((miss <= 0).all(axis=1))


def _floor_piece(record: Trace, rounds: Rounds) -> dict[str, FloatArray | IntArray | BoolArray]:
    j = record.geometry.j_dagger
    each = np.arange(len(rounds.t))
    return {
        "t": rounds.t,
        "champion": rounds.W[:, j],
        "sampled": rounds.W[each, rounds.objective],
        "radius": rounds.beta[each, rounds.arm],
        "best_leads": rounds.b[:, j] == record.means[:, j].argmax(),
        "lead": rounds.margin[:, j] + rounds.W[:, j],
        "certifying": ~rounds.noncertifying,
        "on_event": _intervals_hold(record, rounds),
    }


def floor_rounds(record: Trace) -> pd.DataFrame:
    r"""What Lemma 11 is about, one row per decision up to the certificate.

    ``champion`` and ``sampled`` are the widths of the champion objective and of the sampled one,
    ``radius`` belongs to the pulled arm, ``lead`` is the empirical lead of b over c on the
    champion objective, ``best_leads`` says which case of the proof applies, ``on_event`` whether
    all intervals of the decision hold.
    """
    import pandas as pd

    if record.geometry.g_dagger <= 0:
        raise MomabError("the width floor needs an instance with a positive objective gap.")
    return pd.concat(
        [pd.DataFrame(_floor_piece(record, rounds)) for rounds in _pieces(record)],
        ignore_index=True,
    )


FLOOR_STEPS = {
    "not certified": ("1", "L_b ≤ U_c", "no certificate"),
    "lower side": ("1", "μ* − 2β_b ≤ L_b", "event"),
    "upper side": ("1", "U_c ≤ μ_c + 2β_c", "event"),
    "lead of the best": ("1", "μ_c ≤ μ* − g", "definition of g"),
    "both radii": ("1", "g/2 ≤ β_b + β_c", "the four above"),
    "leader's bound": ("2", "U_a* ≤ U_b", "definition of b"),
    "optimism": ("2", "μ* ≤ U_a*", "event"),
    "leader's upper side": ("2", "U_b ≤ μ_b + 2β_b", "event"),
    "lead over the leader": ("2", "μ_b ≤ μ* − g", "definition of g"),
    "one radius": ("2", "g/2 ≤ β_b", "the four above"),
    "widest": ("both", "W of the champion ≤ W of the sampled", "choice of the objective"),
    "larger endpoint": ("both", "W/2 ≤ β of the pulled arm", "choice of the arm"),
    "floor": ("both", "g/4 ≤ β of the pulled arm", "all of it"),
}
"""The inequalities in the proof of Lemma 11: case, claim, reason."""


def floor_steps(traces: Iterable[Trace]) -> pd.DataFrame:
    """Check every inequality in the proof of Lemma 11 at every non-certifying decision.

    Only decisions whose intervals hold count.  One row per inequality: how often it was used,
    how often it failed (by more than the tie tolerance), and its slack, right minus left.
    """
    import pandas as pd

    found: dict[str, list[FloatArray]] = {key: [] for key in FLOOR_STEPS}
    for record in traces:
        for rounds in _pieces(record):
            for key, slack in _step_slacks(record, rounds).items():
                found[key].append(slack)
    rows = []
    for key, (case, claim, reason) in FLOOR_STEPS.items():
        slack = np.concatenate(found[key]) if found[key] else np.zeros(0)
        some = len(slack) > 0
        rows.append(
            {
                "case": case,
                "claim": claim,
                "because": reason,
                "checked": len(slack),
                "failed": int((slack < -1e-11).sum()),
                "least slack": float(slack.min()) if some else math.nan,
                "median slack": float(np.median(slack)) if some else math.nan,
            }
        )
    return pd.DataFrame(rows, index=list(FLOOR_STEPS))


def _step_slacks(record: Trace, rounds: Rounds) -> dict[str, FloatArray]:
    geo = record.geometry
    j, g, mu = geo.j_dagger, geo.g_dagger, record.means[:, geo.j_dagger]
    star = int(mu.argmax())
    use = rounds.noncertifying & _intervals_hold(record, rounds)
    each = np.flatnonzero(use)
    b, c = rounds.b[each, j], rounds.c[each, j]
    means = rounds.means[each, :, j]
    beta = rounds.beta[each]
    row = np.arange(len(each))
    beta_b, beta_c = beta[row, b], beta[row, c]
    upper_b, upper_c = means[row, b] + beta_b, means[row, c] + beta_c
    lower_b = means[row, b] - beta_b
    upper_star = means[:, star] + beta[:, star]
    one = b == star
    pulled = beta[row, rounds.arm[each]]
    sampled = rounds.W[each, rounds.objective[each]]
    two = ~one
    return {
        "not certified": (upper_c - lower_b)[one],
        "lower side": (lower_b - (mu[star] - 2 * beta_b))[one],
        "upper side": (mu[c] + 2 * beta_c - upper_c)[one],
        "lead of the best": (mu[star] - g - mu[c])[one],
        "both radii": (beta_b + beta_c - g / 2)[one],
        "leader's bound": (upper_b - upper_star)[two],
        "optimism": (upper_star - mu[star])[two],
        "leader's upper side": (mu[b] + 2 * beta_b - upper_b)[two],
        "lead over the leader": (mu[star] - g - mu[b])[two],
        "one radius": (beta_b - g / 2)[two],
        "widest": sampled - rounds.W[each, j],
        "larger endpoint": pulled - sampled / 2,
        "floor": pulled - g / 4,
    }


def floor_summary(record: Trace) -> dict[str, float]:
    """Condense :func:`floor_rounds`: least ratios to the floors, and the certificate's.

    Ratios are width / (g/2) and radius / (g/4) over the non-certifying decisions whose intervals
    hold, NaN if there are none; ``at_certificate`` is the champion's width over g/2 when the
    certificate appears, NaN if it does not.
    """
    table = floor_rounds(record)
    g = record.geometry.g_dagger
    calm = table[~table["certifying"] & table["on_event"]]
    end = table[table["certifying"]]
    width = calm["champion"].min() / (g / 2) if len(calm) else math.nan
    radius = calm["radius"].min() / (g / 4) if len(calm) else math.nan
    return {
        "g": g,
        "width": float(width),
        "radius": float(radius),
        "at_certificate": float(end["champion"].iloc[0] / (g / 2)) if len(end) else math.nan,
        "decisions": float(len(table)),
        "off_event": float((~table["on_event"]).sum()),
        "upsets": float((~calm["best_leads"]).sum()),
    }


def random_separated(count: int, seed: int, g: float = 0.2) -> list[Instance]:
    """Draw instances with 2 to 10 arms, 1 to 5 objectives and an objective gap of at least g."""
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    found: list[Instance] = []
    while len(found) < whole_number(count, "count", least=1):
        shape = int(rng.integers(2, 11)), int(rng.integers(1, 6))
        means = rng.random(shape)
        if pareto.g_dagger(means) >= g:
            found.append(bernoulli(means, name=f"random {len(found) + 1}"))
    return found


def stubborn_trace(horizon: int, g: float = 0.8, c: float = 2.0) -> Trace:
    """Build by hand a run of two arms on one objective that comes as near the floor as can be.

    The true means are 1/2 + g/2 and 1/2 - g/2; the rewards are constantly 1/2 + g/4 and
    1/2 - g/4, so that the empirical lead is half the true one, and the arms take turns.  All
    intervals hold until the radii fall below g/4, which is when the certificate appears.
    """
    c = positive_number(c, "c")
    horizon = whole_number(horizon, "the horizon", least=2)
    needed = 2 * (math.ceil(c * math.log(horizon) / (g / 4) ** 2) + 2)
    if horizon < needed:
        raise MomabError(f"this run needs a horizon of at least {needed}; it is {horizon}.")
    arms = np.arange(needed) % 2
    rewards = np.where(arms == 0, 0.5 + g / 4, 0.5 - g / 4)[:, None]
    means = [[0.5 + g / 2], [0.5 - g / 2]]
    whole = Trace.from_arrays(arms, rewards, means, c, horizon, name="stubborn run")
    found = whole.first_certificate()
    assert found is not None
    arms, rewards = arms[: found.t + 1], rewards[: found.t + 1]
    arms[-1], rewards[-1] = found.arm, 0.5 + g / 4  # the pull of the certificate
    return whole.edited(arms=arms, rewards=rewards, certificate=found)


def play_traces(
    instance: Instance, horizon: int, seed: int, runs: int, c: float = 2.0
) -> list[Trace]:
    """Record runs of Width-guided, each until its certificate."""
    return [trace(instance, WidthGuided(c=c), horizon, seed, run) for run in range(runs)]


# --- the regret theorem -------------------------------------------------------------------


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

    def steps(self) -> pd.DataFrame:
        """The waterfall: the mean of every stage with its 95 % interval, and the factor lost."""
        import pandas as pd

        stages = [
            ("measured regret after the warm start", self.explore + self.after),
            ("every pull charged 4 radii", self.charge),
            ("sums replaced by square roots", self.root),
            ("every arm pulled as often as the floor allows", np.array([self.theorem.exploration])),
            ("plus warm start and tail", np.array([self.theorem.total])),
        ]
        rows = []
        for name, values in stages:
            mean = float(values.mean())
            half = (
                1.96 * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0
            )
            rows.append({"stage": name, "value": mean, "low": mean - half, "high": mean + half})
        frame = pd.DataFrame(rows)
        frame["factor"] = frame["value"] / frame["value"].shift(1)
        return frame


def exploration_pulls(block: Block, horizon: int) -> IntArray:
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
                "certified": float(kept.certified.mean()),
                "wrong": float((kept.after > 0).mean()),
                "fullest": float(np.max(kept.pulls / kept.pull_caps)),
            }
        )
    return pd.DataFrame(rows)


def tied_bound(means: ArrayLike, T: int, c: float = 2.0) -> float:
    r"""Bound the regret on the event when no objective has a unique best arm.

    .. math:: K\Delta_{\max} + 4c\log T\sum_{a:\Delta_a>0} 1/\Delta_a

    A challenger then has a maximiser among its rivals whoever leads, so Lemma 10 holds with 2
    instead of 4 radii.
    """
    geo = pareto.geometry(means)
    if geo.g_dagger > 0:
        raise MomabError("this bound is for instances without a unique best arm anywhere.")
    explore = 4.0 * c * math.log(T) * float((1.0 / geo.positive_gaps).sum())
    return geo.K * geo.max_gap + explore


def power(frame: pd.DataFrame, column: str = "mean") -> float:
    """The least-squares slope of log(column) against log(value)."""
    x, y = np.log(frame["value"].to_numpy(float)), np.log(frame[column].to_numpy(float))
    return float(np.polyfit(x, y, 1)[0])


def mean_interval(values: ArrayLike) -> tuple[float, float, float]:
    """Compute the mean and its 95 % interval by Student's t, which allows for few runs."""
    from scipy.special import stdtrit

    array = real_array(values, "values")
    n, mean = len(array), float(array.mean())
    if n < 2:
        return mean, mean, mean
    half = float(stdtrit(n - 1, 0.975)) * float(array.std(ddof=1)) / math.sqrt(n)
    return mean, mean - half, mean + half
