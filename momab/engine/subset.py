"""What a policy of one's own may hold to be compiled, and one sentence where it holds more.

The *plain-loop subset*: numbers, arrays that ``start`` has made, ``for``, ``while``, ``if``,
arithmetic and comparisons, :mod:`math`, functions of :mod:`momab.engine.tools`, and functions of
one's own that are written in the same way.  What lies outside plays all the same, uncompiled.

Numbers are added in a loop where the last digit matters: NumPy adds eight or more of an array in
another order than the compiler does.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from functools import cache
from linecache import getline
from os.path import abspath
from types import FunctionType
from typing import Any

from momab.engine.reached import is_ours, names_used, reached

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
def outside(kind: Any) -> str | None:
    """Return why a class cannot be compiled, in one sentence, or None if nothing is seen."""
    for function in reached(kind.select, kind.moved):
        if function in reached(*(value for _, value in names_used(function))):
            line = function.__code__.co_firstlineno
            return _sentence(kind, line, f"{function.__name__}, which calls itself")
        found = _first_outside(function) if _is_of(kind, function) else None
        if found is not None:
            return _sentence(kind, *found)
    return None


def _is_of(kind: Any, function: FunctionType) -> bool:
    """Whether a function is from where the class or one of its bases is, and not ours."""
    homes = {base.__module__ for base in kind.__mro__}
    return function.__module__ in homes and not is_ours(function)


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
        what = _OUTSIDE.get(type(node)) or _use(node, self_name)
        if what is not None:
            return first + int(getattr(node, "lineno", 1)) - 1, what
    return None


def _use(node: ast.AST, self_name: str) -> str | None:
    """What a node does with ``self`` that only CPython can do, or does by chance."""
    call = isinstance(node, ast.Call)
    what: Any = node.func if isinstance(node, ast.Call) else node
    owner = what.value if isinstance(what, ast.Attribute) else None
    if not isinstance(owner, ast.Name) or owner.id != self_name:
        chance = not call and "random" in (getattr(what, "attr", ""), getattr(what, "id", ""))
        return "random numbers that no seed repeats (word and choose repeat)" if chance else None
    name = f"{self_name}.{what.attr}"
    if call:
        return f"the call {name}() (call a function outside the class)"
    if what.attr.startswith("_") or "__" in what.attr:
        return f"{name} (begin the name with a letter, without __ in it)"
    if isinstance(what.ctx, ast.Store):
        return f"{name} = ... (keep what changes in an array: {name}[0] = ...)"
    return None


def complaint(kind: Any, error: Exception) -> str:
    """Turn what numba says into one sentence with the line of the policy."""
    own = [function for function in reached(kind.select, kind.moved) if _is_of(kind, function)]
    files = {function.__code__.co_filename for function in own}
    for file, line in re.findall(r'File "([^"]+)", line (\d+)', str(error)):
        for name in files & {file, abspath(file)}:  # numba may leave out the working folder
            text = getline(name, int(line)).strip() or "something"
            return _sentence(kind, int(line), f"`{text}`, which the compiler does not know")
    return f"{kind.__name__} is not compiled: the compiler does not understand it; {ALLOWED}."
