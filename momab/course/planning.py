"""What a submission's process does, and which of its cells answer which exercise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from momab.book import myst
from momab.course import handout, sandbox
from momab.course.submissions import HandedIn, Sheet, Submission, normal, unfolded

_IMPORTS = "imports"


@dataclass(frozen=True)
class Plan:
    """The steps of a submission, and which cells answer which exercise."""

    steps: tuple[sandbox.Step, ...]
    cells: Mapping[str, tuple[str, ...]]  # by exercise, the keys of its answer's cells
    sources: Mapping[str, str]  # by exercise, the code of these cells
    shown: Mapping[str, str]  # by exercise, its code with what the student added around it
    words: Mapping[str, str]  # by exercise, its text in words, as Markdown
    unchanged: frozenset[str]  # exercises whose cells are still blank or the starter
    missing: frozenset[str]  # exercises without a cell


@dataclass
class _Cells:
    """The cells of an exercise: those of the answer, and all that was written below its text."""

    answer: dict[str, str] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    places: int = 0  # for words

    def add(self, key: str, cell: HandedIn, programming: bool, answer: bool) -> None:
        """Sort a cell in; code below an exercise in words is part of the words."""
        if cell.kind == "code" and programming:
            self.code.append(cell.source)
            if answer:
                self.answer[key] = cell.source
            return
        self.places += answer or handout.PLACEHOLDER in cell.source
        text = cell.source.replace(handout.PLACEHOLDER, "", 1).strip()
        if text and cell.kind == "code":
            ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)))
            text = f"{ticks}python\n{text}\n{ticks}"
        self.words += [text] if text else []

    def add_written_in(self, source: str, question: frozenset[str]) -> None:
        """Take what was written into the cell of the question itself."""
        mine = (line for line in source.splitlines() if unfolded(line) not in question)
        text = "\n".join(mine).replace(handout.PLACEHOLDER, "", 1).strip()
        self.words += [text] if text else []


def plan_steps(submission: Submission, sheet: Sheet) -> Plan:
    """What a submission's process does: the student's cells in order, each answer at its check.

    Cells of the chapter are left out, but for the imports of its first cells whose names the
    student's code uses.  A cell that the student added below the text of an exercise belongs to its
    answer, and so do lines written into the text of an exercise in words.  An answer whose name is
    not known at its check gets a second chance at the end.
    """
    steps: list[sandbox.Step] = []
    places: dict[str, int] = {}
    mine = {text.label: _Cells() for text in sheet.texts}
    programming = {text.label for text in sheet.programming}
    here = ""  # the exercise below whose text we are
    for number, cell in enumerate(submission.cells):
        role, label = _role(cell, sheet)
        here = here if role in ("own", "text") else label
        if label and role in ("answer", "check"):
            places[label] = len(steps)
        if role == "exercise" and label in sheet.questions:
            mine[label].add_written_in(cell.source, sheet.questions[label])
        if here and role in ("answer", "own", "text"):
            mine[here].add(str(number), cell, here in programming, role == "answer")
        if cell.kind == "code" and (role == "own" or (role == "answer" and label in programming)):
            steps.append(sandbox.Cell(str(number), cell.source))
            if role == "answer":
                places[label] = len(steps)
    answers = {text.label: _answer(text, sheet) for text in sheet.programming}
    ordered: list[sandbox.Step] = []
    for number in range(len(steps) + 1):
        ordered += [a for label, a in answers.items() if places.get(label) == number]
        ordered += steps[number : number + 1]
    ordered += answers.values()
    blanks = {text.label: _blanks(text) for text in sheet.programming}
    unchanged = {
        label: all(normal(source) in blanks[label] for source in cells.answer.values())
        if label in programming
        else not cells.words
        for label, cells in mine.items()
    }
    there = {n: c.answer if n in programming else c.words or c.places for n, c in mine.items()}
    return Plan(
        (*_imports(steps, sheet), *ordered),
        {label: tuple(cells.answer) for label, cells in mine.items()},
        {label: "\n\n".join(cells.answer.values()) for label, cells in mine.items()},
        {label: "\n\n".join(cells.code) for label, cells in mine.items()},
        {label: "\n\n".join(cells.words) for label, cells in mine.items()},
        frozenset(label for label in mine if there[label] and unchanged[label]),
        frozenset(label for label in mine if not there[label]),
    )


def _answer(text: myst.ExerciseText, sheet: Sheet) -> sandbox.Answer:
    exercise = sheet.checks[text.label]
    return sandbox.Answer(text.label, text.answer_name, bool(exercise.cases), exercise.calls)


def _blanks(text: myst.ExerciseText) -> set[str]:
    """What an answer cell with code looks like before a student writes in it."""
    return set(map(normal, ("", text.starter[0], handout.marked(text))))


def _role(cell: HandedIn, sheet: Sheet) -> tuple[str, str]:
    """What a cell is for, and for which exercise: by its metadata, else by what it says."""
    labels = {text.label for text in sheet.texts}
    if cell.role in ("chapter", "setup"):
        return cell.role, ""
    if cell.role in ("answer", "check", "exercise") and cell.exercise in labels:
        return cell.role, cell.exercise
    if cell.kind != "code":
        head = re.match(r"### Exercise (\d+)\b", cell.source)
        if head and (label := f"{sheet.chapter}-{head[1]}") in labels:
            return "exercise", label
        return ("chapter" if unfolded(cell.source) in sheet.own_text else "text"), ""
    plain = normal(cell.source)
    if plain in sheet.own_code:
        return "chapter", ""
    for text in sheet.programming:
        if plain == normal(text.starter[1]):
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
