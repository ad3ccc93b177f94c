"""The student package: a wheel of the library with sealed checks, and nothing that teaches.

It holds everything that computes, the chapters' modules, the pages of the student edition for
`momab run`, and for each chapter a module that checks answers without knowing them
(`momab.course.sealing`).  It does not hold what builds the book, handouts and grading, or any
solution.  Equal sources give equal bytes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import stat
import tomllib
import zipfile
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from momab import __version__
from momab.book import editions
from momab.book.notebook import Node, Notebook
from momab.book.plain import readable
from momab.book.project import Project
from momab.course.handout import is_folded
from momab.course.sealing import sealed_chapters

NAME = f"momab-{__version__}-py3-none-any.whl"
EXTRAS = ("fast", "plots", "learn")
_TEACHERS = ("course", "serve", "pages")  # pages are made below
_BOOK = ("__init__.py", "packaged.py", "parameters.py", "yaml_files.py")
_CHECKS = ("__init__.py", "core.py", "draws.py", "sealed.py", "_situations.py")


def student_wheel(project: Project) -> bytes:
    """The wheel that students install."""
    files = dict(sorted(_package(project).items()))
    about = f"momab-{__version__}.dist-info"
    files[f"{about}/METADATA"] = _metadata(project).encode()
    files[f"{about}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: momab student\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{about}/entry_points.txt"] = b"[console_scripts]\nmomab = momab.cli.app:main\n"
    files[f"{about}/licenses/LICENSE"] = (project.root / "LICENSE").read_bytes()
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    return zipped(files)


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"


def zipped(files: Mapping[str, bytes], executable: Collection[str] = ()) -> bytes:
    """A zip of these files; equal files in equal order give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # its date is the first that a zip can have
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if name in executable else 0o644)) << 16
            archive.writestr(entry, data)
    return buffer.getvalue()


# ---- what is in it -------------------------------------------------------------------------


def _package(project: Project) -> dict[str, bytes]:
    found = {f"momab/{name}": data for name, data in _library(project)}
    for chapter in sealed_chapters():
        found[f"momab/exercises/{chapter.stem}.py"] = chapter.module.encode()
        found[f"momab/exercises/{chapter.stem}.json"] = chapter.data.encode()
    found |= {f"momab/pages/{name}": data for name, data in _pages(project)}
    return found


def _library(project: Project) -> Iterator[tuple[str, bytes]]:
    """The files of the library that students get as they are."""
    for path in sorted(project.library.rglob("*")):
        name = path.relative_to(project.library)
        room = name.parts[0]
        if not path.is_file() or "__pycache__" in name.parts or room in _TEACHERS:
            continue
        if room == "book" and name.as_posix() not in {f"book/{one}" for one in _BOOK}:
            continue
        if room == "exercises" and name.name not in _CHECKS:
            continue
        yield name.as_posix(), path.read_bytes()


def _pages(project: Project) -> Iterator[tuple[str, bytes]]:
    """The pages that `momab run` executes there, the profiles, and the ledger's file."""
    import nbformat

    for name in project.notebook_pages:
        page = student_page(project.notebook(name))
        yield f"{name}.ipynb", (nbformat.writes(page) + "\n").encode()
    for path in sorted(project.profiles.glob("*.yml")):
        yield path.name, path.read_bytes()
    if (claims := project.root / "book" / "claims.yml").is_file():
        yield claims.name, claims.read_bytes()


def student_page(notebook: Notebook) -> Node:
    """A page of the student edition as a notebook that any Jupyter runs."""
    import nbformat

    node = readable(editions.student(notebook.node))
    for number, cell in enumerate(node.cells):
        cell.id = f"{notebook.name}-{number}"
        tags = cell.metadata.get("tags", [])
        cell.metadata = {"tags": tags} if tags else {}
        if cell.cell_type == "code" and is_folded(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
    node.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    node.nbformat_minor = 5
    nbformat.validate(node)
    return node


# ---- what it says about itself -------------------------------------------------------------


def declared(project: Project) -> dict[str, Any]:
    """The section ``project`` of pyproject.toml."""
    text = (project.root / "pyproject.toml").read_text(encoding="utf-8")
    section: dict[str, Any] = tomllib.loads(text)["project"]
    return section


def _metadata(project: Project) -> str:
    facts = declared(project)
    lines = [
        "Metadata-Version: 2.4",
        "Name: momab",
        f"Version: {__version__}",
        f"Summary: {facts['description']}",
        f"Requires-Python: {facts['requires-python']}",
        "License-Expression: MIT",
        "License-File: LICENSE",
        *(f"Requires-Dist: {one}" for one in facts["dependencies"]),
    ]
    for extra in EXTRAS:
        lines.append(f"Provides-Extra: {extra}")
        needs = facts["optional-dependencies"][extra]
        lines += [f'Requires-Dist: {one}; extra == "{extra}"' for one in needs]
    return "\n".join([*lines, "", "The package that students install; it holds no solutions.", ""])
