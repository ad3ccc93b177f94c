r""":math:`K_{\inf}`: how far a law of reward vectors is from one whose means reach a target.

For a law P on :math:`[0,1]^d` and a target m, :math:`K_{\inf}(P;m)` is the least divergence
:math:`\mathrm{KL}(P,Q)` over all laws Q on :math:`[0,1]^d` with :math:`E_QX\ge m` in every
coordinate.  By duality it is

.. math::
    \max_{\lambda\ge 0,\ \lambda\cdot(1-m)\le 1}\ E_P\log\bigl(1+\lambda\cdot(m-X)\bigr).

Put :math:`y_j=\lambda_j(1-m_j)` and :math:`y_0=1-\sum_jy_j`.  Then
:math:`1+\lambda\cdot(m-X)=\sum_{k=0}^dy_kW_k` with :math:`W_0=1` and
:math:`W_j=(1-X_j)/(1-m_j)`, and y runs through the simplex: this is the portfolio with the
largest expected logarithm.  Its conditions are :math:`g_k=E[W_k/(y\cdot W)]\le 1`, with equality
where :math:`y_k>0`, and by Jensen no other portfolio is better than y by more than
:math:`\log\max_kg_k`: a certificate that comes with every answer.

What the number means depends on the instances a policy must be good on:

* independent Bernoulli coordinates: the evidence is :math:`\sum_j\mathrm{kl}^+`;
* independent coordinates of any law: the sum of the :math:`K_{\inf}` of the coordinates;
* any joint law: the joint :math:`K_{\inf}`.  It is never below :math:`\max_j\mathrm{kl}^+`, and for
  independent coordinates never above the sum and in general below it, because the nearest law
  that reaches the target has dependent coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import BoolArray, FloatArray, mean_array, real_array, unit_interval
from momab.errors import MomabError
from momab.model import pareto
from momab.model.instances import Bernoulli, Duplicated, Instance, RewardSource, Rows, Samples
from momab.model.price import KINDS, Price, kl_plus, price

TOLERANCE = 1e-13
"""The certified error at which the solver is content; it asks for more where K_inf is small."""

STEPS = 200
"""Newton steps at most; about ten are usual."""

LEAST = 1e-17
"""How far the weight of the barrier falls."""

PATIENCE = 8
"""After how many steps without a better certificate rounding has the last word."""

MOST_COINS = 14
"""Up to how many independent coins the joint law is written out."""


@dataclass(frozen=True, eq=False)
class LeastDivergence:
    """K_inf with its certificate.

    ``value`` is attained by the dual variables ``multipliers`` and at most ``gap`` below the
    maximum; ``corner`` is the mass that the nearest law adds in the corner (1, ..., 1).
    """

    value: float
    multipliers: FloatArray
    gap: float
    corner: float


def kinf(rows: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None) -> float:
    r"""Compute :math:`K_{\inf}(P;m)` for the law P of a row drawn from a table.

    Zero if the means of P reach the target, infinite if a target is 1 and P is sometimes below
    it there.  :func:`kinf_certified` gives the certificate, too.

    Parameters
    ----------
    rows : array_like
        The reward vectors that P can draw, shape (n, d), in [0, 1].
    target : array_like
        The means to be reached, shape (d,), in [0, 1].
    weights : array_like, optional
        The probabilities of the rows, up to a factor; equal unless given.

    Returns
    -------
    float
    """
    return kinf_certified(rows, target, weights).value


def kinf_certified(
    rows: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None
) -> LeastDivergence:
    r"""Compute :math:`K_{\inf}(P;m)` as :func:`kinf` does, with its certificate.

    Parameters
    ----------
    rows : array_like
        The reward vectors that P can draw, shape (n, d), in [0, 1].
    target : array_like
        The means to be reached, shape (d,), in [0, 1].
    weights : array_like, optional
        The probabilities of the rows, up to a factor; equal unless given.

    Returns
    -------
    LeastDivergence
    """
    law = _law(rows, weights)
    m = unit_interval(real_array(target, "the target"), "the target")
    if m.shape != law.rows.shape[1:]:
        raise MomabError(
            f"the target must have one mean per objective, shape {law.rows.shape[1:]}; "
            f"its shape is {m.shape}."
        )
    return _kinf(law, m)


@dataclass(frozen=True, eq=False)
class _Law:
    """Rows without repetition, and their probabilities."""

    rows: FloatArray
    weights: FloatArray


def _law(rows: ArrayLike, weights: ArrayLike | None = None) -> _Law:
    X = unit_interval(real_array(rows, "rows"), "rows")
    if X.ndim != 2:
        raise MomabError(f"rows must have shape (rows, objectives); the shape is {X.shape}.")
    w = np.ones(len(X)) if weights is None else real_array(weights, "weights")
    if w.shape != (len(X),) or (w < 0.0).any() or not w.sum() > 0.0:
        raise MomabError(f"weights must be {len(X)} numbers >= 0, one per row and not all zero.")
    different, place = np.unique(X, axis=0, return_inverse=True)
    mass: FloatArray = np.bincount(place.ravel(), weights=w) / w.sum()
    return _Law(different[mass > 0.0], mass[mass > 0.0])


def _kinf(law: _Law, m: FloatArray) -> LeastDivergence:
    """The record for a law and a target that are valid."""
    X, w = law.rows, law.weights
    multipliers = np.zeros(len(m))
    if ((m == 1.0) & (X < 1.0).any(axis=0)).any():
        return LeastDivergence(math.inf, np.where(m == 1.0, math.inf, 0.0), 0.0, 1.0)
    means = np.minimum(w @ X, 1.0)
    if (means >= m).all():
        return LeastDivergence(0.0, multipliers, 0.0, 0.0)
    least = float(kl_plus(means, m).max())  # a bound from below, which small values are held to
    rising = m < 1.0  # a target of 1 that is left is reached by every row
    W = np.column_stack([np.ones(len(X)), (1.0 - X[:, rising]) / (1.0 - m[rising])])
    y = _best_portfolio(W, w, max(1e-15, min(TOLERANCE, 1e-9 * least)))
    # y sums to 1, so log(W y) is log1p of what the shares but the first add, which rounds less
    value = float(w @ np.log1p((W[:, 1:] - 1.0) @ y[1:]))
    multipliers[rising] = y[1:] / (1.0 - m[rising])
    g = w @ (W / (W @ y)[:, None])
    gap = max(0.0, math.log(float(g.max())))
    return LeastDivergence(max(value, least), multipliers, gap, max(0.0, 1.0 - float(g[0])))


def _best_portfolio(W: FloatArray, w: FloatArray, tolerance: float) -> FloatArray:
    r"""The y on the simplex that maximises :math:`\sum_iw_i\log(W_i\cdot y)`.

    A primal-dual interior-point method for the same problem without the budget,
    :math:`\min_{y\ge0}\ \sum_ky_k-\sum_iw_i\log(W_i\cdot y)`, whose solution sums to 1 by
    itself: Newton steps on :math:`1-g(y)-s=0` and :math:`y_ks_k=\mu`.  Every step is downhill for
    the barrier function with :math:`\mu`, which falls once its conditions nearly hold.
    """
    p = W.shape[1]
    y, s, mu = np.full(p, 1.0 / p), np.ones(p), 0.1
    best, least, idle = y, math.inf, 0
    for _ in range(STEPS):
        ratios = W / (W @ y)[:, None]
        g = w @ ratios
        gap = math.log(float(g.max()) * float(y.sum()))  # of y scaled to the simplex
        idle += 1
        if gap < least:
            best, least, idle = y / y.sum(), gap, 0
        if least <= tolerance or (idle > PATIENCE and mu <= tolerance):
            break
        while mu > LEAST and max(np.abs(1.0 - g - s).max(), np.abs(y * s - mu).max()) <= 10.0 * mu:
            mu = max(LEAST, min(0.2 * mu, mu**1.5))
        H = (ratios * w[:, None]).T @ ratios
        ridge = 1e-15 * H.diagonal()  # coordinates that agree leave H singular
        step = np.linalg.solve(H + np.diag(s / y + ridge), g - 1.0 + mu / y)
        turn = (mu - s * step) / y - s
        y_next = y + _downhill(W, w, y, step, mu) * step
        s = s + _room(s, turn) * turn
        s = np.clip(s, 1e-10 * mu / y_next, 1e10 * mu / y_next)
        y = y_next
    return best


def _room(x: FloatArray, step: FloatArray) -> float:
    """How much of a step keeps x positive, at most all of it."""
    down = step < 0.0
    return min(1.0, 0.995 * float((x[down] / -step[down]).min())) if down.any() else 1.0


def _downhill(W: FloatArray, w: FloatArray, y: FloatArray, step: FloatArray, mu: float) -> float:
    """A length at which the barrier function is below where it was, or the last one tried."""
    length = _room(y, step)
    growth, rise = W @ y, W @ step
    for _ in range(40):
        # what is added to the barrier function, from ratios so that small steps keep their digits
        more = length * float(step.sum()) - float(w @ np.log1p(length * rise / growth))
        more -= mu * float(np.log1p(length * step / y).sum())
        if more <= 0.0:
            break
        length *= 0.5
    return length


def luck_of_law(
    rows: ArrayLike, weights: ArrayLike, target: ArrayLike, draws: int, least: float
) -> float:
    r"""Compute :math:`E[\exp(nK);K>x]` for K = K_inf of the empirical law of n draws, exactly.

    All outcomes are added up, so the rows must be few.

    Parameters
    ----------
    rows, weights, target : array_like
        As for :func:`kinf`, the rows different from each other.
    draws : int
        The number n of draws.
    least : float
        The number x.

    Returns
    -------
    float
    """
    X = unit_interval(real_array(rows, "rows"), "rows")
    chances = real_array(weights, "weights") / np.sum(weights)
    total = 0.0
    for bars in combinations(range(draws + len(X) - 1), len(X) - 1):
        counts = np.diff([-1, *bars, draws + len(X) - 1]) - 1  # stars between bars
        value = kinf(X, target, counts)
        if value > least:
            ways = math.factorial(draws) / math.prod(math.factorial(int(n)) for n in counts)
            total += ways * float(np.prod(chances**counts)) * math.exp(draws * value)
    return total


# --- evidence and price under the law of an instance -----------------------------------------


def kinf_evidence(
    laws: RewardSource | Sequence[ArrayLike],
    means: ArrayLike,
    pairs: BoolArray | None = None,
) -> FloatArray:
    r"""The evidence matrix (K, K) from K_inf: ``[b, a]`` is that of arm b's law for arm a's means.

    Whole rows and coins have a joint law, and its K_inf is over all joint laws on
    :math:`[0,1]^d`.  For :class:`Samples`, whose coordinates are drawn independently, it is the
    sum of the K_inf of the coordinates: the class of instances with independent coordinates.

    Parameters
    ----------
    laws : Bernoulli, Duplicated, Rows, Samples, or sequence of array_like
        What the arms draw from; in a sequence one table of rows (n, d) per arm.
    means : array_like
        The targets, shape (K, d).
    pairs : array of bool, optional
        The entries (b, a) that are wanted, shape (K, K); the others are left zero.

    Returns
    -------
    array of float
    """
    mu = unit_interval(mean_array(means), "means")
    parts = _laws_of(laws)
    widths = {sum(law.rows.shape[1] for law in arm) for arm in parts}
    if {mu.shape} != {(len(parts), d) for d in widths}:
        raise MomabError(
            "means must have one row per arm and one column per objective of its law; "
            f"the shape is {mu.shape}."
        )
    result = np.zeros((len(mu), len(mu)))
    wanted = np.ones(result.shape, dtype=np.bool_) if pairs is None else np.asarray(pairs)
    if wanted.shape != result.shape:
        raise MomabError(f"pairs must have the shape {result.shape}; it is {wanted.shape}.")
    for b, a in np.argwhere(wanted):
        at = 0
        for law in parts[b]:
            d = law.rows.shape[1]
            result[b, a] += _kinf(law, mu[a, at : at + d]).value
            at += d
    return result


def _laws_of(laws: RewardSource | Sequence[ArrayLike]) -> list[list[_Law]]:
    """The independent parts of every arm's law: one joint law, or one law per coordinate."""
    if isinstance(laws, Bernoulli):
        return [[_coins(p)] for p in laws.means]
    if isinstance(laws, Duplicated):
        ends = np.array([[0.0] * laws.d, [1.0] * laws.d])
        return [[_law(ends, [1.0 - p, p])] for p in laws.theta]
    if isinstance(laws, Rows):
        return [[_law(laws.table[i:k])] for i, k in zip(laws.offsets, laws.offsets[1:])]
    if isinstance(laws, Samples):
        columns = [_law(laws.values[i:k, None]) for i, k in zip(laws.offsets, laws.offsets[1:])]
        return [columns[i : i + laws.d] for i in range(0, len(columns), laws.d)]
    return [[_law(rows)] for rows in laws]


