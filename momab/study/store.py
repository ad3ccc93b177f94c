"""A folder of finished runs that survives interruption and never holds half a file.

Layout::

    store/
        momab-store.json              what made it: format, version, engine source
        .momab-store.lock             held while something is written
        <task>/task.json              one instance, policy, horizon and seed, readable
        <task>/runs-00000000-00000063.npz

A piece holds runs ``first`` to ``last`` of one task.  It is written by
:func:`momab._util.files.atomically`, so a piece that exists is complete, whatever
killed the process.  Several processes may share a store: a lock keeps one from sweeping away what
another is writing.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from momab._util.files import PARTIAL, atomically
from momab._util.progress import uninterrupted
from momab.errors import MomabError

FORMAT = 1
MANIFEST = "momab-store.json"
LOCK = ".momab-store.lock"
PIECE = re.compile(r"runs-(\d+)-(\d+)\.npz")

Columns = dict[str, NDArray[Any]]


class Store:
    """Finished pieces of simulations, kept in a folder."""

    def __init__(self, folder: str | os.PathLike[str], made_by: Mapping[str, str]) -> None:
        """Open the folder, or begin it; refuse one that something else made."""
        self.folder = Path(folder)
        self._lock = FileLock(self.folder / LOCK)
        manifest = self.folder / MANIFEST
        try:
            if not manifest.exists():
                self._refuse_other_files()
                self.folder.mkdir(parents=True, exist_ok=True)
            if not os.access(self.folder, os.W_OK):
                raise PermissionError(13, "Permission denied")
            with self._lock:
                if manifest.exists():
                    _validate_manifest(manifest, made_by)
                else:
                    _write_json(manifest, {"format": FORMAT, **made_by})
        except OSError as error:
            raise MomabError(
                f"the run store {self.folder} cannot be written: {error.strerror}; "
                "name a folder that can."
            ) from None

    def _refuse_other_files(self) -> None:
        """Leave a folder alone that holds files which are not a store's."""
        if not self.folder.exists():
            return
        ours = (LOCK, f".{MANIFEST}")  # another process may be about to begin the store
        others = [p for p in self.folder.iterdir() if not p.name.startswith(ours)]
        if others and not (self.folder / MANIFEST).exists():
            raise MomabError(
                f"{self.folder} is not a run store: it holds other files and no {MANIFEST}; "
                "name a new or an empty folder."
            )

    def begin(self, task: str, description: Mapping[str, Any]) -> None:
        """Make a task's folder and say in words what it holds."""
        folder = self.folder / task
        with self._lock:
            folder.mkdir(exist_ok=True)
            for leftover in folder.glob(f".*{PARTIAL}"):
                leftover.unlink(missing_ok=True)
            if not (folder / "task.json").exists():
                _write_json(folder / "task.json", description)

    def finished(self, task: str) -> list[range]:
        """The runs of a task that are on disk, as ranges in ascending order."""
        found = []
        for path in (self.folder / task).glob("runs-*.npz"):
            match = PIECE.fullmatch(path.name)
            if match:
                found.append(range(int(match[1]), int(match[2]) + 1))
        return sorted(found, key=lambda piece: (piece.start, piece.stop))

    def load(self, task: str, piece: range) -> Columns:
        """Read one piece."""
        path = self._path(task, piece)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                return {key: data[key] for key in data.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error):
            raise MomabError(
                f"{path} is damaged; delete that file and run the same command again."
            ) from None

    def save(self, task: str, piece: range, columns: Columns) -> None:
        """Write one piece, all of it or nothing."""
        with uninterrupted(), self._lock, atomically(self._path(task, piece)) as file:
            np.savez_compressed(file, allow_pickle=False, **columns)

    def _path(self, task: str, piece: range) -> Path:
        return self.folder / task / f"runs-{piece.start:08d}-{piece.stop - 1:08d}.npz"


def missing_runs(runs: int, finished: list[range], size: int) -> Iterator[range]:
    """The runs 0..runs-1 that no finished range covers, in pieces of at most ``size`` runs."""
    start = 0
    for done in [*finished, range(runs, runs)]:
        while start < min(done.start, runs):
            stop = min(start + size, done.start, runs)
            yield range(start, stop)
            start = stop
        start = max(start, done.stop)


def _validate_manifest(path: Path, made_by: Mapping[str, str]) -> None:
    try:
        manifest = json.loads(path.read_text())
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise MomabError(f"{path} is not a run store that this version of momab can read.")
    for key, value in made_by.items():
        if manifest.get(key) != value:
            raise MomabError(
                f"the run store {path.parent} was made by another version of momab ({key} "
                f"{manifest.get(key)}, here {value}); name a new folder, or delete the old one."
            )


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    with atomically(path) as file:
        file.write(json.dumps(content, indent=2).encode())
