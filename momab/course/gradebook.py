"""The results of grading as files: tables, and a page for every student.

- ``grades.csv``: a row per student with id, the term's mark in percent, the total, a column per
  chapter and a column per exercise, two where it asks for code and for words;
  words without a mark are empty, or say so where others are marked, and what could not be graded
  says so;
- ``details.csv``: a row per student and exercise with status, parts, hint, marks and comment;
- ``items.csv``: a row per exercise, with how the class did on it;
- ``results.json``: all of it for programs, with the settings that each notebook was graded with;
  what is graded later, another chapter or another student, is put beside it or in its place;
- ``reports/<student>.html``: what was right, what was wrong, the hints, and what a person said.

What a person gave for words is in ``marks.json`` (`momab.course.marking`) and is put in.

Names, answers and error messages come from students.  In the tables, a text that a spreadsheet
would take for a formula gets an apostrophe in front, also behind a semicolon, which many
spreadsheets take for the end of a cell; in the pages, everything is escaped and the browser is told
to run nothing.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from momab._util.files import atomically
from momab._util.progress import uninterrupted
from momab.book.formulas import inline_styles
from momab.book.myst import exercises
from momab.book.plain import plain_markdown
from momab.book.project import Project
from momab.book.templating import fill_page
from momab.course.analysis import item_rows
from momab.course.grading import ABSENT, Grade, Graded, complete
from momab.course.handout import chapters_with_exercises
from momab.course.marking import read_marks, with_marks
from momab.course.rendering import Prose, shortened
from momab.course.settings import Course
from momab.errors import MomabError
from momab.exercises import Part


def write_gradebook(project: Project, graded: Graded, output: Path) -> Graded:
    """Write the tables and the pages; each file is whole or not there, and none is left out.

    Gives back the class with what a person gave for words.
    """
    graded = with_marks(graded, read_marks(output))
    names = report_names(graded.students)
    with closing(Prose(project)) as prose:
        files = {
            output / "reports" / f"{names[student]}.html": _page(graded, student, prose)
            for student in graded.students
        }
    mark = graded.course.delimiter
    files[output / "items.csv"] = _csv(item_rows(graded), mark)
    files[output / "details.csv"] = _csv(_details(graded), mark)
    files[output / "grades.csv"] = _csv(_table(graded), mark)
    files[output / "results.json"] = _results(graded)
    with uninterrupted():  # half of the files would be worse than none
        for path, text in files.items():
            with atomically(path) as file:
                file.write(
                    text.encode("utf-8-sig" if path.suffix == ".csv" else "utf-8", "replace")
                )
    return graded


# ---- results for programs ------------------------------------------------------------------


def _results(graded: Graded) -> str:
    fields = ["student", "chapter", "exercise", "status", "marks", "points", "hint", "answer"]
    fields += ["words", "words_points", "kept"]
    rules = ("students", "points", "written", "weights", "drop", "delimiter")
    return json.dumps(
        {
            "seed": graded.seed,
            "students": list(graded.students),
            "course": {name: getattr(graded.course, name) for name in rules},
            "settings": [[*pair, said] for pair, said in sorted(graded.settings.items())],
            "grades": [
                {
                    **{name: getattr(grade, name) for name in fields},
                    "title": grade.title,
                    "parts": [[part.what, part.right, part.found] for part in grade.parts],
                    "notes": list(grade.notes),
                }
                for grade in graded.grades
                if grade.hint != ABSENT
            ],
        },
        indent=1,
    )


def recorded(project: Project, output: Path) -> Graded:
    """The results that are there, with what a person gave for words."""
    found = _read(output)
    try:
        grades = tuple(_grade(item) for item in found["grades"])
        course = Course(**found["course"])
        students, seed = tuple(found["students"]), int(found["seed"])
        settings = {(student, chapter): said for student, chapter, said in found["settings"]}
    except (KeyError, TypeError, ValueError):
        path = output / "results.json"
        raise MomabError(f"{path} is of another version; grade the class again.") from None
    used = {grade.chapter for grade in grades}
    chapters = [name for name in chapters_with_exercises(project) if name in used]
    texts = tuple(e for name in chapters for e in exercises(project.notebook(name).node))
    graded = complete(Graded(students, texts, grades, course, seed, settings))
    return with_marks(graded, read_marks(output))


def _grade(item: dict[str, Any]) -> Grade:
    rest = {k: v for k, v in item.items() if k not in ("parts", "notes")}
    return Grade(
        **rest,
        parts=tuple(Part(*part) for part in item["parts"]),
        notes=tuple(item["notes"]),
    )


def _read(output: Path) -> Any:
    path = output / "results.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or not found.keys() >= {"seed", "students", "grades"}:
            raise ValueError
        return found
    except OSError as error:
        raise MomabError(
            f"{path} cannot be read ({error.strerror}); grade the whole class first."
        ) from None
    except ValueError:
        raise MomabError(f"{path} is damaged; grade the whole class again.") from None


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


def _csv(rows: Sequence[Sequence[object]], delimiter: str) -> str:
    file = io.StringIO(newline="")
    # every text is quoted, so that its semicolons stay inside
    writer = csv.writer(
        file, lineterminator="\n", delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC
    )
    writer.writerows([[harmless(item) for item in row] for row in rows])
    return file.getvalue()


_FORMULA = "=+\\-@＝＋－＠"


def harmless(item: object) -> object:
    """A text that no spreadsheet takes for a formula; numbers stay, whole ones without a point."""
    if not isinstance(item, str):
        whole = isinstance(item, float) and item.is_integer()
        return "" if item is None else int(item) if whole else item  # type: ignore[call-overload]
    text = re.sub(r"\s+", " ", item).strip()
    return re.sub(rf"(^|;[\s\"']*)(?=[{_FORMULA}])", r"\1'", text)


def _table(graded: Graded) -> list[list[object]]:
    columns = [
        (text.label, words)
        for text in graded.exercises
        for words in (False, True)
        if (text.words if words else text.programming)
    ]
    both = {text.label for text in graded.exercises if text.programming}
    heads = [f"{label} (words)" if words and label in both else label for label, words in columns]
    chapters = graded.chapters
    first = ["student", "id", "percent", "total", "out of"]
    rows: list[list[object]] = [[*first, *chapters, *heads]]
    for student in graded.students:
        found = {grade.exercise: grade for grade in graded.of(student)}
        cells = [_cell(graded, found.get(label), words) for label, words in columns]
        lacks = next((word for word in (NOT_GRADED, NOT_MARKED) if word in cells), None)
        row: list[object] = [student, graded.course.students.get(student, "")]
        row += [lacks or graded.percent(student), lacks or graded.total(student)]
        sums = [graded.total(student, chapter) for chapter in chapters]
        rows.append([*row, graded.out_of(student), *sums, *cells])
    return rows


NOT_GRADED, NOT_MARKED = "not graded", "not marked"


def _cell(graded: Graded, grade: Grade | None, words: bool) -> object:
    """What a table says about an exercise, or about its words."""
    if grade is None or grade.status == NOT_GRADED:
        return grade and grade.status
    if not words:
        return grade.marks
    if graded.to_be_marked(grade):
        return NOT_MARKED
    # who wrote nothing gets nothing where others got something
    return 0 if grade.exercise in graded.marked and not grade.words else grade.words_marks


def _details(graded: Graded) -> list[list[object]]:
    head = ["student", "chapter", "exercise", "marks", "out of", "status", "parts right", "hint"]
    rows: list[list[object]] = [[*head, "words", "words out of", "comment"]]
    rows += (
        [
            grade.student,
            grade.chapter,
            grade.exercise,
            grade.marks,
            None if grade.marks is None else grade.points,
            grade.status,
            parts_right(grade),
            " ".join(filter(None, (grade.hint, *_new_notes(grade)))),
            grade.exercise and _cell(graded, grade, True),
            grade.words_points or None,
            grade.comment,
        ]
        for grade in graded.grades
    )
    return rows


def parts_right(grade: Grade) -> str:
    """For example '2 of 3'; nothing where no part was looked at."""
    return f"{sum(p.right for p in grade.parts)} of {len(grade.parts)}" if grade.parts else ""


def _new_notes(grade: Grade) -> list[str]:
    return [note for note in grade.notes if note != grade.hint]


# ---- pages ---------------------------------------------------------------------------------

_MEANINGS = {
    "right": "everything is right",
    "written": "in words, for a person to read",
    "wrong": "it runs, but something is not right yet",
    "crashed": "it ended with an error",
    "timeout": "it took too long",
    "memory": "it used too much memory",
    "empty": "not answered",
    "missing": "not handed in",
    "unreadable": "the file could not be read",
    "not graded": "the grader failed, which is no fault of the answer; it will be graded again",
}
_SIGNS = {"right": "✓", "written": "✎", "empty": "○", "missing": "○"}


def verdict(grade: Grade) -> dict[str, str]:
    """A status as a page shows it: its sign, its name, what it means."""
    sign, meaning = _SIGNS.get(grade.status, "✗"), _MEANINGS[grade.status]
    return {"sign": sign, "name": grade.status, "meaning": meaning}


def _page(graded: Graded, student: str, prose: Prose) -> str:
    """The page of one student."""
    chapters: dict[str, list[Grade]] = {}
    for grade in graded.of(student):
        chapters.setdefault(grade.chapter, []).append(grade)
    words = {g.exercise: prose.html(g.words) for g in graded.of(student) if g.words}
    comments = {g.exercise: prose.html(g.comment) for g in graded.of(student) if g.comment}
    return fill_page(
        "report.html",
        package="momab.course",
        student=student,
        total=f"{graded.total(student):g}",
        out_of=f"{graded.out_of(student):g}",
        missing=sum(map(graded.to_be_marked, graded.of(student))),
        person=bool(graded.marked),
        seed=graded.seed,
        chapters=chapters,
        verdict=verdict,
        plain=plain_markdown,
        notes=_new_notes,
        absent=lambda grades: all(grade.hint == ABSENT for grade in grades),
        shown=shortened,
        words=words,
        comments=comments,
        words_cell=lambda grade: _cell(graded, grade, True),
        formulas=inline_styles("".join([*words.values(), *comments.values()])),
    )
