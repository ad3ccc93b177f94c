"""Shared fixtures and settings."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from momab.book import build as pipeline
from momab.book.pdf import CHROMIUM_FLAGS, find_chromium, serve
from momab.book.project import Project
from tests import tiny

CI = bool(os.environ.get("CI"))
for profile, examples in (("everyday", 25), ("long", 200)):
    settings.register_profile(
        profile, max_examples=examples, deadline=None, derandomize=CI, print_blob=True
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))

#: What a test may lack where CI=true: data that are not ours to give, another compiler or machine.
OPTIONAL = ("shared folder", "beside the repository", "ziglang", "processor", "no kernel")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in its background ignoring Ctrl-C, and processes inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]
PROJECT = Project.find(Path(os.environ.get("MOMAB_BOOK", ROOT)))


def refuse_skip(report: Any) -> None:
    """Let a test fail that skips because a program is missing: in CI a skip is not a pass."""
    why = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if CI and report.skipped and not any(words in why for words in OPTIONAL):
        report.outcome, report.longrepr = "failed", f"CI=true does not allow this skip: {why}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Look at the outcome of every test."""
    report = yield
    if not hasattr(report, "wasxfail"):
        refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: Any) -> Any:
    """Look at the outcome of collecting every file."""
    report = yield
    refuse_skip(report)
    return report


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the reference tables and data, which lies beside the repository."""
    folder = Path(os.environ.get("MOMAB_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"skipped: needs the folder {folder.name!r} beside the repository")
    return folder


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of two notebooks and a library of two modules."""
    return tiny.make(tmp_path)


@pytest.fixture(scope="session")
def site() -> Path:
    """The built book; what is unchanged comes from the cache."""
    return pipeline.build(PROJECT, quiet=True).site


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the built book is served."""
    with serve(site) as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, one for each worker process; without it tests are skipped, in CI they fail."""
    api = pytest.importorskip("playwright.sync_api", reason="skipped: needs playwright")
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("skipped: needs Chromium")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=[f for f in CHROMIUM_FLAGS if f != "--headless"]
        )
        yield browser
        browser.close()
