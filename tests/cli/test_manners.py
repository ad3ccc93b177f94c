"""How the command behaves: versions, JSON, numbers, and what is found before the work."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections import namedtuple
from pathlib import Path

import pytest

import momab
from momab import MomabError, __version__
from momab._util import extras, memory
from momab._util.files import require_file, require_folder
from momab._util.validate import shown, whole_number
from momab.cli.terminal import print_wide, typed_number
from tests.command import run

ROOT = Path(__file__).resolve().parents[2]
SHORT = ("simulate", "synthetic:delta=0.1,m=2,K=6", "-T", "1e2", "-n", "2", "--workers", "1")


def sentence(capsys) -> str:
    said = capsys.readouterr().err
    assert said.startswith("momab: ")
    assert said.count("\n") == 1
    return said


def test_the_version_is_said_by_both_names(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"momab {__version__}\n"
    command = [sys.executable, "-m", "momab", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == f"momab {__version__}\n"


def test_a_shell_can_complete(monkeypatch, capsys):
    from momab.cli.book import _notebooks

    assert run(monkeypatch, "--help") == 0
    assert "--install-completion" in capsys.readouterr().out
    monkeypatch.chdir(ROOT / "tests")
    assert _notebooks("width") == ["width-floor"]
    monkeypatch.chdir("/")
    assert _notebooks("width") == []


def test_numbers_may_be_written_with_a_power_of_ten(monkeypatch, capsys):
    assert typed_number("1e3") == 1000
    assert typed_number("12345678901234567890") == 12345678901234567890
    assert run(monkeypatch, *SHORT, "-n", "1e1", "--seed", "2e0", "--json") == 0
    assert {row["runs"] for row in json.loads(capsys.readouterr().out)} == {10}
    assert run(monkeypatch, *SHORT, "-n", "few") == 2
    assert "'few' is not a number" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "arguments",
    [("params", "model", "--json"), ("data", "where", "--json"), (*SHORT, "--json")],
)
def test_tables_are_told_to_programs(monkeypatch, capsys, arguments):
    monkeypatch.chdir(ROOT)
    assert run(monkeypatch, *arguments) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert len({tuple(row) for row in rows}) == 1


def test_the_help_says_how_a_trace_is_made(monkeypatch, capsys, tmp_path):
    assert run(monkeypatch, "tools", "audit", "--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    lines = re.findall(r"`(import momab|momab\.trace\(.*?\))`", said)
    assert len(lines) == 2
    monkeypatch.chdir(tmp_path)
    for line in lines:
        exec(line.replace("10_000", "300"), globals())
    assert run(monkeypatch, "tools", "audit", "run.npz", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) > 5


def test_names_are_not_cut_in_a_narrow_terminal(monkeypatch, capsys):
    from rich.console import Console
    from rich.table import Table

    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setenv("COLUMNS", "20")
    table = Table("a-long-heading-of-a-column", "another-one-beside-it", box=None)
    table.add_row("supercalifragilistic", "expialidocious-and-more")
    print_wide(table, width=400)
    out = capsys.readouterr().out
    assert "supercalifragilistic" in out
    assert "expialidocious-and-more" in out
    assert "…" not in out


def test_without_numba_it_is_said(monkeypatch, capsys):
    from momab.cli.terminal import mention_numba

    mention_numba()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("momab.cli.terminal.find_spec", lambda name: None)
    mention_numba()
    assert "the extra 'fast' speeds it up" in sentence(capsys)


# ---- before the work -------------------------------------------------------------------------


@pytest.fixture
def idle(monkeypatch):
    """Nothing may be computed."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("work was begun")

    for name in (
        "momab.study.simulate.play_piece",
        "momab.book.single_page.execute",
        "momab.cli.bench.measure",
        "momab.course.grading.grade_class",
    ):
        monkeypatch.setattr(name, refuse)


@pytest.mark.parametrize(
    "arguments",
    [
        (*SHORT, "-o"),
        (*SHORT, "--store"),
        ("run", "model", "-o"),
        ("study", "table.csv", "--objectives", "a,b", "-o"),
        ("reproduce", "table2", "-o"),
        ("tools", "bench", "-o"),
        ("tools", "pdf", "-o"),
        ("book", "-o"),
        ("course", "grade", "nowhere", "-o"),
    ],
)
def test_an_output_that_cannot_be_written_is_found_first(monkeypatch, capsys, idle, arguments):
    monkeypatch.chdir(ROOT)
    assert run(monkeypatch, *arguments, f"{__file__}/below") == 2
    assert "cannot be written: Not a directory" in sentence(capsys)


def test_a_full_disk_is_found_first(monkeypatch, capsys, idle, tmp_path):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9, 1000))
    assert run(monkeypatch, *SHORT, "-o", tmp_path / "new") == 2
    assert "is full: 1 kB are free, and about 50 MB are needed." in sentence(capsys)
    assert not (tmp_path / "new").exists()


def test_what_can_be_written_is_left_as_it_was(tmp_path):
    assert require_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert require_file(tmp_path / "a" / "b.csv").name == "b.csv"
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MomabError, match="it is a folder"):
        require_file(tmp_path)


