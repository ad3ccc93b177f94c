"""Simulations: the same digits however they are run, and tables that say what they should."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from momab import MomabError
from momab.engine import policies
from momab.engine.loop import play_block
from momab.model import instances, metrics
from momab.study.results import summarise
from momab.study.simulate import SimulationInterrupted, log_checkpoints, simulate
from tests.waiting import until

INSTANCES = {
    "synthetic": instances.synthetic(0.02, 2, K=6),
    "rows": instances.from_rows([[[0.2, 0.9], [0.4, 0.1]], [[1, 0.5]], [[0, 0.3], [0.5, 0.5]]]),
}
POLICIES = [
    policies.WidthGuided(c=0.05),
    policies.ParetoUCB1(),
    policies.AnnealingPareto(),
    policies.ScalarizedUCB(),
]
COMMON = {"horizon": 400, "runs": 5, "seed": 11, "checkpoints": 20, "front_metrics": True}


def run(**changes):
    return simulate(INSTANCES, POLICIES, **{**COMMON, **changes})


def same(one, other):
    for table in ("runs", "pulls", "trajectories"):
        pd.testing.assert_frame_equal(getattr(one, table), getattr(other, table), check_exact=True)
    return True


@pytest.fixture(scope="module")
def reference():
    return run(workers=1, engine="python")


def test_numba_and_python_agree(reference):
    assert same(reference, run(workers=1, engine="auto"))


def test_workers_change_nothing(reference):
    assert same(reference, run(workers=2))
    assert same(reference, run(workers=2, engine="python", runs=5))


def test_dask_changes_nothing(reference):
    distributed = pytest.importorskip("distributed", reason="skipped: needs momab[dask]")
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, silence_logs=50
    ) as client:
        assert same(reference, run(client=client))


def test_a_run_does_not_depend_on_the_others(reference):
    alone = simulate(INSTANCES["rows"], POLICIES[1], **{**COMMON, "runs": 2})
    part = reference.runs.query("instance == 'rows' and policy == 'Pareto UCB1' and run < 2")
    left, right = (f.drop(columns=["instance"]).reset_index(drop=True) for f in (alone.runs, part))
    pd.testing.assert_frame_equal(left, right)


def test_rows_say_what_the_plain_loop_did(reference):
    instance, policy = INSTANCES["synthetic"], POLICIES[0]
    checkpoints = log_checkpoints(400, 20)
    rows = reference.runs.query("instance == 'synthetic' and policy == 'Width-guided'")
    for r, row in rows.set_index("run").iterrows():
        common = (instance, policy, 400, 11, r, 1, checkpoints)
        block = play_block(*common, final_sums=True, engine="python")
        geo = instance.geometry
        assert row["pareto_regret"] == pytest.approx((block.pulls[0] * geo.gaps).sum())
        assert row["recommended"] == block.tail_pulls[0].argmax()
        assert row["detected"] == (row["recommended"] in geo.front)
        assert row["certified"] == (block.cert_round[0] >= 0)
        if row["certified"]:
            arm, j = block.cert_arm[0], block.cert_objective[0]
            column = instance.means[:, j]
            assert row["cert_true"] == (np.delete(column, arm) < column[arm]).all()
            assert row["cert_on_front"] == (arm in geo.front)
        scores = metrics.front_precision_recall(block.sums, block.pulls, instance.means)[0]
        assert [row["front_precision"], row["front_recall"]] == scores.tolist()
        path = reference.trajectories.query(
            f"instance == 'synthetic' and policy == 'Width-guided' and run == {r}"
        )
        expected = metrics.pareto_regret(block.checkpoint_pulls[0], instance.means)
        assert path["pareto_regret"].tolist() == expected.tolist()
        assert path["t"].tolist() == checkpoints.tolist()


def test_a_wrong_certificate_is_told_from_a_true_one():
    # With a tiny c the first lucky arm is certified, so both kinds must occur.
    means = [[0.5, 0.5], [0.45, 0.45], [0.4, 0.4]]
    result = simulate(instances.bernoulli(means), policies.WidthGuided(c=0.01), 500, 200, seed=3)
    committed = result.runs.dropna(subset="cert_arm")
    assert set(committed["cert_true"]) == {True, False}
    assert (committed["cert_true"] == (committed["cert_arm"] == 0)).all()
    assert (committed["cert_on_front"] == committed["cert_true"]).all()
    row = result.summary().iloc[0]
    assert row["wrong_commit_rate"] == pytest.approx((committed["cert_arm"] != 0).sum() / 200)
    assert row["wrong_commit_low"] < row["wrong_commit_rate"] < row["wrong_commit_high"]


def test_front_metrics_are_missing_unless_asked_for():
    result = simulate(INSTANCES["rows"], POLICIES[0], 100, 2, checkpoints=0)
    assert result.runs[["front_precision", "front_recall"]].isna().all(axis=None)
    assert result.trajectories.empty
    assert result.pulls.groupby("run")["pulls"].sum().tolist() == [100, 100]


class RoundRobin(policies.Policy):
    """One arm after the other; not compiled."""

    compiled = False

    def select(self, t, coin):
        return t % self.K


def test_a_users_policy_that_is_not_compiled_runs_on_both_workers():
    result = simulate(INSTANCES["rows"], [RoundRobin(), POLICIES[1]], 60, 4, workers=2)
    mine = result.pulls.query("policy == 'Round Robin'")
    assert (mine["pulls"] == 20).all()
    assert "code" in result.provenance["policies"]["Round Robin"]


# --- resuming ---------------------------------------------------------------------------


def pieces(store):
    return {p: p.stat().st_mtime_ns for p in store.rglob("runs-*.npz")}


def test_a_store_is_not_computed_again_and_can_be_extended(reference, tmp_path):
    store = tmp_path / "store"
    first = run(store=store, runs=2)
    assert len(first.runs) == 2 * 8
    before = pieces(store)
    assert same(reference, run(store=store))
    after = pieces(store)
    assert before.items() <= after.items()
    assert same(reference, run(store=store, workers=1))
    assert pieces(store) == after
    assert same(first, run(store=store, runs=2))
    described = json.loads(next(store.glob("*/task.json")).read_text())
    assert {"instance", "policy", "horizon", "seed"} <= described.keys()


def test_other_parameters_do_not_mix_in_one_store(tmp_path):
    store = tmp_path / "store"
    one = run(store=store, runs=1)
    other = run(store=store, runs=1, seed=12)
    assert not one.runs.equals(other.runs)
    assert same(other, run(runs=1, seed=12))


LONG = """
import sys
from momab.engine import policies
from momab.model import instances
from momab.study import simulate
simulate.PIECE_ROUNDS = 10_000
if __name__ == "__main__":
    try:
        simulate.simulate(
            instances.synthetic(0.02, 8), policies.ParetoUCB1(q="synthetic"),
            horizon=5_000, runs=int(sys.argv[2]), seed=5, store=sys.argv[1],
            workers=2, checkpoints=5, engine=sys.argv[3],
        )
    except simulate.SimulationInterrupted as stop:
        print(stop)
        raise SystemExit(130)
