"""Slides: each page of the book becomes a reveal.js deck, made of the page's own blocks.

A deck is not a document of its own.  While the page is built, these go on its deck, in order:

- ``{slide} Title``: a new slide, with text that the page does not show;
- ``{notes}``: speaker notes to the slide before; the page does not show them either;
- a cell tagged ``slide`` (a new slide) or ``fragment`` (the next step of the slide before).  The
  title of its slide is ``title`` in the cell's metadata, or else the last heading.

Solutions and teaching notes never do.  The blocks are rendered as on the page, so statements keep
the paper's numbers and figures their colours.  A page with at least one slide gets a deck
``slides/<page>.html``; ``slides/index.html`` lists the decks in the order of the book.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any, cast

from docutils import nodes
from docutils.io import StringOutput
from docutils.utils import new_document
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

_log = logging.getLogger(__name__)

# What an instructor has and a deck must not show, by the classes of its block.
_PRIVATE = {"solution", "teaching"}
_REVEAL = (
    "LICENSE",
    "dist/reset.css",
    "dist/reveal.css",
    "dist/reveal.js",
    "plugin/notes/notes.js",
)


def register(app: Sphinx) -> None:
    """Register directives, marks and deck writing with Sphinx."""
    from myst_nb.sphinx_ import SphinxNbRenderer

    SphinxNbRenderer.render_nb_cell_markdown = _render_markdown_cell
    app.add_directive("slide", SlideDirective)
    app.add_directive("notes", NotesDirective)
    app.connect("doctree-resolved", _take_from_page, priority=900)
    app.connect("html-collect-pages", _write_decks)


# ---- what goes on a deck -------------------------------------------------------------------


class slide_block(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """A slide: its title, as one inline node, and its text."""


class notes_block(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """What the speaker says to a slide."""


class cell_mark(nodes.Invisible, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """Where a tagged Markdown cell opens (``metadata`` is its own) or closes (it is None)."""


_DECK_ONLY = (slide_block, notes_block, cell_mark)


class SlideDirective(SphinxDirective):
    """``{slide} Title``: a slide with text that only the deck shows."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Parse title and content into a block of its own."""
        title, _ = self.state.inline_text(" ".join(self.arguments), self.lineno)
        block = slide_block("", nodes.inline("", "", *title))
        self.state.nested_parse(self.content, self.content_offset, block)
        return [block]


class NotesDirective(SphinxDirective):
    """``{notes}``: speaker notes to the slide before."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Parse the content into a block of its own."""
        block = notes_block()
        self.state.nested_parse(self.content, self.content_offset, block)
        return [block]


def _render_markdown_cell(self: Any, token: Any) -> None:
    """Render a Markdown cell as myst-nb does, and mark where it is if it belongs on the deck.

    A cell may open sections that go on after it, so nothing can be wrapped around it.
    """
    metadata = token.meta["metadata"]
    if _step(metadata):
        self.current_node.append(cell_mark(metadata=metadata))
        self.render_children(token)
        self.current_node.append(cell_mark(metadata=None))
    else:
        self.render_children(token)


def _step(metadata: dict[str, Any]) -> str:
    """What a cell is on the deck: "slide", "fragment", or nothing."""
    tags = metadata.get("tags", [])
    return next((step for step in ("slide", "fragment") if step in tags), "")


def _title(metadata: dict[str, Any]) -> list[nodes.Node]:
    """The title in a cell's metadata, with mathematics between dollars."""
    parts = str(metadata.get("title", "")).split("$")
    return [nodes.math("", p) if n % 2 else nodes.Text(p) for n, p in enumerate(parts) if p]


@dataclass
class Part:
    """Blocks that appear in one step."""

    blocks: list[nodes.Node] = field(default_factory=list)
    fragment: bool = False


@dataclass
class Slide:
    """One slide."""

    title: list[nodes.Node]
    parts: list[Part] = field(default_factory=list)
    notes: list[nodes.Node] = field(default_factory=list)


