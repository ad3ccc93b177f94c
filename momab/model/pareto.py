r"""Pareto geometry of mean vectors: dominance, front, gaps, consistency.

Every function takes means of shape ``(..., K, d)`` (K arms, d objectives) and works on a
whole stack of instances at once along the leading axes.  Comparisons are exact unless a
tolerance ``tol`` is given.  Arms and objectives are counted from 0.

The notation is the paper's: :math:`x \succ y` when x is at least y in every coordinate and
differs from it; the front :math:`A^\star` holds the arms that no arm dominates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import BoolArray, FloatArray, IntArray, mean_array, whole_number
from momab.errors import MomabError


def _tolerance(tol: float) -> float:
    if not (np.isfinite(tol) and tol >= 0):
        raise MomabError(f"tol must be a number >= 0; it is {tol!r}.")
    return float(tol)


def dominates(x: ArrayLike, y: ArrayLike, tol: float = 0.0) -> BoolArray:
    r"""Whether :math:`x \succ y`, along the last axis.

    With a tolerance, x may fall short of y by ``tol`` and must exceed it somewhere by more
    than ``tol``.

    Parameters
    ----------
    x : array_like
        Vectors, along the last axis.
    y : array_like
        Vectors that broadcast against x.
    tol : float, optional
        What counts as equal; 0 compares exactly.

    Returns
    -------
    array of bool
    """
    tol = _tolerance(tol)
    difference = np.asarray(x, dtype=np.float64) - np.asarray(y, dtype=np.float64)
    result: BoolArray = np.asarray(
        (difference >= -tol).all(axis=-1) & (difference > tol).any(axis=-1)
    )
    return result


def dominance(means: ArrayLike, tol: float = 0.0) -> BoolArray:
    r"""The matrix D, shape (..., K, K): ``D[..., b, a]`` is true when arm b dominates arm a.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    tol : float, optional
        What counts as equal; 0 compares exactly.

    Returns
    -------
    array of bool
    """
    mu = mean_array(means)
    return np.stack([dominates(mu[..., b, None, :], mu, tol) for b in range(mu.shape[-2])], axis=-2)


def front(means: ArrayLike, tol: float = 0.0) -> BoolArray:
    r"""The Pareto set :math:`A^\star` as a mask of shape (..., K): arms no arm dominates.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    tol : float, optional
        What counts as equal; 0 compares exactly.

    Returns
    -------
    array of bool
    """
    mu = mean_array(means)
    dominated = np.zeros(mu.shape[:-1], dtype=np.bool_)
    for b in range(mu.shape[-2]):
        dominated |= dominates(mu[..., b, None, :], mu, tol)
    return ~dominated


def gaps(means: ArrayLike) -> FloatArray:
    r"""Pareto gaps :math:`\Delta^P_a`, shape (..., K).

    The definition is the least lift that is no longer dominated,
    :math:`\inf\{\epsilon\ge 0: \mu_a+\epsilon\mathbf 1 \text{ is not dominated}\}`.  Arm b
    dominates the lifted vector for every :math:`\epsilon < \min_j(\mu_b^{(j)}-\mu_a^{(j)})`
    and for none above, so the infimum is

    .. math:: \Delta^P_a = \max\bigl(0,\ \max_b \min_j (\mu_b^{(j)}-\mu_a^{(j)})\bigr).

    :func:`gap_by_search` finds the same number from the definition.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of float
    """
    mu = mean_array(means)
    result = np.zeros(mu.shape[:-1])
    for b in range(mu.shape[-2]):
        np.maximum(result, (mu[..., b, None, :] - mu).min(axis=-1), out=result)
    return result


def gap_by_search(means: ArrayLike, arm: int, steps: int = 80) -> float:
    """Find one arm's Pareto gap from its definition, by bisection on the lift.

    The slow twin of :func:`gaps` for one instance of shape (K, d): it only asks whether the
    lifted vector is dominated, which is monotone in the lift.  Its answer is good to the
    rounding of ``mu + lift``, about 1e-16: a zero gap of a dominated arm comes out as that.

    Parameters
    ----------
    means : array_like
        The mean vectors of one instance, shape (K, d).
    arm : int
        The arm, from 0.
    steps : int, optional
        How often the interval is halved.

    Returns
    -------
    float
    """
    mu = mean_array(means)
    if mu.ndim != 2:
        raise MomabError(f"gap_by_search takes one instance (K, d); the shape is {mu.shape}.")
    arm = whole_number(arm, "arm", least=0, most=mu.shape[0] - 1)

    def is_dominated(lift: float) -> bool:
        return bool(dominates(mu, mu[arm] + lift).any())

    low, high = 0.0, float(np.ptp(mu)) + 1.0
    if not is_dominated(0.0):
        return 0.0
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_dominated(middle) else (low, middle)
    return high


def objective_deficits(means: ArrayLike) -> FloatArray:
    r"""Deficits :math:`\Delta_a^{(j)} = \max_b \mu_b^{(j)} - \mu_a^{(j)}`, shape (..., K, d).

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of float
    """
    mu = mean_array(means)
    result: FloatArray = mu.max(axis=-2, keepdims=True) - mu
    return result


def objective_gaps(means: ArrayLike) -> FloatArray:
    r"""Gaps :math:`g_j` between the best and second-best mean of each objective, (..., d).

    Zero exactly when objective j has several maximisers.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of float
    """
    mu = mean_array(means)
    ordered = np.partition(mu, -2, axis=-2)
    result: FloatArray = ordered[..., -1, :] - ordered[..., -2, :]
    return result


def g_dagger(means: ArrayLike) -> FloatArray:
    r"""Largest objective-wise gap :math:`g^\dagger = \max_j g_j`, shape (...).

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of float
    """
    return np.asarray(objective_gaps(means).max(axis=-1))


def j_dagger(means: ArrayLike) -> IntArray:
    r"""Champion objective :math:`j^\dagger \in \arg\max_j g_j` (the first one if several).

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of int
    """
    return np.asarray(objective_gaps(means).argmax(axis=-1))


def marginal_maximisers(means: ArrayLike, tol: float = 0.0) -> BoolArray:
    """The sets M_j as a mask of shape (..., K, d): arm a maximises objective j.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    tol : float, optional
        What counts as equal; 0 compares exactly.

    Returns
    -------
    array of bool
    """
    result: BoolArray = objective_deficits(means) <= _tolerance(tol)
    return result


def inconsistent_arms(means: ArrayLike, tol: float = 0.0) -> BoolArray:
    """Arms that maximise some objective and yet are dominated, as a mask of shape (..., K).

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    tol : float, optional
        What counts as equal; 0 compares exactly.

    Returns
    -------
    array of bool
    """
    result: BoolArray = marginal_maximisers(means, tol).any(axis=-1) & ~front(means, tol)
    return result


def is_consistent(means: ArrayLike, tol: float = 0.0) -> BoolArray:
    """Definition 1, marginal-Pareto consistency: every marginal maximiser is on the front.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    tol : float, optional
        What counts as equal; 0 compares exactly.

    Returns
    -------
    array of bool
    """
    return np.asarray(~inconsistent_arms(means, tol).any(axis=-1))


def zero_gap_dominated(means: ArrayLike, tol: float = 0.0) -> BoolArray:
    """Dominated arms whose Pareto gap is zero (Proposition 1), as a mask of shape (..., K).

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.
    tol : float, optional
        What counts as equal; 0 compares exactly.

    Returns
    -------
    array of bool
    """
    result: BoolArray = ~front(means, tol) & (gaps(means) <= _tolerance(tol))
    return result


@dataclass(frozen=True)
class Geometry:
    """Everything the theory needs to know of one instance's means."""

    K: int
    d: int
    front: tuple[int, ...]
    gaps: FloatArray
    objective_gaps: FloatArray
    g_dagger: float
    j_dagger: int
    inconsistent_arms: tuple[int, ...]
    zero_gap_dominated: tuple[int, ...]

    @property
    def positive_gaps(self) -> FloatArray:
        """The gaps of the arms that cost regret."""
        return self.gaps[self.gaps > 0]

    @property
    def max_gap(self) -> float:
        r"""The largest Pareto gap, :math:`\Delta^P_{\max}`."""
        return float(self.gaps.max())


def geometry(means: ArrayLike, tol: float = 0.0) -> Geometry:
    """Collect the geometry of one instance of shape (K, d).

    Parameters
    ----------
    means : array_like
        The mean vectors of one instance, shape (K, d).
    tol : float, optional
        What counts as equal; 0 compares exactly.

    Returns
    -------
    Geometry
    """
    mu = mean_array(means)
    if mu.ndim != 2:
        raise MomabError(f"geometry takes one instance (K, d); the shape is {mu.shape}.")

    def indices(mask: BoolArray) -> tuple[int, ...]:
        return tuple(int(i) for i in np.flatnonzero(mask))

    return Geometry(
        K=mu.shape[0],
        d=mu.shape[1],
        front=indices(front(mu, tol)),
        gaps=gaps(mu),
        objective_gaps=objective_gaps(mu),
        g_dagger=float(g_dagger(mu)),
        j_dagger=int(j_dagger(mu)),
        inconsistent_arms=indices(inconsistent_arms(mu, tol)),
        zero_gap_dominated=indices(zero_gap_dominated(mu, tol)),
    )
