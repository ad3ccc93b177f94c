"""A small book in the dress of the real one, and the one server that a test run has for it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock

from momab.book import build as pipeline
from momab.book.project import Project
from tests import tiny
from tests.asking import Answer, Door, ask
from tests.conftest import ROOT
from tests.waiting import PATIENCE, until

psutil = pytest.importorskip("psutil")

PAGE = """
# Dice

```{code-cell} ipython3
:tags: [parameters]

seed: int = 1  # seed of the throws [0, 2_147_483_647]
throws: int = 40  # throws [2, 100_000]
share: float = 0.5  # share of sixes (0, 1)
kind: str = "fair"  # which dice {fair, loaded}
wait: float = 0.0  # seconds to think [0, 600]
levels: list[float] = [0.1, 0.2]  # levels to compare [0.01, 1]
```

```{code-cell} ipython3
import time

import numpy as np

import momab

rng = np.random.default_rng(seed)
sixes = int(rng.binomial(throws, share))
time.sleep(wait)
```

```{code-cell} ipython3
if kind == "loaded":
    raise ValueError("the dice are loaded")
```

```{code-cell} ipython3
:tags: [remove-input]

%%prose
Of {{ throws }} throws {{ sixes }} were sixes. Nothing else is said of seven dwarfs.
```

```{code-cell} ipython3
:tags: [remove-input]

%%figure bars(throws, sixes)
The throws.

Alt: A bar of {{ throws }} and a bar of {{ sixes }}.
```
"""
BARS = """import matplotlib as mpl

from momab.chapters.figures.style import BLUE, STYLE, new_axes


def bars(throws, sixes):
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(3, 2))
        axes.bar([0, 1], [throws, sixes], color=BLUE)
    return fig"""

OWN = """
# Bring your own data

```{code-cell} ipython3
:tags: [parameters]

table: str = ""  # a CSV file; the example if empty
arm: str = "cafe"  # the column that names the arm
objectives: str = "coffee;quiet"  # the reward columns
scale: str = ""  # columns to scale first
minimize: str = ""  # columns of which less is better
missing: str = "error"  # what becomes of rows with gaps {error, drop}
delimiter: str = ""  # found if empty
encoding: str = ""  # found if empty
fingerprint: str = ""  # of the file, to notice changes
horizon: int = 1_000  # rounds per run [100, 10_000]
runs: int = 2  # runs per policy [2, 10]
coefficient: float = 0.1  # a second c [0.001, 2]
seed: int = 1  # seed [0, 1_000]
```

```{code-cell} ipython3
from IPython.display import HTML

import momab
from momab.chapters import own_data
from momab.model.tables import parse_scale
```

```{code-cell} ipython3
names = ["an example"]
if table:
    ranges = parse_scale(own_data.columns_of(scale))
    columns = own_data.columns_of(objectives)
    names = momab.from_csv(table, arm, columns, ranges, missing=missing).arm_names
HTML("<p>Arms: " + ", ".join(names) + "</p>")  # careless on purpose
```
"""

BRING = """
# Bring your own policy

```{code-cell} ipython3
:tags: [parameters]

epsilon: float = 0.05  # the share of rounds that explore [0, 1]
horizon: int = 2_000  # rounds per run [1_000, 1_000_000]
runs: int = 2  # runs per instance [2, 1_000]
seed: int = 1  # seed of the runs [0, 1_000]
```
"""

ASKED = "## Exercises\n\nWhich of our cafés is the best?\n"


def make_book(folder: Path) -> Project:
    """A book of three pages with the styles, scripts and settings of the real one."""
    tiny.make(folder)
    dice = PAGE.replace("rng = np", f"{BARS}\n\n\nrng = np", 1)
    for name, text in (("index", dice), ("own-data", OWN), ("bring-your-policy", BRING)):
        (folder / "notebooks" / f"{name}.md").write_text(tiny.HEADER + text)
    (folder / "notebooks" / "other.md").unlink()
    (folder / "notebooks" / "own-data.exercises.md").write_text(tiny.HEADER + ASKED)
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: notebooks/index\nchapters:\n  - file: notebooks/own-data\n"
        "  - file: notebooks/bring-your-policy\n"
    )
    (folder / "book/profiles/paper.yml").write_text("notebooks: {index: {throws: 500}}\n")
    for name in ("_static", "_templates"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name, dirs_exist_ok=True)
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    del config["bibtex_bibfiles"]
    del config["sphinx"]["config"]["html_additional_pages"]
    config["sphinx"]["config"]["html_theme_options"]["footer_content_items"] = ["copyright.html"]
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    return Project(folder, folder / "momab_tiny")


# `momab serve`, ended by the last who needs it, or by the end of the process that started the run
SERVE = """
import os, signal, sys, threading
import psutil
from momab.cli.app import main

