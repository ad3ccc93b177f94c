"""The library's own pages: ``{package} momab.engine`` documents the modules of a package.

They are made from the docstrings, one section per module, its members folded; modules whose name
begins with an underscore are private and left out.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import NumpyDocstring
from sphinx.util.docutils import SphinxDirective

from momab.book.sphinx.statements import fold, fold_summary


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("package", Package)
    app.connect("autodoc-process-signature", _plain_defaults)
    app.connect("autodoc-process-docstring", _said_by_the_page, priority=300)
    app.connect("autodoc-process-docstring", _said_by_python, priority=300)
    app.connect("autodoc-process-docstring", _plain_signs, priority=400)
    app.connect("autodoc-process-docstring", _numpy_sections)  # makes markup of its own
    app.connect("missing-reference", _named_in_code)
    app.connect("doctree-resolved", _names_as_code)


def modules(package: str) -> Iterator[str]:
    """The package (if it says anything itself), and its public modules in order."""
    found = importlib.import_module(package)
    yield package
    if not hasattr(found, "__path__"):
        return
    for module in sorted(pkgutil.iter_modules(found.__path__), key=lambda each: each.name):
        if not module.name.startswith("_"):
            name = f"{package}.{module.name}"
            yield from modules(name) if module.ispkg else [name]


# What pydantic, docutils and Jinja say of their own attributes; and a field whose default is a
# function, which would pass for a method.
_NOT_OURS = (
    *("model_config", "has_content", "required_arguments", "optional_arguments"),
    *("final_argument_whitespace", "option_spec", "tags", "same"),
)


class Package(SphinxDirective):
    """``{package} momab.engine``: a section for each of its modules, or of those in ``only``."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"only": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Let autodoc document the package and each of its modules."""
        first, *rest = modules(self.arguments[0])
        if only := self.options.get("only", "").split():
            rest = [name for name in rest if name.removeprefix(f"{first}.") in only]
        sections = []
        for name in rest:
            section = nodes.section("", nodes.title("", name), ids=[nodes.make_id(name)])
            section["names"] = [nodes.fully_normalize_name(name)]
            section["classes"] = ["module"]
            section += _folded(self._documented(name))
            sections.append(section)
        return [*self._documented(first), *sections]

    def _documented(self, name: str) -> list[nodes.Node]:
        options = ":members:", ":ignore-module-all:", f":exclude-members: {', '.join(_NOT_OURS)}"
        indented = "\n".join(f"   {option}" for option in options)
        text = f"```{{eval-rst}}\n.. automodule:: {name}\n{indented}\n```"
        place = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), name), 0, place)
        return list(place.children)


def _folded(found: list[nodes.Node]) -> list[nodes.Node]:
    """What a module says of itself, then its members in a fold that lists their names."""
    members = [node for node in found if isinstance(node, addnodes.desc | addnodes.index)]
    names = [
        str(node[0].get("fullname", "")) for node in members if isinstance(node, addnodes.desc)
    ]
    if not names:
        return found
    summary = fold_summary("", "", nodes.literal(text=names[0]))
    for name in names[1:]:
        summary += [nodes.Text(", "), nodes.literal(text=name)]
    return [
        *(node for node in found if node not in members),
        fold("", summary, *members, classes=["members"]),
    ]


def _names_as_code(app: Sphinx, tree: nodes.document, page: str) -> None:
    """In a docstring `this` is a name of the library, not the title of a book."""
    for name in list(tree.findall(nodes.title_reference)):
        name.replace_self(nodes.literal("", "", *name.children))


_CONFIG: Any = Config(napoleon_use_param=False, napoleon_use_rtype=False)


def _numpy_sections(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Read the sections of NumPy-style docstrings: Parameters, Returns, Raises.

    The extension around napoleon would take "shape: what for" at an attribute for a type.
    """
    if what not in ("attribute", "data", "property"):
        lines[:] = NumpyDocstring(lines, _CONFIG, app, what, name, thing, options).lines()


def _said_by_the_page(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """The page of a package introduces it, so that its docstring would say the same again."""
    if what == "module" and name.count(".") == 1 and hasattr(thing, "__path__"):
        lines.clear()


def _said_by_python(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Python says of a named tuple's field which number it has, where we say nothing."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


_DEFAULTS = (
    (re.compile(r", _\w+=[^,)]*"), ""),  # private fields
    (re.compile(r"<factory>|<function [^ >]*<lambda>>|lambda[^:]*: \.\.\."), "..."),
    (re.compile(r"<function (\w+)>"), r"\1"),
)


def _plain_defaults(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """Defaults as one would write them: functions by their name, or as dots if they have none."""
    if not signature:
        return None
    for default, plain in _DEFAULTS:
        signature = default.sub(plain, signature)
    return signature, returns


_CODE = re.compile(r"(``.*?``|:math:`.*?`)")
_SIGNS = re.compile(r"\*\||\||(?<=\S )\*(?=[ ,])")


def _plain_signs(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """In a docstring |A*| is a size and a * b a product, never markup; literal blocks stay."""
    literal = False
    for number, line in enumerate(lines):
        if line.strip() and not line.startswith(" "):
            literal = line.endswith("::")
        elif literal:
            continue
        parts = _CODE.split(line)
        parts[::2] = [_SIGNS.sub(_escape, part) for part in parts[::2]]
        lines[number] = "".join(parts)


def _escape(match: re.Match[str]) -> str:
    return "".join("\\" + sign for sign in match[0])


def _named_in_code(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Resolve a name of the library that is documented where it is defined, or not at all."""
    if node.get("refdomain") != "py":
        return None
    if node["reftarget"].startswith("momab."):
        return _defined_elsewhere(app, env, node, content)
    if not (module := node.get("py:module")):
        return None
    owner: Any = importlib.import_module(module)
    target, kind = node["reftarget"], getattr(owner, node.get("py:class") or "", None)
    if hasattr(owner, target) or hasattr(kind, target):
        return content
    is_set = kind is not None and f"self.{target} " in inspect.getsource(kind)
    return content if is_set else None


def _module_and_rest(name: str) -> tuple[str, list[str]]:
    """The module that a dotted name begins with, and the names that follow."""
    path, rest = name, list[str]()
    while True:
        try:
            importlib.import_module(path)
            return path, rest
        except ModuleNotFoundError:
            path, _, last = path.rpartition(".")
            rest.insert(0, last)


def _defined_elsewhere(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Lead ``momab.simulate``, which a package hands on, to the module that defines it."""
    path, parts = _module_and_rest(node["reftarget"])
    thing = getattr(importlib.import_module(path), parts[0], None) if parts else None
    home = getattr(thing, "__module__", path)
    if thing is None or (home == path and "._" not in path):
        return None
    if "._" in home:  # private, so it has no page
        return content
    name = ".".join([home, *parts])
    python, page = env.get_domain("py"), node["refdoc"]
    return python.resolve_xref(env, page, app.builder, node["reftype"], name, node, content)
