"""Grading a class: every notebook below a folder, one process at a time for each of them.

What students wrote runs in fenced processes (`momab.course.sandbox`, `momab.course.fence`);
what comes out is judged here, in the trusted process, by the exercise's own `judge`.
A programming exercise is worth one mark, which it gets when everything about it is right.
Exercises in words are not
marked: their text goes into the report, for a person to read.

The status of an exercise is one of `STATUSES`:

- ``right`` and ``wrong``;
- ``empty``: the starter as it was, or nothing;
- ``crashed``: the cell or a call of the answer raised an exception, or ended the process;
- ``timeout`` and ``memory``: it used up what a step may use;
- ``refused``: it tried what the fence forbids, and was not right without it;
- ``missing``: there is no answer cell, or no notebook of this chapter at all;
- ``unreadable``: the file cannot be read;
- ``written``: a text for a person to read.

Of several notebooks that a student hands in for a chapter, each exercise counts where it is best.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from momab._util.progress import progress
from momab.book.myst import ExerciseText
from momab.book.project import Project
from momab.course import handout, submissions
from momab.course.fence import Refused
from momab.course.sandbox import CLOCK, Cell, Limits, SandboxError, SandboxResult, probe, run_steps
from momab.course.submissions import Plan, Sheet, Submission, plan_steps
from momab.errors import MomabError
from momab.exercises import Outcome, Part

STATUSES = (
    "right",
    "written",
    "wrong",
    "crashed",
    "timeout",
    "memory",
    "refused",
    "empty",
    "missing",
    "unreadable",
)
ABSENT = "No notebook of this chapter was handed in."


@dataclass(frozen=True)
class Grade:
    """What one exercise of one student came to; ``marks`` is None where a person decides."""

    student: str
    chapter: str
    exercise: str
    title: str
    status: str
    marks: int | None = None
    hint: str = ""
    parts: tuple[Part, ...] = ()
    answer: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Class:
    """All grades, with the exercises in the order of the book."""

    students: tuple[str, ...]
    exercises: tuple[ExerciseText, ...]
    grades: tuple[Grade, ...]

    def of(self, student: str) -> list[Grade]:
        """The grades of one student."""
        return [grade for grade in self.grades if grade.student == student]

    def total(self, student: str) -> int:
        """The marks of one student."""
        return sum(grade.marks or 0 for grade in self.of(student))

    @property
    def out_of(self) -> int:
        """The marks that there are."""
        return sum(exercise.programming for exercise in self.exercises)


def grade_class(
    project: Project,
    folder: Path,
    seconds: float = 10.0,
    memory: int = 2048,
    workers: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Class:
    """Grade every notebook below a folder; nothing is written.

    ``tell`` hears which layers of the fence hold on this machine.
    """
    paths = submissions.find_notebooks(folder)
    chapters = handout.chapters_with_exercises(project)
    found = [submissions.read_submission(path, folder, chapters) for path in paths]
    used = [name for name in chapters if any(s.chapter == name for s in found)]
    sheets = {name: Sheet.of(project, name) for name in used}
    layers = probe(Limits(seconds, memory))
    tell(f"fence: own process and session, {', '.join(layers)}")
    graded = _run_all(found, sheets, Limits(seconds, memory), workers or os.cpu_count() or 1)
    return _collect(found, sheets, graded)


def _run_all(
    found: Sequence[Submission], sheets: dict[str, Sheet], limits: Limits, workers: int
) -> dict[Path, list[Grade]]:
    """Run and judge all submissions, some at a time; stopping leaves no process behind."""
    stop = threading.Event()

    def work(submission: Submission) -> list[Grade]:
        sheet = sheets[submission.chapter]
        try:
            return _grade_one(submission, sheet, limits, stop)
        except SandboxError:
            raise
        except Exception as error:  # whatever it is, the others are graded
            problem = f"the grader failed on it ({type(error).__name__}: {error})"
            return _unreadable(replace(submission, problem=problem), sheet)

    todo = [s for s in found if not s.problem]
    graded = {s.path: _unreadable(s, sheets.get(s.chapter)) for s in found if s.problem}
    pool = ThreadPoolExecutor(min(workers, max(1, len(todo))))
    try:
        with progress(len(todo), "grading") as bar:
            futures = {pool.submit(work, submission): submission for submission in todo}
            for future in as_completed(futures):
                graded[futures[future].path] = future.result()
                bar.advance()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    return graded


# ---- one submission ------------------------------------------------------------------------


def _grade_one(
    submission: Submission, sheet: Sheet, limits: Limits, stop: threading.Event
) -> list[Grade]:
    """Run a submission's cells and judge its answers."""
    work = plan_steps(submission, sheet)
    count = len(sheet.programming)
    limits = replace(limits, restarts=2 * count + 6, total=CLOCK * limits.seconds * (count + 3))
    results = run_steps(work.steps, limits, stop)
    grades = [
        _programming(submission, sheet, text, work, results)
        if text.programming
        else _written(submission, text, work)
        for text in sheet.texts
    ]
    grades[0] = replace(grades[0], notes=(*grades[0].notes, *_elsewhere(work, results)))
    return grades


