"""The student distribution: one folder with all that a student needs, and no solution in it.

`make_distribution` writes the student site, a handout per chapter, the student package
(`momab.course.wheel`), pinned requirements, one command that starts JupyterLab, and what a
JupyterHub, Binder, Colab or a dev container need.  The folder can be copied, zipped, or be a
repository of its own: files that somebody adds stay, and files that somebody has edited are not
replaced unasked.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packaging.requirements import Requirement

from momab import __version__
from momab.book.project import Project
from momab.course import handout, wheel
from momab.errors import MomabError

RECORD = "distribution.json"
_FILES = Path(__file__).with_name("distribution")
_PLACES = {  # the templates, and where they are written
    "README.md": "README.md",
    "HOSTING.md": "HOSTING.md",
    "start.py": "start.py",
    "devcontainer.json": ".devcontainer/devcontainer.json",
    "runtime.txt": "binder/runtime.txt",
    "postBuild": "binder/postBuild",
    "colab.ipynb": "colab.ipynb",
    "gitignore": ".gitignore",
}
_EXECUTABLE = ("binder/postBuild", "start.py")
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


def make_distribution(
    project: Project, folder: Path, site: Path, address: str = "", force: bool = False
) -> list[Path]:
    """Write the distribution around a built student site; return the files, in order.

    ``address`` is where the folder will be found as a public GitHub repository, for the links in
    HOSTING.md.
    """
    if address and not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", address):
        raise MomabError(
            f"--address is that of a repository, https://github.com/WHO/NAME; it is {address!r}."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".student-", dir=folder.parent) as temporary:
        new = Path(temporary) / "new"
        _write_all(project, new, site, address)
        files = _digests(new)
        (new / RECORD).write_text(
            json.dumps({"momab": __version__, "files": files}, indent=1) + "\n", encoding="utf-8"
        )
        _replace(new, folder, files, force)
    return [folder / name for name in (*files, RECORD)]


def distribution_zip(folder: Path, files: Sequence[Path]) -> bytes:
    """The files of a distribution as a zip for a release; equal files give equal bytes."""
    top = f"momab-student-{__version__}"
    names = {path.relative_to(folder).as_posix(): path for path in sorted(files)}
    return wheel.zipped(
        {f"{top}/{name}": path.read_bytes() for name, path in names.items()},
        [f"{top}/{name}" for name in _EXECUTABLE],
    )


def _write_all(project: Project, new: Path, site: Path, address: str) -> None:
    shutil.copytree(site, new / "site", ignore=shutil.ignore_patterns("build.json", ".*"))
    handout.write_handouts(project, (), new / "handouts")
    (new / wheel.NAME).write_bytes(wheel.student_wheel(project))
    pins = "".join(f"{line}\n" for line in student_pins(project))
    for name in ("requirements.txt", "binder/requirements.txt"):
        (new / name).parent.mkdir(exist_ok=True)
        (new / name).write_text(pins, encoding="utf-8")
    for name in ("LICENSE", "LICENSE-prose.md"):
        shutil.copyfile(project.root / name, new / name)
    words = {
        "WHEEL": wheel.NAME,
        "PYTHON": wheel.declared(project)["requires-python"],
        "VERSION": __version__,
        "FIRST": handout.chapters_with_exercises(project)[0],
        "ADDRESS": address or "https://github.com/WHO/NAME",
        "WHO/NAME": address.removeprefix("https://github.com/") or "WHO/NAME",
    }
    for template, place in _PLACES.items():
        text = (_FILES / template).read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        path = new / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if place in _EXECUTABLE else 0o644)


# ---- requirements --------------------------------------------------------------------------


def student_pins(project: Project) -> list[str]:
    """The lines of requirements.txt that the student package needs, with numba for speed."""
    lines: dict[str, list[str]] = {}
    for line in (project.root / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if match := _PIN.match(line):
            lines.setdefault(_normal(match[1]), []).append(line)
    needed = _closure(wheel.declared(project))
    if unpinned := sorted(name for name in needed - lines.keys() if _installed(name)):
        raise MomabError(
            f"requirements.txt does not pin {', '.join(unpinned)}; `make lock` pins all."
        )
    return [line for name in sorted(needed & lines.keys()) for line in lines[name]]


def _closure(facts: Mapping[str, object]) -> set[str]:
    """Every package that the student package leads to, on any system, as it is installed here."""
    extras = facts["optional-dependencies"]
    assert isinstance(extras, dict)
    listed = [*_texts(facts["dependencies"]), *(n for e in wheel.EXTRAS for n in _texts(extras[e]))]
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


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(item) for item in value]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# ---- replacing an older one ----------------------------------------------------------------


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _replace(new: Path, folder: Path, files: Mapping[str, str], force: bool) -> None:
    """Put the new files into the folder; what it holds besides stays."""
    old = _recorded(folder)
    if folder.exists() and old is None and any(folder.iterdir()) and not force:
        raise MomabError(
            f"{folder} holds something else, so nothing was written; "
            "give another folder, or --force to write into this one."
        )
    kept = dict(old or {})
    edited = [
        name
        for name in kept.keys() | files.keys()
        if (path := folder / name).is_file()
        and hashlib.sha256(path.read_bytes()).hexdigest() not in (kept.get(name), files.get(name))
    ]
    if edited and not force:
        raise MomabError(
            f"{sorted(edited)[0]} in {folder} has been edited since it was made, so nothing was "
            "written; --force replaces it."
        )
    for name in kept.keys() - files.keys():
        (folder / name).unlink(missing_ok=True)
    shutil.copytree(new, folder, dirs_exist_ok=True)


def _recorded(folder: Path) -> dict[str, str] | None:
    """The files of the distribution that stands in a folder, if one does."""
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(found) if isinstance(found, dict) else None
