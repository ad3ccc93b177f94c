"""Prose is prose: pages are text and short visible cells, and no sentence hides in code."""

import ast
import re
from pathlib import Path
from typing import Any

import jupytext
import pytest

from momab.book.notebook import shown_code
from tests.conftest import PROJECT, ROOT

MAGIC = re.compile(r"%%(?:prose|figure|table)\b")
CELLS = 12  # lines of a visible cell at most; about ten is the aim


def body(cell: Any) -> list[str]:
    return [line for line in cell.source.splitlines() if line.strip()]


def is_magic(cell: Any) -> bool:
    return cell.cell_type == "code" and bool(MAGIC.match(cell.source))


def files(name: str) -> list[Path]:
    page, exercises = (ROOT / "notebooks" / f"{name}{kind}.md" for kind in ("", ".exercises"))
    return [page, exercises] if exercises.is_file() else [page]


@pytest.mark.parametrize("name", PROJECT.names)
def test_visible_cells_are_short(name):
    node = jupytext.read(ROOT / "notebooks" / f"{name}.md")
    for cell in node.cells:
        if cell.cell_type == "code" and "parameters" not in cell.metadata.get("tags", []):
            assert is_magic(cell) or len(body(cell)) <= CELLS, cell.source


# The first page and the ledgers have no program; the last one has its imports in the cell that a
# reader copies.
CLOSED = {"index", "claims", "referee", "bring-your-policy"}
LEAST, FOLDED = 25, 15  # visible lines of a page at least; lines of a folded cell at most


def tagged(cell: Any, *tags: str) -> bool:
    return bool({*cell.metadata.get("tags", [])} & {*tags})


def programs(name: str) -> tuple[list[Any], list[Any], list[Any]]:
    """The code cells of a page that are visible, folded and removed."""
    cells = [c for c in jupytext.read(ROOT / f"notebooks/{name}.md").cells if c.cell_type == "code"]
    folded = [c for c in cells if tagged(c, "hide-input", "hide-cell")]
    removed = [c for c in cells if tagged(c, "remove-input", "remove-cell")]
    return [c for c in cells if c not in folded + removed], folded, removed


@pytest.mark.parametrize("name", sorted({*PROJECT.names} - CLOSED))
def test_a_page_shows_its_program(name):
    visible, folded, removed = programs(name)
    assert all(cell.source.startswith("%%prose") for cell in removed)
    assert not any(is_magic(cell) for cell in visible)
    assert sum(len(body(cell)) for cell in visible) >= LEAST
    for cell in folded:
        assert len([line for line in shown_code(cell.source).splitlines() if line]) <= FOLDED
    assert "import" in visible[0].source
    assert any(tagged(cell, "parameters") for cell in visible[:2])


def sentences(tree: ast.AST) -> list[str]:
    """The f-strings that hold a clause: six words or more in a row. Error messages do not count."""
    raised = {id(n) for r in ast.walk(tree) if isinstance(r, ast.Raise) for n in ast.walk(r)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in raised:
            texts = [v.value for v in node.values if isinstance(v, ast.Constant)]
            found += [text for text in texts if len(re.findall(r"[A-Za-z]{2,}", text)) >= 6]
    return found


@pytest.mark.parametrize("name", PROJECT.names)
def test_no_sentence_of_a_notebook_is_an_f_string(name):
    for path in files(name):
        for cell in jupytext.read(path).cells:
            if cell.cell_type == "code":
                assert not sentences(ast.parse(shown_code(cell.source))), cell.source
                assert "show.say(" not in cell.source


@pytest.mark.parametrize(
    "path", sorted((ROOT / "momab/chapters").glob("*.py")), ids=lambda p: p.stem
)
def test_no_sentence_of_a_chapter_module_is_an_f_string(path):
    assert not sentences(ast.parse(path.read_text(encoding="utf-8")))


def test_a_sentence_in_an_f_string_is_found():
    assert sentences(
        ast.parse('f"the run stops after {n} pulls, which is more than the bound says"')
    )
    assert not sentences(
        ast.parse('raise ValueError(f"{n} is not one of the six words allowed here")')
    )


def test_a_statement_without_a_number_is_referred_to_in_words() -> None:
    """Only the paper's statements are numbered; a bare reference to another reads "Theorem "."""
    for path in (*ROOT.glob("notebooks/*.md"), *ROOT.glob("book/*.md")):
        bare = re.findall(r"\{prf:ref\}`([^`<]*)`", path.read_text())
        assert [label for label in bare if not label.startswith("paper-")] == [], path.name
