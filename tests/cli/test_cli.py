"""`momab simulate` as a person uses it: what it prints, and how it refuses."""

import json
import subprocess
import sys

import pandas as pd
import pytest

from momab import MomabError
from momab.cli.app import main
from momab.engine import specs
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.width_guided import WidthGuided


def momab(monkeypatch, *arguments):
    """Run the command in this process; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["momab", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


SHORT = ("simulate", "synthetic:delta=0.1,m=2,K=6", "-T", "1e3", "-n", "2")


def test_simulate_prints_a_line_per_policy(monkeypatch, capsys):
    assert momab(monkeypatch, *SHORT) == 0
    out = capsys.readouterr().out
    for label in ("Width-guided", "Pareto UCB1", "Annealing-Pareto", "Scalarized UCB"):
        assert sum(label in line for line in out.splitlines()) == 1
    assert "synthetic (delta=0.1, m=2)" in out


def test_simulate_writes_tables_and_resumes(monkeypatch, tmp_path, capsys):
    out = tmp_path / "out"
    command = (*SHORT, "--policy", "width-guided:c=0.1", "--seed", "9", "-o", str(out))
    assert momab(monkeypatch, *command) == 0
    first = pd.read_csv(out / "runs.csv")
    assert len(first) == 2
    assert json.loads((out / "provenance.json").read_text())["seed"] == 9
    pieces = {p: p.stat().st_mtime_ns for p in (out / "store").rglob("*.npz")}
    assert pieces
    assert momab(monkeypatch, *command) == 0
    assert {p: p.stat().st_mtime_ns for p in (out / "store").rglob("*.npz")} == pieces
    pd.testing.assert_frame_equal(first, pd.read_csv(out / "runs.csv"))


def test_simulate_takes_a_users_table(monkeypatch, tmp_path, capsys):
    table = tmp_path / "mine.csv"
    table.write_text("who,a,b\nx,0.1,0.9\ny,0.8,0.3\nx,0.2,0.7\n")
    options = ("--csv", str(table), "--arm", "who", "--objectives", "a,b")
    assert momab(monkeypatch, "simulate", *options, "-T", "100", "-n", "1") == 0
    assert "mine" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "name an instance, for example synthetic:delta=0.02,m=8, or give --csv."),
        (("galaxy",), "there is no instance 'galaxy'; choose from synthetic, duplicated,"),
        (("synthetic:delta=0.02",), "synthetic needs a value for m: synthetic:m=..."),
        (("synthetic:m",), "'synthetic:m' is not understood; write name:option=value"),
        (("synthetic:delta=x,m=1",), "delta of synthetic must be a number; it is 'x'."),
        (("zero-gap:m=1",), "zero-gap has no option 'm'; its options: none."),
        (("zero-gap", "--policy", "best"), "there is no policy 'best'; choose from annealing"),
        (("zero-gap", "--policy", "width-guided:c=0"), "c must be a number > 0; it is 0."),
        (("zero-gap", "--policy", "width-guided:x=1"), "width-guided has no option 'x'"),
        (("zero-gap", "-T", "1"), "at least the number of arms, 2; it is 1."),
        (("zero-gap", "-T", "10.5"), "the horizon T must be a whole number >= 1; it is 10.5."),
        (("zero-gap", "-n", "0"), "runs must be a whole number >= 1; it is 0."),
        (("zero-gap", "--engine", "gpu"), "engine must be one of auto, numba, python"),
        (("--csv", "nowhere.csv", "--objectives", "a"), "cannot read nowhere.csv as a CSV table"),
        (("zero-gap", "--store", __file__), "cannot be written: Not a directory"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(monkeypatch, capsys, arguments, sentence):
    assert momab(monkeypatch, "simulate", *arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("momab: ")
    assert sentence in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_specs_become_records():
    assert specs.policy("width-guided:c=0.02,objective-rule=random") == WidthGuided(0.02, "random")
    assert specs.policy("pareto-ucb1:q=real") == ParetoUCB1("real")
    assert specs.instance("random:K=3,d=2,seed=4,levels=3").means.shape == (3, 2)
    assert specs.parse("x:a=1,b=2.5,c=y") == ("x", {"a": 1, "b": 2.5, "c": "y"})
    with pytest.raises(MomabError, match="not understood"):
        specs.parse("x:=1")


def test_importing_momab_is_light():
    heavy = ("numba", "pandas", "scipy", "matplotlib", "rich", "joblib")
    code = f"import sys, momab; print([m for m in {heavy!r} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
