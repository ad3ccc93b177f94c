"""Spotify Tracks and KuaiRec: find, fetch, verify, load (never an arbitrary pickle).

Neither data set is part of this project.  :func:`spotify` and :func:`kuairec` look for the
files in ``data_dir`` if it is given and nowhere else, otherwise in the folder that the
environment variable ``MOMAB_DATA`` names, in the user's cache, and in ``shared/data`` beside
the repository; :func:`get` downloads them.  What is loaded is compared with the checksum of
the content that the recorded results were computed with, so it does not matter where a file
came from.

* Spotify Tracks: 114 genres (arms), six features of a track (objectives); a pull draws one
  track, a whole row.  Licence: ODbL 1.0 on one mirror, "bsd" on another.
* KuaiRec: 300 videos (arms), 26 cohorts of users (objectives); a pull draws every cohort's
  watch ratio independently.  Licence: CC BY-SA 4.0.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momab._util.files import atomically
from momab._util.validate import FloatArray, IntArray, positive_number, whole_number
from momab.datasets.download import download
from momab.errors import MomabError
from momab.model.instances import Instance, Rows, Samples, from_rows, from_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd


@dataclass(frozen=True)
class Source:
    """Where a data set comes from, what its files are called, and what it must contain."""

    title: str
    address: str
    file: str  # the file's name at the address and on a mirror
    sha256: str | None  # of that file, where it is known
    names: tuple[str, ...]  # the file names looked for; `get` writes the first
    content: str  # the checksum of the instance, see `checksum`


SOURCES: dict[str, Source] = {
    "spotify": Source(
        title="Spotify Tracks",
        address="https://huggingface.co/datasets/maharshipandya/spotify-tracks-dataset/resolve/main/dataset.csv",
        file="dataset.csv",
        sha256=None,
        names=("spotify_tracks.csv", "spotify_tracks.csv.gz", "dataset.csv"),
        content="977fc95db76999bd20cbc9d59080d0e72f6e75f8445184ae97301b48584f2218",
    ),
    "kuairec": Source(
        title="KuaiRec",
        address="https://raw.githubusercontent.com/ChangkunGuan02/momab-width-guided-certification/main/data/kuairec_cohort_instance_d26.npz",
        file="kuairec_cohort_instance_d26.npz",
        sha256="a6ecfe7db615ea793abfed3718a0e9fffdac44068e004a0bf6140cf427bd3043",
        names=("kuairec_cohorts.npz", "kuairec_cohort_instance_d26.npz"),
        content="81553aab64f7ab02f6a9326d781179c49656040113da6137365423f5be8441c7",
    ),
}

SPOTIFY_OBJECTIVES = ("popularity", "danceability", "energy", "loudness", "acousticness", "valence")
SPOTIFY_ROWS = 114_000
KUAIREC_COHORTS = ("user_active_degree", "follow_user_num_range", "register_days_range")


# --- Finding -----------------------------------------------------------------------------


def _source(dataset: str) -> Source:
    if dataset not in SOURCES:
        raise MomabError(f"the data sets are {' and '.join(SOURCES)}; there is no {dataset!r}.")
    return SOURCES[dataset]


def folders(data_dir: str | Path | None = None) -> list[Path]:
    """The folders that are searched, in order; `get` downloads into the first."""
    # not pooch.os_cache, the same folder: importing pooch loads tqdm, which warns in notebooks
    from platformdirs import user_cache_path

    if data_dir is not None:
        return [Path(data_dir).expanduser()]
    named = os.environ.get("MOMAB_DATA")
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    return [
        *([Path(named).expanduser()] if named else []),
        user_cache_path("momab"),
        beside,
    ]


def find(dataset: str, data_dir: str | Path | None = None) -> Path | None:
    """The path of a data set's file, or None."""
    source = _source(dataset)
    paths = (folder / name for folder in folders(data_dir) for name in source.names)
    return next((path for path in paths if path.is_file()), None)


