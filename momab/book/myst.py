"""MyST Markdown read with the book's own parser: which directives a text has, and where.

A directive may stand anywhere that the parser finds one: behind a fence of backticks, tildes or
colons, indented, in a list item or a quotation, inside another directive.  `pieces` cuts a text
into lines and directives, `walk` finds every directive at any depth, each with its place in the
source; `exercises` finds those of a notebook.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, ClassVar

# The extensions of MyST that the book uses, as in _config.yml.
EXTENSIONS = ("amsmath", "colon_fence", "deflist", "dollarmath", "attrs_inline", "attrs_block")
LEVELS = ("warm-up", "standard", "challenge", "research")  # classes of exercises, one each
KINDS = {
    "programming": "programming",
    "words": "in words, too",
    "breaks-hypothesis": "breaks a hypothesis",
}

# Directives whose content is not Markdown.
LITERAL = {"code", "code-block", "code-cell", "sourcecode", "eval-rst", "math", "raw", "mermaid"}


@dataclass(frozen=True)
class Directive:
    """A directive with its options; ``lines`` are its source lines, from fence to fence.

    They are the lines ``start`` to ``end`` (exclusive) of the text; ``body_start`` is the line at
    which its body begins, ``closed`` says whether it has an end of its own.  ``prefix`` is what
    stands before its fence: the marks of the list items and quotations around it.  ``problem``
    says what the parser does not understand.
    """

    name: str
    title: str
    options: dict[str, str]
    body: list[str]
    lines: list[str]
    start: int
    body_start: int
    closed: bool
    prefix: str = ""
    problem: str = ""

    @property
    def end(self) -> int:
        """The line after its last."""
        return self.start + len(self.lines)

    @property
    def classes(self) -> set[str]:
        """The words of its ``class`` option."""
        return set(self.options.get("class", "").replace(",", " ").split())

    @cached_property
    def inner(self) -> list[Directive]:
        """The directives inside it; their places are those in the whole text."""
        if not self.name or self.name in LITERAL:
            return []
        lines = [*self.lines[: self.body_start - self.start], *self.body]
        return list(_directives("\n".join(self.body), self.body_start, lines, self.start))


def _as_it_is(value: str | None) -> str:
    return value or ""


class _AnyDirective:
    """To the parser, a directive that takes any options."""

    required_arguments = 0
    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = defaultdict(lambda: _as_it_is, {"class": _as_it_is})


@cache
def _parser() -> Any:
    """The parser of the book; what stands inside a line is of no interest here."""
    from markdown_it.renderer import RendererHTML
    from myst_parser.config.main import MdParserConfig
    from myst_parser.parsers.mdit import create_md_parser

    config = MdParserConfig(enable_extensions=set(EXTENSIONS))
    return create_md_parser(config, RendererHTML).disable(["inline", "wordcount"])


@lru_cache(maxsize=4096)  # the same texts are asked about again and again
def tokens(text: str) -> tuple[Any, ...]:
    """The blocks of a text as markdown-it's tokens, which are never modified."""
    return tuple(_parser().parse(text, {}))


def _directives(
    text: str, first: int = 0, source: Sequence[str] | None = None, origin: int = 0
) -> Iterator[Directive]:
    """The directives of a text that are not inside other directives.

    The text begins at line ``first`` of a longer one, whose lines from ``origin`` on are
    ``source``.
    """
    source = text.splitlines() if source is None else source
    for token in tokens(text):
        if token.type not in ("fence", "colon_fence"):
            if token.map and (given := token.attrs.get("class")):  # {.given} above a paragraph
                start, end = (line + first for line in token.map)
                lines = list(source[start - origin : end - origin])
                yield Directive("", "", {"class": str(given)}, [], lines, start, end, True)
            continue
        head, _, title = token.info.strip().partition(" ")
        start, end = (line + first - origin for line in token.map)
        if head.startswith("{") and head.endswith("}"):
            name = head[1:-1]
        elif token.type == "colon_fence":  # a plain box, with its name as a class
            name, title = "div", head
        else:
            name = ""
        yield _directive(token, name, title.strip(), list(source[start:end]), start + origin)


