"""Policies that look at one objective: bounds on their Pareto regret, and three instances."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import FloatArray, IntArray, mean_array
from momab.engine.loop import play_block
from momab.engine.policies.base import Policy
from momab.engine.policies.kl_ucb import KLUCB
from momab.engine.policies.single_ucb1 import SingleUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.model import metrics, pareto
from momab.model.instances import Instance, bernoulli, synthetic

RARE = 1.0 + math.pi**2 / 3.0
"""What failing intervals add to the pulls of an arm in the bound of UCB1."""


def pull_weights(means: ArrayLike) -> FloatArray:
    r"""The sums :math:`\sum_{a\in P}\Delta_a/(\Delta_a^{(j)})^2` per objective, shape (..., d).

    P holds the arms with positive Pareto gap; their deficits are positive on every objective.
    """
    mu = mean_array(means)
    gaps = pareto.gaps(mu)[..., None]
    deficits = pareto.objective_deficits(mu)
    terms = np.zeros_like(deficits)
    np.divide(gaps, deficits**2, out=terms, where=gaps > 0)
    return np.asarray(terms.sum(axis=-2))


def ucb1_bounds(means: ArrayLike, T: int) -> FloatArray:
    r"""Bound the Pareto regret of UCB1 on each of the objectives, shape (..., d).

    UCB1 on objective j pulls an arm with :math:`\Delta_a^{(j)}>0` at most
    :math:`8\log T/(\Delta_a^{(j)})^2+1+\pi^2/3` times in expectation, and a pull costs the
    Pareto gap:

    .. math:: \sum_{a:\Delta_a>0}\Delta_a\Bigl(\frac{8\log T}{(\Delta_a^{(j)})^2}
        +1+\frac{\pi^2}3\Bigr).
    """
    total = pareto.gaps(means).sum(axis=-1)[..., None]
    return np.asarray(8.0 * math.log(T) * pull_weights(means) + RARE * total)


def three_games(delta: float, K: int) -> dict[str, Instance]:
    """Three instances with K arms, two objectives and crowds at a Pareto gap of delta.

    The first is of the paper's synthetic family, with K // 2 arms in the crowd: objective 1 is
    easy, objective 2 is not.  In the second a filler becomes a copy of the winner of objective 1,
    so that no arm leads there any more.  The third has a crowd below both winners, and a balanced
    arm.
    """
    first = synthetic(delta, K // 2, K)
    second = first.means.copy()
    second[-1] = second[0]
    left = (K - 3) // 2
    third = [(0.8, 0.25), (0.25, 0.8), (0.65, 0.65)]
    third += [(0.8 - delta, 0.05)] * left + [(0.05, 0.8 - delta)] * (K - 3 - left)
    return {
        "clear lead": first,
        "doubled winner": bernoulli(second, name="doubled winner"),
        "crowded ends": bernoulli(third, name="crowded ends"),
    }


def regret_paths(
    instance: Instance, policy: Policy, points: Sequence[int] | IntArray, runs: int, seed: int
) -> FloatArray:
    """Pareto regret of every run at every point, shape (runs, points).

    Width-guided has the horizon in its radius, so each of its points is a play of its own.
    """
    ends = [int(point) for point in points]
    if isinstance(policy, WidthGuided):
        blocks = [play_block(instance, policy, T, seed, 0, runs).pulls for T in ends]
        pulls = np.stack(blocks, axis=1)
    else:
        pulls = play_block(instance, policy, ends[-1], seed, 0, runs, ends).checkpoint_pulls
    return metrics.pareto_regret(pulls, instance.means)


def each_objective(
    instance: Instance,
    record: type[SingleUCB1] | type[KLUCB],
    points: Sequence[int] | IntArray,
    runs: int,
    seed: int,
) -> dict[str, FloatArray]:
    """Regret paths of a policy on each objective, and of the choice by a coin.

    Run by run the last is the mean over the objectives: what is expected when a fair coin chooses
    the objective, without the noise of the coin.
    """
    paths = {
        f"objective {j + 1}": regret_paths(instance, record(objective=j), points, runs, seed)
        for j in range(instance.d)
    }
    return paths | {"by a coin": np.mean(list(paths.values()), axis=0)}
