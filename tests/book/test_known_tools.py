"""Tools that readers know run the downloads: the commands of the table in *Using this book*."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

from tests.conftest import ROOT
from tests.waiting import PATIENCE, until

TABLE = (ROOT / "book/using.md").read_text("utf-8").partition("(tools-you-know)=")[2]
ROWS = re.findall(r"^\| ([^|]+) \| (.+?) \| .+ \|$", TABLE.partition("\n(")[0], flags=re.M)
COMMANDS = {
    tool: match[1]
    for tool, cell in ROWS
    if (match := re.match(r"`((?:papermill|jupyter|jupytext)\b[^`]*)`", cell))
}


PLACES = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
ENVIRONMENT = {**os.environ, "PATH": PLACES}


def type_command(command: str, folder: Path) -> str:
    """Type a command in a folder, in the environment of the tests; return what it says."""
    done = subprocess.run(
        shlex.split(command),
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_table_has_the_tools():
    assert [tool for tool, _ in ROWS[2:]] == [
        *("papermill", "nbclient", "jupytext", "Jupyter Book", "JupyterLab", "VS Code", "Binder")
    ]
    assert set(COMMANDS) == {"papermill", "nbclient", "jupytext", "Jupyter Book", "JupyterLab"}


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["papermill", "nbclient", "jupytext"])
def test_a_download_runs(tool: str, site: Path, tmp_path: Path):
    for name in ("zero-gap.ipynb", "zero-gap.md"):
        shutil.copy(site / "downloads" / name, tmp_path)
    type_command(COMMANDS[tool], tmp_path)
    node = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    nbformat.validate(node)
    cells = [cell for cell in node.cells if cell.cell_type == "code" and cell.source.strip()]
    assert len(cells) > 10
    assert all(cell.execution_count for cell in cells)
    if tool == "papermill":
        (drawn,) = [c for c in cells if "injected-parameters" in c.metadata.get("tags", ())]
        assert "arms = 8" in drawn.source


def test_a_download_names_a_kernel_that_every_jupyter_has(site: Path):
    """JupyterLab and VS Code choose the kernel by this name; Binder installs ipykernel."""
    for path in (site / "downloads").glob("*.ipynb"):
        assert nbformat.read(path, as_version=4).metadata.kernelspec.name == "python3", path.name
    pinned = (ROOT / "requirements.txt").read_text()
    assert re.search(r"^ipykernel==", pinned, flags=re.M)
    workflow = (ROOT / ".github/workflows/pages.yml").read_text()
    steps = yaml.safe_load(workflow)["jobs"]["notebooks"]["steps"]
    assert any('mv "$requirements" requirements.txt' in step.get("run", "") for step in steps)


@pytest.mark.slow
def test_jupyter_book_builds_a_checkout(tmp_path: Path):
    """The command of the table, on a copy with two of the pages."""
    skipped = shutil.ignore_patterns(".*", "_build", "*.pyc", "tests", "proofs")
    copy = tmp_path / "book"
    shutil.copytree(ROOT, copy, ignore=skipped)
    toc = "format: jb-book\nroot: notebooks/index\nchapters:\n  - file: notebooks/zero-gap\n"
    (copy / "_toc.yml").write_text(toc)
    type_command(COMMANDS["Jupyter Book"], copy)
    page = (copy / "_build/html/notebooks/zero-gap.html").read_text("utf-8")
    assert "Pareto gap" in page
    assert page.count('class="cell_output') > 5


@pytest.mark.slow
def test_jupyterlab_opens_a_download(site: Path, tmp_path: Path):
    """The command of the table, without a browser: the server has the notebook and its kernel."""
    shutil.copy(site / "downloads/zero-gap.ipynb", tmp_path)
    switches = ["--no-browser", "--allow-root", "--ServerApp.port=0"]
    command = [*shlex.split(COMMANDS["JupyterLab"]), *switches]
    environment = {**ENVIRONMENT, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL) as lab:
        try:
            noted = "runtime/jpserver-*.json"
            until(lambda: lab.poll() is not None or [*tmp_path.glob(noted)], "its address")
            about = json.loads(next(tmp_path.glob(noted)).read_text())

            def ask(path: str) -> Any:
                address = f"{about['url']}{path}?token={about['token']}"
                with urllib.request.urlopen(address) as answer:
                    return json.load(answer)

            until(lambda: answers(about["port"]), "an answer")
            notebook = ask("api/contents/zero-gap.ipynb")["content"]
            kernel = notebook["metadata"]["kernelspec"]["name"]
            assert kernel in ask("api/kernelspecs")["kernelspecs"]
        finally:
            lab.terminate()
            lab.wait(PATIENCE)


def answers(port: int) -> bool:
    """Whether somebody listens."""
    with socket.socket() as asked:
        return asked.connect_ex(("localhost", port)) == 0
