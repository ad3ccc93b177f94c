"""The rules of a course, and a term: points, lateness, regrading, a resit, the mark at the end."""

import csv
import datetime
import os

import pytest

from momab import MomabError, exercises
from momab.book.project import Project
from momab.cli.course import grade_command
from momab.course import gradebook, grading, judging, settings, submissions
from momab.course.guard import plain_python
from momab.course.settings import Course
from tests.conftest import ROOT
from tests.course import classroom
from tests.course.classroom import MAIN, SECOND, SITUATION, WIDTH, Pupil
from tests.course.test_grading import rows

PROJECT = Project.find(ROOT)


# ---- the file ------------------------------------------------------------------------------


def test_a_course_is_read(tmp_path):
    file = tmp_path / "course.yml"
    file.write_text(
        "seed: 3\nstudents: {ada: 4711, ben: }\npoints: {default: 2, width-floor-2: 3}\n"
        "partial: false\ndeadlines: {model: 2026-11-20 23:59}\nweights: {model: 2}\ndrop: 1\n"
        "extensions: {ben: {model: 2026-11-27 23:59}}\nlate: {lose: 0.1, days: 5}\ndelimiter: ';'\n"
    )
    course = settings.read_course(file)
    assert (course.seed, course.partial, course.delimiter, course.drop) == (3, False, ";", 1)
    assert (course.worth("width-floor-2"), course.worth("model-1")) == (3, 2)
    assert course.students == {"ada": "4711", "ben": ""}
    due = datetime.datetime(2026, 11, 20, 23, 59)
    day = datetime.timedelta(days=1)
    assert course.kept("ada", "model", due) == (1.0, "")
    assert course.kept("ada", "model", None) == (1.0, "")
    assert course.kept("ada", "limit", due + 999 * day) == (1.0, "")
    assert course.kept("ada", "model", due + day / 24)[0] == 0.9
    assert course.kept("ada", "model", due + 2 * day)[0] == pytest.approx(0.8)
    assert course.kept("ada", "model", due + 6 * day)[0] == 0.0
    assert course.kept("ben", "model", due + 6 * day) == (1.0, "")
    assert settings.read_course(None) == Course()


@pytest.mark.parametrize(
    ("said", "student"),
    [
        ("ada", "ada"),
        ("Ada", "ada"),
        ("ada_99_assignsubmission_file", "ada"),  # as Moodle names folders
        ("lovelaceada_4711_9012_model", "ada"),  # as Canvas names files
        ("ada lovelace", "ada lovelace"),
        ("adam", "adam"),
        ("ben_4711", "ben_4711"),  # two fit
    ],
)
def test_a_listed_student_is_found_by_name_or_id(said, student):
    assert Course(students={"ada": "4711", "ben": ""}).listed(said) == student


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"points": {"model-99": 1.0}}, "names the exercise 'model-99' under points"),
        ({"written": {"modle-1": 1.0}}, "names the exercise 'modle-1' under written"),
        (
            {"deadlines": {"modle": datetime.datetime(2026, 1, 1)}},
            "names the chapter 'modle' under deadlines",
        ),
        ({"weights": {"modle": 1.0}}, "names the chapter 'modle' under weights"),
        ({"extensions": {"eve": {}}, "students": {"ada": ""}}, "names the student 'eve'"),
        ({"extensions": {"eve": {}}}, "names the student 'eve'"),
    ],
)
def test_what_does_not_exist_is_named(rules, said):
    with pytest.raises(MomabError, match=said):
        Course(**rules).require_known(["model"], ["model-1"], ["ada"])


