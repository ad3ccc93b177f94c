r"""The price of an instance: what every good policy pays per unit of log T.

An arm with Pareto gap zero is *free*, an arm with a positive gap is *paid*; F and P are the
two sets.  To trust a free arm a, the *candidate*, a policy must rule out that a paid arm b
beats it on every objective.  The *evidence* :math:`D_b(a)` is what one pull of b says about
that, so b costs :math:`\Delta_b/D_b(a)` per unit of log T.  The price of a is the sum over
P, and the price of the instance is that of the cheapest candidate:

.. math::
    C(\mu)=\min_{a\in F}\ \sum_{b\in P}\frac{\Delta_b}{D_b(a)}.

The evidence depends on the instances that the policy must be good on.  ``"sum"``,
:math:`\sum_j\mathrm{kl}^+(\mu_b^{(j)},\mu_a^{(j)})`, is the one for independent Bernoulli
coordinates.  ``"max"``, :math:`\max_j\mathrm{kl}^+`, is exact for one coin copied to all
coordinates and never more than the evidence under any other joint law, so its price is the
highest of all.  Any other evidence can be handed to
:func:`price` as a matrix.

Every function takes means of shape ``(..., K, d)`` and works on the whole stack at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momab._util.validate import (
    BoolArray,
    FloatArray,
    IntArray,
    mean_array,
    real_array,
    unit_interval,
)
from momab.errors import MomabError
from momab.model import pareto
from momab.model.numerics import log1p_each, log_each

KINDS = ("sum", "max")
"""How the divergences of the objectives are put together."""

SAME_PRICE = 1e-12
"""Candidates whose prices differ by less than this, relatively, are tied."""


def kl_plus(p: ArrayLike, q: ArrayLike) -> FloatArray:
    r"""Compute :math:`\mathrm{kl}^+(p,q)`: kl(p, q) where p < q, else 0.

    With :math:`\delta=q-p` and :math:`\varphi(x)=x-\log(1+x)\ge 0`,

    .. math::
        \mathrm{kl}(p,q)=p\,\varphi(\delta/p)+(1-p)\,\varphi(-\delta/(1-p)),

    a sum of two terms that are not negative, so nothing cancels and close means keep their
    digits.  At the ends :math:`\mathrm{kl}(0,q)=-\log(1-q)` and :math:`\mathrm{kl}(p,1)=\infty`
    for p < 1.

    Parameters
    ----------
    p : array_like
        Means in [0, 1].
    q : array_like
        Means in [0, 1] that broadcast against p.

    Returns
    -------
    array of float
    """
    left = unit_interval(real_array(p, "p"), "p")
    right = unit_interval(real_array(q, "q"), "q")
    try:
        left, right = np.broadcast_arrays(left, right)
    except ValueError:
        raise MomabError(
            f"p and q must have shapes that fit; they are {left.shape} and {right.shape}."
        ) from None
    return _kl_plus(left, right)


def _kl_plus(p: FloatArray, q: FloatArray) -> FloatArray:
    p, q = np.broadcast_arrays(p, q)
    below = p < q
    result = np.zeros(p.shape)
    result[below] = _kl_below(p[below], q[below])
    return result


def _kl_below(p: FloatArray, q: FloatArray) -> FloatArray:
    """Compute kl(p, q) for p < q."""
    delta, rest = q - p, 1.0 - p
    with np.errstate(divide="ignore", over="ignore"):
        # a ratio that overflows belongs to a p so small that p log(...) is lost anyway
        up, down = np.minimum(delta / p, 1e300), delta / rest
        # 1 - q is exact where q is near 1, and there it decides
        log_down = log_each(np.where(down > 0.5, (1.0 - q) / rest, 1.0 - down))
        rise = np.where(up < 0.1, p * _phi_small(up), delta - p * log1p_each(up))
        fall = np.where(down < 0.1, rest * _phi_small(-down), -delta - rest * log_down)
    result: FloatArray = rise + fall
    return result


def _phi_small(x: FloatArray) -> FloatArray:
    """Compute x - log(1 + x) for |x| <= 0.1 without cancellation.

    With s = x/(2 + x), log(1 + x) = 2(s + s^3/3 + s^5/5 + ...) and x - 2s = x s.
    """
    s = x / (2.0 + x)
    z = s * s
    series = np.full_like(z, 1.0 / 15.0)
    for odd in (13.0, 11.0, 9.0, 7.0, 5.0, 3.0):
        series = 1.0 / odd + z * series
    result: FloatArray = s * (x - 2.0 * z * series)
    return result


def evidence(means: ArrayLike, kind: str = "sum") -> FloatArray:
    r"""The evidence matrix, shape (..., K, K): ``[b, a]`` holds :math:`D_b(a)`.

    It is what one pull of arm b says against the suspicion that b beats arm a on every
    objective: the sum or the maximum over j of
    :math:`\mathrm{kl}^+(\mu_b^{(j)},\mu_a^{(j)})`.  It is positive whenever a is free and b is
    paid: if b were at least a everywhere, the arm that beats b everywhere would beat a, too.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    kind : {"sum", "max"}, optional
        Independent Bernoulli coordinates, or the value that is safe under any dependence.

    Returns
    -------
    array of float
    """
    return _evidence(unit_interval(mean_array(means), "means"), kind)


def _evidence(mu: FloatArray, kind: str) -> FloatArray:
    if kind not in KINDS:
        raise MomabError(f"the kind of evidence must be 'sum' or 'max'; it is {kind!r}.")
    result = np.zeros((*mu.shape[:-1], mu.shape[-2]))
    for j in range(mu.shape[-1]):
        one = _kl_plus(mu[..., :, None, j], mu[..., None, :, j])
        result = result + one if kind == "sum" else np.maximum(result, one)
    return result


@dataclass(frozen=True, eq=False)
class Price:
    """The price of an instance, or of every instance of a stack.

    ``value`` is C(mu), shape (...); ``arm`` the candidate that attains it, the first one of
    several; ``per_arm`` the price of every free arm, infinite for a paid one, shape (..., K);
    ``pulls`` the pulls of every paid arm per unit of log T, zero for a free one, (..., K).
    """

    value: FloatArray
    arm: IntArray
    per_arm: FloatArray
    pulls: FloatArray


def price(means: ArrayLike, kind: str = "sum", evidence: ArrayLike | None = None) -> Price:
    r"""Compute :math:`C(\mu)=\min_{a\in F}\sum_{b\in P}\Delta_b/D_b(a)` and who attains it.

    Where every arm is free the price is 0 and the candidate is arm 0.  Infinite evidence
    costs nothing: an arm with a mean of 1 cannot be beaten everywhere.  Candidates whose prices
    agree up to rounding are tied, and the first one is named.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    kind : {"sum", "max"}, optional
        Which :func:`evidence` to use.
    evidence : array_like, optional
        An evidence matrix of shape (..., K, K) to use instead.

    Returns
    -------
    Price
    """
    mu = unit_interval(mean_array(means), "means")
    gaps = pareto.gaps(mu)
    free = gaps == 0.0
    D = _evidence(mu, kind) if evidence is None else _given_evidence(evidence, free)
    each = _ratio(1.0, D, ~free[..., :, None] & free[..., None, :])  # [b, a]
    per_arm = np.where(free, (gaps[..., :, None] * each).sum(axis=-2), np.inf)
    value = per_arm.min(axis=-1)
    arm = (per_arm <= value[..., None] * (1.0 + SAME_PRICE)).argmax(axis=-1)
    pulls = np.take_along_axis(each, arm[..., None, None], axis=-1)[..., 0]
    return Price(np.asarray(value), np.asarray(arm), per_arm, pulls)


def _given_evidence(evidence: ArrayLike, free: BoolArray) -> FloatArray:
    """An evidence matrix given by a caller, if it can be one."""
    try:
        raw: NDArray[Any] = np.asarray(evidence)
    except ValueError:
        raw = np.empty(0, dtype=np.object_)
    shape = (*free.shape, free.shape[-1])
    if raw.dtype.kind not in "fiub" or raw.shape != shape:
        raise MomabError(f"evidence must be an array of numbers of shape {shape}.")
    D: FloatArray = raw.astype(np.float64)
    if not (D >= 0.0).all():
        raise MomabError("evidence must not be negative or NaN; infinity is allowed.")
    if ((D == 0.0) & ~free[..., :, None] & free[..., None, :]).any():
        raise MomabError("evidence must be positive for every paid arm against every free arm.")
    return D


def _ratio(numerator: ArrayLike, divisor: FloatArray, where: BoolArray) -> FloatArray:
    """Divide where the mask is true, x/0 = infinity and x/infinity = 0; zero elsewhere."""
    result = np.zeros(np.broadcast_shapes(np.shape(numerator), divisor.shape, where.shape))
    with np.errstate(divide="ignore", over="ignore"):
        np.divide(numerator, divisor, out=result, where=where)
    return result


def marginal_price(means: ArrayLike) -> FloatArray:
    r"""The Pareto regret per unit of log T of a policy that looks at one objective, (..., d).

    KL-UCB on objective j pulls arm b :math:`\log T/\mathrm{kl}(\mu_b^{(j)},\mu_{(1),j})` times,
    :math:`\mu_{(1),j}` being the best mean, and each such pull costs the Pareto gap:

    .. math::
        \sum_{b:\Delta_b^{(j)}>0}\frac{\Delta_b}{\mathrm{kl}(\mu_b^{(j)},\mu_{(1),j})}.

    No :func:`price` is above it, for any j: the best arm of objective j is free, and already
    this one objective gives that much evidence for it.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of float
    """
    mu = unit_interval(mean_array(means), "means")
    gaps = pareto.gaps(mu)[..., None]
    best = mu.max(axis=-2, keepdims=True)
    # a paid arm is below the best mean of every objective; the others cost nothing
    return np.asarray(_ratio(gaps, _kl_plus(mu, best), gaps > 0.0).sum(axis=-2))


@dataclass(frozen=True, eq=False)
class PriceBounds:
    r"""Upper bounds on the price, one per objective, shape (..., d).

    ``by_deficit`` is :math:`\sum_{b\in P}1/(2\Delta_b^{(j)})`, and ``by_lead``
    :math:`(K-1)/(2g_j)`, infinite where :math:`g_j=0`.
    """

    by_deficit: FloatArray
    by_lead: FloatArray


def price_bounds(means: ArrayLike) -> PriceBounds:
    r"""Bound the price from above by deficits and by leads.

    Let a be the best arm of objective j.  By Pinsker
    :math:`D_b(a)\ge\mathrm{kl}(\mu_b^{(j)},\mu_a^{(j)})\ge 2(\Delta_b^{(j)})^2`, and
    :math:`\Delta_b\le\Delta_b^{(j)}`, so that

    .. math::
        C(\mu)\le\sum_{b\in P}\frac{\Delta_b}{2(\Delta_b^{(j)})^2}
        \le\sum_{b\in P}\frac1{2\Delta_b^{(j)}}\le\frac{K-1}{2g_j},

    the last one where :math:`g_j>0`: then every paid arm is below the best mean by at least
    :math:`g_j`, and at most K - 1 arms are paid.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    PriceBounds
    """
    mu = unit_interval(mean_array(means), "means")
    paid = (pareto.gaps(mu) > 0.0)[..., None]
    deficits = pareto.objective_deficits(mu)
    lead = pareto.objective_gaps(mu)
    return PriceBounds(
        by_deficit=np.asarray(_ratio(0.5, deficits, paid).sum(axis=-2)),
        by_lead=_ratio(0.5 * (mu.shape[-2] - 1), lead, np.ones(lead.shape, dtype=np.bool_)),
    )
