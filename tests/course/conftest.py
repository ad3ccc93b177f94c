"""What the tests of the course share: each is made once, however many processes run them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from momab.book.project import Project
from momab.course.submissions import Sheet
from tests.conftest import ROOT
from tests.course.classroom import MAIN, School


@pytest.fixture(scope="session")
def once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Callable[[Path], object]], Path]:
    """Make a folder of a name once per test run; all processes get the same one."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if base.name.startswith("popen-") else base

    def make(name: str, fill: Callable[[Path], object]) -> Path:
        folder = base / name
        with FileLock(base / f"{name}.lock"):
            if not (folder / ".made").is_file():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                (folder / ".made").touch()
        return folder

    return make


@pytest.fixture(scope="session")
def school() -> School:
    return School(Project.find(ROOT))


@pytest.fixture(scope="session")
def sheet() -> Sheet:
    return Sheet.of(Project.find(ROOT), MAIN)
