"""Formulas set while the book is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from momab.book.formulas import FormulaError, Typesetter, prepared, styles


@pytest.fixture(scope="module")
def setter() -> Iterator[Typesetter]:
    with Typesetter({r"\ones": r"\mathbf{1}"}) as setter:
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
    ],
)
def test_a_formula_in_words_has_no_tex(setter: Typesetter, tex: str, words: str) -> None:
    assert setter.in_words(tex) == words


def test_one_format_of_fonts_is_named() -> None:
    formats = set(re.findall(r'format\("(\w+)"\)', styles()))
    assert formats == {"woff2"}


def test_no_page_has_tex_left_outside_its_code(parsed: Any) -> None:
    for name in parsed.names:
        text = str(parsed.page(name).select_one("main"))
        text = re.sub(r"(?s)<(script|style|pre|code|svg)\b.*?</\1>|<[^>]*>", " ", text)
        assert not re.search(r"\\\(|\\\[|\\mathrm|\\frac|\\le\b", text), name
