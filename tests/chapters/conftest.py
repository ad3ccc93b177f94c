"""Fixtures of the chapters' tests."""

from typing import Any

import pytest

from momab.chapters.figures import show


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What a page would have displayed."""
    bundles: list[dict[str, Any]] = []
    monkeypatch.setattr(show, "bundle", bundles.append)
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: bundles.append(bundle))
    return bundles
