r"""Prose as prose: cell magics for text, pictures and tables whose words contain computed numbers.

``%%prose`` shows Markdown; ``%%figure`` draws what its code plots, in the house style;
``%%figure EXPRESSION`` and ``%%table EXPRESSION`` show what the expression gives, with a caption.
The text is a Jinja template in the notebook's own namespace::

    %%prose
    The certificate appears after {{ pulls | comma }} pulls, **{{ ratio | fixed(2) }}** times the
    floor{% if ratio < 1 %}, just below it{% endif %}.

    %%figure
    axes = sns.lineplot(run, x="round", y="width")
    axes.set(xscale="log", yscale="log")
    ---
    One run with coefficient {{ c | general }}.

    Alt: Line plot on logarithmic axes. The width sinks from {{ first | fixed(2) }} to ...

    %%figure chapter.diagram(means)
    A diagram that a function draws.

    Alt: Two intervals on a line ...

    %%table steps --decimals 2 --index --fold
    The proof of Lemma 11 on {{ runs }} runs.

A sentence that says how numbers compare is put into a claim, with the condition under which it is
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
break in the source is a space in captions and alt texts.  An empty text, and a figure or a table
that is None, are not shown.  Sentences that several pages share are macros in
``templates/prose.md.j2``, which a text imports.  Everything shown is plain Markdown
or HTML, so an executed notebook reads well anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from momab._util.prose import one_line, render
from momab.chapters.figures import show
from momab.errors import MomabError


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


def figure(line: str, cell: str, names: dict[str, Any]) -> None:
    """``%%figure``: a picture with its caption, and its alt text after ``Alt:``.

    Behind ``%%figure`` stands an expression that gives the picture; or the lines of the cell down
    to ``---`` plot it, as in any other cell: what they define stays defined.
    """
    if line.strip():
        drawn = _evaluate(line, names)
    else:
        code, *rest = re.split(r"^---[ \t]*$", cell, maxsplit=1, flags=re.MULTILINE)
        if not rest:
            raise MomabError(
                "%%figure takes a Python expression, or code with its caption behind a line '---'."
            )
        drawn, cell = show.plotted(compile(code, "<figure>", "exec"), names), rest[0]
    if drawn is None:
        return
    caption, alt = caption_and_alt(render(cell, names))
    show.show_figure(drawn, alt=alt, caption=caption)


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
        raise MomabError("say after %%table what to show, as a Python expression.")
    return eval(expression, dict(names))
