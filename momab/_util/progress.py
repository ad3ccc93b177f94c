"""What a person at the terminal sees and does: one progress bar, one shield against Ctrl-C.

>>> with progress(3, "simulating", "runs", quiet=True) as bar:
...     for _ in range(3):
...         bar.advance()

Bars go to standard error and need rich only when they are shown.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress


class ProgressBar:
    """One line of a progress display; it does nothing where nothing is shown."""

    def __init__(self, display: Progress | None = None, line: Any = None) -> None:
        """Belong to a line of rich's display, or to none."""
        self._display, self._line = display, line

    def advance(self, n: int = 1) -> None:
        """Say that n more are done."""
        if self._display is not None:
            self._display.advance(self._line, n)

    def update(self, done: int, total: int | None = None) -> None:
        """Say how many are done in all, and of how many if that was not known."""
        if self._display is not None:
            self._display.start_task(self._line)
            self._display.update(self._line, completed=done, total=total)

    def finish(self) -> None:
        """Fill the line and stop its clock."""
        if self._display is not None:
            [task] = [task for task in self._display.tasks if task.id == self._line]
            total = task.total or 1
            self._display.update(self._line, completed=total, total=total)
            self._display.stop_task(self._line)


def _quiet(quiet: bool | None) -> bool:
    return not sys.stderr.isatty() if quiet is None else quiet


def _display(unit: str, time_left: bool) -> Progress:
    """A display on standard error: name, bar, how many of how many, time."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    count = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns: list[ProgressColumn] = [TextColumn("{task.description}"), BarColumn(), count]
    if time_left:
        what = "elapsed" if unit in ("", "bytes") else f"{unit}, elapsed"
        columns += [TextColumn(what), TimeElapsedColumn(), TextColumn("left")]
        columns += [TimeRemainingColumn()]
    else:
        columns += [TimeElapsedColumn()]
    return Progress(*columns, console=Console(stderr=True))


@contextmanager
def progress(
    total: int | None, what: str, unit: str = "", *, done: int = 0, quiet: bool | None = None
) -> Iterator[ProgressBar]:
    """Show one bar with the time left.

    Parameters
    ----------
    total : int or None
        How many there are; None if that is unknown.
    what : str
        What is being done, such as "simulating".
    unit : str, optional
        What is counted, such as "runs"; "bytes" are shown as kB, MB, ...
    done : int, optional
        How many were done before.
    quiet : bool, optional
        Show nothing; unless told, when standard error is no terminal.

    Yields
    ------
    ProgressBar
    """
    if _quiet(quiet):
        yield ProgressBar()
        return
    with _display(unit, time_left=True) as display:
        yield ProgressBar(display, display.add_task(what, total=total, completed=done))


@contextmanager
def tasks(names: list[str], *, quiet: bool | None = None) -> Iterator[dict[str, ProgressBar]]:
    """Show one line per task, each with its own clock, which :meth:`ProgressBar.update` starts.

    Parameters
    ----------
    names : list of str
        The tasks, in the order of the lines.
    quiet : bool, optional
        Show nothing; unless told, when standard error is no terminal.

    Yields
    ------
    dict
        The line of every task.
    """
    if _quiet(quiet):
        yield {name: ProgressBar() for name in names}
        return
    with _display("", time_left=False) as display:
        yield {
            name: ProgressBar(display, display.add_task(name, start=False, total=None))
            for name in names
        }


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a Ctrl-C wait until the block is done.

    Writers of archives turn an interruption into an error of their own.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            signal.raise_signal(signal.SIGINT)