def test_a_foreign_folder_is_no_place_for_a_site(monkeypatch, capsys, idle, tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    monkeypatch.chdir(ROOT)
    assert run(monkeypatch, "book", "-o", tmp_path) == 2
    assert "holds files that momab did not write" in sentence(capsys)
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def missing(monkeypatch, *packages: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in packages else real(name))


def test_a_missing_extra_is_found_before_the_work(monkeypatch, capsys, idle, tmp_path):
    monkeypatch.chdir(ROOT)
    missing(monkeypatch, "matplotlib")
    assert run(monkeypatch, "reproduce", "figure1", "-o", tmp_path) == 2
    assert "a figure or a table in LaTeX needs the extra 'plots'" in sentence(capsys)
    assert run(monkeypatch, "study", "nowhere.csv", "--objectives", "a") == 2
    assert "a report needs the extra 'plots'" in sentence(capsys)
    missing(monkeypatch, "py_mini_racer")
    assert run(monkeypatch, "run", "model") == 2
    assert "the book needs the extra 'book'" in sentence(capsys)


BARE = """
import io, sys
from contextlib import redirect_stderr, redirect_stdout
from momab._util.extras import EXTRAS

hidden = {package.partition(".")[0] for packages in EXTRAS.values() for package in packages}
hidden.remove("pydantic")  # typer brings it


sys.modules.update(dict.fromkeys(hidden))  # none of them can be imported
from momab.cli.app import main

for line in sys.stdin.read().splitlines():
    said, code = io.StringIO(), 0
    sys.argv = ["momab", *line.split()]
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    print(code, said.getvalue().replace(chr(10), " | "), sep="\\t")
"""


@pytest.mark.parametrize("inside", [False, True], ids=["anywhere", "in a checkout"])
def test_every_command_without_extras_gives_a_result_or_one_sentence(tmp_path, inside):
    table = tmp_path / "table.csv"
    table.write_text("arm,a,b\n" + "x,0.1,0.9\ny,0.8,0.2\n" * 5)
    trace = tmp_path / "run.npz"
    momab.trace(momab.synthetic(0.1, 1), momab.WidthGuided(), 300, seed=1).save(trace)
    works = [
        "simulate zero-gap -T 50 -n 2 --policy width-guided",
        "data where",
        "policies",
        "--help",
        "course --help",
        f"tools audit {trace}",
    ]
    refused = [
        f"study {table} --objectives a,b",
        f"reproduce table2 -T 50 -n 2 -o {tmp_path}/tables",
        f"data build {tmp_path} -o {tmp_path}/x.csv",
        "tools bench --smpybandits nowhere",
    ]
    need_a_checkout = [
        "book",
        "run zero-gap",
        "params",
        "serve",
        "serve --as-is",
        "tools pdf",
        "tools proofs",
        "course handout zero-gap",
        f"course grade {tmp_path} -o {tmp_path}/marks",
        f"course mark {tmp_path}",
        f"course student {tmp_path}/student",
        f"course questions -o {tmp_path}/bank.xml",
    ]
    refused += need_a_checkout
    said = subprocess.run(
        [sys.executable, "-c", BARE],
        input="\n".join([*works, *refused]),
        cwd=ROOT if inside else tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split("\t") for line in said.stdout.splitlines()]
    assert [code for code, _ in lines[: len(works)]] == ["0"] * len(works)
    for command, (code, sentence_) in zip(refused, lines[len(works) :], strict=True):
        assert code == "2", (command, sentence_)
        lines_ = [line for line in sentence_.split(" | ")[:-1] if "numba is not" not in line]
        assert len(lines_) == 1, (command, sentence_)
        assert re.fullmatch(r"momab: .*\.", lines_[0]), (command, sentence_)
        if command in need_a_checkout:
            first = "the book needs the extra 'book'" if inside else "this command works inside a"
            assert lines_[0].startswith(f"momab: {first}"), (command, sentence_)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("limit", "-n", "2"), "the target limit does not take -n; it takes --seed, --policy."),
        (("table2", "limit", "-T", "1e4"), "the target limit does not take -T"),
        (("table2", "--policy", "KL-UCB"), "the target table2 does not take --policy"),
        (("all", "-n", "2"), "does not take -n"),
        (("prices", "--seed", "3"), "it takes none of these options"),
        (("table2", "--check", "-T", "1e5"), "have horizon 1,000,000, not 100,000"),
        (("table2", "--check", "-n", "1"), "have runs 20, not 1"),
    ],
)
def test_reproduce_refuses_options_that_a_target_does_not_take(
    monkeypatch, capsys, idle, tmp_path, arguments, said
):
    assert run(monkeypatch, "reproduce", *arguments, "-o", tmp_path) == 2
    assert said in sentence(capsys)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("synthetic:delta=0.1,m=2,K=1e12",), "would need about 264 TB of memory"),
        (("random:K=1e7,d=1e7,seed=1",), "of memory"),
        (("duplicated:delta=0.1,K=1e13,d=2",), "of memory"),
        (("zero-gap", "-n", "1e12"), "4000000000000 runs would need about"),
        (("zero-gap", "-n", "9" * 400), "of memory"),
        (("zero-gap", "-T", "1e30"), "the horizon T must be at most"),
        (("zero-gap", "--checkpoints", "1e12"), "checkpoints must be a whole number in"),
        (("zero-gap", "--seed", "9" * 400), "the seed must be a whole number in"),
        ((f"synthetic:delta={'9' * 400},m=2",), "delta of synthetic must be a number of at most"),
    ],
)
def test_absurd_sizes_are_found_first(monkeypatch, capsys, idle, arguments, said):
    assert run(monkeypatch, "simulate", *arguments) == 2
    told = sentence(capsys)
    assert said in told
    assert len(told) < 300


