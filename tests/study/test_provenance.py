"""The source hash sees every file that decides a digit."""

import ast
import shutil
from pathlib import Path

import pytest

import momab
from momab.engine.policies import WidthGuided
from momab.study import provenance
from momab.study.provenance import PACKAGE, describe_policy, engine_sources, source_hash

PLAYING = ("*.py", "accelerators/*.py", "policies/*.py")


def imported(path: Path) -> set[Path]:
    """The files of momab that a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("momab."):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                file = PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py")
                if file.exists():
                    found.add(file)
    return found


def test_every_engine_module_is_in_the_source_hash():
    assert Path(momab.__file__).parent == PACKAGE
    assert set((PACKAGE / "engine").rglob("*.py")) <= set(engine_sources())
    assert len({path.name for path in engine_sources()}) > 20


def test_so_is_everything_that_a_decision_rests_on():
    """Apart from words, displays, and where a run is done: errors, files, progress, processes."""
    places = ("files", "progress", "memory", "processes", "cluster", "extras")
    silent = {PACKAGE / "errors.py", *(PACKAGE / "_util" / f"{name}.py" for name in places)}
    todo = [path for pattern in PLAYING for path in (PACKAGE / "engine").glob(pattern)]
    seen: set[Path] = set()
    while todo:
        path = todo.pop()
        if path not in seen | silent:
            seen.add(path)
            todo += imported(path)
    tables = {PACKAGE / "model" / "statistics.py"}  # for the summaries, not the runs
    assert seen - tables <= set(engine_sources())


@pytest.fixture
def copy(tmp_path):
    for path in engine_sources():
        target = tmp_path / path.relative_to(PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return tmp_path


def test_an_edit_anywhere_changes_the_hash(copy):
    before = source_hash()
    assert source_hash(copy) == before
    for path in engine_sources(copy):
        text = path.read_bytes()
        path.write_bytes(text + b"\n# edited\n")
        assert source_hash(copy) != before, path
        path.write_bytes(text.replace(b"\n", b"\r\n"))
        assert source_hash(copy) == before, path
        path.write_bytes(text)
    (copy / "engine" / "policies" / "new.py").write_text("")
    assert source_hash(copy) != before


def test_a_policy_from_elsewhere_is_described_with_its_code(monkeypatch):
    assert describe_policy(WidthGuided()) == {
        "name": "width-guided",
        "options": {"c": 2.0, "objective_rule": "widest", "certificate": "hoeffding"},
    }
    monkeypatch.setattr(WidthGuided, "__module__", "momab.chapters.somewhere")
    assert "code" in describe_policy(WidthGuided())


def test_versions_are_named():
    versions = provenance.provenance_versions()
    assert set(versions) == {"momab", "source", "python", "numpy", "numba"}
    assert versions["source"] == source_hash()
