"""The price of an instance: the steps of its proof, its special cases, and dependent coins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.path import Path

from momab.chapters import price
from momab.engine import loop, policies
from momab.model import instances, pareto, theory
from momab.study import price as computed
from tests.chapters.running import PAGE, WHOLE, loud, run_chapter

MEANS = np.array([[0.8, 0.3], [0.62, 0.62], [0.3, 0.8], [0.5, 0.52], [0.7, 0.15], [0.15, 0.65]])


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 4), st.floats(1e-6, 1e-3))
def test_raising_a_paid_arm_makes_the_candidate_paid(seed, K, d, eta):
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


def test_the_table_ends_with_the_price_of_every_free_arm():
    table = price.candidate_table(MEANS)
    assert table["Paid arm"].tolist() == ["4", "5", "6", "price"]
    assert table.iloc[-1, 2:].tolist() == theory.price(MEANS).per_arm[:3].tolist()


def test_a_panel_shows_the_price_of_its_candidate():
    panels = price.alternatives(MEANS, [0, 1]).axes
    for a, axes in enumerate(panels):
        assert axes.get_title(loc="left").startswith(
            f"arm {a + 1}: {theory.price(MEANS).per_arm[a]:.2f}"
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


def test_the_map_is_the_price_and_empty_where_the_arm_is_not_paid():
    points = np.array([0.2, 0.5, 0.7])
    values = price.moved_arm(MEANS[:3], points)
    assert values[0, 1] == theory.price([*MEANS[:3], [0.5, 0.2]]).value
    assert np.isnan(values[2, 2])
    assert np.isfinite(values[:2, :2]).all()


@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 4))
def test_a_dominated_candidate_is_never_cheaper(seed, K, d):
    means = instances.random_means(K, d, seed=seed, levels=5) * 0.9 + 0.05
    per_arm = theory.price(means).per_arm
    front = pareto.front(means)
    assert per_arm[front].min() <= per_arm.min() * (1 + 1e-12)


@settings(max_examples=20)
@given(st.floats(0.1, 0.5), st.floats(0.55, 0.9))
def test_agreement_costs_and_the_ceiling_holds(p, m):
    rhos = np.linspace(computed.least_correlation(p), 1, 9)
    found = computed.by_correlation(p, m, rhos)
    one, ceiling = float(theory.kl_plus(p, m)), np.log((1 - p) / (1 - m))
    assert (np.diff(found) <= 1e-9).all()
    assert (np.diff(found, 2) >= -1e-9).all()
    assert found[-1] == pytest.approx(one, abs=1e-9)
    assert (found <= ceiling + 1e-9).all()
    assert computed.by_correlation(p, m, np.zeros(1))[0] < 2 * one


@settings(max_examples=10)
@given(st.floats(0.1, 0.5), st.floats(0.55, 0.9))
def test_exchangeable_coins_are_as_good_as_their_average(p, m):
    pairs = theory.kinf(computed.PAIRS, [m, m], computed.coin_law(p, 0.0))
    found = price.by_objectives(p, m, np.array([1, 2, 3]))
    assert found[1] == pytest.approx(pairs, abs=1e-9)
    assert found[0] == pytest.approx(float(theory.kl_plus(p, m)), abs=1e-9)
    assert found[2] > found[1] > found[0]


def test_the_law_of_two_coins():
    law = computed.coin_law(0.3, 0.5)
    assert law.sum() == pytest.approx(1)
    assert law[2] + law[3] == pytest.approx(0.3)
    assert law[3] == pytest.approx(0.09 + 0.5 * 0.21)
    assert computed.coin_law(0.3, computed.least_correlation(0.3))[3] == pytest.approx(0)


@WHOLE
@PAGE
@given(
    st.integers(0, 2**31 - 1), st.integers(2, 12), st.integers(1, 4),
    st.floats(0.1, 0.5), st.floats(0.55, 0.9),
)  # fmt: skip
def test_price_chapter(whole, shown, seed, arms, objectives, coin, target):
    page = run_chapter(
        "price", whole, seed=seed, arms=arms, objectives=objectives, coin=coin, target=target,
        horizon=2_000, runs=5, draws=200,
    )  # fmt: skip
    assert (page["promised"] < 1).all()
    assert page["scalar"] == pytest.approx(page["lai"], rel=1e-12)
    assert page["copies"] == pytest.approx(page["lai"], rel=1e-12)
    assert (page["frame"]["price"] <= page["frame"]["scalar"] * (1 + 1e-12)).all()
    assert not loud(shown)


def test_long_walks_are_thinned_to_what_can_be_seen() -> None:
    walks = np.cumsum(np.ones((2, 1001)), axis=1)
    case = {"title": "", "paths": walks, "slope": 1.0, "pulls": np.ones(3), "ratios": np.ones(3)}
    fig = price.likelihood_fan([case], 100, "KL-UCB")
    for line, walk in zip(fig.axes[0].lines, walks, strict=False):
        n = np.asarray(line.get_xdata())
        assert 100 < len(n) <= price.WALK_POINTS
        assert (line.get_ydata() == walk[n]).all()
