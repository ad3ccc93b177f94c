"""What the text of a policy reaches: the functions that it calls, the values that it reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

Instead = Mapping[Any, Any] | None
Members = Sequence[tuple[str, Any]]  # names and what they stand for

_PLAIN = (bool, int, float, str, bytes, tuple, list, dict, np.generic)


def names_in(code: CodeType) -> list[str]:
    """The names of globals and attributes in a piece of code and in its inner functions."""
    inner = [names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return list(dict.fromkeys(sum(inner, list(code.co_names))))


def names_used(function: FunctionType, members: Members = ()) -> Iterator[tuple[str, Any]]:
    """What a function names: globals, what is in modules, members of ``self``, free variables."""
    names = names_in(function.__code__)
    yield from (member for member in members if member[0] in names)
    for name in names:
        value = function.__globals__.get(name)
        yield name, value
        if isinstance(value, ModuleType):
            # ours import a name when it is asked for; asking others may warn
            held = [inner for inner in names if is_ours(value) or inner in vars(value)]
            yield from ((inner, getattr(value, inner, None)) for inner in held)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        yield name, cell.cell_contents


def is_ours(thing: Any) -> bool:
    """Whether a class, a function or a module belongs to this package."""
    home = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
    return str(home).partition(".")[0] == "momab"


def reached(*functions: Any, instead: Instead = None, members: Members = ()) -> list[FunctionType]:
    """Functions and all that they call, each once; ``instead`` maps some of them to others."""
    found: list[FunctionType] = []
    todo = list(functions)
    while todo:
        function = todo.pop()
        if isinstance(function, FunctionType):
            function = (instead or {}).get(function, function)
            if function not in found:
                found.append(function)
                todo += [value for _, value in names_used(function, members)]
    return found


def is_numeric(value: Any) -> bool:
    """Whether the compiler can use a value: a number or an array of numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, (bool, int, float, np.number, np.bool_))


def members_of(kind: type) -> list[tuple[str, Any]]:
    """What a class and its bases hold, theirs first; methods and properties as functions."""
    return [
        (name, getattr(value, "fget", getattr(value, "__func__", value)))
        for base in reversed(kind.__mro__)
        for name, value in vars(base).items()
    ]


def code_digest(
    *functions: Any, also: str = "", instead: Instead = None, members: Members = ()
) -> str:
    """Digest the code of functions, of all that they call, and the values that they read."""
    sha = hashlib.sha256(also.encode())
    for function in reached(*functions, instead=instead, members=members):
        _feed_code(sha, function.__code__)
        for name, value in names_used(function, members):
            if isinstance(value, np.ndarray):
                value = (value.dtype.str, value.shape, value.tobytes())
            if isinstance(value, _PLAIN):
                sha.update(repr((name, value)).encode())
    return sha.hexdigest()[:16]


def _feed_code(sha: Any, code: CodeType) -> None:
    sha.update(code.co_code + repr((code.co_names, code.co_varnames)).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _feed_code(sha, constant)
        else:
            sha.update(repr(constant).encode())
