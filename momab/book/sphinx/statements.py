"""Statements, proofs and boxes: the paper's numbers, folds, identifiers given once.

- Statements labelled ``paper-<kind>-<number>`` carry the paper's number, exercises labelled
  ``<page>-<number>`` that number.
- ``{prf:proof}`` and boxes of class ``dropdown`` fold, and are open in print.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx_proof.nodes import unenumerable_node

_PAPER = re.compile(r"paper-[a-z]+-(\d+)")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.setup_extension("sphinx_proof")
    app.add_node(fold, html=(_visit_fold, _depart_fold))
    app.add_node(fold_summary, html=(_visit_summary, _depart_summary))
    app.add_node(unenumerable_node, override=True, html=(_visit_box, _depart_box))
    app.add_directive_to_domain("prf", "proof", Proof, override=True)


def number_as_named(app: Sphinx, env: Any) -> list[str]:
    """Give every statement its number in the paper, and every exercise that of its label.

    ``width-floor-2`` is the second exercise of the page ``width-floor``.
    """
    for page, kinds in env.toc_fignumbers.items():
        name = re.escape(page.rpartition("/")[2])
        for kind, labels in kinds.items():
            pattern = re.compile(rf"{name}-(\d+)") if kind == "exercise" else _PAPER
            for label in labels:
                if match := pattern.fullmatch(label):
                    labels[label] = (int(match[1]),)
    return []


def drop_repeated_ids(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Drop the identifiers that sphinx-proof and sphinx-exercise give more than once.

    The contents of all statements share one, and a statement without a number gives its own to
    its title, where it also looks for the place of its kind; that is written here instead.
    """
    for section in tree.findall(nodes.section):
        section["ids"] = [i for i in section["ids"] if not re.fullmatch(r"\w+-content", i)]
    for statement in tree.findall(unenumerable_node):
        title = statement[0]
        title["ids"] = []
        kind = statement.get("realtype", "").title()
        title.insert(0, nodes.inline("", f"{kind} ", classes=["caption-number"]))


def _visit_box(self: Any, node: nodes.Element) -> None:
    self.body.append(self.starttag(node, "div", CLASS="admonition"))


def _depart_box(self: Any, node: nodes.Element) -> None:
    self.body.append("</div>")


# ---- folds ---------------------------------------------------------------------------------


class fold(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """A block that opens and closes; its first child is its `fold_summary`."""


class fold_summary(nodes.General, nodes.TextElement):  # type: ignore[misc]  # noqa: N801
    """What is seen of a folded block."""


def _visit_fold(self: Any, node: fold) -> None:
    self.body.append(self.starttag(node, "details", CLASS="fold"))


def _depart_fold(self: Any, node: fold) -> None:
    self.body.append("</details>\n")


def _visit_summary(self: Any, node: fold_summary) -> None:
    self.body.append("<summary>")


def _depart_summary(self: Any, node: fold_summary) -> None:
    self.body.append("</summary>\n")


def fold_dropdowns(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Let solutions and notes of class ``dropdown`` fold without a script, on any page."""
    for box in list(tree.findall(nodes.Element)):
        if "dropdown" not in box["classes"] or not isinstance(box[0], nodes.title):
            continue
        title = box[0]
        for link in list(title.findall(nodes.reference)):  # a summary is a button already
            link.replace_self(link.children)
        classes = [name for name in box["classes"] if name != "dropdown"]
        block = fold("", fold_summary("", "", *title.children), ids=box["ids"], classes=classes)
        block += box.children[1:]
        box.replace_self(block)


class Proof(SphinxDirective):
    """``{prf:proof} of Lemma 9``: a proof that folds."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"class": directives.class_option}

    def run(self) -> list[nodes.Node]:
        """Parse the content into a folded block."""
        title = " ".join(["Proof", *self.arguments])
        block = fold("", fold_summary("", title), classes=["proof-fold"])
        block["classes"] += self.options.get("class", [])
        self.state.nested_parse(self.content, self.content_offset, block)
        return [block]
