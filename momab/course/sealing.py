"""From judges to sealed checks: what the student package has in the place of a chapter's judges.

A judge's module holds solutions, slips and cases.  Students get a module that holds only what must
be code, the aspects of exercises whose answer is a value with the functions that they need, and
beside it a file with the cases, the hints and the seals (`momab.exercises.sealed`).  All else is
left out: no solution, and no slip, because a slip is a solution with one mistake.

Before anything is handed out, every sealed check is compared with its judge on the solution and
on all slips.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from momab import exercises
from momab.errors import BuildError
from momab.exercises import sealed
from momab.exercises.core import Exercise, Outcome, close, same_members

_MODULE = '''\
"""How answers to the exercises of the chapter {chapter!r} are checked; what is right is sealed."""

from __future__ import annotations

from pathlib import Path

{imports}
from momab.exercises.sealed import load

{helpers}

ASPECTS = {{{aspects}}}

EXERCISES = load(Path(__file__).with_suffix(".json"), ASPECTS)
'''


@dataclass(frozen=True)
class SealedChapter:
    """The module and the data that check a chapter's answers."""

    stem: str
    module: str
    data: str


def sealed_chapters() -> Iterator[SealedChapter]:
    """What checks the answers of every chapter."""
    for chapter in exercises.chapters():
        yield seal_chapter(chapter)


def seal_chapter(chapter: str) -> SealedChapter:
    """What checks the answers of one chapter; refused if it would not say what the judges say."""
    module = importlib.import_module(exercises.module_of(chapter))
    judges = exercises.of_chapter(chapter)
    entries = [_entry(judge) for judge in judges]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    data = f"[{lines}]\n"
    for judge, entry in zip(judges, json.loads(data), strict=True):
        _compare(judge, sealed._exercise(entry, judge.aspects))
    names = {judge.name for judge in judges}
    stem = chapter.replace("-", "_")
    return SealedChapter(stem, _shaken(inspect.getsource(module), chapter, names), data)


# ---- seals ---------------------------------------------------------------------------------


def _entry(judge: Exercise) -> dict[str, Any]:
    tolerance, members = _comparison(judge)
    wanted = judge.outcomes(judge.solution) if judge.cases else []
    return {
        "name": judge.name,
        "wants": judge.wants,
        "tolerance": tolerance,
        "members": members,
        "cases": [
            {
                "what": case.what,
                "hint": case.hint,
                "calls": [[sealed.write(argument) for argument in call] for call in case.calls],
            }
            for case in judge.cases
        ],
        "wanted": [
            sealed.Seal.of(
                outcome.value, sealed.key(judge.name, 0, place), tolerance, members
            ).digests
            for place, outcome in enumerate(wanted)
        ],
        "slips": [
            {"hint": slip.hint, "outcomes": _sealed(judge, number, judge.outcomes(slip.answer))}
            for number, slip in enumerate(judge.slips, start=1)
        ],
    }


def _comparison(judge: Exercise) -> tuple[float, bool]:
    """The relative tolerance of a judge, and whether it leaves the order of a list free."""
    if judge.same is same_members:
        return 1e-6, True
    if isinstance(judge.same, functools.partial):
        return float(judge.same.keywords["tolerance"]), False
    return (1e-6 if judge.same is close else 0.0), False


def _sealed(judge: Exercise, number: int, outcomes: Iterable[Outcome]) -> list[Any]:
    return [
        outcome.error
        or sealed.Seal.of(outcome.value, sealed.key(judge.name, number, place)).digests
        for place, outcome in enumerate(outcomes)
    ]


def _compare(judge: Exercise, check: sealed.SealedExercise) -> None:
    """Refuse a sealed check that says something else than its judge."""
    for answer in (judge.solution, *(slip.answer for slip in judge.slips)):
        said = judge.judge(judge.outcomes(answer))
        if check.judge(check.outcomes(answer)) != said:
            raise BuildError(
                f"{judge.name}: the sealed check differs from the judge on an answer that is "
                f"{said.summary}."
            )


# ---- code ----------------------------------------------------------------------------------


def _shaken(source: str, chapter: str, names: set[str]) -> str:
    """A judge's module without everything that its aspects do not need."""
    tree = ast.parse(source)
    calls = {name: call for call in ast.walk(tree) if (name := _exercise_of(call, names))}
    aspects = {
        name: kept for name, call in calls.items() if (kept := _argument(call, 3, "aspects"))
    }
    solutions = {
        node.id: name
        for name, call in calls.items()
        if name not in aspects and isinstance(node := _argument(call, 1, "solution"), ast.Name)
    }
    defined = {name: node for node in tree.body for name in _names_of(node)}
    needed = _reachable(aspects.values(), defined)
    if told := needed & solutions.keys():
        raise BuildError(
            f"{module_name(chapter)}: {min(told)} is the solution of {solutions[min(told)]} and "
            "decides about another answer, so students would get it; write that one without it."
        )
    helpers = [node for node in tree.body if set(_names_of(node)) & needed]
    used = {"Aspect"} if aspects else set[str]()
    used |= _names(helpers) | _names(aspects.values())
    imports = [line for node in tree.body if (line := _import(node, used))]
    return _MODULE.format(
        chapter=chapter,
        imports="\n".join(imports),
        helpers="\n\n\n".join(ast.unparse(node) for node in helpers),
        aspects=", ".join(f"{name!r}: {ast.unparse(node)}" for name, node in aspects.items()),
    )


def module_name(chapter: str) -> str:
    """The file of a chapter's judges, as it is called in complaints."""
    return f"momab/exercises/{chapter.replace('-', '_')}.py"


def _exercise_of(node: ast.AST, names: set[str]) -> str:
    """The exercise that a call makes; '' if it makes none."""
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        first = node.args[0].value
        return str(first) if first in names else ""
    return ""


def _argument(call: ast.AST, place: int, name: str) -> ast.expr | None:
    assert isinstance(call, ast.Call)
    if isinstance(call.func, ast.Name) and call.func.id != "value" and name == "aspects":
        return None
    named = [keyword.value for keyword in call.keywords if keyword.arg == name]
    return named[0] if named else call.args[place] if len(call.args) > place else None


def _names_of(node: ast.stmt) -> list[str]:
    """What a statement at the top of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    found = [part.id for t in targets for part in ast.walk(t) if isinstance(part, ast.Name)]
    return [name for name in found if name != "EXERCISES"]


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _reachable(roots: Iterable[ast.AST], defined: dict[str, ast.stmt]) -> set[str]:
    """What these need among what is defined."""
    found, todo = set[str](), _names(roots)
    while new := (todo & defined.keys()) - found:
        found |= new
        todo = _names(defined[name] for name in new)
    return found


def _import(node: ast.stmt, used: set[str]) -> str:
    """An import with the names that are used; '' if none is."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return ""
    if isinstance(node, ast.ImportFrom) and node.module in ("__future__", "pathlib"):
        return ""
    names = [a for a in node.names if (a.asname or a.name.partition(".")[0]) in used]
    node.names = names
    return ast.unparse(node) if names else ""
