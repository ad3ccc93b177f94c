"""The programs: one for each answer, and the textbook's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from momab import MomabError
from momab.chapters.graves_lai import quotient_picture
from momab.model import instances, pareto, theory
from momab.study import graves_lai


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 3), st.sampled_from([None, 6]))
def test_the_program_of_an_answer_has_its_price(seed, K, d, levels):
    means = 0.1 + 0.8 * instances.random_means(K, d, seed=seed, levels=levels)
    gaps = pareto.gaps(means)
    if (gaps > 0).any() and gaps[gaps > 0].min() < 1e-3:
        return
    found = theory.price(means)
    for a in np.flatnonzero(gaps == 0):
        value = graves_lai.answer_price(means, int(a), 30 * K, seed)
        assert value == pytest.approx(found.per_arm[a], rel=2e-3, abs=1e-9)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 3))
def test_the_textbook_is_never_above_the_price(seed, K, d):
    means = 0.1 + 0.8 * instances.random_means(K, d, seed=seed)
    found = graves_lai.textbook_price(means)
    price = float(theory.price(means).value)
    assert found <= price * (1 + 1e-9)
    if d == 1 or (pareto.gaps(means) == 0).sum() == 1:
        assert found == pytest.approx(price, rel=1e-7)


@pytest.mark.parametrize("d", [2, 3, 5, 30])
def test_specialists_are_nearly_d_times_as_expensive(d):
    means = np.full((d + 1, d), 0.2501)
    means[np.arange(d), np.arange(d)], means[d] = 0.8, 0.25
    ratio = float(theory.price(means).value) / graves_lai.textbook_price(means)
    assert d - 0.01 * d < ratio <= d


def test_with_two_suboptimal_arms_the_quotient_can_exceed_d():
    """The instance of the page, with the textbook's alternatives listed once more."""
    free = np.array([[0.797, 0.847], [0.832, 0.501], [0.115, 0.914], [0.850, 0.191]])
    paid = np.array([[0.552, 0.573], [0.660, 0.814]])
    gaps = pareto.gaps(np.concatenate([free, paid]))
    assert (gaps[:4] == 0).all()
    rows = []
    for above in range(16):  # bit a: which arm is raised above optimal arm a
        chosen = np.array([above >> a & 1 for a in range(4)])
        goals = [free[chosen == b].max(axis=0, initial=0) for b in (0, 1)]
        rows.append([theory.kl_plus(paid[b], goals[b]).sum() for b in (0, 1)])
    n = linprog(gaps[4:], -np.array(rows), -np.ones(16)).x
    assert (rows @ n > 1 - 1e-9).all()
    price = float(theory.price(np.concatenate([free, paid])).value)
    assert price > 2.1 * (gaps[4:] @ n)


def test_every_arm_optimal_costs_nothing():
    assert graves_lai.textbook_price([[0.8, 0.3], [0.3, 0.8]]) == 0


@pytest.mark.parametrize(
    "means", [[[1.0, 0.5], [0.3, 0.3]], [[0.0], [0.5]], np.full((2, 2, 2), 0.5)]
)
def test_means_at_the_ends_are_refused_in_one_sentence(means):
    with pytest.raises(MomabError, match=r"^means must be .* in \(0, 1\)\.$"):
        graves_lai.textbook_price(means)


def test_a_program_that_is_too_large_is_refused():
    t = np.linspace(0.2, 0.8, 12)
    front = np.stack([t, 1 - t], axis=1)
    with pytest.raises(MomabError, match=r"constraints; at most 20000 are allowed\.$"):
        graves_lai.textbook_price(np.concatenate([front, front - 0.1, front - 0.15]))


def test_the_picture_ends_at_the_largest_quotient():
    axes = quotient_picture(np.array([1.0, 1.5, 1.2])).axes[0]
    assert axes.lines[0].get_xdata().max() == 1.5
