"""Subsets: the frozen ones, the labels, and the selector."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab.errors import MomabError
from momab.model import instances, pareto
from momab.study import datasets
from momab.study.datasets import subsets
from tests.realdata import load_or_skip

TEST_SEED, VALIDATION_SEED = 20260704, 20260604


@pytest.fixture(scope="session")
def real(shared):
    """The two large instances."""
    return {name: load_or_skip(shared, name) for name in datasets.REGISTRY}


@pytest.fixture(scope="module")
def grid():
    """Thirty arms with means on a fine grid: all classes of arms occur."""
    means = instances.random_means(30, 3, seed=5) * 0.1 + 0.4
    return instances.bernoulli(means, name="grid")


def row(*gaps):
    """Means with the given Pareto gaps: one arm of the front and arms below it."""
    return [[0.9, 0.9], *([0.9 - g, 0.9 - g] for g in gaps)]


# --- The frozen subsets -----------------------------------------------------------------------


def test_the_package_holds_the_frozen_subsets(shared):
    text = (shared / "reference" / "frozen_subsets.json").read_text()
    for dataset, records in json.loads(text).items():
        for subset, record in zip(subsets.frozen(dataset), records, strict=True):
            ours = {k: list(v) if isinstance(v, tuple) else v for k, v in vars(subset).items()}
            assert ours == record | {"arms": [str(a) for a in record["arms"]]}


@pytest.mark.parametrize("dataset", ["spotify", "kuairec"])
def test_three_frozen_subsets_of_every_type(dataset):
    assert [s.subset_type for s in subsets.frozen(dataset)] == np.repeat(subsets.KINDS, 3).tolist()
    assert len(subsets.frozen(dataset, "friendly")) == 3
    with pytest.raises(MomabError, match="not of 'movielens'"):
        subsets.frozen("movielens")


@pytest.mark.parametrize("dataset", ["spotify", "kuairec"])
def test_frozen_subsets_carry_their_labels_and_figures(real, dataset):
    for subset in subsets.frozen(dataset):
        part = subset.instance(real[dataset])
        assert part.arm_names == subset.arms
        assert subsets.label(part.means) == subset.subset_type
        again = subsets.Subset.of(real[dataset], subset.indices, subset.subset_type)
        assert again.pareto_positions == subset.pareto_positions
        np.testing.assert_allclose(again.objective_gaps, subset.objective_gaps, atol=1e-12)
        assert again.g_dagger == pytest.approx(subset.g_dagger, abs=1e-12)
        assert again.delta_min_p == pytest.approx(subset.delta_min_p, abs=1e-12)


def test_what_separates_the_labels(real):
    """The table in the module's docstring, measured."""
    seen = {kind: [] for kind in subsets.KINDS}
    for dataset, whole in real.items():
        for subset in subsets.frozen(dataset):
            n = subsets.classes(subset.instance(whole).means)
            seen[subset.subset_type].append((n.zero, n.cheap, n.misleading, n.separated))
    _, cheap, misleading, separated = np.array(seen[subsets.MISLEADING]).T
    assert (misleading.min(), misleading.max()) == (3, 5)
    assert not cheap.any()
    assert np.array_equal(seen[subsets.FRIENDLY], [(8, 2, 0, 0)] * 6)
    _, cheap, misleading, separated = np.array(seen[subsets.EASY]).T
    assert not cheap.any()
    assert not misleading.any()
    assert (separated.min(), separated.max()) == (4, 9)


def test_a_subset_refuses_another_instance(grid):
    subset = subsets.Subset.of(grid, range(10), "easy")
    assert subset.instance(grid).K == 10
    names = [f"other {i}" for i in range(30)]
    with pytest.raises(MomabError, match=r"arm 0 of renamed is 'other 0', but .* it is 'arm 1'"):
        subset.instance(instances.bernoulli(grid.means, arm_names=names, name="renamed"))
    with pytest.raises(MomabError, match=r"names arm 9; grid .* has 5 arms"):
        subset.instance(grid.subset(range(5)))


