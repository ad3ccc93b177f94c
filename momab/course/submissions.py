"""What students handed in: finding the notebooks and reading them.

Nothing here trusts a submission.  A file that is no readable notebook gives a `Submission` with
the reason in ``problem``, never an exception.  Which exercises there are, what an answer is called
and how it is checked comes from the book (`Sheet`), not from the file.
"""

from __future__ import annotations

import ast
import json
import os
import pickle
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from momab import exercises
from momab.book import editions, myst
from momab.book.project import Project
from momab.course import handout
from momab.course.judging import asked
from momab.course.settings import Course
from momab.errors import MomabError
from momab.exercises import Exercise

LARGEST = 20 * 2**20  # bytes of a notebook
CELLS = 2_000
_BRACKETS = 100_000  # lists and objects in its file, each of which takes memory
_CHECK = re.compile(r"momab\.check\(\s*[\"']([\w-]+)-\d+[\"']")
_SIDE_EFFECTS = (".ipynb_checkpoints", "__MACOSX")  # of notebook programs and of packers


# ---- the book's side -----------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """The exercises of a chapter, and what a grader must know about the chapter's own code."""

    chapter: str
    texts: tuple[myst.ExerciseText, ...]
    checks: Mapping[str, Exercise] = field(repr=False)
    own_code: frozenset[str] = field(repr=False)
    own_text: frozenset[str] = field(repr=False)
    questions: Mapping[str, frozenset[str]] = field(repr=False)
    """The lines of the exercises in words."""
    imports: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, project: Project, chapter: str) -> Sheet:
        """Read a chapter's exercises from the book."""
        node = project.notebook(chapter).node
        texts = tuple(myst.exercises(node))
        checks = {
            text.label: exercises.find_exercise(text.label) for text in texts if text.programming
        }
        for text in texts:
            if text.programming and not text.answer_name:
                raise MomabError(f"the starter of {text.label} does not end with its check.")
        for label, exercise in checks.items():
            try:
                pickle.dumps(exercise.calls)
            except (pickle.PicklingError, TypeError, AttributeError) as error:
                raise MomabError(
                    f"the arguments of {label} cannot be sent to another process ({error})."
                ) from None
        code = [c.source for c in editions.student(node).cells if c.cell_type == "code"]
        own = [cell for cell in handout.make_handout(project, chapter).cells if _is_prose(cell)]
        in_words = {text.label for text in texts if text.words and not text.programming}
        questions = {
            label: frozenset(map(unfolded, cell.source.splitlines()))
            for cell in own
            if (label := cell.metadata["momab"].get("exercise")) in in_words
        }
        return cls(
            chapter,
            texts,
            checks,
            frozenset(map(normal, code)),
            frozenset(unfolded(cell.source) for cell in own),
            questions,
            _imports_of(code),
        )

    def asked(self, seed: int, student: str) -> Sheet:
        """The sheet with the arguments that a student's answers are graded with."""
        return replace(self, checks={label: asked(label, seed, student) for label in self.checks})

    @property
    def programming(self) -> list[myst.ExerciseText]:
        """The exercises that are marked."""
        return [text for text in self.texts if text.programming]


def _imports_of(code: Sequence[str]) -> dict[str, str]:
    """The names that the chapter's first cells import, each with the statement that does it."""
    found = {"momab": "import momab"}
    for source in code:
        if source.startswith("%%"):  # text, a picture or a table before the imports
            continue
        statements = ast.parse(source).body
        if all(isinstance(s, ast.AnnAssign) for s in statements):  # the parameters
            continue
        if not all(isinstance(s, ast.Import | ast.ImportFrom) for s in statements):
            break
        for statement in statements:
            assert isinstance(statement, ast.Import | ast.ImportFrom)
            for alias in statement.names:
                one = ast.copy_location(_with_names(statement, [alias]), statement)
                found[(alias.asname or alias.name).partition(".")[0]] = ast.unparse(one)
    return found


