"""The rules of a course in one file: who takes part, points, deadlines, seeds, the term's mark.

.. code-block:: yaml

    seed: 20261117                # of the arguments drawn for grading; drawn itself if absent
    students: {ada: 4711, ben: 4712}  # names and ids; a list of names does, too
    points: {default: 1, width-floor-2: 3}
    written: {default: 3, width-floor-1: 6}  # of answers in words, which a person marks
    partial: true                 # parts of a function that are right earn their share
    deadlines: {width-floor: 2026-11-20 23:59}
    extensions: {ben: {width-floor: 2026-11-27 23:59}}
    late: {lose: 0.1, days: 5}    # a tenth of the points per day begun; nothing after five
    weights: {model: 2}           # of chapters in the term's mark; 1 if absent
    drop: 1                       # so many of the worst chapters do not count
    delimiter: ","                # of the tables

Times without a zone are those of this machine.  When a notebook was received is in a table with
the columns student, chapter and received (`read_received`), because copying a file changes the
file's own time.  A submission without such a time is on time.
"""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictInt

from momab._util.yaml_files import Strict, read_yaml
from momab.book.myst import ExerciseText
from momab.errors import MomabError

_DAY = 86_400.0


def _students(value: Any) -> Any:
    """Names with their ids; a list of names has none."""
    if isinstance(value, dict):
        return {str(name): "" if number is None else str(number) for name, number in value.items()}
    names = list(map(str, value)) if isinstance(value, list) else []
    if not names or len(set(names)) != len(names):
        raise ValueError("must be a list of different names, or names with their ids")
    return dict.fromkeys(names, "")


def _time(value: Any) -> Any:
    """A time; of a day, its end."""
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(f"is no time such as 2026-11-20 23:59, but {value!r}") from None
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time(23, 59, 59))
    return value


Points = dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]
Times = dict[str, Annotated[datetime.datetime, BeforeValidator(_time)]]


class Late(Strict):
    """What a day begun costs, as a share of the points, and after how many days nothing is left."""

    lose: Annotated[float, Field(ge=0, le=1)] = 0.0
    days: Annotated[float, Field(ge=0)] = math.inf


class Course(Strict):
    """The rules of a course; see the module for their file."""

    seed: Annotated[StrictInt, Field(ge=0, lt=2**64)] | None = None
    students: Annotated[dict[str, str], BeforeValidator(_students)] = Field(
        default_factory=dict
    )  # names and ids
    points: Points = Field(default_factory=dict)
    written: Points = Field(default_factory=dict)
    partial: StrictBool = True
    deadlines: Times = Field(default_factory=dict)
    extensions: dict[str, Times] = Field(default_factory=dict)
    late: Late = Late()
    weights: Points = Field(default_factory=dict)
    drop: Annotated[StrictInt, Field(ge=0)] = 0
    delimiter: Literal[",", ";", "\t"] = ","

    def worth(self, exercise: str) -> float:
        """The points of an exercise."""
        return self.points.get(exercise, self.points.get("default", 1.0))

    def worth_words(self, exercise: ExerciseText) -> float:
        """The points of an exercise's answer in words; none where it asks for no words."""
        if not exercise.words:
            return 0.0
        usual = self.written.get("default", 3.0)
        if not exercise.programming:
            usual = self.points.get(exercise.label, usual)
        return self.written.get(exercise.label, usual)

    def listed(self, said: str) -> str:
        """The listed student that a folder or a file speaks of; the text itself if none fits.

        It fits if it is the name, up to case and punctuation, or the name and a number, as learning
        platforms write it, or if it has an id of four characters or more as a word.
        """
        if said in self.students:
            return said
        text = _plain(said)
        found = [
            name
            for name, number in self.students.items()
            if re.fullmatch(rf"{_plain(name)}( \d.*)?", text)
            or (len(number) >= 4 and _plain(number) in text.split())
        ]
        return found[0] if len(found) == 1 else said

    def deadline(self, student: str, chapter: str) -> datetime.datetime | None:
        """When a student's notebook of a chapter is due."""
        return self.extensions.get(student, {}).get(chapter, self.deadlines.get(chapter))

    def kept(
        self, student: str, chapter: str, received: datetime.datetime | None
    ) -> tuple[float, str]:
        """The share of the points that remains at this time, and what to say about it."""
        deadline = self.deadline(student, chapter)
        if deadline is None or received is None:
            return 1.0, ""
        late = received.timestamp() - deadline.timestamp()
        if late <= 0:
            return 1.0, ""
        days = math.ceil(late / _DAY)
        share = 0.0 if days > self.late.days else max(0.0, 1 - self.late.lose * days)
        return (
            share,
            f"Handed in late, on day {days} after the deadline: {share:.0%} of the points.",
        )

    def require_known(
        self, chapters: Collection[str], exercises: Collection[str], students: Collection[str]
    ) -> None:
        """Raise MomabError for the first chapter, exercise or student that does not exist."""
        extended = [name for times in self.extensions.values() for name in times]
        named = [
            ("points", "exercise", self.points.keys() - {"default"}, exercises),
            ("written", "exercise", self.written.keys() - {"default"}, exercises),
            ("deadlines", "chapter", self.deadlines, chapters),
            ("extensions", "chapter", extended, chapters),
            ("weights", "chapter", self.weights, chapters),
            ("extensions", "student", self.extensions, self.students or students),
        ]
        for entry, kind, used, known in named:
            if unknown := sorted(set(used) - set(known)):
                raise MomabError(
                    f"the course names the {kind} {unknown[0]!r} under {entry}, which does not "
                    f"exist; there are {', '.join(sorted(known))}."
                )


def _plain(text: str) -> str:
    return " ".join(re.split(r"[\W_]+", text.casefold())).strip()


def read_received(path: Path | None, course: Course) -> dict[tuple[str, str], datetime.datetime]:
    """When notebooks were received, by student and chapter; of several times the last."""
    if path is None:
        return {}
    found: dict[tuple[str, str], datetime.datetime] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                key = course.listed(row["student"].strip()), row["chapter"].strip()
                time = _time(row["received"].strip())
                found[key] = max(found.get(key, time), time, key=datetime.datetime.timestamp)
    except OSError as error:
        raise MomabError(f"{path} cannot be read: {error.strerror}.") from None
    except (KeyError, AttributeError):
        raise MomabError(f"{path} must have the columns student, chapter and received.") from None
    except ValueError:
        raise MomabError(
            f"{path}: a time is written 2026-11-20 23:59, not {row['received']!r}."
        ) from None
    return found


def read_course(path: Path | None) -> Course:
    """Read the rules of a course; without a file everything is worth one point."""
    try:
        return Course() if path is None else read_yaml(path, Course, f"the course {path}")
    except OSError as error:
        raise MomabError(f"{path} cannot be read: {error.strerror}.") from None
