"""What a policy of one's own may hold to be compiled, and one sentence where it holds more.

The *plain-loop subset*: numbers, arrays that ``start`` has made, ``for``, ``while``, ``if``,
arithmetic and comparisons, :mod:`math`, functions of :mod:`momab.engine.tools`, and functions of
one's own that are written in the same way.  What lies outside plays all the same, uncompiled, with
the same digits.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from functools import cache
from linecache import getline
from types import FunctionType, ModuleType
from typing import Any

ALLOWED = (
    "allowed are numbers, arrays that start has made, loops, conditions, arithmetic, math, "
    "momab's choose, choose_top, choose_among, word and commit, and functions written like these"
)

_OUTSIDE: dict[type[ast.AST], str] = {
    ast.Try: "try",
    ast.With: "with",
    ast.Lambda: "lambda",
    ast.ListComp: "a list",
    ast.SetComp: "a set",
    ast.DictComp: "a dictionary",
    ast.GeneratorExp: "a generator",
    ast.List: "a list",
    ast.Set: "a set",
    ast.Dict: "a dictionary",
    ast.Yield: "yield",
    ast.JoinedStr: "a string",
    ast.ClassDef: "a class",
    ast.Import: "an import",
    ast.ImportFrom: "an import",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
}


@cache
def outside(kind: type) -> str | None:
    """Return why a class cannot be compiled, in one sentence, or None if nothing is seen."""
    for function in (kind.moved, kind.select):  # type: ignore[attr-defined]
        found = _first_outside(function)
        if found is not None:
            line, what = found
            return _sentence(kind, line, what)
    return None


def _sentence(kind: type, line: int, what: str) -> str:
    return f"{kind.__name__} is not compiled: line {line} has {what}; {ALLOWED}."


def _first_outside(function: FunctionType) -> tuple[int, str] | None:
    """The first line of a function with something outside the subset, and what it is."""
    try:
        lines, first = inspect.getsourcelines(function)
        [definition] = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, TypeError, ValueError, SyntaxError):  # there is no source, or another one
        return None
    self_name = next(iter(inspect.signature(function).parameters), "self")
    inside = [node for node in ast.walk(definition) if node is not definition]
    for node in sorted(inside, key=lambda node: getattr(node, "lineno", 0)):
        what = _OUTSIDE.get(type(node)) or _use_of_self(node, self_name)
        if what is not None:
            return first + int(getattr(node, "lineno", 1)) - 1, what
    return None


def _use_of_self(node: ast.AST, self_name: str) -> str | None:
    """What a node does with ``self`` that only CPython can do."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        name = f"{self_name}.{node.attr}"
        if node.value.id == self_name and isinstance(node.ctx, ast.Store):
            return f"{name} = ... (keep what changes in an array: {name}[0] = ...)"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if isinstance(owner, ast.Name) and owner.id == self_name:
            return f"the call {self_name}.{node.func.attr}() (call a function outside the class)"
    return None


def complaint(kind: type, error: Exception) -> str:
    """Turn what numba says into one sentence with the line of the policy."""
    names = {f.__code__.co_filename for f in (kind.moved, kind.select)}  # type: ignore[attr-defined]
    for file, number in re.findall(r'File "([^"]+)", line (\d+)', str(error)):
        for name in names:
            if name.endswith(file):
                text = getline(name, int(number)).strip() or "something"
                return _sentence(kind, int(number), f"`{text}`, which the compiler does not know")
    return f"{kind.__name__} is not compiled: the compiler does not understand it; {ALLOWED}."


def is_ours(kind: Any) -> bool:
    """Whether a class, a function or a module belongs to this package."""
    home = kind.__name__ if isinstance(kind, ModuleType) else kind.__module__
    return str(home).partition(".")[0] == "momab"
