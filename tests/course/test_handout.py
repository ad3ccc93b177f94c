"""Handouts: clean notebooks with a place for every answer."""

import re

import nbformat
import papermill
import pytest

from momab import MomabError
from momab.book import editions, myst
from momab.book.project import Project
from momab.book.questions import read_questions
from momab.cli.course import handout_command
from momab.course import handout
from tests import tiny
from tests.conftest import ROOT

PROJECT = Project.find(ROOT)
EXERCISE = """
## Exercises

:::{slide} For the deck
- terse
:::

:::{exercise} Twice
:label: tiny-1
:class: warm-up programming

Write `twice(x)`, see {prf:ref}`paper-lemma-11`.

```python
not_the_starter = 1
```

More text.

```python
def twice(x):
    ...

momab.check("tiny-1", twice)
```
:::

:::{solution-start} tiny-1
:class: dropdown
:::
```{code-cell} ipython3
def twice(x):
    return "the solution"
```
:::{solution-end}
:::

:::{admonition} Teaching note
:class: teaching dropdown

Ten minutes.
:::

:::{exercise} Why
:label: tiny-2
:class: research

Explain.
:::

:::{solution} tiny-2
:class: dropdown

Because.
:::

The end.
"""


@pytest.fixture
def book(tmp_path):
    folder = tiny.make(tmp_path / "book")
    text = (folder / "notebooks/other.md").read_text()
    (folder / "notebooks/tiny.md").write_text(text + EXERCISE)
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: notebooks/index\nchapters:\n"
        "  - file: notebooks/tiny\n  - file: notebooks/other\n"
    )
    return Project(folder)


def of_role(node, role):
    return [cell for cell in node.cells if cell.metadata["momab"]["role"] == role]


def test_every_exercise_has_a_place_for_its_answer(book):
    node = handout.make_handout(book, "tiny")
    assert handout.chapters_with_exercises(book) == ["tiny"]
    assert node.metadata["momab"]["handout"] == "tiny"
    roles = [(c.cell_type, c.metadata["momab"]["role"]) for c in node.cells]
    assert roles == [
        ("markdown", "setup"),
        ("code", "setup"),
        ("markdown", "chapter"),
        ("code", "chapter"),
        ("code", "chapter"),
        ("code", "chapter"),
        ("markdown", "chapter"),
        ("markdown", "exercise"),
        ("code", "answer"),
        ("code", "check"),
        ("markdown", "exercise"),
        ("markdown", "answer"),
        ("markdown", "chapter"),
    ]
    code, words = of_role(node, "answer")
    assert code.source == "# ✎ Your answer to exercise 1:\ndef twice(x):\n    ..."
    assert code.metadata["tags"] == ["answer"]
    assert code.metadata["momab"]["exercise"] == "tiny-1"
    assert words.source == handout.PLACEHOLDER
    (check,) = of_role(node, "check")
    assert check.source == 'momab.check("tiny-1", twice)'
    text = of_role(node, "exercise")[0].source
    assert text.startswith("### Exercise 1: Twice\n\n*warm-up, programming*\n\nWrite `twice(x)`")
    assert "not_the_starter" in text
    assert "def twice" not in text
    assert "in words" not in text
    assert "see Lemma 11" in text


def test_the_handouts_of_the_book_are_valid_and_hold_no_solution():
    chapters = handout.chapters_with_exercises(PROJECT)
    assert "width-floor" in chapters
    for chapter in chapters:
        check_handout(chapter)


