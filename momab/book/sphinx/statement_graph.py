"""``{statement-graph}``: how the statements hang together, as a picture and in words.

Both are made from the ledger's ``uses``; the drawing of what a machine has checked is made from
what Coq has resolved.  Every box is a link to its statement, or to its entry if it has no block on
a page; the style sheet colours it by its verdict, which it also names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten, wrap
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from momab.book.formal import formal_uses, read_checked
from momab.book.graph import Sizes, ancestors, draw
from momab.book.sphinx.ledger import entries_of, statements_of, way_to
from momab.book.templating import fill_page
from momab.errors import MomabError
from momab.ledger.claims import MARKS, Claim, statements

SIZES = Sizes(width=112, height=76, gap=30, between=44)
COLUMNS, LETTERS, LINES = 5, 18, 3


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_node(statement_graph, html=(_visit_graph, None))
    app.add_directive("statement-graph", StatementGraph)


class statement_graph(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """The picture."""


class StatementGraph(SphinxDirective):
    """``{statement-graph}``: the picture; ``{statement-graph} words``: the list.

    ``{statement-graph} theorem-4`` draws one statement and all that it rests on;
    ``{statement-graph} machine-checked`` what a machine has checked, and what of it is used.
    """

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Leave a place for the picture, or parse the list."""
        self.env.note_dependency(str(Path(self.env.srcdir) / "book" / "claims.yml"))
        if self.arguments != ["words"]:
            return [statement_graph("", page=self.env.docname, only="".join(self.arguments))]
        text = graph_in_words(statements(entries_of(self.env.app)))
        place = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), "ledger"), 0, place)
        return list(place.children)


def graph_in_words(shown: Sequence[Claim]) -> str:
    """The graph as a list in Markdown: what every statement uses, and what uses it."""
    known = {entry.id: entry for entry in shown}
    users: dict[str, list[Claim]] = {name: [] for name in known}
    for entry in shown:
        for name in entry.uses:
            users[name].append(entry)
    lines = []
    for entry in shown:
        uses = [known[name] for name in entry.uses]
        parts = [
            f"{verb} {_words(map(_short, others))}"
            for verb, others in (("uses", uses), ("is used by", users[entry.id]))
            if others
        ]
        told = f" ({entry.standing})" if entry.standing else ""
        checked = f", {checked_words(entry)}" if entry.formal else ""
        lines.append(f"- **{linked(entry, entry.name)}**{told}{checked}: {_tail(parts)}.")
    return "\n".join(lines)


def behind_statement(shown: Sequence[Claim], name: str) -> tuple[Claim, ...]:
    """The entry of this name, and all that it rests on."""
    behind = ancestors({entry.id: entry.uses for entry in shown})
    if name not in behind:
        raise MomabError(f"{{statement-graph}} {name}: no statement is called {name!r}.")
    return tuple(entry for entry in shown if entry.id == name or entry.id in behind[name])


def behind_checked(
    shown: Sequence[Claim], uses: Mapping[str, tuple[str, ...]]
) -> tuple[Claim, ...]:
    """The entries that a machine has checked, each with those that its formal proof uses."""
    kept = {entry.id for entry in shown if entry.formal}
    return tuple(
        entry.model_copy(update={"uses": tuple(name for name in uses[entry.id] if name in kept)})
        for entry in shown
        if entry.formal
    )


def checked_words(entry: Claim) -> str:
    """How far a machine has checked it: "machine-checked", "machine-checked in part"."""
    if entry.formal is None:
        return ""
    extent = entry.formal.extent
    return "machine-checked" if extent == "yes" else f"machine-checked {extent}"


def _tail(parts: Sequence[str]) -> str:
    return "; ".join(parts) or "stands alone"


def _words(texts: Iterable[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def _short(entry: Claim) -> str:
    return linked(entry, entry.label)


def linked(entry: Claim, text: str) -> str:
    """A reference to the statement of an entry, or to the entry if no page states it."""
    if entry.block:
        return f"{{prf:ref}}`{text} <{entry.block}>`"
    return f"{{ref}}`{text} <{entry.anchor}>`"


# ---- the picture ---------------------------------------------------------------------------


def _visit_graph(self: Any, node: statement_graph) -> None:
    app = self.builder.app
    shown, words = statements(entries_of(app)), "the list below says the same in words"
    if node["only"] and node["only"] != "machine-checked":
        shown = behind_statement(shown, node["only"])
    elif node["only"]:
        checked = read_checked(Path(app.srcdir))
        uses = formal_uses(shown, checked.theorems) if checked else {}
        shown, words = behind_checked(shown, uses), "the table above names the theorems"
    targets = {e.id: _target(app, node["page"], e) for e in shown}
    self.body.append(picture(shown, targets, words))
    raise nodes.SkipNode


def _target(app: Sphinx, page: str, entry: Claim) -> str:
    if entry.block in statements_of(app.env):
        there = statements_of(app.env)[entry.block]["docname"]
        return app.builder.get_relative_uri(page, there) + f"#{entry.block}"
    return way_to(app, page, entry.ledger, entry.anchor)


def picture(shown: Sequence[Claim], targets: Mapping[str, str], words: str = "") -> str:
    """The graph as HTML: a legend, and the drawing in a box that scrolls if it must.

    ``words`` says where the same stands in words.
    """
    drawing = draw({entry.id: entry.uses for entry in shown}, COLUMNS, SIZES)
    boxes = [
        {
            "entry": entry,
            "target": targets[entry.id],
            "x": drawing.places[entry.id][0],
            "y": drawing.places[entry.id][1],
            "checked": checked_words(entry),
            "label": wrap(entry.label, LETTERS - 2),
            "lines": title_lines(entry),
        }
        for entry in shown
    ]
    marks = [(mark, word) for word, mark in MARKS.items() if any(e.mark == mark for e in shown)]
    return fill_page(
        "graph.html", drawing=drawing, boxes=boxes, marks=marks, sizes=SIZES, words=words
    )


def title_lines(entry: Claim) -> list[str]:
    """A title cut into lines that fit a box; what is too long ends with dots."""
    title = "" if entry.label == entry.title else entry.title
    whole = wrap(title, LETTERS)
    if len(whole) <= LINES:
        return whole
    return wrap(shorten(title, LETTERS * LINES - 4, placeholder=" …"), LETTERS)[:LINES]


def check_blocks(app: Sphinx, env: Any) -> None:
    """Say which blocks the ledger names that no page has, if the whole book is being built."""
    from sphinx.util import logging

    log = logging.getLogger(__name__)
    built = {name.rpartition("/")[2] for name in env.found_docs}
    for entry in entries_of(app):
        if entry.block and entry.page in built and "statements" in built:
            found = statements_of(env).get(entry.block)
            if found is None or found["docname"].rpartition("/")[2] != entry.page:
                log.warning(
                    f"the ledger's entry {entry.id} names the statement {entry.block!r}, "
                    f"which is not on the page {entry.page}."
                )
