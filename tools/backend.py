"""Setuptools as the build backend, without what it leaves beside the sources.

``pip wheel .`` and ``pip install .`` build in this folder; afterwards it is as it was before.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

_LEFT = ("_build/wheel", "momab.egg-info")


@contextmanager
def _tidy() -> Iterator[None]:
    new = [Path(name) for name in _LEFT if not Path(name).exists()]
    around = Path("_build")
    around_is_new = not around.exists()
    try:
        yield
    finally:
        for folder in [*new, Path(__file__).parent / "__pycache__"]:
            shutil.rmtree(folder, ignore_errors=True)
        if around_is_new:
            with suppress(OSError):  # it is not empty: somebody builds there meanwhile
                around.rmdir()


def build_wheel(*given: Any, **named: Any) -> str:
    """Build a wheel."""
    with _tidy():
        return build_meta.build_wheel(*given, **named)


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Install the checkout itself, by a path that type checkers and editors follow, too."""
    settings = {"editable_mode": "compat", **(config_settings or {})}
    return build_meta.build_editable(wheel_directory, settings, metadata_directory)


def build_sdist(*given: Any, **named: Any) -> str:
    """Build a source distribution."""
    with _tidy():
        return build_meta.build_sdist(*given, **named)


def prepare_metadata_for_build_wheel(*given: Any, **named: Any) -> str:
    """Write the metadata of the wheel."""
    with _tidy():
        return build_meta.prepare_metadata_for_build_wheel(*given, **named)


def get_requires_for_build_wheel(*given: Any, **named: Any) -> list[str]:
    """Say what building needs."""
    with _tidy():
        return build_meta.get_requires_for_build_wheel(*given, **named)


def get_requires_for_build_sdist(*given: Any, **named: Any) -> list[str]:
    """Say what building needs."""
    with _tidy():
        return build_meta.get_requires_for_build_sdist(*given, **named)
