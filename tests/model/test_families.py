"""The families that chapters vary one number of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.errors import MomabError
from momab.model import families


@given(st.integers(2, 30), st.integers(1, 20), st.floats(0.01, 0.6), st.floats(0.1, 1))
def test_one_leader_has_the_lead_and_gaps_it_promises(K, d, g, share):
    geo = families.one_leader(K, d, g, share).geometry
    assert geo.g_dagger == pytest.approx(g)
    assert geo.front == (0,)
    assert geo.gaps[1:] == pytest.approx(g if d == 1 else share * g)


@given(st.lists(st.floats(0.01, 0.5), min_size=1, max_size=6))
def test_tied_front_has_no_leader(gaps):
    geo = families.tied_front(gaps).geometry
    assert geo.g_dagger == 0
    assert geo.front == (0, 1, 2, 3)
    assert geo.gaps[4:] == pytest.approx(gaps)


@given(st.floats(0.01, 2), st.integers(1, 12), st.integers(2, 12), st.floats(0.1, 0.24))
def test_diagonal_crowd_has_its_gap_lead_and_front(ratio, m, front, g):
    geo = families.diagonal_crowd(ratio, m, front, g).geometry
    assert geo.g_dagger == pytest.approx(g)
    assert geo.j_dagger == 0
    assert geo.front == tuple(range(front))
    assert geo.gaps[front:] == pytest.approx(ratio * g)


def test_random_separated_instances_are_separated_and_reproducible():
    drawn = families.random_separated(5, seed=3, g=0.25)
    again = families.random_separated(5, seed=3, g=0.25)
    assert [a.digest for a in drawn] == [b.digest for b in again]
    assert min(a.geometry.g_dagger for a in drawn) >= 0.25


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: families.tied_front([0.6]), "gaps"),
        (lambda: families.diagonal_crowd(9, 1), "ratio"),
    ],
)
def test_refusals_say_what_is_wrong(call, words):
    with pytest.raises(MomabError, match=words):
        call()
