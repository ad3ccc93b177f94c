"""The teacher's guide, its tables of exercises, and the refresher."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest
import typer
import yaml

from momab.book import myst
from momab.book.parameters import read_assignments, resolve
from momab.book.project import Project
from momab.book.sphinx import exercise_table
from momab.cli import specs
from momab.cli.app import app
from momab.engine import policies
from momab.errors import MomabError
from tests.conftest import ROOT

PROJECT = Project(ROOT)
PAGES = {
    name: (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("guide", "guide-plans", "guide-chapters", "guide-projects")
}
GUIDE = "\n".join(PAGES.values())
CHAPTERS = [
    *("model", "zero-gap", "one-objective"),
    *("algorithm", "confidence-event", "certificates", "local-charge"),
    *("width-floor", "regret-theorem", "lower-bound", "price", "graves-lai", "pareto-ucb1"),
    *("limit", "every-instance", "minimax", "one-arm"),
    *("synthetic", "real-data", "sixty-runs", "tuning", "fairness", "own-data"),
]


# ---- tables of exercises -------------------------------------------------------------------

PAGE = """# A page

:::{exercise} First | one
:label: tiny-page-1
:class: warm-up programming breaks-hypothesis

Text with a `:::` in it.

```python
:::{exercise} not an exercise
```
:::

:::{solution} tiny-page-1
:class: dropdown
No.
:::

