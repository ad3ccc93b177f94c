"""Processes that end with the one that started them, and by its hand only."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


def end_with_parent(every: float = 1.0) -> None:
    """End this process soon after the one that started it, however that one ended.

    A pipe tells an idle worker that its owner is gone, unless another process holds the pipe
    open; and it tells a busy one nothing.
    """
    started_by = multiprocessing.parent_process()
    parent = os.getppid() if started_by is None else started_by.pid

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """What is started here does not hear Ctrl-C, not even while it begins: we end it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
