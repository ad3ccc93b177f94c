"""The Sphinx extension of the book: what every build of it needs, plain or staged.

Each module has one concern and registers it with its own `setup`:

- `formulas`: mathematics is set while the book is built;
- `companions`: a plain build reads a page's exercises and slides from the files beside it;
- `statements`: the paper's numbers, proofs and boxes that fold, identifiers given once;
- `ledger`: statements carry their verdicts, references to them show them;
- `statement_graph`: ``{statement-graph}`` draws who uses whom;
- `formal`: what a machine has checked, and the sources of the proofs;
- `artefact`: ``{artefact-table}`` says what recomputes which claims;
- `badges`: an exercise shows its level and kind;
- `glossary`: a notion shows its definition where it is used;
- `exercise_table`: ``{exercise-table}`` lists exercises;
- `bibliography`: entries have a role that browsers know;
- `citing`: ``{how-to-cite}``, and the links to paper and repository;
- `live`: ``{live}`` is the place of an explorable;
- `questions`: ``{question}`` asks the reader, exercises take numbers, and the page checks both;
- `slides`: ``{slide}``, ``{fragment}`` and ``{notes}`` become a deck per page;
- `search`: the index of the search, fetched when somebody searches;
- `assets`: a page loads what it uses, and no more;
- `page_links`: download, source and launch links, a social preview, ``404.html`` at any depth;
- `policy`: which scripts a page may run;
- `plain_builds`: what ``jupyter-book build .`` writes is not mixed with the pipeline's site.

Two environment variables tell a publishing build where it is going: ``MOMAB_BASEURL`` (the
address of the site) and ``MOMAB_REPOSITORY`` (the address of its source on GitHub).
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from momab.book.sphinx import (
    artefact,
    assets,
    badges,
    bibliography,
    citing,
    companions,
    exercise_table,
    formal,
    formulas,
    glossary,
    ledger,
    live,
    page_links,
    plain_builds,
    policy,
    questions,
    search,
    slides,
    statement_graph,
    statements,
)

# Badges go into titles before boxes fold; the deck is taken off the page last.
_HOOKS = (
    formulas,
    companions,
    exercise_table,
    statements,
    glossary,
    badges,
    bibliography,
    citing,
    slides,
    ledger,
    statement_graph,
    formal,
    artefact,
    live,
    questions,
    search,
    page_links,
    assets,
    policy,
    plain_builds,
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register every module with Sphinx, in order."""
    app.add_config_value("momab_sources", {}, "html")
    app.add_config_value("momab_edition", "instructor", "html")
    for hook in _HOOKS:
        hook.setup(app)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": False}
