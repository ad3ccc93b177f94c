"""`momab course mark`: answers in words, marked by a person on a page of this machine."""

from __future__ import annotations

import copy
import csv
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import nbformat
import pytest

from momab import MomabError
from momab.book import myst
from momab.book.project import Project
from momab.cli.course import mark_command
from momab.course import gradebook, handout, marking
from momab.course.grading import Grade, Graded
from momab.course.mark_app import MarkServer
from momab.course.marking import Marking
from momab.course.planning import plan_steps
from momab.course.rendering import LONGEST, Prose
from momab.course.settings import Course
from momab.course.submissions import Sheet, read_submission
from momab.exercises import Part
from tests.accessibility import violations
from tests.asking import Door, ask
from tests.browsing import Tab
from tests.conftest import ROOT
from tests.course.classroom import MAIN, WIDTH, without_metadata

BOOK = Project.find(ROOT)
FIRST, SECOND = "width-floor-1", "width-floor-4"
COMMAND = [sys.executable, "-c", "from momab.cli.app import main; main()", "course", "mark"]
HOSTILE = """\
<script>window.hurt = 1</script> <img src=x onerror="window.hurt = 2"> <b onclick="x()">b</b>

[a](javascript:window.hurt=3) [b](https://evil.example/x "t") ![c](https://evil.example/c.png)

<https://evil.example/auto> $\\href{javascript:window.hurt=4}{x}$ $\\def\\a{\\a\\a}\\a$ $\\frac{1$

$\\rule{9000em}{9000em}$

# A heading | `<script>window.hurt = 5</script>`

```html
</code></pre><script>window.hurt = 6</script>
```
"""


@pytest.fixture(scope="module")
def prose() -> Iterator[Prose]:
    with closing(Prose(BOOK)) as prose:
        yield prose


def a_class(sheet: Sheet, answers: dict[str, dict[str, str]], **course: Any) -> Graded:
    """A class as grading leaves it; what is not answered is empty."""
    rules = Course(**course)
    grades = []
    for student, said in answers.items():
        for text in sheet.texts:
            words = said.get(text.label, "")
            status = "right" if text.programming else "written" if words else "empty"
            grades.append(
                Grade(
                    student,
                    MAIN,
                    text.label,
                    text.title,
                    status,
                    1.0 if text.programming else None,
                    hint="Look <again>." if text.label == WIDTH else "",
                    parts=(Part("one part", True, ""),) if text.programming else (),
                    answer="x = '<i>'" if text.programming else "",
                    words=words,
                    words_points=rules.worth_words(text),
                )
            )
    return Graded(tuple(answers), sheet.texts, tuple(grades), rules, 7)


CLASS = {
    "ada": {FIRST: "Because $W_j\\ge g_j/2$.", SECOND: "The *widest* line falls."},
    "ben": {FIRST: HOSTILE},
    "cy": {},
}


@pytest.fixture
def results(once: Any, sheet: Sheet, tmp_path: Path) -> Path:
    made = once("marked", lambda folder: write(a_class(sheet, CLASS), folder / "results"))
    return Path(shutil.copytree(made / "results", tmp_path / "results"))


def write(graded: Graded, output: Path) -> None:
    gradebook.write_gradebook(BOOK, graded, output)


def opened(results: Path) -> Marking:
    return Marking(gradebook.recorded(BOOK, results), results)


