"""Every command that a page prints makes that page again."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from bs4 import BeautifulSoup

from momab.book.colophon import rerun_command
from momab.book.project import Project
from momab.book.single_page import planned_runs, run_page
from momab.cli.app import app
from momab.cli.study import study_request
from momab.study.own import Request
from tests import tiny
from tests.command import run
from tests.conftest import ROOT

TABLE = "variant,latency_ms,rate\n" + "".join(
    f"{arm},{wait + 7 * n},{rate + n / 100}\n"
    for arm, wait, rate in (("A", 42.3, 0.2), ("B, cached", 300, 0.6), ("C", 600, 0.1))
    for n in range(12)
)


def parsed(command: str) -> dict[str, Any]:
    """What the command line understands of a printed command."""
    name, *words = shlex.split(command)
    assert name == "momab"
    group: Any = typer.main.get_command(app)
    context = group.make_context("momab", list(words))
    _, found, rest = group.resolve_command(context, words)
    return dict(found.make_context("x", rest, parent=context).params)


STUDIES: list[dict[str, Any]] = [
    {},
    {"arm": "the arm"},
    {"objectives": ["a", "b, with a comma", 'c "quoted"']},
    {"objectives": ["-a", "--b"]},
    {"units": {"a": "ms"}},
    {"units": {"b": "€ per day"}},
    {"scale": {"a": (0.0, 1000.0)}},
    {"scale": {"a": (2000.0, 0.0), "b": (-60.0, 0.1 + 0.2)}},
    {"minimize": ["a"]},
    {"minimize": ["a", "b"], "scale": {"a": (0.0, 958.0)}},
    {"missing": "drop"},
    {"delimiter": ";"},
    {"delimiter": "\t"},
    {"delimiter": "#"},
    {"encoding": "cp1252"},
    {"horizon": 1234, "runs": 7, "seed": 99},
    {"minimize": ["b"], "missing": "drop", "encoding": "latin-1", "delimiter": "|"},
]


@pytest.mark.parametrize("change", STUDIES)
def test_the_command_of_a_study_asks_for_the_same_study(tmp_path: Path, change: Any) -> None:
    table = str(tmp_path / "my $table's.csv")
    asked = Request(**{"table": table, "arm": "x", "objectives": ["a", "b"], **change})
    options = parsed(asked.command)
    del options["output"], options["dask"]
    assert study_request(**options).values == asked.values


@pytest.mark.parametrize(
    ("page", "assigned"),
    [
        ("model", []),
        ("model", ["arms=8"]),
        ("model", ["arms=5,10,20", "seed=1,2"]),
        ("own-data", []),
        ("wrong-objective", ["horizon=1e4"]),
    ],
)
def test_the_command_of_a_run_plans_the_same_executions(page: str, assigned: list[str]) -> None:
    project = Project.find(ROOT)
    notebook = project.notebook(page)
    jobs = planned_runs(project, notebook, "quick", assigned)
    options = parsed(rerun_command(jobs, "student"))
    assert (options["notebook"], options["edition"]) == (page, "student")
    again = planned_runs(project, notebook, options["profile"], options["parameter"])
    assert sorted(job.key for job in again) == sorted(job.key for job in jobs)


def timeless(page: str) -> str:
    """A page without when it was made and how long that took."""
    return re.sub(r"\d+ \w+ 2\d{3}, \d\d:\d\d( in)?|[\d.]+ s with", "", page)


def test_a_printed_study_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With all that the old command forgot: less is better, rows left out, encoding, delimiter."""
    monkeypatch.chdir(tmp_path)
    text = TABLE.replace("C,", "Café,").replace("B, cached", '"B, cached"') + "A,,0.3\n"
    (tmp_path / "my.csv").write_bytes(text.replace(",", ";").replace("B;", "B,").encode("cp1252"))
    words = ["--arm", "variant", "--objectives", "latency_ms,rate", "--minimize", "latency_ms"]
    words += ["--scale", "latency_ms=0:1000", "--missing", "drop", "--encoding", "cp1252"]
    words += ["--unit", "latency_ms=ms", "--delimiter", "semicolon", "-T", "200", "-n", "2"]
    assert run(monkeypatch, "study", "my.csv", *words) == 0
    answer, page, notebook = capsys.readouterr().out.splitlines()
    assert answer.startswith("2 of 3 arms are optimal: B, cached and A.")
    first = Path(page).read_text("utf-8")
    assert Path(notebook).name == "report.ipynb"
    for said in ("37 rows were read", "36 are used", "1 row was dropped", "latency_ms ms less"):
        assert said in " ".join(BeautifulSoup(first, "html.parser").get_text().split())
    command = html.unescape(re.findall(r"<code>(momab study.*?)</code>", first)[0])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run(monkeypatch, *shlex.split(command)[1:]) == 0
    again = Path(capsys.readouterr().out.splitlines()[1])
    assert again.parent.name == Path(page).parent.name
    assert timeless(again.read_text("utf-8")) == timeless(first)


@pytest.mark.slow
def test_a_printed_sweep_is_made_again(book: Path) -> None:
    tiny.dress(book)
    project = tiny.project(book)
    index, *pages = run_page(project, "other", assignments=["seed=2,3"])
    [command] = BeautifulSoup(index.read_text("utf-8"), "html.parser").select("footer code")
    options = parsed(command.get_text())
    place = book / "again"
    made = run_page(project, options["notebook"], assignments=options["parameter"], output=place)
    assert [page.name for page in made] == ["index.html", *(page.name for page in pages)]
    for old, new in zip([index, *pages], made, strict=True):
        assert timeless(new.read_text("utf-8")) == timeless(old.read_text("utf-8"))
