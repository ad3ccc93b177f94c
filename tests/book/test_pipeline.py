"""The pipeline on a tiny book: what runs again, what is kept, what a failure leaves behind."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from momab.book import build as pipeline
from momab.book import execute
from momab.book.fingerprint import Library
from momab.book.inputs import BuildRecord, digest_inputs
from momab.book.notebook import Notebook
from momab.book.parameters import read_assignments
from momab.book.plain import plain_markdown
from momab.book.project import Project
from momab.book.references import reference_pages
from momab.book.single_page import run_page
from momab.book.sphinx import building
from momab.book.sphinx.building import Complaint
from momab.book.stage import finished, write_stage
from momab.errors import BuildError, MomabError
from tests import tiny
from tests.browsing import ParsedSite
from tests.command import run
from tests.tiny import HEADER, SLIDES, VALUES, build, cell, project, write

ROOT = Path(__file__).resolve().parents[2]


def jobs(book: Path) -> list[execute.Job]:
    chosen = read_assignments(VALUES)
    values = pipeline.chosen_values(project(book), project(book).names, "quick", chosen)
    return execute.plan_jobs(project(book), values)


def keys(book: Path) -> dict[str, str]:
    return {job.notebook.name: job.key for job in jobs(book)}


def plan(book: Path) -> dict[str, bool]:
    """Which notebooks would be taken from the cache."""
    return {job.notebook.name: job.done for job in jobs(book)}


@pytest.fixture(autouse=True)
def _publishing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in tiny.PUBLISHING.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published book, which no test changes."""
    return tiny.published(tmp_path_factory)


@pytest.fixture
def built(published: Path, tmp_path: Path) -> Path:
    """A copy of the published book to change."""
    return Path(shutil.copytree(published, tmp_path / "book"))


def test_exactly_what_has_changed_runs_again_and_a_failing_build_changes_nothing(built):
    book, html = built, built / "_build/html"
    assert "3\n" in (html / "index.html").read_text()
    again = build(book, *VALUES)
    assert (again.executed, again.reused, again.built) == (0, 2, False)
    shutil.rmtree(book / "_build/executed")
    again = build(book, *VALUES)
    assert (again.executed, again.built) == (0, False)
    assert (book / "_build/executed/other.ipynb").is_file(), "what is missing is made again"

    one = book / "momab_tiny/one.py"
    original = one.read_text()
    (book / "momab_tiny/chapters").mkdir()
    (book / "momab_tiny/chapters/three.py").write_text("def unused():\n    return 6\n")
    assert plan(book) == {"index": True, "other": True}, "the module of another chapter"
    one.write_text(original.replace("+ 1", "+ 2"))
    assert plan(book) == {"index": False, "other": False}, "a function"
    one.write_text(original)
    (book / "momab_tiny/two.py").write_text("def base():\n    return 10\n")
    assert plan(book) == {"index": False, "other": False}, "a function behind it"
    source = book / "notebooks/other.md"
    source.write_text(source.read_text().replace("# Other", "# Another title"))
    assert plan(book) == {"index": False, "other": False}, "prose"

    good, before = source.read_text(), (html / "other.html").read_bytes()
    source.write_text(good + "\n{ref}`nowhere`\n")
    with pytest.raises(BuildError, match=r"notebooks/other.md, cell \d: WARNING: .*nowhere"):
        build(book, *VALUES)
    assert (html / "other.html").read_bytes() == before
    assert not list((book / "_build").glob(".site*"))
    assert plan(book) == {"index": True, "other": True}, "what had been executed is kept"

    source.write_text(good)
    changed = build(book, *VALUES)
    assert (changed.executed, changed.reused, changed.built) == (0, 2, True)
    assert "12\n" in (html / "index.html").read_text()
    assert "Another title" in (html / "other.html").read_text()
    source.write_text(good.replace("math.pi", "math.tau"))
    assert plan(book) == {"index": True, "other": False}, "a code cell"
    (book / "requirements.txt").write_text("tiny==2\n")
    assert plan(book) == {"index": False, "other": False}, "the lock file"


