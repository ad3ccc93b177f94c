"""The chapter on the model: its table, and its conclusions for drawn parameters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from momab.exercises.model import directional_gaps
from momab.model import pareto
from tests.chapters.running import WHOLE, loud, run_chapter
from tests.strategies import mean_vectors


@WHOLE
@pytest.mark.parametrize(("arms", "objectives", "seed"), [(3, 2, 1), (12, 8, 5), (60, 3, 2)])
def test_model_chapter(
    shown: list[dict[str, Any]], arms: int, objectives: int, seed: int, whole: bool
) -> None:
    page = run_chapter("model", whole, arms=arms, objectives=objectives, seed=seed)
    assert page["difference"] < 1e-9
    assert page["slack"] >= 0
    (text,) = (b["text/plain"] for b in shown if "Its leads are" in b["text/plain"])
    assert text.count("$g_{") == min(objectives, 6)
    assert ("and so on;" in text) == (objectives > 6)
    assert not loud(shown)
    if whole:
        assert page["same_set"]
        assert page["same_zeros"]


def test_the_table_says_who_wins_what(shown: list[dict[str, Any]]) -> None:
    page = run_chapter("model")
    for arm, won in zip(page["means"], page["table"]["Best on objective"]):
        listed = [] if won == "none" else [int(j) - 1 for j in won.split(", ")]
        assert [j for j in range(2) if arm[j] == page["means"][:, j].max()] == listed
    assert (page["table"]["Pareto set"] == "yes").tolist() == page["front"].tolist()
    assert page["searched"] == pytest.approx(page["gap"])


@given(mean_vectors())
def test_gap_zero_in_every_direction_is_being_on_the_front(means: Any) -> None:
    """The directions of single objectives decide."""
    for mu in means.reshape(-1, *means.shape[-2:]):
        along = np.array([directional_gaps(mu, axis) for axis in np.eye(mu.shape[1])])
        assert np.array_equal((along == 0).all(axis=0), pareto.front(mu))


def test_a_shared_first_place_can_be_safe() -> None:
    assert pareto.front(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])).all()
