"""Which modules of the library a notebook needs, and a digest of them.

The cache must re-execute a notebook when the library behind it has changed, and only then.  What a
notebook needs are the modules that its code imports, the modules behind the public names of
``momab`` that it uses, the module of its cell magics, and everything that these modules import in
turn.  Who imports whom is read by `grimp`, without running anything.  Comments, docstrings, layout
and function annotations do not count, so a change of words re-executes nothing.

Where the source cannot tell, the answer errs on the side of more:

- a notebook that imports, evaluates or shells out by name needs the whole package, and so does a
  module that imports by name;
- a module that discovers its package with `pkgutil` and imports what it finds needs all of that
  package;
- a module that reads data files counts with the files in the folders that it names.

The package loads its public names lazily from the table ``PUBLIC`` in its ``__init__``; that table
is followed name by name.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

_BY_NAME = {"import_module", "__import__", "eval", "exec", "get_ipython", "subprocess"}
_IMPORTERS = {"import_module", "__import__"}
_DISCOVERERS = {"iter_modules", "walk_packages"}
_FILES = {"__file__", "resources", "PackageLoader"}
_NOT_DATA = {".py", ".pyc", ".nbi", ".nbc"}


class _Strip(ast.NodeTransformer):
    """Remove what cannot change a result: docstrings and function annotations."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for argument in [*every, node.args.vararg, node.args.kwarg]:
            if argument is not None:
                argument.annotation = None
        return self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        return self._without_docstring(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.generic_visit(node)
        node.body = [statement for statement in node.body if not _is_text(statement)]
        return node

    @staticmethod
    def _without_docstring(node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _words(tree: ast.AST) -> set[str]:
    """All names and attributes that some code mentions."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.alias):
            found |= set(node.name.split("."))
    return found


def _chains(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """The parts of every ``a.b.c`` that starts from a name, each as long as it goes."""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if id(node) in inner:
            continue
        parts: list[str] = []
        walker: ast.AST = node
        while isinstance(walker, ast.Attribute):
            parts.append(walker.attr)
            walker = walker.value
        if isinstance(walker, ast.Name):
            yield (walker.id, *reversed(parts))


class Library:
    """The sources of one package, asked what a notebook needs of them."""

    def __init__(self, folder: Path) -> None:
        """Read no file yet; ``folder`` is the package, its name the import name."""
        self.folder = folder
        self.package = folder.name
        self._trees: dict[str, ast.Module] = {}
        self._digests: dict[str, bytes] = {}
        self._behind: dict[str, frozenset[str]] = {}

    @classmethod
    def of(cls, folder: Path) -> Library:
        """The package as it stands: the same object until a file changes, for who asks again."""
        stands = [(path, path.stat()) for path in folder.rglob("*.py")]
        return _as_it_stands(folder, frozenset((p, s.st_mtime_ns, s.st_size) for p, s in stands))

    @cached_property
    def _paths(self) -> dict[str, Path]:
        found = {}
        for path in sorted(self.folder.rglob("*.py")):
            if not path.with_name("__init__.py").is_file():  # a file that we hand out
                continue
            parts = path.relative_to(self.folder.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        return found

    @cached_property
    def _graph(self) -> Any:
        """Who imports whom; building it takes less time than reading a stored one."""
        import grimp

        with _importable(self.folder.parent):
            return grimp.build_graph(
                self.package, cache_dir=None, exclude_type_checking_imports=True
            )

    @cached_property
    def _public(self) -> dict[str, str]:
        """The lazily loaded names of the package, and the modules that define them."""
        for statement in self._tree(self.package).body:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "PUBLIC":
                return dict(ast.literal_eval(statement.value))
        return {}

    def _tree(self, module: str) -> ast.Module:
        """A module without what cannot change a result."""
        if module not in self._trees:
            tree = ast.parse(self._paths[module].read_text(encoding="utf-8"))
            self._trees[module] = _Strip().visit(tree)
        return self._trees[module]

    def _mentions(self, module: str, words: set[str]) -> bool:
        """Whether a module's code uses one of these names."""
        text = self._paths[module].read_text(encoding="utf-8")
        return any(word in text for word in words) and bool(_words(self._tree(module)) & words)

    def needs(self, code: str) -> set[str]:
        """The modules that the code reaches."""
        tree = ast.parse(code)
        if _words(tree) & _BY_NAME:
            return set(self._paths)
        seen: set[str] = set()
        queue = list(self._named(tree))
        while queue:
            module = queue.pop()
            if module not in seen:
                seen.add(module)
                queue += self._next(module)
        return seen

    def _next(self, module: str) -> frozenset[str]:
        """What a module needs: what it imports, the packages it lies in, what it finds by name."""
        if module not in self._behind:
            found = set(self._graph.find_modules_directly_imported_by(module))
            if self.package in found:  # perhaps for its lazily loaded names
                found |= self._named(self._tree(module))
            if module != self.package and self._mentions(module, _IMPORTERS):
                found |= self._found_by_name(module, self._mentions(module, _DISCOVERERS))
            found |= set(self._with_packages(module))
            self._behind[module] = frozenset(found)
        return self._behind[module]

    def _found_by_name(self, module: str, discovers: bool) -> set[str]:
        """All modules, or if the module discovers them, those of its own package."""
        if not discovers:
            return set(self._paths)
        is_package = self._paths[module].name == "__init__.py"
        package = module if is_package else module.rpartition(".")[0]
        return {name for name in self._paths if name.startswith(f"{package}.")}

    def _with_packages(self, dotted: str) -> Iterator[str]:
        """The modules that importing ``a.b.c`` runs: a, a.b and a.b.c, as far as they exist."""
        parts = dotted.split(".")
        for n in range(1, len(parts) + 1):
            if (name := ".".join(parts[:n])) in self._paths:
                yield name

    def _named(self, tree: ast.AST) -> set[str]:
        """The modules of the package that some code names in its imports and attributes."""
        found: set[str] = set()
        roots = {self.package}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found |= set(self._with_packages(alias.name))
                    if alias.name == self.package and alias.asname:
                        roots.add(alias.asname)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    found |= self._member(node.module or "", alias.name)
        if found:
            for chain in _chains(tree):
                if chain[0] in roots:
                    found |= self._reached(chain[1:])
        return found

    def _member(self, module: str, name: str) -> set[str]:
        """What ``from module import name`` runs."""
        found = set(self._with_packages(f"{module}.{name}"))
        if module == self.package:
            wanted = self._public if name == "*" else {name}
            found |= {self._public[n] for n in wanted if n in self._public}
        return found

    def _reached(self, names: tuple[str, ...]) -> set[str]:
        """What ``momab.a.b`` stands for; ``momab`` itself, used as a thing, is all it offers."""
        if not names:
            return set(self._public.values())
        found = set(self._with_packages(".".join((self.package, *names))))
        return found | ({self._public[names[0]]} if names[0] in self._public else set())

    def fingerprint(self, code: str) -> str:
        """A digest of everything that the code needs of this package, data files included."""
        digest = hashlib.sha256()
        files: set[Path] = set()
        for module in sorted(self.needs(code)):
            digest.update(f"{module}\0".encode() + self._digest(module))
            files |= self._files(module)
        for path in sorted(files):
            digest.update(path.relative_to(self.folder).as_posix().encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def reads_data(self, code: str) -> bool:
        """Whether the code reaches what looks for data files."""
        return any(name.endswith("._util.datafiles") for name in self.needs(code))

    def _digest(self, module: str) -> bytes:
        if module not in self._digests:
            text = ast.dump(self._tree(module))
            self._digests[module] = hashlib.sha256(text.encode()).digest()
        return self._digests[module]

    def _files(self, module: str) -> set[Path]:
        """The data files that a module reads: those in the folders it names, or all."""
        if not self._mentions(module, _FILES):
            return set()
        body = self._tree(module).body
        constants = {
            target.id: _texts(statement)
            for statement in body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        found: set[Path] = set()
        for statement in body:
            words = _words(statement)
            if words & _FILES and not isinstance(statement, ast.Import | ast.ImportFrom):
                texts = _texts(statement).union(*(constants.get(word, set()) for word in words))
                found |= self._below(self._paths[module].parent, texts)
        return found

    def _below(self, beside: Path, texts: set[str]) -> set[Path]:
        """The data files in the folders and files that the texts name, or in all."""
        if any(text.endswith(".py") for text in texts):
            return set()  # it looks at code, which counts anyway
        tops = [self.folder, beside]
        while named := [
            p for top in tops if top.is_dir() for p in top.iterdir() if p.name in texts
        ]:
            tops = named
        if tops == [self.folder, beside]:
            tops = [self.folder]
        found = [path for top in tops for path in (top, *top.rglob("*"))]
        return {path for path in found if path.is_file() and path.suffix not in _NOT_DATA}


@lru_cache(maxsize=1)
def _as_it_stands(folder: Path, _files: frozenset[tuple[Path, int, int]]) -> Library:
    return Library(folder)


def _texts(tree: ast.AST) -> set[str]:
    """The words of all texts in some code, cut at slashes."""
    return {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for part in node.value.split("/")
    }


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let a package in this folder be found by its name."""
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def code_of_cells(sources: Iterable[str], package: str = "momab") -> str:
    """The code cells of a notebook as one Python text, in which `Library.needs` can look.

    A cell of prose, a figure or a table needs the module of the magics, its expression, and the
    public names that its text mentions.
    """
    return "\n".join(_plain_code(source, package) or _transformed(source) for source in sources)


def _transformed(source: str) -> str:
    """A cell as Python, its lines of magic as calls of IPython."""
    with suppress(SyntaxError):
        ast.parse(source)
        return source
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


def _plain_code(source: str, package: str) -> str:
    """A cell of one of our magics as Python; '' for any other cell."""
    first, _, text = source.strip().partition("\n")
    match = re.match(r"%%(?:prose|figure|table)\b(.*)", first)
    if match is None:
        return ""
    expression = re.split(r"\s--\w", match[1])[0].strip()
    mentioned = re.findall(rf"\b{package}(?:\.[A-Za-z_]\w*)+", text)
    return "\n".join([f"import {package}.figures.magics", expression, *mentioned])
