"""The editions: no solution, teaching note or speaker note reaches a student."""

from __future__ import annotations

import html
import re
import shutil
import zlib
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest
from bs4 import BeautifulSoup

from momab import exercises
from momab.book import build as pipeline
from momab.book import editions, myst
from momab.errors import BuildError, MomabError
from tests.book.test_pipeline import project
from tests.browsing import broken_links
from tests.conftest import PROJECT, ROOT
from tests.exercises.test_course import CHAPTERS
from tests.tiny import HEADER, PARAMETERS, cell

SECRETS = [f"secret{word}" for word in ("prose", "inline", "source", "printed", "drawn", "taught")]
SECRETS += [f"secret{word}" for word in ("spoken", "guided", "between")]
EXERCISE = """:::{exercise} A title
:label: other-1
:class: warm-up programming

The question that everybody reads.

```python
answer = ...
momab.check("other-1", answer)
```
:::

"""
GATED = (
    ":::{solution-start} other-1\n:class: dropdown\n:::\nThis is secretprose.\n\n"
    + cell("value = 'secret' + 'printed'  # secretsource\nprint(value)")
    + "Now secretbetween.\n\n"
    + cell("from momab import show\nshow.bundle({'text/html': '<i>secretdrawn</i>'})")
    + ":::{solution-end}\n:::\n\n"
)
NOTES = (
    ":::{admonition} Teaching note\n:class: teaching dropdown\nHere is secrettaught.\n:::\n\n"
    ":::{slide} A slide\n- all may read this\n:::\n\n:::{notes}\nSay secretspoken.\n:::\n\n"
)
INLINE = (
    ":::{exercise} Another\n:label: other-2\n:class: research\n\nWhy?\n:::\n\n"
    ":::{solution} other-2\n:class: dropdown\nBecause secretinline.\n:::\n\nThe last line.\n"
)


@pytest.fixture
def course(book: Path) -> Path:
    """The tiny book with exercises, solutions, notes and a page for teachers."""
    page = HEADER + "# Other\n\n" + PARAMETERS + cell("print(seed)")
    (book / "notebooks/other.md").write_text(page + EXERCISE + GATED + NOTES + INLINE)
    (book / "book/guide.md").write_text(
        "---\nmomab: {edition: instructor}\n---\n\n# Guide\n\nAll secretguided.\n"
    )
    toc = "format: jb-book\nroot: notebooks/index\nparts:\n  - caption: One\n    chapters:\n"
    toc += "      - file: notebooks/other\n  - caption: Two\n    chapters:\n"
    (book / "_toc.yml").write_text(toc + "      - file: book/guide\n")
    config = (book / "_config.yml").read_text()
    config = config.replace("[momab.book.sphinx]", "[sphinx_exercise, momab.book.sphinx.extension]")
    config = config.replace("language: en", "language: en\n    templates_path: [book/_templates]")
    shutil.copytree(ROOT / "book/_templates", book / "book/_templates")
    config += "parse:\n  myst_enable_extensions: [colon_fence]\n"
    (book / "_config.yml").write_text(config)
    return book


def everything(folder: Path) -> str:
    """All text in all files below a folder, compressed object lists included."""
    texts = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if path.name == "objects.inv":
                content = zlib.decompress(content.split(b"zlib.\n", 1)[1])
            texts.append(content.decode("utf-8", errors="ignore"))
            texts.append(path.name)
    return "\n".join(texts)


