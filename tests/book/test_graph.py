"""The drawing of who uses whom."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.book import formal, graph
from momab.book.sphinx import statement_graph
from momab.errors import MomabError
from momab.ledger import claims
from tests.conftest import ROOT

SHOWN = claims.statements(claims.claims_of(ROOT))


@st.composite
def acyclic(draw):
    """A graph whose nodes use earlier ones only."""
    size = draw(st.integers(1, 14))
    return {
        f"n{i}": sorted({f"n{j}" for j in draw(st.lists(st.integers(0, i - 1), max_size=4))})
        if i
        else []
        for i in range(size)
    }


@given(acyclic(), st.integers(1, 5))
def test_rows_are_below_what_they_use_and_not_too_full(uses, columns):
    rows = graph.rows(uses, columns)
    row_of = {name: number for number, row in enumerate(rows) for name in row}
    assert row_of.keys() == uses.keys()
    assert all(row_of[other] < row_of[name] for name, used in uses.items() for other in used)
    assert all(1 <= len(row) <= columns for row in rows)


@given(acyclic())
def test_without_shortcuts_nothing_is_lost_and_nothing_is_left_to_take(uses):
    less = graph.without_shortcuts(uses)
    assert graph.ancestors(less) == graph.ancestors(uses)
    for name, used in less.items():
        for other in used:
            cut = less | {name: [one for one in used if one != other]}
            assert graph.ancestors(cut) != graph.ancestors(uses)


@given(acyclic(), st.integers(1, 5))
def test_boxes_do_not_overlap_and_lines_join_them(uses, columns):
    sizes = graph.Sizes()
    drawing = graph.draw(uses, columns, sizes)
    for (ax, ay), (bx, by) in combinations(drawing.places.values(), 2):
        assert abs(ax - bx) >= sizes.width or abs(ay - by) >= sizes.height
    for x, y in drawing.places.values():
        assert 0 <= x <= drawing.width - sizes.width
        assert 0 <= y <= drawing.height - sizes.height
    for line in drawing.lines:
        (x0, y0), (x1, y1) = drawing.places[line.used], drawing.places[line.user]
        half = sizes.width / 2
        assert line.path.startswith(f"M{x0 + half:.1f} {y0 + sizes.height:.1f}C")
        assert line.path.endswith(f" {x1 + half:.1f} {y1:.1f}")


def test_the_drawing_of_the_book_fits_its_column():
    uses = {entry.id: entry.uses for entry in SHOWN}
    drawing = graph.draw(uses, statement_graph.COLUMNS, statement_graph.SIZES)
    assert len(drawing.places) == len(SHOWN) > 50
    assert drawing.width < 760
    told = {(line.used, line.user) for line in drawing.lines}
    assert ("lemma-10", "theorem-4") in told
    assert ("algorithm-1", "theorem-4") not in told  # it follows


def test_the_words_leave_nothing_out():
    text = statement_graph.graph_in_words(SHOWN)
    lines = text.splitlines()
    assert len(lines) == len(SHOWN)
    known = {entry.id: entry for entry in SHOWN}
    for entry, line in zip(SHOWN, lines, strict=True):
        assert entry.name in line
        uses = line.partition("is used by")[0]
        for name in entry.uses:
            assert statement_graph._short(known[name]) in uses
            assert statement_graph._short(entry) in lines[SHOWN.index(known[name])]


def claim(name, kind, number, title, **fields):
    """A claim as far as the graph reads it."""
    facts = {"id": name, "kind": kind, "number": number, "title": title, "page": "price"}
    return claims.Claim.model_construct(**facts, **fields)


def test_a_title_is_cut_where_it_does_not_fit():
    entry = claim("a", "ours", "P1", "a word " * 30)
    lines = statement_graph.title_lines(entry)
    assert len(lines) <= statement_graph.LINES
    assert lines[-1].endswith("…")
    assert max(map(len, lines)) <= statement_graph.LETTERS
    assert statement_graph.title_lines(claim("b", "background", "", "Lai")) == []


def test_a_picture_names_every_verdict_and_marks_what_a_machine_has_checked():
    half = claims.Formal(theorems=("b",), part="half")
    two = [
        claim("a", "lemma", 9, "Certification", verdict="verified"),
        claim("b", "ours", "P1", "<b>", uses=("a",), status="open", formal=half),
    ]
    text = statement_graph.picture(two, {"a": "x.html#a", "b": ""})
    assert 'href="x.html#a"' in text
    assert 'aria-label="Lemma 9: Certification, verified"' in text
    assert 'aria-label="P1: &lt;b&gt;, open, machine-checked in part"' in text
    assert text.count('class="graph-line"') == 1
    assert "<b>" not in text
    assert text.count('class="graph-checked">Coq*</text>') == 1
    assert ", machine-checked in part: uses" in statement_graph.graph_in_words(two)


def test_the_graph_of_one_statement_is_closed():
    kept = statement_graph.behind_statement(SHOWN, "theorem-4")
    names = {entry.id for entry in kept}
    assert all(set(entry.uses) <= names for entry in kept)
    assert names == graph.ancestors({e.id: e.uses for e in SHOWN})["theorem-4"] | {"theorem-4"}
    with pytest.raises(MomabError, match="no statement is called 'theorem-44'"):
        statement_graph.behind_statement(SHOWN, "theorem-44")


def test_the_graph_of_what_is_checked_has_the_edges_that_coq_found():
    theorems = formal.read_checked(ROOT).theorems
    uses = formal.formal_uses(SHOWN, theorems)
    kept = statement_graph.behind_checked(SHOWN, uses)
    names = {entry.id for entry in kept}
    assert {"theorem-4", "lemma-9", "lai-robbins", "price-theorem"} <= names
    assert names == {entry.id for entry in SHOWN if entry.formal}
    drawn = {entry.id: entry.uses for entry in kept}
    assert "lai-robbins" in drawn["proposition-3"]
    assert "lemma-9" in graph.ancestors(drawn)["theorem-4"]
    assert "theorem-4" not in drawn["lai-robbins"]
