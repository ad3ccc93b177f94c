"""Moodle and Canvas: their zips come in, their tables go out, and nothing odd gets through."""

import csv
import io
import json
import stat
import subprocess
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from momab import MomabError
from momab.book.myst import ExerciseText
from momab.book.project import Project
from momab.course import exports, gradebook, grading, intake, sandbox, submissions
from momab.course.grading import Class, Grade
from momab.course.settings import Course
from tests.conftest import ROOT
from tests.course import classroom
from tests.course.classroom import MAIN, SITUATION, WIDTH, Pupil, School
from tests.course.test_grading import COMMAND, isolated, kept, rows

EMPTY = json.dumps({"cells": [], "metadata": {"momab": {"handout": MAIN}}, "nbformat": 4})


def zipped(path: Path, entries: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def students(path: Path) -> list[tuple[str, str]]:
    return sorted((s.student, s.chapter) for s in submissions.read_class(path, [MAIN, "model"]))


# ---- what comes in -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("Ada Lovelace_12345_assignsubmission_file_/width-floor.ipynb", "Ada Lovelace #12345"),
        ("Ada Lovelace_12345_assignsubmission_file_/deep/in/it.ipynb", "Ada Lovelace #12345"),
        ("Ada Lovelace_12345_assignsubmission_file_mine.ipynb", "Ada Lovelace #12345"),
        ("Élodie O'Neil-Łu_7_assignsubmission_file_/x.ipynb", "Élodie O'Neil-Łu #7"),
        ("Participant_7_assignsubmission_file_/x.ipynb", "Participant #7"),
        ("lovelaceada_678_9012_width-floor.ipynb", "lovelaceada #678"),
        ("lovelaceada_LATE_678_9012_width-floor-1.ipynb", "lovelaceada #678"),
        ("vanderberg_7_LATE_678_9012_1_2_width-floor.ipynb", "vanderberg_7 #678"),
        ("ada/width-floor.ipynb", "ada"),
        ("ada-width-floor.ipynb", "ada"),
        ("ada #678/x.ipynb", "ada #678 (no id)"),
    ],
)
def test_students_are_known_by_their_ids(tmp_path, name, student):
    folder = tmp_path / "folder"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text(EMPTY)
    assert students(folder) == [(student, MAIN)]
    assert students(zipped(tmp_path / "all.zip", {name: EMPTY})) == [(student, MAIN)]
    assert bool(intake.id_of(student)) == ("no id" not in student and "#" in student)


def test_two_of_one_name_stay_two_and_one_of_two_names_stays_one(tmp_path):
    file = "_assignsubmission_file_/width-floor.ipynb"
    path = zipped(
        tmp_path / "all.zip",
        {
            f"Ada Li_1{file}": EMPTY,
            f"Ada Li_2{file}": EMPTY,
            f"Ada Wu_2{file}": EMPTY,
            "Ada Li #1/width-floor.ipynb": EMPTY,
        },
    )
    names = [name for name, _ in students(path)]
    assert names == ["Ada Li #1", "Ada Li #1 (no id)", "Ada Li #2", "Ada Li #2"]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["all/ada/x.ipynb", "all/ben/x.ipynb", "__MACOSX/all/ada/._x.ipynb"], ["ada", "ben"]),
        (["all/lovelaceada_1_2_x.ipynb"], ["lovelaceada #1"]),
        (["all/Ada Li_1_assignsubmission_file_/x.ipynb"], ["Ada Li #1"]),
        (["ada/x.ipynb", "ada/y.ipynb"], ["ada", "ada"]),
        (["ada/deep/x.ipynb"], ["ada"]),
        (["Ada Li_1_assignsubmission_file_/a/x.ipynb"], ["Ada Li #1"]),
        (
            [f"Ada Li_1_assignsubmission_file_/{name}/x.ipynb" for name in ("Ben_2_3_x", "b")],
            ["Ada Li #1", "Ada Li #1"],
        ),
    ],
)
def test_a_folder_around_them_all_is_nobody(tmp_path, names, found):
    path = zipped(tmp_path / "all.zip", dict.fromkeys(names, EMPTY))
    assert [name for name, _ in students(path)] == found


def test_only_notebooks_are_unpacked_and_times_are_kept(tmp_path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("ada/width-floor.ipynb", (2026, 3, 4, 5, 6, 8)), EMPTY)
        archive.writestr(zipfile.ZipInfo("ben/width-floor.ipynb", (1980, 0, 0, 0, 0, 0)), EMPTY)
        archive.writestr("ada/notes.txt", "x" * 100)
        archive.writestr("__MACOSX/ada/._width-floor.ipynb", "x")
        archive.writestr("eve_3_assignsubmission_file_/width-floor.ipynb", EMPTY)
    with intake.unpacked(path, submissions.LARGEST) as folder:
        found = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()
    assert "ada/notes.txt" not in found
    ada, ben, eve = submissions.read_class(path, [MAIN])
    assert time.localtime(ada.time)[:6] == (2026, 3, 4, 5, 6, 8)
    assert (ben.problem, eve.time) == ("", 0.0)


