"""The Sphinx extension of the book: what every build of it needs, plain or staged.

Modules with directives or nodes of their own register them with `setup`:

- `formulas`: mathematics is set while the book is built;
- `statements`: the paper's numbers, proofs and boxes that fold, identifiers given once;
- `ledger`: statements carry their verdicts, references to them show them;
- `statement_graph`: ``{statement-graph}`` draws who uses whom;
- `formal`: what a machine has checked, and the sources of the proofs;
- `artefact`: ``{artefact-table}`` says what recomputes which claims;
- `exercise_table`: ``{exercise-table}`` lists exercises, which show their level and kind;
- `bibliography`: entries have a role that browsers know;
- `citing`: ``{how-to-cite}``, and the links to paper and repository;
- `live`: ``{live}`` is the place of an explorable;
- `questions`: ``{question}`` asks the reader, and the page checks the answer;
- `slides`: ``{slide}``, ``{fragment}`` and ``{notes}`` become a deck per page.

Others only change what Sphinx makes: `glossary`, `search`, `assets`, `page_links`, `policy` and
`plain_builds`.  What is done when, and why then, is said by the one list in `_hooks`.

Two environment variables tell a publishing build where it is going: ``MOMAB_BASEURL`` (the
address of the site) and ``MOMAB_REPOSITORY`` (the address of its source on GitHub).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sphinx.application import Sphinx

from momab.book.sphinx import (
    artefact,
    assets,
    bibliography,
    citing,
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

_WITH_DIRECTIVES = (
    formulas,
    exercise_table,
    statements,
    bibliography,
    citing,
    slides,
    ledger,
    statement_graph,
    formal,
    artefact,
    live,
    questions,
)


def _hooks() -> list[tuple[str, int, Callable[..., Any]]]:
    """Event, priority, hook, in the order in which they run; hooks of others mostly have 500."""
    decks, index = slides.Decks(), search.SearchIndex()
    return [
        ("config-inited", 500, formulas.choose_renderer),
        # First of all: it may empty the folder into which the others write.
        ("builder-inited", 10, plain_builds.empty_folder),
        # Before the theme reads the address of the site.
        ("builder-inited", 400, page_links.apply_environment),
        ("builder-inited", 500, formulas.copy_styles),
        ("builder-inited", 500, search.no_other_index),
        # Before pages are written, so that Sphinx stamps the scripts with checksums.
        ("builder-inited", 500, live.write_live_scripts),
        ("source-read", 500, plain_builds.append_companions),
        # References are still unresolved: what they show can be chosen.
        ("doctree-read", 500, exercise_table.write_references_out),
        ("doctree-read", 500, page_links.set_off_titles),
        # After Sphinx has numbered everything in its own way.
        ("env-get-updated", 900, statements.number_as_named),
        ("env-check-consistency", 500, statement_graph.check_blocks),
        ("doctree-resolved", 500, statements.drop_repeated_ids),
        ("doctree-resolved", 500, glossary.show_definitions),
        ("doctree-resolved", 500, exercise_table.show_badges),
        ("doctree-resolved", 500, live.make_places),
        # Titles have their badges: what folds takes them along.
        ("doctree-resolved", 600, statements.fold_dropdowns),
        # Figures before formulas, which then have less text to look through.
        ("doctree-resolved", 650, assets.shorten_figures),
        ("doctree-resolved", 700, formulas.bind_punctuation),
        ("doctree-resolved", 700, formulas.set_in_outputs),
        # A deck shows blocks of the finished page, and is taken off it; the search finds the rest.
        ("doctree-resolved", 900, decks.take_from_page),
        ("doctree-resolved", 950, index.read),
        # Marks and cards are neither on decks nor searched; the verdict is the first mark.
        ("doctree-resolved", 955, ledger.show_verdicts),
        ("doctree-resolved", 956, formal.mark_statements),
        ("doctree-resolved", 956, formal.link_theorems),
        ("doctree-resolved", 957, formal.say_if_stale),
        ("doctree-resolved", 960, ledger.add_cards),
        ("html-collect-pages", 500, decks.write),
        ("html-collect-pages", 500, index.add_page),
        ("html-page-context", 500, citing.tell_templates),
        ("html-page-context", 500, decks.say_where),
        ("html-page-context", 500, live.load_scripts),
        ("html-page-context", 500, questions.load_script),
        # After the theme has made its buttons; it needs to know the deck.
        ("html-page-context", 600, page_links.link_page),
        # After all extensions have asked for scripts and sheets.
        ("html-page-context", 700, assets.choose_files),
        # The text of a page is as it will be written.
        ("html-page-context", 950, policy.find_strange_scripts),
        ("build-finished", 100, index.write),
        ("build-finished", 500, formulas.stop_engine),
        ("build-finished", 500, page_links.copy_downloads),
        ("build-finished", 800, assets.drop_rules),
        # Last: a policy names the scripts of the page as it stands.
        ("build-finished", 950, policy.write_policies),
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything with Sphinx."""
    app.add_config_value("momab_sources", {}, "html")
    app.add_config_value("momab_edition", "instructor", "html")
    for module in _WITH_DIRECTIVES:
        module.setup(app)
    for event, priority, hook in _hooks():
        app.connect(event, hook, priority=priority)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": False}
