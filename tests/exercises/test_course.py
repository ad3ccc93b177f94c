"""The course material of every chapter: exercises, solutions, teaching notes, slides."""

import ast
import builtins
import itertools
import re
from functools import cache

import pytest

from momab import exercises
from momab.book import editions, myst
from momab.book.notebook import Notebook
from momab.book.project import Project
from tests.conftest import ROOT

PROJECT = Project(ROOT)
LEVELS = ["warm-up", "standard", "challenge", "research"]
KINDS = {"programming", "words", "breaks-hypothesis"}
NO_COURSE = ("index", "claims", "referee", "bring-your-policy")
NO_COURSE += ("somebody-elses-code",)
# the second halves of other chapters
NO_COURSE += ("price-and-lead", "dependence", "arm-by-arm", "small-c")
NO_COURSE += ("standings", "hard-instances", "wrong-objective", "more-certificates")
NO_COURSE += ("two-coins", "many-runs", "both-sides")
CHAPTERS = [n for n in PROJECT.pages if n in PROJECT.names and n not in NO_COURSE]


@cache
def chapter(name: str) -> Notebook:
    return PROJECT.notebook(name)


def directives(name: str) -> list[myst.Directive]:
    return [
        piece
        for cell in chapter(name).node.cells
        if cell.cell_type == "markdown"
        for piece in myst.pieces(cell.source.splitlines())
        if isinstance(piece, myst.Directive)
    ]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_four_to_eight_exercises_from_warm_up_to_research(name: str) -> None:
    found = myst.exercises(chapter(name).node)
    assert 4 <= len(found) <= 8
    assert [e.label for e in found] == [f"{name}-{n + 1}" for n in range(len(found))]
    assert all(e.title for e in found)
    levels = []
    for exercise in found:
        [level] = exercise.classes & set(LEVELS)
        levels.append(LEVELS.index(level))
        assert exercise.classes <= set(LEVELS) | KINDS
    assert levels == sorted(levels)
    assert (levels[0], levels[-1]) == (0, len(LEVELS) - 1)
    assert any("breaks-hypothesis" in e.classes for e in found)
    assert sum(e.programming for e in found) >= 2


@pytest.mark.parametrize("name", CHAPTERS)
def test_programming_exercises_and_their_judges_correspond(name: str) -> None:
    marked = [e for e in myst.exercises(chapter(name).node) if e.programming]
    assert [e.label for e in marked] == [e.name for e in exercises.of_chapter(name)]
    for exercise in marked:
        code, check = exercise.starter
        assert check == f'momab.check("{exercise.label}", {exercise.answer_name})'
        compile(code, exercise.label, "exec")
        assert re.search(rf"\b{exercise.answer_name}\b", code)


ASKS = re.compile(r"\?\s|\b(explain|say:|say what|answer:|argue)", re.IGNORECASE)
IN_CODE = {  # a question that the code itself answers
    "algorithm-2",
    "algorithm-3",
    "limit-7",
    "lower-bound-3",
    "price-3",
    "refresher-1",
    "refresher-4",
    "width-floor-3",
}


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_programming_exercise_that_asks_for_words_says_so(name: str) -> None:
    for exercise in myst.exercises(chapter(name).node):
        asks = ASKS.search("\n".join(exercise.question) + "\n") is not None
        if exercise.programming and exercise.label not in IN_CODE:
            assert exercise.words == asks, exercise.label
        if not exercise.programming:
            assert "words" not in exercise.classes


def test_no_exercise_is_set_twice() -> None:
    """No two have the same title, or most of their words in common but for how to answer."""
    every = [e for name in CHAPTERS for e in myst.exercises(chapter(name).node)]
    assert len({e.title for e in every}) == len(every)
    runs = {}
    for exercise in every:
        text = re.split(r"Your answer is|The answer is", "\n".join(exercise.question))[0]
        words = re.findall(r"[a-z]+", text.lower())
        runs[exercise.label] = {tuple(words[n : n + 3]) for n in range(len(words) - 2)}
    for one, other in itertools.combinations(runs, 2):
        both = runs[one] & runs[other]
        assert len(both) <= 0.5 * min(len(runs[one]), len(runs[other])), (one, other)


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_exercise_has_one_folded_solution(name: str) -> None:
    blocks = [d for d in directives(name) if d.name in ("solution", "solution-start")]
    assert [d.title for d in blocks] == [e.label for e in myst.exercises(chapter(name).node)]
    assert all("dropdown" in d.classes for d in blocks)
    assert not [d for d in directives(name) if d.name.startswith("exercise-")]
    ends = [d.name for d in directives(name) if d.name.startswith("solution-")]
    assert ends == ["solution-start", "solution-end"] * (len(ends) // 2)


def unbound(source: str, known: set[str]) -> set[str]:
    """Add the names that a piece of code binds; return those it uses without."""
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            known |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
    return {node.id for node in nodes if isinstance(node, ast.Name)} - known


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_checked_solution_can_be_copied_into_an_empty_notebook(name: str) -> None:
    """It imports what it needs; it may use functions of earlier exercises, by their names."""
    functions: set[str] = set()
    checked = {text.label for text in myst.exercises(chapter(name).node) if text.programming}
    for label, cell in editions.solution_cells(chapter(name).node):
        if f'momab.check("{label}"' in cell.source:
            checked.discard(label)
            assert unbound(cell.source, functions | set(dir(builtins))) == set(), label
            tree = ast.parse(cell.source)
            functions |= {part.name for part in tree.body if isinstance(part, ast.FunctionDef)}
    assert not checked, "a solution that calls no check"


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_teaching_notes_and_six_to_twelve_slides(name: str) -> None:
    assert 1 <= sum("teaching" in d.classes for d in directives(name)) <= 3
    slides: list[list[myst.Directive]] = []
    for block in myst.walk(chapter(name).slides):
        if block.name == "slide":
            slides.append([block])
        elif block.name in ("notes", "fragment"):
            slides[-1].append(block)
    assert 6 <= len(slides) <= 13
    for first, *rest in slides:
        asks = first.options.get("show", "").startswith("question-")
        assert asks or any(block.name == "notes" for block in rest), first.title
