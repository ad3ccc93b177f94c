"""The editions: no solution, teaching note or speaker note reaches a student."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import nbformat
import pytest

from momab import exercises
from momab.book import build as pipeline
from momab.book import editions, myst
from momab.book.execute import plan_jobs
from momab.book.parameters import read_assignments
from momab.book.stage import write_stage
from momab.errors import BuildError, MomabError
from tests import leaks, tiny
from tests.browsing import broken_links
from tests.conftest import PROJECT, ROOT
from tests.exercises.test_course import CHAPTERS


def test_the_students_source_is_a_notebook_of_the_same_cells(book):
    tiny.add_companions(book)
    source = tiny.project(book).notebook("other").node
    bare = editions.student(source)
    again = jupytext.reads(jupytext.writes(bare, "md:myst"), "md:myst")
    assert [c.source for c in again.cells] == [c.source for c in bare.cells]
    assert [c.source for c in bare.cells if c.cell_type == "code"][-1] == "print(math.pi * seed)"
    assert "'answer'" in "".join(c.source for c in source.cells), "the source is untouched"


# ---- wherever an answer stands ---------------------------------------------------------------

ANSWERS = {
    "solution": ("{solution} x-1", ":class: dropdown\n"),
    "teaching": ("{admonition} Teaching note", ":class: teaching dropdown\n"),
    "teaching-yaml": ("{admonition} Teaching note", "---\nclass: teaching dropdown\n---\n"),
    "notes": ("{notes}", ""),
}


def fenced(kind: str, mark: str = ":::", gap: str = "") -> str:
    head, options = ANSWERS[kind]
    return f"{mark}{gap}{head}\n{options}a secret\n\nand more secrets\n{mark}"


def after(first: str, rest: str, text: str) -> str:
    """A text with something before its first line and something before the others."""
    return first + text.replace("\n", "\n" + rest)


FORMS = {
    "plain": lambda kind: fenced(kind),
    "backticks": lambda kind: fenced(kind, "```"),
    "tildes": lambda kind: fenced(kind, "~~~"),
    "spaced": lambda kind: fenced(kind, "```", " "),
    "spaced colons": lambda kind: fenced(kind, ":::", " "),
    "many": lambda kind: fenced(kind, "``````"),
    "indented": lambda kind: after("   ", "   ", fenced(kind, "~~~")),
    "list item": lambda kind: "- item\n\n" + after("  ", "  ", fenced(kind)),
    "on the bullet": lambda kind: after("1. ", "   ", fenced(kind, "```")),
    "deep in a list": lambda kind: "- a\n  - b\n\n" + after("    ", "    ", fenced(kind)),
    "quoted": lambda kind: "> all see this\n>\n" + after("> ", "> ", fenced(kind)),
    "definition": lambda kind: "Word\n\n: " + after("", "  ", fenced(kind, "```")),
    "footnote": lambda kind: "A[^1].\n\n[^1]: note\n\n" + after("    ", "    ", fenced(kind)),
    "in an admonition": lambda kind: f"::::{{note}}\nall see this\n{fenced(kind)}\n::::",
    "first in an admonition": lambda kind: f"::::{{note}}\n{fenced(kind)}\nlast\n::::",
    "in a dropdown": lambda kind: f"::::{{dropdown}} Open\n:open:\n\n{fenced(kind)}\n::::",
    "in a tab": lambda kind: (
        f":::::{{tab-set}}\n::::{{tab-item}} One\n:sync: a\n\n{fenced(kind)}\n::::\n:::::"
    ),
    "in a box": lambda kind: f"::::box\n{fenced(kind)}\n::::",
    "in a proof": lambda kind: f"````{{prf:proof}}\nall\n\n{fenced(kind, '```')}\n````",
    "in an exercise": lambda kind: f"::::{{exercise}} E\n:label: x-1\n\n{fenced(kind)}\n::::",
    "below a classed line": lambda kind: f"{{.wide}}\n{fenced(kind)}",
}


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("form", FORMS)
def test_an_answer_is_found_wherever_it_stands(form, kind):
    text = f"# Title\n\nBefore.\n\n{FORMS[form](kind)}\n\nAfter.\n"
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell("open_to_all = 1")]
    bare = editions.student(nbformat.v4.new_notebook(cells=cells))
    shown = bare.cells[0].source
    assert bare.cells[-1].source == "open_to_all = 1"
    assert shown == editions.student_text(text).strip()
    for word in ("secret", "teaching", "Teaching", "{solution}", "{notes}"):
        assert word not in shown
    assert shown.startswith("# Title\n\nBefore.")
    assert shown.endswith("After.")
    if "all see this" in text:
        assert "all see this" in shown
    assert editions.student_text(shown) == shown + "\n", "nothing is left to find"


@pytest.mark.parametrize("first", ["", "- item\n\n  ", "> quoted\n>\n> ", "::::{note}\n"])
def test_everything_between_the_gates_is_hidden(first):
    rest = first.rpartition("\n")[2]
    gate = after(first, rest, ":::{solution-start} x-1\n:class: dropdown\n:::\nsecret")
    end = after(rest, rest, ":::{solution-end}\n:::") + ("\n::::" if "note" in first else "")
    inside = nbformat.v4.new_code_cell("secret", outputs=[])
    node = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(f"Before.\n\n{gate}\n\nmore secrets"),
            *([] if "note" in first else [inside]),
            nbformat.v4.new_markdown_cell(f"secret\n\n{end}\n\nAfter."),
            nbformat.v4.new_code_cell("after"),
        ]
    )
    if "note" in first:  # a box does not go on in another cell
        with pytest.raises(MomabError, match=r"'::::\{note\}' is never closed"):
            editions.student(node)
        return
    shown = "\n".join(cell.source for cell in editions.student(node).cells)
    assert "secret" not in shown
    assert shown.startswith("Before.")
    assert shown.endswith("After.\nafter")
    assert [(label, cell.source) for label, cell in editions.solution_cells(node)] == [
        ("x-1", "secret")
    ]


def test_a_classed_paragraph_or_quotation_is_a_teaching_note_too():
    text = "One.\n\n{.teaching}\nsecret words\n\n{.teaching}\n> secret\n> words\n\nTwo.\n"
    assert "secret" not in editions.student_text(text)
    assert "Two." in editions.student_text(text)
    assert "teaching" not in editions.student_text(text)


def test_code_that_only_looks_like_an_answer_stays():
    text = "```python\n:::{solution} x-1\n```\n\n````{code-block} md\n:::{notes}\n````\n"
    assert editions.student_text(text) == text


def cells_of(*texts: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text) for text in texts])


@pytest.mark.parametrize(
    "text",
    [":::{solution} x-1\nsecret", "- :::{notes}\n  secret", "~~~{solution-start} x-1\nsecret"],
)
def test_an_answer_that_is_never_closed_hides_the_rest(text):
    node = cells_of(f"Before.\n\n{text}", "secret", ":::{solution-end}\n:::\n\nsecret")
    node.cells.insert(1, nbformat.v4.new_code_cell("secret"))
    assert [cell.source for cell in editions.student(node).cells] == ["Before."]


def test_a_solution_that_is_never_closed_hides_the_rest():
    node = cells_of(":::{solution-start} x-1\n:::\nsecret", "more")
    node.cells.insert(1, nbformat.v4.new_code_cell("secret"))
    assert editions.student(node).cells == []


@pytest.mark.parametrize("opening", ["```python", "::::{note}", "~~~"])
def test_a_block_that_is_never_closed_is_refused(opening):
    with pytest.raises(MomabError, match="never closed, so it is not clear what students may see"):
        editions.student(cells_of(f"{opening}\ntext\n\n:::{{solution}} x-1\nsecret\n:::"))


def test_options_that_run_into_an_answer_are_refused():
    with pytest.raises(MomabError, match=r"options of the block '::::\{dropdown\} D' cannot be"):
        editions.student(cells_of("::::{dropdown} D\n:open:\n:::{solution} x-1\nsecret\n:::\n::::"))


def test_answers_in_another_language_are_refused():
    with pytest.raises(MomabError, match="write them in Markdown"):
        editions.student(cells_of("```{eval-rst}\n.. solution:: x-1\n\n   secret\n```"))


def test_the_parser_is_that_of_the_book():
    import yaml

    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    assert sorted(config["parse"]["myst_enable_extensions"]) == sorted(myst.EXTENSIONS)


def test_a_solution_that_fails_its_own_check_and_a_cell_after_it_are_refused():
    node = cells_of(":::{solution-start} x-1\n:::", ":::{solution-end}\n:::")
    verdict = {"text/html": '<div class="momab-verdict" data-right="false">'}
    output = nbformat.v4.new_output("display_data", verdict)
    node.cells.insert(1, nbformat.v4.new_code_cell("x", outputs=[output]))
    with pytest.raises(BuildError, match=r"a\.md: the solution of x-1 fails its own check"):
        editions.check_solutions(node, "a.md")
    node.cells.append(nbformat.v4.new_code_cell("late = 1"))
    with pytest.raises(MomabError, match=r"a\.md.*'late = 1'.*before the exercises"):
        editions.check_solutions(node, "a.md")


def test_other_editions_are_refused(book):
    with pytest.raises(MomabError, match="no edition 'teacher'; allowed: instructor, student"):
        pipeline.build(tiny.project(book), edition="teacher")


# ---- the real book -------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_solution_in_the_book_passes_its_own_check(parsed, name):
    verdicts = parsed.page(name).select("details.solution div.momab-verdict")
    passed = [v["data-exercise"] for v in verdicts if v["data-right"] == "true"]
    assert set(passed) == {exercise.name for exercise in exercises.of_chapter(name)}


@pytest.fixture(scope="module")
def staged(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of the student edition, from which Sphinx would make its pages."""
    values = pipeline.chosen_values(PROJECT, PROJECT.notebook_pages, "quick", read_assignments([]))
    stage = tmp_path_factory.mktemp("student") / "stage"
    write_stage(PROJECT, plan_jobs(PROJECT, values), stage, "student")
    return stage


