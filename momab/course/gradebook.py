"""The results of grading as files: two tables, and a page for every student.

- ``grades.csv``: a row per student with the total and a column per exercise; the columns of
  exercises in words are empty, for marks that a person gives;
- ``details.csv``: a row per student and exercise with status, parts and hint;
- ``reports/<student>.html``: what was right, what was wrong, and the hints.

Names, answers and error messages come from students.  In the tables, a text that a spreadsheet
would take for a formula gets an apostrophe in front; in the pages, everything is escaped and the
browser is told to run nothing.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from momab._util.files import atomically
from momab._util.progress import uninterrupted
from momab.book.plain import plain_markdown
from momab.course.grading import ABSENT, Class, Grade

_LONGEST = 20_000  # characters of an answer that a report shows


def write_gradebook(graded: Class, output: Path) -> list[Path]:
    """Write the tables and the pages; each file is whole or not there, and none is left out."""
    names = report_names(graded.students)
    files = {
        output / "reports" / f"{names[student]}.html": _page(graded, student)
        for student in graded.students
    }
    files[output / "details.csv"] = _details(graded)
    files[output / "grades.csv"] = _table(graded)
    with uninterrupted():  # half of the files would be worse than none
        for path, text in files.items():
            with atomically(path) as file:
                file.write(
                    text.encode("utf-8-sig" if path.suffix == ".csv" else "utf-8", "replace")
                )
    return list(files)


def report_names(students: Sequence[str]) -> dict[str, str]:
    """A file name for every student: harmless, and different even where capitals do not count."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for student in students:
        plain = re.sub(r"[^\w-]+", "-", student).strip("-_")[:80] or "student"
        name, number = plain, 1
        while name.casefold() in taken or name.upper() in _RESERVED:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.casefold())
        names[student] = name
    return names


_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{d}{n}" for d in ("COM", "LPT") for n in range(10))}


# ---- tables --------------------------------------------------------------------------------


def _csv(rows: Sequence[Sequence[object]]) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([[_harmless(item) for item in row] for row in rows])
    return file.getvalue()


def _harmless(item: object) -> object:
    """A text that no spreadsheet takes for a formula; numbers stay."""
    if not isinstance(item, str):
        return "" if item is None else item
    text = re.sub(r"\s+", " ", item).strip()
    return f"'{text}" if text.startswith(tuple("=+-@＝＋－＠")) else text


def _table(graded: Class) -> str:
    labels = [exercise.label for exercise in graded.exercises]
    rows: list[list[object]] = [["student", "total", "out of", *labels]]
    for student in graded.students:
        marks = {grade.exercise: grade.marks for grade in graded.of(student)}
        rows.append(
            [student, graded.total(student), graded.out_of, *(marks.get(name) for name in labels)]
        )
    return _csv(rows)


def _details(graded: Class) -> str:
    head = ["student", "chapter", "exercise", "marks", "out of", "status", "parts right", "hint"]
    return _csv(
        [
            head,
            *(
                [
                    grade.student,
                    grade.chapter,
                    grade.exercise,
                    grade.marks,
                    None if grade.marks is None else 1,
                    grade.status,
                    parts_right(grade),
                    " ".join(filter(None, (grade.hint, *_new_notes(grade)))),
                ]
                for grade in graded.grades
            ),
        ]
    )


def parts_right(grade: Grade) -> str:
    """For example '2 of 3'; nothing where no part was looked at."""
    return f"{sum(p.right for p in grade.parts)} of {len(grade.parts)}" if grade.parts else ""


def _new_notes(grade: Grade) -> list[str]:
    return [note for note in grade.notes if note != grade.hint]


# ---- pages ---------------------------------------------------------------------------------

_MEANINGS = {
    "right": "everything is right",
    "written": "in words, to be read by a person",
    "wrong": "it runs, but something is not right yet",
    "crashed": "it ended with an error",
    "timeout": "it took too long",
    "memory": "it used too much memory",
    "refused": "it tried something that is not allowed while grading",
    "empty": "not answered",
    "missing": "not handed in",
    "unreadable": "the file could not be read",
}
_SIGNS = {"right": "✓", "written": "✎", "empty": "○", "missing": "○"}


def _page(graded: Class, student: str) -> str:
    """The page of one student."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    chapters: dict[str, list[Grade]] = {}
    for grade in graded.of(student):
        chapters.setdefault(grade.chapter, []).append(grade)
    return environment.get_template("report.html").render(
        student=student,
        total=graded.total(student),
        out_of=graded.out_of,
        chapters=chapters,
        meanings=_MEANINGS,
        sign=lambda status: _SIGNS.get(status, "✗"),
        parts_right=parts_right,
        plain=plain_markdown,
        notes=_new_notes,
        absent=lambda grades: all(grade.hint == ABSENT for grade in grades),
        shown=lambda text: text[:_LONGEST] + (" …" if len(text) > _LONGEST else ""),
    )