def test_planted_secrets_are_in_the_instructors_edition_alone(course, monkeypatch):
    monkeypatch.setenv("MOMAB_REPOSITORY", "https://github.com/someone/tiny")
    full = pipeline.build(project(course), workers=2, quiet=True)
    bare = pipeline.build(project(course), workers=2, quiet=True, edition="student")
    assert (full.site.name, bare.site.name) == ("html", "student")
    assert bare.executed == 0, "both editions share the executed notebooks"
    shown = everything(full.site)
    for secret in SECRETS:
        assert secret in shown
    told = everything(bare.site) + everything(course / "_build/stage-student")
    for secret in SECRETS:
        assert secret not in told, secret
    for kept in ("The question that everybody reads", "all may read this", "The last line"):
        assert kept in told
    page = BeautifulSoup((bare.site / "other.html").read_text(), "html.parser").get_text()
    assert 'momab.check("other-1", answer)' in page
    assert re.search(r"Exercise 1\s+\(A title\)\s+warm-up\s+programming", page)
    assert "guide" not in [path.stem for path in bare.site.glob("*.html")]
    assert "github.com/someone" not in told, "the repository has the solutions"
    assert "github.com/someone" in shown


def test_the_students_source_is_a_notebook_of_the_same_cells(course):
    source = project(course).notebook("other").node
    bare = editions.student(source)
    again = jupytext.reads(jupytext.writes(bare, "md:myst"), "md:myst")
    assert [c.source for c in again.cells] == [c.source for c in bare.cells]
    assert [c.source for c in bare.cells if c.cell_type == "code"][-1] == "print(seed)"
    assert "secretprose" in "".join(c.source for c in source.cells), "the source is untouched"


def test_a_solution_inside_another_block_is_refused():
    nested = "::::{admonition} Box\n:::{solution} x-1\nsecret\n:::\n::::\n"
    node = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(nested)])
    with pytest.raises(MomabError, match="must not be inside other blocks"):
        editions.student(node)


def test_a_solution_that_is_never_closed_hides_the_rest():
    cells = [
        nbformat.v4.new_markdown_cell(":::{solution-start} x-1\n:::\nsecret"),
        nbformat.v4.new_code_cell("secret"),
        nbformat.v4.new_markdown_cell("more"),
    ]
    assert editions.student(nbformat.v4.new_notebook(cells=cells)).cells == []


def test_a_cell_after_a_solution_is_refused(course):
    path = course / "notebooks/other.md"
    path.write_text(path.read_text() + "\n" + cell("late = 1"))
    with pytest.raises(MomabError, match=r"notebooks/other\.md.*'late = 1'.*before the exercises"):
        pipeline.build(project(course), workers=1, quiet=True)


def test_a_solution_that_fails_its_own_check_stops_the_build(course):
    path = course / "notebooks/other.md"
    failing = cell("import momab\nmomab.check('width-floor-2', 3)")
    path.write_text(path.read_text().replace(":::{solution-end}", failing + ":::{solution-end}"))
    with pytest.raises(BuildError, match="solution of other-1 fails its own check"):
        pipeline.build(project(course), workers=1, quiet=True)
    assert not (course / "_build/html").exists()


def test_other_editions_are_refused(course):
    with pytest.raises(MomabError, match="no edition 'teacher'; allowed: instructor, student"):
        pipeline.build(project(course), edition="teacher")


# ---- the real book -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def student_site(site: Path) -> Path:
    return pipeline.build(PROJECT, quiet=True, edition="student").site


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_solution_in_the_book_passes_its_own_check(site, name):
    soup = BeautifulSoup((site / f"{name}.html").read_text("utf-8"), "html.parser")
    verdicts = soup.select("details.solution div.momab-verdict")
    passed = [v["data-exercise"] for v in verdicts if v["data-right"] == "true"]
    assert set(passed) == {exercise.name for exercise in exercises.of_chapter(name)}


def test_the_students_links_lead_somewhere(student_site):
    assert broken_links(student_site) == []


def _words(text: str) -> str:
    """A text without quotes, signs and layout, in small letters."""
    text = html.unescape(text).replace("\\n", " ").replace('\\"', " ")
    return re.sub(r"[^\w]+", " ", text).lower()


def _rendered(text: str) -> str:
    """The words of a page or notebook, with its tags and without: code has signs like tags."""
    return _words(text) + " " + _words(re.sub(r"<[^>]*>", "", text))


