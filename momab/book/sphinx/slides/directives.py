"""What a deck is written with: ``{slide}``, ``{fragment}`` and ``{notes}``."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class step_block(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """A step of a deck: the names of the blocks it shows (``show``), and a text of its own."""


class slide_block(step_block):  # noqa: N801
    """A step on a new slide; its first child is the title, as one inline node."""


class notes_block(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """What the speaker says to a slide."""


def _panels(text: str) -> str:
    return str(directives.choice(text, ("build", "zoom")))


_OPTIONS = {
    "show": directives.unchanged_required,
    "panels": _panels,
    "at-once": directives.flag,
}


class Slide(SphinxDirective):
    """``{slide} Title``: a slide."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = _OPTIONS

    def run(self) -> list[nodes.Node]:
        """Parse title and content into a block of its own."""
        title, _ = self.state.inline_text(self.arguments[0], self.lineno)
        block = slide_block("", nodes.inline("", "", *title), **_facts(self.options))
        self.state.nested_parse(self.content, self.content_offset, block)
        return [block]


class Fragment(SphinxDirective):
    """``{fragment}``: the next step of the slide before."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = _OPTIONS

    def run(self) -> list[nodes.Node]:
        """Parse the content into a block of its own."""
        block = step_block("", **_facts(self.options))
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


def _facts(options: dict[str, str]) -> dict[str, Any]:
    """What a step knows: what it shows, and how the panels of a picture and its own lines come."""
    return {
        "show": options.get("show", "").split(),
        "panels": options.get("panels", ""),
        "at_once": "at-once" in options,
    }
