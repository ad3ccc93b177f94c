"""The exercises of the book: badges in their titles, and tables made from the pages' sources.

``{exercise-table} width-floor`` lists the exercises of a chapter.  On the pages of the teacher's
guide a bare reference to an exercise is written out, so that they name it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from momab.book import myst
from momab.book.myst import KINDS, LEVELS, ExerciseText
from momab.book.project import Project
from momab.errors import MomabError

_log = logging.getLogger(__name__)

Chapters = Mapping[str, list[ExerciseText]]
_BADGES = {name: name for name in LEVELS} | KINDS


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("exercise-table", ExerciseTable)


class ExerciseTable(SphinxDirective):
    """``{exercise-table} width-floor``: the exercises of a chapter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the table that the sources give."""
        chapters = _chapters(self.env.app)
        try:
            text = exercise_table(chapters, *self.arguments)
        except MomabError as error:
            _log.warning(str(error), location=self.get_location())
            return []
        place = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), "exercises"), 0, place)
        return list(place.children)


def _chapters(app: Sphinx) -> Chapters:
    """The exercises of every page, read once per page that names them."""
    kept = app.env.temp_data
    if "momab_exercises" not in kept:
        kept["momab_exercises"] = read_chapters(Path(app.srcdir))
    chapters: Chapters = kept["momab_exercises"]
    return chapters


def read_chapters(root: Path) -> dict[str, list[ExerciseText]]:
    """The exercises of every page that has some, in the order of the contents."""
    import nbformat

    found = {}
    for name in Project(root).pages:
        staged = root / f"{name}.ipynb"
        exercises: list[ExerciseText] = []
        if staged.is_file():
            exercises = myst.exercises(nbformat.read(staged, as_version=4))
        else:
            for path in (f"{name}.md", f"{name}.exercises.md"):
                if (root / "notebooks" / path).is_file():
                    text = (root / "notebooks" / path).read_text(encoding="utf-8")
                    exercises += myst.exercises_in(text)
        if exercises:
            found[name] = exercises
    return found


def exercise_table(chapters: Chapters, chapter: str) -> str:
    """The exercises of a chapter as a table in Markdown."""
    if chapter not in chapters:
        known = ", ".join(chapters)
        raise MomabError(f"there is no chapter {chapter!r} with exercises; there are {known}.")
    rows = map(_row, chapters[chapter])
    head = [_line("Exercise", "Level", "Kind"), _line(*["---"] * 3)]
    return "\n".join([*head, *(_line(*row) for row in rows)])


def full_titles(chapters: Chapters) -> dict[str, str]:
    """What a reference to an exercise is written out as, by its label."""
    return {
        exercise.label: f"{name} {_number(exercise)}, {exercise.title.replace('`', '')}"
        for name, exercises in chapters.items()
        for exercise in exercises
    }


def write_references_out(app: Sphinx, tree: nodes.document) -> None:
    """Name the exercises that a page of the teacher's guide refers to."""
    if not app.env.docname.startswith("guide"):
        return
    titles = full_titles(_chapters(app))
    for reference in tree.findall(addnodes.pending_xref):
        title = titles.get(reference["reftarget"])
        if title and reference["reftype"] == "ref" and not reference["refexplicit"]:
            reference["refexplicit"] = True
            reference.children = []
            reference += nodes.inline("", title, classes=["std", "std-ref"])


def _number(exercise: ExerciseText) -> str:
    return exercise.label.rpartition("-")[2]


def _row(exercise: ExerciseText) -> tuple[str, str, str]:
    title = exercise.title.replace("|", r"\|").replace("`", "")
    level = " ".join(_badge(name, name) for name in LEVELS if name in exercise.classes)
    kinds = "" if exercise.programming else _badge("written", "written")
    for name, word in KINDS.items():
        if name in exercise.classes:
            kinds += f" {_badge(name, word)}"
    reference = f"{{ref}}`{_number(exercise)}. {title} <{exercise.label}>`"
    return reference, level, kinds.strip()


def _badge(name: str, word: str) -> str:
    return f"[{word}]{{.exercise-badge .{name}}}"


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def show_badges(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Show the level and kind of an exercise, which are its classes, in its title."""
    for exercise in list(tree.findall(nodes.Element)):
        if "exercise" not in exercise["classes"]:
            continue
        title = exercise[0]
        for name, word in _BADGES.items():
            if name in exercise["classes"]:
                title += nodes.Text(" ")
                title += nodes.inline("", word, classes=["exercise-badge", name])
