"""The autograder for Gradescope, run as Gradescope runs it, in a folder of its own."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from momab import MomabError
from momab.book.project import Project
from momab.course import gradescope
from momab.course.submissions import Sheet
from tests.conftest import ROOT
from tests.course import classroom
from tests.course.classroom import MAIN, SITUATION, WIDTH, Pupil, School

PROJECT = Project.find(ROOT)
VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}
TOP = {  # the documented fields and their types
    "score": float,
    "execution_time": int,
    "output": str,
    "output_format": str,
    "test_output_format": str,
    "test_name_format": str,
    "visibility": str,
    "stdout_visibility": str,
    "extra_data": dict,
    "tests": list,
    "leaderboard": list,
}
TEST = {
    "score": float,
    "max_score": float,
    "status": str,
    "name": str,
    "name_format": str,
    "number": str,
    "output": str,
    "output_format": str,
    "tags": list,
    "visibility": str,
    "extra_data": dict,
}


def check(results: dict) -> None:
    """Whether it is what Gradescope documents."""
    for found, fields in [(results, TOP), *((test, TEST) for test in results["tests"])]:
        assert found.keys() <= fields.keys()
        for name, value in found.items():
            assert isinstance(value, (int, float) if fields[name] is float else fields[name]), name
        assert found.get("visibility", "visible") in VISIBILITY
        assert found.get("output_format", "text") in FORMATS
    assert results["stdout_visibility"] in VISIBILITY
    for test in results["tests"]:
        assert test["status"] in ("passed", "failed")
        assert 0 <= test["score"] <= test["max_score"]
    assert results["score"] == pytest.approx(sum(test["score"] for test in results["tests"]))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Gradescope makes of the zip, as far as the disk is concerned."""
    root = tmp_path_factory.mktemp("autograder")
    course = root / "course.yml"
    course.write_text(f"points: {{{WIDTH}: 3}}\nseed: 5\nlate: {{lose: 1}}\n")
    with course.open("a") as file:
        file.write(f"deadlines: {{{MAIN}: 2020-01-01}}\n")
    data = gradescope.make_autograder(PROJECT, [MAIN], course)
    assert data == gradescope.make_autograder(PROJECT, [MAIN], course), "equal bytes"
    (root / "autograder.zip").write_bytes(data)
    with zipfile.ZipFile(root / "autograder.zip") as archive:
        archive.extractall(root / "source")
        for name in ("setup.sh", "run_autograder"):
            assert archive.getinfo(name).external_attr >> 16 & 0o111, "it must be executable"
    return root


def run(root: Path, folder: Path | None) -> tuple[subprocess.CompletedProcess[str], dict]:
    for name in ("submission", "results"):
        (root / name).mkdir(exist_ok=True)
    for path in [*(root / "submission").iterdir(), *(root / "results").iterdir()]:
        path.unlink()
    for path in folder.rglob("*.ipynb") if folder else ():
        (root / "submission" / path.name).write_bytes(path.read_bytes())
    (root / "submission/readme.txt").write_text("hello")
    users = [{"email": "ada@x.org", "id": 1, "name": "Ada ../ Li"}]
    (root / "submission_metadata.json").write_text(json.dumps({"id": 3, "users": users}))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment |= {"AUTOGRADER_ROOT": str(root), "AUTOGRADER_PYTHON": sys.executable}
    done = subprocess.run(
        ["bash", root / "source/run_autograder"], env=environment, capture_output=True, text=True
    )
    path = root / "results/results.json"
    return done, json.loads(path.read_text()) if path.exists() else {}


def test_a_submission_gets_its_points(root: Path, tmp_path: Path) -> None:
    pupil = Pupil("ada", {SITUATION: "situation = 1"})
    classroom.hand_in(School(PROJECT), [pupil], tmp_path)
    done, results = run(root, tmp_path)
    assert done.returncode == 0, done.stderr
    check(results)
    marks = {t["name"].partition(":")[0]: (t["score"], t["max_score"]) for t in results["tests"]}
    assert marks[WIDTH] == (3.0, 3.0), "and nothing is lost for lateness, which is Gradescope's"
    assert marks[SITUATION] == (0.0, 1.0)
    assert list(marks) == [text.label for text in Sheet.of(PROJECT, MAIN).programming]
    assert results["extra_data"] == {"seed": 5}
    assert "To be read by a person" in results["output"]
    assert not any("solution" in test["output"].lower() for test in results["tests"])


def test_nothing_handed_in_is_no_failure_of_the_grader(root: Path) -> None:
    done, results = run(root, None)
    assert done.returncode == 0, done.stderr
    check(results)
    assert results["score"] == 0
    assert results["output"] == "there is no notebook (.ipynb)."
    assert {test["status"] for test in results["tests"]} == {"failed"}


def test_a_failure_of_the_grader_is_nobody_s_zero(root: Path, tmp_path: Path) -> None:
    classroom.hand_in(School(PROJECT), [Pupil("ada")], tmp_path)
    (root / "source/course.yml").rename(root / "course.old")
    (root / "source/course.yml").write_text("seed: soon")
    done, results = run(root, tmp_path)
    (root / "course.old").rename(root / "source/course.yml")
    assert done.returncode == 1
    assert done.stderr.startswith("momab: ")
    assert results == {}


def test_the_scripts_are_scripts_and_odd_wishes_are_sentences(root: Path, tmp_path: Path) -> None:
    for name in ("setup.sh", "run_autograder"):
        assert (root / "source" / name).read_text().startswith("#!/usr/bin/env bash\n")
        assert subprocess.run(["bash", "-n", root / "source" / name]).returncode == 0
    with pytest.raises(MomabError, match="no chapter 'nowhere' with exercises"):
        gradescope.make_autograder(PROJECT, ["nowhere"])
    (tmp_path / "course.yml").write_text("seed: soon")
    with pytest.raises(MomabError, match="no whole number"):
        gradescope.make_autograder(PROJECT, [MAIN], tmp_path / "course.yml")
