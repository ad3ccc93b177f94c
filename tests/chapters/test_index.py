"""The opening page: what it plays and what it concludes."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from momab.chapters import index
from tests.chapters.running import loud, run_chapter


def test_the_page_concludes_what_it_plays(
    shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # so few runs are not worth other processes
    page = run_chapter("index", horizon=2000, runs=5, arms=3, seed=7)
    points = page["points"]
    assert len(points) == len(index.ANSWER_PROBLEMS) * len(index.ANSWER_LEADS)
    assert (points["mean_low"] <= points["mean"]).all()
    assert (points["mean"] <= points["mean_high"]).all()
    # objective 2 is the same problem at every lead
    easy = points[points["instance"].str.startswith("easy|")]
    assert np.ptp(easy["mean"]) == 0
    assert f"about {page['both']:,.0f}," in shown[0]["text/markdown"]
    assert not loud(shown)


def test_costs_are_read_at_the_ends() -> None:
    names = [f"{p}|{lead}" for p in index.ANSWER_PROBLEMS for lead in index.ANSWER_LEADS]
    points = pd.DataFrame({"instance": names, "mean": np.arange(1.0, len(names) + 1)})
    hard, both, ratio = index.answer_costs(points)
    assert (hard, both) == (7.0, 21.0)
    assert ratio == pytest.approx(7.0)


def test_the_card_has_the_size_that_previews_want() -> None:
    assert tuple(index.social_card().get_size_inches() * 100) == (1200, 630)
