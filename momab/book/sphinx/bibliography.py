"""The entries of the bibliography are items of a list; docutils gives them a deprecated role."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_node(nodes.citation, override=True, html=(_visit_citation, _depart_citation))


def _visit_citation(self: Any, node: nodes.citation) -> None:
    if not isinstance(node.previous_sibling(), nodes.citation):
        self.body.append('<div role="list" class="citation-list">\n')
    self.body.append(self.starttag(node, "div", classes=[node.tagname], role="listitem"))


def _depart_citation(self: Any, node: nodes.citation) -> None:
    self.body.append("</div>\n")
    following = node.next_node(descend=False, siblings=True)
    if not isinstance(following, nodes.citation):
        self.body.append("</div>\n")