class Deck:
    """The slides of a page, read off its document in order."""

    def __init__(self, tree: nodes.document, source: str) -> None:
        """Read the deck of a page, whose source file complaints will name."""
        self.slides: list[Slide] = []
        self.exercises = [node for node in tree.findall(nodes.Admonition) if _is_exercise(node)]
        self._source = source
        self._heading: list[nodes.Node] = []
        self._open: Part | None = None  # the part of the tagged Markdown cell that we are in
        self._untitled = False  # whether a heading would be the title of the slide
        self._read(tree)

    def _read(self, parent: nodes.Element) -> None:
        for child in parent.children:
            if isinstance(child, slide_block):
                self._open = None
                title, *text = child.children
                self._start("slide", title.children).blocks += map(_for_deck, text)
            elif isinstance(child, notes_block):
                self._note(child)
            elif isinstance(child, cell_mark):
                self._mark(child["metadata"])
            elif not isinstance(child, nodes.Element):
                continue
            elif _PRIVATE & set(child["classes"]):
                self._refuse(child)
            elif isinstance(child, nodes.title) and isinstance(parent, nodes.section):
                self._head(child)
            elif isinstance(child, nodes.section):
                self._read(child)
            elif self._open is not None:
                if not isinstance(child, nodes.Invisible):
                    self._open.blocks.append(_for_deck(child))
                self._leave(child)
            elif child.get("nb_element") == "cell_code":
                if step := _step(child["cell_metadata"]):
                    title = _title(child["cell_metadata"])
                    self._start(step, title).blocks.append(_for_deck(child))
            else:
                self._read(child)

    def _start(self, step: str, title: list[nodes.Node]) -> Part:
        """A new part, on a new slide unless it is a fragment."""
        part = Part(fragment=step == "fragment")
        if not part.fragment:
            self.slides.append(Slide(title or self._heading))
        elif not self.slides:
            self._complain("has a cell tagged 'fragment' before its first slide; tag it 'slide'")
            return part
        self.slides[-1].parts.append(part)
        return part

    def _mark(self, metadata: dict[str, Any] | None) -> None:
        if metadata is None:
            self._open = None
        else:
            title, step = _title(metadata), _step(metadata)
            self._open = self._start(step, title)
            self._untitled = step == "slide" and not title

    def _head(self, title: nodes.title) -> None:
        self._heading = title.children
        if self._open is None:
            return
        if self._untitled and not self._open.blocks:
            self.slides[-1].title = title.children
            self._untitled = False
        else:
            self._open.blocks.append(nodes.rubric("", "", *title.deepcopy().children))

    def _note(self, block: notes_block) -> None:
        if self.slides:
            self.slides[-1].notes += map(_for_deck, block.children)
        else:
            self._complain("has speaker notes before its first slide; put them behind a slide")

    def _refuse(self, block: nodes.Element) -> None:
        """Pass over what is not for students, and object to slides inside it."""
        if any(map(_is_for_deck, block.findall(nodes.Element))):
            self._complain(
                "has a slide or speaker notes inside a solution or a teaching note; "
                "take them out, because a deck shows neither"
            )
        self._leave(block)

    def _leave(self, block: nodes.Element) -> None:
        """Close a tagged cell that ended inside a block which was taken whole."""
        if any(mark["metadata"] is None for mark in block.findall(cell_mark)):
            self._open = None

    def _complain(self, what: str) -> None:
        _log.warning(f"{self._source} {what}.", type="momab", subtype="slides")


def _is_for_deck(node: nodes.Element) -> bool:
    """Whether a slide, notes or a tagged cell starts here."""
    if isinstance(node, cell_mark):
        return node["metadata"] is not None
    return isinstance(node, _DECK_ONLY) or bool(_step(node.get("cell_metadata", {})))


def _is_exercise(node: nodes.Element) -> bool:
    return isinstance(node, nodes.Admonition) and "exercise" in node["classes"]


def _for_deck(block: nodes.Node) -> nodes.Node:
    """A copy of a block without what a deck never shows: folded cells, solutions, marks."""
    copy = block.deepcopy()
    if isinstance(copy, nodes.Element):
        for inner in list(copy.findall(nodes.Element)):
            folded = type(inner).__name__ == "HideCodeCellNode"
            hidden = folded or isinstance(inner, _DECK_ONLY) or _PRIVATE & set(inner["classes"])
            if hidden and inner.parent is not None:
                inner.parent.remove(inner)
    return copy


