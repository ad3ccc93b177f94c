"""The built book, parsed once for all tests of this folder, and its student edition."""

from __future__ import annotations

from pathlib import Path

import pytest

from momab.book import build as pipeline
from tests.browsing import ParsedSite
from tests.conftest import PROJECT


@pytest.fixture(scope="session")
def parsed(site: Path) -> ParsedSite:
    """The built book, parsed page by page as tests look at it."""
    return ParsedSite(site)


@pytest.fixture(scope="session")
def student_site(site: Path) -> ParsedSite:
    """The student edition of the built book."""
    return ParsedSite(pipeline.build(PROJECT, quiet=True, edition="student").site)
