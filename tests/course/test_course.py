"""The rules of a course: points, lateness, copies, seeds, regrading."""

import csv
import datetime
import json
import subprocess
import time

import pytest

from momab import MomabError, exercises
from momab.book import editions, myst
from momab.book.project import Project
from momab.course import gradebook, grading, handout, judging, settings, submissions
from momab.course.guard import plain_python
from momab.course.settings import Course
from tests.conftest import ROOT
from tests.course import classroom
from tests.course.classroom import MAIN, SITUATION, WIDTH, Pupil
from tests.course.test_grading import COMMAND, isolated, rows
from tests.exercises import memory

PROJECT = Project.find(ROOT)


# ---- the file ------------------------------------------------------------------------------


def test_a_course_is_read(tmp_path):
    file = tmp_path / "course.yml"
    file.write_text(
        "seed: 3\nvariants: 42\nstudents: [ada, ben]\npoints: {default: 2, width-floor-2: 3}\n"
        "partial: false\ndeadlines: {model: 2026-11-20 23:59}\n"
        "extensions: {ben: {model: 2026-11-27 23:59}}\nlate: {lose: 0.1, days: 5}\ndelimiter: ';'\n"
    )
    course = settings.read_course(file)
    assert (course.seed, course.partial, course.delimiter) == (3, False, ";")
    assert (course.worth("width-floor-2"), course.worth("model-1")) == (3, 2)
    assert course.copy_of("ada") != course.copy_of("ben")
    on_time = datetime.datetime(2026, 11, 20, 23, 58).timestamp()
    assert course.kept("ada", "model", on_time) == (1.0, "")
    assert course.kept("ada", "limit", on_time + 10**9) == (1.0, "")
    assert course.kept("ada", "model", on_time + 120)[0] == 0.9
    assert course.kept("ada", "model", on_time + 2 * 86_400)[0] == pytest.approx(0.8)
    assert course.kept("ada", "model", on_time + 6 * 86_400)[0] == 0.0
    assert course.kept("ben", "model", on_time + 6 * 86_400) == (1.0, "")
    assert settings.read_course(None) == Course()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "must hold entries"),
        ("point: 1", "'point'; a course has"),
        ("seed: soon", "no whole number"),
        ("points: {model-1: -1}", "not negative"),
        ("deadlines: {model: tomorrow}", "deadlines"),
        ("late: {lose: 2}", "lose is a share"),
        ("late: 3", "late has the entries"),
        ("students: [ada, ada]", "different names"),
        ("delimiter: x", "delimiter"),
        ("a: [", "not YAML"),
    ],
)
def test_an_odd_course_is_explained(tmp_path, text, said):
    file = tmp_path / "course.yml"
    file.write_text(text)
    with pytest.raises(MomabError, match=said):
        settings.read_course(file)


# ---- points --------------------------------------------------------------------------------

ONLY_ONE = """
import numpy as np

def sampled_width(upper, radii):
    first, second = np.argsort(-upper[:, 0], kind="stable")[:2]
    return radii[first] + radii[second]
"""


@isolated
def test_parts_earn_their_share_and_lateness_costs(school, tmp_path):
    classroom.hand_in(school, [Pupil("ada", {WIDTH: ONLY_ONE})], tmp_path)
    deadline = datetime.datetime.now() - datetime.timedelta(hours=30)
    course = Course(points={WIDTH: 3.0}, seed=5)
    graded = grading.grade_class(PROJECT, tmp_path, course=course)
    assert [(g.status, g.marks, g.points) for g in graded.of("ada") if g.exercise == WIDTH] == [
        ("wrong", 1.0, 3.0)
    ]
    assert (graded.total("ada"), graded.out_of, graded.seed) == (3.0, 5.0, 5)
    late = Course(points={WIDTH: 3.0}, seed=5, deadlines={MAIN: deadline}, lose=0.1, days=5)
    graded = grading.grade_class(PROJECT, tmp_path, course=late)
    assert graded.total("ada") == pytest.approx(0.8 * 3.0)
    assert "on day 2 after the deadline" in graded.of("ada")[1].notes[0]
    none = grading.grade_class(PROJECT, tmp_path, course=Course(partial=False))
    assert none.total("ada") == 2


