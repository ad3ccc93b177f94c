"""When decks are read and written in a build, and the page that lists them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from pathlib import Path
from posixpath import relpath
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging

from momab.book.sphinx.slides import directives, render
from momab.book.sphinx.slides.deck import DECK_ONLY, Deck
from momab.book.sphinx.slides.render import DeckWriter

_log = logging.getLogger(__name__)
_REVEAL = (
    "LICENSE",
    "dist/reset.css",
    "dist/reveal.css",
    "dist/reveal.js",
    "plugin/notes/notes.js",
)


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("slide", directives.Slide)
    app.add_directive("fragment", directives.Fragment)
    app.add_directive("notes", directives.Notes)
    render.setup(app)


def reveal_folder() -> Path:
    """Where the installed package keeps reveal.js."""
    spec = importlib.util.find_spec("sphinx_revealjs")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "_static" / "revealjs"


class Decks:
    """The decks of the pages written in a build, those without slides included."""

    def __init__(self) -> None:
        """Begin without any."""
        self._found: dict[str, Deck] = {}

    def take_from_page(self, app: Sphinx, tree: nodes.document, page: str) -> None:
        """Read the deck, and take it off the page and out of the search."""
        if app.builder.format == "html":
            source = app.config.momab_sources.get(page, relpath(app.env.doc2path(page), app.srcdir))
            file = Path(source).with_suffix(".slides.md").as_posix()

            def complain(what: str) -> None:
                _log.warning(f"{file} {what}.", type="momab", subtype="slides")

            self._found[page] = Deck(tree, complain)
            for block in tree.findall(directives.step_block):
                app.builder.post_process_images(block)
        for block in list(tree.findall(lambda node: isinstance(node, DECK_ONLY))):
            block.parent.remove(block)

    def address(self, page: str) -> str:
        """Where the deck of a page is within the site; empty if it has none."""
        deck = self._found.get(page)
        return f"slides/{page}.html" if deck and deck.slides else ""

    def say_where(
        self, app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any
    ) -> None:
        """Tell a page's template where its deck is."""
        context["deck"] = self.address(page)

    def write(self, app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Write the decks of this build; the page that lists them all is left to Sphinx."""
        out = Path(app.outdir)
        for page in self._found:
            if not self.address(page):
                (out / "slides" / f"{page}.html").unlink(missing_ok=True)
        parts = [
            (caption, [page for page in pages if self.address(page) or self._written(out, page)])
            for caption, pages in _contents(app)
        ]
        order = [page for _, pages in parts for page in pages]
        if not order:
            return
        _copy_reveal(out / "_static" / "reveal")
        for caption, pages in parts:
            for page in pages:
                if self.address(page):
                    following = order[order.index(page) + 1 :]
                    _write_deck(
                        app, page, self._found[page], caption, following[0] if following else ""
                    )
        titles = app.env.titles
        listed = [
            (caption, [(titles[page].astext(), f"slides/{page}.html") for page in pages])
            for caption, pages in parts
            if pages
        ]
        yield "slides/index", {"parts": listed, "title": "Slides"}, "decks.html"

    def _written(self, out: Path, page: str) -> bool:
        """Whether a page that this build did not touch has a deck."""
        return page not in self._found and (out / "slides" / f"{page}.html").is_file()


def _copy_reveal(folder: Path) -> None:
    """Copy reveal.js without its references to source maps, which are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _REVEAL:
        lines = (reveal_folder() / name).read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if not line.startswith("//# sourceMappingURL=")]
        (folder / Path(name).name).write_text("\n".join(kept) + "\n", encoding="utf-8")


def _contents(app: Sphinx) -> list[tuple[str, list[str]]]:
    """The parts of the book with their pages, in order."""
    root = app.config.root_doc

    def below(page: str) -> Iterable[str]:
        yield page
        for child in app.env.toctree_includes.get(page, []):
            yield from below(child)

    parts = [("", [root])]
    for tree in app.env.get_doctree(root).findall(addnodes.toctree):
        pages = [page for child in tree["includefiles"] for page in below(child)]
        parts.append((tree.get("caption") or "", pages))
    return parts


def _write_deck(app: Sphinx, page: str, deck: Deck, caption: str, following: str) -> None:
    show = DeckWriter(app, page)
    slides = [
        {
            "title": show.inline(slide.title),
            "parts": [
                (show.blocks(step.blocks), step.fragment, step.panels) for step in slide.steps
            ],
            "notes": show.notes(slide.notes),
        }
        for slide in deck.slides
    ]
    titles, title = app.env.titles, app.env.titles[page]
    next_deck = following and (titles[following].astext(), show.to(f"slides/{following}.html"))
    text = app.builder.templates.render(
        "deck.html",
        {
            "name": title.astext(),
            "title": show.inline(title.children),
            "book": app.config.html_title,
            "caption": caption,
            "root": show.root,
            "chapter": show.link("#")[:-1],
            "slides": slides,
            "exercises": _exercises(app, page, deck, show),
            "following": next_deck or None,
        },
    )
    target = Path(app.outdir) / show.address
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def _exercises(app: Sphinx, page: str, deck: Deck, show: DeckWriter) -> list[dict[str, str]]:
    """Number, title and address of the page's exercises."""
    numbers = app.env.toc_fignumbers.get(page, {}).get("exercise", {})
    return [
        {
            "number": ".".join(map(str, numbers.get(node["ids"][0], (place,)))),
            "title": show.inline(_exercise_title(node)),
            "link": show.link("#" + node["ids"][0]),
        }
        for place, node in enumerate(deck.exercises, 1)
    ]


def _exercise_title(node: nodes.Element) -> list[nodes.Node]:
    """An exercise's own title, which stands in brackets behind its number."""
    title = next(iter(node.findall(nodes.title)), nodes.title()).deepcopy()
    texts = [child.astext().strip() for child in title.children]
    if "(" not in texts:
        return []
    own = title.children[texts.index("(") + 1 :]
    for place, child in enumerate(own):
        if child.astext().strip() == ")":
            return list(own[:place])
        if isinstance(child, nodes.Element) and child.get("tail") == ")":  # behind a formula
            child["tail"] = ""
            return list(own[: place + 1])
    return []
