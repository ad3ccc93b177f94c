"""Certificates: the computations behind the page, and its conclusions for drawn parameters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from momab.chapters import certificates
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger import auditing
from momab.ledger.auditing import hand_made
from momab.ledger.auditing import trace as tracing
from momab.model import instances, pareto
from tests.chapters.running import PAGE, WHOLE, loud, run_chapter
from tests.strategies import mean_vectors

SEEDS = st.integers(0, 2**31 - 1)


@WHOLE
@given(seed=SEEDS, horizon=st.integers(50, 400))
@PAGE
def test_certificates_chapter(shown: list[dict[str, Any]], whole: bool, **drawn: Any) -> None:
    shown.clear()
    page = run_chapter(
        "certificates", whole, runs=100, coefficients=[0.005, 0.1, 3.0], audited=12, **drawn
    )
    assert page["report"].ok
    rates = page["rates"]
    assert (rates["false_low"] <= np.minimum(1, rates["crossing"])).all()
    assert (rates["dominated_rate"] <= rates["false_rate"]).all()
    assert not loud(shown)


@given(seed=SEEDS, c=st.sampled_from([0.1, 0.5]), margin=st.sampled_from([0.001, 0.05]))
@example(seed=5, c=4.0, margin=0.1)
@PAGE
def test_more_certificates_chapter(shown: list[dict[str, Any]], **drawn: Any) -> None:
    shown.clear()
    page = run_chapter("more-certificates", share_runs=50, **drawn)
    assert page["verdict"].ok
    assert page["verdict"].event.holds
    assert page["small"].certificate.objective != page["small"].geometry.j_dagger
    assert page["late"] == page["off"] == 0
    assert not loud(shown)


def test_an_instance_where_the_champion_usually_loses() -> None:
    crowd = {"crowd": certificates.photo_finish(20, 0.4, 0.02)}
    row = certificates.champion_shares(crowd, 2.0, 20_000, 200, 1).iloc[0]
    assert row["certified"] == 200
    assert row["high"] < 0.5
    assert row["on_front"] == 1.0


def test_the_chain_of_lemma_9() -> None:
    instance = instances.bernoulli([[0.9], [0.2]])
    run = tracing.trace(instance, WidthGuided(), 2000, 1)
    chain = certificates.certificate_chain(run)
    assert chain["holds"].all()
    assert (chain["slack"] >= 0).all()
    lied = run.edited(means=[[0.1], [0.2]])
    failed = set(certificates.certificate_chain(lied).query("~holds")["inequality"])
    assert any("L_b ≤ μ_b" in claim for claim in failed)
    assert any("conclusion" in claim for claim in failed)


def test_no_certificate_no_chain() -> None:
    run = tracing.trace(instances.bernoulli([[0.5], [0.5]]), WidthGuided(), 50, 1)
    assert certificates.certificate_chain(run).empty


def test_families_have_the_gaps_they_promise() -> None:
    photo = certificates.photo_finish(5, 0.4, 0.02).geometry
    assert photo.j_dagger == 0
    assert np.allclose(photo.objective_gaps, [0.4, *[0.38] * 4])
    crowd = certificates.many_runners_up(6, 0.3, 0.05)
    assert np.allclose(pareto.objective_gaps(crowd.means), [0.3, 0.25])


@given(small=st.floats(0.001, 0.3), c=st.floats(0.2, 2), T=st.integers(1000, 3000))
@settings(max_examples=8, deadline=None)
def test_a_smaller_gap_can_certify_on_the_event(small: float, c: float, T: int) -> None:
    run = certificates.lucky_small_gap(0.5, small, T, c)
    report = auditing.audit(run)
    assert report.ok
    assert report.event.holds
    assert run.certificate is not None
    assert (run.certificate.objective, run.certificate.arm) == (1, 1)


@given(mean_vectors())
def test_every_objective_has_a_maximiser_on_the_front(means: Any) -> None:
    for mu in means.reshape(-1, *means.shape[-2:]):
        for j, a in enumerate(certificates.front_maximisers(mu)):
            assert mu[a, j] == mu[:, j].max()
            assert pareto.front(mu)[a]


def test_an_arm_off_the_front_is_stored_only_when_one_of_two_sides_fails() -> None:
    """The proof of K d T^(1 - 2c), on runs with ties whose intervals fail all the time."""
    strays, tied = 0, 0
    for run in hand_made.random_traces(400, 600, [0.05, 0.02, 0.01], 11):
        stored = run.certificate
        if stored is not None and stored.arm not in run.geometry.front:
            strays += 1
            low, high = certificates.failed_sides(run)
            assert low or high
            tied += run.means[stored.arm, stored.objective] == run.means[:, stored.objective].max()
    assert strays > 20
    assert tied > 0, "also on tied objectives"
    calm = tracing.trace(instances.bernoulli([[0.9], [0.2]]), WidthGuided(), 2000, 1)
    assert certificates.failed_sides(calm) == (False, False)
    lied = calm.edited(means=[[0.1], [0.2]])
    assert certificates.failed_sides(lied) == (True, False)


@pytest.mark.parametrize("c", [0.6, 0.75])
def test_a_dominated_arm_is_stored_at_most_as_often_as_one_side_allows(c: float) -> None:
    means = [[0.5, 0.5], [0.5, 0.4], [0.45, 0.5]]
    rates = certificates.false_rates(instances.bernoulli(means), [c], 200, 4_000, 3).iloc[0]
    bound = 3 * 2 * 200 ** (1 - 2 * c)
    assert rates["stated"] / 2 == pytest.approx(bound)
    assert rates["dominated_low"] <= bound


def test_kl_certificates_come_no_later_and_help_where_means_are_small() -> None:
    levels = {
        "low": [[0.2, 0.02], [0.02, 0.2]],
        "middle": [[0.6, 0.42], [0.42, 0.6]],
        "never": [[0.5], [0.5]],
    }
    stops = certificates.kl_rounds(levels, 2.0, 5_000, 6, 1)
    assert (stops["kl"] <= stops["hoeffding"]).all()
    assert not stops["off"].any()
    medians = stops.groupby("instance")[["hoeffding", "kl"]].median()
    factor = medians["hoeffding"] / medians["kl"]
    assert factor["low"] > 1.5 * factor["middle"]
    assert (stops.loc[stops["instance"] == "never", ["hoeffding", "kl"]] == 5_000).all(axis=None)
