"""Running untrusted cells and answers in a process of their own, step by step.

`run_steps` starts a process inside bubblewrap (`momab.course.isolation`) and gives it a list of
steps: student's cells to execute, and answers to let speak (`momab.course.guard`).  It hears over
one pipe from the worker where it is and what came out, over another from the guard what is used.
It believes nothing of the first: it reads a bounded number of bytes, accepts steps only in their
order, never unpickles or evaluates what comes back, and has the outcomes judged elsewhere, so a
worker that lies can at best claim outcomes, which is no more than giving them as an answer.

A step that takes too long, takes too much memory or ends the process is given up; the process is
started again without it, and the other steps of the same submission keep their results.  Time is
processor time, so that a busy machine costs no student a mark; a step that waits instead of
computing ends after three times as long by the clock.

The process never sees what is right: it gets the arguments of the calls, and the modules that judge
are not there.  With ``trust`` there is no bubblewrap and hence nothing of this but the limits.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momab.course import isolation
from momab.course.guard import LINE, TASKS, TICK, Answer, Assignment, Cell, Step
from momab.errors import MomabError

__all__ = ["Answer", "Cell", "Limits", "SandboxError", "SandboxResult", "Step", "run_steps"]

CLOCK = 3  # by the clock, a step may take this many times its processor time
_MESSAGES = 16 * 2**20  # bytes of all messages of a worker
_STARTUP = 120.0  # seconds until the trusted part of a process must have run
_SILENCE = 30.0  # seconds without a word from the guard, which speaks all the time
_LIBRARY = re.compile(r"from\s+momab|momab\.(?!check\b)")  # code that may want compiled kernels
_OPTIONS = ("-P", "-s", "-S", "-B", "-X", "utf8")  # nothing of the user, no site, no bytecode


class SandboxError(MomabError):
    """The grading process cannot be started here; the command exits with code 1."""

    exit_code = 1


@dataclass(frozen=True)
class Limits:
    """Seconds of processor time per step, megabytes of memory, restarts, and seconds overall.

    ``trust`` runs without bubblewrap what one would run as one's own.
    """

    seconds: float = 10.0
    memory: int = 2048
    restarts: int = 24
    total: float = 600.0
    trust: bool = False


@dataclass
class SandboxResult:
    """What became of a step.

    ``kind`` is ``done``, ``raised``, ``undefined`` (the answer's name), ``timeout``, ``memory``,
    ``died`` or ``skipped``; ``outcomes`` are JSON data of unknown honesty.
    """

    kind: str
    detail: str = ""
    outcomes: object = None


def run_steps(
    steps: Sequence[Step], limits: Limits, stop: threading.Event | None = None
) -> dict[str, SandboxResult]:
    """Run all steps in as few processes as it takes; what became of each, by its key."""
    stop = stop or threading.Event()
    results: dict[str, SandboxResult] = {}
    finished: set[str] = set()  # answers that have spoken, and steps that were given up
    deadline = time.monotonic() + limits.total
    for _ in range(limits.restarts + 1):
        todo = [step for step in steps if step.key not in finished]
        if not any(isinstance(step, Answer) for step in todo):
            break
        given_up = _attempt(todo, limits, results, deadline, stop)
        finished |= {
            step.key for step in todo if isinstance(step, Answer) and _spoken(results.get(step.key))
        }
        if given_up is None or stop.is_set() or time.monotonic() > deadline:
            break
        finished.add(given_up)
    for step in steps:
        results.setdefault(
            step.key, SandboxResult("skipped", "the time for this notebook was used up")
        )
    return results


def _attempt(
    steps: Sequence[Step],
    limits: Limits,
    results: dict[str, SandboxResult],
    deadline: float,
    stop: threading.Event,
) -> str | None:
    """Run steps in one process; the step that it broke off at, if it did.

    A process that ends before its first step is tried again: the machine may be short of memory.
    """
    for trial in range(3):
        try:
            with _Process(steps, limits) as process:
                return process.follow(results, deadline, stop)
        except SandboxError:
            if trial == 2 or stop.is_set():
                raise
            time.sleep(trial)
    return None


def _spoken(result: SandboxResult | None) -> bool:
    return result is not None and result.kind != "undefined"


def probe(limits: Limits) -> str:
    """Start a process with nothing to do; in a few words, what holds around it."""
    if not limits.trust:
        isolation.demand()
    with _Process([], limits) as process:
        process.follow({}, time.monotonic() + limits.total, threading.Event())
    around = "none, all notebooks are trusted" if limits.trust else _holds()
    return f"{around}; {limits.memory} MB of memory, {limits.seconds:g} s for a step"


def _holds() -> str:
    return (
        f"bubblewrap {isolation.version()}, own processes (at most {TASKS}), no network, "
        f"{isolation.DISK // 2**20} MB of private disk"
    )


class _Process:
    """A grading process: its pipes and its end."""

    def __init__(self, steps: Sequence[Step], limits: Limits) -> None:
        self.steps = list(steps)
        self.limits = limits
        self._ready = False
        self._lines: queue.Queue[tuple[str, bytes]] = queue.Queue(maxsize=1000)
        self._last_words = ""
        self._over: tuple[str, str] | None = None  # what the guard ended it for
        self._code: int | None = None  # with what the worker ended
        self._position = -1  # the step that it is at
        self._clock = _Clock(limits.seconds)
        self._folder = ""

    def __enter__(self) -> _Process:
        if self.limits.trust:
            self._folder = str(Path(tempfile.mkdtemp(prefix="momab-grade-")).resolve())
        try:
            self._start()
        except OSError as error:
            self._tidy()
            raise SandboxError(f"a process cannot be started: {error.strerror}.") from None
        self._readers = [
            threading.Thread(target=self._read, args=(name, _MESSAGES), daemon=True)
            for name in ("stdout", "stderr")
        ]
        for reader in self._readers:
            reader.start()
        private = self._folder or isolation.PRIVATE
        compiled = any(_LIBRARY.search(s.source) for s in self.steps if isinstance(s, Cell))
        order = Assignment(tuple(self.steps), self.limits.memory, private, compiled)
        with suppress(OSError):  # it may be gone already, which is found out below
            assert self._process.stdin is not None
            with self._process.stdin as pipe:
                pipe.write(pickle.dumps(order))
        return self

    def _start(self) -> None:
        path = [*isolation.import_path(), str(isolation.PACKAGE.parent)]
        start = f"import sys; sys.path[:] = {path!r}; from momab.course.guard import main; main()"
        command = [sys.executable, *_OPTIONS, "-c", start]
        environment = _environment(self._folder or isolation.PRIVATE)
        with isolation.call_filter() as files:
            if not self.limits.trust:
                command = isolation.enclosed(command, environment, files)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment if self.limits.trust else None,
                cwd=self._folder or None,
                start_new_session=True,
                pass_fds=() if self.limits.trust else files,
            )

    def __exit__(self, *_: object) -> None:
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        while any(reader.is_alive() for reader in self._readers):  # until the last has let go
            with suppress(queue.Empty):
                self._lines.get(timeout=0.01)
            if self.limits.trust:  # where a process that has left the session may hold on
                break
        for pipe in (self._process.stdout, self._process.stderr):
            with suppress(OSError, AttributeError):
                pipe.close()  # type: ignore[union-attr]
        self._tidy()

    def _tidy(self) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _read(self, name: str, left: int) -> None:
        """Pass on the lines of a pipe, of the worker's only so many bytes; then an empty one."""
        pipe = getattr(self._process, name)
        with suppress(OSError, ValueError):
            while left > 0 and (line := pipe.readline(LINE)):
                left -= len(line) if name == "stdout" else 0
                self._lines.put((name, line))
        self._lines.put((name, b""))
        with suppress(OSError, ValueError):  # what is too much is not kept
            while pipe.read(2**16):
                pass

    def follow(
        self, results: dict[str, SandboxResult], deadline: float, stop: threading.Event
    ) -> str | None:
        """Take down what the process reports until it ends; the step that it broke off at."""
        looked = heard = started = time.monotonic()
        open_pipes = {"stdout", "stderr"}
        while True:
            name, line = "", b""
            with suppress(queue.Empty):
                name, line = self._lines.get(timeout=TICK)
            now = time.monotonic()
            if name and not line:
                open_pipes.discard(name)
                if name == "stdout" and self._talked_on(open_pipes):
                    self._over = "died", "it talked too much, or cut itself off from the grader"
                if self._over or not open_pipes:
                    return self._broke_off(results)
            elif name == "stderr":
                heard = now
                self._hear(line)
            else:
                word = self._take(line, results)
                if word == "end":
                    silent = [s for s in self.steps if isinstance(s, Answer)]
                    if all(step.key in results for step in silent):
                        return None
                if word == "memory":
                    return self._step.key
            if self._over:
                return self._broke_off(results)
            if now - looked < TICK:
                continue
            looked = now
            if stop.is_set():
                return None
            if self._position < 0:
                if now - started > _STARTUP:
                    raise SandboxError(self._why_not("took too long to start"))
            elif self._clock.over() or now > deadline:
                told = self._clock.told or "the time for this notebook was used up"
                results[self._step.key] = SandboxResult("timeout", told)
                return self._step.key
            elif sys.platform == "linux" and now - heard > _SILENCE:
                raise SandboxError("the guard of the grading process fell silent.")

    def _talked_on(self, open_pipes: set[str]) -> bool:
        """Whether the worker lives on although its pipe is closed or full."""
        end = time.monotonic() + 2
        while self._position >= 0 and time.monotonic() < end:
            if self._over or self._code is not None or "stderr" not in open_pipes:
                return False
            with suppress(queue.Empty):
                _, line = self._lines.get(timeout=TICK)
                self._hear(line)
                if not line:
                    open_pipes.discard("stderr")
        return self._position >= 0

    def _hear(self, line: bytes) -> None:
        """A word of the guard, or what the trusted part says in its distress."""
        word, arguments = _message(line)
        if word == "used" and arguments and isinstance(arguments[0], int | float):
            self._clock.used = float(arguments[0])
        elif word == "over" and len(arguments) == 2:
            self._over = str(arguments[0]), str(arguments[1])
        elif word == "ended" and arguments and isinstance(arguments[0], int):
            self._code = arguments[0]
        elif not self._ready and line.strip():
            self._last_words = line.decode("utf-8", "replace").strip()[:300]

    def _take(self, line: bytes, results: dict[str, SandboxResult]) -> str:
        """Take down one message, if it makes sense at this place; its first word."""
        word, arguments = _message(line)
        if not self._ready:
            self._ready = word == "ready"
        elif word == "start" and _next(arguments, self._position, len(self.steps)):
            self._position = arguments[0]
            results.pop(self._step.key, None)
            self._clock.start()
        elif self._position < 0:
            return word if word == "end" else ""
        elif word in ("done", "raised", "undefined", "memory"):
            results[self._step.key] = _result(word, arguments)
        return word

    @property
    def _step(self) -> Step:
        return self.steps[self._position]

    def _broke_off(self, results: dict[str, SandboxResult]) -> str | None:
        """The process ended before its time: say why, as far as it can be told."""
        if self._position < 0:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=2)
            raise SandboxError(self._why_not(f"ended with code {self._process.poll()}"))
        kind, detail = self._over or ("died", "it ended the Python process")
        code = self._code if self._code is not None else 0
        if self._over is None and code == -9:  # it was not killed from here
            kind, detail = "memory", "the system ended the process"
        elif self._over is None and code < 0:
            detail = f"the Python process was ended by signal {-code}"
        results[self._step.key] = SandboxResult(kind, detail)
        return self._step.key

    def _why_not(self, what: str) -> str:
        said = f": {self._last_words}" if self._last_words else ""
        return (
            f"the grading process {what} with {self.limits.memory} MB of memory, before anything "
            f"of a student ran{said}."
        )


