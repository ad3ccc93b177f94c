"""Families of instances that the chapters on the bounds vary: leads, ties, crowds.

The paper's own families are in :mod:`momab.model.instances`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import positive_number, real_array, whole_number
from momab.errors import MomabError
from momab.model import pareto
from momab.model.instances import Instance, bernoulli


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


DRAWS = ("uniform", "near 1/2", "on a grid", "at 0 and 1")
"""The kinds of :func:`random_crowded`."""


def random_crowded(count: int, seed: int) -> list[tuple[str, Instance]]:
    """Draw instances that are hard for a reason: 3 to 8 arms, 2 to 5 objectives, four kinds.

    The means are uniform, within 0.05 of 1/2, multiples of 0.1 (with ties), or among 0, 0.2, 0.5,
    0.8 and 1.  The last arm is the first one lowered everywhere by 0.01, 0.05 or 0.1, as far as
    0 allows.  Instances without a paid arm are drawn again.
    """
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    found: list[tuple[str, Instance]] = []
    while len(found) < whole_number(count, "count", least=1):
        kind = DRAWS[len(found) % len(DRAWS)]
        shape = int(rng.integers(3, 9)), int(rng.integers(2, 6))
        share = rng.random(shape)
        if kind == "uniform":
            means = share
        elif kind == "near 1/2":
            means = 0.45 + 0.1 * share
        elif kind == "on a grid":
            means = np.floor(1 + 9 * share) / 10
        else:
            means = np.array([0.0, 0.2, 0.5, 0.8, 1.0])[(5 * share).astype(np.int64)]
        means[-1] = np.maximum(means[0] - rng.choice([0.01, 0.05, 0.1]), 0.0)
        if pareto.gaps(means).max() > 0:
            found.append((kind, bernoulli(means, name=f"{kind} {len(found) + 1}")))
    return found


def unseen_gap(gap: float = 0.005, d: int = 5) -> Instance:
    """Build three arms: a specialist, its opposite, and the opposite lowered everywhere by a gap.

    While the last two cannot be told apart, no arm seems dominated.
    """
    low, high = 0.1, 0.9
    first = [high] + [low] * (d - 1)
    second = [low] + [high] * (d - 1)
    return bernoulli([first, second, [x - gap for x in second]], name="a gap that hides")


def mirrored_pairs(step: float = 0.1) -> Instance:
    """Build four arms in two mirrored pairs: both free arms have the same price."""
    pair = [[0.8, 0.3], [0.8 - step, 0.3 - step]]
    return bernoulli([*pair, *[arm[::-1] for arm in pair]], name="mirrored")
