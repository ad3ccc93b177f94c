"""Other joint laws: the evidence of dependent rewards, and the page about it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab.model import theory
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


@pytest.mark.parametrize(("coin", "target"), [(0.5, 0.6), (0.1, 0.9), (0.37, 0.55)])
def test_dependence_chapter(shown, coin, target):
    page = run_chapter("dependence", coin=coin, target=target)
    assert page["copies"] == pytest.approx(page["lai"], rel=1e-12)
    pair = theory.kinf(computed.PAIRS, [target, target], computed.coin_law(coin, 0.0))
    assert page["many"][1] == pytest.approx(pair, abs=1e-9)
    assert page["many"][0] == pytest.approx(float(theory.kl_plus(coin, target)), abs=1e-9)
    assert page["many"][2] > page["many"][1] > page["many"][0]
    assert not loud(shown)