def table(results: Path) -> dict[str, dict[str, str]]:
    with (results / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


# ---- which words belong to which exercise ----------------------------------------------------


def handed_in(sheet: Sheet, tmp_path: Path, change: Any) -> Any:
    node = copy.deepcopy(handout.make_handout(BOOK, MAIN))
    change(node)
    path = tmp_path / f"ada-{MAIN}.ipynb"
    path.write_text(json.dumps(node))
    return plan_steps(read_submission(path, tmp_path, [MAIN]), sheet)


def place(node: Any, exercise: str, role: str) -> int:
    facts = {"role": role, "exercise": exercise}
    return next(n for n, c in enumerate(node.cells) if c.metadata.get("momab") == facts)


@pytest.mark.parametrize("stripped", [False, True])
def test_cells_that_a_student_added_belong_to_the_answer(sheet, tmp_path, stripped) -> None:
    def change(node: Any) -> None:
        new = nbformat.v4
        at = place(node, FIRST, "answer")
        node.cells[at].source = f"{handout.PLACEHOLDER}\n\nFirst."
        added = [new.new_markdown_cell("Second."), new.new_code_cell("print('```')")]
        node.cells[at + 1 : at + 1] = added
        at = place(node, WIDTH, "check")
        node.cells[at + 1 : at + 1] = [new.new_code_cell("helper = 1")]
        node.cells.append(new.new_markdown_cell("After everything."))
        if stripped:
            without_metadata(node)

    plan = handed_in(sheet, tmp_path, change)
    assert plan.words[FIRST] == "First.\n\nSecond.\n\n````python\nprint('```')\n````"
    assert plan.shown[WIDTH].endswith("\n\nhelper = 1")
    assert "helper" not in plan.sources[WIDTH]  # which is compared with those of others
    assert WIDTH in plan.unchanged
    assert FIRST not in plan.unchanged | plan.missing
    assert SECOND in plan.unchanged
    assert [label for label, words in plan.words.items() if words] == [FIRST, sheet.texts[-1].label]


@pytest.mark.parametrize("stripped", [False, True])
def test_an_answer_written_into_the_question_is_found(sheet, tmp_path, stripped) -> None:
    def change(node: Any) -> None:
        node.cells[place(node, FIRST, "exercise")].source += "\n\nBecause $W$\nfalls."
        del node.cells[place(node, FIRST, "answer")]
        at = place(node, WIDTH, "exercise")  # code is asked for
        node.cells[at].source += "\n\nA remark."
        if stripped:
            without_metadata(node)

    plan = handed_in(sheet, tmp_path, change)
    assert {label: words for label, words in plan.words.items() if words} == {
        FIRST: "Because $W$\nfalls."
    }
    assert FIRST not in plan.unchanged | plan.missing


def test_words_and_code_of_an_exercise_are_kept_apart(tmp_path) -> None:
    label = next(
        text.label
        for name in handout.chapters_with_exercises(BOOK)
        for text in myst.exercises(BOOK.notebook(name).node)
        if text.programming and text.words
    )
    chapter = label.rpartition("-")[0]
    node = handout.make_handout(BOOK, chapter)
    facts = {"role": "answer", "exercise": label}
    code, words = (c for c in node.cells if c.metadata.get("momab") == facts)
    code.source, words.source = "answer = 1", "Some words."
    path = tmp_path / f"ada-{chapter}.ipynb"
    path.write_text(json.dumps(node))
    plan = plan_steps(read_submission(path, tmp_path, [chapter]), Sheet.of(BOOK, chapter))
    assert plan.sources[label] == plan.shown[label] == "answer = 1"
    assert plan.words[label] == "Some words."
    assert label not in plan.unchanged


# ---- what strangers wrote ----------------------------------------------------------------------


def test_a_hostile_answer_becomes_harmless_text(prose: Prose) -> None:
    page = prose.html(HOSTILE)
    tags = set(re.findall(r"<([a-z]+\d?)", page))
    formulas = {"math", "mrow", "mi", "mspace", "mo", "mn", "semantics", "mpadded", "svg", "path"}
    assert tags - formulas <= {"p", "span", "code", "pre"}
    assert not re.search(r"<[^>]*\s(?:on\w+|href|src)\s*=", page)
    assert "&lt;script&gt;window.hurt = 1" in page
    assert "(https://evil.example/x)" in page
    assert "[a picture, c: see the notebook]" in page
    assert '<code class="unset">\\def\\a{\\a\\a}\\a</code>' in page
    assert '<code class="unset">\\frac{1</code>' in page


@pytest.mark.parametrize(
    "text", ["x" * 10**6, "[" * 10**5, "$x$ " * 10**5, "> " * 10**5, "\ud800\0"]
)
def test_a_huge_or_broken_answer_is_cut(prose: Prose, text: str) -> None:
    page = prose.html(text)
    page.encode()
    assert ("further characters are not shown" in page) == (len(text) > LONGEST)


def test_mathematics_is_set_as_in_the_book(prose: Prose) -> None:
    page = prose.html("So $g^\\dagger\\ge\\ones$:\n\n$$\nx\n$$\n\n\\begin{align}a&=b\\end{align}\n")
    assert page.count('<div class="math">') == 2
    assert page.count("<math") == 3
    assert "unset" not in page


# ---- marks ------------------------------------------------------------------------------------


def test_marks_are_kept_at_once_and_found_again(results: Path) -> None:
    found = opened(results)
    assert [(g.student, g.exercise) for g in found.answers] == [
        ("ada", FIRST),
        ("ben", FIRST),
        ("ada", SECOND),
    ]
    assert found.progress == "0 of 3 answers are marked"
    found.give(found.answers[0], 2, "Fine.")
    other = opened(results)
    other.give(other.answers[1], "1,5", "")
    found.give(found.answers[2], "", "Only a comment.")
    assert opened(results).progress == found.progress == "2 of 3 answers are marked"
    assert {key[0]: mark.points for key, mark in found.marks().items() if key[1] == FIRST} == {
        "ada": 2,
        "ben": 1.5,
    }
    found.give(found.answers[0], None, "")
    assert ("ada", FIRST) not in opened(results).marks()
    assert [path.name for path in results.glob(".*")] == []


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (4, "points are at most 3; 4 is not possible."),
        (-1, "points are at most 3; -1 is not possible."),
        ("many", "points are a number; 'many' is none."),
        ("nan", "points are a number; 'nan' is none."),
        (True, "points are a number; 'True' is none."),
        ([1], "points are a number; '[1]' is none."),
    ],
)
def test_points_that_are_not_possible_are_refused(results: Path, points: object, said: str) -> None:
    found = opened(results)
    with pytest.raises(MomabError, match=re.escape(said)):
        found.give(found.answers[0], points, "")
    assert not (results / marking.FILE).exists()


