"""What the tests of the course share: each is made once, however many processes run them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from momab.book.project import Project
from momab.course.submissions import Sheet
from tests import tiny
from tests.conftest import ROOT
from tests.course.classroom import MAIN, School


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make a folder of a name once per test run; all processes get the same one."""
    return partial(tiny.once, tmp_path_factory)


@pytest.fixture(scope="session")
def school() -> School:
    return School(Project.find(ROOT))


@pytest.fixture(scope="session")
def sheet() -> Sheet:
    return Sheet.of(Project.find(ROOT), MAIN)
