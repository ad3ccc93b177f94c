"""The refresher: what it computes, and its conclusions for drawn values."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab.chapters import refresher
from momab.model import statistics, theory
from tests.chapters.running import run_chapter, text_of


@pytest.mark.parametrize(
    ("low", "gap", "deviation", "seed", "whole"),
    [(0.4, 0.1, 0.1, 3, False), pytest.param(0.1, 0.2, 0.3, 12, True, marks=pytest.mark.slow)],
)
def test_refresher_chapter(shown, low, gap, deviation, seed, whole):
    page = run_chapter(
        "refresher", seed=seed, low=low, gap=gap, deviation=deviation, flips=500, horizon=2_000,
        runs=10, whole=whole,
    )  # fmt: skip
    rare = page["rare"]
    for bound in ("markov", "chebyshev", "hoeffding", "chernoff"):
        assert (rare["exact"] <= rare[bound] * (1 + 1e-9)).all()
    assert (rare["chernoff"] <= rare["hoeffding"] * (1 + 1e-9)).all()
    assert page["wide"] == page["bests"][2 * gap]["regret"] <= page["costs"][2 * gap][0]
    assert "nan" not in text_of(shown)
    # one pull of each coin, by hand: the worse coin is chosen if it alone shows heads, or by a toss
    high = low + gap
    wrong = low * (1 - high) + (low * high + (1 - low) * (1 - high)) / 2
    assert page["commit_regret"](gap, 1) == pytest.approx(gap * (1 + (2_000 - 2) * wrong))


@pytest.mark.parametrize(("low", "gap", "seed"), [(0.4, 0.1, 3), (0.1, 0.2, 12)])
def test_two_coins_chapter(shown, low, gap, seed):
    page = run_chapter("two-coins", seed=seed, low=low, gap=gap, horizon=2_000, runs=10)
    assert page["against"] == 0
    assert page["lower"] < page["upper"]
    said = text_of(shown)
    assert "No row contradicts the lemma." in said
    assert "nan" not in said


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_the_entropy_bound_of_the_proof(p, q):
    assert theory.bernoulli_kl(p, q) >= (1 - p) * np.log(1 / (1 - q)) - np.log(2) - 1e-12


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 50), st.integers(0, 50))
def test_the_sure_divergence_is_below_the_measured_one(first, second):
    one, two = (statistics.rates(np.arange(50) < hits) for hits in (first, second))
    sure = refresher.sure_divergence(one, two)
    assert 0 <= sure <= theory.bernoulli_kl(one["rate"], two["rate"])
    assert (sure > 0) == (one["high"] < two["low"])


def test_the_table_of_worlds_shows_both_sides():
    one, two = (statistics.rates(np.arange(50) < hits) for hits in (2, 48))
    [row] = refresher.world_table([(0.55, (9.0, 8.0, 10.0), one, two)]).to_dict("records")
    assert row["Raised mean q"] == "0.550"
    assert row["E[N] kl(p, q)"] == "9.00 (8.00 to 10.00)"
    assert row["E, first world"].startswith("0.040 (")
    measured = theory.bernoulli_kl(0.04, 0.96)
    least = refresher.sure_divergence(one, two)
    assert row["kl of the two"] == f"{measured:.2f} (at least {least:.2f})"


def test_regret_over_log_keeps_means_and_intervals():
    table = refresher.over_log([[1.0, 3.0, 5.0], [2.0, 2.0, 2.0]], [10, 100])
    assert table["t"].tolist() == [10, 100]
    assert table["mean"].tolist() == pytest.approx([3 / math.log(10), 2 / math.log(100)])
    assert table["low"][1] == table["high"][1] == pytest.approx(2 / math.log(100))
    assert table["low"][0] == pytest.approx(
        statistics.mean_interval([1.0, 3.0, 5.0])[1] / math.log(10)
    )
