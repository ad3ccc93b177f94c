"""Local charge: the computations behind the page, and its conclusions for drawn parameters."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from momab.chapters import local_charge
from momab.errors import MomabError
from momab.ledger import auditing
from momab.ledger.auditing import hand_made
from tests.chapters.running import PAGE, WHOLE, loud, run_chapter

SEEDS = st.integers(0, 2**31 - 1)


@WHOLE
@given(
    seed=SEEDS,
    gap=st.sampled_from([0.4, 0.7, 1.0]),
    horizon=st.integers(500, 2000),
    c=st.sampled_from([0.05, 0.5, 2.0]),
)
@example(seed=2, gap=0.2, horizon=500, c=2.0)
@PAGE
def test_local_charge_chapter(shown: list[dict[str, Any]], whole: bool, **drawn: Any) -> None:
    shown.clear()
    page = run_chapter(
        "local-charge", whole, searched=12, rounds=200, coefficients=[0.02, 0.3, 2.0], **drawn
    )
    assert (page["steps"]["violations"] == 0).all()
    assert page["report"].ok
    assert page["verdict"].ok
    assert page["verdict"].event.holds
    table = page["closeness"]
    exact = table[table["rewards"] == "in [0, 1]"]
    assert (exact["largest gap / radius"] >= exact["bound for [0, 1]"]).all()
    assert (table["largest gap / radius"] <= 4 + 1e-9).all()
    if whole:  # the broken policy of the exercise really breaks the lemma
        assert page["caught"]["endpoint"].violations
        assert page["caught"]["lemma-10"].violations
    assert not loud(shown)


def test_charges_agree_with_the_audit() -> None:
    traces = list(hand_made.random_traces(24, 400, [0.05, 0.5, 2.0], 3))
    found = local_charge.charges(traces)
    report = auditing.audit_all(traces)
    assert len(found.gap) == report["lemma-10"].checked + (~found.on_event).sum()
    assert (found.gap <= found.deficit + 1e-12).all()
    assert (found.width >= 1).all()
    assert (found.width <= 2 + 1e-9).all()
    on = found.on_event
    slack = ((4 - found.gap) * found.beta)[on].min()
    assert slack == pytest.approx(report["lemma-10"].tightest)
    for case, constant in enumerate((2, 4, 2)):
        assert (found.deficit[on & (found.case == case)] <= constant + 1e-9).all()


def test_steps_of_lemma_10_hold_and_notice_a_lie() -> None:
    traces = list(hand_made.random_traces(12, 300, [0.3], 5))
    assert (local_charge.charge_steps(traces)["violations"] == 0).all()


def test_typical_tops_are_those_of_single_runs() -> None:
    traces = list(hand_made.random_traces(24, 400, [0.05, 0.5, 2.0], 3))
    alone = [local_charge.charges([run]) for run in traces if run.certificate is not None]
    kept = [found.deficit.max() for found in alone if found.on_event.all()]
    tops = local_charge.typical_tops(traces, local_charge.charges(traces))
    assert 0 < len(tops) < len(traces)
    assert tops.tolist() == kept


@given(
    p=st.floats(0, 1),
    n=st.integers(1, 300),
    T=st.integers(2, 10**6),
    c=st.floats(0.02, 3),
    side=st.sampled_from([-1, 1]),
    whole=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_edge_sequences_stay_inside(
    p: float, n: int, T: int, c: float, side: int, whole: bool
) -> None:
    assume(not whole or c * math.log(T) >= 0.26)  # shorter intervals may hold no whole number
    rewards = hand_made.edge_sequence(p, n, T, c, side, whole)
    assert rewards.min() >= 0
    assert rewards.max() <= 1
    if whole:
        assert set(np.unique(rewards)) <= {0.0, 1.0}
    counts = np.arange(1, n + 1)
    off = np.cumsum(rewards) / counts - p
    assert (np.abs(off) <= np.sqrt(c * math.log(T) / counts) * (1 + 1e-9) + 1e-12).all()


@given(gap=st.floats(0.3, 1), c=st.floats(0.1, 1), T=st.integers(600, 3000), whole=st.booleans())
@settings(max_examples=10, deadline=None)
def test_the_constant_four_is_approached_and_kept(
    gap: float, c: float, T: int, whole: bool
) -> None:
    run = hand_made.edge_run(gap, T, c, whole, rivals=1, d=2)
    report = auditing.audit(run)
    assert report.ok
    assert report.event.holds
    ratio = local_charge.charges([run]).gap.max()
    assert ratio <= 4 + 1e-9
    if run.certificate is not None and not whole:
        assert ratio >= 4 * math.sqrt(max(0.0, 1 - gap**2 / (8 * c * math.log(T))))


def test_the_picture_shows_each_case_at_its_constant() -> None:
    for (_, _, intervals), constant in zip(local_charge.worst_intervals(), (2, 2, 4)):
        assert all(low <= mean <= high for _, low, high, mean in intervals)
        _, low, high, mean = intervals[-1]  # the pulled arm, whose radius is 1
        assert (high - low) / 2 == 1
        assert -mean == constant
        others = {arm: ends for arm, *ends in intervals[:-1]}
        if "best arm" not in others:
            lower, upper, _ = others["leader b"]
            assert lower <= high  # no certificate
            assert upper - lower <= 2  # the pulled arm has the larger radius
        else:
            assert high >= others["best arm"][1]  # it has beaten the best arm


@given(gap=st.floats(0.3, 1), T=st.integers(600, 3000))
@settings(max_examples=10, deadline=None)
def test_of_two_equal_rivals_the_challenger_is_pulled_at_equal_counts_only(
    gap: float, T: int
) -> None:
    found = local_charge.charges([hand_made.edge_run(gap, T, 0.5, rivals=2)])
    behind = (found.case == 2) & (found.deficit > 0)  # the best arm is pulled there, too
    assert behind.any()
    assert (found.width[behind] == 2).all()


def test_bad_input_is_refused() -> None:
    with pytest.raises(MomabError, match="side must be"):
        hand_made.edge_sequence(0.5, 3, 10, 1.0, 0)
    with pytest.raises(MomabError, match="gap must be at most 1"):
        hand_made.edge_run(1.5, 100, 1.0)
    with pytest.raises(MomabError, match="no trace with a decision"):
        local_charge.charges([])
