"""Files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from momab.errors import MomabError

PARTIAL = ".partial"


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
        raise MomabError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            partial.unlink()


def write_text(path: Path, text: str) -> Path:
    """Write a text file, whole or not at all, and return its path."""
    with atomically(path) as file:
        file.write(text.encode())
    return path
