"""The chapter on the algorithm: its program, its conclusions, and the tables of its exercises.

The page is executed in this process with drawn parameters, at a small size, and what it concludes
is asserted from its own variables.
"""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

from momab.chapters import algorithm
from tests.chapters.running import PAGE, WHOLE, loud, run_chapter


@WHOLE
@given(
    seed=st.integers(0, 2**31 - 1),
    horizon=st.integers(50, 1500),
    c=st.sampled_from([0.1, 0.5, 2.0]),
    lead=st.sampled_from([0.05, 0.3, 0.5]),
    round_shown=st.integers(1, 2000),
)
@example(seed=1, horizon=50, c=10.0, lead=0.05, round_shown=1)
@PAGE
def test_algorithm_chapter(shown: list[dict[str, Any]], whole: bool, **drawn: Any) -> None:
    shown.clear()
    page = run_chapter("algorithm", whole, **drawn)
    assert page["same"]
    assert (page["lines"]["violations"] == 0).all()
    assert page["run"].K <= page["at"] < page["run"].recorded
    assert not loud(shown)
    # the program is on the page, and the policy with one line changed is another one
    for step in ("def moved(", "def race(", "def select(", "lower > upper", "self.W"):
        assert step in page["program"]
    assert page["compared"].index.tolist() == ["Width-guided", "Narrowest race"]


def test_quartiles_are_printed_whole_medians_with_their_half_and_bounds_in_tens() -> None:
    quartiles = ["lower quartile", "median round", "upper quartile"]
    found = pd.DataFrame([("2", 1764.5, 3e-11), ("1", np.nan, 30.0)])
    found = found[[0, 1, 1, 1, 2]].set_axis(["rule", *quartiles, "bound on failure"], axis=1)
    printed = algorithm.written_rounds(found)
    assert printed["median round"].tolist() == ["1,764.5", "none"]
    assert printed["lower quartile"].tolist() == ["1,764", "none"]
    assert printed["bound on failure"].tolist() == ["3 × 10⁻¹¹", "30"]
    assert printed["c"].tolist() == ["2", "1"]


def test_a_median_says_how_many_runs_it_is_of() -> None:
    rows = [("widest", 40, 1234.5), ("turns", 17, 9_000.0), ("random", 0, np.nan)]
    found = pd.DataFrame(rows, columns=["rule", "certify", "median round"])
    printed = algorithm.written_medians(found)
    assert printed.to_dict() == {
        "widest": "1,234.5 (40)",
        "turns": "9,000.0 (17)",
        "random": "none (0)",
    }
