"""Grading: what students hand in is run behind a fence and judged outside of it."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from momab import sandbox
from momab.notebooks import Project
from tests import classroom
from tests.classroom import Grounds, Pupil, School
from tests.conftest import ROOT

COMMAND = [sys.executable, "-c", "from momab.cli import main; main()", "grade"]


@pytest.fixture(scope="module")
def school() -> School:
    return School(Project.find(ROOT))


@pytest.fixture(scope="module")
def layers() -> list[str]:
    return sandbox.probe(sandbox.Limits())


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def kept(folder: Path) -> dict[str, object]:
    """Everything about a folder's files that must not change."""
    return {
        str(path): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.is_file() and path.read_bytes(),
        )
        for path in [folder, *folder.rglob("*")]
    }


def processes_of(folder: Path) -> list[int]:
    """The processes whose environment speaks of a folder (Linux)."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if str(folder).encode() in place.read_bytes():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return [number for number in found if number != os.getpid()]


def test_a_whole_class_in_one_command(school, layers, tmp_path):
    handed_in, canary, temporary = (tmp_path / n for n in ("class", "canary", "temporary"))
    for folder in (handed_in, canary, temporary):
        folder.mkdir()
    (canary / "file.txt").write_text("here before")
    grounds = Grounds(canary, handed_in / "ada" / f"{classroom.MAIN}.ipynb", ROOT)
    kernel = "system-call filter" in layers and any("Landlock" in layer for layer in layers)
    pupils = classroom.pupils(grounds, kernel)
    classroom.hand_in(school, pupils, handed_in)
    before = kept(canary), kept(handed_in)

    output = tmp_path / "results"
    command = [*COMMAND, str(handed_in), "-o", str(output), "--seconds", "3", "--memory", "640"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    started = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    print(f"{len(pupils)} pupils in {time.monotonic() - started:.0f} s")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("fence: own process and session, ")

    graded = {
        (row["student"].lstrip("'"), row["exercise"]): row for row in rows(output / "details.csv")
    }
    marks = {row["student"].lstrip("'"): row for row in rows(output / "grades.csv")}
    assert set(marks) == {pupil.name for pupil in pupils}
    for pupil in pupils:
        expected = school.statuses(pupil)
        found = {name: graded[pupil.name, name]["status"] for name in expected}
        assert found == expected, pupil.name
        right = sum(status == "right" for status in expected.values())
        assert marks[pupil.name]["total"] == str(right), pupil.name
        assert marks[pupil.name]["out of"] == "7"

    assert (kept(canary), kept(handed_in)) == before
    assert list(temporary.iterdir()) == []
    assert processes_of(temporary) == []
    time.sleep(classroom.FAILS_LATER)
    assert kept(canary) == before[0]

    assert len(list((output / "reports").iterdir())) == len(pupils)
