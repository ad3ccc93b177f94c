"""Mutants of the worked solutions: one small change each, which the exercise's cases must notice.

``python -m tests.exercises.mutation refresher-3 ...`` lists the mutants of some exercises that pass
all cases (of all exercises if none is named).  A mutant that computes the same is equivalent; those
are explained in ``equivalent.yml`` beside this file.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from momab import exercises
from momab.book import editions, myst
from momab.book.project import Project
from momab.course.submissions import Sheet
from tests.conftest import ROOT

SECONDS = 4.0  # of CPU time, so that a loaded machine changes no verdict
_COMPARED = {
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
}
_COMPUTED = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.FloorDiv: [ast.Mult],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
}
_NAMES = {
    "min": "max",
    "max": "min",
    "argmin": "argmax",
    "argmax": "argmin",
    "minimum": "maximum",
    "maximum": "minimum",
    "floor": "ceil",
    "ceil": "floor",
    "any": "all",
    "all": "any",
    "mean": "sum",
    "sqrt": "abs",
    "log": "log2",
    "front": "gaps",
}


@cache
def sources(chapter: str) -> dict[str, tuple[str, str, str]]:
    """Of every programming exercise of a chapter what comes before, the code, and its answer."""
    node = Project(ROOT).notebook(chapter).node
    names = {text.label: text.answer_name for text in myst.exercises(node) if text.programming}
    found: dict[str, tuple[str, str, str]] = {}
    before = "\n".join(Sheet.of(Project(ROOT), chapter).imports.values())
    for label, cell in editions.solution_cells(node):
        if f'momab.check("{label}"' in cell.source:
            found[label] = before, cell.source, names[label]
            before += f"\n{_alone(cell.source)}"
    return found


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """Other nodes for this one."""

    def other(**fields: Any) -> ast.AST:
        made = copy.deepcopy(node)
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield other(value=not node.value)
        elif isinstance(node.value, int):
            yield from (other(value=node.value + 1), other(value=node.value - 1))
        elif isinstance(node.value, float):
            yield from (other(value=node.value * 2), other(value=node.value + 0.5))
    elif isinstance(node, ast.Compare):
        for n, operator in enumerate(node.ops):
            for kind in _COMPARED.get(type(operator), []):
                yield other(ops=[*node.ops[:n], kind(), *node.ops[n + 1 :]])
    elif isinstance(node, ast.BinOp):
        for kind in _COMPUTED.get(type(node.op), []):
            yield other(op=kind())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield other(op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in _NAMES:
        yield other(id=_NAMES[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        yield other(attr=_NAMES[node.attr])
    if isinstance(node, ast.Call) and _called(node) == "log" and node.args:
        for sign in (ast.Add(), ast.Sub()):
            shifted = ast.BinOp(node.args[0], sign, ast.Constant(1))
            yield other(args=[shifted, *node.args[1:]])


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def _alone(source: str) -> str:
    return ast.unparse(_definitions(source))


def _definitions(source: str) -> ast.Module:
    """A program without the final check."""
    tree = ast.parse(source)
    kinds = ast.FunctionDef | ast.Import | ast.ImportFrom | ast.Assign | ast.ClassDef
    tree.body = [statement for statement in tree.body if isinstance(statement, kinds)]
    return tree


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """The mutants of a program: what was changed, and the program."""
    tree = _definitions(source)
    seen: Counter[str] = Counter()
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            for place, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.expr) or field in ("annotation", "returns"):
                    continue
                for made in _changed(child):
                    if ast.dump(made) == ast.dump(child):
                        continue
                    text = f"{ast.unparse(child)} -> {ast.unparse(made)}"
                    _put(parent, field, place, made)
                    seen[text] += 1
                    number = f" ({seen[text]})" if seen[text] > 1 else ""
                    yield text + number, ast.unparse(ast.fix_missing_locations(tree))
                    _put(parent, field, place, child)


def _put(parent: ast.AST, field: str, place: int, child: ast.AST) -> None:
    value = getattr(parent, field)
    if isinstance(value, list):
        value[place] = child
    else:
        setattr(parent, field, child)


class _TooLong(BaseException):
    pass


def _stop(*_: object) -> None:
    raise _TooLong


def passes(exercise: exercises.Exercise, before: str, source: str, name: str) -> bool:
    """Whether a program passes all cases of an exercise, in time."""
    names: dict[str, Any] = {"__name__": "mutant"}
    exec(before, names)
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, "<mutant>", "exec"), names)
            return exercise.judge(exercise.outcomes(names[name])).right
    except (Exception, _TooLong):
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def survivors(label: str, every: int = 1) -> tuple[int, list[str]]:
    """How many mutants of an exercise were tried, and those that pass; of many, every n-th."""
    exercise = exercises.find_exercise(label)
    before, source, name = sources(label.rpartition("-")[0])[label]
    assert passes(exercise, before, _alone(source), name), f"the solution of {label} does not pass"
    tried = [mutant for n, mutant in enumerate(mutants(source)) if n % every == 0]
    return len(tried), [what for what, text in tried if passes(exercise, before, text, name)]


def survivors_apart(*labels: str, every: int = 1) -> dict[str, tuple[int, list[str]]]:
    """The same in a process of its own, whose memory is limited."""
    command = [sys.executable, "-m", "tests.exercises.mutation", f"--every={every}", *labels]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr[-2000:])
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def functions() -> list[str]:
    """The exercises whose answer is a function."""
    found = [e for chapter in exercises.chapters() for e in exercises.of_chapter(chapter)]
    return [exercise.name for exercise in found if exercise.cases]


def equivalent() -> dict[str, dict[str, str]]:
    """By exercise, the mutants that cannot be told from the solution, and why."""
    text = Path(__file__).with_name("equivalent.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text) or {}


def main(say: Callable[[str], object] = print) -> None:
    """List survivors as JSON."""
    import resource
    import warnings

    import numpy as np

    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    every = 1
    labels = []
    for word in sys.argv[1:]:
        if word.startswith("--every="):
            every = int(word.partition("=")[2])
        else:
            labels.append(word)
    say(json.dumps({label: survivors(label, every) for label in labels or functions()}, indent=1))


if __name__ == "__main__":
    main()