:::{exercise} Second
:label: tiny-page-2
:class: research
Text.
:::
"""
WARM_UP = "[warm-up]{.exercise-badge .warm-up}"
RESEARCH = "[research]{.exercise-badge .research}"
WRITTEN = "[written]{.exercise-badge .written}"
BROKEN = (
    "[programming]{.exercise-badge .programming} "
    "[breaks a hypothesis]{.exercise-badge .breaks-hypothesis}"
)


TINY = {"tiny-page": myst.exercises_in(PAGE)}


def test_a_table_lists_the_exercises_of_a_chapter_with_links_and_badges():
    assert exercise_table.exercise_table(TINY, "tiny-page").splitlines() == [
        "| Exercise | Level | Kind |",
        "| --- | --- | --- |",
        rf"| {{ref}}`1. First \| one <tiny-page-1>` | {WARM_UP} | {BROKEN} |",
        f"| {{ref}}`2. Second <tiny-page-2>` | {RESEARCH} | {WRITTEN} |",
    ]


def test_references_are_written_out_with_chapter_number_and_title():
    assert exercise_table.full_titles(TINY) == {
        "tiny-page-1": "tiny-page 1, First | one",
        "tiny-page-2": "tiny-page 2, Second",
    }


def test_an_unknown_chapter_is_refused():
    with pytest.raises(MomabError, match=r"'tiny-pge'.*there are tiny-page"):
        exercise_table.exercise_table(TINY, "tiny-pge")


def test_the_guide_lists_every_exercise_of_the_book_once(parsed):
    guide = parsed.page("guide-chapters")
    chapters = exercise_table.read_chapters(ROOT)
    assert sorted(chapters) == sorted(["refresher", *CHAPTERS])
    linked = Counter(
        link["href"].partition("#")[2]
        for row in guide.select("table tr")
        if row.select_one(".exercise-badge")
        for link in row.select("a")
    )
    for exercises in chapters.values():
        for exercise in exercises:
            assert linked[exercise.label] == 1, exercise.label


def test_the_guide_names_the_exercises_that_it_refers_to(parsed):
    named = exercise_table.full_titles(exercise_table.read_chapters(ROOT))
    used = set(re.findall(r"\{ref\}`([\w-]+)`", GUIDE)) & named.keys()
    assert used
    texts = [
        " ".join(link.get_text().split())
        for page in PAGES
        for link in parsed.page(page).select("p a, li a, dd a")
    ]
    for label in used:
        assert " ".join(named[label].split()) in texts or "$" in named[label], label


# ---- the guide -----------------------------------------------------------------------------


def test_there_is_a_block_for_every_chapter_in_the_order_of_the_book():
    assert [name for name in PROJECT.pages if name in CHAPTERS] == CHAPTERS
    text = PAGES["guide-chapters"]
    blocks = re.findall(r"^\(guide-([\w-]+)\)=\n## ", text, flags=re.MULTILINE)
    assert blocks == ["refresher", *CHAPTERS]


@pytest.mark.parametrize("name", ["refresher", *CHAPTERS])
def test_a_block_has_the_same_parts_as_all_others(name):
    [block] = re.findall(
        rf"^\(guide-{name}\)=\n## (.*?)^```\{{exercise-table\}} {name}$", GUIDE, flags=re.M | re.S
    )
    parts = re.findall(r"^(\w[\w ]*)\n((?:: .*\n(?:  .*\n)*)+)", block, flags=re.MULTILINE)
    assert [part for part, _ in parts] == [
        "Goals",
        "Builds on",
        "Time",
        "Misconceptions",
        "Discuss",
    ]
    text = dict(parts)
    assert 2 <= text["Goals"].count(".") <= 5
    assert f"{{ref}}`{name}`" in text["Builds on"]
    assert f'<a href="slides/{name}.html">slides</a>' in text["Builds on"]
    minutes = re.match(r": Lecture (\d+) min, exercises (\d+) min", text["Time"])
    assert minutes
    noted = re.findall(r"\*Goal \((\d+) minutes\)", (ROOT / "notebooks" / f"{name}.md").read_text())
    assert sum(map(int, noted)) <= int(minutes[1]), "the teaching notes of the page take longer"
    assert text["Misconceptions"].count("\n: *") + 1 >= 2
    assert len(re.findall(r"^: .*\?", text["Discuss"], flags=re.MULTILINE)) in (2, 3)


def plans() -> Iterator[list[str]]:
    for table in re.findall(r"^\| Minutes .*\n\|[ -|]+\n((?:\|.*\n)+)", GUIDE, flags=re.MULTILINE):
        yield [line.split("|")[1].strip() for line in table.splitlines()]


def test_the_blocks_of_a_lecture_follow_each_other_and_fill_it():
    lectures = list(plans())
    assert len(lectures) == 2 + 5
    for lecture in lectures:
        blocks = [tuple(map(int, part.split("–"))) for part in lecture if part != "home"]
        assert [start for start, _ in blocks] == [0, *(end for _, end in blocks[:-1])]
        assert blocks[-1][1] == 90


def test_the_plan_for_a_term_has_every_chapter_once_and_adds_its_minutes_up():
    term = GUIDE.split("## A term\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \| (.*?) \| (\d*) ?\| (\d*) ?\|", term, flags=re.MULTILINE)
    assert [int(week) for week, *_ in rows] == list(range(1, 15))
    pattern = r"^\(guide-([\w-]+)\)=\n## .*?^: Lecture (\d+) min, exercises (\d+) min"
    blocks = re.findall(pattern, PAGES["guide-chapters"], flags=re.MULTILINE | re.DOTALL)
    minutes = {name: (int(lecture), int(exercises)) for name, lecture, exercises in blocks}
    taught = []
    for _, chapters, lecture, exercises in rows[:12]:
        names = re.findall(r"\{ref\}`([\w-]+)`", chapters)
        taught += names
        assert int(lecture) == sum(minutes[name][0] for name in names) <= 90
        assert int(exercises) == sum(minutes[name][1] for name in names)
    assert sorted(taught) == sorted(["refresher", *CHAPTERS])


def test_five_lectures_set_exercises_of_their_own_chapters_only():
    plan = GUIDE.split("## Five lectures\n")[1].split("\n## ")[0]
    named = set(re.findall(r"\{ref\}`([\w-]+)`", plan))
    chapters = named & {"refresher", *CHAPTERS}
    exercises = {name for name in named if re.search(r"-\d+$", name) and "guide" not in name}
    assert len(exercises) > 20
    assert {re.sub(r"-\d+$", "", name) for name in exercises} <= chapters


def commands() -> list[str]:
    found = re.findall(r"`(momab [^`]+)`", GUIDE)
    found += re.findall(r"^(momab [^#\n]+)", GUIDE, flags=re.MULTILINE)
    return sorted({" ".join(command.split()) for command in found} - {"momab course grade"})


def test_there_are_commands_in_every_part():
    assert len(commands()) > 25


@pytest.mark.parametrize("command", commands())
def test_commands_are_accepted(command):
    """Names, options and values are right; running them all would take half an hour."""
    _, name, *words = shlex.split(command)
    known = typer.main.get_command(app).commands[name]
    if isinstance(known, typer.core.TyperGroup):
        known = known.commands[words.pop(0)]
    options = {option for parameter in known.params for option in parameter.opts}
    assert {word for word in words if re.match(r"--?[A-Za-z]", word)} <= options
    if name == "run":
        given = [value for flag, value in pairwise(words) if flag == "-p"]
        assert len(words) == 1 + 2 * len(given)
        parameters = {words[0]: PROJECT.notebook(words[0]).parameters}
        for each in expanded(given):
            resolve(parameters, [read_assignments(each)])
    elif name == "simulate":
        instance = specs.instance(words[0])
        chosen = [value for flag, value in pairwise(words) if flag == "--policy"]
        assert instance.K > 1
        assert all(isinstance(specs.policy(policy), policies.Policy) for policy in chosen)


def expanded(given: list[str]) -> list[list[str]]:
    """One list of assignments per page that `momab run` makes from lists of values."""
    lists: list[list[str]] = [[]]
    for assignment in given:
        key, _, value = assignment.partition("=")
        values = [value] if value.startswith("[") else value.split(",")
        lists = [[*old, f"{key}={new}"] for old in lists for new in values]
    return lists


def test_projects_have_their_parts_and_name_entries_of_the_ledger():
    claims = yaml.safe_load((ROOT / "book" / "claims.yml").read_text(encoding="utf-8"))
    entries = {
        str(entry["number"])
        if entry["kind"] in ("text", "ours")
        else f"{entry['kind'].title()} {entry['number']}"
        for entry in claims
        if entry["kind"] != "background"
    }
    projects = PAGES["guide-projects"].split("\n## ")[1:]
    assert 6 <= len(projects) <= 10
    for project in projects:
        parts = re.findall(r"^(\w[\w ]*)\n: ", project, flags=re.MULTILINE)
        assert parts == ["Size", "Question", "First step", "A result"]
        lists = re.findall(r"(?:ledger|referee's page): ([^.;]+)[.;]", project)
        assert lists
        assert {entry for named in lists for entry in named.split(", ")} <= entries
        assert "`momab " in project
        assert re.search(r"\{ref\}`", project)
