"""Texts with computed numbers: Jinja templates that are strict about names, and their filters.

The cell magics of `momab.chapters.figures.magics`, the ledger's evidence and the answers to a
page's questions are written with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from momab.errors import MomabError

TEMPLATES = Path(__file__).parents[1] / "chapters" / "figures" / "templates"
"""The files that a text may import."""


def one_blank(text: str) -> str:
    """A text on one line: blanks, line breaks and control characters are single blanks."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())


def fixed(value: Any, decimals: int = 0) -> str:
    """``fixed(2.345, 2)`` is 2.35 (rounded as Python's formats do)."""
    return f"{value:.{decimals}f}"


def comma(value: Any, decimals: int | None = None) -> str:
    """``comma(12345)`` is 12,345; with decimals, as many."""
    return f"{value:,}" if decimals is None else f"{value:,.{decimals}f}"


def percent(value: Any, decimals: int = 0) -> str:
    """``percent(0.123, 1)`` is 12.3%."""
    return f"{value:.{decimals}%}"


def general(value: Any, digits: int | None = None) -> str:
    """``general(0.10)`` is 0.1: the shortest form with at most six digits, or as many as said."""
    return f"{value:g}" if digits is None else f"{value:.{digits}g}"


def spec(value: Any, form: str) -> str:
    """Write a number in any of Python's formats."""
    return format(value, form)


def tens(value: Any, digits: int = 2) -> str:
    """``tens(1.9e-7)`` is 1.9 × 10⁻⁷; numbers that read well without a power keep their form."""
    text = f"{value:.{digits - 1}e}"
    number, _, power = text.partition("e")
    if not power or -3 <= int(power) < digits:
        return general(value, digits)
    if 0 < int(power) <= 3:
        return comma(float(text), 0)
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{float(number):g} × 10{raised}"


def words(items: Iterable[Any], last: str = "and") -> str:
    """``words(["a", "b", "c"])`` is "a, b and c"."""
    texts = [str(item) for item in items]
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def counted(value: Any, noun: str) -> str:
    """``counted(1, "run")`` is 1 run, ``counted(1200, "run")`` is 1,200 runs."""
    return f"{value:,} {noun}" if value == 1 else f"{value:,} {noun}s"


_MEANING = re.compile(r"([!-/:-@\[-`{-~])")  # the signs that Markdown may give a meaning


def literal(text: Any) -> str:
    r"""``literal("$5 <b>")`` is ``\$5 \<b\>``: a name of a reader's own table, as it is written.

    Every sign that could mean something gets a backslash; captions and alt texts take them off.
    """
    return _MEANING.sub(r"\\\1", one_blank(str(text)))


def joined(text: str) -> str:
    """Join lines to one, without what indents them: for HTML that is written over many lines."""
    return re.sub(r"\s*\n\s*", "", text)


class Missing(jinja2.StrictUndefined):
    """A name that no cell defines, which is said even where a filter meets it first."""

    def __format__(self, form: str) -> str:
        """Complain, as everything else that is done with the name does."""
        return str(self)


withheld: list[str] = []


class ClaimTag(Extension):
    """``{% claim CONDITION %}sentence{% endclaim %}``: shown only where it is true."""

    tags = {"claim"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        """Turn the tag into a call that is given the condition and the sentence."""
        line = next(parser.stream).lineno
        condition = parser.parse_expression()
        body = parser.parse_statements(("name:endclaim",), drop_needle=True)
        call = self.call_method("_shown", [condition])
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _shown(self, condition: Any, caller: Callable[[], str]) -> str:
        sentence = caller()
        if bool(condition):
            return sentence
        withheld.append(one_line(sentence))
        return ""


@cache
def environment() -> jinja2.Environment:
    """The Jinja environment of all texts: strict about names, with filters, and files to use."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=Missing,
        autoescape=False,
        keep_trailing_newline=False,
        extensions=[ClaimTag],
    )
    found.filters |= {
        "fixed": fixed,
        "comma": comma,
        "percent": percent,
        "general": general,
        "spec": spec,
        "tens": tens,
        "words": words,
        "counted": counted,
        "joined": joined,
        "literal": literal,
    }
    found.globals |= {"abs": abs, "len": len, "max": max, "min": min, "round": round, "sum": sum}
    return found


def render(text: str, names: Mapping[str, Any]) -> str:
    """Fill a text in; what is wrong with a field is said in one sentence."""
    try:
        return environment().from_string(text).render(**names).strip()
    except jinja2.TemplateSyntaxError as error:
        said = str(error.message).rstrip(".")
        raise MomabError(f"line {error.lineno} of the text: {said}.") from None
    except jinja2.UndefinedError as error:
        raise MomabError(f"the text uses a name that no cell defines: {error.message}.") from None


def one_line(text: str) -> str:
    """A text with its line breaks turned into spaces."""
    return re.sub(r"\s*\n\s*", " ", text.strip())
