"""What a page links to: downloads, its source, places to run it, and a social preview.

The theme guesses at files; here they are replaced by the files that there are.  Where a sentence
refers to a page or a section by its title, the title stands in italics.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from markupsafe import Markup
from sphinx import addnodes
from sphinx.application import Sphinx

from momab.book.sphinx import citing

_PRINT = {
    "type": "javascript",
    "javascript": "window.print()",
    "text": ".pdf",
    "tooltip": "Print this page",
    "icon": "fas fa-file-pdf",
    "label": "download-pdf-button",
}


def apply_environment(app: Sphinx) -> None:
    """Take the address of the site from the environment."""
    if base := os.environ.get("MOMAB_BASEURL"):
        app.config.html_baseurl = base.rstrip("/") + "/"


def set_off_titles(app: Sphinx, tree: nodes.document) -> None:
    """``{ref}`price``` shows a title; the label of an exercise ends with a number."""
    for link in list(tree.findall(addnodes.pending_xref)):
        titled = link.get("reftype") == "ref" and not link.get("refexplicit")
        exercise = re.search(r"-\d+$", link.get("reftarget", ""))
        if titled and not exercise and not isinstance(link.parent, nodes.emphasis):
            link.replace_self(nodes.emphasis("", "", link.deepcopy()))


def copy_downloads(app: Sphinx, error: Exception | None) -> None:
    """Copy the notebooks and sources that pages link to."""
    downloads = Path(app.srcdir) / "downloads"
    if error is None and app.builder.format == "html" and downloads.is_dir():
        shutil.copytree(downloads, Path(app.outdir) / "downloads", dirs_exist_ok=True)


def link_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Replace the buttons that the theme guesses at; add the social preview."""
    source = app.config.momab_sources.get(page, "")
    buttons = [b for b in context.get("header_buttons", []) if b.get("label") != "download-buttons"]
    items = _downloads(page, source, context)
    if items:
        buttons.insert(
            0, _group(items, "Download this page", "fas fa-download", "download-buttons")
        )
    # the repository has the solutions
    if app.config.momab_edition != "student" and (items := _places(app, page, source)):
        buttons.insert(0, _group(items, "Run this page", "fas fa-rocket", "launch-buttons"))
    context["header_buttons"] = buttons
    context["metatags"] = _metatags(app, page, context)


def _downloads(page: str, source: str, context: dict[str, Any]) -> list[dict[str, str]]:
    """The page as a notebook, as its source, as slides, on paper."""
    pathto: Callable[..., str] = context["pathto"]
    items = []
    if source.startswith("notebooks/"):
        for suffix, tip in ((".ipynb", "the executed notebook"), (".md", "its source")):
            items.append(_link(pathto(f"downloads/{page}{suffix}", 1), suffix, f"Download {tip}"))
    if deck := context.get("deck"):
        items.append(_link(pathto(deck, 1), "slides", "Open the slides"))
    if context.get("page_source_suffix"):
        items.append(_PRINT)
    return items


def _places(app: Sphinx, page: str, source: str) -> list[dict[str, str]]:
    """The page's source on GitHub, and where it can be run."""
    repository = citing.repository(app)
    if not repository or not source:
        return []
    items = [_link(f"{repository}/blob/main/{source}?plain=1", "Source", "Its source on GitHub")]
    if source.startswith("notebooks/"):
        slug = repository.removeprefix("https://github.com/")
        colab = f"https://colab.research.google.com/github/{slug}/blob/executed/{page}.ipynb"
        binder = f"https://mybinder.org/v2/gh/{slug}/executed?urlpath=lab/tree/{page}.ipynb"
        items.append(_link(colab, "Colab", "Open in Colab"))
        items.append(_link(binder, "Binder", "Open on Binder"))
    return items


def _metatags(app: Sphinx, page: str, context: dict[str, Any]) -> str:
    """The social preview; and for the page that is shown at any address, where its links start."""
    base = app.config.html_baseurl
    card = f"{base}_static/social.png" if base else context["pathto"]("_static/social.png", 1)
    tags = Markup(context.get("metatags", "")) + Markup(  # Sphinx wrote these
        '<meta property="og:image" content="{}">\n'
        '<meta name="twitter:card" content="summary_large_image">\n'
    ).format(card)
    start = Markup('<base href="{}">\n').format(base or "/") if page == "404" else ""
    return start + tags


def _link(url: str, text: str, tooltip: str) -> dict[str, str]:
    return {"type": "link", "url": url, "text": text, "tooltip": tooltip, "icon": "fas fa-file"}


def _group(buttons: list[dict[str, str]], tooltip: str, icon: str, label: str) -> dict[str, Any]:
    return {
        "type": "group",
        "buttons": buttons,
        "tooltip": tooltip,
        "icon": icon,
        "label": label,
    }
