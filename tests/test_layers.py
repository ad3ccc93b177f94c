"""The rooms of the house: what may import what, and that a public name is defined once."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest.importorskip("importlinter", reason="skipped: needs import-linter")


def contracts(folder: Path) -> tuple[int, dict[str, bool]]:
    """Run lint-imports on the package in a folder: its exit code, and which contracts are kept."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    said = subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--no-logo"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"^(.+) (KEPT|BROKEN)(?: \(.*\))?$", said.stdout, re.MULTILINE)
    assert found, said.stdout + said.stderr
    return said.returncode, {name: verdict == "KEPT" for name, verdict in found}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The sources alone, to plant an import in."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    modules = shutil.ignore_patterns("__pycache__", "data", "fonts", "*.pyc")
    shutil.copytree(ROOT / "momab", tmp_path / "momab", ignore=modules)
    return tmp_path


def test_the_layers_hold():
    code, kept = contracts(ROOT)
    assert [name for name in kept if not kept[name]] == []
    assert code == 0
    assert len(kept) == 8


LAYERS = "Each package imports only those below it"


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("model/pareto.py", "from momab.chapters import model", LAYERS),
        ("engine/loop.py", "from momab import datasets", LAYERS),
        ("study/write.py", "def late():\n    from momab.chapters import synthetic", LAYERS),
        ("errors.py", "from momab._util import validate", LAYERS),
        ("ledger/study.py", "import momab.book.build", LAYERS),
        ("attic/__init__.py", "", LAYERS),  # a package that the list does not know
        ("chapters/model.py", "from momab.chapters import tuning", "Chapters do not"),
        ("exercises/model.py", "import momab.exercises.tuning", "Exercises of different"),
        ("book/build.py", "from momab.model import theory", "The book knows no mathematics"),
        ("engine/loop.py", "def late():\n    import numba", "Only the kernels are compiled"),
        ("study/tables.py", "import matplotlib.pyplot", "What computes draws nothing"),
        ("course/grading.py", "import tornado.web", "Only web knows the web framework"),
        ("course/grading.py", "from momab.serve import app", LAYERS),
        ("book/build.py", "from sphinx.application import Sphinx", "Only book.sphinx knows Sphinx"),
    ],
)
def test_a_planted_import_is_noticed(copy, module, line, broken):
    path = copy / "momab" / module
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write(f"\n{line}\n")
    code, now = contracts(copy)
    assert code != 0
    assert [kept for name, kept in now.items() if name.startswith(broken)] == [False]


SHARED = {"setup", "live_data", "main", "check"}


def test_a_public_name_is_defined_once():
    """Sphinx calls `setup` in every extension, `live_data` is what a chapter's explorable shows,
    programs begin in `main`; `momab.check` is for answers, `momab.parameters.check` for values.
    """
    found = defaultdict(list)
    for path in sorted((ROOT / "momab").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found[node.name].append(path.relative_to(ROOT).as_posix())
    twice = {
        name: where
        for name, where in found.items()
        if len(where) > 1 and not name.startswith("_") and name not in SHARED
    }
    assert twice == {}