def _with_names(
    statement: ast.Import | ast.ImportFrom, names: list[ast.alias]
) -> ast.Import | ast.ImportFrom:
    if isinstance(statement, ast.Import):
        return ast.Import(names)
    return ast.ImportFrom(statement.module, names, statement.level)


def normal(source: str) -> str:
    """Code without comment lines and blank lines, to tell whether it was changed.

    A student's code is compared as text: parsing it could already be too much for this process.
    """
    lines = (line.rstrip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def _is_prose(cell: Any) -> bool:
    return bool(cell.cell_type == "markdown" and cell.metadata["momab"]["role"] != "answer")


def unfolded(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


# ---- the student's side --------------------------------------------------------------------


@dataclass(frozen=True)
class HandedIn:
    """A cell of a submission; role and exercise are what its metadata claims."""

    kind: str
    source: str
    role: str = ""
    exercise: str = ""


@dataclass(frozen=True)
class Submission:
    """One file of one student; ``problem`` says why it cannot be read, if so."""

    path: Path
    student: str
    chapter: str = ""
    cells: tuple[HandedIn, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Unread:
    """What was handed in but is no notebook; a file that names no student has none."""

    student: str
    name: str
    why: str


def read_class(
    folder: Path, chapters: Sequence[str], course: Course | None = None
) -> tuple[list[Submission], list[Unread]]:
    """All submissions of a folder, and what is there but no notebook.

    Two students stay two even if their names look the same; a listed student is found by id, too.
    """
    course = course or Course()
    if not folder.is_dir():
        raise MomabError(f"{folder} is not a folder; name the one that holds the notebooks.")
    notebooks, others = _files(folder)
    found = [read_submission(path, folder, chapters) for path in notebooks]
    if not found:
        raise MomabError(f"there is no notebook (.ipynb) below {folder}.")
    unread = [Unread(*_described(path, folder, chapters)) for path in others]
    names: dict[str, str] = {"": ""}
    for name in dict.fromkeys([s.student for s in found] + [u.student for u in unread]):
        if name:
            listed = course.listed(name)
            known = listed in course.students
            names[name] = listed if known else _unused(clean(name), names.values())
    return (
        [replace(s, student=names[s.student]) for s in found],
        [replace(u, student=names[u.student], name=clean(u.name)) for u in unread],
    )


def newest(found: Sequence[Submission]) -> tuple[list[Submission], list[str]]:
    """Of several notebooks of a student for a chapter the one that was changed last.

    A readable one comes before one that is not.  Also what to say about the others.
    """
    best: dict[tuple[str, str], Submission] = {}
    told = []
    for submission in sorted(found, key=lambda s: (not s.problem, s.path.lstat().st_mtime, s.path)):
        key = submission.student, submission.chapter
        if key in best:
            old, new = best[key].path.name, submission.path.name
            told.append(
                f"{key[0]}: {new} counts, {old} does not, because it is older or unreadable"
            )
        best[key] = submission
    chosen = set(map(id, best.values()))
    return [submission for submission in found if id(submission) in chosen], told


def _files(folder: Path) -> tuple[list[Path], list[Path]]:
    """Every notebook below a folder, and all else: other files, and empty folders."""
    notebooks: list[Path] = []
    others: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SIDE_EFFECTS]
        if not files and not folders and Path(place) != folder:
            others.append(Path(place))
        for name in files:
            if not name.startswith("."):
                kind = notebooks if name.lower().endswith(".ipynb") else others
                kind.append(Path(place, name))
    return sorted(notebooks), sorted(others)


def _described(path: Path, folder: Path, chapters: Sequence[str]) -> tuple[str, str, str]:
    """Of something that is no notebook: the student if it names one, its name, what it is."""
    name = path.relative_to(folder).as_posix()
    if path.is_dir():
        return path.relative_to(folder).parts[0], name, "the folder is empty"
    stem = path.name.partition(".")[0]
    chapter = _chapter_in_name(stem, chapters)
    inside = "/" in name
    student = _student(path.with_name(stem), folder, chapter) if inside or chapter else ""
    return student, name, "it is not a notebook (.ipynb)"


def read_submission(path: Path, folder: Path, chapters: Sequence[str]) -> Submission:
    """One file: whose it is, which chapter it answers, and its cells."""
    named = _chapter_in_name(path.stem, chapters)
    try:
        cells, facts = _load(path)
    except MomabError as error:
        return Submission(path, _student(path, folder, named), named, problem=str(error))
    chapter = _claimed_chapter(cells, facts, chapters) or named
    student = _student(path, folder, chapter or named)
    problem = "" if chapter else "it does not say which chapter it belongs to"
    return Submission(path, student, chapter, cells, problem)


def _unused(name: str, taken: Iterable[str]) -> str:
    number, found = 1, name
    while found in set(taken):
        number += 1
        found = f"{name} ({number})"
    return found


def _load(path: Path) -> tuple[tuple[HandedIn, ...], Any]:
    """The cells and the metadata of a notebook file of unknown content."""
    try:
        facts = path.lstat()
        if not stat.S_ISREG(facts.st_mode):
            raise MomabError("it is a link or no ordinary file")
        if facts.st_size > LARGEST:
            raise MomabError(f"it is larger than {LARGEST // 2**20} MB")
        data = path.read_bytes()
        if not data.strip():
            raise MomabError("the file is empty")
        if data.count(b"{") + data.count(b"[") > _BRACKETS:
            raise MomabError(f"it has more than {_BRACKETS:,} lists and objects inside")
        notebook = json.loads(data)
    except OSError as error:
        raise MomabError(f"it cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, MomabError):
            raise
        raise MomabError("it is not a notebook (no JSON)") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise MomabError("it is not a notebook of format 4 (it has no list of cells)")
    if len(notebook["cells"]) > CELLS:
        raise MomabError(f"it has more than {CELLS:,} cells")
    cells = tuple(_cell(cell) for cell in notebook["cells"] if isinstance(cell, dict))
    return cells, _facts(notebook)


def _facts(item: dict[str, Any]) -> dict[str, Any]:
    """What the metadata of a notebook or a cell say under ``momab``."""
    metadata = item.get("metadata")
    found = metadata.get("momab") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _cell(cell: dict[str, Any]) -> HandedIn:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    facts = _facts(cell)
    words = (cell.get("cell_type"), source, facts.get("role"), facts.get("exercise"))
    return HandedIn(*(word if isinstance(word, str) else "" for word in words))


def _claimed_chapter(
    cells: Sequence[HandedIn], facts: Mapping[str, Any], chapters: Sequence[str]
) -> str:
    """The chapter that the notebook, its cells or their checks name."""
    claimed = facts.get("handout")
    if isinstance(claimed, str) and claimed in chapters:
        return claimed
    claims = [cell.exercise.rpartition("-")[0] for cell in cells if cell.exercise]
    claims = claims or [name for cell in cells for name in _CHECK.findall(cell.source)]
    counts = Counter(claim for claim in claims if claim in chapters)
    return counts.most_common(1)[0][0] if counts else ""


def _chapter_in_name(stem: str, chapters: Sequence[str]) -> str:
    """The chapter at the end of a file name; the longest, should several fit."""
    fitting = [chapter for chapter in chapters if re.search(_ending(chapter), stem)]
    return max(fitting, key=len, default="")


def _ending(chapter: str) -> str:
    """How a file name ends that names a chapter; browsers number what they download again."""
    return rf"(?:^|[-_. ]+){re.escape(chapter)}(?:[-_ ]*\(?\d+\)?)?$"


def _student(path: Path, folder: Path, chapter: str) -> str:
    """The folder below the class's, or the file's name without the chapter."""
    parts = path.relative_to(folder).parts
    name = parts[0] if len(parts) > 1 else path.stem
    if len(parts) == 1 and chapter:
        name = re.sub(_ending(chapter), "", name) or name
    return name


def clean(text: str) -> str:
    """Text that can be written anywhere: no control characters, no broken encodings."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() else " " for c in text).strip() or "?"