def _coins(p: FloatArray) -> _Law:
    """The joint law of independent coins: every row of 0s and 1s with its probability."""
    d = len(p)
    if d > MOST_COINS:
        raise MomabError(
            f"the joint law of {d} coins has too many outcomes; at most {MOST_COINS} are allowed."
        )
    rows = ((np.arange(2**d)[:, None] >> np.arange(d)) & 1).astype(np.float64)
    return _law(rows, np.where(rows == 1.0, p, 1.0 - p).prod(axis=1))


def instance_price(instance: Instance, kind: str = "kinf") -> Price:
    """The price of an instance under a class of alternatives.

    ``"sum"`` and ``"max"`` look at the means only, see :func:`momab.model.price.evidence`;
    ``"kinf"`` looks at the laws of the rewards, see :func:`kinf_evidence`.

    Parameters
    ----------
    instance : Instance
        The instance.
    kind : {"kinf", "sum", "max"}, optional
        Which evidence to use.

    Returns
    -------
    Price
    """
    if kind in KINDS:
        return price(instance.means, kind)
    if kind != "kinf":
        raise MomabError(f"the kind of a price must be 'sum', 'max' or 'kinf'; it is {kind!r}.")
    free = pareto.gaps(instance.means) == 0.0
    pairs = ~free[:, None] & free[None, :]
    return price(instance.means, evidence=kinf_evidence(instance.source, instance.means, pairs))
