"""The chapters on the algorithm, the confidence event, certificates and local charge.

Each notebook is executed in this process with drawn parameters, at a small size, and what it
concludes is asserted from its own variables; the computations behind it have tests of their own.
"""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from momab import auditing
from momab.auditing import hand_made
from momab.auditing import trace as tracing
from momab.book.notebook import Notebook
from momab.book.parameters import rewrite_cell
from momab.chapters import certificates, local_charge
from momab.engine.policies.width_guided import WidthGuided
from momab.errors import MomabError
from momab.figures import show
from momab.model import instances, pareto

ROOT = Path(__file__).resolve().parents[2]
FEW = settings(
    max_examples=1, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SEEDS = st.integers(0, 2**31 - 1)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What a notebook would have displayed."""
    bundles: list[dict[str, Any]] = []
    monkeypatch.setattr(show, "bundle", bundles.append)
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: bundles.append(bundle))
    return bundles


def run_chapter(name: str, **values: Any) -> dict[str, Any]:
    """Execute a notebook's code cells in this process with these parameter values."""
    notebook = Notebook.read(ROOT / "notebooks" / f"{name}.md")
    checked = {key: notebook.parameters[key].check(value) for key, value in values.items()}
    names: dict[str, Any] = {"__name__": f"chapter_{name.replace('-', '_')}"}
    for cell in notebook.code_cells:
        source = cell.source
        if "parameters" in cell.metadata.get("tags", []):
            source = rewrite_cell(source, checked)
        exec(compile(source, f"notebooks/{name}.md", "exec"), names)
    return names


def text_of(bundles: list[dict[str, Any]]) -> str:
    return " ".join(str(bundle["text/plain"]) for bundle in bundles)


def loud(bundles: list[dict[str, Any]]) -> list[str]:
    """The words that a page prints in capitals when a claim fails."""
    return re.findall(r"\b(?:FAILS|FAILED|DISAGREES|VIOLATED)\b", text_of(bundles))


# --- chapters -------------------------------------------------------------------------------


@given(
    seed=SEEDS,
    horizon=st.integers(50, 400),
    c=st.sampled_from([0.1, 0.5]),
    margin=st.sampled_from([0.001, 0.05]),
)
@example(seed=5, horizon=50, c=4.0, margin=0.1)
@FEW
def test_certificates_chapter(shown: list[dict[str, Any]], **drawn: Any) -> None:
    shown.clear()
    page = run_chapter(
        "certificates", runs=100, coefficients=[0.005, 0.1, 3.0], audited=12, share_runs=50, **drawn
    )
    assert page["report"].ok
    assert page["verdict"].ok
    assert page["verdict"].event.holds
    assert page["small"].certificate.objective != page["small"].geometry.j_dagger
    rates = page["rates"]
    assert (rates["false_low"] <= np.minimum(1, rates["crossing"])).all()
    assert (rates["dominated_rate"] <= rates["false_rate"]).all()
    assert not loud(shown)


@given(
    seed=SEEDS,
    gap=st.sampled_from([0.4, 0.7, 1.0]),
    horizon=st.integers(500, 2000),
    c=st.sampled_from([0.05, 0.5, 2.0]),
)
@example(seed=2, gap=0.2, horizon=500, c=2.0)
@FEW
def test_local_charge_chapter(shown: list[dict[str, Any]], **drawn: Any) -> None:
    shown.clear()
    page = run_chapter(
        "local-charge", searched=12, rounds=200, coefficients=[0.02, 0.3, 2.0], **drawn
    )
    assert (page["steps"]["violations"] == 0).all()
    assert page["report"].ok
    assert page["verdict"].ok
    assert page["verdict"].event.holds
    table = page["closeness"]
    exact = table[table["rewards"] == "in [0, 1]"]
    assert (exact["largest gap / radius"] >= exact["bound for [0, 1]"]).all()
    assert (table["largest gap / radius"] <= 4 + 1e-9).all()
    # the broken policy of the exercise really breaks the lemma
    assert page["caught"]["endpoint"].violations
    assert page["caught"]["lemma-10"].violations
    assert not loud(shown)


def test_an_instance_where_the_champion_usually_loses() -> None:
    crowd = {"crowd": certificates.photo_finish(20, 0.4, 0.02)}
    row = certificates.champion_shares(crowd, 2.0, 20_000, 200, 1).iloc[0]
    assert row["certified"] == 200
    assert row["high"] < 0.5
    assert row["on_front"] == 1.0


# --- certificates ---------------------------------------------------------------------------


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


# --- local charge ---------------------------------------------------------------------------


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
    run = local_charge.edge_run(gap, T, c, whole, rivals=1, d=2)
    report = auditing.audit(run)
    assert report.ok
    assert report.event.holds
    ratio = local_charge.charges([run]).gap.max()
    assert ratio <= 4 + 1e-9
    if run.certificate is not None and not whole:
        assert ratio >= 4 * math.sqrt(max(0.0, 1 - gap**2 / (8 * c * math.log(T))))


def test_bad_input_is_refused() -> None:
    with pytest.raises(MomabError, match="side must be"):
        hand_made.edge_sequence(0.5, 3, 10, 1.0, 0)
    with pytest.raises(MomabError, match="gap must be at most 1"):
        local_charge.edge_run(1.5, 100, 1.0)
    with pytest.raises(MomabError, match="no trace with a decision"):
        local_charge.charges([])
