"""What made a result: versions, parameters, and a hash of every source that decides a digit."""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from momab.engine.policies.base import Policy, selection_for

PACKAGE = Path(__file__).parents[1]

ENGINE_SOURCES = (
    "_util/validate.py",
    "model/numerics.py",
    "model/instances.py",
    "model/pareto.py",
    "model/metrics.py",
    "engine/**/*.py",
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
    """Name a policy's record, its options and, if it is the user's, its selection function."""
    kind = type(policy)
    names: list[str] = [f.name for f in fields(policy)] if is_dataclass(policy) else []
    options = {name: getattr(policy, name) for name in names}
    description: dict[str, Any] = {"name": policy.name, "options": options}
    if not kind.__module__.startswith("momab.engine."):  # the source hash covers those
        select = selection_for(policy)
        try:
            text = inspect.getsource(select)
        except (OSError, TypeError):
            text = f"{select.__module__}.{select.__qualname__}"
        description["selection"] = hashlib.sha256(text.encode()).hexdigest()
    return json.loads(json.dumps(description))  # type: ignore[no-any-return]
