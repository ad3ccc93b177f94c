"""What a page refers to in the rest of the book, without reading the rest of the book.

A page that is built alone still names headings, statements, exercises, notions and works of other
pages.  `reference_pages` gives small stand-ins for those pages: a title, and of their labelled
blocks those that the page mentions, empty; the glossary and the bibliography if it uses them.
Sphinx resolves references to them as it does in the book, numbers and titles included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from momab.book.project import Project

_HEADING = re.compile(r"^#+[ \t]+(?P<title>.+)$")
_TARGET = re.compile(r"^\((?P<label>[^()\s]+)\)=[ \t]*$")
_OPENING = re.compile(r"^(?P<mark>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}[ \t]*(?P<title>.*)$")
_LABEL = re.compile(r"^:label:[ \t]*(?P<label>\S+)[ \t]*$")
_USED_BY_ROLE = {"glossary": "{term}`", "bibliography": "{cite"}
_WORD = re.compile(r"[^\s`<>\"'(){}\\,]+")


def reference_pages(project: Project, page: str, text: str) -> dict[str, str]:
    """Stand-ins for the pages that a page's text may refer to, by name; the first page is one."""
    mentioned = set(_WORD.findall(text))
    roles = {name for name, role in _USED_BY_ROLE.items() if role in text}
    found = {}
    for other in project.pages:
        if other != page:
            parts = list(_labelled(_lines(project, other), mentioned, roles))
            if len(parts) > 1 or other == project.pages[0]:
                found[other] = "\n".join(parts)
    return found


def _lines(project: Project, page: str) -> list[str]:
    """The source of a page, with its exercises."""
    notebook = project.root / "notebooks" / f"{page}.md"
    places = (
        project.root / "book" / f"{page}.md",
        notebook,
        notebook.with_suffix(".exercises.md"),
    )
    return [
        line
        for path in places
        if path.is_file()
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def _labelled(lines: Sequence[str], mentioned: set[str], roles: set[str]) -> Iterator[str]:
    """A page's title, then what is mentioned of it."""
    first = next((n for n, line in enumerate(lines) if _HEADING.match(line)), None)
    title = lines[first].lstrip("# ") if first is not None else "…"
    blocks: list[str] = []
    on_title: list[str] = []
    labels: list[str] = []
    for number, line in enumerate(lines):
        if target := _TARGET.match(line):
            labels.append(target["label"])
        elif heading := _HEADING.match(line):
            kept = [f"({label})=" for label in labels if label in mentioned]
            if number == first:
                on_title = kept
            elif kept:
                blocks += [*kept, f"## {heading['title']}\n"]
            labels = []
        elif opening := _OPENING.match(line):
            blocks += _block(lines[number:], opening, mentioned, roles)
    yield "\n".join([*on_title, f"# {title}\n"])
    if on_title or blocks:
        yield "\n".join(blocks)


def _block(
    lines: Sequence[str], opening: re.Match[str], mentioned: set[str], roles: set[str]
) -> list[str]:
    """A block that may be referred to: the whole glossary, or an empty one with the label."""
    if opening["name"] in roles:
        end = next(n for n, line in enumerate(lines) if n and line.startswith(opening["mark"]))
        return [*lines[: end + 1], ""]
    if opening["name"].startswith("solution"):
        return []
    labels = [match["label"] for line in lines[1:8] if (match := _LABEL.match(line))]
    if not labels or labels[0] not in mentioned:
        return []
    return [f":::{{{opening['name']}}} {opening['title']}\n:label: {labels[0]}\n\n…\n:::\n"]
