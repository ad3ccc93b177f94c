"""A plain build reads a page's exercises, slides and questions from the files beside it.

``notebooks/<page>.exercises.md``, ``notebooks/<page>.slides.md`` and
``notebooks/<page>.questions.yml`` are parts of the page ``notebooks/<page>.md``.  The pipeline
stages pages in one piece; ``jupyter-book build .`` gets them put together here.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from momab.book.myst import without_header
from momab.book.questions import questions_path, read_questions, write_out

PARTS = ("exercises", "slides")


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("source-read", _append)


def _append(app: Sphinx, page: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(page))
    if path.suffix != ".md":
        return
    for part in PARTS:
        companion = path.with_name(f"{path.stem}.{part}.md")
        if companion.is_file():
            app.env.note_dependency(str(companion))
            text = without_header(companion.read_text(encoding="utf-8"))
            source[0] += f"\n\n+++\n\n{text}"
    asked = questions_path(path)
    if asked.is_file():
        app.env.note_dependency(str(asked))
        source[0] = write_out(source[0], path.stem, read_questions(asked))
