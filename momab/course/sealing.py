"""From judges to sealed checks: what the student package has in the place of a chapter's judges.

A judge's module holds solutions, slips and cases.  Students get a module that holds only what must
be code, the aspects of exercises whose answer is a value, what makes copies of them, and the
functions that these need, and beside it a file with the cases, the hints and the seals
(`momab.exercises.sealed`).  All else is left out: no solution, no slip, because a slip is a
solution with one mistake, and nothing that draws other arguments for grading.

Before anything is handed out, the module is run, and every sealed check is compared with its judge
on the solution and on all slips, those of some copies included.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momab import exercises
from momab.errors import BuildError
from momab.exercises import sealed
from momab.exercises.core import Exercise, Outcome, close, same_members, shape_of
from momab.exercises.draws import Draw

_MODULE = '''\
"""How answers to the exercises of the chapter {chapter!r} are checked; what is right is sealed."""

from __future__ import annotations

from pathlib import Path

{imports}
from momab.exercises.sealed import load_sealed

{helpers}

ASPECTS = {{{aspects}}}

PERSONAL = {{{personal}}}

EXERCISES = load_sealed(Path(__file__).with_suffix(".json"), ASPECTS, PERSONAL)
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
    names = {judge.name for judge in judges}
    made = SealedChapter(
        chapter.replace("-", "_"),
        _shaken(inspect.getsource(module), chapter, names),
        f"[{lines}]\n",
    )
    for judge, check in zip(judges, _run(made), strict=True):
        _compare(judge, check)
    return made


def _run(made: SealedChapter) -> tuple[sealed.SealedExercise, ...]:
    """The checks that students will have."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{made.stem}.py"
        path.with_suffix(".json").write_text(made.data, encoding="utf-8")
        space: dict[str, Any] = {"__file__": str(path), "__name__": made.stem}
        exec(compile(made.module, path.name, "exec"), space)
    found: tuple[sealed.SealedExercise, ...] = space["EXERCISES"]
    return found


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
        "shapes": [shape_of(outcome.value) for outcome in wanted],
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


def _compare(judge: Exercise, check: Exercise) -> None:
    """Refuse a sealed check that says something else than its judge, or does so about a copy."""
    _compare_answers(judge, check)
    for number in range(3):
        sentence, own = judge.variant(Draw(number, "copy", judge.name))
        told, other = check.variant(Draw(number, "copy", judge.name))
        if told != sentence:
            raise BuildError(f"{judge.name}: the sealed check has another copy than the judge.")
        _compare_answers(own, other, hints=bool(other.slips))


def _compare_answers(judge: Exercise, check: Exercise, hints: bool = True) -> None:
    for answer in (judge.solution, *(slip.answer for slip in judge.slips)):
        said, found = (one.judge(one.outcomes(answer)) for one in (judge, check))
        if found.parts != said.parts or (hints and found != said):
            raise BuildError(
                f"{judge.name}: the sealed check differs from the judge on an answer that is "
                f"{said.summary}."
            )


# ---- code ----------------------------------------------------------------------------------


def _shaken(source: str, chapter: str, names: set[str]) -> str:
    """A judge's module without everything that its aspects and copies do not need."""
    tree = ast.parse(source)
    calls = {name: call for call in ast.walk(tree) if (name := _exercise_of(call, names))}
    aspects = {
        name: kept for name, call in calls.items() if (kept := _argument(call, 3, "aspects"))
    }
    personal = {name: kept for name, call in calls.items() if (kept := _personal(call))}
    open_to_all = [*aspects.values(), *personal.values()]
    solutions = {
        node.id: name
        for name, call in calls.items()
        if name not in aspects and isinstance(node := _argument(call, 1, "solution"), ast.Name)
    }
    defined = {name: node for node in tree.body for name in _names_of(node)}
    needed = _reachable(open_to_all, defined)
    if told := needed & solutions.keys():
        raise BuildError(
            f"{module_name(chapter)}: {min(told)} is the solution of {solutions[min(told)]} and "
            "decides about another answer, so students would get it; write that one without it."
        )
    helpers = [node for node in tree.body if set(_names_of(node)) & needed]
    used = {"Aspect"} if aspects else set[str]()
    used |= _names(helpers) | _names(open_to_all)
    imports = [line for node in tree.body if (line := _import(node, used))]
    return _MODULE.format(
        chapter=chapter,
        imports="\n".join(imports),
        helpers="\n\n\n".join(ast.unparse(node) for node in helpers),
        aspects=_entries(aspects),
        personal=_entries(personal),
    )


def _entries(nodes: Mapping[str, ast.expr]) -> str:
    return ", ".join(f"{name!r}: {ast.unparse(node)}" for name, node in nodes.items())


def _personal(call: ast.AST) -> ast.expr | None:
    """What makes copies of an exercise, without the answers to them."""
    found = _argument(call, 5, "personal")
    if isinstance(found, ast.Call) and isinstance(found.func, ast.Name):
        if found.func.id == "Redrawn":
            return ast.Call(found.func, found.args[:2], [])
        return found
    return None


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
    if isinstance(call.func, ast.Name) and call.func.id != "value" and name != "solution":
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
