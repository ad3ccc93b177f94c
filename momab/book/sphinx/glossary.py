"""Every {term} shows the first paragraph of its definition where it is used."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from momab.book.sphinx.formulas import in_words


def show_definitions(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Give every link to a notion its definition as a title."""
    links = list(tree.findall(nodes.reference))
    definitions = _definitions(app) if links else {}
    for link in links:
        label = link.get("refuri", link.get("refid", "")).rpartition("#")[2]
        if definitions.get(label):
            link["reftitle"] = definitions[label].replace("\n", " ")
            link["classes"] = [*link["classes"], "notion"]


def _definitions(app: Sphinx) -> dict[str, str]:
    """The first paragraph of every definition, by the identifier of its word."""
    objects = app.env.get_domain("std").get_objects()
    found: dict[str, str] = {}
    for where in sorted({page for _, _, kind, page, _, _ in objects if kind == "term"}):
        for item in app.env.get_doctree(where).findall(nodes.definition_list_item):
            first = next(iter(item.findall(nodes.paragraph)), None)
            for term in item.findall(nodes.term):
                for label in term["ids"]:
                    found[label] = in_words(app, first) if first is not None else ""
    return found
