r"""The paper's bounds and constants as functions of numbers.

Four groups: the confidence event (Proposition 8), the regret bounds (Theorem 4 and a sharper
form of it), the lower bound (Proposition 3), and the comparison with Pareto UCB1 (Remark 5).

The confidence coefficient c generalises the paper's c = 2: the radius of an arm with n
samples is :math:`\beta = \sqrt{c\log T/n}`, Hoeffding's inequality gives
:math:`2T^{-2c}` per sample count, and every constant below is written for general c.
Bounds are returned as they are, also where they exceed 1 or the trivial
:math:`T\Delta_{\max}` and so say nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import (
    FloatArray,
    horizon_for,
    mean_array,
    positive_number,
    probability,
    real_array,
    unit_interval,
    whole_number,
)
from momab.errors import MomabError
from momab.model import pareto
from momab.model.kinf import instance_price as instance_price
from momab.model.kinf import kinf as kinf
from momab.model.kinf import kinf_evidence as kinf_evidence
from momab.model.price import Price as Price
from momab.model.price import PriceBounds as PriceBounds
from momab.model.price import evidence as evidence
from momab.model.price import kl_plus as kl_plus
from momab.model.price import marginal_price as marginal_price
from momab.model.price import price as price
from momab.model.price import price_bounds as price_bounds

# --- the confidence event ---------------------------------------------------------------


def confidence_radius(n: ArrayLike, T: float, c: float = 2.0) -> FloatArray:
    r"""The radius :math:`\beta = \sqrt{c\log T/n}` of an arm with n >= 1 samples.

    Parameters
    ----------
    n : array_like
        Sample counts, at least 1.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    array of float
    """
    c = positive_number(c, "c")
    T = whole_number(T, "the horizon T", least=1)
    counts = real_array(n, "n")
    if (counts < 1).any():
        raise MomabError("n must be at least 1: an arm has no radius before its first sample.")
    return np.asarray(np.sqrt(c * math.log(T) / counts))


def hoeffding_bound(T: float, c: float = 2.0) -> float:
    r"""Hoeffding's bound :math:`2T^{-2c}` on leaving the interval at one sample count.

    It does not depend on the count n, because the radius is :math:`\sqrt{c\log T/n}`.

    Parameters
    ----------
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    float
    """
    T = whole_number(T, "the horizon T", least=1)
    return 2.0 * math.pow(T, -2.0 * positive_number(c, "c"))


def union_bound(K: int, d: int, T: float, c: float = 2.0) -> float:
    r"""Proposition 8: :math:`\Pr(\Omega_T^c)\le 2KdT^{1-2c}`, the paper's 2KdT^-3 at c = 2.

    Parameters
    ----------
    K : int
        The number of arms, at least 2.
    d : int
        The number of objectives, at least 1.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    float
    """
    K = whole_number(K, "K", least=2)
    d = whole_number(d, "d", least=1)
    T = horizon_for(T, K)
    return 2.0 * K * d * math.pow(T, 1.0 - 2.0 * positive_number(c, "c"))


def peeling_bound(K: int, d: int, T: float, c: float = 2.0) -> float:
    r"""Bound the failure of the confidence event without a union over sample counts.

    By the self-normalised deviation inequality of Garivier and Cappé (2011),
    :math:`\Pr(\exists n\le T: n\,\mathrm{kl}(\hat\mu_n,\mu)\ge x,\ \hat\mu_n<\mu)
    \le e\lceil x\log T\rceil e^{-x}`, which Pinsker's inequality turns with
    :math:`x=2c\log T` into :math:`2eKd\lceil 2c\log^2T\rceil T^{-2c}` for both sides of all
    intervals.  For large T it is far below :func:`union_bound` and vanishes for any c > 0.

    Parameters
    ----------
    K : int
        The number of arms, at least 2.
    d : int
        The number of objectives, at least 1.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    float
    """
    K = whole_number(K, "K", least=2)
    d = whole_number(d, "d", least=1)
    log_T = math.log(horizon_for(T, K))
    c = positive_number(c, "c")
    return 2.0 * math.e * K * d * math.ceil(2.0 * c * log_T**2) * math.exp(-2.0 * c * log_T)


def tail_probability(p: float, n: int, T: float, c: float = 2.0) -> float:
    r"""Compute :math:`\Pr(|\bar Y_n-p|>\sqrt{c\log T/n})` exactly, for n Bernoulli(p) samples.

    Parameters
    ----------
    p : float
        The mean of the samples.
    n : int
        The sample count.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    float
    """
    from scipy.stats import binom

    p = probability(p, "p")
    n = whole_number(n, "n", least=1)
    low, high = _stay(n, p, n * float(confidence_radius(n, T, c)))
    return float(binom.cdf(low - 1, n, p) + binom.sf(high, n, p))


def _stay(n: int, p: float, reach: float) -> tuple[int, int]:
    """The least and the largest sum of n samples with |sum - n p| <= reach."""
    return max(0, math.ceil(n * p - reach)), min(n, math.floor(n * p + reach))


def crossing_probability(p: float, samples: int, T: float, c: float = 2.0) -> float:
    r"""Compute :math:`\Pr(\exists n\le N: |\bar Y_n-p|>\sqrt{c\log T/n})` for Bernoulli(p).

    Dynamic programming over the sample count: ``mass[s]`` is the probability that n samples
    sum to s and no earlier mean has left its interval; what steps outside is added up and
    never returns.  Only positive terms are added, so that tiny probabilities keep their
    relative accuracy.  The cost is about :math:`N^{3/2}\sqrt{c\log T}` additions.

    Parameters
    ----------
    p : float
        The mean of the samples.
    samples : int
        The largest sample count N.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    float
    """
    p = probability(p, "p")
    N = whole_number(samples, "samples", least=1)
    T = whole_number(T, "the horizon T", least=1)
    scale = math.sqrt(positive_number(c, "c") * math.log(T))
    mass = np.ones(1)
    first = 0  # mass[i] belongs to the sum first + i
    left = 0.0
    for n in range(1, N + 1):
        stepped = np.zeros(len(mass) + 1)
        stepped[:-1] = mass * (1.0 - p)
        stepped[1:] += mass * p
        low, high = _stay(n, p, scale * math.sqrt(n))
        inside = slice(max(0, low - first), max(0, high - first + 1))
        left += float(stepped[: inside.start].sum() + stepped[inside.stop :].sum())
        mass = stepped[inside]
        first = max(first, low)
        if not mass.size:
            break
    return left


def event_failure_probability(means: ArrayLike, T: float, c: float = 2.0) -> float:
    """Compute the chance that some arm's samples ever leave their interval within T rounds.

    For independent Bernoulli coordinates, by :func:`crossing_probability` over the
    T - K samples that an arm can have when a decision is taken.  It lies between the
    probability of leaving the confidence event, which looks only at the sample counts that
    the policy reaches, and :func:`union_bound`.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    float
    """
    mu = unit_interval(mean_array(means), "means")
    T = horizon_for(T, mu.shape[-2])
    samples = T - mu.shape[-2]
    if samples == 0:
        return 0.0
    log_stay = 0.0
    for p, count in zip(*np.unique(mu, return_counts=True)):
        left = crossing_probability(float(p), samples, T, c)
        log_stay += int(count) * math.log1p(-left) if left < 1.0 else -math.inf
    return -math.expm1(log_stay)


# --- the regret bounds ------------------------------------------------------------------


@dataclass(frozen=True)
class RegretBound:
    """An upper bound on the expected Pareto regret, term by term."""

    warm_start: float
    exploration: float
    tail: float

    @property
    def total(self) -> float:
        """The sum of the three terms."""
        return self.warm_start + self.exploration + self.tail


def theorem_bound(means: ArrayLike, T: float, c: float = 2.0) -> RegretBound:
    r"""Theorem 4, for general c.

    .. math::
        \mathbb E R_T \le K\Delta_{\max} + 32c\,\frac{K\log T}{g^\dagger}
        + 2Kd\,\Delta_{\max}T^{2-2c},

    which is the paper's :math:`64K\log T/g^\dagger` and :math:`2Kd\Delta_{\max}T^{-2}` at
    c = 2.  The exploration term is infinite at :math:`g^\dagger=0`.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    RegretBound
    """
    geo, T, c = _setting(means, T, c)
    exploration = 32.0 * c * geo.K * math.log(T) / geo.g_dagger if geo.g_dagger > 0 else math.inf
    return RegretBound(geo.K * geo.max_gap, exploration, _tail(geo, T, c))


def sharper_bound(means: ArrayLike, T: float, c: float = 2.0) -> RegretBound:
    r"""The bound that the lemmas give when each arm is counted instead of telescoped.

    On the confidence event a non-certifying pull of arm a has, by Lemma 10,
    :math:`\Delta_a\le 4\beta_a` and, by Lemma 11, :math:`g^\dagger\le 4\beta_a`, hence
    :math:`N_a\le 16c\log T/\max(\Delta_a,g^\dagger)^2`, and

    .. math::
        \mathbb E R_T \le K\Delta_{\max}
        + 16c\log T\sum_{a:\Delta_a>0}\frac{\Delta_a}{\max(\Delta_a,g^\dagger)^2}
        + 2Kd\,\Delta_{\max}T^{2-2c}.

    Each summand is at most :math:`1/g^\dagger`, so the exploration term is at most half of
    the theorem's; Lemma 10 needs no gap, so at :math:`g^\dagger=0` it stays finite:
    :math:`16c\log T\sum_a 1/\Delta_a`.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    RegretBound
    """
    geo, T, c = _setting(means, T, c)
    positive = geo.positive_gaps
    exploration = (
        16.0 * c * math.log(T) * float((positive / np.maximum(positive, geo.g_dagger) ** 2).sum())
    )
    return RegretBound(geo.K * geo.max_gap, exploration, _tail(geo, T, c))


def deficit_bound(means: ArrayLike, T: float, c: float = 2.0) -> RegretBound:
    r"""The bound counted by deficits, the sharpest of the three.

    The proof of Lemma 10 bounds the pulled arm's deficit on the sampled objective by 4 beta,
    not only its Pareto gap.  Whatever objective that was, the deficit is at least
    :math:`\delta_a=\min_j\Delta_a^{(j)}\ge\Delta_a`, so with Lemma 11 a non-certifying pull has
    :math:`N_a\le 16c\log T/\max(\delta_a,g^\dagger)^2`, and the exploration term is

    .. math:: 16c\log T\sum_{a:\Delta_a>0}\frac{\Delta_a}{\max(\delta_a,g^\dagger)^2}.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    RegretBound
    """
    geo, T, c = _setting(means, T, c)
    positive = geo.gaps > 0
    least = pareto.objective_deficits(means).min(axis=-1)
    scale = np.maximum(least, geo.g_dagger)[positive]
    exploration = 16.0 * c * math.log(T) * float((geo.gaps[positive] / scale**2).sum())
    return RegretBound(geo.K * geo.max_gap, exploration, _tail(geo, T, c))


def pull_bounds(means: ArrayLike, T: float, c: float = 2.0) -> FloatArray:
    r"""Bound the non-certifying pulls: :math:`16c\log T/\max(\Delta_a,g^\dagger)^2` per arm.

    Infinite for an arm with zero gap when :math:`g^\dagger=0`.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    array of float
    """
    geo, T, c = _setting(means, T, c)
    scale = np.maximum(geo.gaps, geo.g_dagger)
    bounds = np.full(geo.K, math.inf)
    np.divide(16.0 * c * math.log(T), scale**2, out=bounds, where=scale > 0)
    return bounds


def _setting(means: ArrayLike, T: float, c: float) -> tuple[pareto.Geometry, int, float]:
    geo = pareto.geometry(unit_interval(mean_array(means), "means"))
    return geo, horizon_for(T, geo.K), positive_number(c, "c")


def _tail(geo: pareto.Geometry, T: int, c: float) -> float:
    """The bad event's share: T Delta_max times the probability of leaving the event."""
    return T * geo.max_gap * union_bound(geo.K, geo.d, T, c)


