"""The price of an instance: the steps of its proof, and its page."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.path import Path

from momab.chapters import price
from momab.engine import loop, policies
from momab.model import instances, pareto, theory
from momab.study import price as computed
from tests.chapters.running import PAGE, WHOLE, loud, run_chapter

MEANS = np.array([[0.8, 0.3], [0.62, 0.62], [0.3, 0.8], [0.5, 0.52], [0.7, 0.15], [0.15, 0.65]])


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 4), st.floats(1e-6, 1e-3))
def test_raising_a_paid_arm_makes_the_candidate_suboptimal(seed, K, d, eta):
    means = 0.01 + 0.98 * instances.random_means(K, d, seed=seed)
    gaps = pareto.gaps(means)
    for a in np.flatnonzero(gaps == 0):
        for b in np.flatnonzero(gaps > 0):
            other = computed.raised_arm(means, b, a, eta)
            assert (np.delete(other, b, axis=0) == np.delete(means, b, axis=0)).all()
            assert pareto.gaps(other)[a] >= eta * (1 - 1e-9)
            step = theory.kl_plus(means[b], other[b]).sum()
            assert step >= theory.evidence(means)[b, a] > 0


def test_the_ratio_of_all_samples_is_the_end_of_the_path():
    block = loop.play_block(
        instances.bernoulli(MEANS), policies.KLUCB(), 2_000, 3, 0, 5, final_sums=True
    )
    case = price.ratio_case(MEANS, 4, 0, block, 3)
    assert len(case["pulls"]) == 5
    for path, n, ratio in zip(case["paths"], case["pulls"], case["ratios"]):
        assert path[n] == pytest.approx(ratio)
        assert path[0] == 0


def test_paths_climb_with_the_evidence():
    other = computed.raised_arm(MEANS, 4, 0)[4]
    paths = price.log_ratio_paths(MEANS, 4, other, 200, 400, seed=1)
    slope = theory.evidence(MEANS)[4, 0]
    spread = paths[:, -1].std() / np.sqrt(200)
    assert abs(paths[:, -1].mean() - 400 * slope) < 4 * spread


def test_counting_and_reweighting_agree():
    other = computed.raised_arm(MEANS, 4, 0)
    frame = computed.reweighted_chances(MEANS, other, 4, policies.KLUCB(), 60, 2_000, seed=1)
    width = (frame["counted_high"] - frame["counted_low"]) / 2
    width = np.hypot(width, (frame["reweighted_high"] - frame["reweighted_low"]) / 2)
    assert ((frame["counted"] - frame["reweighted"]).abs() < 2 * width).all()
    assert (frame["here"] > frame["counted"]).all()


def test_a_panel_shows_the_price_of_its_candidate():
    panels = price.alternatives(MEANS, [0, 1]).axes
    for a, axes in enumerate(panels):
        assert axes.get_title(loc="left").startswith(
            f"song {a + 1}: {theory.price(MEANS).per_arm[a]:.2f}"
        )
        star = [line for line in axes.lines if line.get_marker() == "*"]
        assert np.array([line.get_xydata() for line in star]).tolist() == [[MEANS[a].tolist()]]


def test_no_arrow_runs_through_the_number_of_an_arm():
    fig = price.alternatives(MEANS, [0, 1])
    fig.canvas.draw()
    for axes, a in zip(fig.axes, [0, 1], strict=True):
        numbers = [text for text in axes.texts if text.get_text()]
        assert [text.get_text() for text in numbers] == [str(k + 1) for k in range(len(MEANS))]
        for b in (3, 4, 5):
            ends = np.array([MEANS[b], computed.raised_arm(MEANS, b, a)[b]])
            arrow = Path(axes.transData.transform(ends))
            for text in numbers:
                assert not arrow.intersects_bbox(text.get_window_extent().padded(2)), (a, b, text)


@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 4))
def test_a_dominated_candidate_is_never_cheaper(seed, K, d):
    means = instances.random_means(K, d, seed=seed, levels=5) * 0.9 + 0.05
    per_arm = theory.price(means).per_arm
    front = pareto.front(means)
    assert per_arm[front].min() <= per_arm.min() * (1 + 1e-12)


@WHOLE
@PAGE
@given(st.integers(0, 2**31 - 1))
def test_price_chapter(whole, seed):
    page = run_chapter("price", whole, seed=seed, horizon=2_000, runs=5)
    assert np.allclose(page["prices"], theory.price(MEANS).per_arm[:3])
    assert len(page["cases"][0]["pulls"]) == 5


@PAGE
@given(st.integers(0, 2**31 - 1), st.integers(2, 12), st.integers(1, 4))
def test_price_and_lead(shown, seed, arms, objectives):
    page = run_chapter("price-and-lead", seed=seed, arms=arms, objectives=objectives, draws=200)
    assert (page["promised"] < 1).all()
    assert (page["frame"]["price"] <= page["frame"]["scalar"] * (1 + 1e-12)).all()
    values = page["price_with"](MEANS[:3], np.array([0.2, 0.5, 0.7]))
    assert values[0, 1] == theory.price([*MEANS[:3], [0.5, 0.2]]).value
    assert np.isnan(values[2, 2])
    assert np.isfinite(values[:2, :2]).all()
    assert not loud(shown)