def test_sizes_are_compared_with_what_is_there(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    memory.require_memory(999, "this")
    with pytest.raises(MomabError, match=r"this would need about 1\.5 kB of memory, and 1 kB are"):
        memory.require_memory(1500, "this")
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    memory.require_memory(10**400, "this")
    assert memory.size_text(24e9) == "24 GB"


def test_numbers_of_any_length_are_refused_in_a_sentence():
    for value in (10**400, -(10**5000), float("inf"), float("nan")):
        with pytest.raises(MomabError, match="n must be a whole number in") as error:
            whole_number(value, "n", least=0, most=9)
        assert len(str(error.value)) < 150
    assert shown(3) == "3"


BUILD = "import sys; sys.path.insert(0, 'tools'); import backend; "
"""The start of a program that builds in its working folder."""


def copy_sources(folder: Path, *packages: str) -> Path:
    """Copy these files of the package, and what builds them."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wanted = ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "tools/", *packages)
    for name in filter(lambda name: name.startswith(wanted), listed.stdout.splitlines()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def build(folder: Path, code: str) -> None:
    command = [sys.executable, "-c", BUILD + code]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def make_wheel(folder: Path, *packages: str) -> tuple[Path, bool]:
    """Build a wheel of these files of the package; whether the source stayed as it was."""
    book = copy_sources(folder / "book", *packages)
    before = sorted(p for p in book.rglob("*"))
    build(book, "backend.build_wheel('..')")
    (wheel,) = folder.glob("momab-*.whl")
    return wheel, sorted(p for p in book.rglob("*")) == before


def test_a_wheel_leaves_nothing_behind(tmp_path):
    _, unchanged = make_wheel(tmp_path, "momab/__", "momab/_u")
    assert unchanged


def test_a_wheel_removes_only_what_it_made(tmp_path):
    """Somebody builds the book in the folder while a wheel is made there."""
    book = copy_sources(tmp_path / "book", "momab/__", "momab/_u")
    meanwhile = "from pathlib import Path; made = backend.build_meta.build_wheel; "
    meanwhile += "write = lambda: Path('_build/html.txt').write_text('precious'); "
    meanwhile += "backend.build_meta.build_wheel = lambda *given: (made(*given), write())[0]; "
    build(book, meanwhile + "backend.build_wheel('..')")
    assert [path.name for path in (book / "_build").iterdir()] == ["html.txt"]


def test_an_editable_install_is_a_path_that_type_checkers_follow(tmp_path):
    """A finder, which setuptools prefers, is Python that they do not run."""
    book = copy_sources(tmp_path / "book", "momab/__", "momab/_u")
    build(book, "backend.build_editable('..')")
    (wheel,) = tmp_path.glob("momab-*.whl")
    with zipfile.ZipFile(wheel) as inside:
        paths = [name for name in inside.namelist() if "/" not in name]
        assert [Path(name).suffix for name in paths] == [".pth"]
        assert inside.read(paths[0]).decode().strip() == str(book)


@pytest.mark.slow
def test_an_installed_wheel_studies_a_table_and_says_that_the_book_needs_a_checkout(tmp_path):
    assert "that needs a checkout" in (ROOT / "README.md").read_text()
    wheel, unchanged = make_wheel(tmp_path, "momab/")
    assert unchanged
    shutil.unpack_archive(wheel, tmp_path / "installed", "zip")
    shutil.rmtree(tmp_path / "book")
    settings = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}

    def momab(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "momab", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=settings)

    for words in (("book",), ("run", "model"), ("serve",)):
        done = momab(*words)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("momab: this command works inside a checkout of the book")
        assert done.stderr.count("\n") == 1
    assert momab(*SHORT, "--engine", "python", "--json").returncode == 0
    (tmp_path / "t.csv").write_text("arm,a,b\n" + "x,0.1,0.9\ny,0.8,0.2\nz,0.1,0.1\n" * 9)
    done = momab("study", "t.csv", "--objectives", "a,b", "-T", "50", "-n", "2")
    assert done.returncode == 0, done.stderr
    answer, page, notebook = done.stdout.splitlines()
    assert answer.startswith("2 of 3 arms are optimal: ")
    assert "Which policy?" in (tmp_path / page).read_text()
    assert json.loads((tmp_path / notebook).read_text())["cells"]
