"""One version, and containers that use what is there."""

import json
import re
import tomllib

import yaml

import momab
from tests.conftest import ROOT


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "momab.__version__"}
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == momab.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", momab.__version__)


def test_the_published_site_is_the_student_edition():
    workflow = yaml.safe_load((ROOT / ".github/workflows/pages.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["build"]["steps"]
    uploads = {
        str(step["with"].get("name", "site")): step["with"]["path"]
        for step in steps
        if "upload" in step.get("uses", "")
    }
    assert uploads == {
        "site": "_build/student",
        "notebooks": "_build/student/downloads",
        "instructor-edition": "_build/html",
    }
    assert any("EDITION=student" in step.get("run", "") for step in steps)


def test_both_pinned_files_agree():
    book, everything = (
        {line.partition(" ;")[0] for line in (ROOT / name).read_text("utf-8").splitlines()}
        for name in ("requirements.txt", "requirements-dev.txt")
    )
    assert book < everything
    heavy = {"jupyterlab", "playwright", "pyarrow", "mypy", "ruff", "ziglang", "pytest"}
    assert heavy.isdisjoint(line.partition("==")[0] for line in book)


def test_containers_name_what_the_makefile_has():
    targets = set(re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    recipe = (ROOT / "Containerfile").read_text(encoding="utf-8")
    opened = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    commands = "\n".join(line for line in recipe.splitlines() if not line.startswith("#"))
    used = re.findall(r"\bmake ([a-z]+) &&", commands + opened["postCreateCommand"])
    assert {"book", "lint"} <= set(used) <= targets
    versions = {re.search(r"python:(\d\.\d+)", text)[1] for text in (recipe, opened["image"])}
    assert len(versions) == 1
    copied = [line.split()[-2] for line in recipe.splitlines() if line.startswith("COPY")]
    assert all((ROOT / name).exists() for name in copied)
