"""What does not fit into memory is found before the work, and said in one sentence."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from momab.errors import MomabError

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available_memory() -> int | None:
    """How many bytes a process can have here; None where the system does not say."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
    if not found and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _LIMITS:
        try:
            found.append(int(Path(path).read_text()))
        except (OSError, ValueError):
            continue
    return min(found, default=None)


def require_memory(needed: float, what: str) -> None:
    """Raise MomabError if that many bytes are not to be had; ``what`` is what needs them."""
    there = available_memory()
    needed = float(min(needed, 10**300))  # whole numbers may be too large for a float
    if there is not None and needed > there:
        raise MomabError(
            f"{what} would need about {size_text(needed)} of memory, and {size_text(there)} "
            "are available; choose smaller sizes."
        )


def size_text(count: float) -> str:
    """A number of bytes as people say it."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} PB"
