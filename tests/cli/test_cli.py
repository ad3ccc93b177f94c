"""`momab simulate` as a person uses it: what it prints, and how it refuses."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest

from momab import MomabError
from momab.cli import specs
from momab.cli.app import SECTIONS, app
from momab.cli.terminal import interruptible, print_wide
from momab.engine.policies import registered
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.width_guided import WidthGuided
from tests.command import run

SHORT = ("simulate", "synthetic:delta=0.1,m=2,K=6", "-T", "1e3", "-n", "2")


def test_simulate_prints_a_line_per_policy(monkeypatch, capsys):
    assert run(monkeypatch, *SHORT) == 0
    out = capsys.readouterr().out
    for label in ("Width-guided", "Pareto UCB1", "Annealing-Pareto", "Scalarized UCB"):
        assert sum(label in line for line in out.splitlines()) == 1
    assert "synthetic (delta=0.1, m=2)" in out


def test_simulate_writes_tables_and_resumes(monkeypatch, tmp_path, capsys):
    out = tmp_path / "out"
    command = (*SHORT, "--policy", "width-guided:c=0.1", "--seed", "9", "-o", str(out))
    assert run(monkeypatch, *command) == 0
    first = pd.read_csv(out / "runs.csv")
    assert len(first) == 2
    assert json.loads((out / "provenance.json").read_text())["seed"] == 9
    pieces = {p: p.stat().st_mtime_ns for p in (out / "store").rglob("*.npz")}
    assert pieces
    assert run(monkeypatch, *command) == 0
    assert {p: p.stat().st_mtime_ns for p in (out / "store").rglob("*.npz")} == pieces
    pd.testing.assert_frame_equal(first, pd.read_csv(out / "runs.csv"))


def test_simulate_takes_a_users_table(monkeypatch, tmp_path, capsys):
    table = tmp_path / "mine.csv"
    table.write_text("who,a,b\nx,0.1,0.9\ny,0.8,0.3\nx,0.2,0.7\n")
    options = ("--csv", str(table), "--arm", "who", "--objectives", "a,b")
    assert run(monkeypatch, "simulate", *options, "-T", "100", "-n", "1") == 0
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
        (("zero-gap", "--engine", "gpu"), "engine must be one of auto, numba, driver, python"),
        (("--csv", "nowhere.csv", "--objectives", "a"), "cannot read nowhere.csv as a CSV table"),
        (("zero-gap", "--store", __file__), "cannot be written: Not a directory"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(monkeypatch, capsys, arguments, sentence):
    assert run(monkeypatch, "simulate", *arguments) == 2
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


@pytest.mark.parametrize("module", ["momab", "momab.cli.app"])
def test_the_start_is_light(module):
    heavy = ("numba", "numpy", "pandas", "scipy", "matplotlib", "rich", "joblib", "sphinx", "yaml")
    code = f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_every_command_explains_itself(monkeypatch, capsys):
    """The list fits a screen, says where to start, and shows switches as switches."""
    assert run(monkeypatch, "--help") == 0
    listed = capsys.readouterr().out
    assert listed.count("\n") < 24
    assert max(map(len, listed.splitlines())) <= 80
    assert re.match(r"\s*Start with:\n  momab serve +in a checkout\n", listed)
    shown = [command.name for command in app.registered_commands if not command.hidden]
    groups = [group.name for group in app.registered_groups]
    assert sorted([*shown, *groups]) == sorted(
        name for names in SECTIONS.values() for name in names
    )
    groups_of = app.registered_groups
    inner = [(g.name, c.name) for g in groups_of for c in g.typer_instance.registered_commands]
    assert len(inner) == 12
    for words in [*((name,) for name in [*shown, *groups]), *inner]:
        assert words[0] in listed
        assert run(monkeypatch, *words, "--help") == 0
        said = capsys.readouterr().out
        assert "Usage: momab" in said
        assert not re.search(r"^  -.* <(bool|list)", said, flags=re.MULTILINE)


def test_policies_are_listed_as_they_are_named(monkeypatch, capsys):
    assert run(monkeypatch, "policies", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == len(registered()) >= 9
    for row in rows:
        made = specs.policy(f"{row['name']}:{row['options']}" if row["options"] else row["name"])
        assert made == specs.policy(row["name"])
        assert row["what"].endswith((".", "…"))


@pytest.mark.parametrize(
    ("stop", "sentence"),
    [
        (KeyboardInterrupt(), "stopped; nothing was written."),
        (KeyboardInterrupt("stopped with 3 of 40 runs finished."), "stopped with 3 of 40"),
    ],
)
def test_ctrl_c_is_one_sentence_and_exit_code_130(capsys, stop, sentence):
    with pytest.raises(SystemExit) as ended, interruptible("stopped; nothing was written."):
        raise stop
    assert ended.value.code == 130
    said = capsys.readouterr().err
    assert said.startswith(f"momab: {sentence}")
    assert said.count("\n") == 1


def test_tables_in_a_pipe_keep_their_words_whole(capsys):
    print_wide("word " * 60, width=400)
    assert capsys.readouterr().out.count("\n") == 1


def test_reproduce_writes_files_and_compares(monkeypatch, tmp_path, capsys):
    sizes = ("-T", "300", "-n", "2", "--workers", "1", "-o", tmp_path)
    assert run(monkeypatch, "reproduce", "table2", "figure1", *sizes) == 0
    said = capsys.readouterr().out
    assert "not compared with the paper: its tables have T = 1,000,000" in said
    for name in ("table2.csv", "table2.tex", "figure1.svg"):
        assert (tmp_path / name).is_file()
        assert name in said
    assert r"\toprule" in (tmp_path / "table2.tex").read_text()
    assert "142.077" in (tmp_path / "table2.tex").read_text()
    assert run(monkeypatch, "reproduce", "table9") == 2
    assert "there is no target 'table9'" in capsys.readouterr().err
