"""Running untrusted cells and answers in a process of their own, step by step.

The parent (`run`) starts a child inside the fence (see `momab.course.fence`) and gives it a list of
steps: student's cells to execute, and answers to let speak.  The child says over a pipe of its own
where it is and what came out, as lines of JSON; what the student's code prints goes nowhere.  The
parent believes nothing: it reads a bounded number of bytes, accepts steps only in their order,
never unpickles or evaluates what comes back, and judges the outcomes itself, so a child that lies
can at best claim outcomes, which is no more than giving them as an answer.

A step that takes too long, takes too much memory or ends the process is given up; the child is
started again without it, and the other steps of the same submission keep their results.  Time is
processor time where the system tells it (Linux), so that a busy machine harms nobody; a step that
waits instead of computing ends after three times as long by the clock.

The child never sees what is right: it gets the arguments of the calls, and the modules that judge
are hidden from it.
"""

from __future__ import annotations

import builtins
import hashlib
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
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momab.course import fence
from momab.errors import MomabError

CLOCK = 3  # by the clock, a step may take this many times its processor time
_LINE = 4 * 2**20  # bytes of a message
_MESSAGES = 16 * 2**20  # bytes of all messages of a child
_NOTICES = 5  # refusals of a step that are reported
_STARTUP = 120.0  # seconds until the trusted part of a child must have run
_TICK = 0.05
_LIBRARY = re.compile(r"from\s+momab|momab\.(?!check\b)")  # code that may want compiled kernels
_OPTIONS = ("-P", "-s", "-S", "-B", "-X", "utf8")  # nothing of the user, no site, no bytecode


class SandboxError(MomabError):
    """The grading process cannot be started here; the command exits with code 1."""

    exit_code = 1


@dataclass(frozen=True)
class Cell:
    """A student's code cell; an answer cell names its exercise."""

    key: str
    source: str


@dataclass(frozen=True)
class Answer:
    """The place where an exercise's answer speaks: its name, and the calls it gets.

    ``function`` tells whether it is called at all.  A step that comes again later in the list
    speaks only if the name was not known before.
    """

    key: str
    name: str
    function: bool
    calls: tuple[tuple[Any, ...], ...] = ()


Step = Cell | Answer


@dataclass(frozen=True)
class Limits:
    """Seconds of processor time per step, megabytes of memory, restarts, and seconds overall."""

    seconds: float = 10.0
    memory: int = 2048
    restarts: int = 24
    total: float = 600.0


@dataclass
class SandboxResult:
    """What became of a step.

    ``kind`` is ``done``, ``raised``, ``undefined`` (the answer's name), ``timeout``, ``memory``,
    ``died`` or ``skipped``; ``outcomes`` are JSON data of unknown honesty.
    """

    kind: str
    detail: str = ""
    outcomes: object = None
    refused: list[str] = field(default_factory=list)


# ---- the parent ----------------------------------------------------------------------------


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
            with _Child(steps, limits) as child:
                return child.follow(results, deadline, stop)
        except SandboxError:
            if trial == 2:
                raise
    return None


def _spoken(result: SandboxResult | None) -> bool:
    return result is not None and result.kind != "undefined"


def probe(limits: Limits) -> list[str]:
    """Start a process with nothing to do; the layers of the fence that hold here."""
    with _Child([], limits) as child:
        child.follow({}, time.monotonic() + limits.total, threading.Event())
        return child.layers


def import_path() -> list[str]:
    """Where the child finds modules: in the Python installation, not beside this package."""
    base = Path(sys.base_prefix).resolve()
    return [
        entry
        for entry in sys.path
        if Path(entry).name in ("site-packages", "dist-packages")
        or (Path(entry).is_absolute() and Path(entry).resolve().is_relative_to(base))
    ]


_PACKAGE = Path(__file__).resolve().parents[1]


def _lend_compiled_code(folder: Path) -> None:
    """Let the child use the kernels that numba has compiled before, which takes it a minute.

    Numba wants a folder that it can write, named after the folder of the source.
    """
    home = _PACKAGE / "engine"
    digest = hashlib.sha1(str(home).encode(), usedforsecurity=False).hexdigest()
    lent = folder / f"{home.name}_{digest}"
    lent.mkdir(parents=True)
    with suppress(OSError):  # without links, it compiles again
        for file in (home / "__pycache__").glob("*.nb[ci]"):
            (lent / file.name).symlink_to(file)


