"""The student distribution: it is complete, it works by itself, and it holds no solution."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from momab import MomabError, exercises
from momab.book import build as pipeline
from momab.course import student, wheel
from momab.exercises import core, sealed
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
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = pipeline.build(PROJECT, quiet=True, edition="student").site
    folder = tmp_path_factory.mktemp("course") / "students"
    student.make_distribution(PROJECT, folder, site)
    return folder


@pytest.fixture(scope="session")
def installed(distribution: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as pip installs it, without a network, away from the repository."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", folder, distribution / wheel.NAME], check=True)
    (folder / "sitecustomize.py").write_text(BARRIER)
    return folder


TEACHERS = (
    "book",
    "serve",
    "pdf",
    "proofs",
    "verify",
    "student",
    "handout",
    "grade",
    "mark",
    "export",
    "gradescope",
)
STUDENTS = {
    "run",
    "params",
    "simulate",
    "study",
    "reproduce",
    "audit",
    "data",
    "subsets",
    "bench",
}


def run(installed: Path, where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the student's Python in a folder of the student's."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=where, env=environment, capture_output=True, text=True
    )


# ---- what is in it -------------------------------------------------------------------------


def test_the_folder_has_everything_and_says_so(distribution: Path) -> None:
    readme = (distribution / "README.md").read_text("utf-8")
    for name in re.findall(r"`([\w./-]+)`", readme):
        if ("/" in name or "." in name) and not name.startswith((".venv", "runs")):
            assert (distribution / name).exists(), name
    assert (distribution / "site/index.html").is_file()
    assert len(list((distribution / "handouts").glob("*.ipynb"))) == len(exercises.chapters())
    texts = [p.read_text("utf-8") for p in distribution.iterdir() if p.suffix in (".md", ".py")]
    assert not any(re.search(r"@[A-Z]", text) for text in texts), "every word is filled in"
    assert not any("git clone" in text for text in texts)


def test_the_wheel_has_the_library_and_no_room_for_teachers(distribution: Path) -> None:
    with zipfile.ZipFile(distribution / wheel.NAME) as archive:
        names = set(archive.namelist())
        about = archive.read(f"momab-{wheel.__version__}.dist-info/METADATA").decode()
    rooms = ("momab/course/", "momab/serve/", "momab/book/sphinx/")
    assert not [n for n in names if n.startswith(rooms)]
    assert {n for n in names if n.startswith("momab/book/")} == {
        f"momab/book/{name}" for name in wheel._BOOK
    }
    assert {f"momab/pages/{name}.ipynb" for name in PROJECT.notebook_pages} <= names
    assert "Provides-Extra: learn" in about
    assert "jupyterlab" in about
    assert "sphinx" not in about.lower()
    assert "jupyter-book" not in about
    assert wheel.student_wheel(PROJECT) == (distribution / wheel.NAME).read_bytes(), "equal bytes"


def test_the_requirements_are_pinned_and_hold_no_sphinx(distribution: Path) -> None:
    lines = (distribution / "requirements.txt").read_text().splitlines()
    assert lines == (distribution / "binder/requirements.txt").read_text().splitlines()
    pinned = {line.partition("==")[0] for line in lines}
    assert {"numpy", "numba", "matplotlib", "jupyterlab", "ipykernel", "nbclient"} <= pinned
    assert not pinned & {"sphinx", "jupyter-book", "jupytext", "papermill", "pytest"}
    everything = (PROJECT.root / "requirements.txt").read_text().splitlines()
    assert set(lines) <= set(everything)


def test_what_services_read_has_their_form(distribution: Path) -> None:
    container = json.loads((distribution / ".devcontainer/devcontainer.json").read_text())
    assert container["image"].startswith("mcr.microsoft.com/devcontainers/python")
    assert f"./{wheel.NAME}" in container["postCreateCommand"]
    assert set(container) <= {
        "name",
        "image",
        "postCreateCommand",
        "forwardPorts",
        "customizations",
    }
    post = distribution / "binder/postBuild"
    assert os.access(post, os.X_OK), "Binder runs it only if it may be executed"
    assert post.read_text().startswith("#!")
    assert re.fullmatch(r"python-3\.1[123]\n", (distribution / "binder/runtime.txt").read_text())
    colab = nbformat.read(distribution / "colab.ipynb", as_version=4)
    nbformat.validate(colab)
    assert f"/{wheel.NAME}" in colab.cells[1].source
    for path in (distribution / "handouts").glob("*.ipynb"):
        nbformat.validate(nbformat.read(path, as_version=4))


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes for the wheel, whose sealing takes long: other tests look into the real one."""
    monkeypatch.setattr(wheel, "student_wheel", lambda _: b"a wheel")


