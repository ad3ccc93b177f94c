"""What students handed in: finding the notebooks, reading them, and planning what to run.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from momab import exercises
from momab.book import editions, myst
from momab.book.project import Project
from momab.course import intake, sandbox
from momab.course.judging import Numbers, asked
from momab.errors import MomabError
from momab.exercises import Exercise

LARGEST = 20 * 2**20  # bytes of a notebook
CELLS = 2_000
_BRACKETS = 100_000  # lists and objects in its file, each of which takes memory
_CHECK = re.compile(r"momab\.check\(\s*[\"']([\w-]+)-\d+[\"']")
_COPY = re.compile(r", copy=\d+\)$")  # how the check of a copy ends
_IMPORTS = "imports"
_SIDE_EFFECTS = (".ipynb_checkpoints", "__MACOSX")  # of notebook programs and of packers


# ---- the book's side -----------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """The exercises of a chapter, and what a grader must know about the chapter's own code."""

    chapter: str
    texts: tuple[myst.ExerciseText, ...]
    checks: Mapping[str, Exercise] = field(repr=False)
    own_code: frozenset[str] = field(repr=False)
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
        return cls(chapter, texts, checks, frozenset(map(_normal, code)), _imports_of(code))

    def asked(self, numbers: Numbers) -> Sheet:
        """The sheet with the numbers that a student's answers are graded with."""
        return replace(self, checks={label: asked(label, numbers) for label in self.checks})

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


