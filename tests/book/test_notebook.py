"""A notebook's source and its outputs."""

import copy

import nbformat
import pytest

from momab.book.notebook import Notebook
from tests.conftest import ROOT

PAGE = ROOT / "notebooks" / "own-data.md"


def test_warnings_are_not_printed_into_pages():
    notebook = Notebook.read(PAGE)
    executed = copy.deepcopy(notebook.node)
    executed.metadata["momab"] = {}
    for cell in executed.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                nbformat.v4.new_output("stream", name="stderr", text="UserWarning: a glyph"),
                nbformat.v4.new_output("stream", name="stdout", text="a number"),
            ]
    shown = notebook.with_outputs(executed, {})
    outputs = [out for cell in shown.cells if cell.cell_type == "code" for out in cell.outputs]
    assert {out["name"] for out in outputs} == {"stdout"}


@pytest.mark.parametrize("page", ["model", "own-data"])
def test_a_page_alone_has_no_exercises_and_no_questions(page):
    notebook = Notebook.read(PAGE.with_name(f"{page}.md"))
    alone = notebook.alone()
    assert any("{question}" in cell.source for cell in notebook.node.cells)
    assert not any("{question}" in cell.source for cell in alone.node.cells)
    assert [c.source for c in alone.code_cells] == [
        c.source for c in notebook.node.cells[: notebook.own] if c.cell_type == "code"
    ]
    assert len(alone.node.cells) == notebook.own < len(notebook.node.cells)
    assert not any("## Exercises" in cell.source for cell in alone.node.cells)
