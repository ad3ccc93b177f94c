"""Manifests: the SHA-256 digest of every file that must not change unnoticed.

``momab/data/manifest.json`` is committed.  It covers the recorded results, the tables of the paper,
the frozen subsets, and what is compiled or checked elsewhere and committed: the engine of the live
pages and the record of the formal proofs.  A built site has a manifest of its own, written by the
build, because its pages change with every edit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from momab._util.files import write_text
from momab.errors import MomabError

PACKAGE = Path(__file__).parents[1]
MANIFEST = PACKAGE / "data" / "manifest.json"
COMMITTED = ("book/live/engine.wasm", "proofs/checked.json")
"""What a checkout has beside the package's data."""

SITE_MANIFEST = "manifest.json"
_NOT_OF_THE_SITE = (SITE_MANIFEST, "build.json")

SAME, DIFFERS, MISSING, UNKNOWN = "as recorded", "differs", "missing", "not in the manifest"


@dataclass(frozen=True)
class FileState:
    """One file: how it stands, the digest that the manifest has, the one that was computed."""

    file: str
    state: str
    expected: str = ""
    found: str = ""


def file_digest(path: Path) -> str:
    """The SHA-256 digest of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests(root: Path, files: Iterable[Path]) -> dict[str, str]:
    """The digests of some files, by their paths below ``root``, sorted."""
    return {path.relative_to(root).as_posix(): file_digest(path) for path in sorted(files)}


def package_digests(package: Path = PACKAGE) -> dict[str, str]:
    """The digests of the package's data, and in a checkout of what is committed beside it."""
    root = package.parent
    files = [
        path
        for path in (package / "data").rglob("*")
        if path.is_file() and path.name != MANIFEST.name and not path.name.startswith(".")
    ]
    if _is_checkout(root):
        files += [root / name for name in COMMITTED if (root / name).is_file()]
    return digests(root, files)


def site_digests(site: Path) -> dict[str, str]:
    """The digests of all pages, figures and other files of a site."""
    skipped = {site / name for name in _NOT_OF_THE_SITE}
    return digests(site, (p for p in site.rglob("*") if p.is_file() and p not in skipped))


def write_manifest(path: Path, found: Mapping[str, str]) -> Path:
    """Write a manifest."""
    return write_text(path, json.dumps({"sha256": dict(found)}, indent=1) + "\n")


def read_manifest(path: Path) -> dict[str, str]:
    """Read a manifest."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["sha256"]
        return {str(name): str(digest) for name, digest in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise MomabError(f"{path} is missing, or is no manifest of ours.") from None


def compare(expected: Mapping[str, str], found: Mapping[str, str]) -> list[FileState]:
    """Every file of a manifest or of the disk, and whether the two agree, in order of names."""
    states = []
    for name in sorted({*expected, *found}):
        old, new = expected.get(name, ""), found.get(name, "")
        state = SAME if old == new else MISSING if not new else UNKNOWN if not old else DIFFERS
        states.append(FileState(name, state, old, new))
    return states


def verify_package(package: Path = PACKAGE) -> list[FileState]:
    """Compare the package's data, and a checkout's artefacts, with the committed manifest."""
    expected = read_manifest(package / "data" / MANIFEST.name)
    if not _is_checkout(package.parent):  # a wheel has the package alone
        expected = {name: of for name, of in expected.items() if name not in COMMITTED}
    return compare(expected, package_digests(package))


def verify_site(site: Path) -> list[FileState]:
    """Compare a built site with the manifest that its build wrote."""
    return compare(read_manifest(site / SITE_MANIFEST), site_digests(site))


def _is_checkout(root: Path) -> bool:
    return (root / "_toc.yml").is_file()
