"""The same tuning for every policy: the page, and which policy wins before and after."""

import numpy as np
import pandas as pd

import momab
from momab import study
from momab.study.datasets import subsets
from tests.chapters.running import WHOLE, run_chapter, text_of

WINNERS = {"before": 4, "after": 0, "mixed": 3}  # groups in which Width-guided has the lowest mean
SMALL = {"seed": 2, "horizon": 2_000, "runs": 2, "coefficients": [0.05, 2.0]}


def check_lowest(lowest):
    """The page's function names the policy with the lowest mean, and says whether it is clear."""
    effect = pd.DataFrame(
        {
            "dataset": "spotify",
            "subset_type": [subsets.EASY] * 3 + [subsets.FRIENDLY] * 3,
            "policy": ["A", "B", "C"] * 2,
            "after": [3.0, 900.0, 10.0, 5.0, 4.9, 10.0],
            "after_se": 0.1,
        }
    )
    assert lowest(effect, "after").to_dict("list") == {"best": ["A", "B"], "clear": [True, False]}


@WHOLE
def test_the_page(shown, whole):
    space = run_chapter("tuning", whole, **SMALL)
    said = text_of(shown)
    assert len(space["chosen"]) == 18
    assert (space["gain"] > 1).all()
    # in-sample minima against fresh runs, and the groups that the same protocol ruins
    assert (space["picks"]["mean"] <= space["live"]["mean"].max()).all()
    assert len(space["hurt"]) == 4
    assert "harms Width-guided in 4 of 6 groups" in said
    tuned = {name: frame["best"].tolist() for name, frame in space.items() if name in WINNERS}
    assert {name: best.count("Width-guided") for name, best in tuned.items()} == WINNERS
    assert "nan" not in said
    check_lowest(space["lowest"])
    if whole:
        assert np.isclose(space["votes"].sum(), 1)
        assert len(space["judged"]) == 5


def test_the_page_compares_with_fresh_runs():
    space = run_chapter("tuning", **SMALL | {"coefficients": [0.05]})
    for line in space["picks"].to_dict("records"):
        player = study.tunable_policies(line["c"])[line["policy"]]
        again = momab.simulate(
            space["example"], {line["policy"]: player}, 2_000, 20, 3, checkpoints=0
        )
        assert line["fresh_mean"] == again.runs["pareto_regret"].mean()
