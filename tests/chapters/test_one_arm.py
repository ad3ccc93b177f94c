"""Naming one optimal arm: the inequality behind the certificates, stopping rules, and the page."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, gammaln

from momab.chapters.one_arm import times_picture
from momab.model import instances, pareto
from momab.model.identification import naming_cost, pair_evidence
from momab.study import one_arm


@given(st.integers(1, 2_000), st.floats(0, 1), st.floats(0.01, 0.99))
def test_the_uniform_prior_loses_at_most_log_n_plus_1(n, share, p):
    hits = round(share * n)
    log_m = betaln(hits + 1, n - hits + 1) - hits * np.log(p) - (n - hits) * np.log1p(-p)
    divergence = n * float(one_arm.kl_array(np.array(hits / n), np.array(p)))
    assert divergence <= np.log(n + 1) + log_m + 1e-7
    binomial = gammaln(n + 1) - gammaln(hits + 1) - gammaln(n - hits + 1)
    assert betaln(hits + 1, n - hits + 1) == pytest.approx(-np.log(n + 1) - binomial, abs=1e-6)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
def test_the_ratios_are_the_evidence_less_what_the_prior_costs(seed, K, d):
    rng = np.random.default_rng(seed)
    counts, mu = rng.integers(50, 400, (1, K)).astype(float), rng.random((1, K, d))
    found = one_arm.likelihood_ratios(counts, mu)
    for a in range(K):
        for b in range(K):
            if a != b:
                plain = pair_evidence(mu[0, a], mu[0, b], counts[0, a], counts[0, b])
                assert found[0, a, b].sum() <= plain + 1e-9


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 3))
def test_certificates_imply_each_other(seed, K, d):
    """Hoeffding's intervals contain those of kl."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 2_000, (20, K)).astype(float)
    mu = rng.binomial(counts[..., None].astype(int), rng.random((K, d))) / counts[..., None]
    first = one_arm.named_by_intervals(counts, mu, 2.3, one_arm.STOPPING[0])
    second = one_arm.named_by_intervals(counts, mu, 2.3, one_arm.STOPPING[1], halvings=40)
    assert (second[first >= 0] >= 0).all()


@pytest.mark.parametrize("sampling", one_arm.SAMPLING)
def test_no_rule_is_wrong_more_often_than_it_says(sampling):
    means = np.array([[0.75, 0.7], [0.6, 0.55], [0.2, 0.8]])
    times, wrong = one_arm.stopping_times(
        means, sampling, one_arm.STOPPING[:3], np.log(10), 12, seed=2, most=30_000
    )
    assert np.isfinite(times).all()
    assert wrong.mean() <= 0.1
    assert (times[2] <= times[0]).mean() > 0.5


def test_a_copy_cannot_be_named():
    means = np.array([[0.6, 0.6], [0.6, 0.6]])
    times, _ = one_arm.stopping_times(
        means, "uniform", ["likelihood ratio"], np.log(10), 20, seed=1, most=3_000
    )
    assert np.isinf(times).mean() > 0.8


def test_without_a_lead_the_likelihood_ratio_still_stops():
    means = np.array([[0.9, 0.5], [0.9, 0.1], [0.4, 0.5]])
    assert pareto.g_dagger(means) == 0
    times, wrong = one_arm.stopping_times(
        means, "uniform", ["likelihood ratio"], np.log(10), 20, seed=1, most=20_000
    )
    assert np.isfinite(times).all()
    assert wrong.sum() == 0


def test_algorithm_1_samples_the_wider_end_of_a_race_of_two():
    counts = np.array([[10.0, 40.0, 400.0]])
    mu = np.array([[[0.8, 0.2], [0.7, 0.3], [0.1, 0.1]]])
    assert one_arm.race_arm(counts, mu, 2.3).tolist() == [0]


def test_the_whole_front_costs_more_than_one_arm():
    means = one_arm.INSTANCES["three optimal arms"]
    times, _ = one_arm.stopping_times(
        means, "uniform", one_arm.STOPPING[2:], np.log(10), 6, seed=1, most=1e5
    )
    assert (times[1] >= times[0]).all()


def test_two_answers_at_once_are_named_before_the_bound_for_one():
    cost = naming_cost([[0.7, 0.3], [0.3, 0.7]]).value
    times = one_arm.mirrored_times(1600.0, 300, seed=2) / (1600 * cost)
    assert times.mean() + 1.96 * times.std() / 300**0.5 < 1


def test_the_recorded_lines_cover_every_pair():
    lines = one_arm.recorded_times()
    assert set(lines["instance"]) == set(one_arm.INSTANCES)
    assert set(lines["sampling"]) == set(one_arm.SAMPLING)
    assert set(lines["stopping"]) == set(one_arm.STOPPING)
    name, seed = "synthetic, 0.12 and 1", int(lines["seed"].iloc[0])
    runs, risk = int(lines["runs"].iloc[0]), one_arm.CONFIDENCE[0]
    rules = list(one_arm.STOPPING[:3])
    means = one_arm.INSTANCES[name]
    times, _ = one_arm.stopping_times(means, "Algorithm 1", rules, risk, runs, seed)
    kept = lines.set_index(["instance", "sampling", "stopping", "log_risk"])["mean"]
    for rule, each in zip(rules, times):
        found = each.mean() / (naming_cost(means).value * risk)
        assert found == pytest.approx(kept[name, "Algorithm 1", rule, risk], abs=1e-3)


def test_the_picture_has_a_panel_per_instance():
    fig = times_picture(one_arm.recorded_times())
    assert [axes.get_title(loc="left") for axes in fig.axes] == list(one_arm.INSTANCES)


def test_the_instances_are_what_the_page_says_of_them():
    assert pareto.g_dagger(one_arm.INSTANCES["no lead"]) == 0
    assert (instances.synthetic(0.12, 1).means[:6] == list(one_arm.INSTANCES.values())[1]).all()
