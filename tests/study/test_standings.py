"""Standings: who is lowest where intervals are apart, and every line in print."""

import itertools

import pandas as pd

from momab.study import standings

MEANS = {"Pareto IMED": 1.0, "Pareto IMED (sum)": 0.9, "KL-UCB (oracle)": 3.0, "Width-guided": 20.0}


def made_up() -> pd.DataFrame:
    """A small table in the form of the recorded one; the numbers are invented."""
    places = [
        ("synthetic", "synthetic", "0.02, 8", 2.0),
        ("kuairec", "misleading_near_front", "1", 0.5),
        ("spotify", "easy_separated", "1", 4.0),
    ]
    rows = []
    sizes = [(20_000, 5_000), (100_000, 1_000), (1_000_000, 40)]
    for (dataset, group, instance, unit), (horizon, runs) in itertools.product(places, sizes):
        for policy, mean in MEANS.items():
            half = 0.2 if dataset == "spotify" else 0.01
            rows.append(
                {
                    "dataset": dataset,
                    "group": group,
                    "instance": instance,
                    "horizon": horizon,
                    "policy": policy,
                    "runs": runs,
                    "mean": mean,
                    "low": mean - half,
                    "high": mean + half,
                    "median": mean,
                    "q999": 2 * mean,
                    "worst": 3 * mean,
                    "errors": 0.0,
                    "error_low": 0.0,
                    "error_high": 0.01,
                    "ratio": mean / unit,
                }
            )
    return pd.DataFrame(rows)


def test_the_lowest_stands_alone_only_where_intervals_are_apart():
    table = standings.standings(made_up(), 100_000).set_index("policy")
    assert list(table.index) == list(MEANS)
    assert table.loc["Pareto IMED (sum)", "best"] == 2
    assert table["best"].sum() == 2
    # on the third instance the two intervals meet
    assert table["shared"].to_dict() == dict(zip(MEANS, [1, 1, 0, 0], strict=True))
    assert table.loc["Pareto IMED", "median"] == 0.5
    assert table.loc["Pareto IMED", "tail"] == 3 * table.loc["Pareto IMED", "most"]


def test_of_two_experiments_the_larger_one_counts():
    frame = made_up()
    more = frame[(frame["horizon"] == 100_000) & (frame["policy"] == "Width-guided")]
    more = more.assign(runs=20_000, mean=0.1, low=0.05, high=0.15)
    both = pd.concat([frame, more], ignore_index=True)
    lines = standings.most_runs(both, 100_000)
    assert len(lines) == len(frame) / 3
    assert set(lines["runs"][lines["policy"] == "Width-guided"]) == {20_000}
    assert standings.standings(both, 100_000).set_index("policy")["best"]["Width-guided"] == 3


def test_what_is_printed():
    frame = made_up()
    [line, *_] = standings.printed_standings(standings.standings(frame, 100_000)).to_dict("records")
    assert line["Least to most"] == "0.25–2.00"
    assert line["Worst run"] == "6.0"
