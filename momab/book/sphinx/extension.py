"""The Sphinx extension of the book: what every build of it needs, plain or staged.

- MathJax is served by the site itself, from the installed package that carries it.
- Statements labelled ``paper-<kind>-<number>`` carry the paper's number, exercises labelled
  ``<page>-<number>`` that number, and their level and kind as badges.
- ``{prf:proof}`` and boxes of class ``dropdown`` fold, and are open in print.
- ``{slide}``, ``{notes}`` and tagged cells become a deck of slides (see
  `momab.book.sphinx.slides`).
- A line ``% modules ...`` becomes a section for each of these modules of the library, a line
  ``% exercises ...`` a table of exercises.
- Pages get download, source and launch links that open the right file, and a social preview.
- ``404.html`` works at any depth.

Two environment variables tell a publishing build where it is going: ``MOMAB_BASEURL`` (the
address of the site) and ``MOMAB_REPOSITORY`` (the address of its source on GitHub).
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import shutil
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from momab.book import myst
from momab.book.pages import mathjax_folder
from momab.book.project import Project
from momab.book.sphinx import overview, slides

_PAPER = re.compile(r"paper-[a-z]+-(\d+)")
_BADGES = {name: name for name in myst.LEVELS} | myst.KINDS
_HIDDEN = ("momab._", "momab.cli.app", "momab.book.sphinx.extension", "momab.book.sphinx.slides")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything with Sphinx."""
    app.add_config_value("momab_sources", {}, "html")
    app.add_config_value("momab_edition", "instructor", "html")
    app.add_node(fold, html=(_visit_fold, _depart_fold))
    app.add_node(summary, html=(_visit_summary, _depart_summary))
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx_proof")
    app.add_directive_to_domain("prf", "proof", Proof, override=True)
    app.connect("source-read", _document_modules)
    app.connect("source-read", _list_exercises)
    app.connect("autodoc-process-docstring", _plain_signs)
    app.connect("missing-reference", _named_in_code)
    app.connect("config-inited", _use_own_mathjax)
    app.connect("builder-inited", _apply_environment, priority=400)
    app.connect("env-get-updated", _number_as_named, priority=900)
    app.connect("doctree-resolved", _drop_repeated_ids)
    app.connect("doctree-resolved", _show_definitions)
    app.connect("doctree-resolved", _show_badges)
    app.connect("doctree-resolved", _fold_dropdowns)
    app.connect("html-page-context", _page_links, priority=600)
    app.connect("build-finished", _copy_files)
    slides.register(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}


# ---- mathematics ---------------------------------------------------------------------------


def _use_own_mathjax(app: Sphinx, config: Any) -> None:
    config.mathjax_path = "mathjax/tex-chtml.js"


