"""Grading: what students hand in runs inside bubblewrap and is judged outside of it."""

import csv
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from momab import MomabError, exercises
from momab.book import editions
from momab.book.project import Project
from momab.cli.course import grade_command
from momab.course import (
    gradebook,
    grading,
    handout,
    isolation,
    judging,
    planning,
    sandbox,
    submissions,
)
from momab.course.settings import Course
from tests.conftest import ROOT
from tests.course import classroom
from tests.course.classroom import GOOD_WIDTH, MAIN, SITUATION, WIDTH, Grounds, Pupil
from tests.waiting import until


def _works() -> bool:
    try:
        isolation.demand()
    except isolation.IsolationError as error:
        print(error)
        return False
    return True


WORKS = _works()
TRUST = sandbox.Limits(trust=True)
isolated = pytest.mark.skipif(not WORKS, reason="bubblewrap is not installed or not allowed here")
COMMAND = [sys.executable, "-c", "from momab.cli.app import main; main()", "course", "grade"]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def kept(folder: Path) -> dict[str, object]:
    """Everything about a folder's files that must not change."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        facts = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (facts.st_mode, facts.st_mtime_ns, content)
    return found


def processes_of(folder: Path, *apart: int) -> list[int]:
    """The processes whose environment speaks of a folder, apart from some (Linux)."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if str(folder).encode() in place.read_bytes():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return [number for number in found if number not in (os.getpid(), *apart)]


# ---- the whole class -----------------------------------------------------------------------


@isolated
@pytest.mark.slow
def test_a_whole_class_in_one_command(school, tmp_path):
    handed_in, canary, temporary = (tmp_path / n for n in ("class", "canary", "temporary"))
    for folder in (handed_in, canary, temporary):
        folder.mkdir()
    (canary / "file.txt").write_text("here before")
    grounds = Grounds(canary, handed_in / "ada" / f"{MAIN}.ipynb", ROOT)
    pupils = classroom.pupils(grounds)
    assert len(pupils) >= 45
    classroom.hand_in(school, pupils, handed_in)
    before = kept(canary), kept(handed_in)

    output = tmp_path / "results"
    (tmp_path / "course.yml").write_text("seed: 7\npartial: false\n")
    options = ["--course", str(tmp_path / "course.yml"), "--seconds", "6", "--memory", "640"]
    environment = {**os.environ, "TMPDIR": str(temporary)}

    def grade(folder, output):
        command = [*COMMAND, str(folder), "-o", str(output), *options]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    started = time.monotonic()
    done = grade(handed_in, output)
    print(f"{len(pupils)} pupils in {time.monotonic() - started:.0f} s")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("isolation: bubblewrap ")
    assert "\nseed: 7\n" in done.stdout

    details, table = rows(output / "details.csv"), rows(output / "grades.csv")
    graded = {(row["student"].lstrip("'"), row["exercise"]): row for row in details}
    marks = {row["student"].lstrip("'"): row for row in table}
    assert set(marks) == {pupil.name for pupil in pupils}
    for pupil in pupils:
        expected = school.statuses(pupil)
        found = {name: graded[pupil.name, name]["status"] for name in expected}
        hints = {name: graded[pupil.name, name]["hint"] for name in expected}
        for name, status in expected.items():
            assert found[name] in status.split(" or "), (pupil.name, name, found, hints)
        right = sum(status == "right" for status in expected.values())
        assert marks[pupil.name]["total"] == str(right), pupil.name
        assert marks[pupil.name]["out of"] == "7"

    assert (kept(canary), kept(handed_in)) == before
    assert list(temporary.iterdir()) == []
    assert processes_of(temporary) == []
    # an innocent student's marks are the same alone and beside attackers
    classroom.hand_in(school, [p for p in pupils if p.name == "ada"], tmp_path / "alone")
    assert grade(tmp_path / "alone", tmp_path / "hers").returncode == 0
    assert rows(tmp_path / "hers" / "details.csv") == [r for r in details if r["student"] == "ada"]
    assert rows(tmp_path / "hers" / "grades.csv") == [marks["ada"]]
    assert kept(canary) == before[0], "no daemon has lived on"

    # what a spreadsheet or a browser would run is harmless, what helps is there
    assert {row["student"][0] for row in table}.isdisjoint("=+-@")
    assert graded["ben", WIDTH]["hint"].startswith("You took the two largest radii")
    assert graded["ben", WIDTH]["parts right"] == "0 of 3"
    assert len(list((output / "reports").iterdir())) == len(pupils)
    page = (output / "reports" / "b-html.html").read_text()
    assert "<h1>&lt;b&gt;html&amp;</h1>" in page
    assert "<script" not in page
    assert "ValueError: &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert f"<p>{classroom.TEXT}</p>" in page


