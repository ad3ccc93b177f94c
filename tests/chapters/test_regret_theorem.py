"""The regret theorem: its account, and its conclusions for drawn parameters."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab.chapters import regret_theorem
from momab.engine import loop
from momab.engine.policies.width_guided import WidthGuided
from momab.errors import MomabError
from momab.ledger.auditing import audit_all, hand_made
from momab.model import families, instances, theory, two_arms
from tests.chapters.running import PAGE, WHOLE, run_chapter


@settings(max_examples=10)
@given(st.integers(0, 2**31), st.sampled_from([2.0, 1.0, 0.1]))
def test_the_account_is_that_of_the_traces(seed, c):
    [instance] = families.random_separated(1, seed)
    T, gaps = 2_000, instance.geometry.gaps
    kept = regret_theorem.account(instance, T, 3, seed, c)
    for run, record in enumerate(hand_made.play_traces(instance, T, seed, 3, c)):
        end = record.recorded if record.certificate is None else record.certificate.t
        m = np.bincount(record.arms[record.K : end], minlength=record.K)
        assert kept.pulls[run].tolist() == m.tolist()
        assert kept.explore[run] == pytest.approx(gaps @ m)
        radii = sum(np.sqrt(record.scale / np.arange(1, k + 1)).sum() for k in m)
        assert kept.charge[run] == pytest.approx(4 * radii)
        assert kept.certified[run] == (record.certificate is not None)
    played = loop.play_block(instance, WidthGuided(c=c), T, seed, 0, 3)
    assert kept.regret == pytest.approx(played.pulls @ gaps)
    if c == 2.0:  # the event holds for all practical purposes
        assert (kept.after == 0).all()
        assert (kept.explore <= kept.charge + 1e-9).all()
        assert (kept.charge <= kept.root + 1e-9).all()
        assert (kept.root <= kept.theorem.exploration).all()
        assert (kept.pulls <= kept.pull_caps).all()


def test_tied_bound_is_a_quarter_of_the_sharper_one_and_holds():
    instance = families.tied_front([0.1, 0.3])
    T = 20_000
    kept = regret_theorem.account(instance, T, 8, seed=4)
    tied = theory.tied_bound(instance.means, T)
    assert 4 * (tied - kept.sharper.warm_start) == pytest.approx(kept.sharper.exploration)
    assert kept.regret.max() < tied
    assert not kept.certified.any()
    caps = 8 * math.log(T) / instance.geometry.gaps[4:] ** 2
    assert (kept.pulls[:, 4:] <= caps).all()


def test_scaling_is_below_its_bounds():
    frame = regret_theorem.scaling(
        {T: (instances.synthetic(0.02, 8), T) for T in (10**4, 10**5)}, 5, 1
    )
    assert (frame["mean"] < frame["sharper"]).all()
    assert (frame["sharper"] < frame["theorem"] / 2 + 10).all()
    worst = instances.synthetic(0.02, 8).geometry.max_gap
    assert frame["trivial"].tolist() == [worst * 10**4, worst * 10**5]


@WHOLE
@PAGE
@given(st.integers(0, 2**31 - 1), st.integers(2, 12), st.floats(0.15, 0.6), st.integers(1, 17))
def test_regret_theorem_chapter(whole, seed, arms, lead, crowd):
    page = run_chapter(
        "regret-theorem", whole, seed=seed, arms=arms, lead=lead, crowd=crowd,
        horizon=10_000, runs=5,
    )  # fmt: skip
    assert page["report"].ok
    assert (page["stages"].diff()[1:] >= -1e-9).all(axis=None)
    assert (np.diff(page["paid"]) >= 0).all()
    if whole:
        assert page["better"] <= page["old"] + 1e-9


@PAGE
@given(st.integers(0, 2**31 - 1), st.integers(2, 12), st.floats(0.15, 0.6), st.integers(1, 17))
def test_counted_arm_by_arm(seed, arms, lead, crowd):
    page = run_chapter(
        "arm-by-arm", seed=seed, arms=arms, lead=lead, crowd=crowd,
        horizon=10_000, runs=5, tied_horizon=2_000,
    )  # fmt: skip
    for study in [*page["studies"].values(), page["crowds"], page["ties"]]:
        assert (study["mean"] <= study["sharper"]).all()
        assert (study["sharper"] <= study["theorem"]).all()
        assert study["fullest"].max() <= 1
    assert (page["ties"]["mean"] <= page["ties"]["tied"]).all()
    assert page["ties"]["certified"].max() == 0
    assert page["many"]["mean"] < page["one"]["mean"]
    assert page["by_deficit"] <= page["by_gap"] + 1e-9


@PAGE
@given(st.sampled_from([0.1, 0.2, 0.4]))
def test_wrong_certificates_cost_more_and_more_only_for_small_coefficients(gap):
    page = run_chapter("small-c", pair_gap=gap)
    kappa = two_arms.wrong_exponent(0.5 + gap, 0.5)
    assert list(page["slopes"].index) == page["quarters"]
    for c, slope in page["slopes"].items():
        assert slope == pytest.approx(1 - c * kappa, abs=0.15)
    assert (np.diff(page["wide"][1 / 4]) < 0).all()
    assert (np.diff(page["wide"][1 / 16]) > 0).all()


def test_the_bound_for_ties_refuses_a_unique_leader():
    with pytest.raises(MomabError, match="unique"):
        theory.tied_bound([[0.9, 0.1], [0.1, 0.2]], 100)


def test_the_table_of_the_proof_follows_the_audit():
    records = hand_made.play_traces(instances.synthetic(0.02, 4), 10_000, seed=1, runs=1)
    report = audit_all(records)
    table = regret_theorem.proof_table(report)
    assert table.index.tolist() == list(regret_theorem.PROOF_CHECKS)
    assert table["Checked"].tolist() == [report[key].checked for key in table.index]
    assert (table["Holds"] == "yes").all()
