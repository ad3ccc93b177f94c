"""The chapters on the bounds: their computations, and their conclusions for drawn parameters."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momab.auditing import hand_made
from momab.auditing.claims import audit
from momab.book.notebook import Notebook
from momab.book.parameters import rewrite_cell
from momab.chapters import regret_theorem, width_floor
from momab.engine import loop, policies
from momab.engine.policies import kl_ucb
from momab.engine.policies.width_guided import WidthGuided
from momab.errors import MomabError
from momab.model import families, instances, statistics, theory
from tests.conftest import ROOT


@pytest.fixture(autouse=True)
def scalar_policies(monkeypatch):
    """Register the scalar policies for these tests only."""
    monkeypatch.setitem(policies.SELECTIONS, kl_ucb.KLUCB, kl_ucb.select_klucb)
    monkeypatch.setitem(policies.SELECTIONS, kl_ucb.FirstOfTies, kl_ucb.select_first_of_ties)


policies.SELECTIONS.pop(kl_ucb.KLUCB)
policies.SELECTIONS.pop(kl_ucb.FirstOfTies)


def execute(name: str, **values: Any) -> dict[str, Any]:
    """Run a notebook's cells in this process, with checked values; return what they defined."""
    notebook = Notebook.read(ROOT / "notebooks" / f"{name}.md")
    checked = {key: parameter.default for key, parameter in notebook.parameters.items()}
    for key, value in values.items():
        checked[key] = notebook.parameters[key].check(value)
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in notebook.code_cells:
        source = cell.source
        if "parameters" in cell.metadata.get("tags", []):
            source = rewrite_cell(source, checked)
        exec(compile(source, name, "exec"), names)
    return names


# --- the families -------------------------------------------------------------------------


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
        (lambda: width_floor.stubborn_trace(10), "horizon"),
        (lambda: theory.tied_bound([[0.9, 0.1], [0.1, 0.2]], 100), "unique"),
        (lambda: kl_ucb.klucb_index(1.5, 1, 1.0), "mean"),
        (lambda: kl_ucb.klucb_index(0.5, 1, -1.0), "level"),
    ],
)
def test_refusals_say_what_is_wrong(call, words):
    with pytest.raises(MomabError, match=words):
        call()


# --- the width floor ----------------------------------------------------------------------


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


def test_the_floor_needs_a_lead():
    instance = families.tied_front([0.3])
    [record] = hand_made.play_traces(instance, 50, seed=1, runs=1)
    with pytest.raises(MomabError, match="positive objective gap"):
        width_floor.floor_rounds(record)


# --- the account --------------------------------------------------------------------------


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
        stages = kept.steps()["value"]
        assert (stages.diff()[1:] >= 0).all()


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


def test_scaling_and_power():
    frame = regret_theorem.scaling(
        {T: (instances.synthetic(0.02, 8), T) for T in (10**4, 10**5)}, 5, 1
    )
    assert (frame["mean"] < frame["sharper"]).all()
    assert (frame["sharper"] < frame["theorem"] / 2 + 10).all()
    frame["mean"] = frame["value"] ** 1.5
    assert regret_theorem.power(frame) == pytest.approx(1.5)


def test_mean_interval_is_students():
    mean, low, high = statistics.mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.7764451 * math.sqrt(2.5 / 5)
    assert (mean, low, high) == pytest.approx((3, 3 - half, 3 + half))
    assert statistics.mean_interval([2.0]) == (2, 2, 2)


# --- KL-UCB -------------------------------------------------------------------------------


@given(st.floats(0, 1), st.integers(1, 10**6), st.floats(0, 20))
def test_klucb_index_solves_its_equation(p, n, level):
    q = kl_ucb.klucb_index(p, n, level)
    assert p <= q <= 1
    assert n * theory.bernoulli_kl(p, q) <= level * (1 + 1e-9) + 1e-9
    above = q + 3e-9
    if above < 1:
        assert n * theory.bernoulli_kl(p, above) >= level * (1 - 1e-9) - 1e-9


@given(
    st.lists(st.tuples(st.integers(1, 200), st.floats(0, 1)), min_size=2, max_size=6),
    st.integers(10, 10**6),
)
def test_klucb_choice_has_the_largest_index(arms, t):
    counts = np.array([n for n, _ in arms], dtype=np.int64)
    sums = np.floor(np.array([n * p for n, p in arms]))
    level = math.log(t)
    chosen = kl_ucb._choose(sums, counts, level)
    indices = [kl_ucb.klucb_index(s / n, int(n), level) for s, n in zip(sums, counts)]
    assert indices[chosen] >= max(indices) - 2e-9
    same = (sums == sums[chosen]) & (counts == counts[chosen])
    assert chosen == np.flatnonzero(same)[0]


