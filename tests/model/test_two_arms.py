"""Two arms and one objective: rates, exponents and bounds, and the engine's own races."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from momab.engine.loop import play_block
from momab.engine.policies.width_guided import WidthGuided
from momab.errors import MomabError
from momab.model import instances, two_arms

MEANS = st.floats(0.02, 0.98)


@settings(max_examples=50)
@given(MEANS, MEANS, st.floats(-0.98, 0.98))
def test_the_rate_is_the_supremum_and_obeys_hoeffding(p, q, y):
    def negative(theta):
        moment = (1 - p + p * math.exp(theta)) * (1 - q + q * math.exp(-theta))
        return -(theta * y - math.log(moment))

    best = minimize_scalar(negative, bounds=(-40, 40), method="bounded", options={"xatol": 1e-9})
    rate = float(two_arms.lead_rate(p, q, y))
    assert rate == pytest.approx(-best.fun, abs=1e-8)
    assert rate >= (y - (p - q)) ** 2 - 1e-12


def test_the_rate_at_the_ends_and_at_the_mean():
    rates = two_arms.lead_rate(0.6, 0.5, [-1.0, 0.1, 1.0])
    assert rates == pytest.approx([-math.log(0.2), 0.0, -math.log(0.3)], abs=1e-15)


@settings(max_examples=30)
@given(st.floats(0.01, 0.97), st.floats(0.001, 0.98))
def test_the_exponent_is_a_minimum_and_above_hoeffding_s(q, gap):
    p = min(q + gap, 0.99)
    kappa = two_arms.wrong_exponent(p, q)
    assert kappa >= 4 * (1 + p - q) ** 2 - 1e-9
    y = np.linspace(0.001, 1, 500)
    assert (4 * two_arms.lead_rate(p, q, -y) / y**2 >= kappa - 1e-9).all()


def test_the_exponent_falls_to_four():
    values = [two_arms.wrong_exponent(0.5 + gap, 0.5) for gap in (0.3, 0.1, 0.01, 1e-3, 1e-4)]
    assert (np.diff(values) < 0).all()
    assert 4 < values[-1] < 4.05


def test_the_race_by_hand():
    # c log T = 1/4: a lead of 2 sqrt(n / 4) = sqrt(n) is not enough, more is
    T = 10**4
    race = two_arms.paired_race(0.75, 0.25, T, 0.25 / math.log(T))
    up, down, stay = 0.5625, 0.0625, 0.375
    # after one pair nobody can be certified (a lead of 1 is not above 1), after two a lead of 2 is
    assert race.right > up**2
    assert race.wrong > down**2
    assert race.right + race.wrong == pytest.approx(1.0, abs=1e-9)
    assert race.pairs > 2
    short = two_arms.paired_race(0.75, 0.25, 5, 0.25 / math.log(5))
    assert (short.right, short.wrong, short.pairs) == pytest.approx((up**2, down**2, 2.0))
    assert stay + up + down == 1


@pytest.mark.parametrize("gap", [0.1, 0.3])
def test_the_exact_chance_and_cost_are_below_the_bounds(gap):
    for T in (55, 10**3, 10**5):
        for c in (0.25, 0.4):
            race = two_arms.paired_race(0.5 + gap, 0.5, T, c)
            assert race.wrong <= two_arms.wrong_bound(gap, T, c)
            cost = gap * (race.pairs + T * race.wrong)
            assert cost <= two_arms.two_arm_bound(gap, T, c)


def test_the_constant_of_the_text():
    for T in (55, 100, 10**6, 10**12):
        for c in (0.25, 0.5, 2.0):
            assert two_arms.wrong_bound(1.0, T, c) * T ** (4 * c) < 2.05
            text = (4 * c * math.log(T) + 2.05 * T ** (1 - 4 * c)) / 0.2 + 2
            assert two_arms.two_arm_bound(0.2, T, c) <= text * (1 + 1e-12)


def test_the_slope_tends_to_c_kappa():
    kappa = two_arms.wrong_exponent(0.7, 0.5)
    for c in (1 / 4, 1 / 8):
        low, high = (two_arms.paired_race(0.7, 0.5, 10**k, c).wrong for k in (6, 12))
        slope = math.log(low / high) / math.log(10**6)
        assert slope == pytest.approx(c * kappa, rel=0.05)  # the lattice makes it wobble


def test_algorithm_1_itself_errs_about_as_often_and_respects_the_bound():
    arms, T, runs = instances.bernoulli([[0.6], [0.5]]), 2_000, 4_000
    block = play_block(arms, WidthGuided(c=0.05), T, 1, 0, runs)
    rate = float((block.cert_arm == 1).mean())
    exact = two_arms.paired_race(0.6, 0.5, T, 0.05).wrong
    assert 0.9 * exact < rate < 1.5 * exact  # it looks at unequal counts, too
    block = play_block(arms, WidthGuided(c=0.25), T, 1, 0, 400)
    regret = 0.1 * block.pulls[:, 1].mean()
    assert regret < two_arms.two_arm_bound(0.1, T)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: two_arms.lead_rate(0.0, 0.5, 0.1), "strictly between 0 and 1"),
        (lambda: two_arms.lead_rate(0.6, 0.5, 1.5), "in \\[-1, 1\\]"),
        (lambda: two_arms.wrong_exponent(0.4, 0.5), "p must be the larger mean"),
        (lambda: two_arms.two_arm_bound(0.2, 50), "T >= 55 and c >= 1/4"),
        (lambda: two_arms.wrong_bound(0.2, 100, 0.2), "T >= 55 and c >= 1/4"),
        (lambda: two_arms.wrong_bound(0.0, 100, 0.25), "gap must be positive"),
    ],
)
def test_bad_input_gets_one_sentence(call, message):
    with pytest.raises(MomabError, match=message):
        call()
