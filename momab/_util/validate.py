"""Validation of input, shared by every module: one clear sentence, never a NumPy traceback."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momab.errors import MomabError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

LONGEST = 2**62
"""The longest horizon that is played: rounds are counted in 64 bits."""

LARGEST = 10**100
"""The longest horizon of a formula."""


def real_array(values: ArrayLike, what: str) -> FloatArray:
    """Return a float64 array without NaN or infinities, or say why there is none."""
    try:
        raw: NDArray[Any] = np.asarray(values)
    except ValueError:
        raise MomabError(
            f"{what} must be a rectangular array of numbers; its rows differ in length."
        ) from None
    if raw.dtype.kind not in "fiub":
        raise MomabError(f"{what} must hold real numbers, not values of type {raw.dtype}.")
    array = raw.astype(np.float64)
    if array.size == 0:
        raise MomabError(f"{what} must not be empty; its shape is {array.shape}.")
    if not np.isfinite(array).all():
        raise MomabError(f"{what} must be finite; it holds NaN or infinity.")
    return array


def mean_array(means: ArrayLike, what: str = "means") -> FloatArray:
    """Return means of shape (..., K, d) with K >= 2 arms and d >= 1 objectives."""
    array = real_array(means, what)
    if array.ndim < 2:
        raise MomabError(
            f"{what} must have shape (..., arms, objectives); its shape is {array.shape}."
        )
    if array.shape[-2] < 2:
        raise MomabError(f"{what} must describe at least 2 arms; it describes {array.shape[-2]}.")
    return array


def unit_interval(array: FloatArray, what: str) -> FloatArray:
    """Return the array if all of it lies in [0, 1]; else name the first value that does not."""
    outside = (array < 0.0) | (array > 1.0)
    if outside.any():
        position = tuple(int(i) for i in np.argwhere(outside)[0])
        raise MomabError(
            f"{what} must lie in [0, 1]; the value at {position} is {float(array[position])!r}."
        )
    return array


def shown(value: object) -> str:
    """A value as a sentence can hold it: a number of hundreds of digits is cut."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write whole numbers of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:40]}… ({len(text)} characters)"


def _is_finite(value: float | np.integer[Any] | np.floating[Any]) -> bool:
    """Whether a number is one; a whole number may be too large for a float."""
    return isinstance(value, (int, np.integer)) or math.isfinite(value)


def whole_number(value: object, what: str, least: int, most: int | None = None) -> int:
    """Return an int in [least, most]; 1e5 and NumPy integers count as whole numbers."""
    allowed = f"a whole number >= {least}" if most is None else f"a whole number in {least}..{most}"
    message = f"{what} must be {allowed}; it is {shown(value)}."
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise MomabError(message)
    if not _is_finite(value) or value != int(value):
        raise MomabError(message)
    number = int(value)
    if number < least or (most is not None and number > most):
        raise MomabError(message)
    return number


def positive_number(value: object, what: str) -> float:
    """Return a finite float > 0."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not _is_finite(value)
        or value <= 0
        or value > sys.float_info.max
    ):
        raise MomabError(f"{what} must be a number > 0; it is {shown(value)}.")
    return float(value)


def probability(value: object, what: str) -> float:
    """Return a float in [0, 1]."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not 0 <= value <= 1
    ):
        raise MomabError(f"{what} must be a number in [0, 1]; it is {shown(value)}.")
    return float(value)


def horizon_for(horizon: object, arms: int, most: int = LARGEST) -> int:
    """Return a horizon T >= K: every policy pulls each arm once to begin with."""
    number = whole_number(horizon, "the horizon T", least=1)
    if number > most:
        raise MomabError(f"the horizon T must be at most {most:,}; it is {shown(horizon)}.")
    if number < arms:
        raise MomabError(
            f"the horizon T must be at least the number of arms, {arms}; it is {number}."
        )
    return number


def name_tuple(names: Sequence[str] | None, count: int, prefix: str, what: str) -> tuple[str, ...]:
    """Return `count` distinct names, made up from the prefix when none are given."""
    if names is None:
        return tuple(f"{prefix} {i + 1}" for i in range(count))
    chosen = tuple(str(name) for name in names)
    if len(chosen) != count:
        raise MomabError(f"{what} must be {count} names; {len(chosen)} were given.")
    if len(set(chosen)) != count:
        twice = next(name for name in chosen if chosen.count(name) > 1)
        raise MomabError(f"{what} must be distinct; {twice!r} occurs more than once.")
    return chosen
