"""Marks in the tables that Moodle and Canvas import.

Moodle's is the *grading worksheet* of an assignment (its feedback by offline worksheet must be
on), Canvas's the *gradebook*.  Best is to download that file from the platform and to have it
filled in: every column, row and id stays as it is, and marks become shares of the maximum that
stands in it.  Without it, a table is made for those whose ids are known, from the platform's zip
(`momab.course.intake`).

Nobody's mark is guessed: a student without an id is found by full name, address or login, if
only one row has it; whoever is not found, and whoever could not be graded, is named and left alone.
Of the platform's file only names of people are changed where a spreadsheet would take them for
formulas; ids, notes and other marks are the platform's own.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from momab.book.plain import plain_markdown
from momab.course.gradebook import harmless
from momab.course.grading import Class, Grade
from momab.course.intake import id_of
from momab.errors import MomabError

Row = list[str]
PLATFORMS = ("moodle", "canvas")
_MOODLE = (
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Grade",
    "Maximum Grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
)
_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_POINTS = "    Points Possible"  # as Canvas writes it
_PEOPLE = ("Full name", "Student", "LastName", "FirstName")
_KNOWN_BY = (*_PEOPLE[:2], "Email address", "Username", "ID number", *_CANVAS[2:4])
_COMPUTED = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")
_ASSIGNMENT = re.compile(r"(.*) \((\d+)\)$", re.DOTALL)


@dataclass(frozen=True)
class Export:
    """The text of a table, the maximum of its marks, and the students that are not in it."""

    text: str
    maximum: float
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class _Marks:
    """What the students of some results have, of how many marks."""

    total: dict[str, float]
    out_of: float
    feedback: Callable[[str], str]

    @classmethod
    def of(cls, graded: Class) -> _Marks:
        """Add up; whoever has something that is not graded, or not marked, has no total."""
        open_ = {g.student for g in graded.grades if graded.to_be_marked(g)} | {*graded.not_graded}
        total = {name: graded.total(name) for name in graded.students if name not in open_}
        return cls(total, graded.out_of, lambda student: _feedback(graded.of(student)))

    def share(self, student: str, maximum: float) -> str:
        """The marks of a student where there are so many to get."""
        marks = self.total[student] * maximum / self.out_of if self.out_of else 0.0
        return f"{marks:.2f}".rstrip("0").rstrip(".")


def _feedback(grades: Sequence[Grade]) -> str:
    """A sentence for every exercise; Moodle takes it for HTML, so signs of HTML are written out."""
    said = []
    for g in grades:
        if g.marks is not None and g.exercise:
            verdict = f"{g.exercise}: {g.marks:g} of {g.points:g}, {g.status}."
            said.append(f"{verdict} {plain_markdown(g.hint)}".strip())
        if g.words_marks is not None:
            verdict = f"{g.exercise}, in words: {g.words_marks:g} of {g.words_points:g}."
            said.append(f"{verdict} {g.comment}".strip())
    return str(harmless(html.escape(" ".join(said), quote=False)))


def make_export(graded: Class, to: str, roster: Path | None = None, assignment: str = "") -> Export:
    """The table for a platform, with its own file filled in if there is one."""
    if to not in PLATFORMS:
        raise MomabError(f"there is no table for {to!r}; there are moodle and canvas.")
    marks = _Marks.of(graded)
    if to == "moodle" and assignment:
        raise MomabError("a worksheet of Moodle is that of one assignment; leave --assignment out.")
    if roster is None:
        assignment = assignment or "momab"
        rows, mark, comma = _bare(marks, to, assignment), "", ","
    else:
        rows, mark, comma = _read(roster)
    fill = _moodle if to == "moodle" else _canvas
    maximum, written = fill(rows, marks, assignment)
    left_out = tuple(student for student in graded.students if student not in written)
    if not written:
        raise MomabError(
            "nobody's row was found: notebooks from the platform's zip have ids, and --roster "
            "takes the file that the platform gives."
        )
    comma = "," if to == "moodle" else comma  # Moodle reads no other
    text = "\n".join(comma.join(map(_cell, row)) for row in rows)
    return Export(f"{mark}{text}\n", maximum, left_out)


def _cell(text: str) -> str:
    """A cell with quotes where somebody might see its end too early; an empty one has none."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",;\t\r\n]', text) else text


# ---- files ---------------------------------------------------------------------------------


