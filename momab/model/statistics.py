"""model.statistics."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from momab._util.validate import BoolArray, real_array
from momab.engine.simulate import rate_interval


def mean_interval(values: ArrayLike) -> tuple[float, float, float]:
    """Compute the mean and its 95 % interval by Student's t, which allows for few runs."""
    from scipy.special import stdtrit

    array = real_array(values, "values")
    n, mean = len(array), float(array.mean())
    if n < 2:
        return mean, mean, mean
    half = float(stdtrit(n - 1, 0.975)) * float(array.std(ddof=1)) / math.sqrt(n)
    return mean, mean - half, mean + half


def rates(hits: BoolArray, name: str = "rate") -> dict[str, float]:
    """A rate with its exact 95 % interval, under the keys rate, low and high."""
    found = rate_interval(name, hits)
    return {key: found[f"{name}_{key}"] for key in ("rate", "low", "high")}
