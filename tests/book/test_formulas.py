"""Formulas set while the book is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from unittest.mock import Mock

import pytest
from docutils import nodes
from docutils.utils import new_document

from momab.book.formulas import FormulaError, Typesetter, fonts_of, prepared, styles
from momab.book.sphinx.formulas import bind_punctuation


@pytest.fixture(scope="module")
def setter() -> Iterator[Typesetter]:
    with closing(Typesetter({r"\ones": r"\mathbf{1}"})) as setter:
        yield setter


def test_a_formula_is_drawn_for_eyes_and_told_to_screen_readers(setter: Typesetter) -> None:
    found = setter.page(r"\ones\{\mu_b\le 1\}")
    assert found.count("<math>") == found.count('aria-hidden="true"') == 1
    assert "<mi>μ</mi>" in found


@pytest.mark.parametrize("tex", [r"\foo{x}", r"\frac{1", r"x_1_2", r"\begin{align}x"])
def test_what_cannot_be_set_is_said_in_one_sentence(setter: Typesetter, tex: str) -> None:
    with pytest.raises(FormulaError) as caught:
        setter.page(tex)
    said = str(caught.value)
    assert tex.partition("{")[0] in said
    assert "\n" not in said
    assert said.endswith(".")


@pytest.mark.parametrize(
    ("tex", "wanted"),
    [
        ("T=100,000", "T=100{,}000"),
        ("1,000,000", "1{,}000{,}000"),
        ("[0,100]", "[0,100]"),
        ("1,2,3", "1,2,3"),
        ("x_{1,200}", "x_{1{,}200}"),
        (r"\begin{align}a\end{align}", r"\begin{align*}a\end{align*}"),
    ],
)
def test_thousands_are_one_number(tex: str, wanted: str) -> None:
    assert prepared(tex) == wanted


def test_a_formula_gets_the_comma_behind_itself_and_no_other() -> None:
    """Two texts of a paragraph may read the same."""
    tree, line = new_document("page"), nodes.paragraph()
    tree += line
    parts = [
        nodes.emphasis("", "a link"),
        ", ",
        nodes.math("", "x"),
        ", ",
        nodes.math("", "y"),
        ".",
    ]
    line += [nodes.Text(part) if isinstance(part, str) else part for part in parts]
    bind_punctuation(Mock(), tree, "page")
    assert [child.astext() for child in line.children] == ["a link", ", ", "x", " ", "y", ""]
    assert [formula["tail"] for formula in tree.findall(nodes.math)] == [",", "."]


def test_short_code_and_the_comma_behind_it_stay_together() -> None:
    tree, line = new_document("page"), nodes.paragraph()
    tree += line
    line += [nodes.literal("", "gap"), nodes.Text(", "), nodes.literal("", "x" * 40)]
    line += [nodes.Text(", "), nodes.literal("", "lead"), nodes.Text(" and")]
    bind_punctuation(Mock(), tree, "page")
    assert [child.astext() for child in line.children] == [
        "gap,",
        " ",
        "x" * 40,
        ", ",
        "lead",
        " and",
    ]
    bound = line.children[0]
    assert isinstance(bound, nodes.inline)
    assert isinstance(bound.children[0], nodes.literal)


def test_punctuation_stays_in_the_last_box_of_its_formula(setter: Typesetter) -> None:
    found = setter.page("a=b", tail=",")
    last = found[found.rindex('<span class="katex-base">') :]
    assert '<span class="tail">,</span></span></span></span>' in last
    assert found.count("<span") == found.count("</span>")


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        (r"\mu_b\le\frac12", "μ_b ≤ 1/2"),
        (r"K d\,T^{1-2c}", "KdT^(1 − 2c)"),
        (r"\sqrt{c\log T/N}", "√(clog T/N)"),
        (r"\widehat a_{\mathrm{cert}}", "â_cert"),
        (r"\underline\delta_a\le\bar Y_n", "δ̲_a ≤ Ȳ_n"),
        (r"\mathrm{kl}^+(p,q)", "kl^+(p, q)"),
        (r"\max_a x_a", "max_a x_a"),
    ],
)
def test_a_formula_in_words_has_no_tex(setter: Typesetter, tex: str, words: str) -> None:
    assert setter.in_words(tex) == words


def test_one_format_of_fonts_is_named() -> None:
    formats = set(re.findall(r'format\("(\w+)"\)', styles()))
    assert formats == {"woff2"}


def main_of(text: str) -> str:
    return text[text.index("<main") : text.index("</main>")]


def test_a_page_names_every_font_its_formulas_need(parsed: Any) -> None:
    """The rules of KaTeX's style sheet for single classes say which those are."""
    styled = {}
    for names, family, rest in re.findall(r"([^{}]+)\{font-family:(KaTeX_\w+)([^}]*)\}", styles()):
        kind = "Bold" if "700" in rest else "Italic" if "italic" in rest else "Regular"
        for name in re.findall(r"\.katex \.(\w+)(?=,|$)", names):
            styled[name] = f"{family}-{kind}.woff2"
    assert styled["mathsf"] == "KaTeX_SansSerif-Regular.woff2"
    for page in parsed.names:
        main = main_of(parsed.text(page))
        used = {
            name for names in re.findall(r'<span class="([^"]*)', main) for name in names.split()
        }
        needed = {styled[name] for name in used & styled.keys()}
        assert needed <= set(fonts_of(main)), page


def test_no_page_has_tex_left_outside_its_code(parsed: Any) -> None:
    for name in parsed.names:
        text = main_of(parsed.text(name))
        text = re.sub(r"(?s)<(script|style|pre|code|svg)\b.*?</\1>|<[^>]*>", " ", text)
        assert not re.search(r"\\\(|\\\[|\\mathrm|\\frac|\\le\b", text), name