@pytest.mark.usefixtures("light")
def test_the_address_goes_into_the_links(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<p>Hello</p>")
    address = "https://github.com/someone/course"
    student.make_distribution(PROJECT, tmp_path / "out", site, address)
    text = (tmp_path / "out/HOSTING.md").read_text("utf-8")
    assert f"git-pull?repo={address}&branch=main" in text
    assert "mybinder.org/v2/gh/someone/course/main" in text
    assert "colab.research.google.com/github/someone/course/blob/main/handouts/" in text
    with pytest.raises(MomabError, match="--address is that of a repository"):
        student.make_distribution(PROJECT, tmp_path / "no", site, "ftp://here")
    assert not (tmp_path / "no").exists()


@pytest.mark.usefixtures("light")
def test_a_new_version_keeps_what_others_added_and_replaces_no_edited_file(tmp_path: Path) -> None:
    site, out = tmp_path / "site", tmp_path / "out"
    site.mkdir()
    for name in ("index", "old"):
        (site / f"{name}.html").write_text(name)
    files = student.make_distribution(PROJECT, out, site)
    assert all(path.is_file() for path in files)
    (out / ".git").mkdir()
    (out / ".git/config").write_text("mine")
    (site / "old.html").unlink()
    (site / "index.html").write_text("second")
    student.make_distribution(PROJECT, out, site)
    assert (out / ".git/config").read_text() == "mine"
    assert not (out / "site/old.html").exists()
    assert (out / "site/index.html").read_text() == "second"
    (out / "README.md").write_text("my own words")
    with pytest.raises(MomabError, match=r"README\.md in .* has been edited .* --force"):
        student.make_distribution(PROJECT, out, site)
    assert (out / "README.md").read_text() == "my own words"
    student.make_distribution(PROJECT, out, site, force=True)
    assert (out / "README.md").read_text() != "my own words"
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("precious")
    with pytest.raises(MomabError, match="holds something else"):
        student.make_distribution(PROJECT, other, site)
    assert [path.name for path in other.iterdir()] == ["thesis.tex"]


@pytest.mark.usefixtures("light")
def test_the_zip_of_a_release_has_the_same_bytes_twice(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<p>Hello</p>")
    one, two = tmp_path / "one", tmp_path / "two"
    files = student.make_distribution(PROJECT, one, site)
    made = student.distribution_zip(one, files)
    shutil.copytree(one, two)
    (two / "mine.txt").write_text("not part of it")
    for path in two.rglob("*"):
        os.utime(path, (0, 0))
    same = [two / path.relative_to(one) for path in reversed(files)]
    assert student.distribution_zip(two, same) == made
    (tmp_path / "release.zip").write_bytes(made)
    with zipfile.ZipFile(tmp_path / "release.zip") as archive:
        names = {n.partition("/")[2] for n in archive.namelist()}
        start = archive.getinfo(f"momab-student-{wheel.__version__}/start.py")
    assert names == {path.relative_to(one).as_posix() for path in files}
    assert start.external_attr >> 16 & 0o111, "students start it"


# ---- it works by itself --------------------------------------------------------------------


def test_every_check_works_there_and_knows_no_answer(installed: Path, tmp_path: Path) -> None:
    done = run(
        installed,
        tmp_path,
        "-c",
        "import momab; from momab import exercises as e\n"
        "print(momab.__file__)\n"
        "every = [x for c in e.chapters() for x in e.of_chapter(c)]\n"
        "known = lambda x: x.solution is not None or any(s.answer for s in x.slips)\n"
        "print(*[x.name for x in every if not known(x)])\n"
        "momab.check('model-3', lambda means: [0.0] * len(means))\n",
    )
    assert done.returncode == 0, done.stderr
    where, names, *verdict = done.stdout.splitlines()
    assert Path(where).is_relative_to(installed)
    every = [e.name for c in exercises.chapters() for e in exercises.of_chapter(c)]
    assert names.split() == every
    assert verdict[0].startswith("model-3: not yet, ")
    assert verdict[-1].startswith("Hint: ")


def test_copies_of_exercises_are_checked_there(installed: Path, tmp_path: Path) -> None:
    """A handout of somebody's own says ``copy=N`` in its checks."""
    values = [e for c in exercises.chapters() for e in exercises.of_chapter(c) if not e.cases]
    asked = [(e.name, core.plain(e.solution)) for e in values]
    done = run(
        installed,
        tmp_path,
        "-c",
        f"import momab\nfor name, answer in {asked!r}: momab.check(name, answer, copy=42)\n"
        "momab.check('model-3', lambda means: means, copy=42)\n",
    )
    assert done.returncode == 0, done.stderr
    for exercise in values:
        assert f"{exercise.name}: not yet, " in done.stdout, "the worked solution is another copy's"
    assert "model-3: not yet, " in done.stdout


def test_pages_run_there_with_other_values(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "-m", "momab", "run", "zero-gap", "-p", "arms=3,4")
    assert done.returncode == 0, done.stderr
    written = [tmp_path / line for line in done.stdout.split()]
    assert [path.name for path in written] == ["zero-gap_arms=3.ipynb", "zero-gap_arms=4.ipynb"]
    node = nbformat.read(written[0], as_version=4)
    nbformat.validate(node)
    assert any(cell.get("outputs") for cell in node.cells)
    text = written[0].read_text("utf-8")
    assert "arms: int = 3" in text
    assert "Solution" not in text
    assert "Exercise" in text
    assert leaks.find_runs(leaks.secrets(), leaks.rendered(text)) == set()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("params model", "number of arms K"),
        ("simulate synthetic:delta=0.02,m=8 -T 1e3 -n 2", "Width-guided"),
        ("study my.csv --arm genre --objectives a,b", "own-data.ipynb"),
    ],
)
def test_the_other_commands_of_the_readme_run_there(
    installed: Path, tmp_path: Path, command: str, said: str
) -> None:
    (tmp_path / "my.csv").write_text("genre,a,b\nx,0.1,0.9\nx,0.3,0.8\ny,0.5,0.2\ny,0.6,0.3\n")
    done = run(installed, tmp_path, "-m", "momab", *command.split())
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


