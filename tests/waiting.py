"""The one way in which a test waits: look again until it is so, and fail with what was missing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE = 300.0  # seconds, many times what anything takes on a busy machine
PAUSE = 0.02  # seconds between two looks


def pause() -> None:
    """Let others work."""
    time.sleep(PAUSE)


def until(
    condition: Callable[[], Found],
    what: str,
    seconds: float = PATIENCE,
    between: Callable[[], object] = pause,
) -> Found:
    """Wait until a condition holds, and return what it found.

    ``between`` is done between two looks: a page in a browser receives its events only if it works.
    """
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:g} seconds in vain for {what}; last: {found!r}")
        between()
    return found
