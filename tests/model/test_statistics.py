"""The intervals, each against its definition."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from momab.errors import MomabError
from momab.model import statistics


def test_mean_interval_is_students():
    mean, low, high = statistics.mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.7764451 * math.sqrt(2.5 / 5)
    assert (mean, low, high) == pytest.approx((3, 3 - half, 3 + half))
    assert statistics.mean_interval([2.0]) == (2, 2, 2)


def test_normal_half_width_is_196_standard_errors():
    assert statistics.normal_half_width(2.0, 16) == pytest.approx(1.96 * 0.5)
    assert statistics.normal_half_width(0.3) == 1.96 * 0.3
    assert statistics.normal_half_width(np.array([1.0, 2.0])).tolist() == [1.96, 3.92]


def test_bootstrap_interval_covers_the_mean_of_a_heavy_tail():
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(200):
        values = rng.exponential(size=60) ** 1.5
        low, high = statistics.bootstrap_interval(values, level=0.9, resamples=300)
        hits += low <= 1.3293403881791372 <= high
    assert 150 <= hits <= 196


def test_bootstrap_interval_of_constant_and_single_values():
    assert statistics.bootstrap_interval(np.ones(4)) == (1, 1)
    assert statistics.bootstrap_interval(np.array([2.0])) == (2, 2)


def test_rates_are_clopper_pearson():
    rate = statistics.rates(np.array([True] + [False] * 59), "error")
    assert rate["error_rate"] == pytest.approx(1 / 60)
    # the ends are where one hit or fewer, one hit or more, have probability 2.5 %
    low, high = rate["error_low"], rate["error_high"]
    assert 1 - (1 - low) ** 60 == pytest.approx(0.025)
    assert (1 - high) ** 60 + 60 * high * (1 - high) ** 59 == pytest.approx(0.025)
    none = statistics.rates(np.zeros(60, dtype=bool))
    assert none == {"rate": 0, "low": 0, "high": pytest.approx(1 - 0.025 ** (1 / 60))}
    assert statistics.clopper_pearson(0, 60) == (0, none["high"])


@pytest.mark.parametrize(("hits", "draws"), [(0, 50), (7, 50), (400, 1000), (50, 50)])
def test_the_interval_is_wilsons(hits, draws):
    low, high = statistics.wilson(np.array([hits / draws]), draws)
    known = binomtest(hits, draws).proportion_ci(0.95, method="wilson")
    assert low[0] == pytest.approx(known.low, abs=1e-4)
    assert high[0] == pytest.approx(known.high, abs=1e-4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: statistics.rates(np.zeros(3, dtype=bool), level=1), "level must lie in"),
        (lambda: statistics.clopper_pearson(4, 3), "the number of hits"),
        (lambda: statistics.clopper_pearson(0, 0), "the number of draws"),
        (lambda: statistics.bootstrap_interval(np.arange(3.0), level=0), "level must lie in"),
        (lambda: statistics.mean_interval([]), "values must not be empty"),
    ],
)
def test_bad_input_gets_one_sentence(call, words):
    with pytest.raises(MomabError, match=words):
        call()
