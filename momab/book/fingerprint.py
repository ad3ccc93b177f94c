"""A digest of the library behind a notebook, which must run again when that has changed.

Everything counts that a page can import, words and data files included, but for two kinds of
modules: the packages above the pages, and what belongs to another chapter, that is a module of
``chapters`` or of ``exercises`` whose name the code does not have in it.  The data sets of this
machine count, too, because a page also says that they are not there.
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from pathlib import Path

from momab._util.datafiles import data_digest
from momab._util.files import file_digest

_ABOVE = {"book", "course", "serve", "cli"}
_BY_CHAPTER = {"chapters", "exercises"}
_SHARED = {"core", "draws"}  # by the chapters, with modules whose names begin with a line


class Library:
    """The files of one package, read once."""

    def __init__(self, folder: Path) -> None:
        """Read no file yet; ``folder`` is the package."""
        self.folder = folder

    @cached_property
    def _digests(self) -> dict[Path, str]:
        """The digest of every file that counts for some page, by its place in the package."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            place = path.relative_to(self.folder)
            if path.is_file() and "__pycache__" not in place.parts and place.parts[0] not in _ABOVE:
                found[place] = file_digest(path)
        return found

    @cached_property
    def _data(self) -> str:
        return data_digest()

    def fingerprint(self, code: str) -> str:
        """A digest of everything that the code may need."""
        names = set(re.findall(r"\w+", code))
        digest = hashlib.sha256(self._data.encode())
        for place, content in self._digests.items():
            one_chapter = len(place.parts) == 2 and place.parts[0] in _BY_CHAPTER
            shared = place.stem.startswith("_") or place.stem in _SHARED
            if not one_chapter or shared or place.stem in names:
                digest.update(f"{place.as_posix()}\0{content}\0".encode())
        return digest.hexdigest()
