"""Which modules of the library a notebook needs, and a digest of their files.

The cache must re-execute a notebook when the library behind it has changed.  A notebook needs the
modules that its code names, ``from momab.chapters import price`` or ``momab.simulate``, and all
that these import in turn, which `grimp` reads off the sources.  Any change of a file counts, words
included.  Where the source cannot tell, the answer errs on the side of more:

- code that imports or evaluates by name, or is no plain Python, needs the whole package;
- a module that imports by name needs all of the package in which it lies;
- a module that names a folder of data files in quotes counts with these files.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

_BY_NAME = re.compile(
    r"\b(?:import_module|__import__|eval|exec|subprocess|get_ipython)\b|^[%!]\w", re.M
)


class Library:
    """The sources of one package, asked what a notebook needs of them."""

    def __init__(self, folder: Path) -> None:
        """Read no file yet; ``folder`` is the package, its name the import name."""
        self.folder = folder
        self.package = folder.name

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The source of every module."""
        found = {}
        for path in sorted(self.folder.rglob("*.py")):
            if path.with_name("__init__.py").is_file():  # other files are handed out
                parts = path.relative_to(self.folder.parent).with_suffix("").parts
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                found[name] = path.read_text(encoding="utf-8")
        return found

    @cached_property
    def _graph(self) -> Any:
        """Who imports whom."""
        import grimp

        with _importable(self.folder.parent):
            return grimp.build_graph(
                self.package, cache_dir=None, exclude_type_checking_imports=True
            )

    @cached_property
    def _public(self) -> dict[str, str]:
        """The names that the package loads when they are used, and where they are defined."""
        return dict(re.findall(r'"(\w+)": "([\w.]+)"', self._texts[self.package]))

    def needs(self, code: str) -> set[str]:
        """The modules that the code reaches."""
        if _BY_NAME.search(code):
            return set(self._texts)
        todo = {module for name in self._named(code) for module in self._run_by(name)}
        seen: set[str] = set()
        while todo:
            module = todo.pop()
            seen.add(module)
            todo |= self._imported(module) - seen
        return seen

    def _named(self, code: str) -> Iterator[str]:
        """What the code names of the package, as in "momab.chapters.price"."""
        yield from re.findall(rf"\b{self.package}(?:\.\w+)*", code)
        imports = rf"\bfrom ({self.package}[\w.]*) import (\([^)]*\)|.*)"
        for module, names in re.findall(imports, code):
            for name in re.findall(r"\w+|\*", names):
                yield f"{module}.{name}"
                if name == "*":
                    yield from (f"{module}.{public}" for public in self._public)

    def _run_by(self, name: str) -> Iterator[str]:
        """The modules that ``a.b.c`` runs: a, a.b and a.b.c, and what defines a public name."""
        parts = name.split(".")
        if parts[1:] and parts[1] in self._public:
            yield from self._run_by(self._public[parts[1]])
        for n in range(1, len(parts) + 1):
            if (module := ".".join(parts[:n])) in self._texts:
                yield module

    def _imported(self, module: str) -> set[str]:
        """What a module imports, and the packages in which it lies."""
        found = {*self._graph.find_modules_directly_imported_by(module), *self._run_by(module)}
        if "import_module(" in self._texts[module] and module != self.package:
            is_package = any(name.startswith(f"{module}.") for name in self._texts)
            package = module if is_package else module.rpartition(".")[0]
            found |= {name for name in self._texts if name.startswith(f"{package}.")}
        return found

    def fingerprint(self, code: str) -> str:
        """A digest of everything that the code needs of this package, data files included."""
        digest = hashlib.sha256()
        files: set[Path] = set()
        for module in sorted(self.needs(code)):
            digest.update(f"{module}\0{self._texts[module]}\0".encode())
            files |= set(self._files(module))
        for path in sorted(files):
            digest.update(path.relative_to(self.folder).as_posix().encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def _files(self, module: str) -> Iterator[Path]:
        """The data files in the folders, of the package or beside the module, that it names."""
        beside = self.folder.joinpath(*module.split(".")[1:])
        for top in {self.folder, beside, beside.parent}:
            for folder in top.iterdir() if top.is_dir() else ():
                if f'"{folder.name}"' in self._texts[module]:
                    found = folder.rglob("*") if not (folder / "__init__.py").is_file() else ()
                    yield from (path for path in found if path.is_file())

    def reads_data(self, code: str) -> bool:
        """Whether the code reaches what looks for data sets."""
        return any(name.endswith("._util.datafiles") for name in self.needs(code))


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a package in this folder be found by its name."""
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