def _copy_files(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    out, mathjax = Path(app.outdir), mathjax_folder()
    for part in (
        "tex-chtml.js",
        "output/chtml/fonts/woff-v2",
        "a11y",
        "input/tex/extensions",
        "sre",
    ):
        source, target = mathjax / part, out / "_static" / "mathjax" / part
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    downloads = Path(app.srcdir) / "downloads"
    if downloads.is_dir():
        shutil.copytree(downloads, out / "downloads", dirs_exist_ok=True)
    for page in out.rglob("*.html"):
        _mend(page)
    lost = out / "404.html"
    if lost.is_file():
        base = app.config.html_baseurl or "/"
        text = lost.read_text(encoding="utf-8")
        lost.write_text(text.replace("<head>", f'<head>\n    <base href="{base}">', 1), "utf-8")


def _mend(page: Path) -> None:
    """Correct two slips of the writers: a deprecated role, and an identifier given twice."""
    old = page.read_text(encoding="utf-8")
    new = old.replace('role="doc-biblioentry"', 'role="listitem"')
    empty = r'\s*(?:<span id="[^"]*"></span>)*'
    twice = rf'(<div class="[^"]*" id="([^"]+)">{empty}<p class="admonition-title") id="\2"'
    new = re.sub(twice, r"\1", new)
    if new != old:
        page.write_text(new, encoding="utf-8")


# ---- statements and proofs -----------------------------------------------------------------


def _number_as_named(app: Sphinx, env: Any) -> list[str]:
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


def _show_badges(app: Sphinx, tree: Any, page: str) -> None:
    """Write an exercise's level and kind, which are its classes, into its title."""
    for exercise in list(tree.findall(lambda node: "exercise" in _classes(node))):
        title = exercise[0]
        for badge in (name for name in _BADGES if name in exercise["classes"]):
            title += nodes.Text(" ")
            title += nodes.inline("", _BADGES[badge], classes=["exercise-badge", badge])


def _classes(node: Any) -> list[str]:
    return list(node["classes"]) if isinstance(node, nodes.Element) else []


class fold(nodes.General, nodes.Element):  # type: ignore[misc]  # noqa: N801
    """A block that opens and closes; its first child is its `summary`."""


class summary(nodes.General, nodes.TextElement):  # type: ignore[misc]  # noqa: N801
    """What is seen of a folded block."""


def _visit_fold(self: Any, node: fold) -> None:
    self.body.append(self.starttag(node, "details", CLASS="fold"))


def _depart_fold(self: Any, node: fold) -> None:
    self.body.append("</details>\n")


def _visit_summary(self: Any, node: summary) -> None:
    self.body.append("<summary>")


def _depart_summary(self: Any, node: summary) -> None:
    self.body.append("</summary>\n")


def _fold_dropdowns(app: Sphinx, tree: Any, page: str) -> None:
    """Let solutions and notes of class ``dropdown`` fold without a script, on any page."""
    for box in list(tree.findall(lambda node: "dropdown" in _classes(node))):
        title = box[0]
        if not isinstance(title, nodes.title):
            continue
        for link in list(title.findall(nodes.reference)):  # a summary is a button already
            link.replace_self(link.children)
        classes = [name for name in box["classes"] if name != "dropdown"]
        block = fold("", summary("", "", *title.children), ids=box["ids"], classes=classes)
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
        block = fold("", summary("", title), classes=["proof-fold"])
        block["classes"] += self.options.get("class", [])
        self.state.nested_parse(self.content, self.content_offset, block)
        return [block]


def _drop_repeated_ids(app: Sphinx, tree: Any, page: str) -> None:
    """Statements and exercises give all their contents the same identifier; drop it."""
    for section in tree.findall(nodes.section):
        section["ids"] = [i for i in section["ids"] if not re.fullmatch(r"\w+-content", i)]


def _show_definitions(app: Sphinx, tree: Any, page: str) -> None:
    """Let every {term} show the first paragraph of its definition."""
    objects = app.env.get_domain("std").objects.items()  # type: ignore[attr-defined]
    definitions: dict[str, str] = {}
    for where in sorted({where for (kind, _), (where, _) in objects if kind == "term"}):
        for item in app.env.get_doctree(where).findall(nodes.definition_list_item):
            for term in item.findall(nodes.term):
                first = next(iter(item.findall(nodes.paragraph)), None)
                for label in term["ids"]:
                    definitions[label] = first.astext() if first is not None else ""
    for link in tree.findall(nodes.reference):
        label = link.get("refuri", link.get("refid", "")).rpartition("#")[2]
        if definitions.get(label):
            link["reftitle"] = definitions[label].replace("\n", " ")
            link["classes"] = [*link["classes"], "notion"]


def _document_modules(app: Sphinx, page: str, source: list[str]) -> None:
    """Put a section per module where a page says ``% modules a b`` or ``% modules not a b``."""
    match = re.search(r"^% modules (not )?(.+)$", source[0], flags=re.MULTILINE)
    if match is None:
        return
    import momab

    patterns = [f"momab.{name}" for name in match[2].split()]
    found = [module.name for module in pkgutil.iter_modules(momab.__path__, "momab.")]
    text = ""
    for name in sorted(found):
        listed = any(fnmatch(name, pattern) for pattern in patterns)
        if not name.startswith(_HIDDEN) and listed != bool(match[1]):
            text += f"\n## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n```\n"
    source[0] = source[0].replace(match[0], text)


def _list_exercises(app: Sphinx, page: str, source: list[str]) -> None:
    """Put tables of exercises where a page says ``% exercises`` or ``% exercises model``."""
    if re.search(r"^% exercises\b", source[0], flags=re.MULTILINE):
        source[0] = overview.fill(source[0], _notebook_texts(Path(app.srcdir)))


def _notebook_texts(root: Path) -> dict[str, str]:
    """The Markdown of every notebook with exercises, in the order of the contents."""
    import jupytext

    texts = {}
    for name in Project(root).pages:
        for path in (root / f"{name}.ipynb", root / "notebooks" / f"{name}.md"):
            if path.is_file():
                cells = jupytext.read(path).cells
                text = "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
                if "{exercise}" in text:
                    texts[name] = text
    return texts


def _plain_signs(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """In a docstring |A*| is a size and a * b a product, never markup."""
    code = re.compile(r"(``.*?``|:math:`.*?`)")
    for number, line in enumerate(lines):
        parts = code.split(line)
        parts[::2] = [re.sub(r"\*\||\||(?<=\S )\*(?=[ ,])", _escape, p) for p in parts[::2]]
        lines[number] = "".join(parts)


def _escape(match: re.Match[str]) -> str:
    return "".join("\\" + sign for sign in match[0])


def _named_in_code(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Accept a reference to something of the library that has no entry of its own."""
    if node.get("refdomain") != "py" or not (module := node.get("py:module")):
        return None
    owner: Any = importlib.import_module(module)
    target, kind = node["reftarget"], getattr(owner, node.get("py:class") or "", None)
    if hasattr(owner, target) or hasattr(kind, target):
        return content
    is_set = kind is not None and f"self.{target} " in inspect.getsource(kind)
    return content if is_set else None


# ---- pages ---------------------------------------------------------------------------------


def _apply_environment(app: Sphinx) -> None:
    if base := os.environ.get("MOMAB_BASEURL"):
        app.config.html_baseurl = base.rstrip("/") + "/"


def _page_links(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Replace the theme's guesses about files by the files there are."""
    source = app.config.momab_sources.get(page, "")
    buttons = [b for b in context.get("header_buttons", []) if b.get("label") != "download-buttons"]
    pathto = context["pathto"]
    items = []
    if source.startswith("notebooks/"):
        for suffix, tip in ((".ipynb", "the executed notebook"), (".md", "its source")):
            items.append(_link(pathto(f"downloads/{page}{suffix}", 1), suffix, f"Download {tip}"))
    if deck := slides.deck_address(app, page):
        items.append(_link(pathto(deck, 1), "slides", "Open the slides"))
    if context.get("page_source_suffix"):
        items.append(
            {
                "type": "javascript",
                "javascript": "window.print()",
                "text": ".pdf",
                "tooltip": "Print this page",
                "icon": "fas fa-file-pdf",
                "label": "download-pdf-button",
            }
        )
    if items:
        buttons.insert(
            0, _group(items, "Download this page", "fas fa-download", "download-buttons")
        )
    repository = os.environ.get("MOMAB_REPOSITORY", "").rstrip("/")
    if repository and source and app.config.momab_edition != "student":  # it has the solutions
        items = [
            _link(f"{repository}/blob/main/{source}?plain=1", "Source", "Its source on GitHub")
        ]
        if source.startswith("notebooks/"):
            slug = repository.removeprefix("https://github.com/")
            colab = "https://colab.research.google.com/github"
            binder = f"https://mybinder.org/v2/gh/{slug}/executed?urlpath=lab/tree/{page}.ipynb"
            items.append(
                _link(f"{colab}/{slug}/blob/executed/{page}.ipynb", "Colab", "Open in Colab")
            )
            items.append(_link(binder, "Binder", "Open on Binder"))
        buttons.insert(0, _group(items, "Run this page", "fas fa-rocket", "launch-buttons"))
    context["header_buttons"] = buttons
    for files in ("script_files", "css_files"):  # live code from elsewhere, which we do not use
        context[files] = [file for file in context[files] if "thebe" not in repr(vars(file))]
    base = app.config.html_baseurl
    card = f"{base}_static/social.png" if base else pathto("_static/social.png", 1)
    context["metatags"] = context.get("metatags", "") + (
        f'<meta property="og:image" content="{card}">\n'
        f'<meta name="twitter:card" content="summary_large_image">\n'
    )


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
