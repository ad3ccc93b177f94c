"""The student distribution: one folder with all that a student needs.

`make_distribution` writes the student site, a handout per chapter, the library as a wheel, pinned
requirements, and one command that starts JupyterLab.  The solutions are pages of the book and are
not in it.  The wheel is the plain one: its checks hold reference functions, and README.md says so.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from momab import __version__
from momab.book.project import Project
from momab.course import handout
from momab.errors import MomabError

WHEEL = f"momab-{__version__}-py3-none-any.whl"
EXTRAS = ("fast", "plots", "learn")  # what students install
_FILES = Path(__file__).with_name("distribution")
_PLACES = {"README.md": "README.md", "start.py": "start.py", "gitignore": ".gitignore"}
_SYSTEMS = [
    {"sys_platform": name, "os_name": kind, "platform_system": system, "python_version": version}
    | {"python_full_version": f"{version}.0"}
    for name, kind, system in (
        ("linux", "posix", "Linux"),
        ("darwin", "posix", "Darwin"),
        ("win32", "nt", "Windows"),
    )
    for version in ("3.11", "3.12", "3.13")
]
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==")


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
        pins = "".join(f"{line}\n" for line in student_pins(project))
        (new / "requirements.txt").write_text(pins, encoding="utf-8")
        for name in ("LICENSE", "LICENSE-prose.md"):
            shutil.copyfile(project.root / name, new / name)
        _write_texts(project, new)
        shutil.rmtree(folder / "site", ignore_errors=True)
        shutil.copytree(new, folder, dirs_exist_ok=True)


def _write_texts(project: Project, new: Path) -> None:
    words = {
        "WHEEL": WHEEL,
        "PYTHON": _declared(project)["requires-python"],
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


# ---- requirements --------------------------------------------------------------------------


def _declared(project: Project) -> dict[str, Any]:
    """The section ``project`` of pyproject.toml."""
    text = (project.root / "pyproject.toml").read_text(encoding="utf-8")
    section: dict[str, Any] = tomllib.loads(text)["project"]
    return section


def student_pins(project: Project) -> list[str]:
    """The lines of requirements-dev.txt that the student package needs, with numba for speed."""
    lines: dict[str, list[str]] = {}
    for line in (project.root / "requirements-dev.txt").read_text(encoding="utf-8").splitlines():
        if match := _PIN.match(line):
            lines.setdefault(_normal(match[1]), []).append(line)
    needed = _closure(_declared(project))
    if unpinned := sorted(name for name in needed - lines.keys() if _installed(name)):
        raise MomabError(
            f"requirements-dev.txt does not pin {', '.join(unpinned)}; `make lock` pins all."
        )
    return [line for name in sorted(needed & lines.keys()) for line in lines[name]]


def _closure(facts: Mapping[str, Any]) -> set[str]:
    """Every package that the student package leads to, on any system, as it is installed here."""
    extras = facts["optional-dependencies"]
    listed = [*facts["dependencies"], *(need for extra in EXTRAS for need in extras[extra])]
    todo = [r for text in listed if (r := Requirement(text)).name != "momab"]
    seen: set[tuple[str, str]] = set()
    while todo:
        requirement = todo.pop()
        name = _normal(requirement.name)
        for extra in ("", *sorted(requirement.extras)):
            if (name, extra) not in seen:
                seen.add((name, extra))
                todo += _needs(name, extra)
    return {name for name, _ in seen}


def _needs(name: str, extra: str) -> Iterator[Requirement]:
    """What a package needs on some system, for one of its extras or for none."""
    if not _installed(name):
        return  # a package of another system
    for requirement in map(Requirement, importlib.metadata.requires(name) or []):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({**s, "extra": extra}) for s in _SYSTEMS):
            yield requirement


def _installed(name: str) -> bool:
    try:
        return bool(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return False


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
