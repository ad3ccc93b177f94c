"""The packages: what may import what, and that a public name is defined once."""

import ast
import os
import re
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
