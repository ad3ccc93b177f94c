"""The documents keep their promises."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

FENCE = re.compile(r"^(`{3,})(\w+)(?: (>> )?(\S+))?\n(.*?)^\1$", flags=re.DOTALL | re.MULTILINE)


class Fence(NamedTuple):
    """A block of a document: its language, the file that it belongs to, and its text."""

    language: str
    appended: bool
    path: str
    text: str


def fences(text: str) -> list[Fence]:
    return [Fence(m[2], bool(m[3]), m[4] or "", m[5]) for m in FENCE.finditer(text)]


def recipes() -> dict[str, str]:
    """The recipes by their titles."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = text.split("\n## Five recipes\n")[1].split("\n## ")[0]
    sections = re.split(r"^### ", part, flags=re.MULTILINE)[1:]
    return {title: body for title, _, body in (s.partition("\n") for s in sections)}


def test_there_are_five_recipes_as_long_as_they_say():
    counts = {"policy": 2, "figure": 2, "chapter": 5, "exercise": 2, "data set": 2}
    found = {}
    for title, body in recipes().items():
        kind, files = re.fullmatch(
            r"An? ([a-z ]+) \((\d) files(?: and the data)?\)", title
        ).groups()
        written = {fence.path for fence in fences(body) if fence.path}
        assert len(written) == int(files), title
        found[kind] = len(written)
    assert found == counts


def test_what_a_recipe_adds_to_a_file_can_stand_at_its_end():
    """An import there would be one that `make lint` refuses."""
    added = [f for body in recipes().values() for f in fences(body) if f.appended]
    assert any(fence.language == "python" for fence in added)
    for fence in added:
        if fence.language == "python":
            assert not re.search(r"^(from|import) ", fence.text, flags=re.MULTILINE), fence.path


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, without what is made."""
    folder = tmp_path_factory.mktemp("recipes") / "momab"
    skipped = shutil.ignore_patterns(".*", "_build", "*.pyc", "*.egg-info", "shared", "*.part")
    shutil.copytree(ROOT, folder, ignore=skipped)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("title", recipes(), ids=lambda t: re.sub(r"\W+", "-", t.lower()))
def test_a_recipe_works(title, copy):
    body = recipes()[title]
    for fence in fences(body):
        if fence.path:
            carry_out(copy, fence)
    written = [fence.path for fence in fences(body) if fence.path.endswith(".py")]
    ruff = [sys.executable, "-m", "ruff"]
    run([*ruff, "check", "-q", "--fix", "--select", "I", *written], copy)
    run([*ruff, "check", "-q", *written], copy)
    [commands] = [fence.text for fence in fences(body) if fence.language == "sh"]
    for command in commands.splitlines():
        program, *arguments = command.split()
        run([sys.executable, "-m", program, *map(unquoted, arguments)], copy)


def carry_out(folder: Path, fence: Fence) -> None:
    """Write a new file, or add to one; imports that lead a Python block go to the top."""
    target = folder / fence.path
    assert target.is_file() == fence.appended, fence.path
    if not fence.appended:
        target.write_text(fence.text, encoding="utf-8")
        return
    old, new = target.read_text(encoding="utf-8"), fence.text
    if fence.language == "python":
        lead = re.match(r"(?:(?:from|import) .*\n)*", new)[0]
        if lead:
            place = re.search(r"^from momab", old, flags=re.MULTILINE).start()
            old, new = old[:place] + lead + old[place:], new.removeprefix(lead)
        new = "\n\n" + new.lstrip("\n")
    target.write_text(old + new, encoding="utf-8")


def unquoted(word: str) -> str:
    return word.strip('"')


def run(command: list[str], folder: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (
        f"{' '.join(command)}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    )


def test_the_readme_example_runs():
    [example] = [f.text for f in fences((ROOT / "README.md").read_text()) if f.language == "python"]
    short = example.replace("horizon=10**6, runs=20", "horizon=1000, runs=2")
    assert short != example
    names = {"__name__": "example"}
    exec(compile(short, "README.md", "exec"), names)
    assert len(names["results"].runs) == 6


def test_no_data_set_is_committed():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    for name in listed.stdout.split():
        assert "kuairec_cohort" not in name
        assert "spotify_tracks" not in name