def test_nothing_runs_before_it_is_named(school, tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "probe", lambda limits: pytest.fail("something runs"))
    classroom.hand_in(school, [Pupil("ada")], tmp_path)
    with pytest.raises(MomabError, match="names the chapter 'modle' under weights"):
        grading.grade_class(PROJECT, tmp_path, course=Course(weights={"modle": 1.0}))
    times = {("eve", "model"): datetime.datetime(2026, 1, 1)}
    with pytest.raises(MomabError, match="times of receipt name 'eve'"):
        grading.grade_class(PROJECT, tmp_path, received=times)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("who,when\n", None),
        ("student,chapter\nada,model\n", "must have the columns"),
        ("student,chapter,received\nada,model,soon\n", "not 'soon'"),
    ],
)
def test_times_of_receipt_are_read(tmp_path, text, said):
    (tmp_path / "r.csv").write_text(text)
    if said is None:
        assert settings.read_received(tmp_path / "r.csv", Course()) == {}
        return
    with pytest.raises(MomabError, match=said):
        settings.read_received(tmp_path / "r.csv", Course())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "may only hold the keys"),
        ("point: 1", "the key 'point'"),
        ("seed: soon", "'seed' that is not a valid integer"),
        ("drop: -1", "'drop' that is not greater"),
        ("weights: {model: -1}", "not greater than or equal to 0"),
        ("points: {model-1: -1}", "not greater than or equal to 0"),
        ("deadlines: {model: tomorrow}", "deadlines"),
        ("late: {lose: 2}", "'late.lose' that is not less"),
        ("late: 3", "'late' that is not a valid"),
        ("students: [ada, ada]", "different names"),
        ("delimiter: x", "delimiter"),
        ("a: [", "not readable YAML"),
    ],
)
def test_an_odd_course_is_explained(tmp_path, text, said):
    file = tmp_path / "course.yml"
    file.write_text(text)
    with pytest.raises(MomabError, match=said):
        settings.read_course(file)


ONLY_ONE = """
import numpy as np

def sampled_width(upper, radii):
    first, second = np.argsort(-upper[:, 0], kind="stable")[:2]
    return radii[first] + radii[second]
"""


# ---- a term --------------------------------------------------------------------------------

COURSE = """
seed: 7
students: {ada: 4711, ben: 4712, cy: 4713, dee: 4714}
points: {model-1: 2}
deadlines: {model: 2026-10-02 12:00}
late: {lose: 0.2, days: 3}
weights: {width-floor: 3}
"""
RECEIVED = """student,chapter,received
ada,model,2026-10-01 09:00
4712,model,2026-10-03 13:00
cy,model,2026-11-20 10:00
"""


