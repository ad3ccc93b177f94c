"""Whether anything has changed since the last build, told in a moment.

A site keeps in its ``build.json`` one digest of everything that it was made of.  `unchanged`
compares it with the files as they are now, before anything else is imported or read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from momab._util.datafiles import data_dates
from momab.book.project import Project

_CACHES = {".pyc", ".nbi", ".nbc"}
_HEADER = re.compile(rb"\A---\n(.*?)\n---\n", flags=re.DOTALL)


@dataclass(frozen=True)
class BuildRecord:
    """What a built site was made of.

    ``inputs`` is the digest of all files and settings behind it, ``notebooks`` the number of its
    executed notebooks.
    """

    inputs: str = ""
    notebooks: int = 0

    @classmethod
    def read(cls, site: Path) -> BuildRecord:
        """The record of a site; an empty one if there is none."""
        try:
            return cls(**json.loads((site / "build.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return cls()

    def write(self, site: Path) -> None:
        """Put the record into a site."""
        (site / "build.json").write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")


def publishing_settings() -> dict[str, str]:
    """The settings that a publishing workflow may give: where the site and its source live."""
    names = ("MOMAB_BASEURL", "MOMAB_REPOSITORY")
    return {name: os.environ.get(name, "") for name in names}


def digest_inputs(project: Project, profile: str, assignments: Iterable[str], edition: str) -> str:
    """A digest of all files and settings that a build depends on."""
    settings = [profile, list(assignments), edition, publishing_settings(), sys.version_info[:3]]
    settings.append(data_dates())
    digest = hashlib.sha256(json.dumps(settings).encode())
    for path in _files(project, profile):
        content = path.read_bytes() if path.is_file() else b""
        name = os.path.relpath(path, project.root)
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files(project: Project, profile: str) -> Iterator[Path]:
    """Every file that a build reads, each once and in a fixed order."""
    root = project.root
    found = {root / name for name in ("_config.yml", "_toc.yml", "requirements.txt")}
    found.add(project.profile(profile))
    for folder in (project.library, root / "book", root / "notebooks", root / "proofs"):
        for parent, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if name not in ("__pycache__", ".ipynb_checkpoints")]
            found |= {Path(parent, name) for name in names if Path(name).suffix not in _CACHES}
    for page in (root / "notebooks").glob("*.md"):
        found |= set(_declared(page))
    yield from sorted(found)


def _declared(page: Path) -> Iterator[Path]:
    """The files that a notebook's header declares as inputs."""
    header = _HEADER.match(page.read_bytes())
    if header and b"\nmomab:" in header[0]:
        import yaml

        try:
            patterns = yaml.safe_load(header[1])["momab"]["inputs"]
        except (yaml.YAMLError, KeyError, TypeError):
            return  # reading the notebook says what is wrong
        for pattern in patterns:
            yield from page.parent.glob(str(pattern))