# --- the lower bound --------------------------------------------------------------------


def bernoulli_kl(p: float, q: float) -> float:
    """Compute kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), with 0 log 0 = 0.

    Parameters
    ----------
    p : float
        A mean in [0, 1].
    q : float
        Another one.

    Returns
    -------
    float
    """
    p = probability(p, "p")
    q = probability(q, "q")

    def part(x: float, y: float) -> float:
        if x == 0.0:
            return 0.0
        return math.inf if y == 0.0 else x * math.log(x / y)

    return part(p, q) + part(1.0 - p, 1.0 - q)


@dataclass(frozen=True)
class LowerBound:
    r"""The chain of Proposition 3 on the duplicated-coordinate instance.

    ``kl`` <= ``kl_rational`` = 2D^2/(1-4D^2) <= ``kl_quadratic`` = (8/3)D^2, and so
    ``exact`` = (K-1)D/kl >= ``rational`` >= ``stated`` = (3/8)(K-1)/D: the limit inferior of
    regret over log T is at least each of them.
    """

    kl: float
    kl_rational: float
    kl_quadratic: float
    exact: float
    rational: float
    stated: float


def lower_bound(K: int, delta: float) -> LowerBound:
    """Compute the lower bound's constants for K arms and scalar gap delta in (0, 1/4].

    Parameters
    ----------
    K : int
        The number of arms, at least 2.
    delta : float
        The scalar gap, in (0, 1/4].

    Returns
    -------
    LowerBound
    """
    K = whole_number(K, "K", least=2)
    delta = positive_number(delta, "delta")
    if delta > 0.25:
        raise MomabError(f"delta must lie in (0, 1/4]; it is {delta!r}.")
    # -log(1 - 4 delta^2) / 2, which keeps its digits for small delta
    kl = -0.5 * math.log1p(-4.0 * delta * delta)
    rational = 2.0 * delta * delta / (1.0 - 4.0 * delta * delta)
    quadratic = 8.0 / 3.0 * delta * delta
    return LowerBound(
        kl=kl,
        kl_rational=rational,
        kl_quadratic=quadratic,
        exact=(K - 1) * delta / kl,
        rational=(K - 1) * delta / rational,
        stated=0.375 * (K - 1) / delta,
    )


