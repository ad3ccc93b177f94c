"""Where data files are looked for, and a digest of what is there."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_LARGE = 500_000_000  # of larger files size and date must do


def data_folders(data_dir: str | Path | None = None) -> list[Path]:
    """The folders that are searched, in order: the one given, or the usual ones."""
    # not pooch.os_cache, the same folder: importing pooch loads tqdm, which warns in notebooks
    from platformdirs import user_cache_path

    if data_dir is not None:
        return [Path(data_dir).expanduser()]
    chosen = os.environ.get("MOMAB_DATA")
    checkout = Path(__file__).resolve().parents[2]
    return [
        *([Path(chosen).expanduser()] if chosen else []),
        user_cache_path("momab"),
        *([checkout.parent / "shared" / "data"] if (checkout / "pyproject.toml").exists() else []),
    ]


def files_by_name() -> dict[str, Path]:
    """The data files that are there, by name; where two have a name, the one that is found."""
    found: dict[str, Path] = {}
    for folder in data_folders():
        try:
            paths = sorted(path for path in folder.iterdir() if path.is_file())
        except OSError:
            continue
        for path in paths:
            found.setdefault(path.name, path)
    return found


def data_dates() -> list[tuple[str, int, int]]:
    """Name, size and date of the data files: told in a moment, and different after a change."""
    found = [(name, path.stat()) for name, path in sorted(files_by_name().items())]
    return [(name, facts.st_size, facts.st_mtime_ns) for name, facts in found]


def data_digest() -> str:
    """A digest of the data files that are there, wherever they are."""
    digest = hashlib.sha256()
    for name, path in sorted(files_by_name().items()):
        facts = path.stat()
        digest.update(f"{name}\0{facts.st_size}\0".encode())
        if facts.st_size > _LARGE:
            digest.update(str(facts.st_mtime_ns).encode())
        else:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
