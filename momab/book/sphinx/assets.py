"""What a page loads: no script or sheet that it has no use for, and figures without idle digits.

Matplotlib writes coordinates with six decimals and the style of a group with every marker; two
decimals of a point are finer than any screen.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from momab.book.formulas import fonts_of

# Live code, copy buttons (ours are in momab.js), buttons that toggle, tabs, highlighted searches.
_UNUSED = (
    "thebe",
    "clipboard",
    "copybutton",
    "toggle",
    "design-tabs",
    "sphinx_highlight",
    "search_as_you_type",
)
_FIGURE = re.compile(r'<svg\b[^>]*\brole="img".*?</svg>', re.DOTALL)
_COORDINATES = re.compile(r'(?<= [dxy]=")[^"]*')
_NEEDLESS = re.compile(r"(\.\d\d)\d+|\s*([A-Za-z])\s*")
_SHAPES = re.compile(  # of one style, which does not make them transparent as a group
    r'<g([^>]*)>(<(?:use|path)\b[^>]*( style="(?![^"]*(?<!-)opacity)[^"]*")/>'
    r"(?:<(?:use|path)\b[^>]*\3/>)+)</g>"
)
_PLAIN_CODE = re.compile(r'<span class="[npw]">([^<]*)</span>')  # of the colour of all code
_UNUSED_RULES = re.compile(  # icons (ours are drawings in momab.css), terminals, Bootstrap's parts
    r"(?<=[{}])(?:\.fa-[\w-]+:+before,?)+\{[^{}]*\}|@font-face\{[^}]*Awesome[^}]*\}"
    r"|[^{}]*\.(?:-Color|accordion|carousel|list-group|modal|offcanvas|popover)[^{}]*\{[^{}]*\}"
)


def shorten_figures(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Shorten the figures in the HTML that cells show."""
    for raw in list(tree.findall(nodes.raw)):
        if "html" in raw.get("format", "").split() and 'role="img"' in raw.astext():
            text = _FIGURE.sub(lambda match: short_figure(match[0]), raw.astext())
            raw.children[:] = [nodes.Text(text)]


def short_figure(svg: str) -> str:
    """A figure with less blanks and digits, which also says how wide it was drawn.

    On a phone the style sheet keeps most of that width, so that its letters can be read.
    """
    svg = re.sub(r">\s+<", "><", svg)
    svg = _COORDINATES.sub(lambda match: _NEEDLESS.sub(r"\1\2", match[0]), svg)
    svg = _SHAPES.sub(lambda m: f"<g{m[1]}{m[3]}>{m[2].replace(m[3], '')}</g>", svg)
    svg = svg.replace(" xlink:href=", " href=")
    wide = re.search(r'viewBox="0 0 ([\d.]+)', svg)
    natural = f' style="--natural: {float(wide[1]):.0f}px; ' if wide else ' style="'
    return svg.replace(' style="', natural, 1)


def choose_files(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Leave out what a page has no use for; name the fonts that it needs at once."""
    body = context.get("body", "")
    for files in ("script_files", "css_files"):
        context[files] = [file for file in context[files] if not _is_unused(file, body)]
    if body:
        context["body"] = _PLAIN_CODE.sub(r"\1", body)
    formulas = [f"katex/fonts/{name}" for name in fonts_of(body)]
    context["common_fonts"] = ["fonts/serif.woff2", "fonts/sans.woff2", *formulas]


def _is_unused(file: Any, body: str) -> bool:
    said = f"{file.filename} {file.attributes.get('body', '')}".lower()
    return any(name in said for name in _UNUSED) or ("sphinx-design" in said and "sd-" not in body)


def drop_rules(app: Sphinx, error: Exception | None) -> None:
    """Take rules that no page uses out of the large sheets of others, with their fonts."""
    static = Path(app.outdir) / "_static"
    if error is None:
        for sheet in [*static.glob("styles/pydata-*.css"), *static.glob("mystnb*.css")]:
            text = sheet.read_text(encoding="utf-8")
            sheet.write_text(_UNUSED_RULES.sub("", text), encoding="utf-8")
        for unused in ("vendor", "locales"):
            shutil.rmtree(static / unused, ignore_errors=True)
