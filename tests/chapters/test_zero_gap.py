"""The chapter on zero gaps: its intervals, and its conclusions for drawn parameters."""

from typing import Any

import numpy as np
import pytest

from tests.chapters.running import WHOLE, loud, run_chapter


@WHOLE
@pytest.mark.parametrize(("arms", "objectives", "seed"), [(2, 1, 4), (2, 3, 1), (8, 4, 9)])
def test_zero_gap_chapter(
    shown: list[dict[str, Any]], arms: int, objectives: int, seed: int, whole: bool
) -> None:
    page = run_chapter("zero-gap", whole, arms=arms, objectives=objectives, seed=seed, draws=200)
    trapped, inconsistent = page["rates"].to_numpy().T
    # an inconsistent instance has a trapped arm; with two arms the converse holds
    assert (inconsistent <= trapped + 1e-12).all()
    if arms == 2:
        assert np.allclose(inconsistent, trapped)
    if objectives == 1:
        assert trapped.max() == 0
    assert page["gap"].tolist() == [0, 0]
    if whole:
        assert (page["stored"] == 0).all(), "whoever is stored wins alone"
        assert abs(page["drawn"] - page["exact"]) < 5 * page["error"]
    assert page["dominated"].tolist() == [False, True]
    assert page["tempting"].tolist() == [0, 1]
    assert not loud(shown)
