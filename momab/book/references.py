"""What a page refers to in the rest of the book, without building the rest of the book.

A page that is built alone still names headings, statements, exercises, notions and works of other
pages.  `reference_pages` gives small stand-ins for those pages: a title, and of their labelled
blocks those that the page mentions, empty; the glossary and the bibliography if it uses them.
Sphinx resolves references to them as it does in the book, numbers and titles included.
"""

from __future__ import annotations

import re
from itertools import pairwise

from momab.book import myst
from momab.book.project import Project

_USED_BY_ROLE = {"glossary": "{term}`", "bibliography": "{cite"}
_WORD = re.compile(r"[^\s`<>\"'(){}\\,]+")


def reference_pages(project: Project, page: str, text: str) -> dict[str, str]:
    """Stand-ins for the pages that a page's text may refer to, by name; the first page is one."""
    mentioned = set(_WORD.findall(text))
    roles = {name for name, role in _USED_BY_ROLE.items() if role in text}
    found = {}
    for other in project.pages:
        if other != page:
            title, blocks = _stand_in(_text(project, other), mentioned, roles)
            if blocks or title.startswith("(") or other == project.pages[0]:
                found[other] = "\n".join([title, *blocks])
    return found


def _text(project: Project, page: str) -> str:
    """The source of a page, with its exercises."""
    notebook = project.root / "notebooks" / f"{page}.md"
    places = (
        project.root / "book" / f"{page}.md",
        notebook,
        notebook.with_suffix(".exercises.md"),
    )
    texts = [path.read_text(encoding="utf-8") for path in places if path.is_file()]
    return "\n\n".join(map(myst.without_header, texts))


def _stand_in(text: str, mentioned: set[str], roles: set[str]) -> tuple[str, list[str]]:
    """A page's title with its targets, and what is mentioned of the page."""
    title, blocks = "", list[str]()
    targets: list[str] = []
    for token, following in pairwise([*myst.tokens(text), None]):
        if token.type == "myst_target":
            targets.append(token.content)
        elif token.type == "heading_open":
            kept = [f"({target})=\n" for target in targets if target in mentioned]
            if not title:
                title = "".join(kept) + f"# {following.content}\n"
            elif kept:
                blocks.append("".join(kept) + f"## {following.content}\n")
            targets = []
    blocks += [block for found in myst.walk(text) if (block := _block(found, mentioned, roles))]
    return title or "# …\n", blocks


def _block(found: myst.Directive, mentioned: set[str], roles: set[str]) -> str:
    """A block that may be referred to: the whole glossary, or an empty one with the label."""
    if found.name in roles:
        return "\n".join([*found.lines, ""])
    label = found.options.get("label", "")
    if label not in mentioned or found.name.startswith("solution"):
        return ""
    return f":::{{{found.name}}} {found.title}\n:label: {label}\n\n…\n:::\n"
