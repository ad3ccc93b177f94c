"""Execute a page in this process, so that a test can look at what its cells defined."""

import re
from typing import Any

import jupytext
import pytest
from hypothesis import HealthCheck, Phase, settings

from momab.book.notebook import Notebook
from momab.book.parameters import rewrite_cell
from momab.chapters.figures import magics, show
from tests.conftest import ROOT

PAGE = settings(
    max_examples=1,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),  # a page takes too long to be run for shrinking
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

MAGICS = {"prose": magics.prose, "figure": magics.figure, "table": magics.table}


WHOLE = pytest.mark.parametrize(
    "whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["page", "whole"]
)


def run_chapter(name: str, whole: bool = False, **values: Any) -> dict[str, Any]:
    """Run the code cells of a page with these parameter values; return what they defined.

    The whole of it also runs the exercises' cells, and draws the pictures that are made.
    """
    page = ROOT / "notebooks" / f"{name}.md"
    parameters = Notebook.read(page).parameters
    checked = {key: parameters[key].check(value) for key, value in values.items()}
    files = [page, page.with_suffix(".exercises.md")] if whole else [page]
    names: dict[str, Any] = {"__name__": f"chapter_{name.replace('-', '_')}"}
    with pytest.MonkeyPatch.context() as patch:
        if not whole:
            patch.setattr(show, "figure_html", lambda fig, alt, caption: caption)
        for cell in (cell for file in files for cell in jupytext.read(file).cells):
            source = cell.source
            if "parameters" in cell.metadata.get("tags", []):
                source = rewrite_cell(source, checked)
            if magic := re.match(r"%%(\w+) ?(.*)\n?", source):
                MAGICS[magic[1]](magic[2], source[magic.end() :], names)
            elif cell.cell_type == "code":
                exec(compile(source, f"notebooks/{name}.md", "exec"), names)
    return names


def read_aloud(name: str, words: str, **names: Any) -> str:
    """The text of the one magic cell of a page that holds these words, for these names."""
    page = ROOT / "notebooks" / f"{name}.md"
    [source] = [
        cell.source
        for file in (page, page.with_suffix(".exercises.md"))
        if file.is_file()
        for cell in jupytext.read(file).cells
        if cell.source.startswith("%%") and words in cell.source
    ]
    return magics.one_line(magics.render(source.partition("\n")[2], names))


def text_of(bundles: list[dict[str, Any]]) -> str:
    """What the fixture ``shown`` collected, as plain text."""
    return " ".join(str(bundle["text/plain"]) for bundle in bundles)


def loud(bundles: list[dict[str, Any]]) -> list[str]:
    """The words that a page prints in capitals when a claim fails."""
    return re.findall(r"\b(?:FAILS|FAILED|DISAGREES|VIOLATED)\b", text_of(bundles))