def _directive(token: Any, name: str, title: str, lines: list[str], start: int) -> Directive:
    content: str = token.content
    closed = len(lines) >= len(content.splitlines()) + 2
    prefix = lines[0][: lines[0].find(token.markup)] if lines else ""
    problem = ""
    if name:
        options, body, offset, problem = _options_and_body(content)
    else:  # an ordinary code fence
        title, options, body, offset = token.info.strip(), {}, content.splitlines(), 0
    if given := token.attrs.get("class"):
        options = {**options, "class": f"{options.get('class', '')} {given}".strip()}
    if name == "div":
        options = {**options, "class": f"{options.get('class', '')} {title}".strip()}
    below = start + 1 + offset
    return Directive(name, title, options, body, lines, start, below, closed, prefix, problem)


def _options_and_body(content: str) -> tuple[dict[str, str], list[str], int, str]:
    """A directive's options, its body, the number of lines before the body, and what is wrong."""
    from myst_parser.parsers.directives import parse_directive_text

    kind: Any = _AnyDirective
    nested = content.startswith(":::")  # a block, which is no option
    found = parse_directive_text(kind, "", f"\n{content}" if nested else content)
    body, offset = list(found.body), found.body_offset - nested
    while body and not body[0].strip():
        body, offset = body[1:], offset + 1
    options = {name: str(value) for name, value in found.options.items()}
    return options, body, offset, "; ".join(warning.msg for warning in found.warnings)


def pieces(lines: Iterable[str]) -> Iterator[str | Directive]:
    """The lines and the directives of a text, in order.

    What stands inside a directive or an ordinary code fence is not looked at.
    """
    rest = list(lines)
    done = 0
    for directive in _directives("\n".join(rest)):
        if not directive.name:
            continue
        yield from rest[done : directive.start]
        yield directive
        done = directive.end
    yield from rest[done:]


def walk(text: str) -> Iterator[Directive]:
    """Every directive of a text, at any depth: each before those inside it.

    Ordinary code fences and blocks with a class are among them, as directives without a name.
    """
    todo = list(_directives(text))[::-1]
    while todo:
        directive = todo.pop()
        yield directive
        todo += directive.inner[::-1]


def header(text: str) -> dict[str, Any]:
    """What a page says about itself in the block of YAML at its top."""
    import yaml

    first = next(iter(tokens(text)), None)
    if first is None or first.type != "front_matter":
        return {}
    said = yaml.safe_load(first.content)
    return said if isinstance(said, dict) else {}


def without_header(text: str) -> str:
    """A page without the block of YAML at its top."""
    first = next(iter(tokens(text)), None)
    if first is None or first.type != "front_matter":
        return text
    return "\n".join(text.splitlines()[first.map[1] :]).strip() + "\n"


# ---- exercises -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ExerciseText:
    """An exercise as a notebook states it."""

    label: str
    title: str
    classes: frozenset[str]
    body: list[str] = field(repr=False)

    @classmethod
    def of(cls, directive: Directive) -> ExerciseText:
        """The exercise that a directive states."""
        label = directive.options.get("label", "")
        return cls(label, directive.title, frozenset(directive.classes), directive.body)

    @property
    def programming(self) -> bool:
        """Whether `momab.check` checks it."""
        return "programming" in self.classes

    @property
    def words(self) -> bool:
        """Whether it asks for words: all do that `momab.check` does not check, and some others."""
        return not self.programming or "words" in self.classes

    @cached_property
    def _starter_fence(self) -> Directive | None:
        """The last fence of Python in it."""
        found = [d for d in _directives("\n".join(self.body)) if not d.name and d.closed]
        return next((fence for fence in found[::-1] if fence.title == "python"), None)

    @property
    def starter(self) -> tuple[str, str]:
        """The starter's code, and its last line, which is the check; ('', '') without one."""
        if self._starter_fence is None:
            return "", ""
        code, _, check = "\n".join(self._starter_fence.body).rstrip().rpartition("\n")
        return code.rstrip(), check.strip()

    @property
    def question(self) -> list[str]:
        """The text of the exercise without its starter."""
        if (fence := self._starter_fence) is None:
            return self.body
        return [*self.body[: fence.start], *self.body[fence.end :]]

    @property
    def answer_name(self) -> str:
        """The expression that the starter's check line hands in."""
        match = re.fullmatch(r"momab\.check\(\"[\w-]+\",\s*(\w+)\)", self.starter[1])
        return match[1] if match else ""


def exercises_in(text: str) -> list[ExerciseText]:
    """The exercises of a text, in order."""
    return [ExerciseText.of(found) for found in walk(text) if found.name == "exercise"]


def exercises(node: Any) -> list[ExerciseText]:
    """The exercises of a notebook, in order."""
    return [
        exercise
        for cell in node.cells
        if cell.cell_type == "markdown"
        for exercise in exercises_in(cell.source)
    ]