def test_an_answer_that_changed_is_to_be_marked_again(sheet: Sheet, results: Path) -> None:
    found = opened(results)
    for grade in found.answers:
        found.give(grade, 3, "")
    changed = {**CLASS, "ada": {**CLASS["ada"], FIRST: "Another answer."}}
    gradebook.write_gradebook(BOOK, a_class(sheet, changed), results)
    assert [(g.student, g.exercise) for g in opened(results).again()] == [("ada", FIRST)]
    assert table(results)["ada"]["total"] == table(results)["ada"][FIRST] == "not marked"
    gradebook.write_gradebook(BOOK, a_class(sheet, CLASS, written={"default": 2}), results)
    assert len(opened(results).again()) == 3
    assert table(results)["ada"]["out of"] == "3"


def test_points_of_words_come_from_the_course(sheet: Sheet) -> None:
    first = sheet.texts[0]
    assert Course().worth_words(first) == 3
    assert Course(written={"default": 5}).worth_words(first) == 5
    assert Course(written={"default": 5}, points={FIRST: 2}).worth_words(first) == 2
    assert Course(written={FIRST: 4}, points={FIRST: 2}).worth_words(first) == 4
    assert Course().worth_words(sheet.programming[0]) == 0


def test_marks_reach_table_and_feedback(results: Path) -> None:
    assert table(results)["ada"] | {"total": "3", "out of": "3", FIRST: ""} == table(results)["ada"]
    found = opened(results)
    found.give(found.answers[0], 2, "See $x^2$ <script>alert(1)</script>")
    graded = gradebook.write_gradebook(BOOK, found.graded, results)
    assert graded.out_of("ada") == 6
    rows = table(results)
    assert [rows[name][FIRST] for name in ("ada", "ben", "cy")] == ["2", "not marked", "0"]
    assert [rows[name]["total"] for name in ("ada", "ben", "cy")] == ["5", "not marked", "3"]
    assert rows["ada"][SECOND] == ""  # of an exercise that is not marked at all
    page = (results / "reports" / "ada.html").read_text()
    assert "<strong>5</strong> of 6 marks" in page
    assert "In words: 2 of 3" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "Look &lt;again&gt;." in page
    assert "<script" not in page
    assert "<math" in page
    assert not re.search(r"(?:src|href)=[\"']?(?!#)\w|url\((?!data:)", page)
    hostile = (results / "reports" / "ben.html").read_text()
    assert "<script" not in hostile
    assert "In words: not marked yet" in hostile
    assert "In words: 0 of 3" in (results / "reports" / "cy.html").read_text()


def test_lateness_costs_points_in_words_too(sheet: Sheet) -> None:
    from dataclasses import replace

    graded = a_class(sheet, CLASS)
    late = replace(graded, grades=tuple(replace(g, kept=0.5) for g in graded.grades))
    key = ("ada", FIRST)
    mark = marking.Mark(*key, 3, "", marking.answer_digest(CLASS["ada"][FIRST]))
    assert marking.with_marks(late, {key: mark}).total("ada") == 3 + 1.5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("not json", "is no file of marks"),
        ('{"marks": []}', "is no file of marks"),
        ('{"kind": "marks of answers in words", "marks": [{"student": "ada"}]}', "is damaged"),
        (
            '{"kind": "marks of answers in words", "marks": [{"student": "ada", "exercise": "x", '
            '"points": "two", "comment": "", "answer": ""}]}',
            "ada, x: points are a number; 'two' is none.",
        ),
        (
            '{"kind": "marks of answers in words", "marks": [{"student": "zed", "exercise": "x", '
            '"points": 2, "comment": "", "answer": ""}]}',
            "belongs to other results",
        ),
    ],
)
def test_a_foreign_file_of_marks_is_explained(results: Path, content: str, said: str) -> None:
    (results / marking.FILE).write_text(content)
    with pytest.raises(MomabError, match=said):
        opened(results)
    assert (results / marking.FILE).read_text() == content


