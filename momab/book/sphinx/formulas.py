"""Formulas are set while the book is built: in text, in displays, and in the HTML that cells show.

What KaTeX cannot set is a complaint that no build survives.  Punctuation behind a formula stays on
its line.
"""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from momab.book.formulas import KATEX, FormulaError, Formulas, Typesetter, styles

_log = logging.getLogger(__name__)
_typesetters: WeakKeyDictionary[Sphinx, Typesetter] = WeakKeyDictionary()
_known: dict[str, Formulas] = {}  # by the book's commands; the next build has most of them again

_SHORT = 16  # characters of code that fit on every line
_TAIL = re.compile(r"[.,;:!?)\]’”]+(?=\s|$)")
_PASSED_OVER = re.compile(
    r"(<(script|style|pre|code|svg|textarea)\b.*?</\2>|<[^>]*>)", re.DOTALL | re.IGNORECASE
)
_WRITTEN = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_config_value("momab_macros", {}, "html")
    app.add_html_math_renderer("katex", (_visit_math, None), (_visit_display, None))


def typesetter(app: Sphinx) -> Typesetter:
    """What sets the formulas of a build."""
    if app not in _typesetters:
        macros = app.config.momab_macros
        known = _known.setdefault(json.dumps(macros, sort_keys=True), {})
        _typesetters[app] = Typesetter(macros, known)
    return _typesetters[app]


def in_words(app: Sphinx, node: nodes.Node) -> str:
    """The text of a node, with its formulas in plain text."""
    if isinstance(node, nodes.math | nodes.math_block):
        try:
            return f"{typesetter(app).in_words(node.astext())}{node.get('tail', '')}"
        except FormulaError:  # the page itself complains
            return str(node.astext())
    if isinstance(node, nodes.raw):
        return ""
    if isinstance(node, nodes.Element) and node.children:
        return str(node.child_text_separator).join(in_words(app, child) for child in node.children)
    return str(node.astext())


def choose_renderer(app: Sphinx, config: Any) -> None:
    """Let KaTeX set the formulas of HTML."""
    config.html_math_renderer = "katex"


def _set(app: Sphinx, node: nodes.Node, tex: str, display: bool = False, tail: str = "") -> str:
    try:
        return typesetter(app).page(tex, display, tail)
    except FormulaError as error:
        _log.warning(str(error), location=node, type="momab", subtype="formula")
        return f"<code>{html.escape(tex)}</code>{html.escape(tail)}"


def _visit_math(self: Any, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math"))
    app = self.builder.app
    self.body.append(_set(app, node, node.astext(), tail=node.get("tail", "")) + "</span>")
    raise nodes.SkipNode


def _visit_display(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    tex = node.astext() if node.get("nowrap") else _aligned(node.astext())
    self.body.append(_set(self.builder.app, node, tex, display=True) + "</div>\n")
    raise nodes.SkipNode


def _aligned(tex: str) -> str:
    """Equations of one display, which a blank line separates, below each other."""
    parts = [part for part in tex.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    if len(parts) < 2:
        return "".join(parts)
    return r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}"


def bind_punctuation(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Give a formula the comma behind it, so that no line begins with it; short code, too."""
    for formula in list(tree.findall(nodes.math)):
        formula["tail"] = _take_tail(formula)
    for code in list(tree.findall(nodes.literal)):
        if len(code.astext()) <= _SHORT and (tail := _take_tail(code)):
            bound = nodes.inline(classes=["bound"])
            code.replace_self(bound)
            bound += [code, nodes.Text(tail)]


def _take_tail(node: nodes.Element) -> str:
    """Cut the punctuation behind a node off the text that begins with it."""
    after = node.next_node(descend=False, siblings=True)
    if not (isinstance(after, nodes.Text) and (match := _TAIL.match(after))):
        return ""
    # by its place: a list finds the first text that reads the same
    siblings = after.parent.children
    place = next(i for i, child in enumerate(siblings) if child is after)
    after.parent[place] = nodes.Text(after[match.end() :])
    return match[0]


def set_in_outputs(app: Sphinx, tree: nodes.document, page: str) -> None:
    r"""Set what stands between \( and \) in the tables and captions that cells show as HTML."""
    for raw in list(tree.findall(nodes.raw)):
        if "html" in raw.get("format", "").split() and "\\" in raw.astext():
            found = set_in_html(app, raw, raw.astext())
            raw.children[:] = [nodes.Text(found)]
            raw.rawsource = found


def set_in_html(app: Sphinx, node: nodes.Node, text: str) -> str:
    r"""HTML with every ``\(...\)`` and ``\[...\]`` of its text set, not in code or pictures."""

    def replace(match: re.Match[str]) -> str:
        display = match[1] is None
        tex = html.unescape(match[2] if display else match[1])
        return f'<span class="math">{_set(app, node, tex, display)}</span>'

    parts = _PASSED_OVER.split(text)
    parts[2::3] = [""] * len(parts[2::3])  # the names of the elements passed over
    parts[::3] = [_WRITTEN.sub(replace, part) for part in parts[::3]]
    return "".join(part or "" for part in parts)


def copy_katex(folder: Path) -> None:
    """Copy what a page needs to show formulas: a style sheet and its fonts."""
    shutil.copytree(KATEX / "fonts", folder / "fonts", dirs_exist_ok=True)
    shutil.copyfile(KATEX / "LICENSE", folder / "LICENSE")
    (folder / "katex.css").write_text(styles(), encoding="utf-8")


def copy_styles(app: Sphinx) -> None:
    """Copy what a site needs to show formulas."""
    if app.builder.format == "html":
        copy_katex(Path(app.outdir) / "_static" / "katex")


def stop_engine(app: Sphinx, error: Exception | None) -> None:
    """Stop what set the formulas of a build."""
    if found := _typesetters.pop(app, None):
        found.close()