def test_one_huge_notebook_costs_nobody_else_anything(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "LARGEST", 10_000)
    bomb = b"[" + b" " * 50_000_000
    path = zipped(
        tmp_path / "all.zip",
        {
            "Eve_6_assignsubmission_file_/width-floor.ipynb": bomb,
            "Ada_5_assignsubmission_file_/width-floor.ipynb": EMPTY,
        },
    )
    assert path.stat().st_size < 100_000
    ada, eve = submissions.read_class(path, [MAIN])
    assert (ada.problem, ada.student) == ("", "Ada #5")
    assert "larger than" in eve.problem
    with intake.unpacked(path, 10_000) as folder:
        assert max(p.stat().st_size for p in folder.rglob("*.ipynb")) == 10_001


def _link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def _raw(name: bytes, utf8: bool) -> bytes:
    """A zip whose entry has this name, whatever it is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("é" * (len(name) // 2) if utf8 else "x" * len(name), EMPTY)
    old = ("é" * (len(name) // 2)).encode() if utf8 else b"x" * len(name)
    return buffer.getvalue().replace(old, name)


def _zip(*names: str | zipfile.ZipInfo) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, EMPTY)
    return buffer.getvalue()


def _damaged() -> bytes:
    data = bytearray(_zip("ada/x.ipynb"))
    data[data.index(b"nbformat")] ^= 1
    return bytes(data)


HOSTILE = {
    "parent": (_zip("../../evil.ipynb"), "leads out of it"),
    "inner parent": (_zip("a/../../evil.ipynb"), "leads out of it"),
    "absolute": (_zip("/tmp/evil.ipynb"), "leads out of it"),
    "drive": (_zip("C:evil.ipynb"), "leads out of it"),
    "backslash": (_zip("..\\evil.ipynb"), "leads out of it"),
    "link": (_zip(_link("ada/x.ipynb")), "a link or no ordinary file"),
    "duplicates": (_zip("ada/x.ipynb", "ada/y.ipynb").replace(b"y.i", b"x.i"), "twice"),
    "the same place": (_zip("ada/x.ipynb", "ada/./x.ipynb"), "twice"),
    "file and folder": (_zip("a.ipynb", "a.ipynb/b.ipynb"), "cannot be unpacked"),
    "not utf-8": (_raw(b"\xff\xfe.ipynb", False), "not UTF-8"),
    "said to be utf-8": (_raw(b"\xff\xfe.ipynb", True), "not UTF-8"),
    "nothing": (_zip("readme.txt"), "holds no notebook"),
    "no zip": (b"hello", "is no zip, or a damaged one"),
    "damaged": (_damaged(), "is no zip, or a damaged one"),
    "cut off": (_zip("ada/x.ipynb")[:-30], "is no zip, or a damaged one"),
    "too many": (_zip(*(f"{n}.ipynb" for n in range(21))), "has 21 entries, more than 20"),
    "too much": (_zip("a.ipynb", "b.ipynb", "c.ipynb"), "GB of notebooks"),
    "long name": (_zip("x" * 300 + ".ipynb"), "cannot be unpacked"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_zip_is_refused_in_a_sentence(tmp_path, monkeypatch, kind):
    data, said = HOSTILE[kind]
    monkeypatch.setattr(intake, "ENTRIES", 20)
    monkeypatch.setattr(intake, "TOTAL", 2 * len(EMPTY))
    place, temporary = tmp_path / "place", tmp_path / "temporary"
    place.mkdir()
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    path = place / "all.zip"
    path.write_bytes(data)
    before = kept(place)
    with pytest.raises(MomabError, match=said) as caught:
        submissions.read_class(path, [MAIN])
    assert str(caught.value).count("\n") == 0
    assert str(caught.value).endswith(".")
    assert kept(place) == before
    assert list(temporary.iterdir()) == []
    assert not Path("/tmp/evil.ipynb").exists()


# ---- what goes out -------------------------------------------------------------------------

GRADES = [
    Grade("Ada Li #1", MAIN, WIDTH, "", "right", 3.0, 3.0),
    Grade("Ada Li #1", MAIN, SITUATION, "", "wrong", 0.5, 1.0, "=2+3; <b>no</b>"),
    Grade("Ada Li #1", MAIN, "in-words", "", "written", words="Because.", words_points=4.0),
    Grade("Ada Li #2", MAIN, WIDTH, "", "wrong", 1.0, 3.0),
    Grade("Ada Li #2", MAIN, SITUATION, "", "missing", 0.0, 1.0),
    Grade("ben", MAIN, WIDTH, "", "right", 3.0, 3.0),
    Grade("eve #4", MAIN, WIDTH, "", "not graded", None, 3.0),
]
TEXTS = tuple(
    ExerciseText(label, "", frozenset({"programming"} if label != "in-words" else {}), [])
    for label in (WIDTH, SITUATION, "in-words")
)


def room(grades: list[Grade] = GRADES) -> Class:
    rules = Course(points={WIDTH: 3.0, SITUATION: 1.0}, written={"in-words": 4.0})
    return Class(tuple(dict.fromkeys(g.student for g in grades)), TEXTS, tuple(grades), rules)


MOODLE = (
    "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    'Participant 1,"=LINK(""x"")",a@x.org,Submitted for grading,,100.00,Yes,"Friday, 1 May",-,\n'
    "Participant 2,Ada Li,b@x.org,Submitted for grading,,100.00,Yes,-,-,\n"
    "Participant 30,Ben,ben,No submission,,100.00,Yes,-,-,\n"
    'Participant 4,Eve,e@x.org,"-1; -2",55.00,100.00,Yes,-,-,old words\n'
)
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,Week 1 (77),Old (78),Final Score\n"
    ",,,,,,Manual Posting,,\n"
    "    Points Possible,,,,,,8.0,10,(read only)\n"
    '"Li, Ada",1,-12,ali,"One; and Two",- was ill,,9.5,88\n'
    '"Li, Ada",2,=13,ada2,One,,,-,\n'
    "Ben,30,014,ben,One,,1,,\n"
    "Eve,4,s4,eve,One,,2,,\n"
)


def table(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=delimiter))


def test_a_worksheet_of_moodle_is_filled_in(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(MOODLE, "utf-8")
    made = exports.make_export(room(), "moodle", path)
    assert (made.maximum, made.left_out) == (100, ("eve #4",))
    assert made.text.startswith("\ufeffIdentifier,")
    old, new = table(MOODLE), table(made.text)
    assert [row[4] for row in new] == ["Grade", "87.5", "25", "75", "55.00"]
    said = new[1][9]
    assert said.startswith(f"{WIDTH}: 3 of 3, right. {SITUATION}: 0.5 of 1, wrong. =2+3;")
    assert "&lt;b&gt;no&lt;/b&gt;" in said
    assert new[4][9] == "old words"
    assert new[1][1] == '\'=LINK("x")'
    for before, after in zip(old, new, strict=True):
        same = [n for n in range(10) if n not in (1, 4, 9)]
        assert [before[n] for n in same] == [after[n] for n in same]


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_gradebook_of_canvas_is_filled_in(tmp_path, delimiter):
    path = tmp_path / "gradebook.csv"
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(table(CANVAS))
    path.write_text(text.getvalue(), "utf-8")
    for wanted in ("Week 1", "77", "Week 1 (77)"):
        made = exports.make_export(room(), "canvas", path, wanted)
        new = table(made.text, delimiter)
        assert [row[6] for row in new[1:]] == ["Manual Posting", "8.0", "7", "2", "6", "2"]
        for before, after in zip(table(CANVAS), new, strict=True):
            assert before[:6] + before[7:] == after[:6] + after[7:]
        assert made.left_out == ("eve #4",)
        assert '""' not in made.text, "an empty cell with quotes would be a change"
    with pytest.raises(MomabError, match=r"--assignment says .* Week 1 \(77\), Old \(78\)\."):
        exports.make_export(room(), "canvas", path)
    with pytest.raises(MomabError, match="--assignment says"):
        exports.make_export(room(), "canvas", path, "Nothing")


def test_without_a_file_a_table_has_the_columns_and_the_ids():
    moodle = exports.make_export(room(), "moodle")
    assert table(moodle.text)[0] == list(exports._MOODLE)
    assert [(r[0], r[1], r[4], r[5]) for r in table(moodle.text)[1:]] == [
        ("Participant 1", "Ada Li", "3.5", "4"),
        ("Participant 2", "Ada Li", "1", "4"),
    ]
    assert moodle.left_out == ("ben", "eve #4")
    canvas = exports.make_export(room(), "canvas", assignment="Week; 1")
    assert table(canvas.text) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Week; 1"],
        ["    Points Possible", "", "", "", "", "4"],
        ["Ada Li", "1", "", "", "", "3.5"],
        ["Ada Li", "2", "", "", "", "1"],
    ]
    assert '"Week; 1"' in canvas.text


def test_nobody_s_mark_is_guessed(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(MOODLE.replace("b@x.org", "ben"), "utf-8")
    made = exports.make_export(room(), "moodle", path)
    assert made.left_out == ("ben", "eve #4"), "two rows have it"
    both = [*GRADES, Grade("Ben", MAIN, WIDTH, "", "wrong", 0.0, 3.0)]
    path.write_text(MOODLE, "utf-8")
    made = exports.make_export(room(both), "moodle", path)
    assert made.left_out == ("ben", "eve #4", "Ben"), "two students have it"
    assert table(made.text)[3][4] == ""


def test_what_a_person_gave_for_words_counts(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text(MOODLE, "utf-8")
    words = next(grade for grade in GRADES if grade.words)
    others = [grade for grade in GRADES if grade is not words]
    late = replace(words, given=4.0, kept=0.5, comment="Why?")
    made = exports.make_export(room([late, *others]), "moodle", path)
    new = table(made.text)
    assert [row[4] for row in new[1:4]] == ["68.75", "12.5", "37.5"], "of 8 marks"
    assert "in-words, in words: 2 of 4. Why?" in new[1][9]
    unmarked = replace(words, student="ben")
    made = exports.make_export(room([late, *others, unmarked]), "moodle", path)
    assert made.left_out == ("ben", "eve #4"), "somebody has still to mark Ben's"


@pytest.mark.parametrize(
    ("to", "text", "said"),
    [
        ("moodle", CANVAS, "columns Identifier and Grade"),
        ("canvas", MOODLE, "columns ID and Section"),
        ("moodle", "a,b\n1\n", "all be as long as the first"),
        ("moodle", 'a,"b\n', "no table in UTF-8"),
        ("moodle", "", "no table"),
        ("moodle", MOODLE.replace("Participant ", "Participant 99"), "nobody's row was found"),
        ("blackboard", MOODLE, "there are moodle and canvas"),
    ],
)
def test_what_cannot_be_filled_in_is_said_in_a_sentence(tmp_path, to, text, said):
    path = tmp_path / "roster.csv"
    path.write_text(text, "utf-8")
    some = [grade for grade in GRADES if grade.student != "ben"]
    with pytest.raises(MomabError, match=said):
        exports.make_export(room(some), to, path)


@pytest.mark.parametrize("content", ["", "[]", "{}", "nonsense"])
def test_damaged_results_are_a_sentence(tmp_path, content):
    with pytest.raises(MomabError, match="grade the whole class first"):
        gradebook.recorded(Project.find(ROOT), tmp_path)
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(MomabError, match="is damaged; grade the whole class again"):
        gradebook.recorded(Project.find(ROOT), tmp_path)


@isolated
def test_from_the_platform_s_zip_to_the_platform_s_table(tmp_path):
    """Two commands: grade the zip, fill in the worksheet."""
    folder = tmp_path / "class"
    school = School(Project.find(ROOT))
    classroom.hand_in(school, [Pupil("a"), Pupil("b", {SITUATION: "situation = 1"})], folder)
    entries = {
        f"Ada Li_{number}_assignsubmission_file_/{MAIN}.ipynb": path.read_bytes()
        for number, path in enumerate(sorted(folder.rglob("*.ipynb")), 1)
    }
    path, results = zipped(tmp_path / "all.zip", entries), tmp_path / "results"
    (tmp_path / "roster.csv").write_text(MOODLE, "utf-8")
    options = ["--course", str(tmp_path / "course.yml")]
    (tmp_path / "course.yml").write_text(f"deadlines: {{{MAIN}: 2020-01-01}}\nlate: {{lose: 1}}\n")
    done = subprocess.run(
        [*COMMAND, str(path), "-o", str(results), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "lateness: left to the learning platform" in done.stdout
    totals = {row["student"]: row["total"] for row in rows(results / "grades.csv")}
    assert totals == {"Ada Li #1": "3", "Ada Li #2": "2"}
    command = [*COMMAND[:-1], "export", str(results), "--to", "moodle"]
    options = ["--roster", str(tmp_path / "roster.csv")]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [row[4] for row in table((results / "moodle.csv").read_text("utf-8"))][1:3] == [
        "100",
        "66.67",
    ]


def test_copies_are_those_of_the_id_or_of_the_name():
    course = Course(variants=1, students=("5", "Ada Li"))
    run = grading._Run({}, sandbox.Limits(), course, 1, 1)
    listed = [
        run._listed(submissions.Submission(Path("x"), name, id=intake.id_of(name)))
        for name in ("Ada Li #5", "Ada Li #6", "Ben #7", "Ada Li")
    ]
    run.judges.close()
    assert listed == ["5", "Ada Li", "Ben #7", "Ada Li"]
