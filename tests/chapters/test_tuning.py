"""The same tuning for every policy: the page, and which policy wins before and after."""

import numpy as np
import pandas as pd

import momab
from momab import study
from momab.study.datasets import subsets
from tests.chapters.running import WHOLE, read_aloud, run_chapter, text_of

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
    assert "is no finding: the least of several numbers" in said
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


def test_the_page_compares_with_fresh_runs(shown):
    space = run_chapter("tuning", **SMALL | {"coefficients": [0.05]})
    assert "is no finding" not in text_of(shown)  # the published coefficient is not in the sweep
    for line in space["picks"].to_dict("records"):
        player = study.tunable_policies(line["c"])[line["policy"]]
        again = momab.simulate(
            space["example"], {line["policy"]: player}, 2_000, 20, 3, checkpoints=0
        )
        assert line["fresh_mean"] == again.runs["pareto_regret"].mean()


def test_choices_inside_the_grid_and_choices_that_did_no_harm():
    entry = study.recorded_provenance()["validation"]
    names = {"made": {"validation": entry, "retuned": entry}, "absent": []}
    names["curves"] = pd.DataFrame({"runs": [9]})
    said = read_aloud("tuning", "Nine runs with a heavy tail", **names, edge=[], chosen=[])
    assert "sets of nine runs. **Recorded" in said
    said = read_aloud("tuning", "Nine runs with a heavy tail", **names, edge=[1], chosen=[1, 2])
    assert "1 of the 2 choices is the least" in said
    said = read_aloud("tuning", "did not meet", hurt=[])
    assert said.startswith("In these runs no choice went badly wrong.")
    said = read_aloud("tuning", "did not meet", hurt=pd.DataFrame({"wrong": [0.1, 0.1]}))
    assert "In these 2 groups 10% of" in said
    said = read_aloud("tuning", "did not meet", hurt=pd.DataFrame({"wrong": [0.1, 0.3]}))
    assert "10% to 30% of" in said


def test_the_verdict_counts_groups():
    clear = {"best": "A", "clear": True}
    frame = pd.DataFrame([clear, {**clear, "clear": False}, {**clear, "best": "B"}])
    names = {"before": frame, "after": frame[1:], "mixed": frame[:1], "gain": pd.Series([1000.0])}
    said = read_aloud("tuning", "as in Table 1: the paper", **names, hurt=[], guided=[])
    assert "Width-guided only | A in 2 (1 clearly), B in 1 |" in said
    assert "our validation | A in 1 (0 clearly), B in 1 |" in said
    assert "ours for the others | A in 1 |" in said
    assert "harms" not in said
    said = read_aloud("tuning", "as in Table 1: the paper", **names, hurt=[1, 2], guided=range(6))
    assert "harms Width-guided in 2 of 6 groups" in said
