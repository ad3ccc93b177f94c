"""``jupyter-book build .`` builds the book, too, without the pipeline and its numbers.

The pipeline stages pages in one piece; here a page gets its exercises, slides and questions from
the files beside it (``notebooks/<page>.exercises.md`` and so on).  Both write to the same folder:
a plain build that finds a site of the pipeline there begins with an empty folder, and because its
``build.json`` is gone, the pipeline does not take the plain pages for its own.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx

from momab.book.myst import without_header
from momab.book.questions import questions_path, read_questions, write_out

PARTS = ("exercises", "slides")


def empty_folder(app: Sphinx) -> None:
    """Remove a site of the pipeline."""
    site = Path(app.outdir)
    if app.builder.format == "html" and (site / "build.json").is_file():
        shutil.rmtree(site)
        site.mkdir(parents=True)


def append_companions(app: Sphinx, page: str, source: list[str]) -> None:
    """Put a page together."""
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