def test_nothing_changed_is_told_before_anything_is_imported(published):
    code = (
        "import sys\nfrom pathlib import Path\nfrom momab.book.build import build\n"
        "from momab.book.project import Project\nhere = Path.cwd()\n"
        f"report = build(Project(here, here / 'momab_tiny'), assignments={VALUES!r})\n"
        "heavy = {'numpy', 'pandas', 'jupytext', 'sphinx', 'pydantic', 'matplotlib'}\n"
        "print(report.executed, report.reused, report.built, heavy & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=published, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0 2 False set()\n"


def digest(book: Path, profile: str = "quick", *values: str, edition: str = "instructor") -> str:
    return digest_inputs(project(book), profile, values, edition)


def test_every_input_and_every_setting_of_a_build_counts(book, monkeypatch):
    tiny.declare(book, "../far/*.csv")
    (book / "mine.yml").write_text("description: nothing\n")
    before = digest(book)
    assert digest(book) == before
    assert digest(book, str(book / "mine.yml")) != before
    assert digest(book, "quick", "seed=2") != before
    assert digest(book, edition="student") != before
    for name in tiny.PUBLISHING:
        with monkeypatch.context() as patch:
            patch.setenv(name, "https://example.org")
            assert digest(book) != before
    for path in (
        "momab_tiny/two.py",
        "momab_tiny/data/new.csv",
        "notebooks/other.md",
        "notebooks/other.slides.md",
        "notebooks/other.exercises.md",
        "book/_static/new.css",
        "book/profiles/quick.yml",
        "_config.yml",
        "_toc.yml",
        "requirements.txt",
        "far/away.csv",
    ):
        before = digest(book)
        (book / path).parent.mkdir(exist_ok=True)
        with (book / path).open("a") as file:
            file.write("# more\n")
        assert digest(book) != before, path


def test_a_declared_input_is_part_of_the_key_and_a_wrong_header_is_refused(book):
    tiny.declare(book, "../far/*.csv")
    before = keys(book)
    (book / "far").mkdir()
    (book / "far/away.csv").write_text("1")
    after = keys(book)
    assert before["index"] == after["index"]
    assert before["other"] != after["other"]
    source = book / "notebooks/other.md"
    good = source.read_text()
    source.write_text(good.replace("inputs:", "input:"))
    with pytest.raises(MomabError) as error:
        project(book).notebook("other")
    assert str(error.value) == (
        "the header of notebooks/other.md has the key 'momab.input'; it may only hold the keys "
        "inputs, edition."
    )
    source.write_text(HEADER + "# Other\n\n" + cell("1"))
    with pytest.raises(MomabError, match="one code cell tagged 'parameters'"):
        project(book).notebook("other")


# ---- pages and their companions ------------------------------------------------------------------


def test_a_published_page_has_its_values_results_and_links(published):
    site = ParsedSite(published / "_build/html")
    page = (site.root / "other.html").read_text()
    assert "/github/someone/tiny/blob/executed/other.ipynb" in page
    assert "/v2/gh/someone/tiny/executed?urlpath=lab/tree/other.ipynb" in page
    assert "https://github.com/someone/tiny/blob/main/notebooks/other.md?plain=1" in page
    assert 'content="https://someone.example/tiny/_static/social.png"' in page
    assert 'href="downloads/other.ipynb"' in page
    assert "6.283185" in page
    assert "How this page was made" in page
    assert "momab run other -p seed=2" in page
    assert "injected" not in page
    download = nbformat.read(published / "_build/stage/downloads/other.ipynb", as_version=4)
    nbformat.validate(download)
    tagged = [c for c in download.cells if "parameters" in c.metadata.get("tags", [])]
    assert [c.source for c in tagged] == ["seed: int = 2  # seed of everything [0, 1_000]"]
    assert (published / "_build/executed/other.ipynb").is_file()
    [link] = site.page("other").select('a[href="downloads/results.csv"]')
    assert link.get_text() == "results.csv"
    assert (site.root / link["href"]).read_text() == "a,b\n1,2\n"
    titled, worded = site.page("index").select('article p a[href^="other.html"]')
    assert (titled.get_text(), titled.find_parent("em") is None) == ("Other", False)
    assert (worded.get_text(), worded.find_parent("em")) == ("the words", None)


def test_companions_are_no_pages_but_parts_of_theirs(published):
    assert project(published).names == ["index", "other"]
    html = published / "_build/html"
    page = (html / "other.html").read_text()
    assert "Add them." in page
    assert "the answer 2" in page
    assert "terse words" not in page
    deck = (html / "slides/other.html").read_text()
    assert "terse words" in deck
    assert "whispered words" in deck
    source = (html / "downloads/other.md").read_text()
    assert "Add them." in source
    assert source.count("jupytext:") == 1
    executed = (html / "downloads/other.ipynb").read_text()
    assert "the answer 2" in executed
    for words in ("terse words", "whispered words", "momab_source"):
        assert words not in source + executed


def test_a_deck_executes_nothing_and_exercises_do(book):
    tiny.add_companions(book)
    before = keys(book)
    for name in ("slides", "exercises"):
        path = book / f"notebooks/other.{name}.md"
        path.write_text(path.read_text() + "\nMore words.\n")
        assert keys(book) == before
    path.write_text(path.read_text().replace("print(", "print(1, "))
    assert keys(book)["index"] == before["index"]
    assert keys(book)["other"] != before["other"]


def test_students_get_no_answers_and_no_way_to_the_repository_which_has_them(published, tmp_path):
    write_stage(project(published), jobs(published), tmp_path / "stage", "student")
    building.build_pages(tmp_path / "stage", tmp_path / "html")
    for folder in (tmp_path / "stage", tmp_path / "html"):
        files = [path for path in folder.rglob("*.*") if path.is_file()]
        told = "".join(path.read_text("utf-8", errors="ignore") for path in files)
        assert "Add them." in told
        assert "terse words" in told
        for secret in ("'answer'", "the answer", "whispered", "github.com/someone"):
            assert secret not in told


def test_a_plain_build_makes_the_same_page_and_deck(published, tmp_path):
    """`jupyter-book build`, without the pipeline and its numbers."""
    plain = tmp_path / "book"
    shutil.copytree(published, plain, ignore=shutil.ignore_patterns("_build"))
    with (plain / "_config.yml").open("a") as file:
        file.write("execute:\n  execute_notebooks: 'off'\n")
    building.build_pages(plain, tmp_path / "html", strict=False)
    site = ParsedSite(tmp_path / "html")
    page = site.text("notebooks/other")
    assert "Add them." in page
    assert "terse words" not in page
    assert 'href="../slides/notebooks/other.html"' in page
    deck = site.page("slides/notebooks/other")
    assert "terse words" in deck.get_text()
    for link in deck.select("a[href], link[href]"):
        path = link["href"].partition("#")[0]
        assert (site.root / "slides/notebooks" / path).resolve().is_file(), path


# ---- failures ------------------------------------------------------------------------------------


def test_complaints_name_the_file_and_cell_they_come_from(book):
    tiny.add_companions(book)
    notebook = Notebook.read(book / "notebooks/other.md")
    node = notebook.node
    for number, staged in enumerate(node.cells):
        staged.id = f"other-{number}"
    node.metadata["momab"] = {"versions": {}, "seconds": 1.0}
    job = execute.Job(notebook, {}, "", book)
    nbformat.write(finished(node, job, SLIDES), book / "other.ipynb")

    def told(cell_number: int, line: int = 1) -> str:
        complaint = Complaint("other.ipynb", 10_000 * cell_number + line, "WARNING", "x", "a.b")
        return complaint.describe(book)

    assert told(2) == "notebooks/other.md, cell 2: WARNING: x [a.b]"
    assert told(notebook.own + 1) == "notebooks/other.exercises.md, cell 1: WARNING: x [a.b]"
    last = len(node.cells)
    assert told(last, 4) == "notebooks/other.slides.md, line 4: WARNING: x [a.b]"
    assert Complaint("", 0, "ERROR", "bad").describe(book) == "bad"
    assert Complaint("guide.md", 7, "ERROR", "bad").describe(book) == "book/guide.md:7: ERROR: bad"


def test_a_cell_that_fails_is_named_in_its_source(book):
    (book / "notebooks/other.exercises.md").write_text(HEADER + "## Exercises\n\n" + cell("1 / 0"))
    notebook = Notebook.read(book / "notebooks/other.md")
    job = execute.Job(notebook, {}, "", book)
    line = notebook.exercises_path.read_text().splitlines().index("1 / 0") + 1
    place = f"notebooks/other.exercises.md, code cell 1 (line {line})"
    with pytest.raises(BuildError) as error:
        execute.raise_failure(job, execute.CellFailed("1 / 0", "ValueError", "bad", "long"))
    assert (str(error.value), error.value.exit_code) == (
        f"{place} raised ValueError: bad\n\nlong",
        1,
    )
    with pytest.raises(BuildError, match=r"^notebooks/other.md could not be executed: it ended$"):
        execute.raise_failure(job, execute.Failed("it ended"))
    with pytest.raises(MomabError, match=r"^notebooks/other.md: no data; get some.$") as error:
        execute.raise_failure(job, execute.CellFailed("", "MomabError", "no data; get some.", ""))
    assert getattr(error.value, "exit_code", 2) == 2


def test_a_site_is_exchanged_only_for_a_whole_one(tmp_path, monkeypatch):
    site, old = tmp_path / "html", tmp_path / "html.previous"
    old.mkdir()
    (old / "index.html").write_text("good")

    def fail(stage: Path, new: Path) -> None:
        new.mkdir()
        (new / "index.html").write_text("half")
        raise BuildError("no.")

    monkeypatch.setattr("momab.book.sphinx.building.build_pages", fail)
    with pytest.raises(BuildError):
        pipeline.build_site(tmp_path, site, BuildRecord())
    assert [path.name for path in tmp_path.iterdir()] == ["html"], "an interrupted swap is undone"
    assert (site / "index.html").read_text() == "good"
    new = tmp_path / "new"
    new.mkdir()
    (new / "index.html").write_text("better")
    pipeline.swap(new, site)
    assert (site / "index.html").read_text() == "better"
    with pytest.raises(FileNotFoundError):
        pipeline.swap(new, site)
    assert (site / "index.html").read_text() == "better"


@pytest.mark.slow
def test_a_raising_cell_ends_a_build_and_the_last_site_stays(built):
    before = (built / "_build/html/other.html").read_bytes()
    write(built, "other", "import math", "x = 1\nmath.sqrt(-1)")
    line = (built / "notebooks/other.md").read_text().splitlines().index("x = 1") + 1
    with pytest.raises(BuildError) as error:
        build(built)
    told = str(error.value).splitlines()[0]
    assert told.startswith(f"notebooks/other.md, code cell 3 (line {line}) raised ValueError:")
    assert (built / "_build/html/other.html").read_bytes() == before
    write(built, "other", "from momab import MomabError\nraise MomabError('no data; get some.')")
    with pytest.raises(MomabError, match=r"^notebooks/other.md: no data; get some.$"):
        run_page(project(built), "other")


@pytest.mark.slow
def test_two_executions_from_one_seed_are_alike_and_open_no_port(book):
    write(
        book,
        "other",
        "import pandas as pd\nfrom matplotlib.figure import Figure\n"
        "from momab.chapters.figures import show",
        "fig = Figure()\nfig.add_subplot().plot([1, seed, 3])\n"
        'show.show_figure(fig, alt="A line that goes up and down.", caption="A line $x$.")',
        'show.show_table(pd.DataFrame({"n": [1, 2], "x": [0.5, seed]}), caption="Numbers.")',
        "from ipykernel.connect import get_connection_info\n"
        'get_connection_info(unpack=True)["transport"]',
    )
    outputs = []
    for _ in range(2):
        shutil.rmtree(book / "_build", ignore_errors=True)
        [job] = [job for job in jobs(book) if job.notebook.name == "other"]
        assert execute.execute([job], quiet=True) == [job]
        outputs.append([c.get("outputs") for c in execute.load_executed(job).cells])
    assert outputs[0] == outputs[1]
    text = json.dumps(outputs[0])
    assert "aria-label" in text
    assert "<caption" in text
    assert ("'ipc'" in text) == (os.name == "posix")


def test_builds_in_one_folder_wait_for_each_other(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom momab.book.build import one_at_a_time\n"
        "with one_at_a_time(Path(sys.argv[1])): print('in')"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with pipeline.one_at_a_time(tmp_path):
        other = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert other.stderr is not None
        assert other.stderr.readline() == "waiting for another build in this folder\n"
        assert other.poll() is None
    said, _ = other.communicate()
    assert (said, other.returncode) == ("in\n", 0)


@pytest.mark.slow
def test_a_sweep_is_pages_that_need_no_other_file_and_an_index(built):
    source = built / "notebooks/other.md"
    source.write_text(source.read_text() + "\nSee {ref}`the front <front>`, {ref}`front`.\n")
    index, *pages = run_page(project(built), "other", assignments=["seed=2,3"])
    assert [page.name for page in pages] == ["other_seed=2.html", "other_seed=3.html"]
    assert index.parent == built / "_build/runs/other/seed=2,3"
    sweep = BeautifulSoup(index.read_text(), "html.parser")
    links = sweep.select("li a")
    assert [link["href"] for link in links] == [
        name for page in pages for name in (page.name, f"{page.stem}.ipynb")
    ]
    assert all((index.parent / link["href"]).is_file() for link in links)
    assert "momab run other -p seed=2,3" in sweep.select_one("footer code").get_text()
    assert "6.28" in sweep.select_one("table").get_text()
    for page, value in zip(pages, ("6.28", "9.42"), strict=True):
        soup = BeautifulSoup(page.read_text(), "html.parser")
        assert value in soup.main.get_text()
        banner = " ".join(soup.select_one(".run-banner").get_text().split())
        assert f"Different from the book: seed = {page.stem[-1]} (the book: 1)." in banner
        assert "See the front, The front page." in soup.main.get_text()
        assert not soup.select("link, script[src]")
        away = [a["href"] for a in soup.select("a[href]") if not a["href"].startswith("#")]
        assert away == [
            f"https://someone.example/tiny/{place}"
            for place in ("downloads/results.csv", "index.html#front", "index.html#front")
        ]


def test_references_to_other_pages_need_little_of_them(book):
    source = book / "notebooks/index.md"
    text = "\n(here)=\n## A place\n\nLong prose.\n\n:::{prf:lemma} Floor\n:label: paper-lemma-9\n\n"
    source.write_text(source.read_text() + text + "Its proof.\n:::\n\n(there)=\n## Elsewhere\n")
    (book / "book/words.md").write_text(
        "# Words\n\nProse.\n\n```{glossary}\narm\n  A choice.\n```\n"
    )
    with (book / "_toc.yml").open("a") as file:
        file.write("  - file: book/words\n")
    found = reference_pages(
        project(book), "other", "See {ref}`x <here>` and {prf:ref}`paper-lemma-9`"
    )
    assert found == {
        "index": "# Index\n\n(here)=\n## A place\n\n"
        ":::{prf:lemma} Floor\n:label: paper-lemma-9\n\n…\n:::\n"
    }
    found = reference_pages(project(book), "other", "An {term}`arm`.")
    assert list(found) == ["index", "words"]
    assert "A choice." in found["words"]
    assert "Prose." not in found["words"]


def test_bad_values_are_refused_before_anything_is_written(book, monkeypatch, capsys):
    for assignments in (["seed=-1"], ["sed=1"], ["other.seed=x"]):
        with pytest.raises(MomabError):
            build(book, *assignments)
    monkeypatch.chdir(book)
    for arguments, said in (
        (["book", "-p", "seed=minus"], "seed must be a whole number in"),
        (["book", "-p", "nothing=1"], "known parameters:"),
        (["book", "--profile", "nowhere"], "must be one of quick"),
        (["run", "nothing"], "there are "),
        (["run", "other", "-p", "horizon=5"], "takes no parameter 'horizon'"),
        (["params", "nothing"], "there are "),
    ):
        assert run(monkeypatch, *arguments) == 2
        told = capsys.readouterr().err
        assert told.startswith("momab: ")
        assert said in told
        assert told.count("\n") == 1
    assert not (book / "_build").exists()


# ---- what a notebook needs ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "code", "counts"),
    [
        ("model/pareto.py", "x = 1", True),
        ("data/results/a.csv", "x = 1", True),
        ("chapters/price.py", "from momab.chapters import price", True),
        ("chapters/price.py", "from momab.chapters import tuning", False),
        ("chapters/figures/style.py", "x = 1", True),
        ("exercises/price.py", "momab.check('price-2', f)\nprice", True),
        ("exercises/price.py", "momab.check('tuning-2', f)\ntuning", False),
        ("exercises/core.py", "x = 1", True),
        ("book/build.py", "x = 1", False),
    ],
)
def test_a_change_counts_for_the_pages_that_may_use_it(
    tmp_path: Path, file: str, code: str, counts: bool
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("one")
    before = Library(tmp_path).fingerprint(code)
    path.write_text("two")
    assert (Library(tmp_path).fingerprint(code) != before) == counts


def test_a_page_names_the_chapters_whose_exercises_it_checks():
    assert "zero_gap" in Project.find(ROOT).notebook("zero-gap").named.splitlines()


# ---- downloads -----------------------------------------------------------------------------------


def test_directives_and_roles_become_plain_markdown():
    source = (
        "(top)=\n# Title\n\n:::{prf:theorem} Regret\n:label: paper-theorem-4\n\nIt is "
        "{math}`x` by {prf:ref}`paper-lemma-9` and {cite:t}`lai`, see {ref}`the model <model>`.\n\n"
        "$$\ny\n$$\n:::\n\n```{index} regret\n```\n\n:::{prf:proof}\nClear.\n:::\n"
    )
    text = plain_markdown(source)
    assert "{" not in text
    assert "> **Theorem 4** (Regret)." in text
    assert "$x$ by Lemma 9 and [lai], see the model" in text
    assert "> $$\n> y\n> $$" in text
    assert "> **Proof.**\n>\n> Clear." in text
