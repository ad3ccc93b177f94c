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
- ``not graded``: the grader failed; this is no mark, and never a zero.

Of several notebooks that a student hands in for a chapter, the newest counts.
"""

from __future__ import annotations

import datetime
import math
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from momab._util.progress import progress
from momab.book.myst import ExerciseText, exercises
from momab.book.project import Project
from momab.course import handout, submissions
from momab.course.judging import Judgement, Judges
from momab.course.planning import Plan, plan_steps
from momab.course.sandbox import CLOCK, Limits, SandboxResult, probe, run_steps
from momab.course.settings import Course
from momab.course.submissions import Sheet, Submission, Unread
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
_ALL_OR_NOTHING = "An answer that is a value earns points only if every part is right."
_REMEMBERED = "The parts that are right would be right for remembered outcomes too: no points."
_WHOLE = "In this course an answer earns points only if every part is right."
Pair = tuple[str, str]  # a student and a chapter


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
        """What the words earned; None until they are marked."""
        return None if self.given is None else round(self.given * self.kept, 2)


@dataclass(frozen=True)
class Graded:
    """All grades, with the exercises in the order of the book.

    ``settings`` are those that the notebook of a student for a chapter was graded with.
    """

    students: tuple[str, ...]
    exercises: tuple[ExerciseText, ...]
    grades: tuple[Grade, ...]
    course: Course = field(default_factory=Course)
    seed: int = 0
    settings: Mapping[Pair, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, student: str) -> list[Grade]:
        """The grades of one student."""
        return [grade for grade in self.grades if grade.student == student]

    def total(self, student: str, chapter: str = "") -> float:
        """The marks of one student, in all chapters or in one."""
        grades = [g for g in self.of(student) if not chapter or g.chapter == chapter]
        return round(sum((g.marks or 0) + (g.words_marks or 0) for g in grades), 6)

    def out_of(self, student: str, chapter: str = "") -> float:
        """The marks that a student could have, in all chapters or in one."""
        coded = {text.label for text in self.exercises if text.programming}
        grades = [g for g in self.of(student) if not chapter or g.chapter == chapter]
        marks = sum(g.points for g in grades if g.exercise in coded)
        return marks + sum(g.words_points for g in grades if g.exercise in self.marked)

    @property
    def chapters(self) -> list[str]:
        """The chapters, in the order of the book."""
        return list(dict.fromkeys(text.label.rpartition("-")[0] for text in self.exercises))

    def percent(self, student: str) -> float:
        """The term's mark: the weighted mean of the chapters' shares, the worst ones left out."""
        shares = [
            (self.total(student, c) / most, self.course.weights.get(c, 1.0))
            for c in self.chapters
            if (most := self.out_of(student, c)) > 0
        ]
        counted = sorted(shares)[min(self.course.drop, max(0, len(shares) - 1)) :]
        weights = sum(weight for _, weight in counted)
        return round(100 * sum(s * w for s, w in counted) / weights, 2) if weights else 0.0

    @cached_property
    def marked(self) -> frozenset[str]:
        """The exercises whose answers in words count: a person has begun to mark them."""
        return frozenset(grade.exercise for grade in self.grades if grade.given is not None)

    def to_be_marked(self, grade: Grade) -> bool:
        """Whether an answer in words counts and is not marked yet."""
        return grade.exercise in self.marked and bool(grade.words) and grade.given is None

    @property
    def not_graded(self) -> list[str]:
        """The students of whom something could not be graded."""
        found = dict.fromkeys(g.student for g in self.grades if g.status == "not graded")
        return list(found)


def complete(graded: Graded) -> Graded:
    """The class with a row for every listed student, and what was not handed in."""
    names = {*graded.students, *graded.course.students, *(g.student for g in graded.grades)}
    students = tuple(sorted(names, key=lambda name: (name.lower(), name)))
    found = {(g.student, g.exercise): g for g in graded.grades if g.exercise}
    loose = [g for g in graded.grades if not g.exercise]
    grades = []
    for student in students:
        for text in graded.exercises:
            known = found.get((student, text.label))
            grades.append(known or _absent(student, text, graded.course))
        grades += [grade for grade in loose if grade.student == student]
    return replace(graded, students=students, grades=tuple(grades))


def _absent(student: str, text: ExerciseText, course: Course) -> Grade:
    return Grade(
        student,
        text.label.rpartition("-")[0],
        text.label,
        text.title,
        "missing",
        0.0 if text.programming else None,
        course.worth(text.label),
        ABSENT,
        words_points=course.worth_words(text),
    )


def require_same_settings(old: Graded, new: Mapping[Pair, Mapping[str, Any]]) -> None:
    """Raise MomabError if something that is graded already would be graded otherwise."""
    for (student, chapter), settings in new.items():
        before = old.settings.get((student, chapter), settings)
        for name in settings:
            if settings[name] != before.get(name):
                raise MomabError(
                    f"{chapter} of {student} was graded with {name} {before.get(name)}, and now "
                    f"it is {settings[name]}; --again grades it again and replaces the marks."
                )


def merged(old: Graded, new: Graded) -> Graded:
    """Both, by student and chapter; what is in the new one counts."""
    handed_in = {grade.student for grade in new.grades if grade.hint != ABSENT}
    fresh = {(g.student, g.chapter) for g in new.grades if g.hint != ABSENT}
    kept = [
        grade
        for grade in old.grades
        if grade.hint != ABSENT
        and (grade.student, grade.chapter) not in fresh
        and not (grade.chapter == "" and grade.student in handed_in)
    ]
    grades = [*kept, *(grade for grade in new.grades if grade.hint != ABSENT)]
    settings = {**old.settings, **new.settings}
    texts = {text.label: text for text in (*old.exercises, *new.exercises)}
    students = (*old.students, *new.students)
    return complete(
        replace(
            new,
            students=students,
            grades=tuple(grades),
            settings=settings,
            exercises=tuple(texts.values()),
        )
    )


def grade_class(
    project: Project,
    folder: Path,
    limits: Limits | None = None,
    workers: int | None = None,
    course: Course | None = None,
    only: Sequence[str] = (),
    received: Mapping[Pair, datetime.datetime] | None = None,
    old: Graded | None = None,
    again: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Graded:
    """Grade every notebook of a folder, or those of some students; nothing is written.

    With ``old`` results the new ones are merged into them; what was graded with other settings is
    graded again only if ``again`` says so.  ``tell`` hears what holds around the students' code,
    the seed, and what was not understood.
    """
    limits, course, received = limits or Limits(), course or Course(), received or {}
    chapters = handout.chapters_with_exercises(project)
    found, unread = submissions.read_class(folder, chapters, course)
    names = {s.student for s in found} | {u.student for u in unread} - {""}
    names |= set(old.students if old else ())
    labels = [t.label for c in chapters for t in exercises(project.notebook(c).node)]
    course.require_known(chapters, labels, names)
    for student, chapter in received:
        if student not in {*names, *course.students} or chapter not in chapters:
            raise MomabError(f"the times of receipt name {student!r}, {chapter!r}: unknown.")
    if only:
        _known(only, found)
        found = [s for s in found if s.student in only]
        unread = [u for u in unread if u.student in only]
    found, passed_over = submissions.newest(found)
    seed = course.seed if course.seed is not None else secrets.randbits(48)
    run = _Run(project, limits, course, seed, received)
    readable = [s for s in found if s.chapter]
    settings = {(s.student, s.chapter): run.settings(s) for s in readable}
    if old and not again:
        require_same_settings(old, settings)
    tell(f"isolation: {probe(limits)}")
    tell(f"seed: {seed}")
    for line in (*passed_over, *_unusual(found, unread, course, received)):
        tell(f"note: {line}")
    used = {s.chapter for s in found}
    sheets = {name: Sheet.of(project, name) for name in chapters if name in used}
    grades = run.all(found, sheets, min(workers or os.cpu_count() or 1, len(found)))
    grades += [
        Grade(u.student, "", "", "", "unreadable", hint=f"{u.name}: {u.why}.")
        for u in unread
        if u.student
    ]
    texts = tuple(text for sheet in sheets.values() for text in sheet.texts)
    new = complete(Graded((), texts, tuple(grades), course, seed, settings))
    if old is None:
        return new
    place = {label: number for number, label in enumerate(labels)}
    both = merged(old, new)
    ordered = tuple(sorted(both.exercises, key=lambda text: place.get(text.label, -1)))
    return complete(replace(both, exercises=ordered))


def _unusual(
    found: Sequence[Submission],
    unread: Sequence[Unread],
    course: Course,
    received: Mapping[Pair, datetime.datetime],
) -> Iterable[str]:
    """What a teacher should look at: files and people that were not understood, missing times."""
    for one in unread:
        yield f"not read: {one.name} ({one.why})"
    for submission in found:
        student, chapter = submission.student, submission.chapter
        if submission.problem:
            yield f"not read: {submission.path.name} of {student} ({submission.problem})"
        if course.students and student not in course.students:
            yield f"{student} is not among the students of the course"
        if course.deadline(student, chapter) and (student, chapter) not in received:
            yield f"no time of receipt for {student}, {chapter}: taken as on time"


def _known(only: Sequence[str], found: Sequence[Submission]) -> None:
    names = {submission.student for submission in found}
    for name in only:
        if name not in names:
            some = ", ".join(sorted(names)[:5])
            raise MomabError(f"there is no notebook of {name!r}; there are some of {some} ...")


class _Run:
    """One run of the grader over some submissions."""

    def __init__(
        self,
        project: Project,
        limits: Limits,
        course: Course,
        seed: int,
        received: Mapping[Pair, datetime.datetime],
    ) -> None:
        self.project, self.limits, self.course, self.seed = project, limits, course, seed
        self.received = received
        self.sheets: dict[str, Sheet] = {}
        self.stop = threading.Event()

    def settings(self, submission: Submission) -> dict[str, Any]:
        """What a result depends on, beside the notebook and the book."""
        pair = submission.student, submission.chapter
        due, late = self.course.deadline(*pair), self.course.late
        texts = exercises(self.project.notebook(submission.chapter).node)
        return {
            "seed": self.seed,
            "points": {t.label: self.course.worth(t.label) for t in texts if t.programming},
            "written": {t.label: self.course.worth_words(t) for t in texts if t.words},
            "partial": self.course.partial,
            "deadline": due and due.isoformat(),
            "late": [late.lose, None if late.days == math.inf else late.days],
            "seconds": self.limits.seconds,
            "memory": self.limits.memory,
        }

    def all(
        self, found: Sequence[Submission], sheets: dict[str, Sheet], workers: int
    ) -> list[Grade]:
        """Run and judge all submissions, some at a time; stopping leaves no process behind."""
        self.sheets = sheets
        self.judges = Judges(workers, CLOCK * self.limits.seconds)
        todo = [s for s in found if not s.problem]
        graded = [
            self._same(s, "unreadable", f"{s.path.name}: {s.problem}.") for s in found if s.problem
        ]
        pool = ThreadPoolExecutor(workers)
        try:
            with progress(len(todo), "grading") as bar:
                for future in as_completed([pool.submit(self._work, s) for s in todo]):
                    graded.append(future.result())
                    bar.advance()
        finally:
            self.stop.set()
            pool.shutdown(cancel_futures=True)
            self.judges.close()
        return [grade for grades in graded for grade in grades]

    def _work(self, submission: Submission) -> list[Grade]:
        try:
            return self._one(submission)
        except Exception as error:  # whatever it is, the others are graded
            said = str(error).rstrip(".") or "no reason given"
            why = f"The grader failed on {submission.path.name} ({type(error).__name__}: {said})."
            return self._same(submission, "not graded", why)

    def _one(self, submission: Submission) -> list[Grade]:
        """Run a submission's cells and judge its answers."""
        sheet = self.sheets[submission.chapter]
        work = plan_steps(submission, sheet.asked(self.seed, submission.student))
        count = len(sheet.programming)
        limits = replace(
            self.limits,
            restarts=2 * count + 6,
            total=CLOCK * self.limits.seconds * (count + 3),
        )
        results = run_steps(work.steps, limits, self.stop)
        return [
            self._programming(submission, text, work, results)
            if text.programming
            else self._written(submission, text, work)
            for text in sheet.texts
        ]

    def _programming(
        self,
        submission: Submission,
        text: ExerciseText,
        work: Plan,
        results: dict[str, SandboxResult],
    ) -> Grade:
        label = text.label
        result = results[label]
        if result.kind == "done":
            judged = self.judges.judge(label, self.seed, submission.student, result.outcomes)
        else:
            judged = Judgement(0.0, *_failure(result, [results[key] for key in work.cells[label]]))
        status, hint, share = judged.status, judged.hint, judged.share
        if label in work.missing and result.kind == "undefined":
            status, hint = "missing", "There is no answer cell."
        elif label in work.unchanged and status != "right":
            status, hint, share = "empty", "", 0.0
        some = any(part.right for part in judged.parts) and status not in ("right", "empty")
        why_nothing = ""
        if some and share == 0:
            why_nothing = (
                _REMEMBERED
                if self.sheets[submission.chapter].checks[label].cases
                else _ALL_OR_NOTHING
            )
        if not self.course.partial and share < 1:
            share, why_nothing = 0.0, why_nothing or (_WHOLE if some else "")
        kept, late = self._kept(submission)
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
            tuple(filter(None, (why_nothing, late if share or work.words[label] else ""))),
            work.words[label],
            self.course.worth_words(text),
            kept,
        )

    def _kept(self, submission: Submission) -> tuple[float, str]:
        pair = submission.student, submission.chapter
        return self.course.kept(*pair, self.received.get(pair))

    def _written(self, submission: Submission, text: ExerciseText, work: Plan) -> Grade:
        status = "empty" if text.label in work.unchanged else "written"
        if text.label in work.missing:
            status = "missing"
        kept, late = self._kept(submission)
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


_KINDS = {"timeout": "timeout", "memory": "memory", "skipped": "timeout"}


def _failure(result: SandboxResult, cells: Sequence[SandboxResult]) -> tuple[str, str]:
    """The status and the hint of an answer that never spoke: it failed, or one of its cells did."""
    failed = [r for r in cells if r.kind not in ("done", "undefined")]
    cause = failed[0] if result.kind == "undefined" and failed else result
    return _KINDS.get(cause.kind, "crashed"), f"{cause.detail[:1].upper()}{cause.detail[1:]}."
