"""How the tests of the chapters execute a page in this process and see what it shows."""

import re
from typing import Any

import pytest

from momab.book.notebook import Notebook
from momab.book.parameters import rewrite_cell
from momab.figures import magics, show
from tests.conftest import ROOT


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What a notebook would have displayed."""
    bundles: list[dict[str, Any]] = []
    monkeypatch.setattr(show, "bundle", bundles.append)
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: bundles.append(bundle))
    return bundles


def run_cell(source: str, where: str, names: dict[str, Any]) -> None:
    """Execute a code cell in a namespace, as a notebook would; magic cells are understood."""
    magic = re.match(r"%%(prose|figure|table)\b(.*)\n((?:.|\n)*)", source)
    if magic:
        getattr(magics, magic[1])(magic[2], magic[3], names)
    else:
        exec(compile(source, where, "exec"), names)


def run_chapter(name: str, **values: Any) -> dict[str, Any]:
    """Execute a notebook's code cells with these parameter values; return what they defined."""
    notebook = Notebook.read(ROOT / "notebooks" / f"{name}.md")
    checked = {key: notebook.parameters[key].check(value) for key, value in values.items()}
    names: dict[str, Any] = {"__name__": f"chapter_{name.replace('-', '_')}"}
    for cell in notebook.code_cells:
        source = cell.source
        if "parameters" in cell.metadata.get("tags", []):
            source = rewrite_cell(source, checked)
        run_cell(source, f"notebooks/{name}.md", names)
    return names


def text_of(bundles: list[dict[str, Any]]) -> str:
    """All that was shown, as plain text."""
    return " ".join(str(bundle["text/plain"]) for bundle in bundles)


def loud(bundles: list[dict[str, Any]]) -> list[str]:
    """The words that a page prints in capitals when a claim fails."""
    return re.findall(r"\b(?:CHANGES|FAILS|FAILED|DISAGREES|VIOLATED)\b", text_of(bundles))
