"""What finished: every run in a folder of its own, whole or not there, newest first.

A run is known by its page and the key of its execution, so the same values are the same run and
its address stays good.  A sweep is a list of runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from momab._util.files import write_text

_KEEP = 200
_RUN = re.compile(r"[\w-]+-[0-9a-f]{24}")
_SWEEP = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Run:
    """One page executed with one set of values."""

    id: str
    page: str
    title: str
    values: Mapping[str, Any]  # as the notebook got them
    changed: Mapping[str, tuple[str, str]]  # name: (default, here), as -p takes them
    command: str
    seconds: float
    source: str  # a digest of what was rendered
    table: str = ""  # the name of a visitor's own table
    made: float = field(default_factory=time.time)


@dataclass(frozen=True)
class KeptSweep:
    """Several runs of one page that differ in some parameters."""

    id: str
    page: str
    title: str
    varying: Sequence[str]
    runs: Sequence[str]
    command: str
    made: float = field(default_factory=time.time)


Record = TypeVar("Record", Run, KeptSweep)


class Runs:
    """The runs and sweeps in a folder."""

    def __init__(self, folder: Path) -> None:
        """Open the folder; it need not be there yet."""
        self._runs, self._sweeps = folder / "runs", folder / "sweeps"

    def folder(self, id: str) -> Path:
        """Where the files of a run are: article.html, page.html, notebook.ipynb."""
        return self._runs / id

    def run(self, id: str) -> Run | None:
        """A run, if it is there."""
        found = _read(self._runs / id / "run.json") if _RUN.fullmatch(id) else None
        return _record(Run, found)

    def sweep(self, id: str) -> KeptSweep | None:
        """A sweep, if it is there."""
        found = _read(self._sweeps / f"{id}.json") if _SWEEP.fullmatch(id) else None
        return _record(KeptSweep, found)

    def save(self, run: Run, article: str, page: str, notebook: str) -> None:
        """Keep a run, in the place of an older one of its name; forget the oldest of many."""
        self._runs.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self._runs) as temporary:
            new, old = Path(temporary, "new"), Path(temporary, "old")
            new.mkdir()
            files = {"article.html": article, "page.html": page, "notebook.ipynb": notebook}
            for name, text in files.items():
                (new / name).write_text(text, encoding="utf-8")
            (new / "run.json").write_text(json.dumps(asdict(run)), encoding="utf-8")
            if self.folder(run.id).exists():
                os.rename(self.folder(run.id), old)
            os.rename(new, self.folder(run.id))
        for one in list(self.history())[_KEEP:]:
            self.forget(one.id)

    def save_sweep(self, runs: Sequence[Run], varying: Sequence[str], command: str) -> KeptSweep:
        """Keep a sweep over runs that are kept."""
        ids = [run.id for run in runs]
        id = hashlib.sha256(" ".join(ids).encode()).hexdigest()[:16]
        sweep = KeptSweep(id, runs[0].page, runs[0].title, list(varying), ids, command)
        write_text(self._sweeps / f"{id}.json", json.dumps(asdict(sweep)))
        return sweep

    def history(self) -> list[Run | KeptSweep]:
        """Everything that is kept, newest first."""
        found: list[Run | KeptSweep] = [
            run for path in self._runs.glob("*-*") if (run := self.run(path.name))
        ]
        found += [s for path in self._sweeps.glob("*.json") if (s := self.sweep(path.stem))]
        return sorted(found, key=lambda one: one.made, reverse=True)

    def of_page(self, page: str) -> Iterator[Run]:
        """The runs of a page, newest first."""
        return (one for one in self.history() if isinstance(one, Run) and one.page == page)

    def forget(self, id: str) -> bool:
        """Remove a run or a sweep; whether it was there."""
        if self.sweep(id):
            (self._sweeps / f"{id}.json").unlink(missing_ok=True)
        elif self.run(id):
            shutil.rmtree(self.folder(id), ignore_errors=True)
        else:
            return False
        return True


def _record(kind: type[Record], found: dict[str, Any] | None) -> Record | None:
    """A record from its file; none if there is none, or an older version wrote it otherwise."""
    try:
        return kind(**found) if found else None
    except TypeError:
        return None


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found