def end_with_owner(owner):
    psutil.Process(owner).wait()
    os.kill(os.getpid(), signal.SIGTERM)

if __name__ == "__main__":
    threading.Thread(target=end_with_owner, args=(int(sys.argv.pop()),), daemon=True).start()
    main()
"""


@dataclass
class Served:
    """A book that is served by a process of its own, and how to ask for its pages."""

    book: Project
    pid: int
    server: Door

    def ask(self, method: str, path: str, body: Any = None, **headers: str | None) -> Answer:
        return ask(self.server, method, path, body, **headers)

    def post(self, page: str, **request: Any) -> Answer:
        return self.ask("POST", f"/_serve/pages/{page}", request)

    def upload(self, data: bytes, name: str = "my.csv") -> Answer:
        return self.ask("POST", f"/_serve/tables?name={name}", data)

    def state(self, job: str) -> dict[str, Any]:
        return self.ask("GET", f"/_serve/jobs/{job}").json

    def ended(self, job: str) -> dict[str, Any]:
        """A job, once nothing happens to it any more."""

        def over() -> dict[str, Any] | None:
            found = self.state(job)
            return found if found["state"] in ("done", "failed", "cancelled") else None

        return until(over, f"the end of job {job}")

    def started(self, job: str) -> None:
        """Return when the notebook of a job executes its cells."""
        until(
            lambda: any(task["done"] >= 1 for task in self.state(job)["tasks"]),
            f"the first cell of job {job}",
        )

    def run(self, page: str = "index", **request: Any) -> str:
        """Run a page; return the address that shows the result."""
        answer = self.post(page, **{"values": {}, **request})
        assert answer.status == 200, answer.text
        found = self.ended(answer.json["job"])
        assert found["state"] == "done", found
        return found["address"]

    @cached_property
    def process(self) -> Any:
        return psutil.Process(self.pid)

    def kernels(self) -> list[Any]:
        """The kernels below the server."""
        found = self.process.children(recursive=True)
        return [p for p in found if p.is_running() and "ipykernel" in " ".join(p.cmdline())]


STARTED: list[subprocess.Popen[str]] = []  # the worker that ends a server need not have started it


def is_over(process: Any) -> bool:
    """Whether a process has ended, be it buried or not."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def serve(book: Path, owner: int, workers: int, log: Path) -> Served:
    """Start a server for a built book."""
    command = ["serve", "--as-is", "--workers", str(workers)]
    with log.open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, *command, str(owner)],
            cwd=book,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            text=True,
        )

    def entrance() -> re.Match[str] | None:
        assert process.poll() is None, log.read_text()
        return re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{40,}) ", log.read_text())

    found = until(entrance, "the address of `momab serve`")
    STARTED.append(process)
    return Served(Project(book), process.pid, Door(int(found[1]), found[2]))


@pytest.fixture(scope="session")
def small_book(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The small book, built once in a test run; only its server may change it."""

    def make(folder: Path) -> None:
        pipeline.build(make_book(folder), workers=1, quiet=True)

    return Project(tiny.once(tmp_path_factory, "served", make))


@pytest.fixture(scope="session")
def served(small_book: Project) -> Iterator[Served]:
    """The small book, served: the first worker starts the server, the last one ends it."""
    note, lock = small_book.root / "users.json", FileLock(small_book.root / "users.lock")
    with lock:
        users = json.loads(note.read_text()) if note.exists() else None
        if users is None:
            owner = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
            found = serve(small_book.root, owner, 2, small_book.root / "served.log")
            users = {"pid": found.pid, "port": found.server.port, "token": found.server.token}
            users["count"] = 0
        users["count"] += 1
        note.write_text(json.dumps(users))
    door = Door(users["port"], users["token"])
    yield Served(small_book, users["pid"], door)
    with lock:
        users = json.loads(note.read_text())
        users["count"] -= 1
        note.write_text(json.dumps(users))
        if users["count"] == 0:
            note.unlink()
            process = psutil.Process(users["pid"])
            process.terminate()
            until(lambda: is_over(process), "the end of the server")
    for started in STARTED:
        if started.pid != users["pid"]:  # a test failed before it ended its own server
            started.kill()
        started.wait(4 * PATIENCE)  # as long as another worker needs it
