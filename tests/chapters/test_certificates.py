"""Certificates: the computations behind the page, and its conclusions for drawn parameters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from momab import auditing
from momab.auditing import hand_made
from momab.auditing import trace as tracing
from momab.chapters import certificates
from momab.engine.policies.width_guided import WidthGuided
from momab.model import instances, pareto
from tests.chapters.running import PAGE, WHOLE, loud, run_chapter

SEEDS = st.integers(0, 2**31 - 1)


@WHOLE
@given(
    seed=SEEDS,
    horizon=st.integers(50, 400),
    c=st.sampled_from([0.1, 0.5]),
    margin=st.sampled_from([0.001, 0.05]),
)
@example(seed=5, horizon=50, c=4.0, margin=0.1)
@PAGE
def test_certificates_chapter(shown: list[dict[str, Any]], whole: bool, **drawn: Any) -> None:
    shown.clear()
    page = run_chapter(
        "certificates",
        whole,
        runs=100,
        coefficients=[0.005, 0.1, 3.0],
        audited=12,
        share_runs=50,
        **drawn,
    )
    assert page["report"].ok
    assert page["verdict"].ok
    assert page["verdict"].event.holds
    assert page["small"].certificate.objective != page["small"].geometry.j_dagger
    rates = page["rates"]
    assert (rates["false_low"] <= np.minimum(1, rates["crossing"])).all()
    assert (rates["dominated_rate"] <= rates["false_rate"]).all()
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
    assert any("L_b <= mu_b" in claim for claim in failed)
    assert any("conclusion" in claim for claim in failed)


def test_no_certificate_no_chain() -> None:
    run = tracing.trace(instances.bernoulli([[0.5], [0.5]]), WidthGuided(), 50, 1)
    assert certificates.certificate_chain(run).empty


def test_families_have_the_gaps_they_promise() -> None:
    photo = certificates.photo_finish(5, 0.4, 0.02).geometry
    assert photo.j_dagger == 0
    assert np.allclose(photo.objective_gaps, [0.4, *[0.38] * 4])
    crowd = certificates.crowded_champion(6, 0.3, 0.05)
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


def test_shares_in_bins_cover_all_certified_runs() -> None:
    drawn = certificates.champion_random(60, 3, 3, 0.2, 500, 4)
    binned = certificates.binned_shares(drawn, 5)
    assert binned["runs"].sum() == drawn["certified"].sum()
    hits = (binned["rate"] * binned["runs"]).sum()
    assert hits == pytest.approx(drawn["hit"].sum())


def test_the_table_of_lemma_9_is_that_of_the_audit() -> None:
    report = auditing.audit_all(hand_made.random_traces(12, 300, [2.0, 0.02], 1))
    table = certificates.lemma_9_table(report)
    for row, key in zip(table.to_numpy().tolist(), ("lemma-9", "lemma-9-front")):
        check = report[key]
        assert row == [check.claim, check.checked, check.violations, check.off_event]


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
    fig = certificates.kl_figure(stops)
    assert [line.get_label() for line in fig.axes[0].lines[1:]] == list(levels)