def _take_from_page(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Read the deck, and take what is only for the deck off the page and out of the search."""
    if app.builder.format == "html":
        source = app.config.momab_sources.get(page, relpath(app.env.doc2path(page), app.srcdir))
        decks(app)[page] = Deck(tree, source)
        for block in tree.findall(slide_block):
            app.builder.post_process_images(block)
    for block in list(tree.findall(lambda node: isinstance(node, _DECK_ONLY))):
        block.parent.remove(block)


def decks(app: Sphinx) -> dict[str, Deck]:
    """The decks of the pages written in this build, those without slides included."""
    found: dict[str, Deck] = app.__dict__.setdefault("momab_decks", {})
    return found


def deck_address(app: Sphinx, page: str) -> str:
    """Where the deck of a page is within the site; empty if it has none."""
    return f"slides/{page}.html" if page in decks(app) and decks(app)[page].slides else ""


# ---- writing -------------------------------------------------------------------------------


def reveal_folder() -> Path:
    """Where the installed package keeps reveal.js."""
    spec = importlib.util.find_spec("sphinx_revealjs")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "_static" / "revealjs"


def _write_decks(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the decks of this build; the page that lists them all is left to Sphinx."""
    out = Path(app.outdir)
    for page, deck in decks(app).items():
        if not deck.slides:
            (out / "slides" / f"{page}.html").unlink(missing_ok=True)
    parts = [
        (caption, [p for p in pages if deck_address(app, p) or _written(app, p)])
        for caption, pages in _contents(app)
    ]
    order = [page for _, pages in parts for page in pages]
    if not order:
        return
    for name in _REVEAL:
        target = out / "_static" / "reveal" / Path(name).name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (reveal_folder() / name).read_text(encoding="utf-8")
        target.write_text(re.sub(r"\n//# sourceMappingURL=\S+", "", text), encoding="utf-8")
    for caption, pages in parts:
        for page in pages:
            if deck_address(app, page):
                following = order[order.index(page) + 1 :]
                _write_deck(app, page, caption, following[0] if following else "")
    titles = app.env.titles
    listed = [
        (caption, [(titles[page].astext(), f"slides/{page}.html") for page in pages])
        for caption, pages in parts
        if pages
    ]
    yield "slides/index", {"parts": listed, "title": "Slides"}, "decks.html"


def _written(app: Sphinx, page: str) -> bool:
    """Whether a page that this build did not touch has a deck."""
    return page not in decks(app) and (Path(app.outdir) / "slides" / f"{page}.html").is_file()


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


def _write_deck(app: Sphinx, page: str, caption: str, following: str) -> None:
    deck, show = decks(app)[page], Renderer(app, page)
    slides = [
        {
            "title": show.inline(slide.title),
            "parts": [(show.blocks(part.blocks), part.fragment) for part in slide.parts],
            # set by the deck itself, because the speaker's window has no MathJax
            "notes": show.blocks(slide.notes).replace("math notranslate", "formula notranslate"),
        }
        for slide in deck.slides
    ]
    titles, title = app.env.titles, app.env.titles[page]
    numbers = app.env.toc_fignumbers.get(page, {}).get("exercise", {})
    exercises = [
        {
            "number": ".".join(map(str, numbers.get(node["ids"][0], (place,)))),
            "title": show.inline(_exercise_title(node)),
            "link": show.link("#" + node["ids"][0]),
        }
        for place, node in enumerate(deck.exercises, 1)
    ]
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
            "exercises": exercises,
            "following": (
                (titles[following].astext(), show.to(f"slides/{following}.html"))
                if following
                else None
            ),
            "mathjax": json.dumps(app.config.mathjax3_config or {}, sort_keys=True),
        },
    )
    target = Path(app.outdir) / show.address
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def _exercise_title(node: nodes.Element) -> list[nodes.Node]:
    """An exercise's own title, which stands in brackets behind its number."""
    title = next(iter(node.findall(nodes.title)), nodes.title())
    texts = [child.astext().strip() for child in title.children]
    if "(" not in texts or ")" not in texts:
        return []
    return list(title.children[texts.index("(") + 1 : texts.index(")")])


class Renderer:
    """Renders blocks of a page for its deck, with the writer of the site."""

    def __init__(self, app: Sphinx, page: str) -> None:
        """Tell the writer which page is being rendered."""
        self._builder = cast(Any, app.builder)
        self._page: str = self._builder.get_target_uri(page)
        self.address = f"slides/{page}.html"
        self.root = self.to("")
        self._builder.current_docname = page
        self._builder.secnumbers = app.env.toc_secnumbers.get(page, {})
        self._builder.fignumbers = app.env.toc_fignumbers.get(page, {})
        self._builder.imgpath = relative_uri(self._page, "_images")
        self._builder.dlpath = relative_uri(self._page, "_downloads")

    def blocks(self, found: Iterable[nodes.Node]) -> str:
        """Blocks as HTML, their links as seen from the deck."""
        document = new_document("")
        document.settings = self._builder.docsettings
        document.extend(found)
        writer = self._builder.docwriter
        writer.write(document, StringOutput(encoding="utf-8"))
        writer.assemble_parts()
        text = re.sub(r"(</?)section\b", r"\1div", writer.parts["fragment"])  # else they are slides
        text = re.sub(r'<a class="headerlink".*?</a>', "", text)
        return re.sub(
            r'(<(?:a|img|source)\b[^>]*?\s(?:href|src)=")([^"]*)',
            lambda match: match[1] + self.link(match[2]),
            text,
        ).strip()

    def inline(self, found: Iterable[nodes.Node]) -> str:
        """Inline text as HTML."""
        paragraph = nodes.paragraph("", "", *(node.deepcopy() for node in found))
        return re.sub(r"^<p>|</p>$", "", self.blocks([paragraph]))

    def link(self, address: str) -> str:
        """A link on the page, as the deck must write it."""
        if re.match(r"[a-z][a-z\d+.-]*:|/", address):
            return address
        path, mark, anchor = address.partition("#")
        return self.to(join(dirname(self._page), path) if path else self._page) + mark + anchor

    def to(self, path: str) -> str:
        """The way from the deck to a file of the site, or to its root."""
        way = relpath(normpath(path or "."), dirname(self.address))
        return way if path else way + "/"
