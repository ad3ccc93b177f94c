"""What made a result: versions, parameters, and a hash of every source that decides a digit."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from momab.engine.policies.base import Policy

PACKAGE = Path(__file__).parents[1]

ENGINE_SOURCES = (
    "_util/validate.py",
    "model/numerics.py",
    "model/instances.py",
    "model/pareto.py",
    "model/metrics.py",
    "engine/**/*.py",
    "study/results.py",
    "study/simulate.py",
    "study/store.py",
)
"""The sources that decide what a run does; a store remembers their hash."""


def engine_sources(package: Path = PACKAGE) -> list[Path]:
    """The files of :data:`ENGINE_SOURCES`, in order."""
    return sorted({path for pattern in ENGINE_SOURCES for path in package.glob(pattern)})


def source_hash(package: Path = PACKAGE) -> str:
    """A hash of the source files that decide what a run does."""
    sha = hashlib.sha256()
    for path in engine_sources(package):
        # line endings are the checkout's business
        text = path.read_bytes().replace(b"\r\n", b"\n")
        sha.update(path.relative_to(package).as_posix().encode() + text)
    return sha.hexdigest()[:16]


def provenance_versions() -> dict[str, str]:
    """The versions and the source that decide what a run does."""
    return {
        "momab": _version("momab"),
        "source": source_hash(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": _version("numba"),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def describe_policy(policy: Policy) -> dict[str, Any]:
    """Name a policy, its options and, if it is the user's, a digest of its code."""
    kind = type(policy)
    names: list[str] = [f.name for f in fields(policy)] if is_dataclass(policy) else []
    options = {name: getattr(policy, name) for name in names}
    description: dict[str, Any] = {"name": policy.name, "options": options}
    if not kind.__module__.startswith("momab.engine."):  # the source hash covers those
        numbers = {name: value for name, value in class_values(kind) if name not in options}
        description["code"] = code_digest(kind.start, kind.moved, kind.select, also=repr(numbers))
    return json.loads(json.dumps(description))  # type: ignore[no-any-return]


def class_values(kind: type) -> list[tuple[str, Any]]:
    """The numbers and arrays that a class and its bases hold, by name."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        found.update(vars(base))
    return sorted((name, found[name]) for name in found if is_numeric(found[name]))


def is_numeric(value: Any) -> bool:
    """Whether the compiler can use a value: a number or an array."""
    return isinstance(value, (bool, int, float, np.number, np.bool_, np.ndarray))


def code_digest(*functions: Any, also: str = "", instead: Mapping[Any, Any] | None = None) -> str:
    """Digest the code of functions, of all that they call, and the constants that they read.

    ``instead`` maps functions to those that take their places.
    """
    sha, seen, todo = hashlib.sha256(also.encode()), set(), list(functions)
    while todo:
        function = todo.pop()
        function = (instead or {}).get(function, function)
        if function in seen or not isinstance(function, FunctionType):
            continue
        seen.add(function)
        _feed_code(sha, function.__code__)
        names = function.__code__.co_names
        for name in names:
            value = function.__globals__.get(name)
            if isinstance(value, FunctionType):
                todo.append(value)
            elif isinstance(value, ModuleType):
                todo += [vars(value).get(attribute) for attribute in names]
            elif is_numeric(value) or isinstance(value, (str, tuple)):
                sha.update(repr((name, value)).encode())
    return sha.hexdigest()[:16]


def _feed_code(sha: Any, code: CodeType) -> None:
    sha.update(code.co_code + repr((code.co_names, code.co_varnames)).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _feed_code(sha, constant)
        else:
            sha.update(repr(constant).encode())
