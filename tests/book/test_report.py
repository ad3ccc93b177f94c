"""A report: a page of its own, made in this process, from any folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from momab import MomabError
from momab.book.report import Report, execute_here, make_report, report_cells
from momab.errors import BuildError
from momab.study.own import Request
from tests.command import run
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A report on arms with many objectives, few rows and gaps."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.random((300, 3)).round(3), columns=["speed", "wait", "taste"])
    frame.insert(0, "shop", [f"shop {n % 30:02}" for n in range(300)])
    frame["wait"] *= 60
    frame.loc[[3, 5], "taste"] = np.nan
    frame.loc[3, "speed"] = np.nan
    path = tmp_path_factory.mktemp("table") / "shops.csv"
    frame.to_csv(path, index=False)
    asked = Request(
        str(path), "shop", ["speed", "wait", "taste"], {"wait": "min"}, {"wait": (0.0, 60.0)},
        ["wait"], "drop", horizon=300, runs=2,
    )  # fmt: skip
    return make_report("study", asked.values, asked.command)


def test_a_report_is_its_own_page(made):
    soup = BeautifulSoup(made.page, "html.parser")
    said = " ".join(soup.get_text().split())
    assert made.title == soup.h1.get_text() == "Which arm? A report on shops"
    for heading in ("The data", "How sure is that?", "What would settle it", "Which policy?"):
        assert heading in [h.get_text() for h in soup.select("h2")]
    for words in (
        "300 rows were read",
        "298 are used: 2 rows were dropped",
        "a row that lacks several values is dropped once",
        "Few rows:",
        "in units of the file",
        "The arms (25 of 30: the best of each column",
        "Not in the table:",
    ):
        assert words in said, words
    for foreign in ("café", "Teaching note", "Exercise", "usage"):
        assert foreign not in said
    assert len(soup.select("figure svg")) == 2
    tables = {t.caption.get_text().split(",")[0]: t for t in soup.select("table")}
    assert "The columns" in tables
    assert "wait (min)" in soup.get_text()
    assert not soup.select("script, link")
    assert made.answer.split(".")[0] in said
    assert all(f"shop {number:02}" in said for number in range(30))


def test_its_notebook_can_be_run_again(made):
    notebook = json.loads(made.notebook)
    assert notebook["nbformat"] == 4
    first, *rest = notebook["cells"]
    assert first["metadata"]["tags"] == ["parameters"]
    names: dict[str, object] = {}
    exec(first["source"], names)
    assert names["minimize"] == ["wait"]
    assert all(cell["execution_count"] for cell in [first, *rest])
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.from_dict(notebook))


def test_what_is_wrong_in_a_cell_is_said():
    def cell(source: str) -> dict[str, object]:
        return {"source": source, "outputs": [], "execution_count": None}

    with pytest.raises(BuildError, match="cell 2 raised ZeroDivisionError"):
        execute_here([cell("x = 1"), cell("x / 0")])
    with pytest.raises(MomabError, match=r"^no\.$"):
        execute_here([cell("from momab import MomabError\nraise MomabError('no.')")])
    with pytest.raises(KeyboardInterrupt):
        execute_here([cell("raise KeyboardInterrupt")])


def test_the_template_comes_with_the_package():
    cells = report_cells("study", {"table": "x.csv"})
    assert cells[0]["source"] == "table = 'x.csv'"
    assert '"book/templates/*"' in (ROOT / "pyproject.toml").read_text()


def test_a_folder_keeps_what_is_not_ours(tmp_path, monkeypatch, capsys):
    """And a report that somebody has changed; another set of values has another folder."""
    table = tmp_path / "t.csv"
    table.write_text("arm,x\n" + "a,0.1\nb,0.9\n" * 3)
    monkeypatch.chdir(tmp_path)
    words = ("study", "t.csv", "--objectives", "x", "-T", "50", "-n", "2")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("precious")
    assert run(monkeypatch, *words, "-o", "mine") == 2
    assert "mine/report.html is not ours, so it is not replaced" in capsys.readouterr().err
    assert (tmp_path / "mine" / "report.html").read_text() == "precious"
    assert run(monkeypatch, *words) == 0
    page = Path(capsys.readouterr().out.splitlines()[1])
    assert page.parent.parent == Path("runs")
    assert run(monkeypatch, *words) == 0
    page.write_text("edited")
    capsys.readouterr()
    assert run(monkeypatch, *words) == 2
    assert "has been changed since we wrote it" in capsys.readouterr().err
    assert run(monkeypatch, *words, "--seed", "2") == 0
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_the_first_paragraph_counts_every_arm(tmp_path):
    rates = {"optimal": [1, 1], "open": [0, 1], "poor": [0, 0], "same": [0, 1]}
    rows = {
        name: f"{name},0.{3 + low}\n{name},0.{3 + high}\n" for name, (low, high) in rates.items()
    }
    for names, said in (
        (["poor", "optimal"], "Choose optimal: it is the only optimal arm"),
        (["same", "open"], "the table does not settle it"),
    ):
        path = tmp_path / "t.csv"
        path.write_text("arm,x\n" + "".join(rows[name] for name in names))
        asked = Request(str(path), "arm", ["x"], horizon=20, runs=2)
        answer = make_report("study", asked.values, asked.command).answer
        assert said in answer
        assert ("The other one is not optimal." in answer) == ("optimal" in names)
        assert ("2 arms are open" in answer) == ("open" in names)
