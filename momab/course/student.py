"""The student distribution: one folder with all that a student needs.

`make_distribution` writes the student site, a handout per chapter, the library as a wheel, the
versions of all that it may need, and one command that starts JupyterLab.  The solutions are pages
of the book and are not in it.  The wheel is the plain one: its checks hold reference functions, and
README.md says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from momab import __version__
from momab.book.project import Project
from momab.course import handout
from momab.errors import MomabError

WHEEL = f"momab-{__version__}-py3-none-any.whl"
_FILES = Path(__file__).with_name("distribution")
_PLACES = {"README.md": "README.md", "start.py": "start.py", "gitignore": ".gitignore"}
_COPIED = {name: name for name in ("LICENSE", "LICENSE-prose.md")}
_COPIED["requirements-dev.txt"] = "constraints.txt"  # the versions of what start.py installs


def make_distribution(project: Project, folder: Path, site: Path, force: bool = False) -> None:
    """Write the distribution around a built student site.

    A folder that holds something is left alone; with ``force`` its site is replaced, files of the
    same names are written again, and other files stay.
    """
    if folder.exists() and any(folder.iterdir()) and not force:
        raise MomabError(
            f"{folder} holds something, so nothing was written; "
            "give another folder, or --force to write into this one."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".student-", dir=folder.parent) as temporary:
        new = Path(temporary) / "new"
        shutil.copytree(site, new / "site", ignore=shutil.ignore_patterns("build.json", ".*"))
        handout.write_handouts(project, (), new / "handouts")
        build_wheel(project, new)
        for name, place in _COPIED.items():
            shutil.copyfile(project.root / name, new / place)
        _write_texts(project, new)
        shutil.rmtree(folder / "site", ignore_errors=True)
        shutil.copytree(new, folder, dirs_exist_ok=True)


def _write_texts(project: Project, new: Path) -> None:
    about = tomllib.loads((project.root / "pyproject.toml").read_text(encoding="utf-8"))
    words = {
        "WHEEL": WHEEL,
        "PYTHON": about["project"]["requires-python"],
        "FIRST": handout.chapters_with_exercises(project)[0],
    }
    for template, place in _PLACES.items():
        text = (_FILES / template).read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        (new / place).write_text(text, encoding="utf-8")
    (new / "start.py").chmod(0o755)


def build_wheel(project: Project, folder: Path) -> Path:
    """Build the library's wheel into a folder, with setuptools as it is installed here.

    It is built from a copy, because setuptools writes beside the sources while it works.
    """
    start = (
        "import sys; sys.path.insert(0, 'tools'); import backend; backend.build_wheel(sys.argv[1])"
    )
    with tempfile.TemporaryDirectory() as temporary:
        for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
            shutil.copyfile(project.root / name, Path(temporary) / name)
        for name in ("momab", "tools"):
            shutil.copytree(
                project.root / name,
                Path(temporary) / name,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        done = subprocess.run(
            [sys.executable, "-c", start, str(folder.resolve())],
            cwd=temporary,
            env={**os.environ, "SOURCE_DATE_EPOCH": "315532800"},  # equal sources give equal bytes
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise MomabError(f"the wheel cannot be built ({said}); it needs the extra 'dev'.")
    return folder / WHEEL