# --- the comparison with Pareto UCB1 ----------------------------------------------------


def _log_ratio(T: int, d: int, front_size: int) -> float:
    """Compute log(T (d |A*|)^(1/4)) / log T."""
    if T < 2:
        raise MomabError("the comparison with Pareto UCB1 needs a horizon T >= 2.")
    return 1.0 + math.log(d * front_size) / (4.0 * math.log(T))


def pareto_ucb1_bound(means: ArrayLike, T: float) -> RegretBound:
    r"""Pareto UCB1's bound, as Remark 5 quotes it, over the arms with positive gap.

    .. math::
        \sum_i \frac{8\log(T(d|A^\star|)^{1/4})}{\Delta_i}
        + \Bigl(1+\frac{\pi^2}{3}\Bigr)\sum_i\Delta_i .

    The first sum is reported as exploration, the second as the tail.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    T : int
        The horizon.

    Returns
    -------
    RegretBound
    """
    geo, T, _ = _setting(means, T, 1.0)
    log_term = math.log(T) + 0.25 * math.log(geo.d * len(geo.front))
    positive = geo.positive_gaps
    return RegretBound(
        warm_start=0.0,
        exploration=8.0 * log_term * float((1.0 / positive).sum()),
        tail=(1.0 + math.pi**2 / 3.0) * float(positive.sum()),
    )


