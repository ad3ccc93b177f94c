"""The search for what students may not see: eight words of a solution in a row, or a line of code.

What is also open to all (pages without their answers, prose, the library without its judges) is no
secret, and not looked for.  The questions in the pages are no homework: the page says at once why
a choice is right or wrong, so their answers are in it, also for students.  They excuse nothing:
what a question says of a solution is found like anything else.
"""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path

import nbformat

from momab import exercises
from tests.conftest import PROJECT
from tests.exercises.test_course import CHAPTERS

KINDS = {".html", ".txt", ".ipynb", ".md", ".json", ".py", ".yml", ".csv", ".j2", ".js", ".svg"}
RUN = 8  # so many words in a row are no coincidence


def words_of(text: str) -> list[str]:
    """A text without quotes, signs and layout, in small letters."""
    text = html.unescape(text).replace("\\n", " ").replace('\\"', " ")
    return re.sub(r"[^\w]+", " ", text).lower().split()


def rendered(text: str) -> list[str]:
    """The words of a page or notebook, with its tags and without: code has signs like tags.

    A tag may stand inside a word or between two, as between the cells of a table.
    """
    return words_of(text) + [
        w for gap in ("", " ") for w in words_of(re.sub(r"<[^>]*>", gap, text))
    ]


def find_runs(wanted: set[str], words: list[str]) -> set[str]:
    """Which of these runs of words occur among the words of a text, in one pass."""
    lengths: dict[str, set[int]] = {}
    for run in wanted:
        lengths.setdefault(run.partition(" ")[0], set()).add(run.count(" ") + 1)
    found = set()
    for place, word in enumerate(words):
        for length in lengths.get(word, ()):
            run = " ".join(words[place : place + length])
            if run in wanted:
                found.add(run)
    return found


def phrases_of(text: str) -> set[str]:
    """Runs of eight words; roles, mathematics and code do not render as they are written."""
    plain = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|\{[\w:]+\}`[^`]*`", " \x00 ", text, flags=re.DOTALL)
    found = set()
    for part in plain.split("\x00"):
        words = words_of(part)
        found |= {" ".join(words[n : n + RUN]) for n in range(len(words) - RUN + 1)}
    return found


_ANSWERS = re.compile(
    r"^:::\{solution-start\}.*?^:::\{solution-end\}$|^:::\{(?:solution|notes)\}.*?^:::$"
    r"|^:::\{admonition\}[^\n]*\n:class: teaching.*?^:::$",
    flags=re.DOTALL | re.MULTILINE,
)


@cache
def source_of(name: str) -> str:
    """A page with its exercises and its slides, without its questions."""
    paths = sorted((PROJECT.root / "notebooks").glob(f"{name}.*md"))
    return "\n\n".join(path.read_text("utf-8") for path in paths)


def answers_of(name: str) -> str:
    return "\n\n".join(_ANSWERS.findall(source_of(name)))


_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


@cache
def printed_by(name: str) -> tuple[list[str], list[str]]:
    """What the cells of a chapter's answers show in words, and what its other cells show."""
    answers = [
        cell.strip() for text in _ANSWERS.findall(source_of(name)) for cell in _CELL.findall(text)
    ]
    executed = nbformat.read(PROJECT.build / "executed" / f"{name}.ipynb", as_version=4)
    hidden: list[str] = []
    shown: list[str] = []
    for ran in executed.cells:
        for output in ran.get("outputs", []):
            data = output.get("data", {})
            words = str(data.get("text/markdown") or data.get("text/html") or output.get("text"))
            ours = any(code.endswith(ran.source.strip()) for code in answers)
            (hidden if ours else shown).append(re.sub(r"<[^>]*>", " ", words))
    return hidden, shown


@cache
def open_to_all() -> list[str]:
    """Everything that a student may read: chapters without answers, prose pages, docstrings."""
    texts = [_ANSWERS.sub("", source_of(name)) for name in PROJECT.names]
    pages = [p for p in (PROJECT.root / "book").glob("*.md") if not p.stem.startswith("guide")]
    library = [p for p in PROJECT.library.rglob("*.py") if "exercises" not in p.parts]
    pages.append(PROJECT.root / "book" / "claims.yml")
    texts += [p.read_text("utf-8") for p in [*pages, *library]]
    texts += [words for name in CHAPTERS for words in printed_by(name)[1]]
    for judge in (e for name in CHAPTERS for e in exercises.of_chapter(name)):  # what checks say
        texts += [
            text for part in (*judge.cases, *judge.aspects) for text in (part.what, part.hint)
        ]
        texts += [judge.wants, *(slip.hint for slip in judge.slips)]
    return words_of("\n".join(texts))


@cache
def hidden() -> dict[str, tuple[set[str], set[str]]]:
    """By chapter: the phrases of its answers and of what their cells print, and code lines."""
    phrases, lines = {}, {}
    for name in CHAPTERS:
        answers = answers_of(name)
        cells = _CELL.findall(answers)
        code = {" ".join(words_of(line)) for cell in cells for line in cell.splitlines()}
        prose = "\n\n".join([_CELL.sub(" \x00 ", answers), *printed_by(name)[0]])
        phrases[name] = phrases_of(prose)
        lines[name] = {line for line in code if len(line) >= 25}
    known = find_runs(set().union(*phrases.values(), *lines.values()), open_to_all())
    return {name: (phrases[name] - known, lines[name] - known) for name in CHAPTERS}


def secrets() -> set[str]:
    """Everything that is hidden in any chapter."""
    return set().union(*(runs for both in hidden().values() for runs in both))


def searched(folder: Path) -> list[Path]:
    """The texts of a folder: pages, sources, decks, downloads, scripts, the search index."""
    return [p for p in sorted(folder.rglob("*")) if p.suffix in KINDS and p.is_file()]


@cache
def told(folder: Path) -> dict[str, str]:
    """What is hidden but said in some text of a folder, and where."""
    said = {}
    for path in searched(folder):
        for run in find_runs(secrets(), rendered(path.read_text("utf-8"))):
            said[run] = path.relative_to(folder).as_posix()
    return said