@isolated
@pytest.mark.slow
def test_the_worked_solutions_stand_alone_and_get_every_mark(tmp_path):
    project = Project.find(ROOT)
    for chapter in handout.chapters_with_exercises(project):
        solved: dict[str, str] = {}
        for label, cell in editions.solution_cells(project.notebook(chapter).node):
            if f'momab.check("{label}"' in cell.source:
                solved[label] = cell.source
        node = handout.make_handout(project, chapter)
        for cell in node.cells:
            if cell.metadata["momab"]["role"] == "answer" and cell.cell_type == "code":
                cell.source = solved[cell.metadata["momab"]["exercise"]]
        (tmp_path / f"teacher-{chapter}.ipynb").write_text(json.dumps(node))
    graded = grading.grade_class(project, tmp_path, course=Course(seed=7))
    assert graded.students == ("teacher",)
    assert [g.exercise for g in graded.grades if g.marks == 0] == []
    assert graded.total("teacher") == graded.out_of("teacher") >= 20


@isolated
@pytest.mark.slow
def test_ctrl_c_leaves_neither_results_nor_processes(school, tmp_path):
    handed_in, temporary, output = (tmp_path / n for n in ("class", "temporary", "results"))
    temporary.mkdir()
    endless = Pupil("finn", before="while True:\n    pass")
    classroom.hand_in(school, [endless, Pupil("ada")], handed_in)
    process = subprocess.Popen(
        [*COMMAND, str(handed_in), "-o", str(output), "--seconds", "600"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().startswith("isolation")
    until(lambda: processes_of(temporary, process.pid), "a process of the class")
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors == "momab: stopped; no results were written.\n"
    assert not output.exists()
    assert list(temporary.iterdir()) == []
    assert processes_of(temporary) == []


@isolated
def test_a_checkout_below_tmp_grades(school, tmp_path):
    """The process inside has an empty /tmp of its own, which must not hide the library."""
    classroom.hand_in(school, [Pupil("ada")], tmp_path / "class")
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="momab-checkout-") as checkout:
        for name in ("momab", "notebooks", "book"):
            unused = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, Path(checkout, name), ignore=unused)
        for name in ("_toc.yml", "_config.yml", "pyproject.toml"):
            shutil.copyfile(ROOT / name, Path(checkout, name))
        command = [*COMMAND, str(tmp_path / "class"), "-o", str(tmp_path / "results")]
        environment = {**os.environ, "PYTHONPATH": checkout}
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("isolation: bubblewrap ")
    assert rows(tmp_path / "results" / "grades.csv")[0]["total"] == "3"


