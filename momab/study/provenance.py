"""What made a result: versions, parameters, and a hash of every source that decides a digit."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from momab.engine.policies.base import Policy
from momab.engine.reached import code_digest, members_of

PACKAGE = Path(__file__).parents[1]

ENGINE_SOURCES = (
    "_util/validate.py",
    "model/numerics.py",
    "model/instances.py",
    "model/pareto.py",
    "model/metrics.py",
    "engine/**/*.py",
    "study/provenance.py",
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
        members = [member for member in members_of(kind) if member[0] not in options]
        description["code"] = code_digest(kind.start, kind.moved, kind.select, members=members)
    return json.loads(json.dumps(description, default=_as_json))  # type: ignore[no-any-return]


def _as_json(option: Any) -> Any:
    return option.tolist() if isinstance(option, (np.ndarray, np.generic)) else repr(option)
