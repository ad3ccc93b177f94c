"""The pipeline on a tiny book: what runs again, what is kept, what a failure leaves behind."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from momab.book import build, notebook
from momab.book.fingerprint import Library
from momab.book.plain import plain_markdown
from momab.book.project import Project
from momab.errors import BuildError, MomabError
from tests.tiny import HEADER, cell, write

ROOT = Path(__file__).resolve().parents[2]


def project(book: Path) -> Project:
    return Project(book, book / "momab_tiny")


def build(book: Path, *assignments: str) -> build.Report:
    return build.build(project(book), assignments=assignments, workers=2, quiet=True)


def plan(book: Path) -> dict[str, bool]:
    """Which notebooks would be taken from the cache."""
    values = build.chosen_values(
        project(book), project(book).names, "quick", build.read_assignments([])
    )
    return {job.notebook.name: job.done for job in notebook.plan(project(book), values)}


def test_exactly_what_has_changed_runs_again(book):
    first = build(book)
    assert (first.executed, first.built) == (2, True)
    assert "3\n" in (book / "_build/html/index.html").read_text()
    again = build(book)
    assert (again.executed, again.reused, again.built) == (0, 2, False)
    assert again.seconds < first.seconds / 3

    one = book / "momab_tiny/one.py"
    original = one.read_text()
    one.write_text(original.replace("return 5", "return 6"))
    assert plan(book) == {"index": True, "other": True}, "an unused function"
    one.write_text(
        original.replace("def used():", 'def used() -> int:\n    """Say more."""\n    # why')
    )
    assert plan(book) == {"index": True, "other": True}, "words only"
    one.write_text(original.replace("+ 1", "+ 2"))
    assert plan(book) == {"index": False, "other": True}, "a used function"
    one.write_text(original)
    (book / "momab_tiny/two.py").write_text("def base():\n    return 10\n")
    assert plan(book) == {"index": False, "other": True}, "a function behind it"
    changed = build(book)
    assert (changed.executed, changed.reused, changed.built) == (1, 1, True)
    assert "12\n" in (book / "_build/html/index.html").read_text()

    source = book / "notebooks/other.md"
    source.write_text(source.read_text().replace("# Other", "# Another title"))
    prose = build(book)
    assert (prose.executed, prose.built) == (0, True)
    assert "Another title" in (book / "_build/html/other.html").read_text()
    source.write_text(source.read_text().replace("math.pi", "math.tau"))
    assert plan(book) == {"index": True, "other": False}, "a code cell"
    (book / "requirements.txt").write_text("tiny==2\n")
    assert plan(book) == {"index": False, "other": False}, "the lock file"


def test_parameters_reach_the_pages_and_their_downloads(book, monkeypatch):
    monkeypatch.setenv("MOMAB_REPOSITORY", "https://github.com/someone/tiny")
    monkeypatch.setenv("MOMAB_BASEURL", "https://someone.example/tiny")
    build(book, "other.seed=2")
    page = (book / "_build/html/other.html").read_text()
    assert "/github/someone/tiny/blob/executed/other.ipynb" in page
    assert "/v2/gh/someone/tiny/executed?urlpath=lab/tree/other.ipynb" in page
    assert "https://github.com/someone/tiny/blob/main/notebooks/other.md?plain=1" in page
    assert 'content="https://someone.example/tiny/_static/social.png"' in page
    assert 'href="downloads/other.ipynb"' in page
    assert "6.283185" in page
    assert "How this page was made" in page
    assert "momab run other -p seed=2" in page
    assert "injected" not in page
    download = nbformat.read(book / "_build/stage/downloads/other.ipynb", as_version=4)
    nbformat.validate(download)
    tagged = [c for c in download.cells if "parameters" in c.metadata.get("tags", [])]
    assert [c.source for c in tagged] == ["seed: int = 2  # seed of everything [0, 1_000]"]
    assert (book / "_build/html/other.html").stat().st_size > 0
    assert (book / "_build/executed/other.ipynb").is_file()


def test_a_raising_cell_is_named_and_the_last_site_stays(book):
    build(book)
    before = (book / "_build/html/other.html").read_bytes()
    write(book, "other", "import math", "x = 1\nmath.sqrt(-1)")
    line = (book / "notebooks/other.md").read_text().splitlines().index("x = 1") + 1
    with pytest.raises(BuildError) as error:
        build(book)
    first = str(error.value).splitlines()[0]
    assert first.startswith(f"notebooks/other.md, code cell 3 (line {line}) raised ValueError:")
    assert error.value.exit_code == 1
    assert (book / "_build/html/other.html").read_bytes() == before


def test_a_warning_fails_the_build_and_the_last_site_stays(book):
    build(book)
    before = (book / "_build/html/other.html").read_bytes()
    source = book / "notebooks/other.md"
    source.write_text(source.read_text() + "\n{ref}`nowhere`\n")
    with pytest.raises(BuildError, match="nowhere"):
        build(book)
    assert (book / "_build/html/other.html").read_bytes() == before
    leftovers = [path.name for path in (book / "_build").iterdir() if path.name.startswith(".site")]
    assert leftovers == []


def test_two_builds_from_one_seed_are_alike(book):
    write(
        book,
        "other",
        "import pandas as pd\nfrom matplotlib.figure import Figure\nfrom momab import show",
        "fig = Figure()\nfig.add_subplot().plot([1, seed, 3])\n"
        'show.figure(fig, alt="A line that goes up and down.", caption="A line $x$.")',
        'show.table(pd.DataFrame({"n": [1, 2], "x": [0.5, seed]}), caption="Numbers.")',
    )
    outputs = []
    for _ in range(2):
        shutil.rmtree(book / "_build", ignore_errors=True)
        build(book)
        node = nbformat.read(book / "_build/executed/other.ipynb", as_version=4)
        outputs.append([c.get("outputs") for c in node.cells])
    assert outputs[0] == outputs[1]
    text = json.dumps(outputs[0])
    assert "aria-label" in text
    assert "<caption" in text


def test_bad_values_are_refused_before_anything_is_written(book):
    for assignments in (["seed=-1"], ["sed=1"], ["other.seed=x"]):
        with pytest.raises(MomabError):
            build(book, *assignments)
    with pytest.raises(MomabError):
        build.build(project(book), profile="nowhere")
    assert not (book / "_build").exists()


def test_a_notebook_without_parameters_is_refused(book):
    (book / "notebooks/other.md").write_text(HEADER + "# Other\n\n" + cell("1"))
    with pytest.raises(MomabError, match="one code cell tagged 'parameters'"):
        project(book).notebook("other")


def test_an_interrupted_swap_is_undone(tmp_path):
    page, old = tmp_path / "html", tmp_path / "html.previous"
    old.mkdir()
    (old / "index.html").write_text("good")
    build._recover(page)
    assert (page / "index.html").read_text() == "good"
    new = tmp_path / "new"
    new.mkdir()
    (new / "index.html").write_text("better")
    build.swap(new, page)
    assert (page / "index.html").read_text() == "better"
    with pytest.raises(FileNotFoundError):
        build.swap(new, page)
    assert (page / "index.html").read_text() == "better"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["book", "-p", "seed=minus"], "seed must be a whole number in"),
        (["book", "-p", "nothing=1"], "known parameters:"),
        (["book", "--profile", "nowhere"], "must be one of quick, paper"),
        (["run", "nothing"], "there are "),
        (["run", "model", "-p", "horizon=5"], "takes no parameter 'horizon'"),
        (["params", "nothing"], "there are "),
    ],
)
def test_the_command_says_what_is_allowed_and_exits_with_2(arguments, said):
    command = [sys.executable, "-c", "from momab.cli.app import main; main()", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("momab: ")
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_parameter_list_names_every_notebook():
    command = [sys.executable, "-c", "from momab.cli.app import main; main()", "params"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    for name in Project.find(ROOT).names:
        assert name in done.stdout


# ---- what a notebook needs ---------------------------------------------------------------------


def needs(tmp_path: Path, code: str, **modules: str) -> set[str]:
    folder = tmp_path / "lib"
    folder.mkdir(exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    if "__init__" not in modules:
        (folder / "__init__.py").write_text("")
    return {f"{module}:{name}" for module, name in Library(folder).needs(code) if name}


CHAIN = {
    "a": "import math\nfrom lib import b\nfrom lib.c import third\n\nLIMIT = 3\n\n"
    "def first(x):\n    return b.second(x) + LIMIT\n\ndef lonely():\n    return third()\n",
    "b": "def second(x):\n    return x\n\ndef other():\n    return 0\n",
    "c": "def third():\n    return 3\n",
}


@pytest.mark.parametrize(
    "code",
    [
        "from lib.a import first\nfirst(1)",
        "from lib import a\na.first(1)",
        "import lib.a as a\na.first(1)",
        "import lib.a\nlib.a.first(1)",
    ],
)
def test_needs_follow_names_through_modules(tmp_path, code):
    found = needs(tmp_path, code, **CHAIN)
    assert found == {"lib.a:first", "lib.a:LIMIT", "lib.b:second"}


def test_a_module_used_as_a_thing_is_needed_whole(tmp_path):
    found = needs(tmp_path, "from lib import a\nhelp(a)", **CHAIN)
    assert {"lib.a:first", "lib.a:lonely", "lib.c:third"} <= found
    assert "lib.b:other" not in found


def test_code_that_imports_by_name_needs_everything(tmp_path):
    found = needs(tmp_path, "import importlib\nimportlib.import_module('lib.a')", **CHAIN)
    assert "lib.b:other" in found


def test_registered_functions_belong_to_what_they_are_registered_for(tmp_path):
    text = (
        "TABLE = {}\n\ndef register(kind):\n    def keep(f):\n        TABLE[kind] = f\n"
        "        return f\n    return keep\n\nclass Small:\n    pass\n\nclass Large:\n    pass\n\n"
        "@register(Small)\ndef small():\n    return helper()\n\n"
        "@register(Large)\ndef large():\n    return 2\n\ndef helper():\n    return 1\n"
    )
    found = needs(tmp_path, "from lib.a import Small\nSmall()", a=text)
    assert "lib.a:helper" in found
    assert "lib.a:Large" not in found


def test_names_passed_on_by_the_package_are_followed(tmp_path):
    found = needs(
        tmp_path, "from lib import first\nfirst(1)", __init__="from lib.a import first\n", **CHAIN
    )
    assert "lib.b:second" in found


def test_data_files_count_for_the_code_that_reads_their_folder(tmp_path):
    needs(
        tmp_path,
        "",
        a="from pathlib import Path\n\ndef read():\n"
        '    return Path(__file__).parent / "data" / "x"\n',
        b="def other():\n    return 0\n",
    )
    library = tmp_path / "lib"
    for folder in ("data", "more"):
        (library / folder).mkdir()
        (library / folder / "x").write_text("1")

    def digests() -> list[str]:
        calls = ("a\na.read()", "b\nb.other()")
        return [Library(library).fingerprint(f"from lib import {call}") for call in calls]

    reads, other = digests()
    (library / "more" / "x").write_text("2")
    assert digests() == [reads, other]
    (library / "data" / "x").write_text("2")
    assert digests()[0] != reads
    assert digests()[1] == other


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
