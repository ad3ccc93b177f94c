"""A report's numbers: which arms are optimal, which are open, and what would settle it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import momab
from momab import MomabError, pareto
from momab.study import own


def study(tmp_path: Path, frame: pd.DataFrame, **asked: Any) -> own.Study:
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    arm, *columns = frame.columns
    columns = {"table": str(path), "arm": arm, "objectives": columns}
    return own.Study.of(own.Request(**columns | asked))


def coins(rates: dict[str, tuple[float, ...]], rows: int, seed: int = 1) -> pd.DataFrame:
    """A table of coins with exactly these rates."""
    rng = np.random.default_rng(seed)
    parts = []
    for name, means in rates.items():
        columns = [rng.permutation(np.arange(rows) < round(rows * p)) for p in means]
        part = pd.DataFrame(np.stack(columns, axis=1).astype(int), columns=list("xy")[: len(means)])
        part.insert(0, "arm", name)
        parts.append(part)
    return pd.concat(parts)


def test_what_is_clear_is_answered_and_what_is_close_is_open(tmp_path):
    rates = {"best": (0.9, 0.9), "near": (0.895, 0.88), "poor": (0.1, 0.1)}
    found = study(tmp_path, coins(rates, 200))
    assert found.answers == ["open", "open", "not optimal"]
    assert found.arms[found.chosen] == "best"
    table = found.open_table()
    assert table["Arm"].tolist() == ["best", "near"]
    assert table["Decided against"].tolist() == ["near", "best"]
    again = study(tmp_path, coins({"best": (0.9, 0.9), "poor": (0.1, 0.1)}, 200))
    assert again.answers == ["optimal", "not optimal"]
    assert again.open_table() is None


def test_the_rows_that_are_asked_for_settle_it(tmp_path):
    rates = {"a": (0.6,), "b": (0.55,)}
    few = study(tmp_path, coins(rates, 100))
    assert few.answers == ["open", "open"]
    needed = int(few.needed.max())
    assert needed == pytest.approx(2.8**2 * (0.24 + 0.2475) * 100 / 99 / 0.05**2, abs=1)
    assert study(tmp_path, coins(rates, needed)).answers == ["optimal", "not optimal"]
    assert study(tmp_path, coins(rates, needed // 3)).answers == ["open", "open"]


def test_four_of_five_tables_with_so_many_rows_settle_it(tmp_path):
    rng = np.random.default_rng(5)
    needed = int(study(tmp_path, coins({"a": (0.6,), "b": (0.4,)}, 1000)).needed.max())
    rows = pd.DataFrame({"arm": np.repeat(["a", "b"], needed)})
    settled = 0
    for _ in range(100):
        frame = rows.assign(x=(rng.random(2 * needed) < np.repeat([0.6, 0.4], needed)).astype(int))
        settled += study(tmp_path, frame).answers == ["optimal", "not optimal"]
    assert 70 <= settled <= 90


def test_a_tie_is_settled_by_no_number_of_rows(tmp_path):
    found = study(tmp_path, coins({"a": (0.5,), "b": (0.5,)}, 50))
    assert np.isinf(found.needed).all()
    assert set(found.open_table()["Rows per arm needed in total"]) == {"none: a tie"}


def test_margins_and_gaps_are_those_of_the_means(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.random((240, 3)).round(3), columns=list("xyz"))
    frame.insert(0, "arm", [f"arm {n % 12:02}" for n in range(240)])
    found = study(tmp_path, frame)
    mu = found.instance.means
    gaps = pareto.gaps(mu)
    for a in np.flatnonzero(gaps > 0):
        assert found.margins[a] == pytest.approx(gaps[a])
    for a in np.flatnonzero(found.front):  # lowered by more than its margin, it is dominated
        for factor, stays in ((0.999, True), (1.001, False)):
            moved = mu.copy()
            moved[a] -= factor * found.margins[a]
            assert pareto.front(moved)[a] == stays


def test_means_and_intervals_are_in_the_units_of_the_file(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"arm": ["a", "b"] * 100, "ms": rng.uniform(100, 900, 200)})
    asked = {"scale": {"ms": (0.0, 1000.0)}, "minimize": ["ms"], "units": {"ms": "ms"}}
    for found in (
        study(tmp_path, frame, **asked),
        study(tmp_path, frame, scale={"ms": (1000.0, 0.0)}, units={"ms": "ms"}),
    ):
        means = frame.groupby("arm")["ms"].mean().to_numpy()
        assert found.means[:, 0] == pytest.approx(means)
        low, high = found.interval(0)
        assert (low < means).all()
        assert (means < high).all()
        spread = frame.groupby("arm")["ms"].std().to_numpy() / 10
        assert (high - low) == pytest.approx(2 * 1.96 * spread, rel=0.15)
        assert found.less == [True]
        assert found.titled(0) == "ms (ms)"
        assert found.instance.means[:, 0] == pytest.approx(1 - means / 1000)
        assert found.columns()["Better is"].tolist() == ["less"]


def test_many_rows_are_redrawn_as_a_normal_vector(tmp_path, monkeypatch):
    frame = coins({"a": (0.6, 0.3), "b": (0.4, 0.5)}, 1500)
    exact = study(tmp_path, frame).drawn
    monkeypatch.setattr(own, "_LARGE", 100)
    quick = study(tmp_path, frame).drawn
    assert exact.shape == quick.shape == (1000, 2, 2)
    assert quick.mean(axis=0) == pytest.approx(exact.mean(axis=0), abs=0.002)
    assert quick.std(axis=0) == pytest.approx(exact.std(axis=0), rel=0.1)


def test_the_best_of_every_column_is_shown_and_every_other_arm_is_named(tmp_path):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.random((400, 6)).round(3), columns=list("uvwxyz"))
    frame.insert(0, "arm", [f"arm {n % 40:02}" for n in range(400)])
    found = study(tmp_path, frame)
    assert not set(found.best) <= set(found.order[: own.MOST].tolist())
    assert set(found.best) <= set(found.shown)
    assert len(found.shown) == own.MOST
    assert sorted(found.shown + found.left) == list(range(40))
    table, best = found.arm_table(), found.best_table()
    assert set(best["Best arm"]) <= set(table["Arm"])
    for row in best.to_dict("records"):
        [line] = table[table["Arm"] == row["Best arm"]].to_dict("records")
        assert line[row["Column"]] == row["Mean"]
        assert line["Optimal?"].split()[0] == row["Optimal?"]
    for column in "uvwxyz":
        digits = {
            len(x.split(".")[1]) for text in table[column] for x in re.findall(r"[\d.]+", text)
        }
        assert len(digits) == 1
    assert found.called(found.left, 2).endswith(" and 13 more")
    assert len(found.few) == 40


def test_one_row_per_arm_is_a_table_too(tmp_path):
    frame = pd.DataFrame({"arm": list("abc"), "x": [0.1, 0.5, 0.9], "y": [0.9, 0.5, 0.2]})
    found = study(tmp_path, frame)
    assert (found.counts == 1).all()
    assert found.answers == ["optimal"] * 3
    assert len(found.arm_table()) == len(found.arms)
    again = study(tmp_path, pd.concat([frame] * 9))  # their means differ in the last digit
    assert again.arm_table()["x"][0] == own.measured(0.1, 0.1, 0.1, 3)


def test_advice_names_the_least_regret_among_bounded_policies(tmp_path):
    found = study(tmp_path, coins({"a": (0.9, 0.8), "b": (0.2, 0.3), "c": (0.4, 0.1)}, 60))
    results = momab.simulate(found.instance, found.players(), 500, 4, 1, checkpoints=20)
    advice = found.policy(results)
    summary = results.summary().set_index("policy")["mean"]
    assert advice.policy == summary[list(own.GUARANTEED)].idxmin()
    assert (advice.better == "") == (summary.idxmin() == advice.policy)
    assert set(advice.close) <= set(own.GUARANTEED) - {advice.policy}
    assert own.race_table(results)["Policy"].tolist() == summary.sort_values().index.tolist()


def test_column_names_with_commas_are_quoted():
    names = ["a", "b, c", 'd "e"']
    assert own.split_columns(own.join_columns(names)) == names
    assert own.split_columns("a, b,,c ") == ["a", "b", "c"]
    assert own.split_columns("") == []


@pytest.mark.parametrize("text", ["ms", "=ms", "a=", " = "])
def test_bad_units_are_explained(text):
    with pytest.raises(MomabError, match="--unit takes column=unit"):
        own.parse_units([text])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"units": {"z": "ms"}}, "unit names 'z', which is not one of the objectives"),
        ({"units": {"x": "a=b"}}, "a unit has no equals sign"),
        ({"runs": 1}, "runs must be a whole number"),
        ({"horizon": 0}, "the horizon T must be"),
    ],
)
def test_a_request_is_checked_before_the_file_is_read(change, said):
    with pytest.raises(MomabError, match=said):
        own.Request(**{"table": "none.csv", "arm": "a", "objectives": ["x"], **change})


def test_all_faults_of_a_table_are_said_at_once(tmp_path):
    """Two columns out of range, a rating that is no number, a gap in a fourth column."""
    frame = pd.DataFrame(
        {"arm": list("aabb"), "ms": [42.3, 100, 900, 957.8], "rating": ["4", "x", "5", "3"]}
    )
    frame["wait (s)"] = [-3, 0, 12, 1]
    frame["rate"] = [0.5, None, 0.1, 0.2]
    with pytest.raises(MomabError) as error:
        study(tmp_path, frame)
    said = str(error.value)
    assert "column=low:high" not in said
    for column in ("ms", "wait (s)"):
        assert f"column {column!r} must lie in [0, 1], but it ranges over" in said
    options = re.search(r"\(on the command line (--scale .*)\)\.$", said)
    assert shlex.split(options[1]) == ["--scale", "ms=0:1000", "--scale", "wait (s)=-10:20"]
    assert "scale={'ms': (0, 1000), 'wait (s)': (-10, 20)}" in said
    assert "'rating' must hold numbers; in row 2" in said
    assert "'rate' has no value in row 2" in said
    assert said.count("\n") == 0
