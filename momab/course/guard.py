"""What happens inside: a guard that watches, and a worker that runs what a student wrote.

The guard is the first process inside bubblewrap.  Nothing inside can stop or end the first process,
and no other process can read it.  It forks the worker before anything of a student runs, then
counts, twenty times a second, what all processes together use: processor time, memory (also that
which belongs to no process: files in memory, shared segments), processes and threads.  It tells the
grader, and ends everything at once when something is over its limit or hides from it.

The worker executes the student's cells, lets the answers speak, and says over a pipe of its own
what came out, as lines of JSON.
"""

from __future__ import annotations

import builtins
import ctypes
import hashlib
import json
import os
import pickle
import platform
import sys
import time
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momab.course.isolation import PACKAGE

CELL = "<cell"  # how the file names of a student's code objects begin
LINE = 4 * 2**20  # bytes of a message
TICK = 0.05  # seconds between two looks of the guard
TASKS = 64  # processes and threads
_FILE_SIZE = 8 * 2**20
_OPEN_FILES = 64


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
class Assignment:
    """What the grader wants done: the steps, with how much memory, and where to write."""

    steps: tuple[Step, ...]
    memory: int
    private: str
    compiled: bool  # whether the code may want compiled kernels


def main() -> None:
    """The whole life of the first process inside."""
    order: Assignment = pickle.loads(
        sys.stdin.buffer.read()
    )  # from the grader, before anything runs
    channel, report = os.dup(1), os.dup(2)
    nothing = os.open(os.devnull, os.O_RDWR)
    sys.path.pop()  # the folder around this package: the worker must not import what lies beside it
    if order.compiled:
        _lend_compiled_code(Path(order.private, "numba"))
    _prepare()
    evaluate = _evaluator()
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    if sys.platform == "linux":
        worker = os.fork()
        if worker:
            os.close(channel)
            _guard(worker, order.memory * 2**20, report)
    os.close(report)
    _limit(order.memory)
    say = _speaker(channel)
    say("ready")
    _work(order.steps, say, evaluate)
    say("end")
    os._exit(0)


# ---- the guard -----------------------------------------------------------------------------


def _limit(memory: int) -> None:
    """Limits of each process, as far as the system has them; ``memory`` is in megabytes."""
    try:
        import resource
    except ImportError:
        return
    limits = {
        "CORE": 0,
        "FSIZE": _FILE_SIZE,
        "NOFILE": _OPEN_FILES,
        "MSGQUEUE": 0,
        "AS": memory * 2**20,
    }
    if _counts_alone():
        limits["NPROC"] = TASKS
    for name, most in limits.items():
        with suppress(ValueError, OSError, AttributeError):  # macOS does not have them all
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    with suppress(OSError):  # if the machine runs out of memory, this process goes first
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _counts_alone() -> bool:
    """Whether the kernel counts a user's processes in each namespace by itself."""
    if os.getpid() == 1 or os.getppid() != 1:
        return False
    release = platform.release().split(".")
    return [int("".join(filter(str.isdigit, part)) or 0) for part in release[:2]] >= [5, 14]


def _guard(worker: int, memory: int, report: int) -> None:
    """Watch until the worker ends or something is over its limit; then end everything.

    Says ``used SECONDS`` at every look, and last why it ended.
    """
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: no process reads this one

    def tell(*words: object) -> None:
        with suppress(OSError):
            os.write(report, json.dumps(words).encode() + b"\n")

    hidden: set[int] = set()
    while True:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == worker:
                    tell("ended", os.waitstatus_to_exitcode(ended[1]))
                    os._exit(0)
        seconds, used, tasks, closed = _usage(worker)
        if closed & hidden:  # one that is just ending cannot be looked into, either
            tell("over", "died", "it hid from the grader")
            os._exit(0)
        hidden = closed
        tell("used", seconds)
        if used > memory:
            tell("over", "memory", f"it used more than {memory // 2**20} MB of memory in all")
            os._exit(0)
        if tasks > TASKS:
            tell("over", "died", f"it had more than {TASKS} processes and threads")
            os._exit(0)
        time.sleep(TICK)


def _usage(worker: int) -> tuple[float, int, int, set[int]]:
    """What all processes but the guard use: seconds of processor time, bytes of memory, tasks.

    Last, those that cannot be looked into.
    """
    tick = os.sysconf("SC_CLK_TCK")
    own = os.times()
    seconds = own.children_user + own.children_system  # of those that have ended
    memory, tasks = _shared_segments(), 0
    files: dict[tuple[int, int], int] = {}
    closed = set()
    for number in _processes(worker):
        try:
            fields = Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()
            seconds += sum(map(int, fields[11:15])) / tick
            if fields[0] in (b"Z", b"X"):  # it has ended, and no parent has asked yet
                continue
            tasks += int(fields[17])
            memory += _resident(number)
            files |= _unnamed_files(number)
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue
        except PermissionError:
            closed.add(number)
    return seconds, memory + sum(files.values()) + _disk(), tasks, closed