@pytest.mark.parametrize("d", [1, 4])
def test_klucb_kernel_agrees_with_the_plain_loop(d):
    instance = instances.duplicated(0.2, 4, d)
    points = np.array([4, 10, 300, 1_500])
    fast = kl_ucb.play_klucb(instance, 1_500, 11, 3, points)
    for run in range(3):
        slow = loop.play(instance, kl_ucb.KLUCB(), 1_500, 11, run, checkpoints=points)
        assert fast.pulls[run].tolist() == slow.pulls[0].tolist()
        assert fast.checkpoint_pulls[run].tolist() == slow.checkpoint_pulls[0].tolist()
    assert fast.regret_path[:, -1] == pytest.approx(fast.pulls @ instance.geometry.gaps)


@pytest.mark.parametrize(
    "policy",
    [kl_ucb.KLUCB(), kl_ucb.FirstOfTies(), policies.ParetoUCB1(q=2.0)],
    ids=lambda p: p.name,
)
@pytest.mark.parametrize(("delta", "K", "d"), [(0.2, 5, 3), (0.05, 2, 17)])
def test_policies_that_reduce_to_scalars_pull_the_same_arms(policy, delta, K, d):
    assert kl_ucb.first_difference(policy, delta, K, d, 800, seed=5) is None


def test_first_of_ties_is_width_guided_without_ties():
    """On rewards that never tie, the coins are never tossed, except for the endpoint."""
    tables = [np.random.default_rng(a).random((50, 1)) for a in range(2)]
    instance = instances.from_rows(tables)
    first = loop.play(instance, kl_ucb.FirstOfTies(), 300, 1, 0)
    other = loop.play(instance, WidthGuided(), 300, 1, 0)
    assert abs(first.pulls - other.pulls).max() <= 2


# --- the bounds against each other --------------------------------------------------------


def test_the_best_constant_of_the_lower_bound():
    best = 1 / (8 * math.log(4 / 3))
    deltas = np.linspace(0.001, 0.25, 500)
    scaled = np.array([theory.lower_bound(2, x).exact * x for x in deltas])
    assert scaled.min() == pytest.approx(best)
    assert scaled.argmin() == len(deltas) - 1
    assert best > 0.375


# --- the chapters -------------------------------------------------------------------------

seeds = st.integers(0, 2**31 - 1)
few = settings(max_examples=2)


@few
@given(seeds, st.sampled_from([0.2, 0.6, 2.5]), st.sampled_from([1_000, 5_000]), st.integers(1, 18))
def test_width_floor_chapter(seed, radius, horizon, crowd):
    page = execute(
        "width-floor", seed=seed, radius=radius, horizon=horizon, crowd=crowd, runs=2, draws=4
    )
    assert page["steps"]["failed"].sum() == 0
    assert page["report"].ok
    assert page["failures"] == 0
    assert not page["least"]["width"] < 1
    assert not page["least"]["radius"] < 1
    assert page["verdict"].ok
    assert page["inequalities"].loc[["both radii", "one radius"], "failed"].sum() == 0


@few
@given(seeds, st.integers(2, 12), st.floats(0.15, 0.6), st.integers(1, 17))
def test_regret_theorem_chapter(seed, arms, lead, crowd):
    page = execute(
        "regret-theorem", seed=seed, arms=arms, lead=lead, crowd=crowd, horizon=10_000, runs=5,
        tied_horizon=2_000, sweep_horizon=1_000,
    )  # fmt: skip
    assert page["report"].ok
    for chart in page["charts"].values():
        assert (chart["value"].diff()[1:] >= 0).all()
    for study in [*page["studies"].values(), page["crowds"], page["nobody"]]:
        assert (study["mean"] <= study["sharper"]).all()
        assert (study["sharper"] <= study["theorem"]).all()
        assert study["fullest"].max() <= 1
    assert (page["nobody"]["mean"] <= page["nobody"]["tied"]).all()
    assert page["nobody"]["certified"].max() == 0
    assert page["many"]["mean"] < page["one"]["mean"]
    assert page["fails"][2.0] < page["fails"][1.0] < theory.union_bound(20, 2, 1_000, 1.0)
    assert page["better"] <= page["old"] + 1e-9


@few
@given(seeds, st.floats(0.1, 0.25), st.integers(2, 6), st.integers(2, 12))
def test_lower_bound_chapter(seed, delta, arms, objectives):
    page = execute(
        "lower-bound", seed=seed, delta=delta, arms=arms, objectives=objectives,
        horizon=10_000, runs=5, pulls=300,
    )  # fmt: skip
    assert page["frame"]["Holds"].all()
    assert page["found"][:3] == [None] * 3
    upper = 64 * arms / delta
    assert (page["scaled"]["mean"] < upper).all()
    assert page["chain"].stated <= page["chain"].exact
    assert page["kl_top"]["mean"] < page["wg_top"]["mean"]
