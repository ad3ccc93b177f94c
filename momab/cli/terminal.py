"""What the commands share: paths, numbers and tables as people type and read them, and Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momab._util.files import find_checkout

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType


def typed_number(text: str | float) -> int | float:
    """A number as people type it, 1000 or 1e3; the function that takes it validates it."""
    for kind in (int, float):
        try:
            return kind(text) if isinstance(text, str) else text
        except ValueError:
            continue
    raise typer.BadParameter(f"{str(text)[:60]!r} is not a number.")


Horizon = Annotated[
    float, typer.Option("-T", "--horizon", help="Rounds per run.", parser=typed_number)
]
Runs = Annotated[
    int, typer.Option("-n", "--runs", help="Runs of every policy.", parser=typed_number)
]
Seed = Annotated[int, typer.Option(help="Seed of all streams.", parser=typed_number)]
Dask = Annotated[
    str | None,
    typer.Option(help="Simulate on a cluster: the address of its Dask scheduler (or MOMAB_DASK)."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the table as JSON.")]


def short(path: Path) -> str:
    """A path as people type it: relative when it lies below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def runs_folder() -> Path:
    """Where results go unless a folder is named: _build/runs of a checkout, else runs."""
    checkout = find_checkout()
    return checkout / "_build" / "runs" if checkout else Path.cwd() / "runs"


def safe_name(text: str) -> str:
    """A text as a part of a file's name."""
    return re.sub(r"[^\w.=,+-]+", "-", text).strip("-.")[:80] or "table"


def print_wide(*shown: RenderableType, width: int, highlight: bool = True) -> None:
    """Print tables whose words stay whole.

    A pipe has no width, so there it is ``width``; and where a table does not fit, lines run
    over the edge of the terminal.
    """
    from rich.console import Console
    from rich.measure import Measurement

    console = Console()
    room = console.width if console.is_terminal else width
    for one in shown:
        console.width = 10_000
        needed = Measurement.get(console, console.options, one).minimum  # no word is cut
        console.width = max(room, needed)
        console.print(one, highlight=highlight, crop=False)


def print_json(rows: pd.DataFrame | Iterable[Any]) -> None:
    """Print the rows of a table as a list in JSON; what is no number there is null."""
    if hasattr(rows, "to_json"):
        print(rows.to_json(orient="records", indent=1, double_precision=15))
    else:
        print(json.dumps(list(rows), indent=1, ensure_ascii=False))


def mention_numba() -> None:
    """Say on standard error that numba is missing, where it would help."""
    if find_spec("numba") is None:
        print(
            "momab: numba is not installed, so nothing is compiled: the same digits, some "
            "hundred times slower; the extra 'fast' speeds it up.",
            file=sys.stderr,
        )


def end_on_sigterm() -> None:
    """Let SIGTERM end the command as Ctrl-C does."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)


@contextmanager
def interruptible(otherwise: str = "stopped.") -> Iterator[None]:
    """Let Ctrl-C end the command with code 130 and one sentence: its own, or ``otherwise``."""
    try:
        yield
    except KeyboardInterrupt as stop:
        print(f"momab: {str(stop) or otherwise}", file=sys.stderr)
        raise SystemExit(130) from None
