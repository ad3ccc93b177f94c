"""The search's own index: what every page is about, in words, fetched when somebody searches.

``search.json`` lists the pages; each has its title, the words under which the book's index names
it, and its sections with their text, formulas written in plain text.  `search.js` ranks them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from momab.book.sphinx.formulas import in_words
from momab.book.timings import step

_SILENT = (nodes.raw, nodes.literal_block, nodes.comment, nodes.Invisible, nodes.image)


def no_other_index(app: Sphinx) -> None:
    """Sphinx's index would be half a megabyte on every page."""
    builder: Any = app.builder
    builder.search = False


class SearchIndex:
    """What the pages of this build say."""

    def __init__(self) -> None:
        """Begin without any."""
        self._pages: dict[str, dict[str, Any]] = {}

    def read(self, app: Sphinx, tree: nodes.document, page: str) -> None:
        """Take in a page, unless it is to stand alone."""
        if app.config.html_use_index:
            title = next(iter(tree.findall(nodes.title)), None)
            sections = [
                [anchor, heading, " ".join(text.split())]
                for anchor, heading, text in _sections(app, tree)
            ]
            self._pages[page] = {
                "page": page,
                "title": in_words(app, title) if title is not None else page,
                "keys": sorted(set(_keys(tree, page))),
                "sections": [section for section in sections if section[2] or section[1]],
            }

    def add_page(self, app: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
        """The page with the field and the results."""
        return [("search", {}, "search.html")]

    def write(self, app: Sphinx, error: Exception | None) -> None:
        """Write the index; pages that this build did not touch keep their entries."""
        if error is not None or app.builder.format != "html":
            return
        with step("search"):
            self._write_index(app, Path(app.outdir) / "search.json")

    def _write_index(self, app: Sphinx, target: Path) -> None:
        pages: dict[str, Any] = {}
        if target.is_file():
            pages = {entry["page"]: entry for entry in json.loads(target.read_text("utf-8"))}
        pages |= self._pages
        listed = [pages[page] for page in sorted(pages) if page in app.env.all_docs]
        text = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
        target.write_text(text, encoding="utf-8")


def _sections(app: Sphinx, tree: nodes.document) -> Iterator[tuple[str, str, str]]:
    """Anchor, heading and own text of every section; the first is the page itself."""
    for section in tree.findall(nodes.section):
        if not isinstance(section[0], nodes.title):
            continue  # the contents of a statement belong to the section around it
        outer = isinstance(section.parent, nodes.document)
        heading = "" if outer else in_words(app, section[0])
        anchor = "" if outer else section["ids"][0] if section["ids"] else ""
        yield anchor, heading, " ".join(_texts(app, section.children[1:]))


def _texts(app: Sphinx, found: list[nodes.Node]) -> Iterator[str]:
    """The paragraphs, titles and terms of a section, those of its subsections excepted."""
    for node in found:
        if isinstance(node, nodes.section) and isinstance(node[0], nodes.title):
            continue
        if isinstance(node, _SILENT) or not isinstance(node, nodes.Element):
            continue
        if isinstance(node, nodes.TextElement | nodes.math_block):
            yield in_words(app, node)
        else:
            yield from _texts(app, node.children)


def _keys(tree: nodes.document, page: str) -> Iterator[str]:
    """The name of a page, and what the index of the book leads to it for."""
    yield page.replace("-", " ")
    for node in tree.findall(addnodes.index):
        for kind, value, *_ in node["entries"]:
            if kind in ("single", "pair"):
                yield from (part.strip() for part in value.split(";"))