def _found(dataset: str, data_dir: str | Path | None) -> Path:
    path = find(dataset, data_dir)
    if path is None:
        where = f"in {data_dir}" if data_dir is not None else "on this machine"
        option = f" --data-dir {data_dir}" if data_dir is not None else ""
        raise MomabError(
            f"the {_source(dataset).title} data are not {where}; fetch them with "
            f"`momab data get {dataset}{option}`, or name their folder with --data-dir or the "
            f"environment variable MOMAB_DATA."
        )
    return path


# --- Loading and verifying ---------------------------------------------------------------


def spotify(data_dir: str | Path | None = None, verify: bool = True) -> Instance:
    """The 114 genres of Spotify Tracks; a pull draws one track with replacement.

    Objectives: popularity / 100, danceability, energy, (loudness + 60) / 60 with loudness
    clipped to [-60, 0], acousticness, valence, all clipped to [0, 1].  A track that a genre
    lists twice counts once.  Arms are sorted by (number of tracks, name), both descending;
    the tracks of an arm by track_id, so that the order of the file does not matter.
    """
    return _load("spotify", _found("spotify", data_dir), verify)


def kuairec(data_dir: str | Path | None = None, verify: bool = True) -> Instance:
    """The 300 videos x 26 cohorts of KuaiRec, as the authors prepared them.

    A reward is a watch ratio, clipped to [0, 5] and divided by 5; a pull draws each cohort's
    coordinate independently with replacement.
    """
    return _load("kuairec", _found("kuairec", data_dir), verify)


def load(dataset: str, data_dir: str | Path | None = None) -> Instance:
    """:func:`spotify` or :func:`kuairec`, by name."""
    return _load(dataset, _found(dataset, data_dir), verify=True)


def _load(dataset: str, path: Path, verify: bool) -> Instance:
    instance = _read_spotify(path, verify) if dataset == "spotify" else read_cohorts(path)
    if verify and checksum(instance) != SOURCES[dataset].content:
        raise MomabError(
            f"{path.name} is not the {SOURCES[dataset].title} table that the results here were "
            f"computed with: it gives {instance.K} arms with {_size(instance):,} rewards, and the "
            f"checksum of these differs."
        )
    return instance


def _arrays(instance: Instance) -> tuple[FloatArray, IntArray]:
    source = instance.source
    if isinstance(source, Rows):
        return source.table, source.offsets
    if isinstance(source, Samples):
        return source.values, source.offsets
    raise MomabError(f"{instance.name} is not made of recorded rewards.")


def _size(instance: Instance) -> int:
    return int(_arrays(instance)[0].size)


def checksum(instance: Instance) -> str:
    """The sha256 of an instance made of recorded rewards: names, rewards and their layout."""
    rewards, offsets = _arrays(instance)
    names = json.dumps([instance.arm_names, instance.objective_names])
    sha = hashlib.sha256(names.encode())
    sha.update(rewards.astype("<f8").tobytes())
    sha.update(offsets.astype("<i8").tobytes())
    return sha.hexdigest()


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn whatever a broken file raises into one sentence."""
    try:
        yield
    except MomabError:
        raise
    except (OSError, ValueError, EOFError, LookupError, zlib.error, zipfile.BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise MomabError(f"{path.name} cannot be read: {reason.rstrip('.')}.") from None


def _table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of a CSV file, as text: numbers are converted exactly, and once, later."""
    import pandas as pd

    with _readable(path):
        present = set(pd.read_csv(path, nrows=0).columns)
        missing = [column for column in columns if column not in present]
        if missing:
            raise MomabError(f"{path.name} has no column {', '.join(missing)}.")
        return pd.read_csv(path, usecols=list(columns), dtype=str, keep_default_na=False)


def _read_spotify(path: Path, verify: bool) -> Instance:
    frame = _table(path, ["track_genre", "track_id", *SPOTIFY_OBJECTIVES])
    if verify and len(frame) != SPOTIFY_ROWS:
        raise MomabError(f"{path.name} must have {SPOTIFY_ROWS:,} tracks; it has {len(frame):,}.")
    with _readable(path):
        return spotify_instance(frame)


