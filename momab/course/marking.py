"""Marks that a person gives for answers in words: one plain file beside the results of grading.

``marks.json`` holds, for a student and an exercise, points, a comment, and a digest of the answer
that was read.  Every mark is written at once.  A mark counts as long as the answer is the one that
was read and the points are not more than the exercise now has; otherwise it waits to be looked at
again.  The tables and the reports are made from it (`momab.course.gradebook`).
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from momab._util.files import write_text
from momab.course.grading import Grade, Graded
from momab.errors import MomabError

FILE = "marks.json"
LONGEST_COMMENT = 5_000
_KIND = "marks of answers in words"


@dataclass(frozen=True)
class Mark:
    """What a person gave for an answer; ``points`` is None as long as there is only a comment."""

    student: str
    exercise: str
    points: float | None
    comment: str
    answer: str

    def fits(self, grade: Grade) -> bool:
        """Whether it is about the answer that is there, and about as many points."""
        within = self.points is None or self.points <= grade.words_points
        return self.answer == answer_digest(grade.words) and within


Key = tuple[str, str]


def answer_digest(words: str) -> str:
    """By which an answer is known again."""
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def read_marks(output: Path) -> dict[Key, Mark]:
    """The marks beside some results; none if there is no file."""
    path = output / FILE
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise MomabError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or said.get("kind") != _KIND:
        raise MomabError(f"{path} is no file of marks; move it away, or restore your own.")
    try:
        marks = [_mark(item) for item in said["marks"]]
    except (KeyError, TypeError, MomabError) as error:
        why = str(error).rstrip(".") if isinstance(error, MomabError) else "an entry is not whole"
        raise MomabError(f"{path} is damaged: {why}.") from None
    return {(mark.student, mark.exercise): mark for mark in marks}


def _mark(item: dict[str, Any]) -> Mark:
    who = str(item["student"]), str(item["exercise"])
    try:
        points = read_points(item["points"])
    except MomabError as error:
        raise MomabError(f"{who[0]}, {who[1]}: {error}") from None
    return Mark(*who, points, str(item["comment"]), str(item["answer"]))


def read_points(value: object, most: float = math.inf) -> float | None:
    """Points as people write them, 2 or 1.5 or 1,5; None for none."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        points = float(value.replace(",", ".") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        points = math.nan
    if not math.isfinite(points):
        raise MomabError(f"points are a number; {str(value)[:40]!r} is none.")
    if not 0 <= points <= most:
        limit = f" at most {most:g}" if math.isfinite(most) else " not negative"
        raise MomabError(f"points are{limit}; {points:g} is not possible.")
    return round(points, 2)


def with_marks(graded: Graded, marks: dict[Key, Mark]) -> Graded:
    """The grades with what a person gave."""
    grades = []
    for grade in graded.grades:
        mark = marks.get((grade.student, grade.exercise))
        given, comment = (mark.points, mark.comment) if mark and mark.fits(grade) else (None, "")
        grades.append(replace(grade, given=given, comment=comment))
    return replace(graded, grades=tuple(grades))


class Marking:
    """The answers in words of a class in the order of the exercises, and their marks."""

    def __init__(self, graded: Graded, output: Path) -> None:
        """Find the answers, and the marks that are there already."""
        self.graded, self.output = graded, output
        order = {text.label: place for place, text in enumerate(graded.exercises)}
        asked = [g for g in graded.grades if g.words and g.words_points and g.exercise in order]
        self.answers = sorted(asked, key=lambda grade: order[grade.exercise])  # students in order
        if not self.answers:
            raise MomabError(f"the results in {output} have no answers in words.")
        self._lock = threading.Lock()
        known = read_marks(output)
        if known and not any(self._key(grade) in known for grade in self.answers):
            raise MomabError(
                f"{output / FILE} belongs to other results: it knows none of these answers."
            )

    @staticmethod
    def _key(grade: Grade) -> Key:
        return grade.student, grade.exercise

    def marks(self) -> dict[Key, Mark]:
        """All marks, as they are on the disk."""
        return read_marks(self.output)

    def mark_of(self, grade: Grade, marks: dict[Key, Mark] | None = None) -> Mark | None:
        """The mark of an answer, also one that does not count any more."""
        return (self.marks() if marks is None else marks).get(self._key(grade))

    def done(self, answers: Iterable[Grade] | None = None) -> list[Grade]:
        """Of some answers, or of all, those with a mark that counts."""
        marks = self.marks()
        return [
            grade
            for grade in (self.answers if answers is None else answers)
            if (mark := self.mark_of(grade, marks)) and mark.points is not None and mark.fits(grade)
        ]

    def again(self) -> list[Grade]:
        """The answers whose mark does not count any more."""
        marks = self.marks()
        return [g for g in self.answers if (mark := self.mark_of(g, marks)) and not mark.fits(g)]

    def give(self, grade: Grade, points: object, comment: object) -> Mark:
        """Keep a mark; nothing is kept of one that is not possible."""
        if not isinstance(comment, str) or len(comment) > LONGEST_COMMENT:
            raise MomabError(f"a comment is a text of at most {LONGEST_COMMENT:,} characters.")
        found = read_points(points, grade.words_points)
        comment = comment.encode("utf-8", "replace").decode().strip()
        mark = Mark(*self._key(grade), found, comment, answer_digest(grade.words))
        with self._lock:
            marks = self.marks()  # another window may have marked, too
            marks[self._key(grade)] = mark
            if found is None and not comment:
                del marks[self._key(grade)]
            kept = [asdict(marks[key]) for key in sorted(marks)]
            text = json.dumps({"kind": _KIND, "marks": kept}, indent=1, ensure_ascii=False)
            write_text(self.output / FILE, text + "\n")
        return mark

    @property
    def progress(self) -> str:
        """For example '12 of 60 answers are marked'."""
        return f"{len(self.done())} of {len(self.answers)} answers are marked"