def test_no_solution_of_a_chapter_reaches_the_students_source(staged, site):
    for path in leaks.searched(staged):
        text = re.sub(r"(?s)<svg\b.*?</svg>", "", path.read_text("utf-8"))
        assert leaks.find_runs(leaks.secrets(), leaks.rendered(text)) == set(), path.name
    for name, (phrases, lines) in leaks.hidden().items():
        assert len(phrases) > 100
        assert lines
        texts = [
            (site / page).read_text("utf-8") for page in (f"{name}.html", f"slides/{name}.html")
        ]
        shown = leaks.find_runs(phrases, leaks.rendered("\n".join(texts)))
        assert len(shown) > 0.5 * len(phrases), "the search would find them, were they there"
        source = jupytext.read(staged / "downloads" / f"{name}.md")
        full = PROJECT.notebook(name).node
        assert [e.label for e in myst.exercises(source)] == [e.label for e in myst.exercises(full)]
        for path in (f"{name}.ipynb", f"downloads/{name}.md", f"downloads/{name}.ipynb"):
            text = (staged / path).read_text("utf-8")
            for words in ("{solution", "Solution of exercise", "Teaching note", "{notes}"):
                assert words not in text, path


def test_the_students_source_has_all_pages_but_the_teachers(staged):
    kinds = ("*.md", "*.ipynb")
    pages, full = (
        {path.stem for kind in kinds for path in folder.glob(kind)}
        for folder in (staged, PROJECT.build / "stage")
    )
    teachers = {"guide", "guide-plans", "guide-chapters", "guide-projects"}
    assert teachers < full
    assert pages == full - teachers


@pytest.mark.slow
def test_the_students_book_has_no_solution_and_its_links_lead_somewhere(student_site):
    assert broken_links(student_site) == []
    assert leaks.told(student_site.root) == {}
    for name in CHAPTERS:
        for words in ("Solution to", "Teaching note"):
            assert words not in student_site.text(name), name
        for suffix in (".md", ".ipynb"):
            text = (student_site.root / "downloads" / f"{name}{suffix}").read_text("utf-8")
            assert "{solution" not in text
