"""The built book and its student edition, parsed once, and tabs that tests go on with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from momab.book import build as pipeline
from momab.book import live
from tests.browsing import ParsedSite, Visit
from tests.conftest import PROJECT, ROOT

EXPLORABLE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{name}</title>
<link rel="icon" href="data:,"><style>/* style */</style></head>
<body style="margin: 8px; background: var(--pst-color-background)"><main><h1>{name}</h1>
<p id="before">A recorded picture.</p>
<div class="momab-live" id="live-{name}" data-live="{name}" data-instead=""></div></main>
<script defer src="core.js"></script><script defer src="{name}.js"></script></body></html>"""


@pytest.fixture(scope="session")
def parsed(site: Path) -> ParsedSite:
    """The built book, parsed page by page as tests look at it."""
    return ParsedSite(site)


@pytest.fixture(scope="session")
def student_site(site: Path) -> ParsedSite:
    """The student edition of the built book; the first process that wants it builds it."""
    with FileLock(PROJECT.build / "student-for-tests.lock"):
        return ParsedSite(pipeline.build(PROJECT, quiet=True, edition="student").site)


@pytest.fixture(scope="session")
def tour(browser: Any, address: str) -> Iterator[Visit]:
    """A tab that goes from page to page of the built book; no test leaves anything behind in it."""
    with Visit(browser, address) as visit:
        yield visit


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page for every explorable; it is opened without a server."""
    target = tmp_path_factory.mktemp("pages")
    source = ROOT / "book" / "live"
    live.write_scripts(source, target)
    sheets = ROOT / "book" / "_static" / "momab.css", source / "live.css"
    style = "".join(sheet.read_text() for sheet in sheets)
    for name in live.explorables(source):
        page = EXPLORABLE.format(name=name).replace("/* style */", style)
        (target / f"{name}.html").write_text(page)
    return target


@pytest.fixture(scope="session")
def bench(browser: Any, folder: Path) -> Iterator[Visit]:
    """A tab that goes from explorable to explorable."""
    with Visit(browser, f"{folder.as_uri()}/") as visit:
        yield visit
