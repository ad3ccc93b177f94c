"""The chapter that compares our policies with other programs."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.model import pareto
from momab.study import smpybandits
from tests.chapters.running import loud, run_chapter


def test_other_programs_find_the_same_regret(shown: list[dict[str, Any]]) -> None:
    page = run_chapter("somebody-elses-code", loops=10, horizon=300)
    one = page["one"]
    agree = (one["low"] <= 0) & (one["high"] >= 0)
    assert agree[["UCB", "klUCB", "IMED with kl"]].all()
    # the index of its IMED lacks the divergence: the arm with the fewest pulls is pulled
    assert one.loc["IMED", "theirs"] == pytest.approx(page["in_turn"], rel=0.02)
    assert not agree["IMED"]
    assert page["alike"]
    assert not loud(shown)
    for sums in np.random.default_rng(2).integers(0, 4, (50, 6, 2)).astype(float):
        front = page["undominated"](sums)
        np.testing.assert_array_equal(front, np.flatnonzero(pareto.front(sums)))
        bounds = page["optimistic"](sums, np.full((6, 1), 4.0), 24, 3, None)
        scale = ParetoUCB1(6.0**0.25).q
        np.testing.assert_allclose(bounds, sums / 4 + np.sqrt(2 * np.log(24 * scale) / 4))


def test_as_many_runs_are_recorded_as_were_fixed() -> None:
    recorded = pd.read_csv(smpybandits.RESULTS)
    assert recorded.groupby("policy")["run"].count().to_dict() == smpybandits.RUNS
    assert (recorded["horizon"] == smpybandits.HORIZON).all()
    for _, part in recorded.groupby("policy"):
        assert part["run"].tolist() == list(range(len(part)))