class _Child:
    """A grading process: its pipe, its private folder and its end."""

    def __init__(self, steps: Sequence[Step], limits: Limits) -> None:
        self.steps = list(steps)
        self.limits = limits
        self.layers: list[str] = []
        self.private = Path(tempfile.mkdtemp(prefix="momab-grade-")).resolve()
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=1000)
        self._last_words = ""
        self._position = -1  # the step that it is at
        self._refused: list[str] = []  # what was refused to it in this step

    def __enter__(self) -> _Child:
        path = [*import_path(), str(_PACKAGE.parent)]
        shared = os.path.join(sys.base_prefix, "lib")  # libraries that modules load
        readable = [os.path.realpath(place) for place in (*import_path(), shared, str(_PACKAGE))]
        order = {
            "steps": self.steps,
            "memory": self.limits.memory,
            "ground": fence.Ground(
                str(self.private), tuple(readable), (str(_PACKAGE / "exercises"),)
            ),
        }
        start = (
            f"import sys; sys.path[:] = {path!r}; from momab.course.sandbox import child; child()"
        )
        if any(_LIBRARY.search(step.source) for step in self.steps if isinstance(step, Cell)):
            _lend_compiled_code(self.private / "numba")
        try:
            self._process = subprocess.Popen(
                [sys.executable, *_OPTIONS, "-c", start],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,  # until the fence is closed
                cwd=self.private,
                env=self._environment(),
                start_new_session=True,
            )
        except OSError as error:
            self._tidy()
            raise SandboxError(f"a process cannot be started: {error.strerror}.") from None
        self._clock = _Clock(self._process.pid, self.limits.seconds)
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()
        with suppress(OSError):  # it may be gone already, which is found out below
            assert self._process.stdin is not None
            with self._process.stdin as pipe:
                pipe.write(pickle.dumps(order))
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()
        self._tidy()

    def _environment(self) -> dict[str, str]:
        private = str(self.private)
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

    def _read(self) -> None:
        """Pass on the child's lines, as many bytes as a child may send; then None."""
        assert self._process.stdout is not None
        left = _MESSAGES
        with suppress(OSError, ValueError):
            while left > 0 and (line := self._process.stdout.readline(_LINE)):
                left -= len(line)
                self._lines.put(line)
        self._lines.put(None)

    def follow(
        self, results: dict[str, SandboxResult], deadline: float, stop: threading.Event
    ) -> str | None:
        """Take down what the child reports until it ends; the step that it broke off at."""
        looked = started = time.monotonic()
        while True:
            try:
                line = self._lines.get(timeout=_TICK)
            except queue.Empty:
                line = b""
            if line is None:
                return self._broke_off(results)
            word = self._take(line, results)
            if word == "end":
                silent = any(
                    step.key not in results for step in self.steps if isinstance(step, Answer)
                )
                return self._broke_off(results) if silent else None
            if word == "memory":
                return self._step.key
            now = time.monotonic()
            if now - looked < _TICK:
                continue
            looked = now
            if stop.is_set():
                return None
            if self._position < 0:
                if now - started > _STARTUP:
                    raise SandboxError(self._why_not("took too long to start"))
            elif self._clock.over() or now > deadline:
                results[self._step.key] = SandboxResult(
                    "timeout", self._clock.told, None, self._refused
                )
                return self._step.key

    def _take(self, line: bytes, results: dict[str, SandboxResult]) -> str:
        """Take down one message, if it makes sense at this place; its first word."""
        word, arguments = _message(line)
        if not self.layers:
            if word == "ready":
                self.layers = [str(layer) for layer in arguments[:8]]
            elif line.strip():
                self._last_words = line.decode("utf-8", "replace").strip()[:300]
        elif word == "start" and _next(arguments, self._position, len(self.steps)):
            self._position, self._refused = arguments[0], []
            results.pop(self._step.key, None)
            self._clock.start()
        elif self._position < 0:
            return word if word == "end" else ""
        elif word == "refused" and len(self._refused) < _NOTICES:
            self._refused.append(_text(arguments)[:200] or "something")
        elif word in ("done", "raised", "undefined", "memory"):
            results[self._step.key] = _result(word, arguments, self._refused)
        return word

    @property
    def _step(self) -> Step:
        return self.steps[self._position]

    def _broke_off(self, results: dict[str, SandboxResult]) -> str | None:
        """The child fell silent before its end: say why, as far as it can be told."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        code = self._process.poll()
        if self._position < 0:
            raise SandboxError(self._why_not(f"ended with code {code}"))
        kind = "died"
        if code is None:
            detail = "it talked too much, or cut itself off from the grader"
        elif code == -9:  # it was not killed from here
            kind, detail = "memory", "the system ended the process"
        elif code < 0:
            detail = f"the Python process was ended by signal {-code}"
        else:
            detail = "it ended the Python process"
        results[self._step.key] = SandboxResult(kind, detail, None, self._refused)
        return self._step.key

    def _why_not(self, what: str) -> str:
        said = f": {self._last_words}" if self._last_words else ""
        return (
            f"the grading process {what} with {self.limits.memory} MB of memory, before anything "
            f"of a student ran{said}."
        )

    def _kill(self) -> None:
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        while self._lines.full():  # a reader that waits for room can finish
            with suppress(queue.Empty):
                self._lines.get_nowait()
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdout.close()

    def _tidy(self) -> None:
        shutil.rmtree(self.private, ignore_errors=True)


class _Clock:
    """Watches one step: its processor time, and its time by the clock."""

    def __init__(self, process: int, seconds: float) -> None:
        self._stat = Path(f"/proc/{process}/stat")
        self.seconds = seconds
        self.told = ""
        self._processor = self._wall = 0.0

    def start(self) -> None:
        self._processor, self._wall = self._used(), time.monotonic()

    def _used(self) -> float:
        """Processor seconds of the process, 0 where the system does not tell."""
        try:
            fields = self._stat.read_bytes().rpartition(b")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return 0.0

    def over(self) -> bool:
        if self._used() - self._processor > self.seconds:
            self.told = f"it computed for more than {self.seconds:g} s"
        elif time.monotonic() - self._wall > CLOCK * self.seconds:
            self.told = f"it took more than {CLOCK * self.seconds:g} s"
        return bool(self.told)


def _message(line: bytes) -> tuple[str, list[Any]]:
    """A line from the child: its first word and what follows; ('', []) if it makes no sense."""
    try:
        data = json.loads(line) if line else None
    except (ValueError, RecursionError):
        return "", []
    if isinstance(data, list) and data and isinstance(data[0], str):
        return data[0], data[1:]
    return "", []


def _next(arguments: list[Any], position: int, count: int) -> bool:
    """Whether a child may go on to this step: only forwards."""
    return bool(arguments) and type(arguments[0]) is int and position < arguments[0] < count


def _result(word: str, arguments: list[Any], refused: list[str]) -> SandboxResult:
    if word == "done":
        return SandboxResult("done", outcomes=arguments[0] if arguments else None, refused=refused)
    return SandboxResult(word, _text(arguments)[:500], refused=refused)


def _text(arguments: list[Any]) -> str:
    """The text of a message; anything else is not even looked at."""
    return arguments[0] if arguments and isinstance(arguments[0], str) else ""


# ---- the child -----------------------------------------------------------------------------


def child() -> None:
    """The whole life of a grading process."""
    fence.die_with_parent()
    order = pickle.loads(sys.stdin.buffer.read())  # from the parent, before anything else runs
    channel = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    say = _speaker(channel)
    sys.path.pop()  # the folder around this package: what lies beside it is nobody's business
    _prepare()
    evaluate = _evaluator()
    layers = fence.close_fence(order["ground"], order["memory"], lambda what: say("refused", what))
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    say("ready", *layers)
    _work(order["steps"], say, evaluate)
    say("end")
    os._exit(0)


def _speaker(channel: int) -> Callable[..., None]:
    """A function that sends a message; it holds what it needs, whatever is patched later."""
    encode, write = json.JSONEncoder().encode, os.write

    def say(*message: object) -> None:
        try:
            data = encode(message).encode()
        except (TypeError, ValueError, RecursionError):
            data = encode(["raised", "its outcome cannot be written down"]).encode()
        if len(data) >= _LINE:
            data = encode(["raised", "its outcome is too large"]).encode()
        data += b"\n"
        while data:
            data = data[write(channel, data) :]

    return say


def _prepare() -> None:
    """What the answers find: one processor, and a `momab.check` that says nothing."""
    import momab
    from momab import exercises

    os.cpu_count = lambda: 1  # no further processes, so no library should plan for them

    def check(name: str, answer: object) -> None:
        """Say nothing: the grader checks by itself."""

    momab.check = exercises.check = check
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    main.__dict__["display"] = lambda *things, **more: None  # as in a notebook
    sys.modules["__main__"] = main


def _evaluator() -> Callable[[Answer, object], list[object]]:
    """A function that lets an answer speak and gives the outcomes as JSON data."""
    from momab.exercises.core import Case, Exercise

    def evaluate(step: Answer, answer: object) -> list[object]:
        cases = (Case("", step.calls, ""),) if step.function else ()
        exercise = Exercise(step.key, "", (), None, cases)
        return [outcome.to_json() for outcome in exercise.outcomes(answer)]

    return evaluate


def _work(
    steps: Sequence[Step],
    say: Callable[..., None],
    evaluate: Callable[[Answer, object], list[object]],
) -> None:
    """Do the steps in order; an exception in one does not stop the next."""
    names = sys.modules["__main__"].__dict__
    answered = set()
    for number, step in enumerate(steps):
        if step.key in answered:
            continue
        say("start", number)
        try:
            if isinstance(step, Cell):
                exec(_code(step), names)
                say("done")
            elif step.name not in names:
                say("undefined", f"the name {step.name} is not defined")
            else:
                answered.add(step.key)
                say("done", evaluate(step, names[step.name]))
        except MemoryError:
            say("memory", "it ran out of memory")
            os._exit(0)
        except BaseException as error:
            say("raised", describe(error))


def _code(step: Cell) -> types.CodeType:
    name = f"{fence.CELL} {step.key}>"
    return compile(plain_python(step.source), name, "exec", dont_inherit=True)


def plain_python(source: str) -> str:
    """A cell without the lines that only a notebook understands."""
    lines = source.splitlines()
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)


def describe(error: BaseException) -> str:
    """An exception in one line, with the line of the cell that raised it."""
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(fence.CELL):
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)[:200]
    except BaseException:
        text = "an error that cannot be shown"
    where = f" (line {line} of the cell)" if line else ""
    return f"{type(error).__name__}: {text}".rstrip(": ") + where
