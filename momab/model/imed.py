r"""What is proved about Pareto IMED, as numbers: its constants, its lemma, and what breaks `sum`.

Notation as in :mod:`momab.model.price`: F are the free arms, P the paid ones, and
:math:`D_b(a)` is the evidence that arm b does not beat arm a everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import FloatArray, mean_array, unit_interval
from momab.model import pareto
from momab.model.price import SAME_PRICE, evidence, price
from momab.model.theory import bernoulli_kl


def worst_price(means: ArrayLike, kind: str = "sum") -> float:
    r"""The constant for every instance, :math:`\sum_{b\in P}\Delta_b/\min_{a\in F}D_b(a)`.

    It pays, for every arm alone, the dearest candidate, and is at least the price.
    """
    gaps = pareto.gaps(means)
    D = evidence(means, kind)[gaps > 0][:, gaps == 0]
    return float((gaps[gaps > 0] / D.min(axis=1)).sum())


def is_settled(means: ArrayLike, kind: str = "sum") -> bool:
    """Whether Pareto IMED's candidate settles: the hypothesis of the theorem on its limit.

    All means are below 1, and a single free arm has the least price; prices that agree up to
    rounding count as equal.
    """
    mu = unit_interval(mean_array(means), "means")
    prices = np.sort(price(mu, kind).per_arm[pareto.gaps(mu) == 0])
    alone = len(prices) == 1 or prices[1] > prices[0] * (1.0 + SAME_PRICE)
    return bool((mu < 1).all() and alone)


def balanced_regret(means: ArrayLike, horizon: ArrayLike, kind: str = "sum") -> FloatArray:
    r"""The regret at which all indices balance: :math:`\sum_b\Delta_bn_b` with n D + log n = log T.

    :math:`n_b=W(D_b(a)T)/D_b(a)` for the cheapest candidate a and Lambert's function W.  It is
    below :math:`C(\mu)\log T` because of log n, and the quotient of the two tends to 1.  The
    horizon may be an array.
    """
    from scipy.special import lambertw

    gaps = pareto.gaps(means)
    T = np.asarray(horizon, dtype=np.float64)[..., None]
    D = evidence(means, kind)[gaps > 0, int(price(means, kind).arm)]
    with np.errstate(invalid="ignore"):
        pulls = np.where(np.isfinite(D), lambertw(D * T).real / D, 0.0)
    balanced: FloatArray = (gaps[gaps > 0] * pulls).sum(axis=-1)
    return balanced


def luck_bound(n: int, p: float, q: float) -> float:
    r"""The lemma's bound :math:`(1+n\log\frac1{1-q})\,e^{-n\,\mathrm{kl}(q,p)}`, for q < p.

    It bounds E[exp(n kl(m, q)); m <= q] for the mean m of n rewards in [0, 1] with mean p.
    """
    return float((1 - n * np.log1p(-q)) * np.exp(-n * bernoulli_kl(q, p)))


def luck_of_coins(n: int, p: float, q: float) -> float:
    """E[exp(n kl(m, q)); m <= q] for the mean m of n coins with mean p, by summation."""
    from scipy.stats import binom

    hits = np.arange(int(np.floor(n * q + 1e-9)) + 1)
    kl = np.array([bernoulli_kl(hit / n, q) for hit in hits.tolist()])
    return float(np.exp(binom.logpmf(hits, n, p) + n * kl).sum())


def copied_exponent(theta: Iterable[float], d: int) -> float:
    r"""The supremum of the powers of T that bound the regret of `sum` on copied coins from below.

    :math:`1-\log(1-\theta_{(1)})/(d\log(1-\theta_{(2)}))` for the two largest means of one coin
    per arm, copied to d objectives; it says something where it is positive.
    """
    first, second = sorted(theta, reverse=True)[:2]
    return float(1 - np.log1p(-first) / (d * np.log1p(-second)))
