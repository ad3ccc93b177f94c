"""Every policy against the price: the lines, their recording policy by policy, the wider tables."""

import math

import numpy as np
import pandas as pd
import pytest

from momab import MomabError, study, theory
from momab.engine.policies.width_guided import WidthGuided
from momab.model import instances
from momab.model.instances import SYNTHETIC_SETTINGS
from momab.study import limit, recorded, standings
from momab.study.simulate import simulate

TINY = study.Options(seed=3, progress=False)
SIZES = ((300, 4), (500, 3))
FAMILY = [("synthetic", "synthetic")]


@pytest.fixture(scope="module")
def lines():
    """Two contenders on the synthetic family, short."""
    return study.run_limit(TINY, ["Width-guided", "Annealing-Pareto"], SIZES, FAMILY)


def test_one_line_per_setting_policy_and_size(lines):
    assert len(lines) == len(SYNTHETIC_SETTINGS) * 2 * len(SIZES)
    keys = ["dataset", "group", "instance", "horizon", "policy"]
    assert not lines.duplicated(keys).any()
    assert set(zip(lines["horizon"], lines["runs"])) == set(SIZES)


def test_a_line_is_what_a_simulation_says(lines):
    delta, m = SYNTHETIC_SETTINGS[0]
    instance = instances.synthetic(delta, m)
    runs = simulate(instance, WidthGuided(), horizon=300, runs=4, seed=3, progress=False).runs
    line = lines[
        (lines["instance"] == f"{delta:g}, {m}")
        & (lines["horizon"] == 300)
        & (lines["policy"] == "Width-guided")
    ].iloc[0]
    regret = runs["pareto_regret"]
    assert line["mean"] == regret.mean()
    assert line["worst"] == regret.max()
    assert line["median"] == regret.median()
    assert line["errors"] == 1 - runs["detected"].mean()
    assert line["error_low"] <= line["errors"] <= line["error_high"]
    least = theory.price(instance.means).value * math.log(300)
    assert line["ratio"] == pytest.approx(regret.mean() / least, rel=1e-12)


def test_pooling_is_pooling(lines):
    rng = np.random.default_rng(0)
    samples = [rng.normal(i, 1 + i, 7) for i in range(3)]
    frame = pd.DataFrame(
        {
            "runs": [7] * 3,
            "mean": [s.mean() for s in samples],
            "sd": [s.std(ddof=1) for s in samples],
        }
    )
    mean, sd = limit._pooled(frame["runs"], frame["mean"], frame["sd"])
    together = np.concatenate(samples)
    assert (mean, sd) == pytest.approx((together.mean(), together.std(ddof=1)), rel=1e-12)


def test_the_wider_table_has_a_row_per_setting_and_policy(lines):
    table = study.extended_table(lines, horizon=500)
    assert len(table) == len(SYNTHETIC_SETTINGS) * 2
    assert (table["runs"] == 3).all()
    assert table["detection"].between(0, 1).all()
    printed = standings.printed_wider(table)
    assert printed["Group"].iloc[0] == "Synthetic 0.12, 1"
    assert printed["Regret"].iloc[0] == study.plus_minus(*table.loc[0, ["regret", "regret_sd"]])


def test_the_coefficient_is_the_one_with_the_least_validation_regret(monkeypatch):
    monkeypatch.setattr(limit, "COEFFICIENTS", (2.0, 0.1, 0.5))
    contender = study.CONTENDERS["Width-guided (tuned)"]
    chosen = limit.tuned_coefficient(TINY, contender, *FAMILY[0], horizon=2000)
    settings = limit.group_instances(TINY, *FAMILY[0])
    means = {
        c: simulate(
            settings,
            WidthGuided(c=c),
            horizon=2000,
            runs=study.VALIDATION_RUNS,
            seed=study.VALIDATION_SEED,
            progress=False,
        )
        .runs["pareto_regret"]
        .mean()
        for c in (2.0, 0.1, 0.5)
    }
    assert chosen == min(means, key=lambda c: means[c])


def test_policies_are_recorded_and_compared_one_at_a_time(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(recorded, "RESULTS", tmp_path)

    def parts(*names, change=0.0):
        made = study.Parts(TINY, policies=names)
        own = lines[lines["policy"].isin(names)].reset_index(drop=True)
        made.__dict__["limit"] = own.assign(mean=own["mean"] + change)
        return made

    study.record_results(parts("Annealing-Pareto"), ["limit"])
    study.record_results(parts("Width-guided"), ["limit"])
    kept = study.recorded_results("limit")
    assert list(kept["policy"].unique()) == ["Width-guided", "Annealing-Pareto"]
    assert study.recorded_policies() == ("Width-guided", "Annealing-Pareto")
    assert set(study.recorded_provenance()["limit"]) == {"Width-guided", "Annealing-Pareto"}
    for name in ("Width-guided", "Annealing-Pareto"):
        assert study.differences(parts(name), ["limit"]) == {"limit": ""}
    assert "line 2" in study.differences(parts("Width-guided", change=1e-13), ["limit"])["limit"]


def test_an_unknown_contender_is_named():
    with pytest.raises(MomabError, match="there is no contender 'Nobody'"):
        study.contenders(["Nobody"])


def test_every_contender_can_be_built_for_every_group():
    for contender in study.CONTENDERS.values():
        for dataset, kind in study.GROUPS:
            policy = contender.build(dataset, kind, 0.5 if contender.tuned else math.nan)
            assert policy.name