@pytest.mark.parametrize(
    ("folder", "seconds", "said"),
    [
        ("nowhere", 10.0, "nowhere is not a folder"),
        ("book", 10.0, r"no notebook \(.ipynb\) below book"),
        ("book", 0.0, "--seconds"),
    ],
)
def test_bad_input_is_explained_and_nothing_written(folder, seconds, said, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(MomabError, match=said):
        grade_command(Path(folder), tmp_path / "results", seconds=seconds)
    assert not (tmp_path / "results").exists()


def test_without_bubblewrap_a_sentence_says_how_to_get_it(school, tmp_path, monkeypatch):
    classroom.hand_in(school, [Pupil("ada")], tmp_path / "class")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", str(tmp_path))
    isolation.version.cache_clear()
    try:
        with pytest.raises(isolation.IsolationError, match=r"apt install bubblewrap.*--trust"):
            grade_command(tmp_path / "class", tmp_path / "results")
    finally:
        isolation.version.cache_clear()
    assert not (tmp_path / "results").exists()


def test_a_kernel_that_refuses_is_named_with_its_remedy(tmp_path, monkeypatch):
    """Ubuntu lets few programs make user namespaces."""
    said = "bwrap: setting up uid map: Permission denied"
    refusing = tmp_path / "bwrap"
    refusing.write_text(
        f"#!/bin/sh\n[ $1 = --version ] && exec echo 0.9\necho {said} >&2\nexit 1\n"
    )
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    restricted = tmp_path / "apparmor_restrict_unprivileged_userns"
    monkeypatch.setattr(isolation, "RESTRICTED", restricted)
    isolation.version.cache_clear()
    try:
        for setting, remedy in (("0", False), ("1", True)):
            restricted.write_text(f"{setting}\n")
            with pytest.raises(
                isolation.IsolationError, match=r"uid map.*the kernel does"
            ) as error:
                isolation.demand()
            assert (f"sysctl -w kernel.{restricted.name}=0" in str(error.value)) == remedy
    finally:
        isolation.version.cache_clear()


# ---- the process inside --------------------------------------------------------------------


def answer(sheet, label=WIDTH):
    exercise = sheet.checks[label]
    (text,) = [text for text in sheet.texts if text.label == label]
    return sandbox.Answer(label, text.answer_name, bool(exercise.cases), exercise.calls)


def cells(*sources):
    return [sandbox.Cell(str(number), source) for number, source in enumerate(sources)]


HONEST = """
import math, random, json, tempfile, pathlib
import pandas as pd
import scipy.optimize
from momab import pareto
from momab.model import instances

front = pareto.front(instances.random_means(5, 3, 1))
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "mine.csv")
    pd.DataFrame({"x": [1.5]}).to_csv(path)
    assert pd.read_csv(path)["x"][0] == 1.5
pathlib.Path("here.txt").write_text("mine")
display(front)

import socket
socket.socket(socket.AF_UNIX).close()
try:
    socket.socket(socket.AF_VSOCK)
except PermissionError:
    pass
else:
    raise SystemExit("AF_VSOCK is open")

import momab
momab.check("width-floor-2", None)
"""


@isolated
def test_honest_code_finds_what_it_needs(sheet):
    results = sandbox.run_steps([*cells(HONEST, GOOD_WIDTH), answer(sheet)], sandbox.Limits())
    for result in results.values():
        assert (result.kind, result.detail) == ("done", "")
    assert judging.judge(sheet.checks[WIDTH], results[WIDTH].outcomes).status == "right"


COMPILED = """
import numba

@numba.njit
def twice(x):
    return 2 * x

assert twice(4) == 8
"""


@isolated
@pytest.mark.slow
def test_compiled_code_runs_inside(sheet):
    pytest.importorskip("numba")
    results = sandbox.run_steps([*cells(COMPILED), answer(sheet)], sandbox.Limits(seconds=60))
    assert (results["0"].kind, results["0"].detail) == ("done", "")


@isolated
@pytest.mark.slow
def test_an_answer_that_is_defined_late_gets_a_second_chance(sheet):
    steps = [answer(sheet), *cells(GOOD_WIDTH), answer(sheet)]
    assert sandbox.run_steps(steps, sandbox.Limits())[WIDTH].kind == "done"


@isolated
@pytest.mark.slow
def test_there_are_only_so_many_restarts(sheet):
    steps = [*cells(*["import os; os._exit(1)"] * 6), answer(sheet)]
    results = sandbox.run_steps(steps, sandbox.Limits(restarts=2))
    assert [results[str(n)].kind for n in range(6)] == ["died"] * 3 + ["skipped"] * 3
    assert results[WIDTH].kind == "skipped"


@isolated
@pytest.mark.slow
def test_a_flood_on_the_grader_s_own_pipe_is_cut_off(sheet):
    flood = classroom.send("b'[1]' * 100_000 + b'\\n'")
    steps = [*cells(GOOD_WIDTH, f"while True:\n    exec({flood!r})"), answer(sheet)]
    results = sandbox.run_steps(steps, sandbox.Limits(seconds=60))
    assert (results["1"].kind, results["1"].detail[:18]) == ("died", "it talked too much")
    assert results[WIDTH].kind == "done"


@isolated
def test_a_process_that_cannot_start_is_explained(monkeypatch):
    monkeypatch.setattr(sandbox, "_OPTIONS", ("-P", "-c", "raise SystemExit('no luck')"))
    with pytest.raises(sandbox.SandboxError, match=r"before anything of a student ran: no luck\.$"):
        sandbox.probe(sandbox.Limits())


# ---- judging and reading -------------------------------------------------------------------


def test_every_exercise_can_be_sent_without_its_solution():
    names = exercises.chapters()
    assert MAIN in names
    for chapter in names:
        for exercise in exercises.of_chapter(chapter):
            sent = pickle.dumps(exercise.calls)
            assert b"momab.exercises" not in sent, exercise.name


@pytest.mark.parametrize(
    "outcomes",
    [
        None,
        True,
        [],
        {},
        [[]],
        [{"value": 1}] * 1000,
        [{"value": 10**400}] * 4,
        [{"value": float("nan")}] * 4,
        [{"value": {"a": [None]}}] * 4,
        [{"error": ""}] * 4,
        [{"right": True}] * 4,
        ["right"] * 4,
    ],
)
def test_made_up_outcomes_are_never_right(sheet, outcomes):
    for label in (WIDTH, SITUATION):
        judged = judging.judge(sheet.checks[label], outcomes)
        assert (judged.share, judged.status) == (0.0, "wrong")
        assert judged.hint


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("ada/width-floor.ipynb", "ada"),
        ("ada/any name.ipynb", "ada"),
        ("ada/deeper/width-floor (2).ipynb", "ada"),
        ("ada-width-floor.ipynb", "ada"),
        ("ada_width-floor.ipynb", "ada"),
        ("Ada Lovelace - width-floor(1).ipynb", "Ada Lovelace"),
        ("ada.ipynb", "ada"),
        ("width-floor.ipynb", "width-floor"),
    ],
)
@pytest.mark.parametrize("metadata", ["notebook", "cells", "none"])
def test_student_and_chapter_are_found(school, tmp_path, name, student, metadata):
    node = school.notebook(Pupil("ada"), MAIN)
    if metadata == "cells":
        node.metadata.clear()
    if metadata == "none":
        classroom.without_metadata(node)
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(node))
    read = submissions.read_submission(path, tmp_path, ["model", "floor", MAIN])
    assert (read.student, read.chapter, read.problem) == (student, MAIN, "")


