"""The arms of the frozen subsets, as they come with the package."""

import pandas as pd
import pytest

from momab import study
from momab.study import arm_tables, groups
from momab.study.datasets import subsets
from tests.realdata import load_or_skip


def test_subset_arms_are_those_of_the_data(shared):
    for dataset in study.DATASETS:
        load_or_skip(shared, dataset)
    again = arm_tables.compute_subset_arms(shared / "data")
    kept = arm_tables.subset_arms()
    pd.testing.assert_frame_equal(kept, again, check_dtype=False, rtol=1e-12)


def test_subset_arms_agree_with_the_frozen_file():
    arms = arm_tables.subset_arms()
    assert len(arms) == 180
    for dataset, kind, part in groups.by_group(arms):
        for number, subset in enumerate(subsets.frozen(dataset, kind), start=1):
            here = part[part["subset"] == str(number)]
            assert here["arm"].tolist() == list(subset.arms)
            assert here.loc[here["on_front"], "position"].tolist() == list(subset.pareto_positions)
            positive = here.loc[here["gap"] > subsets.ZERO, "gap"]
            assert positive.min() == pytest.approx(subset.delta_min_p, rel=1e-9)
            assert here["fairness_cost"].min() == 0
