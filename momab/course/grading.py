"""Grading a class: every notebook below a folder, one process at a time for each of them.

What students wrote runs inside bubblewrap (`momab.course.sandbox`); what comes out is judged by the
exercise's own judge in a process with limits (`momab.course.judging`), about the usual arguments
and about others that are drawn for each student from a seed.  The seed is part of the results: with
it, every mark can be found again.  How many points an exercise is worth, what parts of it earn and
what lateness costs are the rules of the course (`momab.course.settings`).  What is answered in
words is marked by a person (`momab.course.marking`).

The status of an exercise is one of `STATUSES`:

- ``right`` and ``wrong``; a wrong answer may have earned a share of the points;
- ``empty``: the starter as it was, or nothing;
- ``crashed``: the cell or a call of the answer raised an exception, or ended the process;
- ``timeout`` and ``memory``: it used up what a step may use;
- ``missing``: there is no answer cell, or no notebook of this chapter at all;
- ``unreadable``: the file cannot be read;
- ``written``: a text for a person to read;
- ``not graded``: the grader failed; this is nobody's mark, and never a zero.

Of several notebooks that a student hands in for a chapter, each exercise counts where it is best.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from momab._util.progress import progress
from momab.book.myst import ExerciseText
from momab.book.project import Project
from momab.course import handout, submissions
from momab.course.judging import Judgement, Judges, Numbers
from momab.course.planning import Plan, plan_steps
from momab.course.sandbox import CLOCK, Limits, SandboxResult, probe, run_steps
from momab.course.settings import Course
from momab.course.submissions import Sheet, Submission
from momab.errors import MomabError
from momab.exercises import Part

STATUSES = (
    "right",
    "written",
    "wrong",
    "crashed",
    "timeout",
    "memory",
    "empty",
    "missing",
    "unreadable",
    "not graded",
)
ABSENT = "No notebook of this chapter was handed in."


@dataclass(frozen=True)
class Grade:
    """What one exercise of one student came to.

    ``marks`` is None where a person decides, and where the grader failed.  ``words`` is what was
    answered in words, worth at most ``words_points``; ``given`` is what a person gave for it, and
    lateness leaves the share ``kept`` of that.
    """

    student: str
    chapter: str
    exercise: str
    title: str
    status: str
    marks: float | None = None
    points: float = 1.0
    hint: str = ""
    parts: tuple[Part, ...] = ()
    answer: str = ""
    notes: tuple[str, ...] = ()
    words: str = ""
    words_points: float = 0.0
    kept: float = 1.0
    given: float | None = None
    comment: str = ""

    @property
    def words_marks(self) -> float | None:
        """What the words earned; None while nobody has marked them."""
        return None if self.given is None else round(self.given * self.kept, 2)


@dataclass(frozen=True)
class Class:
    """All grades, with the exercises in the order of the book."""

    students: tuple[str, ...]
    exercises: tuple[ExerciseText, ...]
    grades: tuple[Grade, ...]
    course: Course = field(default_factory=Course)
    seed: int = 0

    def of(self, student: str) -> list[Grade]:
        """The grades of one student."""
        return [grade for grade in self.grades if grade.student == student]

    def total(self, student: str) -> float:
        """The marks of one student."""
        return round(sum((g.marks or 0) + (g.words_marks or 0) for g in self.of(student)), 6)

    @cached_property
    def marked(self) -> frozenset[str]:
        """The exercises whose answers in words count: a person has begun to mark them."""
        return frozenset(grade.exercise for grade in self.grades if grade.given is not None)

    @property
    def out_of(self) -> float:
        """The marks that there are."""
        coded = sum(self.course.worth(e.label) for e in self.exercises if e.programming)
        words = (self.course.worth_words(e) for e in self.exercises if e.label in self.marked)
        return coded + sum(words)

    def to_be_marked(self, grade: Grade) -> bool:
        """Whether an answer in words counts and nobody has marked it yet."""
        return grade.exercise in self.marked and bool(grade.words) and grade.given is None

    @property
    def not_graded(self) -> list[str]:
        """The students of whom something could not be graded."""
        found = dict.fromkeys(g.student for g in self.grades if g.status == "not graded")
        return list(found)


def grade_class(
    project: Project,
    folder: Path,
    limits: Limits | None = None,
    workers: int | None = None,
    course: Course | None = None,
    only: Sequence[str] = (),
    tell: Callable[[str], None] = lambda line: None,
) -> Class:
    """Grade every notebook of a folder, or those of some students; nothing is written.

    ``tell`` hears what holds around the students' code, and the seed.
    """
    limits, course = limits or Limits(), course or Course()
    chapters = handout.chapters_with_exercises(project)
    found = submissions.read_class(folder, chapters)
    if only:
        _known(only, found)
    used = [name for name in chapters if any(s.chapter == name for s in found)]
    sheets = {name: Sheet.of(project, name) for name in used}
    found = [s for s in found if not only or s.student in only]
    tell(f"isolation: {probe(limits)}")
    seed = secrets.randbits(48) if course.seed is None else course.seed
    tell(f"seed: {seed}")
    run = _Run(sheets, limits, course, seed, min(workers or os.cpu_count() or 1, len(found)))
    return run.collect(found, run.all(found))


def _known(only: Sequence[str], found: Sequence[Submission]) -> None:
    names = {submission.student for submission in found}
    for name in only:
        if name not in names:
            some = ", ".join(sorted(names)[:5])
            raise MomabError(f"there is no notebook of {name!r}; there are some of {some} ...")


class _Run:
    """One run of the grader over some submissions."""

    def __init__(
        self, sheets: dict[str, Sheet], limits: Limits, course: Course, seed: int, workers: int
    ) -> None:
        self.sheets, self.limits, self.course, self.seed = sheets, limits, course, seed
        self.workers = workers
        self.judges = Judges(workers, CLOCK * limits.seconds)
        self.stop = threading.Event()
        self.owners = {course.copy_of(name): name for name in course.students}

    def all(self, found: Sequence[Submission]) -> dict[Path, list[Grade]]:
        """Run and judge all submissions, some at a time; stopping leaves no process behind."""
        todo = [s for s in found if not s.problem]
        graded = {
            s.path: self._same(s, "unreadable", f"{s.path.name}: {s.problem}.")
            for s in found
            if s.problem
        }
        pool = ThreadPoolExecutor(self.workers)
        try:
            with progress(len(todo), "grading") as bar:
                futures = {pool.submit(self._work, submission): submission for submission in todo}
                for future in as_completed(futures):
                    graded[futures[future].path] = future.result()
                    bar.advance()
        finally:
            self.stop.set()
            pool.shutdown(cancel_futures=True)
            self.judges.close()
        return graded

    def _work(self, submission: Submission) -> list[Grade]:
        try:
            return self._one(submission)
        except Exception as error:  # whatever it is, the others are graded
            said = str(error).rstrip(".") or "no reason given"
            why = f"The grader failed on {submission.path.name} ({type(error).__name__}: {said})."
            return self._same(submission, "not graded", why)

    def _one(self, submission: Submission) -> list[Grade]:
        """Run a submission's cells and judge its answers."""
        copy = self.course.copy_of(submission.student)
        numbers = Numbers(self.seed, submission.student, copy)
        sheet = self.sheets[submission.chapter]
        work = plan_steps(submission, sheet.asked(numbers))
        count = len(sheet.programming)
        limits = replace(
            self.limits,
            restarts=2 * count + 6,
            total=CLOCK * self.limits.seconds * (count + 3),
        )
        results = run_steps(work.steps, limits, self.stop)
        grades = [
            self._programming(submission, text, work, results, numbers)
            if text.programming
            else self._written(submission, text, work)
            for text in sheet.texts
        ]
        notes = (*grades[0].notes, *self._somebody_elses(submission, numbers))
        grades[0] = replace(grades[0], notes=notes)
        return grades

    def _somebody_elses(self, submission: Submission, numbers: Numbers) -> Iterable[str]:
        """A note if the notebook is the copy of somebody else."""
        if numbers.copy is not None and submission.copy not in (None, numbers.copy):
            owner = self.owners.get(submission.copy, "nobody that is known")
            yield f"The notebook is not the student's own copy of the handout, but that of {owner}."

    def _programming(
        self,
        submission: Submission,
        text: ExerciseText,
        work: Plan,
        results: dict[str, SandboxResult],
        numbers: Numbers,
    ) -> Grade:
        label = text.label
        result = results[label]
        if result.kind == "done":
            judged = self.judges.judge(label, numbers, result.outcomes)
        else:
            judged = Judgement(0.0, *_failure(result, [results[key] for key in work.cells[label]]))
        status, hint, share = judged.status, judged.hint, judged.share
        if label in work.missing and result.kind == "undefined":
            status, hint = "missing", "There is no answer cell."
        elif label in work.unchanged and status != "right":
            status, hint, share = "empty", "", 0.0
        if not self.course.partial and share < 1:
            share = 0.0
        kept, late = self.course.kept(submission.student, submission.chapter, submission.time)
        worth = self.course.worth(label)
        return Grade(
            submission.student,
            submission.chapter,
            label,
            text.title,
            status,
            round(worth * share * kept, 2),
            worth,
            hint,
            () if status == "empty" else judged.parts,
            work.shown[label],
            (late,) if late and (share or work.words[label]) else (),
            work.words[label],
            self.course.worth_words(text),
            kept,
        )

    def _written(self, submission: Submission, text: ExerciseText, work: Plan) -> Grade:
        status = "empty" if text.label in work.unchanged else "written"
        if text.label in work.missing:
            status = "missing"
        kept, late = self.course.kept(submission.student, submission.chapter, submission.time)
        return Grade(
            submission.student,
            submission.chapter,
            text.label,
            text.title,
            status,
            notes=(late,) if late and status == "written" else (),
            words=work.words[text.label],
            words_points=self.course.worth_words(text),
            kept=kept,
        )

    def _same(self, submission: Submission, status: str, why: str) -> list[Grade]:
        """One status for all of a file; one line without exercise if its chapter is not known."""
        why = submissions.clean(why)
        sheet = self.sheets.get(submission.chapter)
        if sheet is None:
            return [Grade(submission.student, "", "", "", status, hint=why)]
        marks = None if status == "not graded" else 0.0
        return [
            Grade(
                submission.student,
                sheet.chapter,
                text.label,
                text.title,
                status,
                marks if text.programming else None,
                self.course.worth(text.label),
                why,
                words_points=self.course.worth_words(text),
            )
            for text in sheet.texts
        ]

    def collect(self, found: Sequence[Submission], graded: dict[Path, list[Grade]]) -> Class:
        """Every student with every exercise: the best attempt, or that there is none."""
        students = tuple(sorted({s.student for s in found}, key=lambda name: (name.lower(), name)))
        texts = tuple(text for sheet in self.sheets.values() for text in sheet.texts)
        best: dict[tuple[str, str], Grade] = {}
        for submission in found:
            for entry in graded[submission.path]:
                key = entry.student, entry.exercise
                if key not in best or _rank(entry) < _rank(best[key]):
                    best[key] = entry
        grades = []
        for student in students:
            for sheet in self.sheets.values():
                grades += [
                    best.get((student, text.label), self._absent(student, sheet.chapter, text))
                    for text in sheet.texts
                ]
            if (student, "") in best:
                grades.append(best[student, ""])
        return Class(students, texts, tuple(grades), self.course, self.seed)

    def _absent(self, student: str, chapter: str, text: ExerciseText) -> Grade:
        marks = 0.0 if text.programming else None
        worth, words = self.course.worth(text.label), self.course.worth_words(text)
        return Grade(
            student,
            chapter,
            text.label,
            text.title,
            "missing",
            marks,
            worth,
            ABSENT,
            words_points=words,
        )


def _rank(entry: Grade) -> tuple[float, int, int]:
    """The best comes first; what was not graded comes before a zero."""
    if entry.status == "not graded":
        return 0.0, -1, 0
    return -(entry.marks or 0), STATUSES.index(entry.status), -len(entry.words)


_KINDS = {"timeout": "timeout", "memory": "memory", "skipped": "timeout"}


def _failure(result: SandboxResult, cells: Sequence[SandboxResult]) -> tuple[str, str]:
    """The status and the hint of an answer that never spoke: it failed, or one of its cells did."""
    failed = [r for r in cells if r.kind not in ("done", "undefined")]
    cause = failed[0] if result.kind == "undefined" and failed else result
    return _KINDS.get(cause.kind, "crashed"), f"{cause.detail[:1].upper()}{cause.detail[1:]}."
