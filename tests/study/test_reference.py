"""Against the paper's tables and the frozen subsets, read from the shared folder."""

import csv
import json

import numpy as np
import pytest

from momab.model import instances, pareto, theory
from tests.realdata import load_or_skip


def test_c_pucb_column_to_every_printed_digit(shared):
    with open(shared / "reference" / "table2_synthetic.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    for row in rows:
        means = instances.synthetic(float(row["delta"]), int(row["m"])).means
        assert f"{theory.c_pucb(means, 10**6):.2f}" == row["c_pucb"]


# Recomputed here from the formula, so that a machine without the shared folder checks it too.
SHARPER = {(0.12, 1): 5144, (0.08, 1): 5086, (0.04, 1): 5027, (0.02, 1): 4998, (0.01, 1): 4984}
SHARPER |= {(0.02, 4): 4209, (0.02, 8): 3157, (0.02, 12): 2105}


@pytest.mark.parametrize(("setting", "value"), SHARPER.items())
def test_sharper_bound_on_the_synthetic_family(setting, value):
    means = instances.synthetic(*setting).means
    assert round(theory.sharper_bound(means, 10**6).exploration) == value
    assert round(theory.theorem_bound(means, 10**6).exploration) == 32152


@pytest.mark.parametrize("dataset", ["spotify", "kuairec"])
def test_frozen_subsets_come_out_of_the_data(shared, dataset):
    subsets = json.loads((shared / "reference" / "frozen_subsets.json").read_text())[dataset]
    whole = load_or_skip(shared, dataset)
    assert len(subsets) == 9
    for subset in subsets:
        part = whole.subset(subset["indices"])
        assert list(part.arm_names) == [str(name) for name in subset["arms"]]
        geo = pareto.geometry(part.means)
        assert list(geo.front) == subset["pareto_positions"]
        assert geo.g_dagger == pytest.approx(subset["g_dagger"], abs=1e-12)
        np.testing.assert_allclose(geo.objective_gaps, subset["objective_gaps"], atol=1e-12)
        off_front = np.delete(geo.gaps, geo.front)
        assert off_front.min() == pytest.approx(subset["delta_min_p"], abs=1e-12)
