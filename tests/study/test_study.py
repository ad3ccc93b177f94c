"""The study: tables from runs, comparison with the paper, recording and checking."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from momab import MomabError, study
from momab.engine.policies.width_guided import WidthGuided
from momab.model import instances
from momab.model.instances import SYNTHETIC_SETTINGS
from momab.study import recorded
from momab.study.datasets.subsets import KINDS
from tests.realdata import load_or_skip

TINY = study.Options(horizon=300, runs=2, seed=3, progress=False)


def fake_real(runs_per_subset=20, shift=0.0):
    """Runs whose group means and spreads are exactly the paper's Table 1, plus a shift."""
    parts = []
    for row in study.paper_table(1).to_dict("records"):
        n = 3 * runs_per_subset
        wave = np.resize([1.0, -1.0], n) * math.sqrt((n - 1) / n)
        parts.append(
            pd.DataFrame(
                {
                    **{key: row[key] for key in ("dataset", "subset_type", "policy")},
                    "pareto_regret": row["pareto_regret_mean"]
                    + row["pareto_regret_std"] * (wave + shift),
                    "fairness_regret": row["fairness_mean"] + row["fairness_std"] * wave,
                    "detected": np.arange(n) < round(n * row["detection_rate"]),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def test_table1_of_runs_with_known_moments():
    ours = study.table1(fake_real())
    paper = study.paper_table(1)
    assert ours[["dataset", "subset_type", "policy"]].equals(
        paper[["dataset", "subset_type", "policy"]]
    )
    numeric = paper.columns[3:]
    np.testing.assert_allclose(ours[numeric], paper[numeric], rtol=1e-3)


def test_equal_cells_agree_and_shifted_ones_differ():
    same = study.compare_with_paper(1, fake_real())
    assert len(same) == 24 * 3
    assert (same["verdict"] == "agrees").all()
    assert same["z"].abs().max() < 0.01
    # a shift of one standard deviation is 60 / sqrt(60 + 60) standard errors of the difference
    moved = study.compare_with_paper(1, fake_real(shift=1.0))
    regret = moved[(moved["column"] == "pareto_regret_mean") & (moved["paper"] > 100)]
    assert (regret["verdict"] == "differs").all()
    np.testing.assert_allclose(regret["z"], math.sqrt(30), rtol=0.01)
    assert (moved[moved["column"] != "pareto_regret_mean"]["verdict"] == "agrees").all()


def test_rounding_is_not_disagreement():
    runs = fake_real()
    runs["pareto_regret"] += 0.004
    assert (study.compare_with_paper(1, runs)["z"] == 0).all()


def test_paper_tables_are_complete():
    assert [len(study.paper_table(n)) for n in (1, 2, 3, 4)] == [24, 8, 3, 24]
    assert set(study.paper_table(4)["subset_type"]) == set(KINDS)
    with pytest.raises(MomabError, match="there is no Table 5"):
        study.paper_table(5)
    with pytest.raises(MomabError, match="compared for Tables 1, 2 and 4"):
        study.compare_with_paper(3, pd.DataFrame())


def test_paper_tables_are_the_reference(shared):
    for path in (shared / "reference").glob("table*.csv"):
        number = int(path.name[5])
        expected = pd.read_csv(path)
        ours = study.paper_table(number)
        shown = [c for c in expected.columns if c not in ("subset_type",)]
        assert ours[shown].equals(expected[shown])


@pytest.fixture(scope="module")
def tiny_parts():
    return study.Parts(TINY, risk_runs=3, coefficients=(0.02, 0.5))


def test_synthetic_part_and_table(tiny_parts):
    table = study.table2(tiny_parts.synthetic)
    assert table[["delta", "m"]].apply(tuple, axis=1).tolist() == list(SYNTHETIC_SETTINGS)
    first = tiny_parts.synthetic.query("instance == '0.12, 1' and policy == 'Pareto UCB1'")
    assert table["pareto_ucb1_mean"][0] == pytest.approx(first["pareto_regret"].mean())
    assert f"{table['c_pucb'][7]:.2f}" == "142.08"
    assert len(study.compare_with_paper(2, tiny_parts.synthetic)) == 16


def test_paths_start_at_the_first_round_and_never_fall(tiny_parts):
    for _, path in tiny_parts.paths.groupby(["instance", "policy"]):
        assert path["t"].iloc[0] == 1
        assert path["t"].iloc[-1] == 300
        assert path["mean"].is_monotonic_increasing
        assert path["certified"].between(0, 1).all()
        assert (path["q05"] <= path["q95"]).all()


@pytest.mark.parametrize(
    "chosen_sets", [("spotify",), pytest.param(study.DATASETS, marks=pytest.mark.slow)]
)
def test_real_parts(shared, monkeypatch, chosen_sets):
    for dataset in chosen_sets:
        load_or_skip(shared, dataset)
    monkeypatch.setattr(study.parts, "DATASETS", chosen_sets)
    options = replace(TINY, data_dir=shared / "data")
    tiny_parts = study.Parts(options, risk_runs=3, coefficients=(0.02, 0.5))
    groups = 3 * len(chosen_sets)
    runs = tiny_parts.real
    assert len(runs) == 3 * groups * 4 * 2
    assert set(runs["subset"]) == {"1", "2", "3"}
    assert len(study.table1(runs)) == len(study.table4(runs)) == 4 * groups
    assert study.compare_with_paper(4, runs)["column"].nunique() == 3
    chosen = study.choose_coefficients(tiny_parts.validation)
    assert len(chosen) == groups * 3
    assert set(chosen["c"]) <= {0.02, 0.5}
    assert len(study.table3(chosen)) == groups
    retuned = tiny_parts.retuned
    merged = retuned.merge(chosen, on=["dataset", "subset_type", "policy"])
    assert (merged["c_x"] == merged["c_y"]).all()
    # the paper's c = 0.00894 joins the two coefficients for Spotify's easy subsets
    assert len(tiny_parts.risk) == 3 * groups * 2 + 3
    counted = tiny_parts.tails.groupby(["dataset", "subset_type", "subset"])["runs"].sum()
    assert counted.tolist() == [3] * 3 * groups
    assert len(tiny_parts.rivals) == 3 * groups


def test_choose_takes_the_least_mean():
    frame = pd.DataFrame(
        {
            "dataset": "spotify",
            "subset_type": "x",
            "policy": ["A"] * 4 + ["B"] * 2,
            "c": [0.1, 0.1, 0.2, 0.2, 0.1, 0.2],
            "pareto_regret": [1.0, 5.0, 2.0, 3.0, 1.0, 9.0],
        }
    )
    assert study.choose_coefficients(frame)["c"].tolist() == [0.2, 0.1]


def test_record_then_check_is_identical_and_notices_a_changed_digit(
    tiny_parts, tmp_path, monkeypatch
):
    monkeypatch.setattr(recorded, "RESULTS", tmp_path / "results")
    names = ["synthetic", "paths"]
    study.record_results(tiny_parts, names)
    assert study.differences(tiny_parts, names) == {"synthetic": "", "paths": ""}
    assert study.recorded_provenance()["paths"]["horizon"] == 300
    fresh = study.Parts(TINY, risk_runs=3, coefficients=(0.02, 0.5))
    assert study.differences(fresh, ["synthetic"]) == {"synthetic": ""}
    other = study.Parts(study.Options(300, 2, 4, progress=False))
    assert study.differences(other, ["synthetic"])["synthetic"].startswith("line 2: recorded")
    with pytest.raises(MomabError, match="no recorded results for 'risk'"):
        study.recorded_results("risk")


def test_certificates_survive_recording(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "RESULTS", tmp_path)
    found = study.Options(progress=False).simulate(
        instances.synthetic(0.1, 1, K=3), {"Width-guided": WidthGuided(c=0.2)}, horizon=20, runs=9
    )
    assert 0 < found.runs["certified"].sum() < 9
    parts = study.Parts(TINY)
    parts.__dict__["synthetic"] = found.runs
    study.record_results(parts, ["synthetic"])
    assert study.differences(parts, ["synthetic"]) == {"synthetic": ""}


def test_missing_data_is_said_before_anything_runs(tmp_path):
    options = study.Options(data_dir=tmp_path)
    with pytest.raises(MomabError, match="momab data get"):
        study.require_data(["real"], options)
    study.require_data(["synthetic"], options)


def test_targets_become_parts():
    assert study.wanted_parts(["figure1", "table2"]) == ["synthetic"]
    assert study.wanted_parts(["all"]) == list(study.PARTS)
