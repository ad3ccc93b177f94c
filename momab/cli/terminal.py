"""What the commands share: paths and tables as they are printed, and Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


def short(path: Path) -> str:
    """A path as people type it: relative when it lies below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def print_wide(*shown: RenderableType, width: int, highlight: bool = True) -> None:
    """Print tables; a pipe has no width, so there ``width`` keeps words whole."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = width
    for one in shown:
        console.print(one, highlight=highlight)


@contextmanager
def interruptible(otherwise: str = "stopped.") -> Iterator[None]:
    """Let Ctrl-C end the command with code 130 and one sentence: its own, or ``otherwise``."""
    try:
        yield
    except KeyboardInterrupt as stop:
        print(f"momab: {str(stop) or otherwise}", file=sys.stderr)
        raise SystemExit(130) from None
