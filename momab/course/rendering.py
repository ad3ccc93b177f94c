"""What people wrote, as HTML that can do nothing: Markdown, with mathematics as the book sets it.

The text is a stranger's.  HTML in it is shown as text, a link as its words and its address, a
picture as its name: the page asks for nothing and runs nothing.  A formula that KaTeX does not know
is shown as it was written, and so is one that defines commands, which could grow without end, or
that is about addresses.
"""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from momab.book.formulas import FormulaError, Typesetter
from momab.book.plain import plain_markdown
from momab.book.project import Project

LONGEST = 20_000  # characters of an answer that are shown
_FORMULA = 3_000  # characters of a formula that is set
_REFUSED = re.compile(
    r"\\(?:[egx]?def|(?:re)?newcommand|providecommand|(?:future)?let|global"
    r"|href|url|includegraphics|html[A-Za-z]+)(?![A-Za-z])"
)


class Prose:
    """Writes Markdown as HTML; close it, because the engine for formulas keeps threads."""

    def __init__(self, project: Project) -> None:
        """Know the commands of the book's formulas."""
        import yaml

        config = yaml.safe_load((project.root / "_config.yml").read_text(encoding="utf-8"))
        self._typesetter = Typesetter(config["sphinx"]["config"].get("momab_macros"))
        self._lock = threading.Lock()  # the engine does one thing at a time

    def close(self) -> None:
        """Stop the engine."""
        self._typesetter.close()

    def html(self, text: str) -> str:
        """A text of anybody."""
        with self._lock:
            return str(self._parser.render(shortened(text)))

    def book(self, text: str) -> str:
        """A text of the book."""
        return self.html(plain_markdown(text))

    def line(self, text: str) -> str:
        """A title of the book."""
        return self.book(text).strip().removeprefix("<p>").removesuffix("</p>")

    @cached_property
    def _parser(self) -> Any:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.amsmath import amsmath_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin

        parser = MarkdownIt("commonmark", {"html": False}).enable("table")
        parser.use(dollarmath_plugin, double_inline=True).use(amsmath_plugin)
        rules: dict[str, Callable[..., str]] = {
            "math_inline": self._formula,
            "math_inline_double": self._display,
            "math_block": self._display,
            "math_block_label": self._display,
            "amsmath": self._display,
            "image": _picture,
            "link_open": _nothing,
            "link_close": _address,
            "heading_open": lambda *_: '<p class="heading">',
            "heading_close": lambda *_: "</p>\n",
        }
        for name, rule in rules.items():
            # markdown-it hands its renderer to the rules, which none of them needs
            parser.add_render_rule(name, lambda _, *about, rule=rule: rule(*about))
        return parser

    def _formula(self, tokens: Sequence[Any], at: int, *_: Any, display: bool = False) -> str:
        tex: str = tokens[at].content
        try:
            if len(tex) > _FORMULA or _REFUSED.search(tex):
                raise FormulaError
            return self._typesetter.page(tex, display)
        except FormulaError:
            return f'<code class="unset">{html.escape(tex)}</code>'

    def _display(self, tokens: Sequence[Any], at: int, *_: Any) -> str:
        return f'<div class="math">{self._formula(tokens, at, display=True)}</div>\n'


def shortened(text: str) -> str:
    """The beginning of a text that may be too long, in an encoding that can be written."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n\n… ({len(text) - LONGEST:,} further characters are not shown.)"


def _nothing(*_: Any) -> str:
    return ""


def _picture(tokens: Sequence[Any], at: int, *_: Any) -> str:
    name = tokens[at].content or "without a name"
    return f'<span class="address">[a picture, {html.escape(name)}: see the notebook]</span>'


def _address(tokens: Sequence[Any], at: int, *_: Any) -> str:
    opened = next(token for token in tokens[at::-1] if token.type == "link_open")
    return f' <span class="address">({html.escape(str(opened.attrs["href"]))})</span>'