def _normal(source: str) -> str:
    """Code without comment lines and blank lines, to tell whether it was changed.

    A student's code is compared as text: parsing it could already be too much for this process.
    """
    lines = (line.rstrip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


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
    copy: int | None = None  # the number of the handout that it says it is
    time: float = 0.0  # when it was last changed; 0 if only a learning platform knows
    id: str = ""  # on a learning platform


def find_notebooks(folder: Path) -> list[Path]:
    """Every notebook below a folder, in the order of their paths."""
    if not folder.is_dir():
        raise MomabError(f"{folder} is no folder; give the one that holds the notebooks, or a zip.")
    paths = sorted(_notebooks(folder))
    if not paths:
        raise MomabError(f"there is no notebook (.ipynb) below {folder}.")
    return paths


def _notebooks(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SIDE_EFFECTS]
        for name in files:
            if name.lower().endswith(".ipynb") and not name.startswith("._"):
                yield Path(place, name)


def read_submission(path: Path, folder: Path, chapters: Sequence[str]) -> Submission:
    """One file: whose it is, which chapter it answers, and its cells."""
    named = _chapter_in_name(path.stem, chapters)
    student = intake.platform_student(path.relative_to(folder).parts[0])
    known = intake.id_of(student)
    try:
        cells, facts = _load(path)
    except MomabError as error:
        student = student or _student(path, folder, named)
        return Submission(path, student, named, problem=str(error), id=known)
    chapter = _claimed_chapter(cells, facts, chapters) or named
    student = student or _student(path, folder, chapter or named)
    problem = "" if chapter else "it does not say which chapter it belongs to"
    copy = facts.get("copy")
    copy = copy if type(copy) is int else None
    time = 0.0 if known else path.lstat().st_mtime
    return Submission(path, student, chapter, cells, problem, copy, time, known)


def read_class(place: Path, chapters: Sequence[str]) -> list[Submission]:
    """All submissions of a folder or zip; two students stay two even if their names look the same.

    On a learning platform, a student is an id, whatever the name.
    """
    with intake.opened(place, LARGEST) as folder:
        found = [read_submission(path, folder, chapters) for path in find_notebooks(folder)]
    names: dict[tuple[str, str], str] = {}
    for submission in found:
        name = clean(submission.student)
        if not submission.id and intake.id_of(name):
            name += " (no id)"
        names.setdefault(_key(submission), _unused(name, names.values()))
    return [replace(s, student=names[_key(s)]) for s in found]


def _key(submission: Submission) -> tuple[str, str]:
    return submission.id, "" if submission.id else submission.student


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


# ---- what to run ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """The steps of a submission, and which cells answer which exercise."""

    steps: tuple[sandbox.Step, ...]
    cells: Mapping[str, tuple[str, ...]]  # by exercise, the keys of its cells
    sources: Mapping[str, str]  # by exercise, the student's text
    unchanged: frozenset[str]  # exercises whose cells are still blank or the starter
    missing: frozenset[str]  # exercises without a cell


def plan_steps(submission: Submission, sheet: Sheet) -> Plan:
    """What a submission's process does: the student's cells in order, each answer at its check.

    Cells of the chapter are left out, but for the imports of its first cells whose names the
    student's code uses.  An answer whose name is not known at its check gets a second chance at
    the end.
    """
    steps: list[sandbox.Step] = []
    places: dict[str, int] = {}
    mine: dict[str, list[tuple[str, str]]] = {text.label: [] for text in sheet.texts}
    for number, cell in enumerate(submission.cells):
        role, label = _role(cell, sheet)
        if label and role in ("answer", "check"):
            places[label] = len(steps)
        if role == "answer" and label in mine:
            mine[label].append((str(number), cell.source))
        if cell.kind == "code" and role in ("answer", "own") and label not in _written(sheet):
            steps.append(sandbox.Cell(str(number), cell.source))
            if role == "answer":
                places[label] = len(steps)
    answers = {text.label: _answer(text, sheet) for text in sheet.programming}
    ordered: list[sandbox.Step] = []
    for number in range(len(steps) + 1):
        ordered += [a for label, a in answers.items() if places.get(label) == number]
        ordered += steps[number : number + 1]
    ordered += answers.values()
    starters = {text.label: _blanks(text) for text in sheet.texts}
    return Plan(
        (*_imports(steps, sheet), *ordered),
        {label: tuple(key for key, _ in cells) for label, cells in mine.items()},
        {label: "\n\n".join(source for _, source in cells) for label, cells in mine.items()},
        frozenset(
            label
            for label, cells in mine.items()
            if cells and all(_normal(source) in starters[label] for _, source in cells)
        ),
        frozenset(label for label, cells in mine.items() if not cells),
    )


def _written(sheet: Sheet) -> set[str]:
    return {text.label for text in sheet.texts if not text.programming}


def _answer(text: myst.ExerciseText, sheet: Sheet) -> sandbox.Answer:
    exercise = sheet.checks[text.label]
    return sandbox.Answer(text.label, text.answer_name, bool(exercise.cases), exercise.calls)


def _blanks(text: myst.ExerciseText) -> set[str]:
    """What an answer cell looks like that nobody has touched."""
    from momab.course.handout import PLACEHOLDER, marked

    blanks = {_normal(""), _normal(PLACEHOLDER)}
    if text.programming:
        blanks |= {_normal(text.starter[0]), _normal(marked(text))}
    return blanks


def _role(cell: HandedIn, sheet: Sheet) -> tuple[str, str]:
    """What a cell is for, and for which exercise: by its metadata, else by what it says."""
    labels = {text.label for text in sheet.texts}
    if cell.role in ("chapter", "setup", "exercise"):
        return cell.role, ""
    if cell.role in ("answer", "check") and cell.exercise in labels:
        return cell.role, cell.exercise
    if cell.kind != "code":
        return "text", ""
    normal = _COPY.sub(")", _normal(cell.source))
    if normal in sheet.own_code:
        return "chapter", ""
    for text in sheet.programming:
        if normal == _normal(text.starter[1]):
            return "check", text.label
        if _binds(cell.source, text.answer_name):
            return "answer", text.label
    return "own", ""


def _binds(source: str, name: str) -> bool:
    """Whether a cell seems to define a name at its top level."""
    pattern = rf"^(?:def[ \t]+{name}\b|{name}[ \t]*(?::[^=\n]*)?=(?!=))"
    return re.search(pattern, source, flags=re.MULTILINE) is not None


def _imports(steps: Sequence[sandbox.Step], sheet: Sheet) -> list[sandbox.Cell]:
    """The chapter's imports that the student's code counts on, as one step."""
    code = "\n".join(step.source for step in steps if isinstance(step, sandbox.Cell))
    words = set(re.findall(r"\w+", code))
    wanted = [statement for name, statement in sheet.imports.items() if name in words]
    return [sandbox.Cell(_IMPORTS, "\n".join(wanted))] if wanted else []
