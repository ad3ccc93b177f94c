"""Builders: what they build, and what they refuse."""

import numpy as np
import pytest

from momab import MomabError
from momab.model import instances


def test_zero_gap():
    assert instances.zero_gap().means.tolist() == [[1, 1], [1, 0]]


@pytest.mark.parametrize(("delta", "m"), [(0.12, 1), (0.01, 1), (0.02, 12)])
def test_synthetic_family_has_the_papers_geometry(delta, m):
    instance = instances.synthetic(delta, m)
    geo = instance.geometry
    assert (geo.K, geo.d, geo.front) == (20, 2, (0, 1))
    assert geo.g_dagger == pytest.approx(0.55)
    np.testing.assert_allclose(geo.gaps[2 : 2 + m], delta)
    np.testing.assert_allclose(geo.gaps[2 + m :], 0.2)
    assert instance.arm_names[1:4] == ("front 2", "crowd 1", "crowd 2" if m > 1 else "filler 1")


def test_duplicated_family_has_one_gap():
    instance = instances.duplicated(0.125, K=4, d=6)
    assert instance.means.shape == (4, 6)
    assert (instance.geometry.objective_gaps == 0.125).all()
    assert instance.geometry.gaps.tolist() == [0, 0.125, 0.125, 0.125]


def test_random_means_are_reproducible_and_on_their_grid():
    mu = instances.random_means(4, 3, seed=5, levels=5, instances=100)
    assert mu.shape == (100, 4, 3)
    assert set(np.unique(mu)) == {0, 0.25, 0.5, 0.75, 1}
    again = instances.random_means(4, 3, seed=5, levels=5, instances=100)
    assert np.array_equal(mu, again)
    assert len(np.unique(instances.random_means(4, 3, seed=5))) == 12
    assert instances.random_bernoulli(4, 3, 5, levels=5).name.endswith("5 levels)")


def test_rows_keep_the_arms_apart():
    tables = {"x": [[0, 1], [1, 1]], "y": [[0.5, 0.25]]}
    instance = instances.from_rows(tables, objective_names=["u", "v"])
    assert instance.means.tolist() == [[0.5, 1], [0.5, 0.25]]
    assert instance.arm_names == ("x", "y")
    assert instance.source.offsets.tolist() == [0, 2, 3]


def test_samples_may_differ_in_number():
    instance = instances.from_samples([[[0, 1], [0.5]], [[0.25, 0.25, 0.25], [1, 0]]])
    assert instance.means.tolist() == [[0.5, 0.5], [0.25, 0.5]]
    assert instance.source.offsets.tolist() == [0, 2, 3, 6, 8]


ONE_OF_EACH = [
    instances.bernoulli([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]),
    instances.duplicated_coordinates([0.1, 0.2, 0.3], 2),
    instances.from_rows([[[0, 1], [1, 1]], [[0.5, 0.25]], [[0.125, 1]]]),
    instances.from_samples([[[0, 1], [0.5]], [[0.25], [1, 0]], [[0.75, 1], [0.5]]]),
]


@pytest.mark.parametrize("instance", ONE_OF_EACH, ids=lambda i: type(i.source).__name__)
def test_subsets_and_digests(instance):
    part = instance.subset([2, 0])
    assert np.array_equal(part.means, instance.means[[2, 0]])
    assert part.arm_names == (instance.arm_names[2], instance.arm_names[0])
    assert part.subset([1, 0]).digest == instance.subset([0, 2]).digest
    digests = {i.digest for i in ONE_OF_EACH} | {part.digest, instance.subset([0, 2]).digest}
    assert len(digests) == len(ONE_OF_EACH) + 2
    with pytest.raises(ValueError, match="read-only"):
        instance.means[0, 0] = 0.5


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: instances.bernoulli([[0.1, 1.2], [0, 0]]), "the value at (0, 1) is 1.2."),
        (lambda: instances.bernoulli([[0.1, np.nan], [0, 0]]), "NaN or infinity"),
        (lambda: instances.bernoulli([[[0.1], [0.2]]]), "shape (arms, objectives)"),
        (lambda: instances.bernoulli([[0.1], [0.2]], arm_names=["x"]), "2 names; 1 were given."),
        (lambda: instances.bernoulli([[0.1], [0.2]], arm_names="xx"), "'x' occurs more than once"),
        (lambda: instances.synthetic(0.02, 19), "m must be a whole number in 0..18; it is 19."),
        (lambda: instances.synthetic(0.9, 1), "means must lie in [0, 1]"),
        (lambda: instances.duplicated(0.7, 3, 2), "theta must lie in [0, 1]"),
        (lambda: instances.duplicated(0.1, 1, 2), "K must be a whole number >= 2; it is 1."),
        (lambda: instances.duplicated_coordinates([0.1], 2), "at least 2 scalar means"),
        (lambda: instances.random_means(3, 2, 0, levels=1), "levels must be a whole number >= 2"),
        (lambda: instances.from_rows([[[0.1]]]), "at least 2 arms; 1 were given."),
        (lambda: instances.from_rows([[[0.1]], [[0.1, 0.2]]]), "'arm 2' has 2, 'arm 1' has 1."),
        (lambda: instances.from_rows([[[0.1]], [0.1]]), "shape (rows, objectives)"),
        (lambda: instances.from_rows([[[0.1]], []]), "the rewards of 'arm 2' must not be empty"),
        (lambda: instances.from_rows([[[0.1]], [[-1]]]), "the rewards of 'arm 2' must lie in"),
        (lambda: instances.from_samples([[], []]), "at least one objective"),
        (lambda: instances.from_samples([[[1]], [[1], [1]]]), "'arm 2' has 2, 'arm 1' has 1."),
        (lambda: instances.from_samples([[[1]], [[]]]), "objective 0 must not be empty"),
        (lambda: instances.from_samples([[[1]], [[[1]]]]), "objective 0 must be a list"),
        (lambda: ONE_OF_EACH[0].subset([0]), "at least 2 arms; it has 1."),
        (lambda: ONE_OF_EACH[0].subset([0, 0]), "must not name an arm twice"),
        (lambda: ONE_OF_EACH[0].subset([0, 3]), "whole number in 0..2; it is 3."),
    ],
)
def test_bad_input_gets_one_sentence(build, sentence):
    with pytest.raises(MomabError) as error:
        build()
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
