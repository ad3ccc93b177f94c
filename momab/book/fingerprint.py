"""Which parts of the library a notebook needs, read off its code.

The cache must re-execute a notebook when a library function it uses has changed, and only
then.  So the dependency is followed definition by definition: from the names that the
notebook's cells use, to the top-level functions, classes and assignments of `momab` behind
them, to the names that those use, and so on.  It is read from the syntax tree, without running
anything.  Comments, docstrings, layout and function annotations do not count.

Where the syntax tree cannot tell, the answer errs on the side of more: a module that is used
other than by ``module.name`` is needed whole; code that imports, evaluates or shells out by
name needs the whole package; a module's top-level statements that define nothing always run,
so they always count; a class counts with all its methods.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

_BY_NAME = {"import_module", "__import__", "eval", "exec", "get_ipython", "subprocess"}
_FILES = {"__file__", "resources"}


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

    @staticmethod
    def _without_docstring(node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node


@dataclass
class _Names:
    """What a piece of code refers to."""

    dotted: set[tuple[str, ...]] = field(default_factory=set)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    stars: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, nodes: Iterable[ast.AST]) -> _Names:
        names = cls()
        for node in nodes:
            inner = {
                id(child.value) for child in ast.walk(node) if isinstance(child, ast.Attribute)
            }
            for child in ast.walk(node):
                if isinstance(child, ast.Import | ast.ImportFrom):
                    names.add_import(child)
                elif id(child) not in inner and (chain := _chain(child)):
                    names.dotted.add(chain)
        return names

    def add_import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                self.imports[alias.asname or whole] = (whole, None)
            return
        for alias in node.names:
            if alias.name == "*":
                self.stars.add(node.module or "")
            else:
                self.imports[alias.asname or alias.name] = (node.module or "", alias.name)


def _chain(node: ast.AST) -> tuple[str, ...]:
    """The parts of ``a.b.c``, as far as they start from a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


class _Module:
    """One source file, cut into its top-level definitions."""

    def __init__(self, path: Path) -> None:
        tree = _Strip().visit(ast.parse(path.read_text(encoding="utf-8")))
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.always: list[ast.stmt] = []
        self.imports: dict[str, tuple[str, str | None]] = {}
        self.stars: set[str] = set()
        for statement in tree.body:
            names = _Names.of([statement])
            is_import = isinstance(statement, ast.Import | ast.ImportFrom)
            bound = set(_bound(statement))
            if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                self.imports.update(names.imports)
                self.stars |= names.stars
            for name in bound:
                self.definitions.setdefault(name, []).append(statement)
            for name in _registered_for(statement):
                self.definitions.setdefault(name, []).append(statement)
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not bound and not is_import and not is_text:
                self.always.append(statement)


