"""Files that are whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from momab._util.memory import size_text
from momab.errors import MomabError

PARTIAL = ".partial"

ENOUGH = 50_000_000
"""The bytes that must be free on a disk before a command begins."""


def file_digest(path: Path) -> str:
    """The SHA-256 digest of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_checkout(start: Path | None = None) -> Path | None:
    """The checkout of the book around a folder, by default around the current one."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "_toc.yml").is_file() and (folder / "notebooks").is_dir():
            return folder
    return None


@contextmanager
def atomically(path: Path) -> Iterator[IO[bytes]]:
    """Write a file under a temporary name beside it; it takes its own name when it is whole.

    The bytes are on disk before the name is, so not even a crash leaves half a file.
    """
    partial = path.with_name(f".{path.name}.{uuid4().hex}{PARTIAL}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise MomabError(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        with suppress(OSError):
            partial.unlink()


def write_text(path: Path, text: str) -> Path:
    """Write a text file, whole or not at all, and return its path."""
    with atomically(path) as file:
        file.write(text.encode())
    return path


def require_folder(folder: str | os.PathLike[str], needed: float = ENOUGH) -> Path:
    """The folder, if files can be put into it, though it need not be there yet.

    Raises MomabError otherwise, and when the disk has less room than is ``needed``, in bytes.
    Nothing is left behind.
    """
    path = Path(folder)
    there = next(place for place in (path, *path.absolute().parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
        room = shutil.disk_usage(there).free
    except OSError as error:
        raise MomabError(
            f"{path} cannot be written: {error.strerror}; name a folder that can."
        ) from None
    if room < needed:
        raise MomabError(
            f"the disk of {path} is full: {size_text(room)} are free, and about "
            f"{size_text(needed)} are needed."
        )
    return path


def require_file(path: str | os.PathLike[str], needed: float = ENOUGH) -> Path:
    """The path, if a file can be put there; see :func:`require_folder`."""
    path = Path(path)
    if path.is_dir():
        raise MomabError(f"{path} cannot be written: it is a folder; name a file.")
    require_folder(path.parent, needed)
    return path


OURS = ".momab.json"
"""In a folder of results: the digests of the files that we wrote into it."""


def require_ours(folder: Path, names: Iterable[str]) -> Path:
    """The folder, if files of these names may be written into it.

    A file that is there must be one that :func:`write_ours` wrote, as it wrote it.
    """
    written = _written(require_folder(folder))
    for name in names:
        path = folder / name
        if path.exists() and (path.is_dir() or file_digest(path) != written.get(name)):
            what = "has been changed since we wrote it" if name in written else "is not ours"
            raise MomabError(
                f"{path} {what}, so it is not replaced; name another folder with -o, or move it."
            )
    return folder


def write_ours(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Write text files into a folder and remember them as ours; see :func:`require_ours`."""
    require_ours(folder, files)
    paths = [write_text(folder / name, text) for name, text in files.items()]
    digests = _written(folder) | {path.name: file_digest(path) for path in paths}
    write_text(folder / OURS, json.dumps(digests, indent=0) + "\n")
    return paths


def _written(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / OURS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
