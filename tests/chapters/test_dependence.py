"""Other joint laws: the evidence of dependent rewards, and the page about it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab.model import kinf, theory
from momab.study import price as computed
from tests.chapters.running import loud, run_chapter


@settings(max_examples=20)
@given(st.floats(0.1, 0.5), st.floats(0.55, 0.9))
def test_agreement_costs_and_the_ceiling_holds(p, m):
    rhos = np.linspace(computed.least_correlation(p), 1, 9)
    found = computed.by_correlation(p, m, rhos)
    one, ceiling = float(theory.kl_plus(p, m)), np.log((1 - p) / (1 - m))
    assert (np.diff(found) <= 1e-9).all()
    assert (np.diff(found, 2) >= -1e-9).all()
    assert found[-1] == pytest.approx(one, abs=1e-9)
    assert (found <= ceiling + 1e-9).all()
    assert computed.by_correlation(p, m, np.zeros(1))[0] < 2 * one


def test_the_law_of_two_rewards():
    law = computed.coin_law(0.3, 0.5)
    assert law.sum() == pytest.approx(1)
    assert law[2] + law[3] == pytest.approx(0.3)
    assert law[3] == pytest.approx(0.09 + 0.5 * 0.21)
    assert computed.coin_law(0.3, computed.least_correlation(0.3))[3] == pytest.approx(0)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 6), st.floats(0, 1), st.booleans())
def test_bad_luck_is_bounded_up_to_two_over_delta(seed, d, n, share, binary):
    """Laws of any dependence; the range of x ends where the bound is zero, as the luck is."""
    rng = np.random.default_rng(seed)
    rows = np.vstack([np.ones(d), rng.random((2, d)).round(0 if binary else 3)])
    rows = np.unique(rows, axis=0)
    chances = rng.dirichlet(np.ones(len(rows)))
    delta = rng.uniform(0.01, 1) * (chances @ rows).min()
    if delta > 1e-3:
        q = np.maximum(chances @ rows - delta, 0)
        for x in (share * delta**2, share * np.log(1 / delta), 2 / delta):
            luck = kinf.luck_of_law(rows, chances, q, n, x)
            shrink = max(1 - delta * x / 2, 0.0)  # rounding at the end of the range
            assert luck <= np.e * (n + 1) ** d * shrink**n + 1e-12


@pytest.mark.parametrize(("coin", "target"), [(0.5, 0.6), (0.1, 0.9), (0.37, 0.55)])
def test_dependence_chapter(shown, coin, target):
    page = run_chapter("dependence", coin=coin, target=target)
    assert page["copies"] == pytest.approx(page["lai"], rel=1e-12)
    pair = theory.kinf(computed.PAIRS, [target, target], computed.coin_law(coin, 0.0))
    assert page["many"][1] == pytest.approx(pair, abs=1e-9)
    assert page["many"][0] == pytest.approx(float(theory.kl_plus(coin, target)), abs=1e-9)
    assert page["many"][2] > page["many"][1] > page["many"][0]
    assert not loud(shown)
