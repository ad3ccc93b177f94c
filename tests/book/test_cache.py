"""The cache of executed notebooks: what it keeps, what it forgets, and that it cannot lie."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from momab.book import execute
from momab.book.fingerprint import Library
from momab.book.parameters import read_assignments, sweep
from momab.book.project import Project
from momab.book.single_page import planned_runs
from momab.errors import MomabError
from tests.tiny import cell, project
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).resolve().parents[2]


def jobs_for(book: Path, values: range) -> list[execute.Job]:
    library = Library(book / "momab_tiny")
    notebook = project(book).notebook("other")
    return [execute.make_job(project(book), notebook, {"seed": seed}, library) for seed in values]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[execute.Job]:
    """Executions that only write a notebook; the list of them."""
    done: list[execute.Job] = []

    @contextmanager
    def workers(size: int):
        yield []

    def work(todo, pipes, report) -> None:
        for job in todo:
            node = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("x")])
            nbformat.write(node, job.path)
            done.append(job)

    monkeypatch.setattr(execute, "_workers", workers)
    monkeypatch.setattr(execute, "_work_off", work)
    return done


def test_pages_of_the_book_outlive_runs_and_old_runs_do_not(book, played):
    [page] = jobs_for(book, range(1))
    execute.execute([page], quiet=True)
    execute.keep_for_book([page])
    old = jobs_for(book, range(1, 20))
    execute.execute(old, quiet=True)
    long_ago = time.time() - 90_000
    for job in [page, *old]:
        os.utime(job.path, (long_ago, long_ago))
    execute.execute(jobs_for(book, range(20, 30)), quiet=True)
    assert page.done
    assert not any(job.done for job in old)


def test_what_another_command_may_still_need_is_kept(book, played):
    recent = jobs_for(book, range(12))
    execute.execute(recent, quiet=True)
    execute.execute(jobs_for(book, range(12, 24)), quiet=True)
    assert all(job.done for job in recent)


def test_an_empty_or_unreadable_file_is_not_done(book, played):
    [job] = jobs_for(book, range(1))
    job.path.parent.mkdir(parents=True)
    with pytest.raises(FileNotFoundError):
        execute.load_executed(job)
    assert not job.path.exists(), "looking for it does not make it"
    for content in ("", "{", "[]", '{"cells": []}', "\x00" * 40):
        job.path.write_text(content)
        assert not job.done
    assert execute.execute([job], quiet=True) == [job]
    assert job.done


def test_a_sweep_has_a_page_for_every_value_and_none_twice(book, played):
    def planned(values: str) -> list[execute.Job]:
        return planned_runs(project(book), project(book).notebook("other"), "quick", [values])

    assert len(planned("seed=10,1e1,11")) == 2
    forty = "seed=" + ",".join(map(str, range(40)))
    assert len(sweep(read_assignments([forty]))) == len(planned(forty)) == 40
    assert len(execute.execute(planned(forty), quiet=True)) == 40
    assert all(job.done for job in planned(forty))
    assert execute.execute(planned(forty), quiet=True) == []


# ---- data ------------------------------------------------------------------------------------


def test_data_files_belong_to_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("MOMAB_DATA", str(tmp_path))
    found = Project.find(ROOT)
    notebook = found.notebook("real-data")
    values = {n: p.default for n, p in notebook.parameters.items()}

    def key() -> str:
        return notebook.key(values, Library(found.library), found.lock)

    without = key()
    (tmp_path / "spotify_tracks.csv").write_text("1")
    there = key()
    (tmp_path / "spotify_tracks.csv").write_text("2")
    assert len({without, there, key()}) == 3


def test_a_page_asked_for_live_runs_without_the_data_says_so(tmp_path, monkeypatch):
    from momab import study
    from momab._util import datafiles
    from momab.chapters import real_data

    monkeypatch.setattr(datafiles, "data_folders", lambda data_dir=None: [tmp_path])
    monkeypatch.setattr(
        "momab.study.datasets.registry.data_folders", lambda data_dir=None: [tmp_path]
    )
    code = Project.find(ROOT).notebook("real-data").code
    assert "if live:" in code
    with pytest.raises(MomabError, match="the Spotify Tracks data are not on this machine"):
        real_data.play_subset(study.Options(1000, 2, 1), "spotify", "misleading", 1)


# ---- processes -------------------------------------------------------------------------------

PARENT = """
import sys
from pathlib import Path
import momab
from momab.book.execute import _workers
if __name__ == "__main__":
    bandit = momab.synthetic(delta=0.1, m=2, K=6)
    momab.simulate(bandit, momab.WidthGuided(), 20, 400, workers=2, engine="python")
    with _workers(2) as pipes:
        print("ready", flush=True)
        sys.stdin.read()
"""


def group(number: int) -> list[str]:
    """The processes of ours in a group, those that count semaphores not among them."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "-g", str(number)], capture_output=True, text=True
    )
    return [line for line in listed.stdout.splitlines() if "resource_tracker" not in line]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="skipped: needs ps")
def test_idle_workers_end_with_their_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script), str(ROOT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout is not None
    assert "ready" in parent.stdout.readline()
    crowd = len(group(parent.pid))
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    try:
        assert crowd == 5  # it, two that play, two that execute
        until(lambda: not group(parent.pid), "the end of all workers")
    finally:
        for line in group(parent.pid):
            os.kill(int(line.split()[0]), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="skipped: sends a signal to a group")
def test_ctrl_c_says_what_was_kept(book):
    code = (
        "import sys\nfrom pathlib import Path\nfrom momab.book import project as p\n"
        "from momab.cli.app import main\n"
        "here = Path.cwd()\n"
        "p.Project.find = classmethod(lambda cls: cls(here, here / 'momab_tiny'))\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    (book / "cli.py").write_text(code)
    waits = "import pathlib, time\npathlib.Path('started').touch()\ntime.sleep(600)"
    (book / "notebooks/other.md").write_text(
        (book / "notebooks/other.md").read_text() + cell(waits)
    )
    command = [sys.executable, "cli.py", "book", "--workers", "1"]
    running = subprocess.Popen(
        command,
        cwd=book,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until((book / "notebooks/started").exists, "the cell that waits")
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, out + err
    last = err.strip().splitlines()[-1]
    assert last == (
        "momab: stopped; 1 of 2 executed notebooks are kept, and the same command goes on "
        "from there."
    )
    assert "Traceback" not in err
    assert len(list((book / "_build/cache").glob("index-*.ipynb"))) == 1