"""


def start(tmp_path, runs, engine):
    script = tmp_path / "long.py"
    script.write_text(LONG)
    command = [sys.executable, str(script), str(tmp_path / "store"), str(runs), engine]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def wait_for_pieces(process, store, count):
    def enough():
        assert process.poll() is None, "it finished before it could be stopped"
        return len(pieces(store)) >= count

    until(enough, f"{count} finished pieces")


@pytest.mark.parametrize(
    ("how", "engine"),
    [
        (signal.SIGKILL, "auto"),
        (signal.SIGINT, "python"),
        pytest.param(signal.SIGKILL, "python", marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, "auto", marks=pytest.mark.slow),
    ],
)
def test_resuming_after_a_kill_loses_and_repeats_nothing(tmp_path, how, engine):
    store, many = tmp_path / "store", 40_000
    with start(tmp_path, many, engine) as process:
        try:
            wait_for_pieces(process, store, 3)
            target = os.killpg if how == signal.SIGKILL else os.kill
            target(process.pid, how)
            said, _ = process.communicate(timeout=300)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "of 40000 runs finished; they are kept in" in said
    before = pieces(store)
    assert len(before) >= 3
    last = max(int(path.name[5:13]) for path in before) + 1
    arguments = {"horizon": 5_000, "runs": min(last, 6), "seed": 5, "checkpoints": 5}
    setting = (instances.synthetic(0.02, 8), policies.ParetoUCB1(q="synthetic"))
    resumed = simulate(*setting, **arguments, store=store)
    assert same(resumed, simulate(*setting, **arguments))
    assert before.items() <= pieces(store).items()


def test_interruption_keeps_what_was_finished(tmp_path, monkeypatch):
    from momab.study import simulate as module

    play_piece = module.play_piece
    calls = []

    def interrupted(task, piece):
        calls.append(piece)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return play_piece(task, piece)

    monkeypatch.setattr(module, "play_piece", interrupted)
    monkeypatch.setattr(module, "PIECE_ROUNDS", 400)
    with pytest.raises(SimulationInterrupted, match=r"stopped with \d+ of 40 runs finished; give"):
        run(workers=1)
    calls.clear()
    with pytest.raises(SimulationInterrupted) as stop:
        run(workers=1, store=tmp_path / "store")
    kept = stop.value.results
    assert 1 <= len(kept.runs) <= 4
    assert len(kept.summary()) == 1


# --- tables -----------------------------------------------------------------------------


def test_summary_against_pandas(reference):
    summary = reference.summary("fairness_regret").set_index(["instance", "policy"])
    grouped = reference.runs.groupby(["instance", "policy"])["fairness_regret"]
    for name, values in grouped:
        row = summary.loc[name]
        assert row["runs"] == 5
        assert row["mean"] == pytest.approx(values.mean())
        assert row["sd"] == pytest.approx(values.std(ddof=1))
        assert row["median"] == values.median()
        assert row["q95"] == pytest.approx(values.quantile(0.95))
        assert row["mean_low"] <= row["mean"] <= row["mean_high"]
    detected = reference.runs.groupby(["instance", "policy"])["detected"].mean()
    np.testing.assert_allclose(summary["error_rate"], 1 - detected[summary.index])


def test_summary_of_constant_and_single_values():
    assert summarise(np.ones(4))["mean_low"] == 1 == summarise(np.ones(4))["mean_high"]
    assert np.isnan(summarise(np.array([2.0]))["sd"])


def test_checkpoints_are_log_spaced_and_end_at_the_horizon():
    rounds = log_checkpoints(10**6, 200)
    assert rounds[0] == 1
    assert rounds[-1] == 10**6
    assert 150 <= len(rounds) <= 200
    assert (np.diff(rounds) > 0).all()
    assert log_checkpoints(50, 1).tolist() == [50]
    assert log_checkpoints(50, 0).tolist() == []


def test_policies_of_one_kind_are_named_by_what_differs():
    pair = [policies.WidthGuided(c=0.02), policies.WidthGuided(c=0.05), policies.ParetoUCB1()]
    result = simulate(INSTANCES["rows"], pair, 20, 1)
    names = ["Width-guided (c=0.02)", "Width-guided (c=0.05)", "Pareto UCB1"]
    assert result.runs["policy"].tolist() == names


def test_saved_files_read_back(reference, tmp_path):
    folder = reference.save(tmp_path / "out")
    assert {p.name for p in folder.iterdir()} == {
        "runs.csv",
        "pulls.csv",
        "trajectories.csv",
        "summary.csv",
        "provenance.json",
    }
    back = pd.read_csv(folder / "runs.csv")
    assert back["pareto_regret"].tolist() == reference.runs["pareto_regret"].tolist()
    provenance = json.loads((folder / "provenance.json").read_text())
    assert {"seed", "horizon", "source", "momab", "numpy", "numba", "policies"} <= provenance.keys()
    (tmp_path / "file").write_text("")
    with pytest.raises(MomabError, match="cannot write to"):
        reference.save(tmp_path / "file" / "x")


def test_progress_shows_runs_and_time_left(capsys):
    simulate(INSTANCES["rows"], POLICIES[1], 50, 3, progress=True)
    shown = capsys.readouterr().err
    assert "3/3" in shown
    assert "left" in shown


def test_compiling_is_said_before_the_runs(capsys, monkeypatch):
    """And only what this machine has not compiled yet."""
    pytest.importorskip("numba", reason="skipped: needs momab[fast]")
    from momab.engine import compiled

    monkeypatch.setattr(compiled, "is_kept", lambda drive: "ParetoUCB1" not in repr(drive.py_func))
    first = simulate(INSTANCES["rows"], POLICIES[:2], 50, 3, progress=True)
    shown = capsys.readouterr().err
    assert "compiling once for this machine" in shown
    assert shown.index("compiling") < shown.index("simulating")
    assert "1/1 policies" in shown
    monkeypatch.setattr(compiled, "is_kept", lambda drive: True)
    same(simulate(INSTANCES["rows"], POLICIES[:2], 50, 3, progress=True), first)
    assert "compiling" not in capsys.readouterr().err


def test_results_say_in_a_line_what_was_played(reference):
    said = repr(reference)
    assert said.startswith("Results(40 runs; instances: synthetic, rows; policies: Width-guided,")
    assert len(said) < 200


GOOD = (INSTANCES["rows"], POLICIES[0], 100, 1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: simulate(GOOD[0], "greedy", 100, 1), "'greedy' is not a policy"),
        (lambda: simulate(GOOD[0], [], 100, 1), "at least one policy is needed"),
        (lambda: simulate([], GOOD[1], 100, 1), "at least one instance is needed"),
        (lambda: simulate([[0.1, 0.2]], GOOD[1], 100, 1), "an instance is made by"),
        (lambda: simulate(GOOD[0], GOOD[1], 2, 1), "at least the number of arms, 3; it is 2."),
        (lambda: simulate(GOOD[0], GOOD[1], 100, 0), "runs must be a whole number >= 1; it is 0."),
        (lambda: simulate(*GOOD, workers=0), "workers must be a whole number >= 1; it is 0."),
        (lambda: simulate(*GOOD, seed=-1), "the seed must be a whole number in 0.."),
        (
            lambda: simulate(*GOOD, checkpoints=-1),
            "checkpoints must be a whole number in 0..1000000; it is -1.",
        ),
        (
            lambda: simulate(*GOOD, engine="cuda"),
            "engine must be one of auto, numba, driver, python",
        ),
        (lambda: simulate(GOOD[0], [GOOD[1]] * 2, 100, 1), "'Width-guided' is given twice"),
        (lambda: simulate(*GOOD, store=__file__), "cannot be written"),
        (lambda: simulate(*GOOD).summary("speed"), "metric must be one of pareto_regret,"),
        (lambda: simulate(*GOOD).summary(level=2), "level must lie in (0, 1); it is 2."),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(MomabError) as error:
        call()
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
