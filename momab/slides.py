"""Slides: each page of the book becomes a reveal.js deck, made of the page's own blocks.

``{slide} Title`` and ``{notes}`` hold text for the deck only; the page does not show them.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def register(app: Sphinx) -> None:
    """Register the two directives with Sphinx."""
    app.add_directive("slide", Slide)
    app.add_directive("notes", Notes)
    app.connect("doctree-resolved", _drop_deck_blocks, priority=900)


class slide_block(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """The text of one slide."""


class notes_block(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """What the speaker says to a slide."""


class Slide(SphinxDirective):
    """``{slide} Title``: a slide with text that only the deck shows."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Parse the content into a block of its own."""
        block = slide_block()
        self.state.nested_parse(self.content, self.content_offset, block)
        return [block]


class Notes(SphinxDirective):
    """``{notes}``: speaker notes to the slide before."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Parse the content into a block of its own."""
        block = notes_block()
        self.state.nested_parse(self.content, self.content_offset, block)
        return [block]


def _drop_deck_blocks(app: Sphinx, tree: Any, page: str) -> None:
    """Take the blocks of the deck off the page, before it is written or indexed for search."""
    for kind in (slide_block, notes_block):
        for block in list(tree.findall(kind)):
            block.parent.remove(block)
