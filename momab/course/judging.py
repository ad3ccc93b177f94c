"""Judging outcomes in a process of its own, with limits of time and memory.

The judge runs nothing that a student wrote: it compares plain data.  But data can be made to be
slow to compare, so it may take only so long; one that is too slow is replaced, and the answer is
told.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from momab.errors import MomabError
from momab.exercises import Exercise, Outcome, Part, find_exercise
from momab.exercises.draws import Draw

_MEMORY = 4 * 2**30


@dataclass(frozen=True)
class Judgement:
    """What an answer's outcomes came to; ``share`` is the share of the points."""

    share: float
    status: str
    hint: str
    parts: tuple[Part, ...] = ()


def asked(name: str, seed: int, student: str) -> Exercise:
    """An exercise as it is asked when a student's answer is graded: with drawn arguments."""
    return find_exercise(name).fresh(Draw(seed, student, name))


def judge(exercise: Exercise, outcomes: object) -> Judgement:
    """Judge outcomes of unknown honesty."""
    try:
        if not isinstance(outcomes, list):
            raise MomabError("there are no outcomes")
        read = [Outcome.from_json(item) for item in outcomes]
        verdict = exercise.judge(read)
    except (Exception, RecursionError) as error:  # a made-up outcome must not stop the class
        hint = f"The outcome cannot be compared ({type(error).__name__})."
        return Judgement(0.0, "wrong", hint)
    raised = [outcome for outcome in read if outcome.raised]
    if verdict.right:
        return Judgement(1.0, "right", "", verdict.parts)
    if any("MemoryError" in outcome.raised for outcome in raised):
        status = "memory"
    else:
        status = "crashed" if raised else "wrong"
    hint = verdict.hint if status == "wrong" else f"A call of the answer raised {raised[0].error}."
    return Judgement(verdict.share, status, hint, verdict.parts)


# ---- the process ---------------------------------------------------------------------------


def take_answers() -> None:
    """The life of a judge: a line of JSON in, a line of JSON out."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    asked_before: dict[tuple[str, int, str], Exercise] = {}
    for line in sys.stdin:
        request = json.loads(line)
        key = request["exercise"], request["seed"], request["student"]
        if key not in asked_before:
            asked_before.clear()
            asked_before[key] = asked(*key)
        found = judge(asked_before[key], request["outcomes"])
        parts = [[part.what, part.right, part.found] for part in found.parts]
        answer = [found.share, found.status, found.hint, parts]
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


class Judges:
    """Some judges, for as many threads; each is started when it is first needed."""

    def __init__(self, count: int, seconds: float) -> None:
        """``seconds`` is what judging one answer may take, by the clock."""
        self._seconds = seconds
        self._free: queue.Queue[subprocess.Popen[str] | None] = queue.Queue()
        for _ in range(count):
            self._free.put(None)

    def judge(self, name: str, seed: int, student: str, outcomes: object) -> Judgement:
        """Judge the outcomes of an answer of unknown honesty."""
        request = {"exercise": name, "seed": seed, "student": student, "outcomes": outcomes}
        try:
            share, status, hint, parts = self._ask(request)
        except TimeoutError:
            told = f"Judging the answer took more than {self._seconds:g} s: it is too large."
            return Judgement(0.0, "timeout", told)
        return Judgement(share, status, hint, tuple(Part(*part) for part in parts))

    def _ask(self, request: dict[str, Any]) -> Any:
        for trial in range(2):
            with self._judge() as process:
                assert process.stdin is not None
                assert process.stdout is not None
                timer = _Timer(process, self._seconds)
                timer.start()
                try:
                    process.stdin.write(json.dumps(request) + "\n")
                    process.stdin.flush()
                    if line := process.stdout.readline():
                        return json.loads(line)
                except OSError:
                    pass
                finally:
                    timer.cancel()
                _end(process)
                if timer.late:
                    raise TimeoutError
            if trial:
                raise MomabError("the process that judges answers ended unexpectedly.")
        return None

    @contextmanager
    def _judge(self) -> Iterator[subprocess.Popen[str]]:
        process = self._free.get()
        if process is None or process.poll() is not None:
            process = _start()
        try:
            yield process
        finally:
            self._free.put(process)

    def close(self) -> None:
        """End all judges."""
        while not self._free.empty():
            if (process := self._free.get()) is not None:
                _end(process)


class _Timer(threading.Thread):
    """Ends a process that takes too long."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        super().__init__(daemon=True)
        self._process, self._seconds = process, seconds
        self._done = threading.Event()
        self.late = False

    def run(self) -> None:
        if not self._done.wait(self._seconds):
            self.late = True
            self._process.kill()

    def cancel(self) -> None:
        self._done.set()


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            assert pipe is not None
            pipe.close()


def _start() -> subprocess.Popen[str]:
    start = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from momab.course.judging import take_answers; take_answers()"
    )
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", "-c", start],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,  # Ctrl-C is for the grader
    )