def check_handout(chapter):
    node = handout.make_handout(PROJECT, chapter)
    nbformat.validate(nbformat.reads(nbformat.writes(node), as_version=4))
    assert len({cell.id for cell in node.cells}) == len(node.cells)
    assert all(not cell.get("outputs") for cell in node.cells)
    source = PROJECT.notebook(chapter).node
    sources = [cell.source for cell in node.cells]
    for _, cell in editions.solution_cells(source):
        assert cell.source not in sources
    for word in ("{solution", "{slide}", "{notes}", "teaching"):
        assert not any(word in text for text in sources)
    asked = read_questions(PROJECT.root / "notebooks" / f"{chapter}.questions.yml")
    text = "\n".join(sources)
    assert asked
    assert text.count("<summary>Answer</summary>") == len(asked), "questions are written out"
    assert text.count("> **A.** ") == sum(bool(question.choices) for question in asked.values())
    assert "> **Question** (" not in text
    texts = myst.exercises(source)
    answers = [(c.metadata["momab"]["exercise"], c.cell_type) for c in of_role(node, "answer")]
    wanted = []
    for text in texts:
        wanted += [(text.label, "code")] if text.programming else []
        wanted += [(text.label, "markdown")] if text.words else []
    assert answers == wanted
    assert all("✎" in cell.source.partition("\n")[0] for cell in of_role(node, "answer"))
    checks = {cell.metadata["momab"]["exercise"]: cell for cell in of_role(node, "check")}
    assert list(checks) == [text.label for text in texts if text.programming]
    asked = [cell.metadata["momab"]["exercise"] for cell in of_role(node, "exercise")]
    assert asked == [text.label for text in texts], "every exercise once"
    for cell in of_role(node, "chapter"):
        if cell.source.startswith(("%%figure", "%%prose", "%%table")):
            assert cell.metadata["jupyter"] == {"source_hidden": True}
    shown = [
        c for c in of_role(node, "chapter") if c.cell_type == "code" and "jupyter" not in c.metadata
    ]
    assert shown, "code that the book shows is not folded"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_fresh_handout_runs_and_says_not_yet():
    node = handout.make_handout(PROJECT, "model")
    node = papermill.execute_notebook(node, None, kernel_name="python3", progress_bar=False)
    checks = of_role(node, "check")
    assert checks
    for cell in checks:
        (output,) = cell.outputs
        name = cell.metadata["momab"]["exercise"]
        assert output["data"]["text/plain"].startswith(f"{name}: not yet, 0 of ")


def test_equal_sources_give_equal_bytes_and_what_someone_edited_stays(book, tmp_path):
    output = tmp_path / "out"
    (path,) = handout.write_handouts(book, [], output)
    first = path.read_bytes()
    assert handout.write_handouts(book, ["tiny"], output) == [path]
    assert path.read_bytes() == first

    other = (book.root / "notebooks/tiny.md").read_text().replace("tiny-", "more-")
    (book.root / "notebooks/more.md").write_text(other)
    book = Project(book.root)
    path.write_text("a teacher's own words")
    with pytest.raises(MomabError, match=r"tiny\.ipynb would be replaced.*--force"):
        handout.write_handouts(book, [], output)
    assert [p.name for p in output.iterdir()] == ["tiny.ipynb"]
    assert path.read_text() == "a teacher's own words"
    assert len(handout.write_handouts(book, [], output, force=True)) == 2
    assert path.read_bytes() == first


def test_what_cannot_be_made_is_said_in_a_sentence(book):
    with pytest.raises(MomabError, match="no notebook 'nowhere'"):
        handout.write_handouts(book, ["nowhere"])
    with pytest.raises(MomabError, match=r"'other' has no exercises; these have some: tiny"):
        handout.write_handouts(book, ["other"])
    broken = EXERCISE.replace('momab.check("tiny-1", twice)\n', "")
    (book.root / "notebooks/broken.md").write_text(
        (book.root / "notebooks/other.md").read_text() + broken
    )
    with pytest.raises(MomabError, match="'tiny-1' is marked as programming"):
        handout.write_handouts(Project(book.root), ["broken"])
    assert not book.build.exists()


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    handout_command(["model"], tmp_path)
    assert capsys.readouterr().out.strip() == str(tmp_path / "model.ipynb")


def test_the_page_does_not_answer_limit_5():
    """It asks what the price is when a mean is 1; the page said so beside a link to it."""
    text = "".join(
        (ROOT / f"notebooks/{page}.md").read_text() for page in ("limit", "hard-instances")
    )
    assert text.count("{ref}`limit-5`") == 2
    text += (ROOT / "book/claims.yml").read_text()
    assert not re.search(r"mean (of|is) 1\b[^|\n]*(price is (zero|0)|=0|largest price)", text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Such as, for instance `momab run model -p arms=3 -p d=4`.",
            "Such as, for instance `arms=3`, `d=4` in the cell of parameters of its notebook.",
        ),
        ("Try `momab run price -p arms=5`.", "Try the notebook *price* with `arms=5`."),
        ("`momab simulate zero-gap` runs.", "`momab simulate zero-gap` runs."),
    ],
)
def test_students_need_no_repository_for_other_values(text, said):
    assert editions.student_text(text) == said + "\n"
