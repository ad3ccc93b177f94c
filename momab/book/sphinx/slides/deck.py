"""The deck of a page, read off its document: slides, their steps, and the speaker's notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode

from momab.book.sphinx import questions
from momab.book.sphinx.slides.directives import notes_block, slide_block, step_block

# What an instructor has and a deck must not show, by the classes of its block.
PRIVATE = {"solution", "teaching"}
DECK_ONLY = (step_block, notes_block)


@dataclass
class SlideStep:
    """Blocks that appear together."""

    blocks: list[nodes.Node] = field(default_factory=list)
    fragment: bool = False
    panels: str = ""  # how the panels of its picture come: "build", "zoom", or all at once


@dataclass
class DeckSlide:
    """One slide."""

    title: list[nodes.Node]
    steps: list[SlideStep] = field(default_factory=list)
    notes: list[nodes.Node] = field(default_factory=list)


class Deck:
    """The slides of a page, in order."""

    def __init__(self, tree: nodes.document, complain: Callable[[str], None]) -> None:
        """Read the deck of a page; what is wrong with it is said to ``complain``."""
        self.slides: list[DeckSlide] = []
        self.exercises = [
            node for node in tree.findall(nodes.Admonition) if "exercise" in node["classes"]
        ]
        self._tree = tree
        self._complain = complain
        for block in tree.findall(lambda node: isinstance(node, DECK_ONLY)):
            if _inside_private(block):
                complain(
                    "has a slide or speaker notes inside a solution or a teaching note; "
                    "take them out, because a deck shows neither"
                )
            elif isinstance(block, slide_block):
                self.slides.append(DeckSlide(block[0].children))
                self._add(block, block.children[1:])
            elif isinstance(block, step_block):
                self._add(block, block.children)
            elif self.slides:
                self.slides[-1].notes += map(for_deck, block.children)
            else:
                complain("has speaker notes before its first slide; put them behind a slide")

    def _add(self, block: nodes.Element, text: list[nodes.Node]) -> None:
        """Add a step to the last slide: what it shows, then its own text."""
        shown = [found for name in block["show"] for found in self._shown(name)]
        own = [for_deck(node) for node in text]
        if not block.get("at_once"):
            _line_by_line(own)
        step = SlideStep([*map(for_deck, shown), *own])
        step.fragment = not isinstance(block, slide_block)
        step.panels = block.get("panels", "")
        if self.slides:
            self.slides[-1].steps.append(step)
        else:
            self._complain("has a fragment before its first slide; put it behind a slide")

    def _shown(self, name: str) -> list[nodes.Node]:
        """The blocks of the page that have a name."""
        node = self._named(name)
        if node is None:
            self._complain(f"shows {name!r}, but nothing on the page has this name")
        elif _inside_private(node):
            self._complain(
                f"shows {name!r}, which is in a solution or a teaching note; a deck shows neither"
            )
        else:
            return node.children if isinstance(node, nodes.section) else [node]
        return []

    def _named(self, name: str) -> nodes.Element | None:
        """A code cell of this name, or else a block, or else a section with this identifier."""
        found = [node for node in self._tree.findall(nodes.Element) if _is_named(node, name)]
        return min(found, key=_rank, default=None)


def _line_by_line(text: list[nodes.Node]) -> None:
    """Let the items of a list come one after the other, the first with the slide."""
    for block in text:
        if isinstance(block, nodes.bullet_list | nodes.enumerated_list):
            for item in block.children[1:]:
                item["classes"].append("fragment")


def _is_named(node: nodes.Element, name: str) -> bool:
    if isinstance(node, (*DECK_ONLY, nodes.Invisible, nodes.target, nodes.Inline)):
        return False
    if _is_cell(node):
        return bool(node["cell_metadata"].get("name") == name)
    return nodes.make_id(name) in node["ids"]


def _is_cell(node: nodes.Element) -> bool:
    return bool(node.get("nb_element") == "cell_code")


def _rank(node: nodes.Element) -> int:
    """A heading's identifier is made of its words, so anything else comes before a section."""
    return 0 if _is_cell(node) else 2 if isinstance(node, nodes.section) else 1


def _inside_private(node: nodes.Node | None) -> bool:
    while node is not None:
        if isinstance(node, nodes.Element) and PRIVATE & set(node["classes"]):
            return True
        node = node.parent
    return False


def for_deck(block: nodes.Node) -> nodes.Node:
    """A copy of a block without what a deck never shows: folded cells, solutions, slides."""
    copy = block.deepcopy()
    if isinstance(copy, questions.question_block):
        return questions.question_for_deck(copy)
    if isinstance(copy, nodes.title):
        return nodes.rubric("", "", *copy.children)
    if isinstance(copy, nodes.Element):
        for title in list(copy.findall(nodes.title)):
            if isinstance(title.parent, nodes.section):
                title.replace_self(nodes.rubric("", "", *title.children))
        for inner in list(copy.findall(nodes.Element)):
            hidden = isinstance(inner, HideCodeCellNode | notes_block | step_block)
            if (hidden or PRIVATE & set(inner["classes"])) and inner.parent is not None:
                inner.parent.remove(inner)
    return copy