def c_pucb(means: ArrayLike, T: float) -> float:
    r"""Pareto UCB1's leading coefficient on the theorem's scale :math:`K\log T/g^\dagger`.

    .. math::
        C_{\mathrm{PUCB}} = 8\,\frac{g^\dagger}{K}\sum_{i:\Delta_i>0}\frac1{\Delta_i}\,
        \frac{\log(T(d|A^\star|)^{1/4})}{\log T}.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    T : int
        The horizon.

    Returns
    -------
    float
    """
    geo, T, _ = _setting(means, T, 1.0)
    return float(
        8.0
        * geo.g_dagger
        / geo.K
        * (1.0 / geo.positive_gaps).sum()
        * _log_ratio(T, geo.d, len(geo.front))
    )


def c_pucb_envelope(means: ArrayLike, T: float) -> float:
    r"""The coarser coefficient of Remark 5, with :math:`\Delta_{\min}` for every dominated arm.

    It equals :func:`c_pucb` when all positive gaps are equal and is never below it.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    T : int
        The horizon.

    Returns
    -------
    float
    """
    geo, T, _ = _setting(means, T, 1.0)
    positive = geo.positive_gaps
    if not positive.size:
        return 0.0
    return float(
        8.0
        * len(positive)
        / geo.K
        * geo.g_dagger
        / positive.min()
        * _log_ratio(T, geo.d, len(geo.front))
    )


def c_pucb_threshold(T: float, d: int, front_size: int, coefficient: float = 64.0) -> float:
    r"""The value that :math:`\frac{g^\dagger}{K}\sum_i 1/\Delta_i` must exceed.

    Above it ``coefficient`` < C_PUCB, i.e. the theorem's leading term (coefficient 64) is
    below Pareto UCB1's: :math:`8\log T/\log(T(d|A^\star|)^{1/4})` for 64.

    Parameters
    ----------
    T : int
        The horizon.
    d : int
        The number of objectives, at least 1.
    front_size : int
        The size of the front.
    coefficient : float, optional
        The coefficient to be beaten.

    Returns
    -------
    float
    """
    T = whole_number(T, "the horizon T", least=2)
    d = whole_number(d, "d", least=1)
    front_size = whole_number(front_size, "front_size", least=1)
    return positive_number(coefficient, "coefficient") / (8.0 * _log_ratio(T, d, front_size))


def tied_bound(means: ArrayLike, T: int, c: float = 2.0) -> float:
    r"""Bound the regret on the event when no objective has a unique best arm.

    .. math:: K\Delta_{\max} + 4c\log T\sum_{a:\Delta_a>0} 1/\Delta_a

    A challenger then has a maximiser among its rivals whichever arm leads, so Lemma 10 holds with 2
    instead of 4 radii.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    T : int
        The horizon.
    c : float, optional
        The confidence coefficient, > 0; the paper's is 2.

    Returns
    -------
    float
    """
    geo = pareto.geometry(means)
    if geo.g_dagger > 0:
        raise MomabError("this bound is for instances without a unique best arm anywhere.")
    explore = 4.0 * c * math.log(T) * float((1.0 / geo.positive_gaps).sum())
    return geo.K * geo.max_gap + explore
