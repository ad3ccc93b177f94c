r"""Naming one optimal arm: how many pulls an answer with a small risk of error costs.

A policy samples, stops, and names one arm; the answer is right if this arm has Pareto gap
zero.  Several arms may be right.  To name arm a, the samples must rule out that some arm b is
above a on every objective.  With shares w of the pulls (they add up to 1) and independent
Bernoulli objectives, a pull says about that, on average,

.. math::
    G_b(w)=\sum_{j:\,\mu_b^{(j)}<\mu_a^{(j)}}\ \inf_x\bigl[
    w_a\,\mathrm{kl}(\mu_a^{(j)},x)+w_b\,\mathrm{kl}(\mu_b^{(j)},x)\bigr],

and the infimum is attained at the weighted mean :math:`x=(w_a\mu_a+w_b\mu_b)/(w_a+w_b)`.
The *naming cost* is

.. math::
    T^\star(\mu)=\min_{a:\,\Delta_a=0}T_a(\mu),\qquad
    \frac1{T_a(\mu)}=\max_w\,\min_{b\ne a}G_b(w).

No policy whose error is at most :math:`\delta` on every instance names an arm with fewer than
:math:`(1-o(1))\,T^\star(\mu)\log(1/\delta)` pulls in expectation.  If another arm is at least
as good as a on every objective, then :math:`T_a=\infty`: an instance as close as one likes has
a beaten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from momab._util.validate import FloatArray, mean_array, unit_interval
from momab.errors import MomabError
from momab.model import pareto
from momab.model.price import _kl_plus

STEPS = 100
"""Steps of a search, at most; it stops earlier, when nothing moves any more."""


TIE = 1e-9
"""Means that are closer than this count as equal: rounding would decide the rest."""


@dataclass(frozen=True, eq=False)
class NamingCost:
    """What naming one optimal arm costs, per unit of log(1/delta).

    ``value`` is T*, infinite if every optimal arm has another one that is as good everywhere;
    ``arm`` the cheapest answer, the first of several, or -1; ``per_arm`` the cost of naming each
    arm, infinite for a wrong answer; ``weights`` the shares of the pulls that attain ``value``,
    zeros if it is infinite.
    """

    value: float
    arm: int
    per_arm: FloatArray
    weights: FloatArray


def naming_cost(means: ArrayLike) -> NamingCost:
    r"""Compute :math:`T^\star(\mu)` of one instance with independent Bernoulli objectives.

    Arm a needs the constraints of all rivals b, and each of them has a weight of its own, so at
    the best weights all constraints are equal.  With :math:`w_a=1` and :math:`w_b=x`, let
    :math:`A_b(x)` and :math:`B_b(x)` be the sums of :math:`\mathrm{kl}(\mu_a^{(j)},m_j)` and
    :math:`\mathrm{kl}(\mu_b^{(j)},m_j)` with :math:`m=(\mu_a+x\mu_b)/(1+x)`.  Then
    :math:`G_b=A_b+xB_b` rises from 0, its derivative is :math:`B_b`, and the common value y is
    best where :math:`\sum_bA_b/B_b=1`.  Both equations have one
    solution each, which is bracketed and found to rounding.

    Means that differ by less than 1e-9 count as equal.

    Parameters
    ----------
    means : array_like
        The mean vectors of one instance, shape (K, d), in [0, 1].

    Returns
    -------
    NamingCost
    """
    mu = unit_interval(mean_array(means), "means")
    if mu.ndim != 2:
        raise MomabError(f"means must be those of one instance, shape (K, d); it is {mu.shape}.")
    K = len(mu)
    per_arm, best = np.full(K, np.inf), np.zeros((K, K))
    for a in np.flatnonzero(pareto.gaps(mu) == 0.0):
        per_arm[a], best[a] = _cost_of(mu, int(a))
    value = float(per_arm.min())
    if not np.isfinite(value):
        return NamingCost(value, -1, per_arm, np.zeros(K))
    arm = int((per_arm <= value * (1.0 + 1e-12)).argmax())
    return NamingCost(value, arm, per_arm, best[arm])


def naming_rate(means: ArrayLike, arm: int, weights: ArrayLike) -> float:
    r"""The value :math:`\min_{b\ne a}G_b(w)` of given shares w: what a pull says for arm a."""
    mu = unit_interval(mean_array(means), "means")
    w = np.asarray(weights, dtype=np.float64)
    others = np.delete(np.arange(len(mu)), arm)
    return float(pair_evidence(mu[arm], mu[others], w[arm], w[others]).min())


def pair_evidence(
    high: FloatArray, low: FloatArray, high_count: ArrayLike, low_count: ArrayLike
) -> FloatArray:
    r"""The generalised likelihood ratio of "no other arm is above a everywhere".

    For means of a, (..., d), of its rivals, (..., d), and the numbers (or shares) of pulls n
    and m of both, it is the sum of :math:`n\,\mathrm{kl}(\mu_a,x)+m\,\mathrm{kl}(\mu_b,x)` over
    the objectives where the rival is behind, x being the mean of both samples together.
    """
    n = np.asarray(high_count, dtype=np.float64)[..., None]
    m = np.asarray(low_count, dtype=np.float64)[..., None]
    total = n + m
    x = (n * high + m * low) / np.where(total > 0, total, 1.0)
    behind = low < high
    each = n * _kl_down(high, x) + m * _kl_plus(low, x)
    result: FloatArray = np.where(behind, each, 0.0).sum(axis=-1)
    return result


def _kl_down(p: FloatArray, q: FloatArray) -> FloatArray:
    """Compute kl(p, q) where p > q, else 0."""
    return _kl_plus(1.0 - p, 1.0 - q)


def _cost_of(mu: FloatArray, a: int) -> tuple[float, FloatArray]:
    """Compute T_a and its weights; infinity and zeros if a rival is as good everywhere."""
    weights = np.zeros(len(mu))
    others = np.delete(np.arange(len(mu)), a)
    high, low = mu[a], mu[others]
    behind = high - low > TIE
    if not behind.any(axis=1).all():
        return np.inf, weights
    high = np.broadcast_to(high, low.shape)
    # objectives where the rival is not behind say nothing
    low = np.where(behind, low, high)
    ceiling = _kl_down(high, low).sum(axis=1)  # the limit of G_b as x grows
    top = float(ceiling.min())

    def excess(y: float) -> float:
        A, B = _sides(high, low, _shares(high, low, y, ceiling))
        return float((A / B).sum()) - 1.0

    A, B = _sides(high, low, np.ones(len(others)))
    lower = upper = y = float((A + B).min())  # below every ceiling
    while excess(lower) > 0.0:
        lower *= 0.5
    while excess(upper) < 0.0 and upper < top:
        upper = 2.0 * upper if np.isinf(top) else 0.5 * (upper + top)
    if lower < upper:
        y = brentq(excess, lower, upper, xtol=1e-10 * y, rtol=1e-10)  # the value is flat there
    x = _shares(high, low, y, ceiling)
    total = 1.0 + float(x.sum())
    weights[a], weights[others] = 1.0 / total, x / total
    A, B = _sides(high, low, x)
    return float(total / (A + x * B).min()), weights


def _sides(high: FloatArray, low: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    middle = low + (high - low) / (1.0 + x[:, None])
    return _kl_down(high, middle).sum(axis=1), _kl_plus(low, middle).sum(axis=1)


def _shares(high: FloatArray, low: FloatArray, y: float, ceiling: FloatArray) -> FloatArray:
    """Solve A + x B = y for every rival, by Newton steps for u = x / (1 + x), or by halving."""
    left, right = np.zeros(len(low)), np.full(len(low), 1.0 - 2.0**-53)
    u = np.where(np.isinf(ceiling), 0.5, y / (y + ceiling))
    for _ in range(STEPS):
        x = u / (1.0 - u)
        A, B = _sides(high, low, x)
        value = A + x * B
        if (np.abs(value - y) <= 1e-11 * y).all():
            break
        above = value > y
        right, left = np.where(above, u, right), np.where(above, left, u)
        step = u - (value - y) * (1.0 - u) ** 2 / B
        new = np.where((step > left) & (step < right), step, 0.5 * (left + right))
        if (np.abs(new - u) <= 1e-12 * u).all():
            break
        u = new
    return np.asarray(u / (1.0 - u))
