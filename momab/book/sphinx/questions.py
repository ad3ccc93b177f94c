"""``{question}``: a question with its choices, its answers folded below it.

`momab.book.questions` has written the question out into the page, with ``{ask}``, ``{choice}`` and
``{because}`` inside it.  A script lets readers answer and tells them why they are right or wrong;
without it, and on paper, the question stands there with its answers folded.  A deck that shows it
has the question and its choices first, and the right answer as the next step.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from momab.book.questions import KINDS, reason_heads
from momab.book.sphinx.statements import fold, fold_summary


class question_block(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """A question: what is asked, the choices if there are any, and the folded answers."""


class QuestionDirective(SphinxDirective):
    """``{question} NAME``, as `momab.book.questions.write_out` writes it."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "kind": directives.unchanged_required,
        "key": directives.unchanged_required,
        "right": directives.nonnegative_int,
        "numbers": directives.unchanged_required,
        "within": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Put what is asked, the choices and the explanations into their places."""
        if "key" not in self.options:
            raise self.error("a question stands in a chapter, with its data beside it.")
        inside = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, inside)
        parts: dict[str, list[nodes.Element]] = {"ask": [], "choice": [], "because": []}
        for part in inside.children:
            parts[part["part"]].append(part)
        options = {name: str(value) for name, value in self.options.items()}
        ask = nodes.container("", *parts["ask"][0].children, classes=["question-ask"])
        kind = nodes.inline("", KINDS[options["kind"]], classes=["question-kind"])
        ask[0][:0] = [kind, nodes.Text(" ")]
        block = question_block("", ask, options=options)
        block["ids"] = [f"question-{self.arguments[0]}"]
        if parts["choice"]:
            block += _letters(parts["choice"], "question-choices")
        block += _answers(parts["because"], options)
        return [block]


class QuestionPart(SphinxDirective):
    """A part of a question."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Parse the part into a container that says which one it is."""
        part = nodes.container(part=self.name)
        self.state.nested_parse(self.content, self.content_offset, part)
        return [part]


def _letters(parts: list[nodes.Element], name: str) -> nodes.Element:
    """Parts as a list, A to E."""
    items = [nodes.list_item("", *part.children) for part in parts]
    found = nodes.enumerated_list("", *items, classes=[name])
    found["enumtype"], found["prefix"], found["suffix"] = "upperalpha", "", "."
    return found


def _answers(reasons: list[nodes.Element], options: dict[str, str]) -> nodes.Element:
    """All explanations, folded, each behind what it explains."""
    block = fold("", fold_summary("", "Answer"), classes=["question-answer"])
    for head, reason in zip(reason_heads(options), reasons, strict=False):
        first = nodes.strong("", head, classes=["question-head"])
        reason[0][:0] = [first, nodes.Text(" ")]
        block += nodes.container("", *reason.children, classes=["question-reason"])
    return block


def question_for_deck(block: question_block) -> nodes.Element:
    """A question on a slide: the right answer is the next step."""
    right = int(block["options"]["right"])
    answers = next(iter(block.findall(fold)))
    reason = answers[1 + right]
    children = [child for child in block.children if child is not answers]
    step = nodes.container("", *reason.children, classes=["question-solved", "fragment"])
    return nodes.container("", *children, step, classes=["momab-question"])


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_node(question_block, html=(_visit_question, _depart_question))
    app.add_directive("question", QuestionDirective)
    for part in ("ask", "choice", "because"):
        app.add_directive(part, QuestionPart)


def _visit_question(self: Any, node: question_block) -> None:
    options = node["options"]
    data = {"data-question": options["key"], "data-right": options["right"]}
    if "numbers" in options:
        data["data-numbers"] = json.dumps([float(number) for number in options["numbers"].split()])
        data["data-within"] = options["within"]
    self.body.append(self.starttag(node, "div", CLASS="momab-question", **data))


def _depart_question(self: Any, node: question_block) -> None:
    self.body.append("</div>\n")


def load_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Let a page that asks load what checks the answers."""
    if tree is not None and any(True for _ in tree.findall(question_block)):
        app.add_css_file("questions.css")
        # Before the explorables, because a question moves formulas that are read by then.
        app.add_js_file("questions.js", loading_method="defer", priority=400)