@isolated
def test_one_student_is_graded_again_with_the_old_seed(school, tmp_path):
    folder, output = tmp_path / "class", tmp_path / "results"
    classroom.hand_in(school, [Pupil("ada"), Pupil("ben", {SITUATION: "situation = 1"})], folder)

    def grade(*more):
        command = [*COMMAND, str(folder), "-o", str(output), *more]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert grade("--seed", "11").returncode == 0
    first = rows(output / "details.csv")
    classroom.hand_in(school, [Pupil("ben")], folder)
    again = grade("--student", "ben")
    assert again.returncode == 0, again.stderr
    assert "seed: 11\n" in again.stdout
    second = rows(output / "details.csv")
    assert [r for r in first if r["student"] == "ada"] == [
        r for r in second if r["student"] == "ada"
    ]
    assert [row["total"] for row in rows(output / "grades.csv")] == ["3", "3"]
    assert "there is no notebook of 'eve'" in grade("--student", "eve").stderr


# ---- students and tables -------------------------------------------------------------------


def test_students_whose_names_look_the_same_stay_two(school, tmp_path):
    for name in ("ada", "ada\u200e", "ada\x07"):
        classroom.hand_in(school, [Pupil(name)], tmp_path)
    found = submissions.read_class(tmp_path, [MAIN])
    assert len({s.student for s in found}) == 3
    assert all(s.student.isprintable() for s in found)


def test_semicolons_neither_split_cells_nor_start_formulas():
    text = gradebook._csv([["a;=1+1", 'x;"=cmd()', "ok; fine", 2.0, 0.5, None]], ",")
    [row] = csv.reader(text.splitlines())
    assert row == ["a;'=1+1", "x;\"'=cmd()", "ok; fine", "2", "0.5", ""]
    assert text.startswith('"a;')


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("x = (7\n  % 4)", "x = (7\n  % 4)"),
        ('text = """\n%time\n!ls\n"""', 'text = """\n%time\n!ls\n"""'),
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("%%time\nx = 1", "pass\nx = 1"),
        ("if True:\n    !ls\nx = (9\n%5)", "if True:\n    pass\nx = (9\n%5)"),
        ("x = 9 \\\n% 5\n!ls", "x = 9 \\\n% 5\npass"),
        ("def broken(:\n%time", "def broken(:\n%time"),
    ],
)
def test_only_lines_that_begin_a_statement_are_magics(source, plain):
    assert plain_python(source) == plain


def test_a_judge_that_takes_too_long_is_replaced():
    judges = judging.Judges(1, seconds=60.0)
    numbers = judging.Numbers(1, "ada")
    try:
        good = judges.judge(
            "model-1", numbers, [{"value": exercises.find_exercise("model-1").solution}]
        )
        assert (good.share, good.status) == (1.0, "right")
        judges._seconds = 0.0001
        slow = judges.judge(SITUATION, numbers, [{"value": 1}])
        assert (slow.share, slow.status) == (0.0, "timeout")
        judges._seconds = 60.0
        assert judges.judge(SITUATION, numbers, [{"value": 1}]).status == "wrong"
    finally:
        judges.close()


# ---- copies --------------------------------------------------------------------------------