@pytest.mark.parametrize(
    ("command", "said"),
    [
        *((name, f"`momab {name}` is for teachers: it needs the repository") for name in TEACHERS),
        ("grade here -o there", "is for teachers"),
        ("grade --help", "is for teachers"),
        ("reproduce table1 --record", "is for teachers"),
        ("run model --edition instructor", "no edition but the student's"),
        ("run nowhere", "no notebook 'nowhere'; there are algorithm, "),
        ("run model -p arms=1", "arms must be a whole number in"),
    ],
)
def test_what_needs_more_is_said_in_a_sentence(
    installed: Path, tmp_path: Path, command: str, said: str
) -> None:
    done = run(installed, tmp_path, "-m", "momab", *command.split())
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_only_what_students_can_use_is_listed_there(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "-m", "momab", "--help")
    assert done.returncode == 0, done.stderr
    listed = set(re.findall(r"^\W*([a-z]+) {2,}[A-Z]", done.stdout, re.M))
    assert listed == STUDENTS
    assert "--record" not in run(installed, tmp_path, "-m", "momab", "reproduce", "--help").stdout


def commands(folder: Path) -> set[str]:
    """Every command of momab that a page, a handout or README.md tells students to type."""
    found = set()
    paths = [
        *folder.glob("*.md"),
        *folder.glob("handouts/*.ipynb"),
        *folder.glob("site/downloads/*"),
    ]
    for path in paths:
        text = path.read_text("utf-8").replace("\\n", "\n").replace('\\"', '"')
        found |= set(re.findall(r"`(momab [a-z][^`\n]*)`", text))
        found |= {
            line.partition("  #")[0].strip()
            for line in re.findall(r"^(momab [a-z].*)$", text, re.M)
        }
    return {c for c in found if "..." not in c and not c.endswith("\\")}