def _registered_for(statement: ast.stmt) -> Iterator[str]:
    """The names in the arguments of a definition's decorators.

    ``@selection(WidthGuided)`` makes the function under it a part of what WidthGuided means.
    """
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        for decorator in statement.decorator_list:
            if isinstance(decorator, ast.Call):
                for argument in [*decorator.args, *(k.value for k in decorator.keywords)]:
                    yield from (n.id for n in ast.walk(argument) if isinstance(n, ast.Name))


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a top-level statement defines (nested functions' own names do not count)."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While):
        for child in ast.iter_child_nodes(statement):
            body = child.body if isinstance(child, ast.ExceptHandler) else [child]
            for inner in body:
                if isinstance(inner, ast.stmt):
                    yield from _bound(inner)
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


class Library:
    """The sources of one package, asked what a notebook needs of them."""

    def __init__(self, folder: Path) -> None:
        """Read no file yet; ``folder`` is the package, its name the import name."""
        self.folder = folder
        self.package = folder.name
        self._modules: dict[str, _Module] = {}

    @cached_property
    def _paths(self) -> dict[str, Path]:
        found = {}
        for path in sorted(self.folder.rglob("*.py")):
            parts = path.relative_to(self.folder.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        return found

    def _module(self, name: str) -> _Module:
        if name not in self._modules:
            self._modules[name] = _Module(self._paths[name])
        return self._modules[name]

    def needs(self, code: str) -> set[tuple[str, str]]:
        """The (module, definition) pairs that the code reaches; definition '' is a whole module's
        own top-level statements.
        """
        tree = _Strip().visit(ast.parse(code))
        names = _Names.of(tree.body)
        seen: set[tuple[str, str]] = set()
        queue: list[tuple[str, str]] = []
        self._follow_imports(names.imports, queue)
        self._follow_names(names, names.imports, "", queue)
        while queue:
            module, name = queue.pop()
            if (module, name) in seen:
                continue
            seen.add((module, name))
            source = self._module(module)
            if name == "":
                self._follow_imports(source.imports, queue)
                inner = _Names.of(source.always)
            elif name == "*":
                own = source.definitions.keys() - source.imports.keys()
                queue += [(module, defined) for defined in own]
                inner = _Names()
            else:
                inner = _Names.of(source.definitions.get(name, ()))
                if name in source.imports:  # defined elsewhere and passed on
                    inner.dotted.add((name,))
            queue.append((module, ""))
            self._follow_names(inner, source.imports | inner.imports, module, queue)
        return {(module, name) for module, name in seen if name != "*"}

    def _follow_imports(
        self, imports: dict[str, tuple[str, str | None]], queue: list[tuple[str, str]]
    ) -> None:
        """Queue the top-level statements of every module that an import runs."""
        for source, attribute in imports.values():
            for module in (source, f"{source}.{attribute}"):
                parts = module.split(".")
                for n in range(1, len(parts) + 1):
                    if (parent := ".".join(parts[:n])) in self._paths:
                        queue.append((parent, ""))

    def _follow_names(
        self,
        names: _Names,
        imports: dict[str, tuple[str, str | None]],
        module: str,
        queue: list[tuple[str, str]],
    ) -> None:
        """Queue the definitions of the package that some code's names lead to."""
        local = self._module(module) if module else None
        queue += [(star, "*") for star in names.stars if star in self._paths]
        for chain in names.dotted:
            head, rest = chain[0], chain[1:]
            if _BY_NAME & set(chain):
                queue += [(every, "*") for every in self._paths]
            source, attribute = imports.get(head, ("", None))
            if source.partition(".")[0] == self.package:
                dotted = (*source.split("."), *([attribute] if attribute else []), *rest)
                queue.append(self._definition(dotted))
            elif local is not None and head in local.definitions:
                queue.append((module, head))
            elif local is not None:
                queue += [(star, head) for star in local.stars if star in self._paths]

    def _definition(self, dotted: tuple[str, ...]) -> tuple[str, str]:
        """What ``momab.module.name`` stands for: a definition, or a whole module ('*')."""
        length = max(n for n in range(1, len(dotted) + 1) if ".".join(dotted[:n]) in self._paths)
        rest = dotted[length:]
        return ".".join(dotted[:length]), rest[0] if rest else "*"

    def fingerprint(self, code: str) -> str:
        """A digest of everything that the code needs of this package, data files included."""
        digest = hashlib.sha256()
        files: set[Path] = set()
        for module, name in sorted(self.needs(code)):
            source = self._module(module)
            statements = source.definitions.get(name, []) if name else source.always
            for statement in statements:
                digest.update(f"{module}\0{name}\0{ast.dump(statement)}\0".encode())
                files |= self._files(statement)
        for path in sorted(files):
            digest.update(path.relative_to(self.folder).as_posix().encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def _files(self, statement: ast.stmt) -> set[Path]:
        """The package's data files that code reads: those in the folders it names, or all."""
        if not any(_FILES & set(chain) for chain in _Names.of([statement]).dotted):
            return set()
        texts = {
            part
            for node in ast.walk(statement)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            for part in node.value.split("/")
        }
        if any(text.endswith(".py") for text in texts):
            return set()  # it looks at code, which counts anyway
        tops = [self.folder]
        while named := [
            p for top in tops if top.is_dir() for p in top.iterdir() if p.name in texts
        ]:
            tops = named
        found = [path for top in tops for path in (top, *top.rglob("*"))]
        code = {".py", ".pyc", ".nbi", ".nbc"}
        return {path for path in found if path.is_file() and path.suffix not in code}
