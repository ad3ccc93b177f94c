"""Width-guided's relatives: kl certificates on the same path, and epochs without a horizon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import rel_entr

from momab.engine import loop, policies
from momab.engine.driver import RunBlock
from momab.engine.policies.anytime import AnytimeWidthGuided, epoch_end
from momab.engine.policies.kl_ucb import bisected_index
from momab.engine.policies.width_guided import (
    OBJECTIVE_RULES,
    WidthGuided,
    kl_apart,
)
from momab.engine.tools import UNTIL
from momab.model import instances
from tests.engine.drawn import SOURCES, assert_same, crowd, played, random_instance


def low_means(rng: np.random.Generator, K: int, d: int, most: float) -> instances.Instance:
    """Bernoulli arms that hardly ever pay, or hardly ever fail to."""
    means = most * rng.random((K, d))
    return instances.bernoulli(means if rng.random() < 0.7 else 1.0 - means)


def both(*common: Any) -> RunBlock:
    slow = played(*common, engine="python")
    if loop.is_compiled(common[1]):
        assert_same(played(*common, engine="numba"), slow)
    return slow


# kl intervals.


def kl(p: float, x: Any) -> Any:
    return rel_entr(p, x) + rel_entr(1 - p, 1 - x)


def kl_interval(mean: float, n: int, level: float) -> tuple[float, float]:
    """{x: n kl(mean, x) <= level}, each end to within 1e-9 from inside."""
    upper = bisected_index(mean, n, level)
    return 1.0 - bisected_index(1.0 - mean, n, level), upper


def test_a_kl_interval_is_the_level_set_and_lies_inside_hoeffdings() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        n, level = int(rng.integers(1, 400)), float(rng.uniform(0.1, 60))
        p = float(rng.choice([rng.random(), 0.0, 1.0, 0.5]))
        lower, upper = kl_interval(p, n, level)
        assert lower <= p <= upper
        inside = np.linspace(lower, upper, 7)[1:-1]
        assert (n * kl(p, inside) <= level * (1 + 1e-9)).all()
        for x in (lower - 2e-9, upper + 2e-9):
            assert not 0 < x < 1 or n * kl(p, x) > level * (1 - 1e-12)
        radius = np.sqrt(level / (2 * n))
        assert p - radius - 1e-9 <= lower
        assert upper <= p + radius + 1e-9


def test_intervals_are_apart_when_their_ends_say_so() -> None:
    rng = np.random.default_rng(2)
    verdicts = set()
    for _ in range(3000):
        level, scale = float(rng.uniform(1, 60)), float(rng.choice([1.0, 0.1, 0.01]))
        q, p = np.sort(scale * rng.random(2)).tolist()
        n, m = (int(10 ** rng.uniform(0, 5)) for _ in range(2))
        arms = [(x, float(np.sqrt(level / (2 * k))), k) for x, k in ((p, n), (q, m))]
        apart = kl_apart(arms[0], arms[1], level)
        between = kl_interval(p, n, level)[0] - kl_interval(q, m, level)[1]
        assert abs(between) < 1e-8 or apart == (between > 0)
        verdicts.add(apart)
    assert verdicts == {False, True}


# kl certificates.


def test_the_variants_have_names_of_their_own_and_share_coins() -> None:
    for rule in OBJECTIVE_RULES:
        one, two = WidthGuided(2.0, rule), WidthGuided(2.0, rule, "kl")
        assert policies.coins_of(one) == policies.coins_of(two) == one.name
        assert two.name == f"{one.name}-kl"
        assert two.label != one.label
    assert WidthGuided(certificate="kl").name == "width-guided-kl"
    assert WidthGuided(certificate="kl").label == "Width-guided (kl)"
    assert WidthGuided(objective_rule="random", certificate="kl").label == (
        "Width-guided (random, kl)"
    )


def compare_paths(rng: np.random.Generator, instance: instances.Instance, T: int) -> list[int]:
    """Play one path with both certificates, and return how much earlier kl stops, per run."""
    c = float(rng.choice([0.01, 0.05, 0.2, 1.0, 2.0]))
    rule = str(rng.choice(OBJECTIVE_RULES))
    common = T, int(rng.integers(2**63)), 0, 3, (), False, True
    one = played(instance, WidthGuided(c, rule), *common)
    two = played(instance, WidthGuided(c, rule, "kl"), *common)
    earlier = []
    for row in range(3):
        hoeffding = one.cert_round[row] if one.cert_round[row] >= 0 else T
        stop = two.cert_round[row] if two.cert_round[row] >= 0 else T
        assert stop <= hoeffding
        np.testing.assert_array_equal(one.arms[row, :stop], two.arms[row, :stop])
        earlier.append(int(hoeffding - stop))
    return earlier


@pytest.mark.parametrize("source", SOURCES)
def test_on_every_path_kl_stops_no_later(source: str) -> None:
    rng = np.random.default_rng([3, SOURCES.index(source)])
    earlier: list[int] = []
    for _ in range(60):
        earlier += compare_paths(rng, random_instance(rng, source), 2000)
    assert max(earlier) > 0


def test_low_means_stop_much_earlier() -> None:
    rng = np.random.default_rng(4)
    earlier: list[int] = []
    for _ in range(40):
        instance = low_means(rng, int(rng.integers(2, 9)), int(rng.integers(1, 4)), 0.15)
        earlier += compare_paths(rng, instance, 20_000)
    assert np.mean(np.array(earlier) > 0) > 0.5


@pytest.mark.parametrize("c", [1e-25, 1e-12, 1e-5, 1e3, 1e9, 1e15])
def test_extreme_coefficients_with_kl(c: float) -> None:
    for policy in (WidthGuided(c, certificate="kl"), AnytimeWidthGuided(c)):
        both(crowd(5, 3, 7), policy, 500, 1, 0, 1, [300], True, True)


def test_the_widest_certifying_objective_is_chosen() -> None:
    means = np.full((4, 6), 0.1)
    means[0] = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    means[1] = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    instance = instances.bernoulli(means)
    block = both(instance, WidthGuided(0.05, certificate="kl"), 300, 8, 0, 30, (), False, True)
    assert (block.cert_round >= 0).all()
    assert set(block.cert_arm.tolist()) == {0, 1}
    assert len(set(block.cert_objective.tolist())) > 2


# Anytime.


def test_epochs_end_at_repeated_squares() -> None:
    assert [epoch_end(t) for t in (0, 1, 2, 3, 4, 15, 16, 255, 256, 65_535, 65_536)] == [
        2, 2, 4, 4, 16, 16, 256, 256, 65_536, 65_536, 2**32,
    ]  # fmt: skip
    for t in range(3, 5000):
        assert t < epoch_end(t - 1) <= t**2 or epoch_end(t - 1) == t <= t**2


@pytest.mark.parametrize("engine", ["python", "auto"])
def test_the_horizon_is_never_used(engine: str) -> None:
    rng = np.random.default_rng(6)
    for i in range(2 if engine == "python" else 24):
        instance = random_instance(rng, SOURCES[i % 4])
        policy, seed = (
            AnytimeWidthGuided(float(rng.choice([0.02, 0.3, 2.0]))),
            int(rng.integers(99)),
        )
        longest = 900
        block = played(instance, policy, longest, seed, 0, 2, arms=True, engine=engine)
        for T in (instance.K, 60, 255, 256, 257, 700):
            short = played(
                instance, policy, max(T, instance.K), seed, 0, 2, arms=True, engine=engine
            )
            np.testing.assert_array_equal(short.arms, block.arms[:, : short.arms.shape[1]])


def test_within_one_epoch_it_is_algorithm_1_with_the_epochs_end_as_horizon() -> None:
    instance = instances.synthetic(0.1, 3)
    seen = []

    def note(player: Any, t: int, arm: int) -> None:
        seen.append(player.beta * np.sqrt(player.counts))

    loop.play(instance, AnytimeWidthGuided(2.0), 300, 4, 0, observer=note)
    np.testing.assert_allclose(seen[0], np.sqrt(2 * np.log(256)), rtol=1e-14)
    np.testing.assert_allclose(seen[255 - 20], np.sqrt(2 * np.log(256)), rtol=1e-14)
    np.testing.assert_allclose(seen[256 - 20], np.sqrt(2 * np.log(65_536)), rtol=1e-14)


def test_a_commitment_ends_with_its_epoch() -> None:
    instance = instances.bernoulli([[0.9, 0.5], [0.1, 0.5]])
    block = both(instance, AnytimeWidthGuided(0.05), 70_000, 1, 0, 2, [200, 256, 300], True, True)
    for arms, stop in zip(block.arms, block.cert_round):
        assert len(set(arms[200:256].tolist())) == 1  # committed in the epoch that ends at 256
        assert stop >= 65_536
        assert (arms[stop:] == arms[stop]).all()


def test_raced_pulls_stay_below_the_epochs_ceiling() -> None:
    instance, c = instances.bernoulli([[0.9, 0.5], [0.3, 0.5], [0.4, 0.5]]), 1.0
    g = float(instance.geometry.g_dagger)
    raced = []

    def note(player: Any, t: int, arm: int) -> None:
        if t >= player.commitment[UNTIL]:
            raced.append((t, int(player.counts[arm])))

    loop.play(instance, AnytimeWidthGuided(c), 2000, 3, 0, observer=note)
    assert max(t for t, _ in raced) > 256
    assert all(n <= 16 * c * np.log(epoch_end(t)) / g**2 for t, n in raced)
