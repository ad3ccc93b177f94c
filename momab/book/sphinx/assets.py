"""A page loads what it uses, and no more.

Scripts and styles of extensions that nothing on a page needs are left out; of every style sheet
the rules remain that some page of the site, or a script, has a use for; drawings are written
shortly (`momab.book.drawings`).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from momab.book.drawings import slim_drawings
from momab.book.formulas import fonts_of
from momab.book.styles import Vocabulary, only_used
from momab.book.timings import step

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
_DEAD_FILES = (
    "*.map",
    "*-button.svg",
    "*-solid.svg",
    "clipboard.min.js",
    "copybutton*",
    "design-tabs.js",
    "language_data.js",
    "locales",
    "scripts/bootstrap.js*",
    "scripts/fontawesome.js*",
    "searchtools.js",
    "sphinx-thebe.*",
    "sphinx_highlight.js",
    "togglebutton.*",
    "vendor",
    "*webpack-macros.html",
)
#: Sheets that also serve decks and single pages, in which other things stand.
_WHOLE = {"live.css", "momab.css", "questions.css", "slides.css", "pygments.css"}
_WHOLE |= {"reset.css", "reveal.css"}


_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
_GAP = re.compile(r">\s*\n\s*<")
#: Names, punctuation and blanks have the colour of all code.
_PLAIN_CODE = re.compile(r'<span class="(?:n|p|w)">([^<]*)</span>')


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("doctree-resolved", _slim, priority=650)
    app.connect("html-page-context", _choose_files, priority=700)
    app.connect("build-finished", _finish, priority=800)


def _slim(app: Sphinx, tree: nodes.document, page: str) -> None:
    for raw in list(tree.findall(nodes.raw)):
        if "html" in raw.get("format", "").split():
            text = _TABLE.sub(lambda match: _GAP.sub("><", match[0]), raw.astext())
            raw.children[:] = [nodes.Text(slim_drawings(text))]


def _choose_files(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    for files in ("script_files", "css_files"):
        context[files] = [file for file in context[files] if not _is_unused(file)]
    if "body" in context:
        context["body"] = _PLAIN_CODE.sub(r"\1", context["body"])
    formulas = [f"katex/fonts/{name}" for name in fonts_of(context.get("body", ""))]
    context["common_fonts"] = ["fonts/serif.woff2", "fonts/sans.woff2", *formulas]


def _is_unused(file: Any) -> bool:
    said = f"{file.filename} {file.attributes.get('body', '')}".lower()
    return any(name in said for name in _UNUSED)


def _finish(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        with step("style sheets"):
            trim(Path(app.outdir))


def trim(site: Path) -> None:
    """Take out of a built site what none of its pages uses."""
    static = site / "_static"
    for pattern in _DEAD_FILES:
        for path in [*static.glob(pattern), *static.glob(f"*/{pattern}")]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    words = Vocabulary()
    for path in site.rglob("*.html"):
        words.read_page(path.read_text(encoding="utf-8"))
    for path in static.rglob("*.js"):
        words.read_script(path.read_text(encoding="utf-8"))
    for path in static.rglob("*.css"):
        if path.name not in _WHOLE:
            sheet = path.read_text(encoding="utf-8")
            path.write_text(only_used(sheet, words), encoding="utf-8")