# ---- the server ---------------------------------------------------------------------------------


@pytest.fixture
def serving(results: Path) -> Iterator[MarkServer]:
    with closing(MarkServer(BOOK, opened(results))) as serving:
        serving.server.start()
        yield serving


def test_only_our_own_page_may_mark(serving: MarkServer, results: Path) -> None:
    """Who else is refused is in the tests of the secured server."""
    server, body = serving.server, {"points": 2}
    assert ask(server, "POST", "/answers/0", body, Origin="http://evil.example").status == 403
    assert ask(server, "GET", "/", known=False).status == 403
    assert not (results / marking.FILE).exists()
    large = {"Content_Length": str(10**6)}  # refused before the body is read
    assert ask(server, "POST", "/answers/0", **large).status == 413
    assert ask(server, "POST", "/answers/0", body).status == 200
    assert opened(results).progress == "1 of 3 answers are marked"


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/answers/0", '{"points": 9}', 400, "points are at most 3; 9 is not possible."),
        ("/answers/0", '{"points": 1, "comment": 3}', 400, "a comment is a text"),
        ("/answers/0", "[]", 400, "the request is not a JSON object."),
        ("/answers/99", "{}", 404, "there is no such answer."),
        ("/_static/../pyproject.toml", "{}", 405, ""),
    ],
)
def test_odd_requests_get_one_sentence(serving, results, path, body, status, said) -> None:
    found = ask(serving.server, "POST", path, body)
    assert found.status == status
    assert said in found.text
    assert not (results / marking.FILE).exists()


def test_the_page_says_what_may_run(serving: MarkServer) -> None:
    answer = ask(serving.server, "GET", "/answers/1?by=student")
    policy = answer.headers["Content-Security-Policy"]
    assert answer.status == 200
    assert "script-src 'self'" in policy
    assert answer.text.count("<script") == 1
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert ask(serving.server, "GET", "/_static/%2e%2e/guide.md").status in (403, 404)


@pytest.fixture
def tab(browser: Any, serving: MarkServer) -> Iterator[Tab]:
    tab = Tab(browser, serving)
    yield tab
    assert tab.trouble == []
    tab.context.close()


def test_marking_by_keys(tab: Tab, serving: MarkServer, results: Path) -> None:
    page = tab.page
    page.get_by_role("link", name=FIRST).click()
    page.get_by_role("heading", name="ada").wait_for()
    assert "0 of 3 marked; this is 1 of 3 by exercise" in page.locator("header").inner_text()
    page.keyboard.press("2")
    page.get_by_text("Saved: 2 of 3.").wait_for()
    page.keyboard.press("c")
    page.keyboard.type("j is for jolly good 3")
    page.keyboard.press("Escape")
    page.keyboard.press("j")  # what was typed is sent before the page goes
    page.wait_for_url("**/answers/1*")
    assert "1 of 3 marked" in page.locator("header").inner_text()
    assert opened(results).marks()["ada", FIRST].comment == "j is for jolly good 3"
    page.keyboard.press("7")
    page.get_by_text("Not saved: there are 3 points at most.").wait_for()
    page.keyboard.press("p")
    page.keyboard.type("2.5")
    page.keyboard.press("Enter")
    page.get_by_text("Saved: 2.5 of 3.").wait_for()
    page.keyboard.press("k")
    page.wait_for_url("**/answers/0*")
    assert page.get_by_role("button", name="2", exact=True).get_attribute("aria-pressed") == "true"
    page.keyboard.press("n")
    page.wait_for_url("**/answers/2*")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    assert "next that is not marked" in dialog.inner_text()
    assert violations(page) == []
    page.get_by_label("single keys do all this").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url(tab.address)
    assert opened(results).progress == "2 of 3 answers are marked"


