"""The table of contents: its pages in order, and its forms for a staged book."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from momab._util.yaml_files import Open


class Entry(Open):
    """A page, or a part with a caption, and the pages below it."""

    file: str | None = None
    chapters: tuple[Entry, ...] = ()
    sections: tuple[Entry, ...] = ()

    @property
    def files(self) -> Iterator[str]:
        """Its pages, in order."""
        if self.file is not None:
            yield self.file
        for entry in (*self.chapters, *self.sections):
            yield from entry.files


class Contents(Open):
    """What we read of ``_toc.yml``; the rest of it is Sphinx's."""

    root: str
    parts: tuple[Entry, ...] = ()
    chapters: tuple[Entry, ...] = ()
    sections: tuple[Entry, ...] = ()

    @property
    def files(self) -> Iterator[str]:
        """All pages, in order."""
        yield self.root
        for entry in (*self.parts, *self.chapters, *self.sections):
            yield from entry.files


def flat(entry: Any) -> Any:
    """The table of contents with every page at the root."""
    if isinstance(entry, list):
        return [flat(item) for item in entry]
    if isinstance(entry, dict):
        return {
            key: Path(value).name if key in ("file", "root") else flat(value)
            for key, value in entry.items()
        }
    return entry


def only(entry: Any, pages: Container[str]) -> Any:
    """The table of contents with these pages only, and no empty parts."""
    if isinstance(entry, list):
        kept = [only(item, pages) for item in entry]
        return [item for item in kept if item]
    if isinstance(entry, dict):
        if "file" in entry and entry["file"] not in pages:
            return None
        inner = {key: only(value, pages) for key, value in entry.items()}
        if inner.get("chapters") == []:
            del inner["chapters"]
            return inner if "file" in inner or "root" in inner else None
        return inner
    return entry
