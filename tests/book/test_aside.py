"""Formulas and drawings set aside while a page is worked on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from momab.book.aside import Aside

FORMULA = (
    '<span class="katex"><span class="katex-mathml"><math><mi>x</mi><mo>&lt;</mo><mn>2</mn></math>'
    '</span><span class="katex-html" aria-hidden="true"><span>x<svg><path></path></svg></span>'
    "</span></span>"
)


def test_a_page_comes_back_as_it_was(site: Path, parsed: Any) -> None:
    for name in parsed.names:
        page = (site / f"{name}.html").read_text(encoding="utf-8")
        aside = Aside()
        rest = aside.without(page)
        assert aside.within(rest) == page, name
        assert "katex-html" not in rest, name


def test_a_formula_keeps_the_classes_it_was_given() -> None:
    aside = Aside()
    soup = BeautifulSoup(aside.without(f"<p>If <b>{FORMULA}</b>, <i>then</i>.</p>"), "html.parser")
    formula = soup.select_one(".katex")
    assert formula is not None
    assert formula.get_text() == "x<2"
    formula["class"] = ["katex", "serve-changed"]
    marked = FORMULA.replace('"katex"', '"katex serve-changed"')
    assert aside.within(str(soup)) == f"<p>If <b>{marked}</b>, <i>then</i>.</p>"


def test_a_formula_without_an_end_reaches_to_the_end() -> None:
    aside = Aside()
    cut = "<p>a</p>" + FORMULA.removesuffix("</span>")
    assert aside.within(aside.without(cut)) == cut
