"""A run beside the default: what is marked, and what is not."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from momab.book.compare import (
    changing_lines,
    changing_numbers,
    compare_pages,
    renamed,
    small_multiples,
)


def article(*blocks: str) -> str:
    return f'<article class="bd-article">{"".join(blocks)}</article>'


def figure(drawn: str, caption: str = "Some dots.") -> str:
    svg = f'<svg viewBox="0 0 300 200"><clipPath id="c"/><g clip-path="url(#c)">{drawn}</g></svg>'
    return f'<figure class="momab-figure">{svg}<figcaption>{caption}</figcaption></figure>'


def marks(html: str) -> list[tuple[str, str]]:
    found = BeautifulSoup(html, "html.parser").select("mark.serve-changed")
    return [(mark.get_text(), str(mark.get("data-was", ""))) for mark in found]


def test_a_number_that_changed_is_marked_with_what_it_was() -> None:
    default = article("<p>It takes 1,200 pulls, <b>0.35</b> of all.</p>", "<p>Seven of 9.</p>")
    new = article("<p>It takes 900 pulls, <b>0.42</b> of all.</p>", "<p>Seven of 9.</p>")
    found = compare_pages(default, new)
    assert marks(found.article) == [("900", "1,200"), ("0.42", "0.35")]
    assert (found.numbers, found.figures) == (2, 0)


def test_a_paragraph_more_does_not_shift_the_rest() -> None:
    default = article("<p>First 1.</p>", "<p>Second 2, said at length.</p>", "<p>Third 3.</p>")
    new = article("<p>First 1.</p>", "<p>A warning.</p>", "<p>Second 5, said at length.</p>")
    assert ("5", "2") in marks(compare_pages(default, new).article)


def test_words_that_changed_are_marked_but_are_no_numbers() -> None:
    found = compare_pages(
        article("<p>The best arm is A.</p>"), article("<p>The best arm is B.</p>")
    )
    assert marks(found.article) == [("B", "A")]
    assert found.numbers == 0


def test_cells_of_tables_are_compared_one_by_one() -> None:
    rows = "<table><tr><td>a</td><td>{}</td></tr><tr><td>b</td><td>2.0</td></tr></table>"
    found = compare_pages(article(rows.format("1.0")), article(rows.format("1.5")))
    assert marks(found.article) == [("1.5", "1.0")]


def test_a_formula_is_one_word() -> None:
    formula = '<p>So <span class="katex"><annotation>{}</annotation><i>{}</i></span>.</p>'
    found = compare_pages(
        article(formula.format("x=1", "x=1")), article(formula.format("x=2", "x=2"))
    )
    assert 'class="katex serve-changed"' in found.article
    assert found.numbers == 1


def test_code_and_colophon_are_not_compared() -> None:
    text = '<div class="cell_input"><p>arms = {0}</p></div>'
    text += '<details class="colophon"><p>{0} s</p></details>'
    found = compare_pages(article(text.format(1)), article(text.format(2)))
    assert (found.numbers, marks(found.article)) == (0, [])


def test_figures_that_differ_stand_side_by_side() -> None:
    same, old, new = figure("<b/>"), figure("<i/>"), figure("<u/>")
    found = compare_pages(article(same, old), article(same, new))
    soup = BeautifulSoup(found.article, "html.parser")
    [pair] = soup.select(".serve-pair")
    assert [side.select_one(".serve-label").get_text() for side in pair.select(".serve-side")] == [
        "Default",
        "Yours",
    ]
    assert pair.select_one(".serve-side i") is not None
    assert pair.select(".serve-side")[1].select_one("u") is not None
    assert found.figures == 1


def test_twins_share_no_identifier() -> None:
    found = compare_pages(article(figure("<i/>")), article(figure("<u/>"))).article
    names = re.findall(r'\bid="([^"]+)"', found)
    assert len(names) == len(set(names)) == 2
    assert set(re.findall(r"url\(#([^)]+)\)", found)) == set(names)


def test_renaming_follows_every_reference() -> None:
    html = (
        '<svg aria-labelledby="a b"><title id="a"/><use href="#b"/><g id="b" fill="url(#c)"/></svg>'
    )
    assert renamed(html, "x-") == (
        '<svg aria-labelledby="x-a x-b"><title id="x-a"/><use href="#x-b"/>'
        '<g id="x-b" fill="url(#x-c)"/></svg>'
    )


texts = st.lists(
    st.text(st.sampled_from("ab 0123.,%<>&-"), max_size=20).map(
        lambda t: t.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    ),
    max_size=6,
)


@given(texts, texts)
def test_marks_never_change_the_text(old: list[str], new: list[str]) -> None:
    default, mine = (article(*(f"<p>{t}</p>" for t in found)) for found in (old, new))
    pages = (compare_pages(default, mine).article, mine)
    shown, meant = (BeautifulSoup(page, "html.parser").get_text().split() for page in pages)
    assert shown == meant  # runs of blanks look like one, and the parser shortens some


@given(texts)
def test_a_page_does_not_differ_from_itself(blocks: list[str]) -> None:
    same = article(*(f"<p>{t}</p>" for t in blocks))
    assert marks(compare_pages(same, same).article) == []


def table(*rows: tuple[str, str]) -> str:
    lines = "".join(f"<tr><td>{name}</td><td>{number}</td></tr>" for name, number in rows)
    return f"<table><thead><tr><th>song</th><th>gap</th></tr></thead><tbody>{lines}</tbody></table>"


def test_the_numbers_of_a_sweep_that_change_are_found_with_their_words() -> None:
    pages = [
        article(
            f"<p>With {arms} arms the largest gap is {gap} of seven.</p>",
            "<p>Nothing else changes: 3 is 3.</p>",
            table(("first", gap), ("second", "0.5")),
            f"<p>{'A sentence that only this page has, 1.' if arms == 5 else ''}</p>",
        )
        for arms, gap in ((5, "0.125"), (10, "1,250"), (20, "12%"))
    ]
    found = changing_numbers(pages)
    assert [one.texts for one in found] == [
        ("5", "10", "20"),
        ("0.125", "1,250", "12%"),
        ("0.125", "1,250", "12%"),
    ]
    assert found[1].values == [0.125, 1250, 0.12]
    assert "largest gap is ▢ of seven" in found[1].says
    assert found[2].says == "gap, first"
    lines = changing_lines(pages, [{"arms": "5"}, {"arms": "10"}, {"arms": "20"}])
    assert [line[1:] for line in lines] == [list(one.texts) for one in found[1:]]


def test_a_sweep_shows_the_figures_that_change_and_no_others() -> None:
    pages = [article(figure("<i/>"), figure(f"<u>{n}</u>"), figure("<b/>")) for n in range(3)]
    [row] = small_multiples(pages)
    assert [f"<u>{n}</u>" in cell for n, cell in enumerate(row)] == [True] * 3
    names = [re.findall(r'id="([^"]+)"', cell)[0] for cell in row]
    assert len(set(names)) == 3
    assert small_multiples([pages[0], pages[0]]) == []
