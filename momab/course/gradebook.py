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
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from momab._util.files import atomically
from momab.book.plain import plain_markdown
from momab.course.grading import ABSENT, Class, Grade

_LONGEST = 20_000  # characters of an answer that a report shows


def write(graded: Class, output: Path) -> list[Path]:
    """Write the tables and the pages; each file is whole or not there, and none is left out."""
    names = report_names(graded.students)
    files = {
        output / "reports" / f"{names[student]}.html": _page(graded, student)
        for student in graded.students
    }
    files[output / "details.csv"] = _details(graded)
    files[output / "grades.csv"] = _table(graded)
    with _undisturbed():
        for path, text in files.items():
            with atomically(path) as file:
                file.write(
                    text.encode("utf-8-sig" if path.suffix == ".csv" else "utf-8", "replace")
                )
    return list(files)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait: writing takes a moment, and half of the files would be worse than none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    chapters: dict[str, list[Grade]] = {}
    for grade in graded.of(student):
        chapters.setdefault(grade.chapter, []).append(grade)
    return environment.from_string(_TEMPLATE).render(
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


_TEMPLATE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>{{ student }}: {{ total }} of {{ out_of }}</title>
<style>
:root { --paper: #fbfaf7; --card: #ffffff; --ink: #1f2933; --muted: #566270; --line: #d9dee4;
  --good: #00714f; --bad: #b04a00; --calm: #0062a0; --code: #f1f3f5; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181d; --card: #1c2229; --ink: #e7e4dc; --muted: #a4aeb9; --line: #3a444f;
    --good: #3fd0a4; --bad: #ff9452; --calm: #62b8f0; --code: #252c34; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .8rem; }
h3 { font-size: 1.05rem; margin: 0; }
.total { font-size: 1.15rem; margin: 0 0 1.2rem; }
.muted { color: var(--muted); }
.overview { display: flex; flex-wrap: wrap; gap: .4rem; padding: 0; margin: 0; list-style: none; }
.overview a { display: block; padding: .2rem .6rem; border: 1px solid var(--line);
  border-radius: 1rem; background: var(--card); text-decoration: none; font-size: .9rem;
  color: var(--tone); }
.overview a:hover, .overview a:focus-visible { border-color: currentColor; }
.right { --tone: var(--good); } .written, .empty, .missing { --tone: var(--calm); }
.wrong, .crashed, .timeout, .memory, .refused, .unreadable { --tone: var(--bad); }
section { background: var(--card); border: 1px solid var(--line);
  border-left: 4px solid var(--tone); border-radius: 6px; padding: .9rem 1rem; margin: 0 0 .9rem; }
.status { color: var(--tone); font-weight: 600; margin: .15rem 0 0; }
.status .muted { font-weight: 400; }
section p, section ul { margin: .5rem 0 0; }
section ul { list-style: none; padding: 0; }
section li { padding-left: 1.5rem; text-indent: -1.5rem; margin-bottom: .25rem; }
.mark { display: inline-block; width: 1.5rem; text-indent: 0; font-weight: 700; }
.yes { color: var(--good); } .no { color: var(--bad); }
.found { display: block; text-indent: 0; color: var(--muted); font-size: .92rem; }
.hint { border-left: 3px solid var(--line); padding-left: .7rem; }
details { margin-top: .6rem; } summary { cursor: pointer; color: var(--muted); }
pre { margin: .5rem 0 0; padding: .7rem .8rem; background: var(--code); border-radius: 4px;
  overflow-x: auto; white-space: pre-wrap;
  font: .88rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
pre.words { font: inherit; }
@media print { section { break-inside: avoid; } body { background: none; } }
</style>
</head>
<body>
<main>
<h1>{{ student }}</h1>
<p class="total"><strong>{{ total }}</strong> of {{ out_of }} marks for programming exercises</p>
<nav aria-label="Exercises"><ul class="overview">
{% for chapter, grades in chapters.items() if not absent(grades) %}\
{% for grade in grades if grade.exercise %}
<li class="{{ grade.status }}">\
<a href="#{{ grade.exercise }}">{{ sign(grade.status) }} {{ grade.exercise }}</a></li>
{% endfor %}{% endfor %}
</ul></nav>
{% for chapter, grades in chapters.items() %}
<h2>{{ "Chapter " ~ chapter if chapter else "Other files" }}</h2>
{% if absent(grades) %}
<section class="missing"><p class="status">○ {{ grades[0].hint }}</p></section>
{% endif %}
{% for grade in grades if not absent(grades) %}
<section class="{{ grade.status }}"{% if grade.exercise %} id="{{ grade.exercise }}"{% endif %}>
<h3>{{ grade.exercise }}{% if grade.title %}: {{ plain(grade.title) }}{% endif %}</h3>
<p class="status">{{ sign(grade.status) }} {{ grade.status }}\
<span class="muted">: {{ meanings[grade.status] }}\
{% if grade.marks is not none %} ({{ grade.marks }} of 1){% endif %}</span></p>
{% if grade.parts %}
<ul>
{% for part in grade.parts %}
<li><span class="mark {{ "yes" if part.right else "no" }}">{{ "✓" if part.right else "✗" }}</span>\
<span class="muted">{{ "right" if part.right else "wrong" }}:</span> {{ part.what }}\
{% if part.found %}<span class="found">{{ part.found }}</span>{% endif %}</li>
{% endfor %}
</ul>
{% endif %}
{% if grade.hint %}<p class="hint"><strong>Hint.</strong> {{ grade.hint }}</p>{% endif %}
{% for note in notes(grade) %}<p class="muted">{{ note }}</p>{% endfor %}
{% if grade.status == "written" %}
<pre class="words">{{ shown(grade.answer) }}</pre>
{% elif grade.answer and grade.status != "empty" %}
<details><summary>The answer that was graded</summary>
<pre tabindex="0">{{ shown(grade.answer) }}</pre></details>
{% endif %}
</section>
{% endfor %}
{% endfor %}
</main>
</body>
</html>
"""