def test_students_are_told_to_type_only_what_they_have(distribution: Path) -> None:
    """Pages and values exist; the rest are commands that the student package has."""
    told = commands(distribution)
    assert len(told) > 20
    for command in told - {"momab student"}:
        _, verb, *rest = shlex.split(command)
        assert verb in STUDENTS, command
        if verb in ("run", "params") and rest:
            known = PROJECT.notebook(rest[0]).parameters
            for assignment in rest[2::2]:
                name, _, values = assignment.partition("=")
                assert name in known, command
                for value in re.split(r",(?![^\[]*\])", values):
                    known[name].check(value)


# ---- and shows no solution -----------------------------------------------------------------


@pytest.fixture(scope="session")
def unpacked(distribution: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole distribution as files, the wheel's among them."""
    folder = tmp_path_factory.mktemp("unpacked") / "all"
    shutil.copytree(distribution, folder)
    with zipfile.ZipFile(distribution / wheel.NAME) as archive:
        archive.extractall(folder / "wheel")
    return folder


def test_no_words_and_no_code_of_a_solution_are_in_the_distribution(unpacked: Path) -> None:
    secrets, files = leaks.secrets(), leaks.searched(unpacked)
    print(f"{len(files)} files searched for {len(secrets)} runs of words and lines of code")
    assert len(secrets) > 10_000
    assert len(files) > 400
    assert leaks.told(unpacked) == {}


def test_no_question_in_a_page_gives_a_solution_away() -> None:
    """Their answers are open to students; those of the exercises are not among them."""
    texts = [p.read_text("utf-8") for p in (PROJECT.root / "notebooks").glob("*.questions.yml")]
    assert len(texts) >= 20
    assert leaks.find_runs(leaks.secrets(), leaks.words_of("\n".join(texts))) == set()


def test_the_search_finds_what_is_planted(unpacked: Path, tmp_path: Path) -> None:
    sentence, line = (sorted(one)[0] for one in leaks.hidden()["model"])
    (tmp_path / "wheel/momab").mkdir(parents=True)
    (tmp_path / "wheel/momab/hint.py").write_text(f"# {sentence}\n")
    (tmp_path / "handout.ipynb").write_text(json.dumps({"source": f"x\n{line}\n"}))
    assert leaks.told(tmp_path) == {sentence: "wheel/momab/hint.py", line: "handout.ipynb"}


def test_no_answer_of_a_judge_is_in_the_distribution(unpacked: Path) -> None:
    """Neither the digits that a solution gives nor an example that a judge would accept."""
    number = re.compile(r"\d+\.\d+(?:e-?\d+)?")
    checks = [p for p in (unpacked / "wheel/momab/exercises").iterdir() if p.suffix in leaks.KINDS]
    handouts = (unpacked / "handouts").glob("*.ipynb")
    text = "\n".join(path.read_text("utf-8") for path in [*checks, *handouts])
    shown, flat = set(number.findall(text)), re.sub(r"\s", "", text)
    judges = [e for c in exercises.chapters() for e in exercises.of_chapter(c)]
    asked = {json.dumps(sealed.write(a)) for e in judges for call in e.calls for a in call}
    arguments = set(number.findall(" ".join(asked)))
    looked = 0
    for judge in judges:
        if judge.cases:
            wanted = json.dumps([o.value for o in judge.outcomes(judge.solution)])
            digits = {d for d in number.findall(wanted) if len(d) >= 12} - arguments
            looked += len(digits)
            assert not digits & shown, judge.name
        else:
            assert re.sub(r"\s", "", json.dumps(core.plain(judge.solution))) not in flat, judge.name
    assert looked > 200
