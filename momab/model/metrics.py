r"""What a run is judged by: regrets, recommendation, front recovery, coverage.

Every function takes arrays of pulls with runs along the leading axes and arms along the
last.  Sums over arms run in arm order, so that the digits do not depend on the machine.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import BoolArray, FloatArray, IntArray, mean_array
from momab.model import pareto
from momab.model.numerics import log


def weighted_pulls(pulls: IntArray, cost: FloatArray) -> FloatArray:
    r"""Compute :math:`\sum_a \mathrm{cost}_a N_a`, shape (...), adding in arm order.

    Parameters
    ----------
    pulls : array of int
        Pulls of every arm, shape (..., K).
    cost : array of float
        The cost of one pull of every arm, shape (K,).

    Returns
    -------
    array of float
    """
    total = np.zeros(pulls.shape[:-1])
    for a in range(pulls.shape[-1]):
        total += pulls[..., a] * cost[a]
    return total


def pareto_regret(pulls: IntArray, means: ArrayLike) -> FloatArray:
    r"""Pareto regret :math:`\sum_a \Delta^P_a N_a`.

    Parameters
    ----------
    pulls : array of int
        Pulls of every arm, shape (..., K).
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of float
    """
    return weighted_pulls(pulls, pareto.gaps(means))


def fairness_costs(means: ArrayLike) -> FloatArray:
    r"""Max-min deficits :math:`\max_b\min_j\mu_b^{(j)} - \min_j\mu_a^{(j)}` of the arms.

    Parameters
    ----------
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of float
    """
    worst: FloatArray = mean_array(means).min(axis=-1)
    return np.asarray(worst.max(axis=-1, keepdims=True) - worst)


def fairness_regret(pulls: IntArray, means: ArrayLike) -> FloatArray:
    """Cumulative max-min regret, the paper's empirical fairness measure.

    Parameters
    ----------
    pulls : array of int
        Pulls of every arm, shape (..., K).
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of float
    """
    return weighted_pulls(pulls, fairness_costs(means))


def recommendation(tail_pulls: IntArray) -> IntArray:
    """The arm played most in the last fifth of the rounds (the first one if several).

    Parameters
    ----------
    tail_pulls : array of int
        Pulls of every arm in the last fifth, shape (..., K).

    Returns
    -------
    array of int
    """
    return np.asarray(tail_pulls.argmax(axis=-1))


def front_precision_recall(sums: FloatArray, pulls: IntArray, means: ArrayLike) -> FloatArray:
    """Precision and recall of the final empirical front against the true one, shape (..., 2).

    Parameters
    ----------
    sums : array of float
        Final sums of rewards, shape (..., K, d).
    pulls : array of int
        Pulls of every arm, shape (..., K).
    means : array_like
        The mean vectors, shape (..., K, d): K arms, d objectives.

    Returns
    -------
    array of float
    """
    found = pareto.front(sums / pulls[..., None])
    true = pareto.front(means)
    hits = (found & true).sum(axis=-1)
    return np.stack([hits / found.sum(axis=-1), hits / true.sum()], axis=-1)


def coverage_entropy(pulls: IntArray, front: BoolArray) -> FloatArray:
    r"""Entropy of the pulls over the true front, divided by :math:`\log|A^\star|`, per run.

    Zero when the front is a single arm.

    Parameters
    ----------
    pulls : array of int
        Pulls of every arm, shape (runs, K).
    front : array of bool
        The true front, shape (K,).

    Returns
    -------
    array of float
    """
    size = int(front.sum())
    result = np.zeros(pulls.shape[0])
    if size < 2:
        return result
    on_front = pulls[:, front]
    for i, counts in enumerate(on_front.tolist()):
        total = math.fsum(counts)
        shares = [n / total for n in counts if n]
        result[i] = -math.fsum(share * log(share) for share in shares) / log(size)
    return result
