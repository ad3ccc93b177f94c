"""Handouts: a chapter as a clean notebook in which students answer its exercises.

A handout is the chapter without solutions, teaching notes, slides and outputs, written as plain
Markdown and code that any notebook program opens.  Every exercise is followed by the cell for its
answer.  What a cell is for is in its metadata under ``momab``:

- ``{"role": "chapter"}``: the chapter's own text and code;
- ``{"role": "setup"}``: how to work with the handout, and ``import momab``;
- ``{"role": "exercise", "exercise": "width-floor-2"}``: the text of an exercise;
- ``{"role": "answer", "exercise": "width-floor-2"}``: the place for the answer, a code cell with
  the starter, or a Markdown cell where the answer is in words; tagged ``answer``.  An exercise that
  asks for both has both, and each says in its first line that it is for the answer;
- ``{"role": "check", "exercise": "width-floor-2"}``: the call of `momab.check`; tagged ``check``.

Cells of the chapter whose code the book does not show (pictures, tables, computed prose) are folded
in JupyterLab's own way, ``{"jupyter": {"source_hidden": true}}``.

`momab course grade` reads these notebooks again (see `momab.course.grading`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from momab import __version__
from momab._util.files import atomically
from momab.book import editions, myst
from momab.book.notebook import Node
from momab.book.plain import plain_markdown
from momab.book.project import Project
from momab.errors import MomabError

PLACEHOLDER = "✎ **Your answer in words:**"
_MARK = "# ✎ Your answer to exercise {number}:"
_HOWTO = """\
**How to work with this notebook.** Open it in the JupyterLab that `python3 start.py` starts in the
folder which you were given, and run the cells from top to bottom. A bar without code is a folded
cell; a click on it shows the code.

Answer in the cells that start with ✎, code or words; you may add cells of your own beside them. The
cell below a programming answer checks it and gives a hint, as often as you like. An answer must
stand alone: import what it uses, and do not rely on variables of the chapter, because the grader
runs your cells without it.

When you are done, save the notebook and hand in this one file."""


def chapters_with_exercises(project: Project) -> list[str]:
    """The chapters that have exercises, in the order of the book."""
    order = {name: place for place, name in enumerate(project.pages)}
    names = sorted(project.names, key=lambda name: (order.get(name, len(order)), name))
    return [name for name in names if myst.exercises(project.notebook(name).node)]


def make_handout(project: Project, chapter: str) -> Node:
    """The handout of one chapter."""
    import nbformat

    notebook = project.notebook(chapter)
    cells = [
        _cell("markdown", _HOWTO, "setup"),
        _cell("code", "import momab", "setup"),
    ]
    for cell in editions.student(notebook.node).cells:
        if cell.cell_type == "code":
            cells.append(_cell("code", cell.source, "chapter", folded=is_folded(cell)))
        elif cell.cell_type == "markdown":
            cells += _prose(notebook.asked(cell.source))
    if not any(cell.metadata["momab"]["role"] == "answer" for cell in cells):
        raise MomabError(
            f"the chapter {notebook.name!r} has no exercises; "
            f"these have some: {', '.join(chapters_with_exercises(project))}."
        )
    for number, cell in enumerate(cells):
        cell.id = f"{notebook.name}-{number}"
    node = nbformat.v4.new_notebook(cells=cells)
    node.nbformat_minor = 5
    node.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "momab": {"handout": notebook.name, "version": __version__},
        }
    )
    nbformat.validate(node)
    return node


def is_folded(cell: Node) -> bool:
    """Whether the book folds a code cell or leaves it out; parameters stay open."""
    tags = set(cell.metadata.get("tags", []))
    return bool(tags & {"remove-input", "hide-input"}) and "parameters" not in tags


def _cell(kind: str, source: str, role: str, exercise: str = "", folded: bool = False) -> Node:
    import nbformat

    make: Callable[..., Node] = getattr(nbformat.v4, f"new_{kind}_cell")
    facts = {"role": role, "exercise": exercise} if exercise else {"role": role}
    more: dict[str, object] = {"jupyter": {"source_hidden": True}} if folded else {}
    if role in ("answer", "check", "setup"):
        more["tags"] = [role]
    return make(source, metadata={"momab": facts, **more})


def marked(exercise: myst.ExerciseText) -> str:
    """The starter of a programming exercise, with a first line that says what the cell is for."""
    return f"{_MARK.format(number=_number(exercise))}\n{exercise.starter[0]}"


def _number(exercise: myst.ExerciseText) -> str:
    return exercise.label.rpartition("-")[2]


def _prose(source: str) -> Iterator[Node]:
    """A chapter's Markdown as cells, each exercise with the cells for its answer."""
    text: list[str] = []

    def chapter_text() -> Iterator[Node]:
        if plain := re.sub(r"\n{3,}", "\n\n", plain_markdown("\n".join(text))):
            yield _cell("markdown", plain, "chapter")
        text.clear()

    for piece in myst.pieces(source.splitlines()):
        if isinstance(piece, str):
            text.append(piece)
        elif piece.name == "exercise":
            yield from chapter_text()
            yield from _exercise(myst.ExerciseText.of(piece))
        elif piece.name not in ("slide", "fragment", "notes"):
            text += piece.lines
    yield from chapter_text()


def _exercise(exercise: myst.ExerciseText) -> Iterator[Node]:
    """The text of an exercise, the cell for its answer, and the check of a programming one."""
    level = [word for word in myst.LEVELS if word in exercise.classes]
    kinds = [*level, *(["programming"] if exercise.programming else [])]
    kinds += ["in words"] if exercise.words else []
    if exercise.programming and not exercise.answer_name:
        raise MomabError(
            f"the exercise {exercise.label!r} is marked as programming, so it must end with "
            "a starter in a python fence whose last line calls momab.check."
        )
    body = "\n".join(exercise.question if exercise.programming else exercise.body)
    head = f"### Exercise {_number(exercise)}" + (f": {exercise.title}" if exercise.title else "")
    text = f"{plain_markdown(head)}\n\n*{', '.join(kinds)}*\n\n{plain_markdown(body)}"
    yield _cell("markdown", text, "exercise", exercise.label)
    if exercise.programming:
        yield _cell("code", marked(exercise), "answer", exercise.label)
        yield _cell("code", exercise.starter[1], "check", exercise.label)
    if exercise.words:
        yield _cell("markdown", PLACEHOLDER, "answer", exercise.label)


def write_handouts(
    project: Project,
    names: Sequence[str],
    output: Path | None = None,
    force: bool = False,
) -> list[Path]:
    """Write handouts, of all chapters if none is named; a file that differs is not replaced.

    Either all files are written or, with one sentence that says why, none.
    """
    import nbformat

    output = output or project.build / "handouts"
    wanted = list(dict.fromkeys(Path(name).stem for name in names)) or chapters_with_exercises(
        project
    )
    made = {
        output / f"{name}.ipynb": (nbformat.writes(make_handout(project, name)) + "\n").encode()
        for name in wanted
    }
    if not force and (edited := [path for path, data in made.items() if _differs(path, data)]):
        raise MomabError(
            f"{_list(edited)} would be replaced by something else, so nothing was written; "
            "give another --output, or --force to replace it."
        )
    for path, data in made.items():
        with atomically(path) as file:
            file.write(data)
    return list(made)


def _differs(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() != data
    except FileNotFoundError:
        return False
    except OSError as error:
        raise MomabError(f"{path} cannot be read: {error.strerror}.") from None


def _list(paths: Iterable[Path]) -> str:
    names = [str(path) for path in paths]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
