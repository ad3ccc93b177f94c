"""MyST Markdown as Markdown that every viewer shows: no directives, roles or targets."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator

from momab.book.myst import Directive, pieces
from momab.book.notebook import Node
from momab.book.questions import plain_question

_ROLE = re.compile(r"\{(?P<role>[\w:-]+)\}`(?P<text>[^`]*)`")
_SILENT = {"index", "raw", "bibliography", "glossary", "toctree"}
_SILENT |= {"slide", "fragment", "notes", "solution-end", "live"}
_PARAMETERS = re.compile(
    r"^```\{code-cell\} ipython3\n:tags: \[[^\]]*\bparameters\b.*?^```\n", re.DOTALL | re.MULTILINE
)
_TARGET = re.compile(r"^\([\w-]+\)=\s*$")


CHECK = """\
import momab

momab.parameters.check()  # values outside the ranges above are refused"""


def readable(node: Node) -> Node:
    """The notebook with its MyST directives and roles written as plain Markdown.

    A cell behind the parameters checks them, however they are set.
    """
    node = copy.deepcopy(node)
    node.cells = list(_with_check(node.cells))
    for cell in node.cells:
        if cell.cell_type == "markdown":
            cell.source = plain_markdown(cell.source)
        for output in cell.get("outputs", []):
            if "text/markdown" in output.get("data", {}):
                output.data["text/markdown"] = plain_markdown(output.data["text/markdown"])
    return node


def checked_source(text: str) -> str:
    """A page's source with a cell behind the parameters that checks them."""
    cell = f"```{{code-cell}} ipython3\n{CHECK}\n```\n"
    found = _PARAMETERS.search(text)
    return text if found is None else f"{text[: found.end()]}\n{cell}{text[found.end() :]}"


def _with_check(cells: Iterable[Node]) -> Iterator[Node]:
    """The cells, and behind the one with the parameters one that checks them."""
    from nbformat.v4 import new_code_cell

    for cell in cells:
        yield cell
        if "parameters" in cell.metadata.get("tags", []):
            yield new_code_cell(CHECK, id=f"{cell.id}-check")


def plain_markdown(text: str) -> str:
    """MyST Markdown as Markdown that every viewer shows: no directives, roles or targets."""
    lines = [line for line in text.splitlines() if not _TARGET.match(line)]
    return _ROLE.sub(_plain_role, "\n".join(_plain_blocks(lines))).strip()


def _plain_role(match: re.Match[str]) -> str:
    role, text = match["role"], match["text"]
    if titled := re.fullmatch(r"(.*?)\s*<[^<>]*>", text, flags=re.DOTALL):
        return titled[1]
    if role == "math":
        return f"${text}$"
    if paper := re.fullmatch(r"paper-([a-z]+)-(\d+)", text):
        return f"{paper[1].title()} {paper[2]}"
    if role in ("term", "abbr", "index"):
        return text.partition("(")[0].strip()
    return f"[{text}]" if role.startswith("cite") else f"*{text}*"


def _plain_blocks(lines: list[str]) -> Iterator[str]:
    for piece in pieces(lines):
        if isinstance(piece, str):
            yield piece
            continue
        first = piece.prefix
        for line in _plain_block(piece):
            yield (first + line).rstrip()
            first = "".join(sign if sign in "> " else " " for sign in first)


def _plain_block(piece: Directive) -> Iterable[str]:
    name, title, body = piece.name, piece.title, piece.body
    if name == "math":
        yield from ("$$", *body, "$$")
        return
    if name == "div":
        yield from _plain_blocks(body)
        return
    if name == "question" and body:
        yield from plain_question(piece)
        return
    if name in _SILENT:
        return
    kind = name.rpartition(":")[2].replace("-", " ").capitalize()
    if number := re.fullmatch(r"[\w-]+-(\d+)", piece.options.get("label", "")):
        kind += f" {number[1]}"
    if name in ("solution", "solution-start"):
        head = f"**Solution of exercise {title.rpartition('-')[2]}.**"
    elif name in ("admonition", "dropdown"):
        head = f"**{title}**"
    else:
        head = f"**{kind}** ({title})." if title else f"**{kind}.**"
    yield f"> {head}"
    yield ">"
    for line in _plain_blocks(body):
        yield f"> {line}".rstrip()
