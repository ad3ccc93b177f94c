"""Shared fixtures and settings."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the reference tables and data, which lies beside the repository."""
    folder = Path(os.environ.get("MOMAB_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"skipped: needs the folder {folder.name!r} beside the repository")
    return folder