def _processes(worker: int) -> Iterator[int]:
    if os.getpid() != 1:  # without bubblewrap, /proc shows the whole machine
        yield worker
        return
    for name in os.listdir("/proc"):
        if name.isdigit() and name != "1":
            yield int(name)


def _resident(number: int) -> int:
    """Memory that a process has written to; what was there when it was forked counts, too."""
    found = 0
    for line in Path(f"/proc/{number}/status").read_bytes().splitlines():
        if line.startswith((b"RssAnon:", b"RssShmem:")):
            found += int(line.split()[1]) * 1024
    return found


def _unnamed_files(number: int) -> dict[tuple[int, int], int]:
    """The open files without a name, which take memory although no process maps them."""
    found = {}
    for handle in os.listdir(f"/proc/{number}/fd"):
        with suppress(FileNotFoundError):
            facts = os.stat(f"/proc/{number}/fd/{handle}")
            if facts.st_nlink == 0:
                found[facts.st_dev, facts.st_ino] = facts.st_blocks * 512
    return found


def _shared_segments() -> int:
    """Bytes of the System V segments of this namespace, attached or not."""
    if os.getpid() != 1:
        return 0
    with suppress(OSError):
        rows = Path("/proc/sysvipc/shm").read_text(encoding="ascii").splitlines()
        place = rows[0].split().index("rss")
        return sum(int(row.split()[place]) for row in rows[1:])
    return 0


def _disk() -> int:
    """Bytes in the private folder, which lies in memory."""
    if os.getpid() != 1:
        return 0
    facts = os.statvfs(".")
    return (facts.f_blocks - facts.f_bfree) * facts.f_frsize


# ---- the worker ----------------------------------------------------------------------------


def _lend_compiled_code(folder: Path) -> None:
    """Let the worker use what numba has compiled before, which takes it half a minute.

    Numba wants a folder that it can write, named after the folder of the source.
    """
    home = PACKAGE / "engine"
    digest = hashlib.sha1(str(home).encode(), usedforsecurity=False).hexdigest()
    lent = folder / f"{home.name}_{digest}"
    lent.mkdir(parents=True)
    with suppress(OSError):  # without links, it compiles again
        for file in (home / "__pycache__").glob("*.nb[ci]"):
            (lent / file.name).symlink_to(file)


def _speaker(channel: int) -> Callable[..., None]:
    """A function that sends a message; it holds what it needs, whatever is patched later."""
    encode, write = json.JSONEncoder().encode, os.write

    def say(*message: object) -> None:
        try:
            data = encode(message).encode()
        except (TypeError, ValueError, RecursionError):
            data = encode(["raised", "its outcome cannot be written down"]).encode()
        if len(data) >= LINE:
            data = encode(["raised", "its outcome is too large"]).encode()
        data += b"\n"
        while data:
            data = data[write(channel, data) :]

    return say


def _prepare() -> None:
    """What the answers find: one processor, and a `momab.check` that says nothing."""
    import momab
    from momab import exercises

    os.cpu_count = lambda: 1  # few processes are allowed, so no library should plan for them

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
    here, process, leave = os.getpid(), os.getpid, os._exit

    def tell(*message: object) -> None:
        if process() != here:  # a copy that a cell has made must not speak for it
            leave(0)
        say(*message)

    for number, step in enumerate(steps):
        if step.key in answered:
            continue
        tell("start", number)
        try:
            if isinstance(step, Cell):
                exec(_code(step), names)
                tell("done")
            elif step.name not in names:
                tell("undefined", f"the name {step.name} is not defined")
            else:
                answered.add(step.key)
                tell("done", evaluate(step, names[step.name]))
        except MemoryError:
            tell("memory", "it ran out of memory")
            leave(0)
        except BaseException as error:
            tell("raised", describe(error))


def _code(step: Cell) -> types.CodeType:
    name = f"{CELL} {step.key}>"
    return compile(plain_python(step.source), name, "exec", dont_inherit=True)


def plain_python(source: str) -> str:
    """A cell without the lines that only a notebook understands.

    Such a line begins a statement: a ``%`` that continues an expression is a remainder, and
    inside a text it is text.  A cell that Python cannot read even so is left to Python to refuse.
    """
    import ast

    lines = source.splitlines()
    candidates = [n for n, line in enumerate(lines) if line.lstrip().startswith(("%", "!"))]
    if not candidates:
        return source
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    else:
        return source
    # from the top: a line goes if what stands before it is complete without it
    for number in candidates:
        if _complete("\n".join(lines[:number])):
            lines[number] = lines[number][: -len(lines[number].lstrip())] + "pass"
    return "\n".join(lines)


def _complete(source: str) -> bool:
    """Whether nothing is open at the end of some lines: no bracket, no text, no backslash."""
    import io
    import tokenize

    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source + "\n").readline):
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return False
    return depth <= 0 and not source.endswith("\\")


def describe(error: BaseException) -> str:
    """An exception in one line, with the line of the cell that raised it."""
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(CELL):
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)[:200]
    except BaseException:
        text = "an error that cannot be shown"
    where = f" (line {line} of the cell)" if line else ""
    return f"{type(error).__name__}: {text}".rstrip(": ") + where
