"""Slides: each page of the book may have a reveal.js deck, which shows blocks of the page.

A page's deck is written beside it, in ``notebooks/<page>.slides.md``:

- ``{slide} Title``: a new slide, with text that the page does not show;
- ``{fragment}``: the next step of the slide before;
- ``{notes}``: speaker notes to the slide before.

The items of a list come one after the other, the first with its slide; with ``:at-once:`` all come
together.  A picture with several panels can be taken apart: with ``:panels: build`` they come one
after the other, with ``:panels: zoom`` each is enlarged in turn, and then the whole is back.

A slide or fragment with ``:show: NAME ...`` shows blocks of the page by name: a labelled
statement or section, or a code cell that has this ``name`` in its options.  They are rendered as
on the page, so statements keep the paper's numbers and figures their colours.  Solutions and
teaching notes are never on a deck.

A page with at least one slide gets a deck ``slides/<page>.html``; ``slides/index.html`` lists the
decks in the order of the book.  The page itself, the search and the contents show nothing of it.
"""

from __future__ import annotations

from momab.book.sphinx.slides.hooks import Decks, setup

__all__ = ["Decks", "setup"]