def _environment(private: str) -> dict[str, str]:
    one = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return {
        **kept,
        **dict.fromkeys(one, "1"),
        **dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), private),
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": private,
        "NUMBA_CACHE_DIR": os.path.join(private, "numba"),
        "PATH": os.defpath,
        "PYTHONHASHSEED": "0",
    }


class _Clock:
    """Watches one step: its processor time, as the guard tells it, and its time by the clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.used = 0.0  # processor seconds of all processes so far
        self.told = ""
        self._processor = self._wall = 0.0

    def start(self) -> None:
        self._processor, self._wall = self.used, time.monotonic()

    def over(self) -> bool:
        if self.used - self._processor > self.seconds:
            self.told = f"it computed for more than {self.seconds:g} s"
        elif time.monotonic() - self._wall > CLOCK * self.seconds:
            self.told = f"it took more than {CLOCK * self.seconds:g} s"
        return bool(self.told)


def _message(line: bytes) -> tuple[str, list[Any]]:
    """A line from inside: its first word and what follows; ('', []) if it makes no sense."""
    try:
        data = json.loads(line) if line else None
    except (ValueError, RecursionError):
        return "", []
    if isinstance(data, list) and data and isinstance(data[0], str):
        return data[0], data[1:]
    return "", []


def _next(arguments: list[Any], position: int, count: int) -> bool:
    """Whether a worker may go on to this step: only forwards."""
    return bool(arguments) and type(arguments[0]) is int and position < arguments[0] < count


def _result(word: str, arguments: list[Any]) -> SandboxResult:
    if word == "done":
        return SandboxResult("done", outcomes=arguments[0] if arguments else None)
    text = arguments[0] if arguments and isinstance(arguments[0], str) else ""
    return SandboxResult(word, text[:500])
