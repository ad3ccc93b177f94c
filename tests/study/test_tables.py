"""Numbers as they are printed and drawn."""

import pytest

from momab.study import tables


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [
        (3.046, 1.99, "3.05 ± 1.99"),
        (2584.77, 60.31, "2,584.8 ± 60.3"),
        (127000, 88600, "(1.27 ± 0.89)·10⁵"),
        (0.0, 0.0, "0.00 ± 0.00"),
    ],
)
def test_numbers_as_the_paper_prints_them(mean, spread, text):
    assert tables.plus_minus(mean, spread) == text
