"""The width floor: its computations, and its conclusions for drawn parameters."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab.chapters import width_floor
from momab.errors import MomabError
from momab.ledger.auditing import audit, hand_made
from momab.model import families, instances
from tests.chapters.running import PAGE, WHOLE, run_chapter


def test_floor_rounds_match_the_definitions():
    instance = instances.synthetic(0.02, 4)
    [record] = hand_made.play_traces(instance, 20_000, seed=2, runs=1)
    table = width_floor.floor_rounds(record)
    j, g = record.geometry.j_dagger, record.geometry.g_dagger
    assert len(table) == record.recorded - record.K
    assert table["certifying"].tolist() == [False] * (len(table) - 1) + [True]
    for i in (0, 100, len(table) - 1):
        t = int(table["t"][i])
        counts = np.bincount(record.arms[:t], minlength=record.K)
        sums = np.array([record.rewards[:t][record.arms[:t] == a].sum(axis=0) for a in range(20)])
        beta = np.sqrt(record.scale / counts)
        upper = np.sort((sums / counts[:, None])[:, j] + beta)
        assert table["champion"][i] >= 2 * beta.min()
        assert table["radius"][i] == pytest.approx(beta[record.arms[t]])
        assert upper[-1] - upper[-2] >= 0
    assert table["champion"].min() >= g / 2
    assert (table["sampled"] >= table["champion"] - 1e-12).iloc[:-1].all()


@settings(max_examples=15)
@given(st.integers(0, 2**31), st.sampled_from([2.0, 0.5, 0.1, 0.05]))
def test_every_step_of_the_floor_holds_and_agrees_with_the_audit(seed, c):
    [instance] = families.random_separated(1, seed)
    records = hand_made.play_traces(instance, 3_000, seed, 2, c)
    steps = width_floor.floor_steps(records)
    assert steps["failed"].sum() == 0
    checked = sum(audit(record)["lemma-11-radius"].checked for record in records)
    assert steps.loc["floor", "checked"] == checked
    cases = steps.loc[["both radii", "one radius"], "checked"].sum()
    assert cases == steps.loc["floor", "checked"]
    for record in records:
        least = width_floor.floor_summary(record)
        assert not least["width"] < 1
        assert not least["radius"] < 1


def test_floor_steps_see_a_planted_failure():
    """With intervals that hold but a wrong lead, the definition of g fails, not the event."""
    record = width_floor.stubborn_trace(5_000)
    wrong = record.edited(means=[[0.9], [0.45]])
    object.__setattr__(wrong.geometry, "g_dagger", 0.8)
    steps = width_floor.floor_steps([wrong])
    assert steps.loc["lead of the best", "failed"] > 0
    assert steps.loc["not certified", "failed"] == 0


@pytest.mark.parametrize(("T", "c"), [(1_000, 2.5), (1_000, 2.0), (100_000, 2.0), (10_000, 0.2)])
def test_stubborn_run_touches_the_floor(T, c):
    record = width_floor.stubborn_trace(T, c=c)
    assert audit(record).ok
    least = width_floor.floor_summary(record)
    assert 1 <= least["width"] < 1 + 5 / math.sqrt(record.recorded)
    assert least["at_certificate"] < 1


def test_the_picture_of_the_two_cases_shows_the_floor():
    """Means inside their intervals, the race open, and not a hair narrower than the lemma says."""
    (_, _, first), (_, _, second) = width_floor.narrowest_intervals()
    for intervals in (first, second):
        assert all(low <= mean <= high for _, low, high, mean in intervals)
        assert intervals[0][3] - intervals[1][3] == 2  # the lead
    (_, low, high, _), (_, lower, upper, _) = first
    assert low <= upper  # no certificate
    assert (high - low) + (upper - lower) == 2  # twice the sum of the radii
    (_, _, best, _), (_, lower, upper, _) = second
    assert upper >= best  # the other arm leads
    assert upper - lower == 2


def test_the_floor_needs_a_lead():
    instance = families.tied_front([0.3])
    [record] = hand_made.play_traces(instance, 50, seed=1, runs=1)
    with pytest.raises(MomabError, match="positive objective gap"):
        width_floor.floor_rounds(record)


@WHOLE
@PAGE
@given(
    st.integers(0, 2**31 - 1),
    st.sampled_from([0.2, 0.6, 2.5]),
    st.sampled_from([1_000, 5_000]),
    st.integers(1, 18),
)
def test_width_floor_chapter(whole, seed, radius, horizon, crowd):
    page = run_chapter(
        "width-floor",
        whole,
        seed=seed,
        radius=radius,
        horizon=horizon,
        crowd=crowd,
        runs=2,
        draws=4,
    )
    assert page["steps"]["failed"].sum() == 0
    assert page["report"].ok
    assert page["failures"] == 0
    assert not page["least"]["width"] < 1
    assert not page["least"]["radius"] < 1
    assert page["verdict"].ok
    if whole:
        assert page["inequalities"].loc[["both radii", "one radius"], "failed"].sum() == 0


def test_a_horizon_too_short_for_the_stubborn_run_is_refused():
    with pytest.raises(MomabError, match="horizon"):
        width_floor.stubborn_trace(10)