def _elsewhere(work: Plan, results: dict[str, SandboxResult]) -> list[str]:
    """What was refused to cells that belong to no exercise."""
    known = {key for keys in work.cells.values() for key in keys}
    other = [step.key for step in work.steps if isinstance(step, Cell) and step.key not in known]
    refused = dict.fromkeys(what for key in other for what in results[key].refused)
    return [f"Another cell tried what is not allowed: {what}." for what in refused]


def _programming(
    submission: Submission,
    sheet: Sheet,
    text: ExerciseText,
    work: Plan,
    results: dict[str, SandboxResult],
) -> Grade:
    label = text.label
    result = results[label]
    cells = [results[key] for key in work.cells[label]]
    if result.kind == "done":
        judged = _judge(sheet, label, result.outcomes)
    else:
        judged = Judgement(False, *_failure(result, cells))
    right, status, hint = judged.right, judged.status, judged.hint
    refused = [what for r in (result, *cells) for what in r.refused]
    if right:
        status = "right"
    elif label in work.missing and result.kind == "undefined":
        status, hint = "missing", "There is no answer cell."
    elif label in work.unchanged:
        status, hint = "empty", ""
    elif refused and status not in ("timeout", "memory"):
        status, hint = "refused", f"The grader did not allow this: {refused[0]}."
    return Grade(
        submission.student,
        sheet.chapter,
        label,
        text.title,
        status,
        int(right),
        hint,
        () if status == "empty" else judged.parts,
        work.sources[label],
        tuple(f"The grader did not allow this: {what}." for what in dict.fromkeys(refused)),
    )


@dataclass(frozen=True)
class Judgement:
    """What an answer's outcomes came to."""

    right: bool
    status: str
    hint: str
    parts: tuple[Part, ...] = ()


def _judge(sheet: Sheet, label: str, outcomes: object) -> Judgement:
    """Judge outcomes of unknown honesty."""
    try:
        if not isinstance(outcomes, list):
            raise MomabError("there are no outcomes")
        read = [Outcome.from_json(item) for item in outcomes]
        verdict = sheet.checks[label].judge(read)
    except (Exception, RecursionError) as error:  # a made-up outcome must not stop the class
        hint = f"The outcome cannot be compared ({type(error).__name__})."
        return Judgement(False, "wrong", hint)
    raised = [outcome for outcome in read if outcome.raised]
    if any("MemoryError" in outcome.raised for outcome in raised):
        status = "memory"
    elif any(outcome.raised == Refused.__name__ for outcome in raised):
        status = "refused"
    else:
        status = "crashed" if raised else "wrong"
    hint = verdict.hint if status == "wrong" else f"A call of the answer raised {raised[0].error}."
    return Judgement(verdict.right, status, hint, verdict.parts)


_KINDS = {"timeout": "timeout", "memory": "memory", "skipped": "timeout"}


def _failure(result: SandboxResult, cells: Sequence[SandboxResult]) -> tuple[str, str]:
    """The status and the hint of an answer that never spoke: it failed, or one of its cells did."""
    failed = [r for r in cells if r.kind not in ("done", "undefined")]
    cause = failed[0] if result.kind == "undefined" and failed else result
    return _KINDS.get(cause.kind, "crashed"), f"{cause.detail[:1].upper()}{cause.detail[1:]}."


def _written(submission: Submission, text: ExerciseText, work: Plan) -> Grade:
    if text.label in work.missing:
        status = "missing"
    else:
        status = "empty" if text.label in work.unchanged else "written"
    answer = work.sources[text.label] if status == "written" else ""
    chapter = submission.chapter
    return Grade(submission.student, chapter, text.label, text.title, status, answer=answer)


def _unreadable(submission: Submission, sheet: Sheet | None) -> list[Grade]:
    """The grades of a file that cannot be read; one line without exercise if nothing is known."""
    why = f"{submission.path.name}: {submission.problem}."
    if sheet is None:
        return [Grade(submission.student, "", "", "", "unreadable", hint=submissions.clean(why))]
    return [
        Grade(
            submission.student,
            sheet.chapter,
            text.label,
            text.title,
            "unreadable",
            0 if text.programming else None,
            submissions.clean(why),
        )
        for text in sheet.texts
    ]


# ---- the class -----------------------------------------------------------------------------


def _collect(
    found: Sequence[Submission], sheets: dict[str, Sheet], graded: dict[Path, list[Grade]]
) -> Class:
    """Every student with every exercise: the best attempt, or that there is none."""
    students = tuple(sorted({s.student for s in found}, key=lambda name: (name.lower(), name)))
    texts = tuple(text for sheet in sheets.values() for text in sheet.texts)
    best: dict[tuple[str, str], Grade] = {}
    for submission in found:
        for entry in graded[submission.path]:
            key = entry.student, entry.exercise
            if key not in best or _rank(entry) < _rank(best[key]):
                best[key] = entry
    grades = []
    for student in students:
        for sheet in sheets.values():
            grades += [
                best.get((student, text.label), _absent(student, sheet.chapter, text))
                for text in sheet.texts
            ]
        if (student, "") in best:
            grades.append(best[student, ""])
    return Class(students, texts, tuple(grades))


def _rank(entry: Grade) -> tuple[int, int]:
    return -(entry.marks or 0), STATUSES.index(entry.status)


def _absent(student: str, chapter: str, text: ExerciseText) -> Grade:
    marks = 0 if text.programming else None
    return Grade(student, chapter, text.label, text.title, "missing", marks, ABSENT)
