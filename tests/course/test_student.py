"""The student distribution: it is complete, it works by itself, and it holds no worked solution."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from momab import MomabError, exercises
from momab.course import student
from tests import leaks
from tests.conftest import PROJECT

# What students do not install: importing it must not be tried there.
ABSENT = ("sphinx", "docutils", "jupyter_book", "jupytext", "papermill", "myst_parser", "grimp")
BARRIER = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


@pytest.fixture(scope="session")
def folder(once) -> Path:
    """The folder for students around a site of one page."""

    def fill(place: Path) -> None:
        (place / "site").mkdir(parents=True)
        (place / "site/index.html").write_text("first")
        student.make_distribution(PROJECT, place / "students", place / "site")

    return once("student", fill)


def test_the_folder_has_everything_and_says_so(folder: Path) -> None:
    readme = (folder / "students/README.md").read_text("utf-8")
    for name in re.findall(r"`([\w./-]+)`", readme):
        if "/" in name or re.search(r"\.(py|md|txt|whl|html|ipynb)$", name):
            assert (folder / "students" / name).exists(), name
    handouts = sorted(path.stem for path in (folder / "students/handouts").iterdir())
    assert handouts == exercises.chapters()
    texts = [readme, (folder / "students/start.py").read_text("utf-8")]
    assert not any(re.search(r"@[A-Z]", text) for text in texts), "every word is filled in"
    assert os.access(folder / "students/start.py", os.X_OK)
    assert "plain Python functions" in " ".join(readme.split()), "it hides nothing and says so"


def test_what_students_install_has_pinned_versions_and_no_sphinx(folder: Path) -> None:
    pinned = re.findall(r"^([\w.-]+)==", (folder / "students/constraints.txt").read_text(), re.M)
    with zipfile.ZipFile(folder / "students" / student.WHEEL) as archive:
        [about] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        text = archive.read(about).decode()
    extras = "fast|plots|learn"
    assert f"[{extras.replace('|', ',')}]" in (folder / "students/start.py").read_text()
    needs = re.findall(
        rf"^Requires-Dist: ([\w-]+)[^;\n]*(?:; extra == .(?:{extras}).)?$", text, re.M
    )
    assert {"numpy", "numba", "matplotlib", "jupyterlab", "ipykernel"} <= set(needs)
    assert set(needs) - {"momab"} <= set(pinned)
    assert not set(needs) & {"sphinx", "jupyter-book", "jupytext", "papermill", "pytest"}


def test_the_wheel_has_the_library_and_no_page(folder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(folder / "students" / student.WHEEL) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path)
    sources = {p.relative_to(PROJECT.root).as_posix() for p in PROJECT.library.rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources
    assert "momab/course/templates/report.html" in names
    assert not [name for name in names if "exercises.md" in name or name.endswith(".ipynb")]
    # away from the repository, and without Sphinx, its checks and commands work
    (tmp_path / "sitecustomize.py").write_text(BARRIER)
    script = (
        "import momab, sys\nprint(momab.__file__)\n"
        "momab.check('model-3', lambda means: [0.0] * len(means))\n"
        "from momab.cli.app import main\n"
        "sys.argv[1:] = ['run', 'model']\nmain()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith(str(tmp_path)), done.stderr
    assert "model-3: not yet, " in done.stdout
    assert "\nHint: " in done.stdout
    assert done.returncode == 2
    assert "works inside a checkout of the book" in done.stderr
    assert "change its cell of parameters" in done.stderr


def test_a_folder_that_holds_something_is_written_into_only_when_asked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(student, "build_wheel", lambda *_: None)
    monkeypatch.setattr(student.handout, "write_handouts", lambda *_: [])
    site, out = tmp_path / "site", tmp_path / "out"
    for place, name in ((out, "thesis.tex"), (out / "site", "old.html"), (site, "index.html")):
        place.mkdir(exist_ok=True)
        (place / name).write_text("new")
    with pytest.raises(MomabError, match="holds something, so nothing was written"):
        student.make_distribution(PROJECT, out, site)
    assert sorted(path.name for path in out.iterdir()) == ["site", "thesis.tex"]
    student.make_distribution(PROJECT, out, site, force=True)
    assert (out / "thesis.tex").read_text() == "new"
    assert [path.name for path in (out / "site").iterdir()] == ["index.html"]
    assert (out / "README.md").is_file()
    assert not list(tmp_path.glob(".student-*"))


@pytest.mark.slow
@pytest.mark.usefixtures("site")
def test_no_words_and_no_code_of_a_solution_are_in_the_handouts(
    folder: Path, tmp_path: Path
) -> None:
    """The student site is searched by tests/book/test_editions.py."""
    assert len(leaks.secrets()) > 10_000
    assert leaks.told(folder / "students/handouts") == {}
    sentence, line = (sorted(one)[0] for one in leaks.hidden()["model"])  # what is planted is found
    (tmp_path / "hint.py").write_text(f"# {sentence}\n")
    (tmp_path / "handout.ipynb").write_text(f'{{"source": "x\\n{line}\\n"}}')
    assert leaks.told(tmp_path) == {sentence: "hint.py", line: "handout.ipynb"}
    # the questions in the pages are open to students, and the solutions are not among them
    texts = [p.read_text("utf-8") for p in (PROJECT.root / "notebooks").glob("*.questions.yml")]
    assert len(texts) >= 20
    assert leaks.find_runs(leaks.secrets(), leaks.words_of("\n".join(texts))) == set()