def spotify_instance(frame: pd.DataFrame) -> Instance:
    """Build the genre instance from the table of tracks, see :func:`spotify`."""
    tracks = frame.drop_duplicates(["track_genre", "track_id"])
    tracks = tracks.sort_values(["track_genre", "track_id"], kind="stable")
    columns = {name: tracks[name].to_numpy().astype(np.float64) for name in SPOTIFY_OBJECTIVES}
    columns["popularity"] = columns["popularity"] / 100.0
    columns["loudness"] = (columns["loudness"].clip(-60.0, 0.0) + 60.0) / 60.0
    rewards = np.column_stack(list(columns.values())).clip(0.0, 1.0)
    genres = tracks["track_genre"].to_numpy().astype(str)
    names, starts, counts = np.unique(genres, return_index=True, return_counts=True)
    order = sorted(range(len(names)), key=lambda g: (counts[g], names[g]), reverse=True)
    tables = {str(names[g]): rewards[starts[g] : starts[g] + counts[g]] for g in order}
    return from_rows(tables, objective_names=SPOTIFY_OBJECTIVES, name="Spotify")


def read_cohorts(path: str | Path) -> Instance:
    """Read a KuaiRec cohort instance, in the plain layout or in the authors'.

    The plain layout holds no objects: ``values`` and ``offsets`` (the samples of arm a and
    cohort j are ``values[offsets[d * a + j] : offsets[d * a + j + 1]]``), ``arm_ids`` and
    ``objective_names``.  The content is not compared with a checksum; :func:`kuairec` does.
    """
    path = Path(path)
    with _readable(path), zipfile.ZipFile(path) as archive:
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
    values, offsets = _arrays(instance)
    with atomically(Path(path)) as file:
        np.savez_compressed(
            file,
            values=values,
            offsets=offsets,
            mean=instance.means,
            arm_ids=np.array(instance.arm_names),
            objective_names=np.array(instance.objective_names),
        )


# --- Fetching ----------------------------------------------------------------------------


