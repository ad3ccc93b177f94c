"""The command `momab verify`: are the recorded results and a built site what they were?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from momab.cli.terminal import AsJson, print_json, short
from momab.errors import MomabError

if TYPE_CHECKING:
    from momab._util.manifest import FileState


def verify_command(
    site: Annotated[
        Path | None,
        typer.Option(help="The folder of a built site; _build/html and student if absent."),
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Write the manifest of the results anew.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare recorded results and built pages with their manifests; exit code 1 if they differ.

    The digests of results, and of what else is committed though a program made it, stand in
    momab/data/manifest.json; those of a site's pages and figures in its own manifest.json, which
    the build writes. Nothing is computed again: that is `momab reproduce all --check`.
    """
    from momab._util import manifest

    if record:
        path = manifest.write_manifest(manifest.MANIFEST, manifest.package_digests())
        if not as_json:
            print(f"recorded: {short(path)}")
    root = manifest.PACKAGE.parent
    checked = {"recorded": manifest.verify_package() + _proofs(root / "proofs")}
    if site is not None and not site.is_dir():
        raise MomabError(f"{site} is no folder; `momab book` builds a site.")
    for folder in [site] if site is not None else _sites(root):
        checked[short(folder.absolute())] = manifest.verify_site(folder)
    if as_json:
        print_json({"of": of, **asdict(state)} for of, found in checked.items() for state in found)
    else:
        for of, found in checked.items():
            _say(of, found)
    if any(one.state != manifest.SAME for found in checked.values() for one in found):
        raise SystemExit(1)


def _sites(root: Path) -> list[Path]:
    """The sites that were built in a checkout and have a manifest."""
    built = [root / "_build" / name for name in ("html", "student")]
    return [folder for folder in built if (folder / "manifest.json").is_file()]


def _proofs(folder: Path) -> list[FileState]:
    """Whether the formal proofs, where they are, are those that the record is about."""
    from momab._util.manifest import compare

    if not folder.is_dir():  # a wheel, which may not know of proofs
        return []
    from momab.book.proofs import RECORD, digest, read_record

    name = f"the proofs that {folder.name}/{RECORD} is about"
    return compare({name: read_record(folder).digest}, {name: digest(folder)})


def _say(of: str, found: Sequence[FileState]) -> None:
    """Print what is not as recorded, and how much is."""
    from momab._util.manifest import SAME

    for one in found:
        if one.state != SAME:
            print(f"{of}: {one.file} {one.state}")
    same = sum(one.state == SAME for one in found)
    print(f"{of}: {same} of {len(found)} files are as recorded")
