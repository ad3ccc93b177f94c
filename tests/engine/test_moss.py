"""MOSS: its index, and what it looks at."""

from __future__ import annotations

import math

import numpy as np
import pytest

from momab.engine.policies.moss import MOSS
from momab.model import instances
from tests.engine.drawn import played, state_of

MEANS = [[0.5, 0.9], [0.7, 0.3], [0.2, 0.1]]


@pytest.mark.parametrize(("number", "means", "seen"), [("average", [0.7, 0.5, 0.15], 2),
                                                       ("first", [0.5, 0.7, 0.2], 1)])  # fmt: skip
def test_the_index(number: str, means: list[float], seen: int) -> None:
    counts = [10, 40, 500]
    player = state_of(MOSS(number), MEANS, counts, horizon=900)
    for index, m, n in zip(player.index.tolist(), means, counts):
        spread = max(math.log(900 / (3 * n)), 0.0)
        assert index == pytest.approx(m + math.sqrt(4 * (1 / (4 * seen)) * spread / n))
    assert player.index[2] == pytest.approx(means[2])  # more pulls than T / K


def test_the_first_objective_is_all_that_it_looks_at() -> None:
    means = np.array([[0.6, 0.1], [0.4, 0.9]])
    swapped = means.copy()
    swapped[:, 1] = means[::-1, 1]
    arms = [
        played(instances.bernoulli(mu), MOSS("first"), 400, 1, 0, 3, (), False, True).arms
        for mu in (means, swapped)
    ]
    assert (arms[0] == arms[1]).all()


def test_with_independent_objectives_the_average_loses_less() -> None:
    instance = instances.bernoulli([[0.6] * 16, *[[0.5] * 16] * 4])
    lost = {
        number: played(instance, MOSS(number), 1_000, 1, 0, 20).pulls[:, 1:].sum()
        for number in ("average", "first")
    }
    assert lost["average"] < 0.5 * lost["first"]
