"""Against the paper's tables and the frozen subsets, read from the shared folder."""

import csv

import pytest

from momab.model import instances, theory


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
