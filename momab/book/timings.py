"""Where the time of a build goes: the seconds of every step, those of inner steps taken out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

spent: dict[str, float] = {}
"""Seconds by step, of this process; an owner of a build clears it first."""
_inner: list[float] = []


@contextmanager
def step(name: str) -> Iterator[None]:
    """Add the seconds of a block to a step; what inner steps took is theirs alone."""
    _inner.append(0.0)
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - started
        spent[name] = spent.get(name, 0.0) + seconds - _inner.pop()
        if _inner:
            _inner[-1] += seconds