def _phrases(text: str) -> set[str]:
    """Runs of eight words; roles, mathematics and code do not render as they are written."""
    plain = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|\{[\w:]+\}`[^`]*`", " \x00 ", text, flags=re.DOTALL)
    found = set()
    for part in plain.split("\x00"):
        words = _words(part).split()
        found |= {" ".join(words[n : n + 8]) for n in range(len(words) - 7)}
    return found


_ANSWERS = re.compile(
    r"^:::\{solution-start\}.*?^:::\{solution-end\}$|^:::\{(?:solution|notes)\}.*?^:::$"
    r"|^:::\{admonition\}[^\n]*\n:class: teaching.*?^:::$",
    flags=re.DOTALL | re.MULTILINE,
)


def _source(name: str) -> str:
    return (PROJECT.root / "notebooks" / f"{name}.md").read_text("utf-8")


def _answers(name: str) -> str:
    return "\n\n".join(_ANSWERS.findall(_source(name)))


_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


def _printed(name: str) -> tuple[list[str], list[str]]:
    """What the cells of a chapter's answers show in words, and what its other cells show."""
    answers = [
        cell.strip() for text in _ANSWERS.findall(_source(name)) for cell in _CELL.findall(text)
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
def _open_to_all() -> str:
    """Everything that a student may read: chapters without answers, prose pages, docstrings."""
    texts = [_ANSWERS.sub("", _source(name)) for name in PROJECT.names]
    pages = [p for p in (PROJECT.root / "book").glob("*.md") if p.stem != "guide"]
    texts += [p.read_text("utf-8") for p in [*pages, *PROJECT.library.glob("*.py")]]
    texts += [words for name in CHAPTERS for words in _printed(name)[1]]
    return f" {_words(chr(10).join(texts))} "


def _hidden(name: str) -> tuple[set[str], set[str]]:
    """The phrases of a chapter's answers and of what their cells print, and their code lines."""
    answers = _answers(name)
    code = {_words(line).strip() for cell in _CELL.findall(answers) for line in cell.splitlines()}
    prose = "\n\n".join([_CELL.sub(" \x00 ", answers), *_printed(name)[0]])
    known = _open_to_all()
    phrases = {phrase for phrase in _phrases(prose) if f" {phrase} " not in known}
    return phrases, {line for line in code if len(line) >= 25 and line not in known}


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_solution_of_a_chapter_reaches_the_students_book(student_site, site, name):
    phrases, lines = _hidden(name)
    assert len(phrases) > 100
    assert lines
    told = _told(student_site)
    assert [phrase for phrase in phrases if f" {phrase} " in told] == []
    assert [line for line in lines if line in told] == []
    shown = _rendered((site / f"{name}.html").read_text("utf-8"))
    found = sum(f" {phrase} " in shown for phrase in phrases)
    assert found > 0.5 * len(phrases), "the search would find them, were they there"


@cache
def _told(folder: Path) -> str:
    """The words of every page, source, deck, download and of the search index."""
    kinds = {".html", ".txt", ".ipynb", ".md", ".json"}
    found = [p for p in sorted(folder.rglob("*")) if p.suffix in kinds]
    found = [p for p in found if "_static" not in p.parts]
    return _rendered("\n".join(p.read_text("utf-8") for p in [*found, folder / "searchindex.js"]))


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_students_downloads_have_every_exercise_and_no_solution(student_site, name):
    source = jupytext.read(student_site / "downloads" / f"{name}.md")
    full = PROJECT.notebook(name).node
    assert [e.label for e in myst.exercises(source)] == [e.label for e in myst.exercises(full)]
    for suffix in (".md", ".ipynb"):
        text = (student_site / "downloads" / f"{name}{suffix}").read_text("utf-8")
        assert "{solution" not in text
        assert "Solution of exercise" not in text
        assert "Teaching note" not in text
    soup = (student_site / f"{name}.html").read_text("utf-8")
    assert "Solution to" not in soup
    assert "Teaching note" not in soup
