"""Setuptools as the build backend, without what it leaves beside the sources.

``pip wheel .`` and ``pip install .`` build in this folder; afterwards it is as it was before.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

_LEFT = ("_build/wheel", "_build", "momab.egg-info")  # each before the folder around it


@contextmanager
def _tidy() -> Iterator[None]:
    new = [Path(name) for name in _LEFT if not Path(name).exists()]
    try:
        yield
    finally:
        for folder in [*new, Path(__file__).parent / "__pycache__"]:
            shutil.rmtree(folder, ignore_errors=True)


def build_wheel(*given: Any, **named: Any) -> str:
    """Build a wheel."""
    with _tidy():
        return build_meta.build_wheel(*given, **named)


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