def _read(path: Path) -> tuple[list[Row], str, str]:
    """The rows of a platform's file, its byte order mark and its delimiter."""
    try:
        text = path.read_bytes().decode("utf-8")
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        text = text.removeprefix(mark)
        first = text.partition("\n")[0]
        comma = ";" if first.count(";") > first.count(",") else ","
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=comma, strict=True))
    except OSError as error:
        raise MomabError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise MomabError(f"{path} is no table in UTF-8 ({error}).") from None
    rows = [row for row in rows if row]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise MomabError(f"{path} is no table: its rows must all be as long as the first.")
    return rows, mark, comma


def _bare(marks: _Marks, to: str, assignment: str) -> list[Row]:
    """A table of those with ids, their marks not yet in it."""
    known = {student: id_of(student) for student in marks.total if id_of(student)}
    names = {student: student.rpartition("#")[0].strip() for student in known}
    if to == "moodle":
        head = list(_MOODLE)
        return [head] + [
            [f"Participant {key}", names[student], *[""] * 3, f"{marks.out_of:g}", *[""] * 4]
            for student, key in known.items()
        ]
    return [
        [*_CANVAS, assignment],
        [_POINTS, *[""] * 4, f"{marks.out_of:g}"],
        *([names[student], key, *[""] * 4] for student, key in known.items()),
    ]


# ---- the two platforms ---------------------------------------------------------------------


def _moodle(rows: list[Row], marks: _Marks, _: str) -> tuple[float, set[str]]:
    head = rows[0]
    if "Identifier" not in head or "Grade" not in head:
        raise MomabError(
            "Moodle's grading worksheet has the columns Identifier and Grade; download it as the "
            "--roster from the assignment, with Moodle in English."
        )
    highest = head.index("Maximum Grade") if "Maximum Grade" in head else None
    maxima = [] if highest is None else [_number(row[highest]) for row in rows[1:]]
    maximum = max((m for m in maxima if m), default=marks.out_of)
    grade = head.index("Grade")
    comments = head.index("Feedback comments") if "Feedback comments" in head else None
    written = set()
    for row, student in _matched(rows, marks, "Identifier"):
        row[grade] = marks.share(student, maximum)
        if comments is not None:
            row[comments] = marks.feedback(student)
        written.add(student)
    return maximum, written


def _canvas(rows: list[Row], marks: _Marks, assignment: str) -> tuple[float, set[str]]:
    head = rows[0]
    if "ID" not in head or "Section" not in head:
        raise MomabError(
            "Canvas's gradebook has the columns ID and Section; export it from Canvas as --roster."
        )
    column = _assignment(head, assignment)
    points = next((row for row in rows[1:4] if "Points Possible" in row[0]), None)
    maximum = (points and _number(points[column])) or marks.out_of
    written = set()
    for row, student in _matched(rows, marks, "ID"):
        row[column] = marks.share(student, maximum)
        written.add(student)
    return maximum, written


def _assignment(head: Row, wanted: str) -> int:
    """The column of an assignment, by its name, its id, or because there is only one."""
    columns = {
        number: name
        for number, name in enumerate(head)
        if number > head.index("Section") and not _COMPUTED.search(name)
    }
    parts = {n: _ASSIGNMENT.fullmatch(name) for n, name in columns.items()}
    found = [
        n
        for n, name in columns.items()
        if wanted == name or ((m := parts[n]) and wanted in (m[1], m[2], ""))
    ]
    if len(found) != 1:
        some = ", ".join(name for n, name in columns.items() if parts[n]) or "none"
        raise MomabError(f"--assignment says which one of these is meant: {some}.")
    return found[0]


def _number(text: str) -> float:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return 0.0


def _matched(rows: list[Row], marks: _Marks, key: str) -> list[tuple[Row, str]]:
    """The rows of students that have marks; names of people are made harmless on the way."""
    head = rows[0]
    by_id: dict[str, list[Row]] = {}
    by_name: dict[str, list[Row]] = {}
    for row in rows[1:]:
        if found := re.search(r"(\d+)$", row[head.index(key)].strip()):
            by_id.setdefault(found[1], []).append(row)
            names = {row[n].strip().casefold() for n, name in enumerate(head) if name in _KNOWN_BY}
            for name in names - {""}:
                by_name.setdefault(name, []).append(row)
            for n, name in enumerate(head):
                if name in _PEOPLE:
                    row[n] = str(harmless(row[n]))
    pairs = []
    for student in marks.total:
        if known := id_of(student):
            pairs += [(row, student) for row in by_id.get(known, [])]
        elif len(only := by_name.get(student.casefold(), [])) == 1:
            pairs.append((only[0], student))
    taken = [id(row) for row, _ in pairs]
    return [(row, student) for row, student in pairs if taken.count(id(row)) == 1]
