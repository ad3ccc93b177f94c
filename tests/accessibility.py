"""What axe finds on a page; a page that has not changed is not looked at again.

Results are kept in ``_build/axe-cache`` by a digest of the page's HTML, the site's styles and
scripts, the theme, and the version of axe.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROJECT

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OPTIONS = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]}


def violations(page: Any) -> list[tuple[str, list[str]]]:
    """The rules that an open page violates, with the first places."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page, options=OPTIONS).response["violations"]
    return [(v["id"], [node["html"][:160] for node in v["nodes"]][:3]) for v in found]


@cache
def _common(site: Path) -> str:
    """A digest of what all pages of a site share, and of axe."""
    version = importlib.metadata.version("axe-playwright-python")
    digest = hashlib.sha256(json.dumps([version, OPTIONS]).encode())
    for path in sorted((site / "_static").rglob("*")):
        if path.suffix in (".css", ".js"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Remembered:
    """Whether a page of the book was found accessible before, as it is now."""

    def __init__(self, site: Path, page: str, how: str) -> None:
        content = (site / f"{page}.html").read_bytes()
        key = hashlib.sha256(f"{_common(site)} {how} ".encode() + content).hexdigest()
        self._path = PROJECT.build / "axe-cache" / f"{page.replace('/', '-')}-{how}.json"
        self._entry = json.dumps({"key": key})

    def __bool__(self) -> bool:
        return self._path.is_file() and self._path.read_text() == self._entry

    def keep(self) -> None:
        """Remember that nothing was found."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(self._entry)
