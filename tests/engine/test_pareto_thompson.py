"""Pareto Thompson sampling: its draws have the law that they should have."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import momab
from momab.engine import loop, streams
from momab.engine.policies import pareto_thompson
from momab.engine.policies.pareto_thompson import ParetoThompson, beta_draw, gamma_draw
from momab.engine.streams import Coins, coins_for, philox
from momab.model import instances

SHAPES = [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (1.5, 7.25), (40.0, 3.0), (400.0, 600.0)]


def draws(p: float, q: float, number: int, seed: int = 7) -> NDArray[np.float64]:
    """Draw from Beta(p, q) once per round, at place 3 of 5."""
    coins = coins_for("pareto-thompson", seed)
    values = np.zeros(number)
    for t in range(number):
        coins.t[0] = t
        values[t] = beta_draw(p, q, coins, 3, 5)
    return values


@pytest.mark.parametrize(("p", "q"), SHAPES)
def test_the_draws_are_beta(p: float, q: float) -> None:
    stats = pytest.importorskip("scipy.stats", reason="skipped: needs scipy")
    values = draws(p, q, 5000)
    assert stats.kstest(values, stats.beta(p, q).cdf).pvalue > 0.01
    assert values.mean() == pytest.approx(p / (p + q), abs=4 * values.std() / 5000**0.5)


def test_draws_of_one_round_are_independent_and_so_are_rounds() -> None:
    drawn = np.zeros((4000, len(SHAPES)))
    for t in range(len(drawn)):
        coins = coins_for("test", 5, 11, t)
        drawn[t] = [beta_draw(p, q, coins, i, len(SHAPES)) for i, (p, q) in enumerate(SHAPES)]
    assert np.abs(np.corrcoef(drawn.T) - np.eye(len(SHAPES))).max() < 0.06
    assert abs(np.corrcoef(drawn[1:, 0], drawn[:-1, 0])[0, 1]) < 0.06


def test_every_attempt_has_its_own_block(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def noted(coin: Coins, group: int) -> tuple[int, int, int, int]:
        seen.append(group)
        return streams.four_words(coin, group)

    monkeypatch.setattr(pareto_thompson, "four_words", noted)
    places = 6
    for t in range(50):
        seen.clear()
        for place in range(places):
            beta_draw(1.0, 1.0, coins_for("pareto-thompson", 3, 0, t), place, places)
        assert len(set(seen)) == len(seen)  # nothing is used twice
        assert min(seen) >= 1  # slot 0 is the choice's
    assert any(group >= 1 + places for group in seen)


def test_an_attempt_is_the_polar_method_and_marsaglia_tsang() -> None:
    # The same formulas with NumPy's functions: the own logarithm is exact to the last digits.
    words = philox((np.arange(4000, dtype=np.uint64), 2, 0, 5), 1)
    p, q = 2.5, 9.0
    u, v = ((2.0 * words[:2] + 1) / 2**32) - 1
    s = u * u + v * v
    with np.errstate(invalid="ignore", divide="ignore"):
        normal = np.array([u, v]) * np.sqrt(-2 * np.log(s) / s)
        e = np.array([[p], [q]]) - 1 / 3
        g = (1 + normal / np.sqrt(9 * e)) ** 3
        w = (words[2:] + 0.5) / 2**32
        taken = (np.log(w) < normal**2 / 2 + e * (1 - g + np.log(g))).all(axis=0) & (s < 1)
    x, y = e * g
    for i in np.flatnonzero(s < 1):
        one = gamma_draw(p, float(normal[0, i]), int(words[2, i]))
        two = gamma_draw(q, float(normal[1, i]), int(words[3, i]))
        assert (one > 0 and two > 0) == taken[i]
        if taken[i]:
            assert one / (one + two) == pytest.approx(x[i] / (x[i] + y[i]), rel=1e-12)
    assert 0.7 < taken.mean() < np.pi / 4


def test_the_squeeze_accepts_only_what_the_logarithm_accepts() -> None:
    x = np.linspace(-2.3, 2.3, 2001)  # beyond, the squeeze is negative
    for shape in (1.0, 1.7, 5.0, 300.0):
        e = shape - 1 / 3
        root = 1 + x / np.sqrt(9 * e)
        g = np.where(root > 0, root, np.nan) ** 3
        exact = np.exp(x**2 / 2 + e * (1 - g + np.log(g)))
        squeeze = 1 - pareto_thompson.SQUEEZE * x**4
        assert (squeeze <= exact * (1 + 1e-12))[(squeeze > 0) & (root > 0)].all()


def test_it_finds_the_front_and_spreads_over_it() -> None:
    instance = instances.bernoulli([[0.9, 0.2], [0.2, 0.9], [0.1, 0.1], [0.15, 0.05]])
    block = loop.play_block(instance, ParetoThompson(), 3000, 4, 0, 5)
    assert block.pulls[:, 2:].max() < 100
    assert block.pulls[:, :2].min() > 1200


def test_it_learns() -> None:
    results = momab.simulate(
        momab.synthetic(delta=0.1, m=2, K=6), ParetoThompson(), horizon=4000, runs=4, seed=2
    )
    assert results.runs["pareto_regret"].mean() < 0.02 * 4000
