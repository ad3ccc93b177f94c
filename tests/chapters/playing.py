"""Execute pages on the study in this process, with what they showed; their solutions on demand."""

import re
from pathlib import Path
from typing import Any

import jupytext
import pytest

from momab import MomabError, study
from momab.figures import magics, show

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
MAGICS = {"prose": magics.prose, "figure": magics.figure, "table": magics.table}


def play(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    solutions: bool = False,
    pictures: bool = True,
    **values: Any,
) -> tuple[dict[str, Any], str]:
    """The names that a page's cells define, and everything they show.

    Pictures are made in any case, but drawn only if wanted, which takes the longest.
    """
    shown: list[str] = []
    if not pictures:
        monkeypatch.setattr(show, "figure_html", lambda fig, alt, caption: caption)
    monkeypatch.setattr(show, "bundle", lambda forms: shown.append(forms["text/plain"]))
    monkeypatch.chdir(NOTEBOOKS)
    files = [f"{name}.md", f"{name}.exercises.md"][: 1 + solutions]
    space: dict[str, Any] = {}
    for cell in (cell for file in files for cell in jupytext.read(NOTEBOOKS / file).cells):
        if cell.cell_type != "code":
            continue
        if magic := re.match(r"%%(\w+) ?(.*)\n?", cell.source):
            MAGICS[magic[1]](magic[2], cell.source[magic.end() :], space)
        else:
            exec(compile(cell.source, name, "exec"), space)  # the notebook's own code
        if "parameters" in cell.metadata.get("tags", []):
            assert set(values) <= set(space)
            space.update(values)
    return space, "\n".join(shown)


def read_aloud(name: str, words: str, **names: Any) -> str:
    """The text of the one magic cell of a page that holds these words, for these names."""
    found = [
        cell.source
        for file in (f"{name}.md", f"{name}.exercises.md")
        for cell in jupytext.read(NOTEBOOKS / file).cells
        if cell.source.startswith("%%") and words in cell.source
    ]
    [source] = found
    return magics.one_line(magics.render(source.partition("\n")[2], names))


def need_recorded(*parts: str) -> None:
    """Skip a test where these parts of the study are not recorded."""
    for part in parts:
        try:
            study.recorded_results(part)
        except MomabError:
            pytest.skip(f"no recorded results for {part}")