def test_copies_ask_for_their_own_numbers_and_check_them(tmp_path, capsys):
    course = Course(variants=42, students=("ada", "ben"))
    paths = handout.write_handouts(PROJECT, [MAIN], tmp_path, course=course)
    assert [p.relative_to(tmp_path).as_posix() for p in paths] == [
        f"{name}/{MAIN}.ipynb" for name in ("ada", "ben")
    ]
    node = json.loads(paths[0].read_text())
    copy = course.copy_of("ada")
    assert node["metadata"]["momab"]["copy"] == copy
    sentence, _ = exercises.own_copy(SITUATION, copy)
    text = ["".join(cell["source"]) for cell in node["cells"]]
    assert any(sentence in cell for cell in text)
    assert f'momab.check("{SITUATION}", situation, copy={copy})' in text
    exercises.check(SITUATION, exercises.find_exercise(SITUATION).solution, copy=copy)
    assert sentence in capsys.readouterr().out
    with pytest.raises(MomabError, match="variants"):
        handout.write_handouts(PROJECT, [MAIN], tmp_path, course=Course(variants=1))
    with pytest.raises(MomabError, match="folder"):
        handout.write_handouts(
            PROJECT, [MAIN], tmp_path, course=Course(variants=1, students=("..",))
        )


def _solved(label: str, copy: int | None, cells: dict[str, str], name: str) -> str:
    exercise = exercises.find_exercise(label)
    if exercise.cases or copy is None:
        return cells[label]
    _, own = exercises.own_copy(label, copy)
    return f"{name} = {memory.solved(exercise, own)!r}"


def _remembered(label: str, name: str) -> str:
    """The outcomes of the check by heart."""
    exercise = exercises.find_exercise(label)
    if not exercise.cases:
        return f"{name} = {exercise.solution!r}"
    known = [outcome.value for outcome in exercise.outcomes(exercise.solution)]
    return (
        (
            f"import itertools\nknown = itertools.cycle({known!r})\n"
            f"def {name}(*arguments):\n    return next(known)\n"
        )
        .replace("inf", "float('inf')")
        .replace("nan", "float('nan')")
    )


@isolated
@pytest.mark.slow
def test_two_hundred_students_with_copies(tmp_path):
    """Who has understood gets all points, who remembers gets none, in one command."""
    chapters = ("model", MAIN, "refresher", "zero-gap")
    names = [f"student {number:03}" for number in range(200)]
    file = tmp_path / "course.yml"
    file.write_text(json.dumps({"variants": 42, "seed": 9, "students": names}))
    course = settings.read_course(file)
    texts = {
        c: [t for t in myst.exercises(PROJECT.notebook(c).node) if t.programming] for c in chapters
    }
    cells: dict[str, str] = {}
    for chapter in chapters:
        for label, cell in editions.solution_cells(PROJECT.notebook(chapter).node):
            if f'momab.check("{label}"' in cell.source:
                cells[label] = cell.source
    for number, name in enumerate(names):
        chapter = chapters[number % len(chapters)]
        copy = course.copy_of(name)
        node = handout.make_handout(PROJECT, chapter, copy)
        answers = {text.label: text.answer_name for text in texts[chapter]}
        for cell in node.cells:
            label = cell.metadata["momab"].get("exercise", "")
            if cell.metadata["momab"]["role"] == "answer" and label in answers:
                honest = number % 8 < 4
                cell.source = (
                    _solved(label, copy, cells, answers[label])
                    if honest
                    else _remembered(label, answers[label])
                )
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / f"{chapter}.ipynb").write_text(json.dumps(node))
    output = tmp_path / "results"
    command = [*COMMAND, str(tmp_path / "class"), "-o", str(output), "--course", str(file)]
    started = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    print(f"200 students in {time.monotonic() - started:.0f} s")
    assert done.returncode == 0, done.stderr
    totals = {row["student"]: float(row["total"]) for row in rows(output / "grades.csv")}
    assert len(totals) == 200
    for number, name in enumerate(names):
        chapter = chapters[number % len(chapters)]
        assert totals[name] == (len(texts[chapter]) if number % 8 < 4 else 0), name
    items = {row["exercise"]: row for row in rows(output / "items.csv")}
    for chapter in chapters:
        for text in texts[chapter]:
            row = items[text.label]
            assert (row["answered"], row["right"]) == ("50", "25")
            assert float(row["discrimination"]) > 0
