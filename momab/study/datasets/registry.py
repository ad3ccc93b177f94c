"""The register of data sets: find, fetch, verify, load, whatever the data set.

None of the data sets is part of this project.  A data set is a module of this package that calls
:func:`register_dataset`; nothing else names it.  Files are looked for in ``data_dir`` if it is
given and nowhere else, otherwise in the folder that the environment variable ``MOMAB_DATA``
names, in the user's cache, and in ``shared/data`` beside the repository; :func:`get` downloads
them.  What is loaded is compared with the checksum of the content that the recorded results were
computed with, so it does not matter where a file came from.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from momab._util.datafiles import data_folders
from momab.errors import MomabError
from momab.model.instances import Instance
from momab.study.datasets.content import checksum, recorded_rewards
from momab.study.datasets.download import download


@dataclass(frozen=True)
class Dataset:
    """Where a data set comes from, what its files are called, and what it must contain."""

    name: str
    title: str
    address: str
    file: str
    """The file's name at the address and on a mirror."""
    sha256: str | None
    """Of that file, where it is known."""
    names: tuple[str, ...]
    """The file names looked for; `get` writes the first."""
    content: str
    """The checksum of the instance, see `momab.study.datasets.checksum`."""
    read: Callable[[Path, bool], Instance]
    """Reads a file; the flag asks for whatever it can verify while reading."""
    write: Callable[[Instance, Path], None] | None = None
    """Writes what `get` keeps; without it the downloaded file is kept as it is."""
    contamination: bool = False
    """The paper ranks this data set's misleading subsets by contamination."""


REGISTRY: dict[str, Dataset] = {}


def register_dataset(dataset: Dataset) -> None:
    """Make a data set known under its name."""
    if dataset.name in REGISTRY:
        raise MomabError(f"there is a data set {dataset.name!r} already.")
    REGISTRY[dataset.name] = dataset


def named(dataset: str) -> Dataset:
    """The data set of this name."""
    if dataset not in REGISTRY:
        raise MomabError(f"the data sets are {' and '.join(REGISTRY)}; there is no {dataset!r}.")
    return REGISTRY[dataset]


# --- Finding -----------------------------------------------------------------------------


def folders(data_dir: str | Path | None = None) -> list[Path]:
    """The folders that are searched, in order; `get` downloads into the first."""
    return data_folders(data_dir)


def find(dataset: str, data_dir: str | Path | None = None) -> Path | None:
    """The path of a data set's file, or None."""
    source = named(dataset)
    paths = (folder / name for folder in folders(data_dir) for name in source.names)
    return next((path for path in paths if path.is_file()), None)


def _found(dataset: str, data_dir: str | Path | None) -> Path:
    path = find(dataset, data_dir)
    if path is None:
        where = f"in {data_dir}" if data_dir is not None else "on this machine"
        option = f" --data-dir {data_dir}" if data_dir is not None else ""
        raise MomabError(
            f"the {named(dataset).title} data are not {where}; fetch them with "
            f"`momab data get {dataset}{option}`, or name their folder with --data-dir or the "
            f"environment variable MOMAB_DATA."
        )
    return path


# --- Loading and verifying ---------------------------------------------------------------


def load(dataset: str, data_dir: str | Path | None = None, verify: bool = True) -> Instance:
    """Read a data set from its file; ``verify`` compares its content with the checksum."""
    return _load(named(dataset), _found(dataset, data_dir), verify)


def _load(dataset: Dataset, path: Path, verify: bool) -> Instance:
    instance = dataset.read(path, verify)
    if verify and checksum(instance) != dataset.content:
        raise MomabError(
            f"{path.name} is not the {dataset.title} table that the results here were computed "
            f"with: it gives {instance.K} arms with {recorded_rewards(instance)[0].size:,} "
            f"rewards, and the checksum of these differs."
        )
    return instance


# --- Fetching ----------------------------------------------------------------------------


def address(dataset: str, mirror: str | None = None) -> str:
    """Where a data set is downloaded from.

    ``mirror``, or the environment variable ``MOMAB_MIRROR``, is the address of a folder that
    holds the files under their public names.
    """
    source = named(dataset)
    mirror = mirror or os.environ.get("MOMAB_MIRROR")
    if not mirror:
        return source.address
    if not mirror.startswith(("http://", "https://")):
        raise MomabError(f"a mirror must be an http:// or https:// address; it is {mirror!r}.")
    return f"{mirror.rstrip('/')}/{source.file}"


def get(
    dataset: str,
    data_dir: str | Path | None = None,
    mirror: str | None = None,
    progress: bool = False,
) -> Path:
    """Download a data set into ``data_dir``, ``MOMAB_DATA`` or the user's cache.

    A file that is already there and has the right content is kept.  What is downloaded is
    verified, and converted if the data set says how, before it takes its name.
    """
    source = named(dataset)
    url = address(dataset, mirror)
    folder = folders(data_dir)[0]
    target = folder / source.names[0]
    if _is_good(source, target):
        return target
    raw = folder / f"{source.file}.unverified"
    if raw.is_file():
        raw.unlink()
    download(url, folder, raw.name, source.sha256, progress)
    try:
        instance = _load(source, raw, verify=True)
        if source.write is not None:
            source.write(instance, target)
        else:
            os.replace(raw, target)
    finally:
        raw.unlink(missing_ok=True)
    return target


def _is_good(dataset: Dataset, path: Path) -> bool:
    try:
        _load(dataset, path, verify=True)
    except MomabError:
        return False
    return True
