"""The teacher's walk: from an empty folder to feedback for every student, as a teacher types it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from momab.book.project import Project
from momab.course import handout
from tests.accessibility import violations
from tests.browsing import PATIENCE
from tests.conftest import ROOT
from tests.course import classroom
from tests.course.classroom import MAIN, WIDTH
from tests.course.test_grading import isolated
from tests.course.test_mark import table

MOMAB = [sys.executable, "-c", "from momab.cli.app import main; main()"]
WORDS = {
    "ada": "(a) Fix an objective $j$. At a *non-certifying* round\n\n$$\nW_j\\ge\\tfrac12 g_j.\n$$",
    "ben": "The **widest** pair is sampled. <script>document.title = 'hurt'</script>",
}
CODE = {"ben": {WIDTH: classroom.width("return 1")}}
COURSE = "seed: 7\npoints: {width-floor-2: 2}\nwritten: {default: 3, width-floor-4: 5}\n"


def momab(*arguments: object) -> str:
    done = subprocess.run(
        [*MOMAB, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def fill_in(template: Path, folder: Path) -> None:
    """What students do with the handout at home."""
    solved = classroom.solutions(Project.find(ROOT), MAIN)
    for student, words in WORDS.items():
        node = json.loads(template.read_text())
        for cell in node["cells"]:
            facts = cell["metadata"]["momab"]
            if facts["role"] != "answer":
                continue
            if cell["cell_type"] == "code":
                label = facts["exercise"]
                cell["source"] = CODE.get(student, {}).get(label, solved[label])
            elif facts["exercise"] in ("width-floor-1", "width-floor-4"):
                cell["source"] = f"{handout.PLACEHOLDER}\n\n{words}"
        (folder / student).mkdir(parents=True)
        (folder / student / template.name).write_text(json.dumps(node))


def look(page: Any, name: str) -> None:
    """Keep a picture, if the environment says where."""
    if place := os.environ.get("MOMAB_WALK_SHOTS"):
        page.screenshot(path=Path(place) / f"{name}.png", full_page=True)


@isolated
@pytest.mark.slow
def test_from_an_empty_folder_to_feedback(tmp_path: Path, browser: Any) -> None:
    # 1. a handout
    assert (
        momab("course", "handout", MAIN, "-o", tmp_path / "week3")
        == f"{tmp_path}/week3/{MAIN}.ipynb\n"
    )

    # 2. what comes back, and the rules
    fill_in(tmp_path / "week3" / f"{MAIN}.ipynb", tmp_path / "returned")
    (tmp_path / "course.yml").write_text(COURSE)

    # 3. the programs are graded
    results = tmp_path / "results"
    said = momab(
        "course", "grade", tmp_path / "returned", "-o", results, "--course", tmp_path / "course.yml"
    )
    first, seed, last = said.splitlines()
    assert first.startswith("isolation: bubblewrap ")
    assert seed == "seed: 7"
    assert last == f"2 students, median 3 of 4 marks: {results / 'grades.csv'}"
    assert table(results)["ben"]["width-floor-1"] == ""

    # 4. the words are marked, by keys
    process = subprocess.Popen(
        [*MOMAB, "course", "mark", str(results)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = process.stdout.readline()
    found = re.fullmatch(
        r"0 of 4 answers are marked; go on at (http://127\.0\.0\.1:\d+/\?token=\S+) "
        r"\(Ctrl-C ends it\)\n",
        said,
    )
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(found[1])
    page.get_by_role("link", name="width-floor-1").click()
    for number, key in enumerate("3154"):  # ada and ben, first exercise and second
        page.wait_for_url(f"**/answers/{number}*")
        page.keyboard.press(key)
        page.get_by_text(f"Saved: {key} of {'3' if number < 2 else '5'}.").wait_for()
        assert "hurt" not in page.title()
        page.keyboard.press("c")
        page.keyboard.type(f"Comment {number}: $x_{number}$.")
        page.keyboard.press("Escape")
        if number in (0, 1):
            look(page, f"mark-{number}")
        page.keyboard.press("j" if number < 3 else "o")
    page.get_by_role("heading", name="Marking answers in words").wait_for()
    page.get_by_text("4 of 4 marked").wait_for()
    assert violations(page) == []
    look(page, "overview")
    page.get_by_role("button", name="Write feedback and grades").click()
    page.get_by_text("2 feedback pages").wait_for()
    assert trouble == []

    # 5. Ctrl-C
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=300)
    assert (rest, process.returncode) == ("", 130)
    kept = f"4 of 4 answers are marked, all kept in {results / 'marks.json'}"
    assert errors == f"momab: stopped; {kept}; --feedback writes the feedback.\n"

    # 6. the table, and a page for everybody
    rows = table(results)
    assert {name: row["total"] for name, row in rows.items()} == {"ada": "12", "ben": "7"}
    assert {row["out of"] for row in rows.values()} == {"12"}
    assert (rows["ben"]["width-floor-1"], rows["ben"]["width-floor-4"]) == ("1", "4")
    said = momab("course", "mark", results, "--feedback")
    where = f"{results / 'reports'}; the marks are in {results / 'grades.csv'}."
    assert said == f"2 feedback pages: {where}\n"
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 375)):
        tab = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
        tab.goto((results / "reports" / "ben.html").as_uri())
        text = tab.locator("main").inner_text()
        assert "7 of 12 marks" in text
        assert "In words: 1 of 3" in text
        assert "Comment 1:" in text
        assert "wrong: it runs, but something is not right yet" in text
        assert violations(tab) == []
        look(tab, f"feedback-{scheme}-{width}")
        tab.close()
    page.close()

    # 7. a regrade keeps what was marked
    momab(
        "course", "grade", tmp_path / "returned", "-o", results,
        "--course", tmp_path / "course.yml",
        "--student", "ben",
    )  # fmt: skip
    assert table(results) == rows
