"""The Sphinx extension of the book: what every build of it needs, plain or staged.

Each module has one concern and registers it with its own `setup`:

- `mathjax`: mathematics is set by a MathJax that the site serves itself;
- `companions`: a plain build reads a page's exercises and slides from the files beside it;
- `statements`: the paper's numbers, proofs and boxes that fold, identifiers given once;
- `ledger`: statements carry their verdicts, references to them show them;
- `statement_graph`: ``{statement-graph}`` draws who uses whom;
- `badges`: an exercise shows its level and kind;
- `glossary`: a notion shows its definition where it is used;
- `api`: ``{package}`` documents a package of the library;
- `exercise_table`: ``{exercise-table}`` lists exercises;
- `bibliography`: entries have a role that browsers know;
- `slides`: ``{slide}``, ``{fragment}`` and ``{notes}`` become a deck per page;
- `page_links`: download, source and launch links, a social preview, ``404.html`` at any depth.

Two environment variables tell a publishing build where it is going: ``MOMAB_BASEURL`` (the
address of the site) and ``MOMAB_REPOSITORY`` (the address of its source on GitHub).
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from momab.book.sphinx import (
    api,
    badges,
    bibliography,
    companions,
    exercise_table,
    glossary,
    ledger,
    mathjax,
    page_links,
    slides,
    statement_graph,
    statements,
)

# Badges go into titles before boxes fold; the deck is taken off the page last.
_HOOKS = (
    mathjax,
    companions,
    api,
    exercise_table,
    statements,
    glossary,
    badges,
    bibliography,
    slides,
    ledger,
    statement_graph,
    page_links,
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register every module with Sphinx, in order."""
    app.add_config_value("momab_sources", {}, "html")
    app.add_config_value("momab_edition", "instructor", "html")
    for hook in _HOOKS:
        hook.setup(app)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": False}
