"""Statements and the ledger point at each other, and references to statements show them.

- The title of a statement that the ledger judges carries the verdict as a badge, a link to the
  entry; an entry's own link leads back to the statement.
- A page carries the statements that it refers to, hidden, for the cards of ``statements.js``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from momab.ledger.claims import Claim, by_block, claims_of


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_node(statement_cards, html=(_visit_cards, _depart_cards))
    app.add_node(statement_card, html=(_visit_card, _depart_card))
    app.add_css_file("statements.css")
    app.add_js_file("statements.js", defer="defer")


def entries_of(app: Sphinx) -> tuple[Claim, ...]:
    """The ledger of the book that is being built."""
    return claims_of(Path(app.srcdir))


def document_of(env: Any, page: str) -> str:
    """The document of a page, whatever folder it is in; empty if it is not part of the build."""
    return next((name for name in env.found_docs if name.rpartition("/")[2] == page), "")


def way_to(app: Sphinx, here: str, page: str, anchor: str) -> str:
    """The way from a document to a place on a page; empty if the page is not part of the build."""
    there = document_of(app.env, page)
    if not there:
        return ""
    return app.builder.get_relative_uri(here, there) + f"#{anchor}"


def statements_of(env: Any) -> Mapping[str, Mapping[str, Any]]:
    """All labelled statements: where they are, and of what kind."""
    found: Mapping[str, Mapping[str, Any]] = getattr(env, "proof_list", {})
    return found


# ---- badges --------------------------------------------------------------------------------


def show_verdicts(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Give every statement that the ledger judges its verdict, a link to the entry."""
    judged = by_block(entries_of(app))
    for block in tree.findall(nodes.Element):
        known = [entry for entry in judged.get(block.get("label", ""), []) if entry.ledger]
        if "proof" not in block["classes"] or not known:
            continue
        title = block[0]
        for entry in known:
            title += nodes.Text(" ")
            title += _badge(app, page, entry, several=len(known) > 1)


def _badge(app: Sphinx, page: str, entry: Claim, several: bool) -> nodes.Node:
    word = f"{entry.title}: {entry.standing}" if several else entry.standing
    badge = nodes.inline("", word, classes=["verdict-badge", entry.mark])
    to = way_to(app, page, entry.ledger, entry.anchor)
    if not to:
        return badge
    said = f"{entry.label} in the ledger: {entry.standing}"
    return nodes.reference(
        "", "", badge, refuri=to, internal=True, reftitle=said, classes=["verdict-link"]
    )


# ---- cards ---------------------------------------------------------------------------------


class statement_cards(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """The cards of a page.  They become its children when it is written, so search skips them."""


class statement_card(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """One statement, to be shown where it is referred to."""


def _visit_cards(self: Any, node: statement_cards) -> None:
    node += node["cards"]
    self.body.append('<div class="statement-cards" hidden>\n')


def _depart_cards(self: Any, node: statement_cards) -> None:
    self.body.append("</div>\n")


def _visit_card(self: Any, node: statement_card) -> None:
    self.body.append(f'<template data-card="{node["label"]}">')


def _depart_card(self: Any, node: statement_card) -> None:
    self.body.append("</template>\n")


def add_cards(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Let a page carry the statements that it refers to."""
    if app.builder.format != "html":
        return
    known = statements_of(app.env)
    wanted: dict[str, None] = {}
    for link in tree.findall(nodes.reference):
        label = link.get("refuri", link.get("refid", "")).rpartition("#")[2]
        if label in known and "verdict-link" not in link["classes"] and link.get("internal"):
            link["classes"] = [*link["classes"], "statement-link"]
            wanted[label] = None
    cards = [card for label in wanted if (card := _card(app, label))]
    if cards:
        tree += statement_cards("", cards=cards)


def _card(app: Sphinx, label: str) -> statement_card | None:
    """A statement as a card: its name and its text, without anything that could be followed."""
    found = _find(app, label)
    if found is None:
        return None
    title, content = found[0].deepcopy(), found[1].deepcopy()
    if content.astext().strip() == "…":  # a stand-in, when a page is built alone
        return None
    name = nodes.paragraph("", "", nodes.strong("", statement_name(app.env, label)))
    if title.children:
        name += nodes.Text(" ")
        name += title.children
    card = statement_card("", name, *content.children, label=label)
    for reference in list(card.findall(addnodes.pending_xref)):
        reference.replace_self(_unlinked(app, reference))
    for element in card.findall(nodes.Element):
        element["ids"] = []
    return card


def _find(app: Sphinx, label: str) -> nodes.Element | None:
    kept = app.env.temp_data.setdefault("momab_statements", {})
    page = statements_of(app.env)[label]["docname"]
    if page not in kept:
        kept[page] = {
            block["label"]: block
            for block in app.env.get_doctree(page).findall(nodes.Element)
            if "proof" in block["classes"] and "label" in block
        }
    found: nodes.Element | None = kept[page].get(label)
    return found


def statement_name(env: Any, label: str) -> str:
    """What a statement is called: "Lemma 9", or "Theorem" if it has no number."""
    found = statements_of(env)[label]
    numbers = env.toc_fignumbers.get(found["docname"], {}).get(found["countertype"], {})
    if paper := re.fullmatch(r"paper-([a-z]+)-(\d+)", label):
        return f"{paper[1].title()} {paper[2]}"
    number = ".".join(map(str, numbers.get(label, ()))) if not found["nonumber"] else ""
    return f"{found['realtype'].title()} {number}".strip()


def _unlinked(app: Sphinx, reference: addnodes.pending_xref) -> list[nodes.Node]:
    """What a reference that is not resolved yet will read as."""
    target = reference.get("reftarget", "")
    if reference.get("refdomain") == "cite":
        return []
    if reference.get("refdomain") == "prf" and not reference.get("refexplicit"):
        known = target in statements_of(app.env)
        return [nodes.Text(statement_name(app.env, target) if known else target)]
    return [nodes.Text(reference.astext())]