def address(dataset: str, mirror: str | None = None) -> str:
    """Where a data set is downloaded from.

    ``mirror``, or the environment variable ``MOMAB_MIRROR``, is the address of a folder that
    holds the files under their public names.
    """
    source = _source(dataset)
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
    verified, and KuaiRec converted to the plain layout, before it takes its name.
    """
    source = _source(dataset)
    url = address(dataset, mirror)
    folder = folders(data_dir)[0]
    target = folder / source.names[0]
    if _is_good(dataset, target):
        return target
    raw = folder / f"{source.file}.unverified"
    if raw.is_file():
        raw.unlink()
    download(url, folder, raw.name, source.sha256, progress)
    try:
        instance = _load(dataset, raw, verify=True)
        if dataset == "kuairec":
            write_cohorts(instance, target)
        else:
            os.replace(raw, target)
    finally:
        raw.unlink(missing_ok=True)
    return target


def _is_good(dataset: str, path: Path) -> bool:
    try:
        _load(dataset, path, verify=True)
    except MomabError:
        return False
    return True


# --- From the raw KuaiRec release ------------------------------------------------------------


def kuairec_from_release(
    folder: str | Path,
    matrix: str = "small_matrix.csv",
    cohorts: int = 26,
    videos: int = 300,
    least_users: int = 10,
    least_samples: int = 10,
    cap: float = 5.0,
) -> Instance:
    """Build the cohort instance from the raw tables of KuaiRec 2.0.

    The paper says: arms are videos, objectives the 26 largest cohorts of users by activity,
    number of followed users and registration age, rewards normalised watch ratios.  The other
    choices made here are:

    * ``matrix``: the fully observed small matrix.  In the authors' file nearly every video has
      one sample from every user of a cohort, which only this matrix offers; with
      ``"big_matrix.csv"`` a user may count several times.
    * Only users who occur in the matrix count.  A cohort's name joins ``column=value`` with
      ``|``; empty values read ``unknown``, spaces and slashes ``_``.
    * Cohorts are sorted by (number of users, name), both descending, and need
      ``least_users``; the smallest of the authors' 26 has 10.
    * A reward is the watch ratio clipped to [0, cap] and divided by the cap; a ratio that is
      missing or not finite counts as 0.
    * A video needs ``least_samples`` samples in every cohort.  The ``videos`` with the largest
      sum of cohort means are kept, in descending order; ties go to the larger number of
      samples, then to the video that occurs first.
    * Samples keep the order of the file.

    Whether the result is the authors' instance is not promised; :func:`checksum` tells.
    """
    import pandas as pd

    cohorts = whole_number(cohorts, "cohorts", least=1)
    videos = whole_number(videos, "videos", least=2)
    cap = positive_number(cap, "cap")
    path, features = _release_file(folder, matrix), _release_file(folder, "user_features.csv")
    watched = _table(path, ["user_id", "video_id", "watch_ratio"])
    users = _table(features, ["user_id", *KUAIREC_COHORTS]).drop_duplicates("user_id")
    users = users[users["user_id"].isin(watched["user_id"])]
    label = _cohort_labels(users)
    sizes = label.value_counts()
    kept = sorted(sizes[sizes >= least_users].index, key=lambda c: (sizes[c], c), reverse=True)
    kept = kept[:cohorts]
    if not kept:
        raise MomabError(f"no cohort of {features.name} has {least_users} users in {path.name}.")
    number = label.map({name: j for j, name in enumerate(kept)}).set_axis(users["user_id"])
    cohort = watched["user_id"].map(number).fillna(-1).to_numpy().astype(np.int64)
    watched, cohort = watched[cohort >= 0], cohort[cohort >= 0]
    ratio = pd.to_numeric(watched["watch_ratio"], errors="coerce").to_numpy().astype(np.float64)
    rewards = np.where(np.isfinite(ratio), ratio, 0.0).clip(0.0, cap) / cap
    video, names = pd.factorize(watched["video_id"])
    chosen = _best_videos(video, cohort, rewards, len(kept), least_samples)[:videos]
    if len(chosen) < 2:
        raise MomabError(
            f"fewer than 2 videos of {path.name} have {least_samples} samples in each of "
            f"{len(kept)} cohorts."
        )
    cells = _by_cell(video * len(kept) + cohort, rewards)
    d = len(kept)
    samples = {str(names[v]): [cells[v * d + j] for j in range(d)] for v in chosen}
    return from_samples(samples, objective_names=kept, name="KuaiRec, from the release")


def _release_file(folder: str | Path, name: str) -> Path:
    root = Path(folder).expanduser()
    for pattern in (name, f"*/{name}", f"*/*/{name}"):
        if found := sorted(root.glob(pattern)):
            return found[0]
    raise MomabError(f"there is no {name} in {folder}, nor in a folder of it.")


def _cohort_labels(users: pd.DataFrame) -> pd.Series[str]:
    def part(column: str) -> pd.Series[str]:
        value = users[column].str.strip().replace("", "unknown")
        return f"{column}=" + value.str.replace(r"[ /]", "_", regex=True)

    activity, follows, age = map(part, KUAIREC_COHORTS)
    return activity + "|" + follows + "|" + age


def _best_videos(
    video: IntArray, cohort: IntArray, rewards: FloatArray, d: int, least: int
) -> list[int]:
    """The videos with enough samples everywhere, by descending sum of their cohort means."""
    shape = (int(video.max(initial=-1)) + 1, d)
    cell = video * d + cohort
    counts = np.bincount(cell, minlength=shape[0] * d).reshape(shape)
    sums = np.bincount(cell, weights=rewards, minlength=shape[0] * d).reshape(shape)
    enough = np.flatnonzero((counts >= max(least, 1)).all(axis=1))
    total = (sums[enough] / counts[enough]).sum(axis=1)
    order = np.lexsort((-counts[enough].sum(axis=1), -total))
    return [int(v) for v in enough[order]]


def _by_cell(cell: IntArray, rewards: FloatArray) -> Mapping[int, FloatArray]:
    """The rewards of every cell, in their order."""
    order = np.argsort(cell, kind="stable")
    keys, starts = np.unique(cell[order], return_index=True)
    return dict(zip(keys.tolist(), np.split(rewards[order], starts[1:])))