def test_marking_by_pointer(tab: Tab, results: Path) -> None:
    page = tab.go("answers/0?by=student")
    assert "this is 1 of 3 by student" in page.locator("header").inner_text()
    page.get_by_role("button", name="3", exact=True).click()
    page.get_by_text("Saved: 3 of 3.").wait_for()
    page.get_by_label("Comment, which the student reads").fill("Well done.")
    page.get_by_role("link", name="next →").click()
    page.wait_for_url("**/answers/2?by=student")  # ada's second
    page.get_by_label("Points", exact=True).fill("five")
    page.get_by_label("Points", exact=True).blur()
    page.get_by_text("Not saved: points are a number; 'five' is none.").wait_for()
    tab.trouble.clear()  # the browser says 400 in its console
    page.get_by_label("Points", exact=True).fill("1")
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("button", name="Write feedback and grades").click()
    said = page.get_by_text("3 feedback pages")
    said.wait_for()
    assert f"Not marked yet, though others are: ben {FIRST}." in said.inner_text()
    assert table(results)["ada"]["total"] == "7"
    assert "Well done." in (results / "reports" / "ada.html").read_text()


def test_when_the_server_is_gone_the_page_says_so(browser: Any, results: Path) -> None:
    with closing(MarkServer(BOOK, opened(results))) as serving:
        serving.server.start()
        tab = Tab(browser, serving)
        page = tab.go("answers/0")
    page.keyboard.press("1")
    page.get_by_text("Not saved: momab course mark has ended.").wait_for()
    tab.context.close()


@pytest.mark.parametrize(
    ("theme", "width"),
    [
        pytest.param("light", 1280, marks=pytest.mark.slow),
        pytest.param("dark", 1280, marks=pytest.mark.slow),
        ("dark", 375),
    ],
)
def test_pages_are_accessible_in_both_themes(browser, serving, results, theme, width) -> None:
    """And nothing of a hostile answer runs: ben's, on the second page and in his feedback."""
    size = {"width": width, "height": 800}
    tab = Tab(browser, serving, color_scheme=theme, viewport=size)
    found = serving.marking
    found.give(found.answers[0], 2, "Fine: $x^2$.")
    serving.feedback()
    for path in ("", "answers/0", "answers/1"):
        page = tab.go(path)
        assert violations(page) == [], path
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.evaluate("() => window.hurt") is None
        dark = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert (dark == "rgb(21, 25, 30)") == (theme == "dark")
    assert "window.hurt = 1" in page.locator(".mark-words").inner_text()
    assert page.locator(".mark-words").bounding_box()["width"] < width  # not 9000 em
    assert tab.trouble == []
    for name in ("ada", "ben"):
        page.goto((results / "reports" / f"{name}.html").as_uri())
        assert violations(page) == [], name
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.evaluate("() => window.hurt") is None
    assert [line for line in tab.trouble if "reports" not in line] == []
    tab.context.close()


# ---- the command --------------------------------------------------------------------------------


@pytest.mark.slow
def test_killed_or_stopped_it_goes_on_where_it_was(results: Path) -> None:
    def start() -> tuple[Any, str]:
        process = subprocess.Popen(
            [*COMMAND, str(results)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return process, process.stdout.readline()

    def mark(said: str, number: int) -> None:
        port, token = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", said).groups()
        answer = ask(Door(int(port), token), "POST", f"/answers/{number}", {"points": 1})
        assert answer.status == 200

    process, said = start()
    assert said.startswith("0 of 3 answers are marked; go on at http://127.0.0.1:")
    mark(said, 0)
    process.kill()
    process.communicate()
    process, said = start()
    assert said.startswith("1 of 3 answers are marked")
    mark(said, 2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert errors == (
        f"momab: stopped; 2 of 3 answers are marked, all kept in {results / 'marks.json'}; "
        "--feedback writes the feedback.\n"
    )
    done = subprocess.run(
        [*COMMAND, str(results), "--feedback"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == (
        f"3 feedback pages: {results / 'reports'}; the marks are in {results / 'grades.csv'}. "
        f"Not marked yet, though others are: ben {FIRST}.\n"
    )
    assert "In words: 1 of 3" in (results / "reports" / "ada.html").read_text()


@pytest.mark.parametrize("folder", ["book", "nowhere"])
def test_bad_input_is_explained(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(MomabError, match="grade the whole class first"):
        mark_command(Path(folder))


def test_results_without_words_are_explained(sheet: Sheet, tmp_path: Path) -> None:
    gradebook.write_gradebook(BOOK, a_class(sheet, {"ada": {}}), tmp_path)
    with pytest.raises(MomabError, match="have no answers in words"):
        opened(tmp_path)
