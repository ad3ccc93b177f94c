"""Every run describes itself: an RO-Crate whose files are there and whose digests hold."""

import json
from pathlib import Path

import pytest

from momab import __version__
from momab._util.crate import CRATE, PROFILE
from momab._util.manifest import file_digest
from tests.command import run

TABLE = "arm,a,b\nx,1,0\nx,0,1\ny,0,0\ny,1,1\n"


def crate(folder: Path) -> dict[str, dict]:
    """The entities of a folder's crate by name, once it is found sound."""
    found = json.loads((folder / CRATE).read_text())
    assert found["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    graph = {entity["@id"]: entity for entity in found["@graph"]}
    assert len(graph) == len(found["@graph"]), "identifiers are given once"
    about, root, action = graph[CRATE], graph["./"], graph["#run"]
    assert about["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert about["about"] == {"@id": "./"}
    assert {"name", "description", "datePublished", "license", "conformsTo"} <= root.keys()
    assert root["conformsTo"]["@id"] == PROFILE
    assert root["mentions"] == {"@id": "#run"}
    assert action["@type"] == "CreateAction"
    assert root["hasPart"] == action["result"]
    referred = [*root["hasPart"], *action["object"], action["instrument"]]
    assert all(reference["@id"] in graph for reference in referred)
    program = graph[action["instrument"]["@id"]]
    assert (program["name"], program["@type"]) == ("momab", "SoftwareApplication")
    assert program["softwareVersion"] == __version__
    assert {"#python", "#numpy"} <= {one["@id"] for one in program["softwareRequirements"]}
    assert action["result"]
    for result in action["result"]:
        assert graph[result["@id"]]["sha256"] == file_digest(folder / result["@id"])
    return graph


def values(graph: dict[str, dict]) -> dict:
    return {e["name"]: e["value"] for e in graph.values() if e["@type"] == "PropertyValue"}


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "my table.csv"
    path.write_text(TABLE)
    return path


def test_a_simulation_describes_itself(table, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    arguments = ("simulate", "zero-gap", "--csv", table, "--objectives", "a,b", "-T", "1e2")
    assert run(monkeypatch, *arguments, "-n", "2", "--workers", "1", "-o", out) == 0
    graph = crate(out)
    assert {"runs.csv", "pulls.csv", "trajectories.csv", "summary.csv"} <= graph.keys()
    assert values(graph)["horizon"] == 100
    assert values(graph)["seed"] == 1, "also what was not typed"
    assert values(graph)["instance"] == '["zero-gap"]'
    assert len(values(graph)["source"]) == 16
    assert graph["#input-0"]["name"] == "my table.csv"
    assert graph["#input-0"]["sha256"] == file_digest(table)
    assert str(tmp_path) not in graph["#input-0"]["@id"]
    assert graph["#run"]["name"].startswith("momab simulate zero-gap --csv '")


def test_a_reproduction_describes_itself(tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    arguments = ("reproduce", "table2", "-T", "100", "-n", "2", "--workers", "1", "-o", out)
    assert run(monkeypatch, *arguments) == 0
    graph = crate(out)
    assert {"table2.csv", "table2.tex"} <= graph.keys()
    assert "#input-0" not in graph, "the synthetic family needs no data"


@pytest.mark.slow
def test_pages_describe_themselves(table, tmp_path, monkeypatch, capsys):
    short = ("-T", "100", "-n", "2", "-o", tmp_path / "study")
    assert run(monkeypatch, "study", table, "--objectives", "a,b", *short) == 0
    graph = crate(tmp_path / "study")
    assert {"own-data.html", "own-data.ipynb"} <= graph.keys()
    assert graph["#input-0"]["sha256"] == file_digest(table)
    out = tmp_path / "sweep"
    assert run(monkeypatch, "run", "zero-gap", "-p", "seed=1,2", "-o", out) == 0
    graph = crate(out)
    pages = {name for name in graph if name.endswith((".html", ".ipynb"))}
    assert len(pages) == 5, "an index, and a page and a notebook for each value"
    assert values(graph)["parameter"] == '["seed=1,2"]'
    assert graph["#input-0"]["name"] == "zero-gap.md"
