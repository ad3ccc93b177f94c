r"""Two programs of the kind of Graves and Lai: for one correct answer, and in the textbook's form.

Both minimise :math:`\sum_b\Delta_bn_b` over numbers of pulls such that
:math:`\sum_bn_b\,\mathrm{KL}(\mu_b,\lambda_b)\ge1` for every alternative :math:`\lambda`.  For the
answer a the alternatives leave a's means alone and give a a positive gap.  The textbook's leave all
optimal arms alone and make *every one of them* suboptimal.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from momab._util.validate import FloatArray, mean_array, unit_interval
from momab.errors import MomabError
from momab.model import pareto, theory

MOST = 20_000
"""Constraints of a program, at most."""


def _split(means: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    mu = unit_interval(mean_array(means), "means")
    if mu.ndim != 2 or not ((mu > 0) & (mu < 1)).all():
        raise MomabError("means must be those of one instance, all of them in (0, 1).")
    gaps = pareto.gaps(mu)
    return mu[gaps == 0], mu[gaps > 0], gaps[gaps > 0]


def textbook_constraints(means: ArrayLike) -> FloatArray:
    """The cheapest alternatives that make every optimal arm suboptimal, (alternatives, |P|).

    An alternative says for every optimal arm which suboptimal arm is raised above it; an arm that
    is raised above several must reach the largest of their means on each objective.  A row holds
    the divergences from the suboptimal arms to where they go.
    """
    free, paid, _ = _split(means)
    if len(paid) ** len(free) > MOST:
        raise MomabError(
            f"the program has {len(paid)}^{len(free)} constraints; at most {MOST} are allowed."
        )
    rows = []
    for chosen in product(range(len(paid)), repeat=len(free)):
        row = np.zeros(len(paid))
        for b in set(chosen):
            goal = free[[a for a, above in enumerate(chosen) if above == b]].max(axis=0)
            row[b] = theory.kl_plus(paid[b], goal).sum()
        rows.append(row)
    return np.unique(np.array(rows), axis=0)


def textbook_price(means: ArrayLike) -> float:
    """The value of the textbook's program; 0 if every arm is optimal."""
    _, paid, gaps = _split(means)
    if not len(paid):
        return 0.0
    rows = textbook_constraints(means)
    unit = rows.max(axis=0)  # n_b in units in which the numbers are alike
    found = linprog(gaps / unit, A_ub=-rows / unit, b_ub=-np.ones(len(rows)), method="highs")
    return float(found.fun)


def answer_price(means: ArrayLike, arm: int, alternatives: int, seed: int) -> float:
    """The program for one answer over random joint alternatives, by linear programming.

    Every alternative raises one other arm above the answer, by little or by much, and moves the
    remaining arms a little or not at all; the first ones raise one arm alone and as little as
    possible.  An alternative that moves another optimal arm is ruled out at no cost.
    """
    mu = unit_interval(mean_array(means), "means")
    gaps, rng = pareto.gaps(mu), np.random.default_rng(seed)
    paid, rows = gaps > 0, []
    others = [b for b in range(len(mu)) if b != arm]
    for number in range(alternatives):
        b = others[number % len(others)]
        goal = mu.copy()
        reach = 1e-6 if number < len(others) else rng.random() * (1 - mu[arm].max())
        goal[b] = np.maximum(mu[b], mu[arm] + reach)
        for c in others:
            if c != b and paid[c] and number >= len(others) and rng.random() < 0.5:
                goal[c] = np.clip(mu[c] + rng.normal(0, 0.05, mu.shape[1]), 1e-3, 1 - 1e-3)
        row = (theory.kl_plus(mu, goal) + theory.kl_plus(1 - mu, 1 - goal)).sum(axis=1)
        if (row[~paid] == 0).all():
            rows.append(row[paid])
    if not rows:
        return 0.0
    found = linprog(gaps[paid], A_ub=-np.array(rows), b_ub=-np.ones(len(rows)), method="highs")
    return float(found.fun)


def price_over_textbook(draws: int, arms: int, objectives: int, seed: int) -> FloatArray:
    """C(mu) over the textbook's value for random instances with a suboptimal arm."""
    found: list[float] = []
    rng = np.random.default_rng(seed)
    while len(found) < draws:
        mu = rng.uniform(0.05, 0.95, (arms, objectives))
        gaps = pareto.gaps(mu)
        if (gaps > 1e-3).any() and (gaps[gaps > 0] > 1e-3).all():
            found.append(float(theory.price(mu).value) / textbook_price(mu))
    return np.array(found)