def test_a_term(school, tmp_path, monkeypatch, capsys):
    """Two chapters, late and empty hand-ins, a regrade, a resit; marks computed by hand."""
    monkeypatch.chdir(ROOT)
    output, rules = tmp_path / "results", tmp_path / "course.yml"
    rules.write_text(COURSE)
    (tmp_path / "received.csv").write_text(RECEIVED)

    def grade(folder, **more):
        times = tmp_path / "received.csv"
        grade_command(folder, output, rules, received=times, trust=True, **more)
        return {row["student"]: row for row in rows(output / "grades.csv")}

    def marks(table, *columns):
        return {name: tuple(row[c] for c in columns) for name, row in table.items()}

    # week 1: ada is right, ben is wrong in model-1 and 25 hours late, cy hands in no notebook but
    # four other files, dee an empty folder.  model has 2 + 1 + 1 + 1 = 5 points;
    # ben: 3 x (1 - 2 x 0.2)
    week = tmp_path / "week 1"
    wrong = Pupil("ben", {"model-1": "my_gaps = [0, 0, 0, 0, 1]"}, chapters=(SECOND,))
    classroom.hand_in(school, [Pupil("ada", chapters=(SECOND,)), wrong], week)
    (week / "cy").mkdir()
    others = ("model.html", "model.ipynb.txt", "model.pdf", "model.zip")
    for name in others:
        (week / "cy" / name).touch()
    (week / "dee_77_assignsubmission_file").mkdir()
    (week / "course notes.txt").touch()
    table = grade(week)
    assert marks(table, "id", "total", "out of", "percent") == {
        "ada": ("4711", "5", "5", "100"),
        "ben": ("4712", "1.8", "5", "36"),
        "cy": ("4713", "0", "5", "0"),
        "dee": ("4714", "0", "5", "0"),
    }
    told = capsys.readouterr().out
    for name in others:
        assert f"note: not read: cy/{name} (it is not a notebook (.ipynb))" in told
    assert "note: not read: course notes.txt (it is not a notebook (.ipynb))" in told
    assert "dee_77_assignsubmission_file (the folder is empty)" in told
    details = {(row["student"], row["exercise"]): row for row in rows(output / "details.csv")}
    assert "on day 2 after the deadline" in details["ben", "model-2"]["hint"]
    assert details["ben", "model-1"]["parts right"] == "2 of 4"
    assert "earns points only if every part is right" in details["ben", "model-1"]["hint"]
    hints = [row["hint"] for row in rows(output / "details.csv") if row["student"] == "cy"]
    assert all(any(hint.startswith(f"cy/{name}: ") for hint in hints) for name in others)

    # week 2: ada has one of three parts of width-floor-2, dee returns the handout as it was
    week = tmp_path / "week 2"
    first = Pupil("ada", {WIDTH: ONLY_ONE}, path="ada/{chapter}.ipynb")
    blank = Pupil("dee", change=classroom._untouched)
    classroom.hand_in(school, [first, Pupil("ben"), Pupil("cy"), blank], week)
    table = grade(week)
    assert marks(table, "model", MAIN, "out of", "percent") == {
        "ada": ("5", "2.33", "8", "83.25"),  # (1 x 5/5 + 3 x 2.33/3) / 4
        "ben": ("1.8", "3", "8", "84"),  # (1 x 1.8/5 + 3 x 3/3) / 4
        "cy": ("0", "3", "8", "75"),
        "dee": ("0", "0", "8", "0"),
    }
    assert table["dee"][WIDTH] == "0"
    items = {row["exercise"]: row for row in rows(output / "items.csv")}
    assert (items[WIDTH]["answered"], items[WIDTH]["right"]) == ("3", "2")
    assert float(items[WIDTH]["discrimination"]) > 0

    # a regrade: ada hands in a second notebook, which is newer and counts
    second = Pupil("ada", path="ada/{chapter} (2).ipynb")
    classroom.hand_in(school, [second], week)
    os.utime(week / "ada" / f"{MAIN}.ipynb", (0, 0))
    capsys.readouterr()
    table = grade(week, student=["ada"])
    assert f"ada: {MAIN} (2).ipynb counts" in capsys.readouterr().out
    assert marks(table, "model", MAIN, "percent") == {
        "ada": ("5", "3", "100"),
        "ben": ("1.8", "3", "84"),
        "cy": ("0", "3", "75"),
        "dee": ("0", "0", "0"),
    }

    # a resit of cy, within an extension; from now on the worst chapter is dropped
    rules.write_text(COURSE + "extensions: {cy: {model: 2026-11-30}}\ndrop: 1\n")
    classroom.hand_in(school, [Pupil("cy", chapters=(SECOND,))], tmp_path / "resit")
    table = grade(tmp_path / "resit")
    assert marks(table, "model", MAIN, "total", "percent") == {
        "ada": ("5", "3", "8", "100"),
        "ben": ("1.8", "3", "4.8", "100"),
        "cy": ("5", "3", "8", "100"),
        "dee": ("0", "0", "0", "0"),
    }

    # other settings are refused by name, before anything runs, and nothing changes
    before = (output / "results.json").read_bytes()
    rules.write_text(COURSE.replace("seed: 7", "seed: 8"))
    with pytest.raises(MomabError, match=r"model of cy was graded with .* --again"):
        grade(tmp_path / "resit")
    with pytest.raises(MomabError, match="of ada was graded with seed 7, and now it is 8; --again"):
        grade(week, student=["ada"])
    with pytest.raises(MomabError, match="there is no notebook of 'eve'"):
        grade(week, student=["eve"])
    assert (output / "results.json").read_bytes() == before
    (output / "results.json").write_text("nonsense")
    with pytest.raises(MomabError, match=r"results\.json is damaged"):
        grade(week)


# ---- what students hand in -------------------------------------------------------------------


def test_one_odd_name_harms_nobody_else_and_lookalikes_stay_two(school, tmp_path):
    for name in ("ada", "ada\u200e", "ada\x07"):
        classroom.hand_in(school, [Pupil(name)], tmp_path)
    place = os.fsencode(tmp_path) + b"/b\xffd.ipynb"  # no UTF-8
    with open(place, "wb") as file:
        file.write(b"{}")
    found, unread = submissions.read_class(tmp_path, [MAIN])
    assert len({s.student for s in found}) == 4
    assert all(s.student.isprintable() for s in found)
    assert [s.problem for s in found if s.problem] == [
        "it is not a notebook of format 4 (it has no list of cells)"
    ]
    assert unread == []


def test_a_judge_that_takes_too_long_is_replaced():
    judges = judging.Judges(1, seconds=60.0)
    try:
        right = [{"value": exercises.find_exercise("model-1").solution}]
        good = judges.judge("model-1", 1, "ada", right)
        assert (good.share, good.status) == (1.0, "right")
        judges._seconds = 0.0001
        slow = judges.judge(SITUATION, 1, "ada", [{"value": 1}])
        assert (slow.share, slow.status) == (0.0, "timeout")
        judges._seconds = 60.0
        assert judges.judge(SITUATION, 1, "ada", [{"value": 1}]).status == "wrong"
    finally:
        judges.close()


# ---- tables --------------------------------------------------------------------------------


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
