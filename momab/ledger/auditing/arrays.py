"""Anybody's arrays, validated before they become a trace, and read from a file without pickles."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momab._util.validate import FloatArray, real_array, unit_interval
from momab.errors import MomabError


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays of an .npz file, which must hold no pickled objects."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if not isinstance(loaded, np.ndarray):
            with loaded as file:
                return {key: file[key] for key in file.files}
    except FileNotFoundError:
        raise MomabError(f"there is no file {path}.") from None
    except (OSError, ValueError, EOFError, BadZipFile, KeyError):
        raise MomabError(
            f"cannot read {path} as a trace: it must be an .npz file without pickled objects."
        ) from None
    raise MomabError(f"{path} is one array, not a trace; a trace is an .npz file.")


def one_number(value: NDArray[Any], what: str) -> Any:
    """The number that an array of size 1 holds."""
    if value.size != 1 or value.dtype.kind not in "fiu":
        raise MomabError(f"{what} must be one number; its shape is {value.shape}.")
    return value.reshape(-1)[0].item()


def index_array(values: ArrayLike, what: str, below: int) -> NDArray[np.int32]:
    """Whole numbers from 0 to ``below`` - 1."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise MomabError(f"{what} must be whole numbers, not values of type {array.dtype}.")
    if array.size and not (array.min() >= 0 and array.max() < below):
        raise MomabError(
            f"{what} must lie in 0..{below - 1}; they range over {array.min()}..{array.max()}."
        )
    return np.ascontiguousarray(array, dtype=np.int32)


def reported_choices(
    values: ArrayLike | None, what: str, below: int, decisions: int, d: int | None
) -> NDArray[np.int32] | None:
    """What a policy reports of its decisions, one row each; there may be fewer rows, or none."""
    if values is None:
        return None
    array = index_array(values, what, below)
    good = array.ndim == (1 if d is None else 2) and len(array) <= decisions
    if not good or (d is not None and array.shape[1] != d):
        shape = f"(m,), m <= {decisions}" if d is None else f"(m, {d}), m <= {decisions}"
        raise MomabError(f"{what} must have shape {shape}; the shape is {array.shape}.")
    return array


def reward_array(values: ArrayLike, shape: tuple[int, int]) -> NDArray[np.uint8] | FloatArray:
    """Rewards in [0, 1] of this shape; as bytes when all of them are 0 or 1."""
    raw = np.asarray(values)
    if raw.shape != shape:
        raise MomabError(
            f"rewards must have one row per pull and one column per objective, shape {shape}; "
            f"the shape is {raw.shape}."
        )
    if raw.dtype == np.uint8 and (raw.size == 0 or raw.max() <= 1):
        return np.ascontiguousarray(raw)
    array = unit_interval(real_array(raw, "rewards"), "rewards")
    if ((array == 0.0) | (array == 1.0)).all():
        return array.astype(np.uint8)
    return array
