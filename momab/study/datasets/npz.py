"""Cohorts of samples in .npz files: read without running any pickle, and written plainly."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from momab._util.files import atomically
from momab.errors import MomabError
from momab.model.instances import Instance, from_samples
from momab.study.datasets.content import readable_file, recorded_rewards


def read_cohorts(path: str | Path) -> Instance:
    """Read a KuaiRec cohort instance, in the plain layout or in the authors'.

    The plain layout holds no objects: ``values`` and ``offsets`` (the samples of arm a and
    cohort j are ``values[offsets[d * a + j] : offsets[d * a + j + 1]]``), ``arm_ids`` and
    ``objective_names``.  The content is not compared with a checksum;
    `momab.study.datasets.load` does.
    """
    path = Path(path)
    with readable_file(path), zipfile.ZipFile(path) as archive:
        members = {name.removesuffix(".npy") for name in archive.namelist()}
        for layout, read in _LAYOUTS.items():
            if set(layout) <= members:
                return read(lambda key: _member(archive, key))
        raise MomabError(
            f"{path.name} has no known layout of cohorts: it holds {', '.join(sorted(members))}, "
            f"where {' or '.join(', '.join(layout) for layout in _LAYOUTS)} are expected."
        )


def _plain_cohorts(array: Callable[[str], Any]) -> Instance:
    arms, cohorts = array("arm_ids"), array("objective_names")
    values, offsets = array("values"), array("offsets")
    cells = len(arms) * len(cohorts)
    if len(offsets) != cells + 1 or offsets[0] != 0 or offsets[-1] != len(values):
        raise MomabError(
            f"the offsets do not fit {len(arms)} arms x {len(cohorts)} cohorts with "
            f"{len(values)} values."
        )
    return _cohorts(arms, cohorts, np.split(values, offsets[1:-1]))


def _authors_cohorts(array: Callable[[str], Any]) -> Instance:
    """The authors' file: one object per arm, holding one array of samples per cohort."""
    arms, cohorts = array("arm_ids"), array("objective_names")
    nested = array("objective_values")
    if np.ndim(nested) < 1 or len(nested) != len(arms):
        raise MomabError(f"objective_values must hold one entry for each of {len(arms)} arms.")
    lists = []
    for arm, entry in zip(arms, nested):
        if not isinstance(entry, (list, tuple, np.ndarray)) or len(entry) != len(cohorts):
            raise MomabError(
                f"objective_values of arm {arm} must hold {len(cohorts)} lists of samples."
            )
        lists += [np.asarray(cell) for cell in entry]
    return _cohorts(arms, cohorts, lists)


def _cohorts(arms: Any, cohorts: Any, lists: Sequence[Any]) -> Instance:
    d = len(cohorts)
    samples = {str(arm): lists[d * a : d * a + d] for a, arm in enumerate(arms)}
    return from_samples(samples, objective_names=[str(c) for c in cohorts], name="KuaiRec")


_LAYOUTS: dict[tuple[str, ...], Callable[[Callable[[str], Any]], Instance]] = {
    ("values", "offsets", "arm_ids", "objective_names"): _plain_cohorts,
    ("objective_values", "arm_ids", "objective_names"): _authors_cohorts,
}


# --- Arrays of objects, without running what a pickle says -----------------------------------

_reconstruct = np.empty(0).__reduce__()[0]  # what NumPy itself puts into a pickled array

_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,  # as NumPy 1 spells it
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,  # as NumPy 2 does
}


class _ArraysOnly(pickle.Unpickler):
    """Rebuilds NumPy arrays, lists and numbers; refuses every other name a pickle asks for."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise MomabError(
                f"the file asks Python to load {module}.{name}; only NumPy arrays are admitted."
            )
        return _ADMITTED[module, name]


def _member(archive: zipfile.ZipFile, key: str) -> Any:
    """One array of an npz archive; an array of objects is read by :class:`_ArraysOnly`."""
    with archive.open(f"{key}.npy") as file:
        data = io.BytesIO(file.read())
    version = np.lib.format.read_magic(data)
    holds_objects = version == (1, 0) and np.lib.format.read_array_header_1_0(data)[2].hasobject
    if not holds_objects:
        data.seek(0)
        return np.lib.format.read_array(data, allow_pickle=False)
    try:
        return _ArraysOnly(data).load()
    except (pickle.UnpicklingError, TypeError, AttributeError, MemoryError) as error:
        raise MomabError(f"the objects of {key} cannot be rebuilt: {error}.") from None


# --- Writing ---------------------------------------------------------------------------------


def write_cohorts(instance: Instance, path: str | Path) -> None:
    """Write a cohort instance in the plain layout, see :func:`read_cohorts`."""
    values, offsets = recorded_rewards(instance)
    with atomically(Path(path)) as file:
        np.savez_compressed(
            file,
            values=values,
            offsets=offsets,
            mean=instance.means,
            arm_ids=np.array(instance.arm_names),
            objective_names=np.array(instance.objective_names),
        )
