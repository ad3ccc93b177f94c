"""The packages: what may import what, and that a public name is defined once."""

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


def contracts(folder: Path) -> tuple[int, dict[str, bool], str]:
    """Run lint-imports in a folder: its exit code, which contracts are kept, what it says."""
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
    return said.returncode, {name: verdict == "KEPT" for name, verdict in found}, said.stdout


def test_the_layers_hold():
    code, kept, _ = contracts(ROOT)
    assert [name for name in kept if not kept[name]] == []
    assert code == 0
    assert len(kept) == 8


LAYERS = "Each package imports only those below it"
SPHINX = "Only book.sphinx knows Sphinx, and book.myst its parser"
PLANTED = [
    ("model/pareto", "from momab.chapters import model", "momab.chapters.model", LAYERS),
    ("engine/loop", "from momab.study import datasets", "momab.study.datasets", LAYERS),
    (
        "study/write",
        "def late():\n    from momab.chapters import fairness",
        "chapters.fair",
        LAYERS,
    ),
    ("errors", "from momab._util import validate", "momab._util.validate", LAYERS),
    ("ledger/study", "import momab.book.build", "momab.book.build", LAYERS),
    ("course/grading", "from momab.serve import app", "momab.serve.app", LAYERS),
    ("chapters/model", "from momab.chapters import tuning", "tuning", "Chapters do not"),
    ("exercises/model", "import momab.exercises.tuning", "tuning", "Exercises of different"),
    ("book/build", "from momab.model import theory", "theory", "The book knows no mathematics"),
    ("engine/loop", "def late():\n    import numba", "numba", "Only one module compiles"),
    ("study/tables", "import matplotlib.pyplot", "matplotlib", "What computes draws nothing"),
    ("course/grading", "import tornado.web", "tornado", "Only the loopback server knows"),
    ("book/build", "from sphinx.application import Sphinx", "sphinx", SPHINX),
]


def test_planted_imports_are_noticed(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    modules = shutil.ignore_patterns("__pycache__", "data", "fonts", "*.pyc")
    shutil.copytree(ROOT / "momab", tmp_path / "momab", ignore=modules)
    for module, line, _, _ in PLANTED:
        with (tmp_path / "momab" / f"{module}.py").open("a") as file:
            file.write(f"\n{line}\n")
    (tmp_path / "momab/attic").mkdir()
    (tmp_path / "momab/attic/__init__.py").touch()  # a package that the list does not know
    code, kept, said = contracts(tmp_path)
    assert code != 0
    assert not any(kept.values())
    _, *sections = re.split(rf"^({'|'.join(map(re.escape, kept))})\n-+$", said, flags=re.MULTILINE)
    told = dict(zip(sections[::2], sections[1::2], strict=True))
    for module, _, imported, broken in PLANTED:
        [section] = [text for name, text in told.items() if name.startswith(broken)]
        importer = f"momab.{module.replace('/', '.')}"
        assert re.search(rf"{re.escape(importer)} -> \S*{imported}", section), (module, broken)
    assert "momab.attic" in told[LAYERS]


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
