r"""Prose as prose: cell magics for text, pictures and tables whose words contain computed numbers.

``%%prose`` shows Markdown; ``%%figure EXPRESSION`` and ``%%table EXPRESSION`` show what the
expression gives, with a caption.  The text is a Jinja template in the notebook's own namespace::

    %%prose
    The certificate appears after {{ pulls | comma }} pulls, **{{ ratio | fixed(2) }}** times the
    floor{% if ratio < 1 %}, just below it{% endif %}.

    %%figure chapter.floor_run(table, g)
    One run with coefficient {{ c | general }}.

    Alt: Line plot on logarithmic axes. The width sinks from {{ first | fixed(2) }} to ...

    %%table steps --decimals 2 --index --fold
    The proof of Lemma 11 on {{ runs }} runs.

A sentence that says how numbers compare stands in a claim, with the condition under which it is
true for all values that the page's parameters may take::

    {% claim ratio >= 1 %}The width never sinks below the floor.{% endclaim %}

Should the condition fail, the sentence is withheld, and ``withheld`` remembers it; a test runs
every page with many values and finds nothing there.  Where a sentence is true for some values
only, an ``if`` shows it, or what is true instead.

A name that the notebook does not define is an error.  Filters write numbers: ``fixed(n)`` has n
decimals, ``comma`` (or ``comma(n)``) separates thousands, ``percent(n)`` makes per cent,
``general`` (or ``general(n)``) is the shortest form, ``tens`` (or ``tens(n)``) the same with powers
of ten, ``spec("+.1e")`` any of Python's formats; ``words`` joins a list as English does,
``counted("run")`` puts a number before its noun; ``literal`` writes what a reader's own table calls
something, so that it means nothing else.  A line
break in the source is a space in captions and alt texts.  An empty text and a table that is None
are not shown.  Sentences that several pages share are macros in ``templates/prose.md.j2``, which a
text imports.  Everything shown is plain Markdown
or HTML, so an executed notebook reads well anywhere.
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
from momab.figures import show


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
    r"""``literal("$5 <b>")`` is ``\$5 \<b\>``: a name that nobody has checked, as it is written.

    Every sign that could mean something gets a backslash; captions and alt texts take them off.
    """
    return _MEANING.sub(r"\\\1", show.one_blank(str(text)))


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
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
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


def caption_and_alt(text: str) -> tuple[str, str]:
    """Cut the text of a figure into its caption and what follows ``Alt:``."""
    caption, *alt = re.split(r"^Alt:", text, maxsplit=1, flags=re.MULTILINE)
    if not alt:
        raise MomabError("a figure's text needs a paragraph 'Alt: ...' that says what is seen.")
    return one_line(caption), show.spoken(one_line(alt[0]))


def prose(line: str, cell: str, names: Mapping[str, Any]) -> None:
    """``%%prose``: Markdown with fields."""
    if line.strip():
        raise MomabError(f"%%prose takes no arguments; it has {line.strip()!r}.")
    if text := render(cell, names):
        show.say(text)


def figure(line: str, cell: str, names: Mapping[str, Any]) -> None:
    """``%%figure EXPRESSION``: a picture with its caption, and its alt text after ``Alt:``."""
    caption, alt = caption_and_alt(render(cell, names))
    show.show_figure(_evaluate(line, names), alt=alt, caption=caption)


def table(line: str, cell: str, names: Mapping[str, Any]) -> None:
    """``%%table EXPRESSION [--index] [--decimals N] [--fold]``: a data frame with its caption.

    Folded, the caption is shown and the table opens below it.  No frame, no table.
    """
    expression, *options = re.split(r"\s--(?=index\b|decimals\b|fold\b)", line)
    index, decimals, fold = False, 3, False
    for option in options:
        word, _, number = option.strip().partition(" ")
        if word == "index" and not number:
            index = True
        elif word == "decimals" and number.strip().isdecimal():
            decimals = int(number)
        elif word == "fold" and not number:
            fold = True
        else:
            raise MomabError(
                f"%%table has the options --index, --decimals N and --fold, not --{option}."
            )
    frame = _evaluate(expression, names)
    if frame is not None:
        caption = one_line(render(cell, names))
        show.show_table(frame, caption=caption, index=index, decimals=decimals, fold=fold)


def _evaluate(expression: str, names: Mapping[str, Any]) -> Any:
    if not expression.strip():
        raise MomabError("say after %%figure or %%table what to show, as a Python expression.")
    return eval(expression, dict(names))
