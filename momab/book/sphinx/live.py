"""``{live} NAME``: the place of an explorable, and on its page the scripts that it needs.

Without scripts, and on paper, the place is empty and the figure before it stands alone.  With the
option ``:instead:`` that figure is hidden where the explorable shows it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from momab.book import live


class Live(SphinxDirective):
    """The place of an explorable."""

    required_arguments = 1
    option_spec = {"instead": directives.flag}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Leave an empty box with the name of the explorable."""
        name = self.arguments[0]
        if name not in live.explorables(_folder(self.env.app)):
            raise self.error(f"there is no explorable {name!r}.")
        box = nodes.container(classes=["momab-live"])
        box["live"], box["instead"] = name, "instead" in self.options
        return [box]


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("live", Live)
    app.add_config_value("momab_live", "", "env")


def _folder(app: Sphinx) -> Path:
    return Path(app.config.momab_live or Path(app.confdir) / "book" / "live")


def make_places(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Write the places of explorables as HTML."""
    for box in list(
        tree.findall(lambda node: isinstance(node, nodes.container) and "live" in node)
    ):
        name, instead = box["live"], box["instead"]
        hidden = ' data-instead=""' if instead else ""
        html = f'<div class="momab-live" id="live-{name}" data-live="{name}"{hidden}></div>'
        tree["live"] = [*tree.get("live", []), name]
        box.parent.replace(box, nodes.raw("", html, format="html"))


def load_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Let a page load the scripts of its explorables."""
    names = tree.get("live", []) if tree is not None else []
    if names:
        app.add_css_file("live/live.css")
        app.add_js_file("live/core.js", loading_method="defer")
        for name in names:
            app.add_js_file(f"live/{name}.js", loading_method="defer")


def write_live_scripts(app: Sphinx) -> None:
    """Write the scripts before the pages, so that Sphinx stamps their addresses with checksums."""
    if app.builder.format == "html" and (_folder(app) / "engine.wasm").exists():
        live.write_scripts(_folder(app), Path(app.outdir) / "_static" / "live")
