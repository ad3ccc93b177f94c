"""Blocks of a page as HTML for its deck, written by the writer of the site.

Whatever must differ on a deck is changed in the document before it is written: sections, which
reveal.js would take for slides, become plain boxes; links start at the deck; the formulas of
speaker notes are MathML, because the speaker's window has no style sheet for more.
"""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import dirname, join, normpath, relpath
from typing import Any, cast
from urllib.parse import urlsplit

from docutils import nodes
from docutils.io import StringOutput
from docutils.utils import new_document
from sphinx.application import Sphinx

from momab.book.sphinx.formulas import typesetter


class deck_box(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """A box on a deck."""


class deck_text(nodes.General, nodes.TextElement):  # type: ignore[misc]  # noqa: N801
    """Text without a tag around it."""


class notes_formula(nodes.General, nodes.TextElement):  # type: ignore[misc]  # noqa: N801
    """A formula in speaker notes; ``display`` says whether it stands alone."""


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_node(deck_box, html=(_visit_box, _depart_box))
    app.add_node(deck_text, html=(_nothing, _nothing))
    app.add_node(notes_formula, html=(_visit_formula, _nothing))


def _nothing(self: Any, node: nodes.Element) -> None:
    pass


def _visit_box(self: Any, node: deck_box) -> None:
    self.body.append(self.starttag(node, "div"))


def _depart_box(self: Any, node: deck_box) -> None:
    self.body.append("</div>\n")


def _visit_formula(self: Any, node: notes_formula) -> None:
    tag = "div" if node["display"] else "span"
    self.body.append(self.starttag(node, tag, "", CLASS="formula"))
    set_by = typesetter(self.builder.app)
    self.body.append(set_by.mathml(node.astext(), node["display"]) + node["tail"] + f"</{tag}>")
    raise nodes.SkipNode


class DeckWriter:
    """Writes the blocks of one page for its deck."""

    def __init__(self, app: Sphinx, page: str) -> None:
        """Tell the writer of the site which page is being written, and where its files are."""
        self._builder = cast(Any, app.builder)
        self._page: str = self._builder.get_target_uri(page)
        self.address = f"slides/{page}.html"
        self.root = self.to("")
        self._builder.current_docname = page
        self._builder.secnumbers = app.env.toc_secnumbers.get(page, {})
        self._builder.fignumbers = app.env.toc_fignumbers.get(page, {})
        self._builder.imgpath = self.to("_images")
        self._builder.dlpath = self.to("_downloads")

    def blocks(self, found: Iterable[nodes.Node]) -> str:
        """Blocks as HTML."""
        return self._write(deck_box("", *found))

    def notes(self, found: Iterable[nodes.Node]) -> str:
        """Speaker notes as HTML."""
        box = deck_box("", *found)
        for formula in list(box.findall(lambda n: isinstance(n, nodes.math | nodes.math_block))):
            display = isinstance(formula, nodes.math_block)
            tail = formula.get("tail", "")
            formula.replace_self(notes_formula("", formula.astext(), display=display, tail=tail))
        return self._write(box)

    def inline(self, found: Iterable[nodes.Node]) -> str:
        """Inline text as HTML."""
        text = deck_text("", "", *(node.deepcopy() for node in found))
        return self._write(deck_box("", text))

    def _write(self, block: deck_box) -> str:
        """The children of a box as HTML."""
        for section in list(block.findall(nodes.section)):
            box = deck_box("", *section.children, ids=section["ids"], classes=section["classes"])
            section.replace_self(box)
        for link in block.findall(nodes.reference):
            if "refid" in link:
                link["refuri"] = "#" + link.attributes.pop("refid")
            if "refuri" in link:
                link["refuri"] = self.link(link["refuri"])
                link["internal"] = link.get("internal", False)
        document = new_document("")
        document.settings = self._builder.docsettings
        document += block.children
        permalinks, self._builder.add_permalinks = self._builder.add_permalinks, False
        try:
            writer = self._builder.docwriter
            writer.write(document, StringOutput(encoding="unicode"))
            writer.assemble_parts()
        finally:
            self._builder.add_permalinks = permalinks
        return str(writer.parts["fragment"]).strip()

    def link(self, address: str) -> str:
        """A link on the page, as the deck must write it."""
        if urlsplit(address).scheme or address.startswith("/"):
            return address
        path, mark, anchor = address.partition("#")
        return self.to(join(dirname(self._page), path) if path else self._page) + mark + anchor

    def to(self, path: str) -> str:
        """The way from the deck to a file of the site, or to its root."""
        way = relpath(normpath(path or "."), dirname(self.address))
        return way if path else way + "/"
