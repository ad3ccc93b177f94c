"""The checkout that holds the book: where its files are, and in which order its pages come.

A page is ``notebooks/<stem>.md`` or ``book/<stem>.md``.  A notebook may have companions beside it,
``<stem>.exercises.md`` and ``<stem>.slides.md`` (see `momab.book.notebook`), so a stem has no dot.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from momab._util.extras import require
from momab._util.files import find_checkout
from momab.errors import MomabError

if TYPE_CHECKING:
    from momab.book.notebook import Notebook


@dataclass(frozen=True)
class Project:
    """Where things are: the checkout that holds the book."""

    root: Path
    library: Path = field(default_factory=lambda: Path(__file__).parents[1])

    @property
    def build(self) -> Path:
        """Everything that is made, and may be deleted."""
        return self.root / "_build"

    @property
    def profiles(self) -> Path:
        """The profiles that come with the book."""
        return self.root / "book" / "profiles"

    def profile(self, name: str) -> Path:
        """The file of a profile: one that comes with the book, or else the path as it was given."""
        path = self.profiles / f"{name}.yml"
        return path if path.is_file() else Path(name)

    @cached_property
    def lock(self) -> str:
        """A digest of the pinned requirements."""
        path = self.root / "requirements.txt"
        return hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()

    @cached_property
    def names(self) -> list[str]:
        """The notebooks, in the order of their names; companions are none."""
        found = (path.stem for path in (self.root / "notebooks").glob("*.md"))
        return sorted(stem for stem in found if "." not in stem)

    @cached_property
    def pages(self) -> list[str]:
        """The pages of the book, in the order of its contents."""
        from momab._util.yaml_files import read_yaml
        from momab.book.toc import Contents

        contents = read_yaml(self.root / "_toc.yml", Contents, "_toc.yml")
        return [Path(page).name for page in contents.files]

    @property
    def notebook_pages(self) -> list[str]:
        """The notebooks that are pages of the book; the rest are drafts."""
        return [name for name in self.names if name in self.pages]

    @classmethod
    def find(cls, start: Path | None = None) -> Project:
        """The project around a folder, by default around the current one."""
        if folder := find_checkout(start):
            require("book", "the book")
            return cls(folder)
        raise MomabError(
            "this command works inside a checkout of the book, "
            "in or below the folder that holds _toc.yml and notebooks/; "
            "a handout runs with other values if you change its cell of parameters."
        )

    def notebook(self, name: str) -> Notebook:
        """Read one notebook."""
        from momab.book.notebook import Notebook

        short = Path(name).stem
        if short not in self.names:
            raise MomabError(f"no notebook {name!r}; there are {', '.join(self.names)}.")
        return Notebook.read(self.root / "notebooks" / f"{short}.md")