def test_files_beside_the_notebooks_are_passed_over(tmp_path):
    for name in ("a/.ipynb_checkpoints/x.ipynb", "__MACOSX/a/x.ipynb", "a/._x.ipynb", "a/x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    with pytest.raises(MomabError, match="no notebook"):
        submissions.read_class(tmp_path, [MAIN])
    (tmp_path / "a" / "x.ipynb.txt").write_text("{}")
    (tmp_path / f"b-{MAIN}.html").write_text("")
    (tmp_path / "y.zip").write_text("")
    (tmp_path / "z.ipynb").write_text("{}")
    _, unread = submissions.read_class(tmp_path, [MAIN])
    assert [(one.student, one.name) for one in unread] == [
        ("a", "a/x.ipynb.txt"),
        ("a", "a/x.py"),
        ("b", f"b-{MAIN}.html"),
        ("", "y.zip"),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"worksheets": []}', "format 4"),
        ('{"cells": 3}', "format 4"),
        ('{"cells": [1, null, {"source": 7, "metadata": []}]}', "which chapter"),
        (
            '{"cells": [{"metadata": {"momab": {"role": DEEP, "exercise": DEEP}}}],'
            ' "metadata": {"momab": {"handout": DEEP}}}',
            "which chapter",
        ),
        ("\x00", "no JSON"),
    ],
)
def test_odd_files_are_unreadable_with_a_reason(tmp_path, content, said):
    path = tmp_path / "ada.ipynb"
    path.write_text(content.replace("DEEP", "[" * 900 + "]" * 900))
    read = submissions.read_submission(path, tmp_path, [MAIN])
    assert said in read.problem
    assert read.student == "ada"


def test_a_file_of_no_known_chapter_gets_a_line_of_its_own(school, tmp_path):
    classroom.hand_in(school, [Pupil("ada")], tmp_path)
    (tmp_path / "odd.ipynb").write_text("{}")
    graded = grading.grade_class(Project.find(ROOT), tmp_path, TRUST)
    odd = graded.of("odd")[-1]
    assert (odd.exercise, odd.status, odd.marks) == ("", "unreadable", None)
    assert "odd.ipynb" in odd.hint
    assert (graded.total("odd"), graded.total("ada"), graded.out_of("odd")) == (0, 3, 3)
    gradebook.write_gradebook(Project.find(ROOT), graded, tmp_path / "results")
    assert "odd.ipynb" in (tmp_path / "results" / "reports" / "odd.html").read_text()


def test_a_failure_of_the_grader_itself_costs_one_notebook_only(school, tmp_path, monkeypatch):
    def plan(submission, sheet):
        if submission.student == "ben":
            raise KeyError("a bug")
        return planning.plan_steps(submission, sheet)

    monkeypatch.setattr(grading, "plan_steps", plan)
    classroom.hand_in(school, [Pupil("ada"), Pupil("ben")], tmp_path)
    graded = grading.grade_class(Project.find(ROOT), tmp_path, TRUST)
    assert (graded.total("ada"), graded.not_graded) == (3, ["ben"])
    assert {(grade.status, grade.marks) for grade in graded.of("ben")} == {("not graded", None)}
    assert "The grader failed on width-floor.ipynb (KeyError" in graded.of("ben")[0].hint
    gradebook.write_gradebook(Project.find(ROOT), graded, tmp_path / "results")
    ada, ben = rows(tmp_path / "results" / "grades.csv")
    assert (ada["total"], ben["total"], ben[WIDTH]) == ("3", "not graded", "not graded")


def test_reports_have_harmless_and_different_names():
    students = [
        "../../evil",
        "evil",
        "EVIL",
        "a/b",
        "a\\b",
        "=cmd()",
        "con",
        "é",
        "",
        "..",
        "x" * 300,
    ]
    names = gradebook.report_names(students)
    assert len({name.casefold() for name in names.values()}) == len(students)
    for name in names.values():
        assert Path(name).name == name
        assert not name.startswith((".", "-"))
        assert len(name) < 100
    assert names["con"].upper() != "CON"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\n-1", "＝1"])
def test_formulas_are_neutralised(text):
    assert str(gradebook.harmless(text)).startswith("'")
    assert gradebook.harmless(-1) == -1
