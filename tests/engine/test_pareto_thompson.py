"""Pareto Thompson sampling: its draws have the law that they should have."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import momab
from momab.engine import loop
from momab.engine.policies import pareto_thompson
from momab.engine.policies.pareto_thompson import ParetoThompson, beta_draw
from momab.engine.streams import Coins, coin_stream, philox
from momab.model import instances

SHAPES = [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (1.5, 7.25), (40.0, 3.0), (400.0, 600.0)]


def draws(p: float, q: float, number: int, seed: int = 7) -> NDArray[np.float64]:
    """Draw from Beta(p, q) once per round, at place 3 of 5."""
    coins = Coins(ParetoThompson.name, seed, 0)
    values = np.zeros(number)
    for t in range(number):
        coins.t = t
        values[t] = beta_draw(p, q, coins, 3, 5)
    return values


@pytest.mark.parametrize(("p", "q"), SHAPES)
def test_the_draws_are_beta(p: float, q: float) -> None:
    stats = pytest.importorskip("scipy.stats", reason="skipped: needs scipy")
    values = draws(p, q, 5000)
    assert stats.kstest(values, stats.beta(p, q).cdf).pvalue > 0.01
    assert values.mean() == pytest.approx(p / (p + q), abs=4 * values.std() / 5000**0.5)


def kernel_draws(rounds: int) -> tuple[NDArray[np.float64], list[NDArray[np.float32]]]:
    """The draws of the kernel for all SHAPES in so many rounds, and its bounds of them."""
    from momab.engine import _kernels

    u64, n = np.uint64, len(SHAPES)
    key = u64(5), u64(coin_stream("test")), u64(11), u64(0)
    p, q = np.array(SHAPES).T
    exact = np.zeros((rounds, n))
    for t in range(rounds):
        for i in range(n):
            exact[t, i] = _kernels._beta_draw(p[i] - 1, p[i] + q[i] - 2, i, n, t, *key)
    shapes = np.zeros((4, n), dtype=np.float32)
    for i in range(n):
        _kernels._set_shapes(shapes, i, p[i] - 1, q[i] - 1)
    points = np.zeros((4, rounds * n), dtype=np.float32)
    _kernels._normals_ahead(n, 0, _kernels._thompson_plan(rounds * n), points, *key)
    bounds = [np.zeros((rounds, n), dtype=np.float32) for _ in range(2)]
    for t in range(rounds):
        left = _kernels._bound_draws(shapes, points, t * n, bounds[0][t], bounds[1][t])
        assert left == (bounds[0][t] < 0).sum()
    return exact, bounds


def test_many_draws_of_the_kernel_are_beta() -> None:
    pytest.importorskip("numba", reason="skipped: needs numba")
    stats = pytest.importorskip("scipy.stats", reason="skipped: needs scipy")
    drawn, _ = kernel_draws(20_000)
    for i, (p, q) in enumerate(SHAPES):
        assert stats.kstest(drawn[:, i], stats.beta(p, q).cdf).pvalue > 0.005
    # Coordinates of one round are independent, and so are rounds.
    assert np.abs(np.corrcoef(drawn.T) - np.eye(len(SHAPES))).max() < 0.03
    assert abs(np.corrcoef(drawn[1:, 0], drawn[:-1, 0])[0, 1]) < 0.03


def test_the_kernel_bounds_its_draws() -> None:
    pytest.importorskip("numba", reason="skipped: needs numba")
    exact, (low, high) = kernel_draws(20_000)
    sure = low >= 0
    assert (low <= exact)[sure].all()
    assert (high >= exact)[sure].all()
    assert (high - low)[sure].max() < 1e-4
    assert sure[:, -1].mean() > 0.99  # many pulls leave little to the exact computation
    # An attempt that is taken for sure is the one that the plain loop takes, to many digits.
    middle = (low.astype(float) + high) / 2
    assert np.abs(middle - exact)[sure].max() < 2e-5


def test_every_attempt_has_its_own_block() -> None:
    seen: list[int] = []

    class Noted(Coins):
        def word(self, slot: int) -> int:
            seen.append(slot)
            return super().word(slot)

    places, coins = 6, Noted(ParetoThompson.name, 3, 0)
    for coins.t in range(50):
        seen.clear()
        for place in range(places):
            beta_draw(1.0, 1.0, coins, place, places)
        assert len(set(seen)) == len(seen)  # nothing is used twice
        assert min(seen) >= 4  # slot 0 is the choice's
        assert all(seen[i] % 4 == 0 for i in range(0, len(seen), 4))
    assert any(slot >= 4 * (1 + places) for slot in seen)


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
    for i in range(4000):
        drawn = pareto_thompson._attempt(p, q, words[:, i].tolist())
        assert (drawn is not None) == taken[i]
        if drawn is not None:
            assert drawn == pytest.approx(x[i] / (x[i] + y[i]), rel=1e-13)
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
