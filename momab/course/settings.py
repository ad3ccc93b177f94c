"""The rules of a course in one file: points, partial credit, deadlines, seeds, who takes part.

.. code-block:: yaml

    seed: 20261117                # of the arguments drawn for grading; drawn itself if absent
    variants: 42                  # of the copies of handouts; without it all have the same numbers
    students: [ada, ben]          # for whom copies are made
    points: {default: 1, width-floor-2: 3}
    written: {default: 3, width-floor-1: 6}  # of answers in words, which a person marks
    partial: true                 # parts that are right earn their share
    deadlines: {width-floor: 2026-11-20 23:59}
    extensions: {ben: {width-floor: 2026-11-27 23:59}}
    late: {lose: 0.1, days: 5}    # a tenth of the points per day begun; nothing after five
    delimiter: ","                # of the tables

Times without a zone are those of this machine.  A file counts as handed in when it was last
changed; copy it such that this time is kept.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momab.book.myst import ExerciseText
from momab.errors import MomabError
from momab.exercises.draws import Draw

_DAY = 86_400.0


@dataclass(frozen=True)
class Course:
    """The rules of a course; see the module for their file."""

    seed: int | None = None
    variants: int | None = None
    students: tuple[str, ...] = ()
    points: Mapping[str, float] = field(default_factory=dict)
    written: Mapping[str, float] = field(default_factory=dict)
    partial: bool = True
    deadlines: Mapping[str, datetime.datetime] = field(default_factory=dict)
    extensions: Mapping[str, Mapping[str, datetime.datetime]] = field(default_factory=dict)
    lose: float = 0.0
    days: float = math.inf
    delimiter: str = ","

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

    def copy_of(self, student: str) -> int | None:
        """The number of a student's copy of the handouts; None where all have the same."""
        if self.variants is None:
            return None
        return Draw(self.variants, student, "copy").word()

    def kept(self, student: str, chapter: str, handed_in: float) -> tuple[float, str]:
        """The share of the points that remains at this time (seconds), and what to say about it."""
        deadline = self.extensions.get(student, {}).get(chapter, self.deadlines.get(chapter))
        if deadline is None:
            return 1.0, ""
        late = handed_in - deadline.timestamp()
        if late <= 0:
            return 1.0, ""
        days = math.ceil(late / _DAY)
        share = 0.0 if days > self.days else max(0.0, 1 - self.lose * days)
        return (
            share,
            f"Handed in late, on day {days} after the deadline: {share:.0%} of the points.",
        )


def read_course(path: Path | None) -> Course:
    """Read the rules of a course; without a file everything is worth one point."""
    if path is None:
        return Course()
    import yaml

    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MomabError(f"{path} cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise MomabError(f"{path} is not YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(said, dict):
        raise MomabError(f"{path} must hold entries such as `points: {{default: 1}}`.")
    return _course(said, path)


def _course(said: Mapping[str, Any], path: Path) -> Course:
    read = {
        "seed": _whole,
        "variants": _whole,
        "students": _names,
        "points": _points,
        "written": _points,
        "partial": _truth,
        "deadlines": _times,
        "extensions": _extensions,
        "delimiter": _delimiter,
    }
    if unknown := sorted(map(str, said.keys() - read.keys() - {"late"})):
        known = ", ".join(sorted([*read, "late"]))
        raise MomabError(f"{path} has an entry {unknown[0]!r}; a course has {known}.")
    rules: dict[str, Any] = {}
    late = said.get("late", {})
    try:
        for name, value in said.items():
            if name in read:
                rules[name] = read[name](value)
        if not isinstance(late, dict) or not late.keys() <= {"lose", "days"}:
            raise ValueError("late has the entries lose and days")
        name = "late"
        lose, days = float(late.get("lose", 0.0)), float(late.get("days", math.inf))
        if not (0 <= lose <= 1 and days >= 0):
            raise ValueError("lose is a share, 0 to 1, and days are not negative")
    except (ValueError, TypeError, AttributeError) as error:
        raise MomabError(f"{path} says something odd under {name!r}: {error}.") from None
    return Course(lose=lose, days=days, **rules)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**64:
        raise ValueError(f"{value!r} is no whole number from 0 to 2**64 - 1")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _names(value: Any) -> tuple[str, ...]:
    names = tuple(str(name) for name in value)
    if isinstance(value, str) or len(set(names)) != len(names):
        raise ValueError("it must be a list of different names")
    return names


def _points(value: Any) -> dict[str, float]:
    points = {str(name): float(number) for name, number in value.items()}
    if not all(0 <= number < math.inf for number in points.values()):
        raise ValueError("points are not negative")
    return points


def _time(value: Any) -> datetime.datetime:
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time(23, 59, 59))
    if not isinstance(value, datetime.datetime):
        raise ValueError(f"{value!r} is no time such as 2026-11-20 23:59")
    return value


def _times(value: Any) -> dict[str, datetime.datetime]:
    return {str(name): _time(time) for name, time in value.items()}


def _extensions(value: Any) -> dict[str, dict[str, datetime.datetime]]:
    return {str(name): _times(times) for name, times in value.items()}


def _delimiter(value: Any) -> str:
    if value not in (",", ";", "\t"):
        raise ValueError("a delimiter is a comma, a semicolon or a tab")
    return str(value)