# --- Labels and scores ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gaps", "label"),
    [
        ((0.01, 0.01, 0.01), subsets.MISLEADING),
        ((0.01, 0.01, 0.01, 0.3, 0.001), subsets.MISLEADING),
        ((0.01, 0.01, 0.3), ""),
        ((0.001, 0.0015), subsets.FRIENDLY),
        ((0.001, 0.01), ""),
        ((0.001, 0.3), ""),
        ((0.1, 0.2, 0.3), subsets.EASY),
        ((0.1, 0.2, 0.3, 0.01), ""),
        ((0.1, 0.2), ""),
        ((0.0, 0.0), ""),
    ],
)
def test_labels_by_hand(gaps, label):
    assert subsets.label(row(*gaps)) == label


def test_scores_by_hand():
    means = row(0.01, 0.001, 0.1)
    burden, total = np.log1p(100), np.log1p(100 + 1000 + 10)
    assert subsets.scores(means, "misleading") == pytest.approx(1000 + burden)
    assert subsets.scores(means, "friendly") == pytest.approx(2000 - 100 - burden + 0.01)
    assert subsets.scores(means, "easy") == pytest.approx(1000 + 0.1 - 1000 - total, abs=1e-6)


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 4))
def test_a_stack_is_labelled_like_its_members(seed, K, d):
    stack = instances.random_means(K, d, seed, levels=50, instances=6) * 0.1
    n = subsets.classes(stack)
    assert (n.zero + n.cheap + n.misleading + n.separated == K).all()
    for i, means in enumerate(stack):
        assert subsets.label(stack)[i] == subsets.label(means)
        for kind in subsets.KINDS:
            assert subsets.scores(stack, kind)[i] == subsets.scores(means, kind)


# --- The selector ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dataset", "kind"),
    [
        ("spotify", subsets.MISLEADING),
        ("spotify", subsets.FRIENDLY),
        # bootstraps 500 candidates; two of them are scored in the quick test below
        pytest.param("kuairec", subsets.MISLEADING, marks=pytest.mark.slow),
        ("kuairec", subsets.FRIENDLY),
        ("kuairec", subsets.EASY),
    ],
)
def test_the_test_seed_finds_the_frozen_subsets_again(real, dataset, kind):
    chosen = subsets.select(real[dataset], kind, seed=TEST_SEED, contamination=dataset == "kuairec")
    assert [s.indices for s in chosen] == [s.indices for s in subsets.frozen(dataset, kind)]


def test_the_spotify_easy_suite_comes_from_elsewhere():
    """The paper calls it separately frozen: the test seed's candidates do not contain it."""
    drawn = {tuple(c) for c in subsets.candidates(114, 10, 5000, TEST_SEED).tolist()}
    assert not drawn & {s.indices for s in subsets.frozen("spotify", "easy")}
    assert drawn >= {s.indices for s in subsets.frozen("spotify", "misleading")}


@pytest.mark.parametrize(("rank", "score"), [(11, 2699.612211235447), (7, 1499.2245588307474)])
def test_contamination_scores_are_the_published_ones(real, rank, score):
    subset = subsets.frozen("kuairec", "misleading")[0 if rank == 11 else 1]
    seed = TEST_SEED + 50_000_000 + rank
    ours = subsets.contamination(real["kuairec"], subset.indices, seed)
    assert ours == pytest.approx(score, abs=1e-9)


def test_validation_subsets_are_not_the_test_subsets(real):
    for kind in subsets.KINDS:
        chosen = subsets.select(real["spotify"], kind, seed=VALIDATION_SEED)
        assert len({s.indices for s in chosen}) == 3
        assert not {s.indices for s in chosen} & {s.indices for s in subsets.frozen("spotify")}
        for subset in chosen:
            assert subsets.label(subset.instance(real["spotify"]).means) == kind


@pytest.mark.parametrize("kind", subsets.KINDS)
def test_selection_is_a_function_of_the_seed(grid, kind):
    def indices(seed):
        return [s.indices for s in subsets.select(grid, kind, 2, size=5, seed=seed, draws=3000)]

    assert indices(1) == indices(1)
    for subset in indices(1):
        assert list(subset) == sorted(set(subset))
        assert subsets.label(grid.means[list(subset)]) == kind


