"""The exercises of the book at a glance: Markdown tables, made from the notebooks' sources.

The teacher's guide has lines ``% exercises`` (all chapters) and ``% exercises width-floor`` (one);
`fill` puts tables in their place, and writes out where a reference to an exercise leads, so that
the guide names the exercises that there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from momab.book.myst import KINDS, LEVELS, Directive, pieces
from momab.errors import MomabError

_REFERENCE = re.compile(r"\{ref\}`([\w-]+-\d+)`")
_PLACE = re.compile(r"^% exercises(?:[ \t]+(\S+))?[ \t]*$", flags=re.MULTILINE)


def fill(text: str, pages: Mapping[str, str]) -> str:
    """A page with tables for its ``% exercises`` lines and titles for its bare references.

    ``pages`` has the Markdown of every notebook that may be named, in the order of the book.
    """
    titles = {
        label: f"{name} {number}, {title}"
        for name, source in pages.items()
        for label, number, title, _ in _exercises(source)
    }

    def reference(match: re.Match[str]) -> str:
        return f"{{ref}}`{titles[match[1]]} <{match[1]}>`" if match[1] in titles else match[0]

    def table(match: re.Match[str]) -> str:
        if not match[1]:
            return exercise_table(pages)
        if match[1] not in pages:
            known = ", ".join(pages)
            raise MomabError(f"there is no chapter {match[1]!r} with exercises; there are {known}.")
        return chapter_table(pages[match[1]])

    return _PLACE.sub(table, _REFERENCE.sub(reference, text))


def exercise_table(pages: Mapping[str, str]) -> str:
    """All exercises in one table: chapter, number and title with a link, level, kind."""
    lines = _head("Chapter", "Exercise", "Level", "Kind")
    for name, text in pages.items():
        chapter = f"{{ref}}`{name}`"
        for row in _rows(text):
            lines.append(_line(chapter, *row))
            chapter = ""
    return "\n".join(lines)


def chapter_table(text: str) -> str:
    """One chapter's exercises: number and title with a link, level, kind."""
    return "\n".join([*_head("Exercise", "Level", "Kind"), *(_line(*row) for row in _rows(text))])


def _exercises(text: str) -> Iterator[tuple[str, str, str, set[str]]]:
    """Label, number, title and classes of every exercise."""
    for piece in pieces(text.splitlines()):
        if isinstance(piece, Directive) and piece.name == "exercise":
            label = piece.options["label"]
            title = piece.title.replace("|", r"\|").replace("`", "")
            yield label, label.rpartition("-")[2], title, piece.classes


def _rows(text: str) -> Iterator[tuple[str, str, str]]:
    for label, number, title, classes in _exercises(text):
        level = " ".join(_badge(name, name) for name in LEVELS if name in classes)
        written = [] if "programming" in classes else [_badge("written", "written")]
        kinds = " ".join(
            written + [_badge(name, word) for name, word in KINDS.items() if name in classes]
        )
        yield f"{{ref}}`{number}. {title} <{label}>`", level, kinds


def _badge(name: str, word: str) -> str:
    return f"[{word}]{{.exercise-badge .{name}}}"


def _head(*names: str) -> list[str]:
    return [_line(*names), _line(*["---"] * len(names))]


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
