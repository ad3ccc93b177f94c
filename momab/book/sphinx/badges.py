"""An exercise shows its level and kind, which are its classes, in its title."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from momab.book.myst import KINDS, LEVELS

_BADGES = {name: name for name in LEVELS} | KINDS


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("doctree-resolved", _show_badges)


def _show_badges(app: Sphinx, tree: nodes.document, page: str) -> None:
    for exercise in list(tree.findall(nodes.Element)):
        if "exercise" not in exercise["classes"]:
            continue
        title = exercise[0]
        for badge in (name for name in _BADGES if name in exercise["classes"]):
            title += nodes.Text(" ")
            title += nodes.inline("", _BADGES[badge], classes=["exercise-badge", badge])