def test_selection_takes_the_best(grid):
    chosen = subsets.select(grid, "misleading", 4, size=5, seed=3, draws=2000)
    drawn = grid.means[subsets.candidates(30, 5, 2000, 3)]
    best = np.sort(subsets.scores(drawn, "misleading"))[::-1][:4]
    ours = [subsets.scores(s.instance(grid).means, "misleading") for s in chosen]
    np.testing.assert_allclose(ours, best)


def test_few_subsets_are_all_tried():
    assert subsets.candidates(5, 3, 100, seed=1).tolist() == [
        [0, 1, 2],
        [0, 1, 3],
        [0, 1, 4],
        [0, 2, 3],
        [0, 2, 4],
        [0, 3, 4],
        [1, 2, 3],
        [1, 2, 4],
        [1, 3, 4],
        [2, 3, 4],
    ]
    drawn = subsets.candidates(20, 4, 300, seed=1)
    assert len(np.unique(drawn, axis=0)) == 300


def every_source():
    rng = np.random.default_rng(8)
    means = np.array(row(0.01, 0.012, 0.014, 0.018, 0.3)) - 0.3
    rows = [np.clip(m + rng.normal(0, 0.1, (40, 2)), 0, 1) for m in means]
    return {
        "Bernoulli": instances.bernoulli(means),
        "Duplicated": instances.duplicated_coordinates(means[:, 0], 2),
        "Rows": instances.from_rows(rows),
        "Samples": instances.from_samples([[r[:, 0], r[:30, 1]] for r in rows]),
    }


@pytest.mark.parametrize("name", list(every_source()))
def test_contamination_of_every_source(name):
    whole = every_source()[name]
    arms = np.arange(whole.K)
    drawn = subsets._bootstrap_means(whole.source, arms, np.random.default_rng(1))
    assert drawn.shape == (subsets.BOOTSTRAPS, whole.K, whole.d)
    error = drawn.mean(axis=0) - whole.means
    assert np.abs(error).max() < 5 * 0.5 / np.sqrt(subsets.BOOTSTRAPS * subsets.PULLS)
    assert drawn.std(axis=0).min() > 0
    if name == "Duplicated":
        assert np.array_equal(drawn[..., 0], drawn[..., 1])
    first = subsets.contamination(whole, arms.tolist(), seed=4)
    assert first == subsets.contamination(whole, arms.tolist(), seed=4) >= 0


def test_contamination_by_hand(monkeypatch, grid):
    """Two fronts: the best arm alone, and with a dominated arm beside it."""
    whole = instances.bernoulli(row(0.01, 0.02))
    clean, dirty = row(0.01, 0.02), row(0.01, 0.02)
    dirty[1] = [0.95, 0.8]
    monkeypatch.setattr(
        subsets, "_bootstrap_means", lambda *_: np.array([clean, dirty], dtype=float)
    )
    assert np.array_equal(pareto.front(dirty), [True, True, False])
    expected = 1e5 * 0.005 / 2 + 100 * 0.5 + 1e4 * 0.01 / 2
    assert subsets.contamination(whole, [0, 1, 2], seed=0) == pytest.approx(expected)


def test_contamination_changes_only_the_misleading_group(grid):
    for kind in ("friendly", "easy"):
        plain, balanced = (
            subsets.select(grid, kind, 2, size=5, seed=1, contamination=c) for c in (False, True)
        )
        assert plain == balanced


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "hard"}, "misleading, friendly or easy; there is no 'hard'"),
        ({"count": 0}, "number of subsets must be a whole number >= 1"),
        ({"size": 31}, r"in 2\.\.30"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"draws": 0}, "number of candidates"),
        ({"count": 50, "draws": 60}, "only .* of 60 candidates .* draw more candidates"),
    ],
)
def test_bad_requests_are_one_sentence(grid, arguments, message):
    with pytest.raises(MomabError, match=message):
        subsets.select(grid, **({"kind": "easy", "size": 5} | arguments))
