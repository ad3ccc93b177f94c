"""The chapter on the model: its table, and its conclusions for drawn parameters."""

from typing import Any

import numpy as np
import pytest

from momab.chapters import model
from momab.model import pareto
from tests.chapters.running import WHOLE, loud, run_chapter


@WHOLE
@pytest.mark.parametrize(("arms", "objectives", "seed"), [(3, 2, 1), (12, 8, 5), (60, 3, 2)])
def test_model_chapter(
    shown: list[dict[str, Any]], arms: int, objectives: int, seed: int, whole: bool
) -> None:
    page = run_chapter("model", whole, arms=arms, objectives=objectives, seed=seed)
    assert page["difference"] < 1e-9
    assert page["slack"] >= 0
    (text,) = (b["text/plain"] for b in shown if "The leads are" in b["text/plain"])
    assert text.count("$g_{") == min(objectives, 6)
    assert ("and so on;" in text) == (objectives > 6)
    assert not loud(shown)
    if whole:
        assert page["same_set"]
        assert page["same_zeros"]


def test_the_table_says_who_wins_what() -> None:
    means = np.array([[0.9, 0.2, 0.9], [0.1, 0.8, 0.1], [0.05, 0.1, 0.05]])
    table = model.gap_table(means, pareto.gaps(means))
    assert table["Best on objective"].tolist() == ["1, 3", "2", "none"]
    assert table["Pareto set"].tolist() == ["yes", "yes", "no"]
    assert table["Gap, closed form"].tolist() == table["Gap, by search"].tolist()
