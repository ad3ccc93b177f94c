"""Questions in the pages, and numbers to try at exercises: the data, the pages, the browser."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import momab
from momab.book import myst
from momab.book.plain import plain_markdown
from momab.book.questions import fill, read_questions, shown_number, write_out
from momab.book.single_page import RenderedPage
from momab.errors import MomabError
from momab.model import theory
from tests.browsing import ParsedSite, Visit
from tests.conftest import ROOT

NOTEBOOKS = ROOT / "notebooks"
PAGES = sorted(path.name.split(".")[0] for path in NOTEBOOKS.glob("*.questions.yml"))
QUESTIONS = {page: read_questions(NOTEBOOKS / f"{page}.questions.yml") for page in PAGES}
EVERY = [(page, name) for page, asked in QUESTIONS.items() for name in asked]
NUMBERS = {f"{p}/{n}" for p, n in EVERY if QUESTIONS[p][n].kind == "number"}


def kl(p: float, q: float) -> float:
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


#: Every number that a page asks for, worked out once more and by hand.
ANSWERS = {
    "certificates/useful-coefficient": 0.5 + math.log(40) / (12 * math.log(10)),
    "fairness/cost-of-a-specialist": 0.45 - 0.2,
    "graves-lai/above-both": 2 * kl(0.1, 0.9),
    "local-charge/what-a-pull-costs": 4 * (2 * math.log(10_000) / 800) ** 0.5,
    "lower-bound/pulls-for-proof": math.log(100_000) / kl(0.5, 0.7),
    "minimax/root-of-sixteen": 4,
    "model/gap-by-hand": min(0.7 - 0.4, 0.3 - 0.2),
    "model/sixteen-times": 16,
    "one-arm/mirrored-cost": 1 / kl(0.9, 0.5),
    "one-objective/gap-of-two-leads": min(0.9 - 0.5, 0.52 - 0.5),
    "own-data/pulls-to-certify": 800 * math.log(20_000),
    "pareto-ucb1/quarter-of-the-lead": 1 / 4,
    "price/evidence-by-hand": kl(0.5, 0.7),
    "refresher/radius-of-a-coin": (math.log(40) / 400) ** 0.5,
    "regret-theorem/main-term": 1280 * 6 * math.log(10),
    "sixty-runs/mean-of-a-bet": 9.9 + 200,
    "sixty-runs/seeing-nothing": math.exp(60 * math.log(0.99)),
    "synthetic/sum-of-gaps": 4 * 0.02 + 14 * 0.2,
    "tuning/nine-runs": math.exp(9 * math.log(0.95)),
    "width-floor/pulls-on-the-floor": 32 * 5 * math.log(10) * 25,
}


# ---- the data --------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_all_of_its_questions_once_and_its_deck_one(page: str) -> None:
    text = (NOTEBOOKS / f"{page}.md").read_text()
    placed = [found.title for found in myst.walk(text) if found.name == "question"]
    assert sorted(placed) == sorted(QUESTIONS[page])
    assert 1 <= len(placed) <= 3
    deck = NOTEBOOKS / f"{page}.slides.md"
    if deck.is_file():
        shown = re.findall(r"\bquestion-([\w-]+)", deck.read_text())
        assert shown
        assert set(shown) <= set(QUESTIONS[page])


def test_every_chapter_with_exercises_asks_questions() -> None:
    assert {path.name.split(".")[0] for path in NOTEBOOKS.glob("*.exercises.md")} <= set(PAGES)


@pytest.mark.parametrize(("page", "name"), EVERY)
def test_every_choice_has_an_explanation_of_its_own(page: str, name: str) -> None:
    filled = fill(page, name, QUESTIONS[page][name])
    assert len(set(filled.reasons)) == len(filled.reasons)
    assert all(len(reason) >= 20 for reason in filled.reasons)
    if filled.choices:
        assert len(set(filled.choices)) == len(filled.choices) == len(filled.reasons) >= 3
        assert sum(choice.right for choice in QUESTIONS[page][name].choices) == 1
    else:
        assert len(filled.reasons) == len(filled.numbers) + 1 >= 3


def test_the_right_choice_is_not_always_at_the_same_place() -> None:
    filled = [fill(page, name, QUESTIONS[page][name]) for page, name in EVERY]
    places = [it.right for it in filled if it.choices]
    assert min(places.count(n) for n in range(3)) >= len(places) / 6


def test_every_number_is_worked_out_here_once_more() -> None:
    assert set(ANSWERS) == NUMBERS


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_a_number_is_right(name: str) -> None:
    page, _, short = name.partition("/")
    assert fill(page, short, QUESTIONS[page][short]).numbers[0] == pytest.approx(ANSWERS[name])


def test_what_questions_claim_about_runs() -> None:
    """The forty coins; the photo finish is among the tests of its chapter."""
    n = np.arange(1, 401)
    coins = np.random.default_rng(1).random((2000, 400)) < 0.5
    away = np.abs(coins.cumsum(axis=1) / n - 0.5) > 1.96 * 0.5 / np.sqrt(n)
    assert 12 < 40 * away[:, 4:].any(axis=1).mean() < 23
    assert 1 < 40 * away[:, -1].mean() < 3


def test_what_questions_claim_about_prices_and_bounds() -> None:
    prices = [
        float(theory.price([[0.7, 0.7 - x], [0.7 - x, 0.7], [0.4, 0.4]]).value)
        for x in (0.1, 0.001, 1e-6)
    ]
    assert max(prices) < 1.1 * min(prices)
    few, many = (momab.synthetic(delta=0.02, m=m).means for m in (1, 12))
    assert momab.pareto.g_dagger(few) == momab.pareto.g_dagger(many) == pytest.approx(0.55)
    assert theory.sharper_bound(many, 1e6).total < theory.sharper_bound(few, 1e6).total
    two, hundred = np.full((3, 2), 0.2), np.full((3, 100), 0.2)
    for means in (two, hundred):
        means[0, 0] = 0.9
        means[1] = 0.4
    at = [theory.theorem_bound(means, 1e6).total for means in (two, hundred)]
    assert at[1] == pytest.approx(at[0], rel=1e-6)


GOOD = {
    "kind": "why",
    "ask": "Is it so?",
    "choices": [
        {"say": "Yes.", "because": "It is."},
        {"say": "No.", "because": "It is not.", "right": True},
    ],
}
NUMBER = {"kind": "number", "ask": "How many?", "number": "3", "because": "So.", "hint": "Count."}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({**GOOD, "colour": "red"}, "has the key 'colour'"),
        ({**GOOD, "kind": "riddle"}, "has a 'kind' that is not"),
        ({"kind": "why", "choices": GOOD["choices"]}, "lacks the key 'ask'"),
        ({**GOOD, "choices": GOOD["choices"][:1]}, "has 1 choices; it may have 2 to 5"),
        ({**GOOD, "choices": [GOOD["choices"][1]] * 2}, "has 2 right choices"),
        ({**GOOD, "choices": [GOOD["choices"][0]] * 2}, "has 0 right choices"),
        ({**GOOD, "ask": "One.\n\nTwo."}, "asks in more than one paragraph"),
        ({**GOOD, "ask": " "}, "has an empty text"),
        ({**GOOD, "number": "3"}, "has choices, so it may have no 'number'"),
        ({**NUMBER, "choices": GOOD["choices"]}, "is a number and has choices"),
        ({**NUMBER, "hint": ""}, "needs a 'number', a 'because' and a 'hint'"),
        ({**NUMBER, "within": 2}, "has a 'within' that is not at least 0 and below 1"),
        ({**NUMBER, "number": "1 / 0"}, "cannot be computed"),
        ({**NUMBER, "number": "'three'"}, "is not a finite number"),
        ({**NUMBER, "use": ["momab.nowhere"]}, "uses 'momab.nowhere', which there is not"),
        ({**NUMBER, "because": "{{ colour }}"}, "uses a name that no cell defines"),
        ({**NUMBER, "because": "{{ answer ** 'x' }}"}, "a field cannot be filled in"),
        ({**NUMBER, "slips": [{"number": "3.01", "because": "?"}]}, "gives the right answer"),
        ("a text", "may only hold the keys"),
    ],
)
def test_a_faulty_question_is_one_sentence(body: Any, told: str, tmp_path: Path) -> None:
    path = tmp_path / "page.questions.yml"
    path.write_text(yaml.safe_dump({"it": body}))
    with pytest.raises(MomabError) as error:
        fill("page", "it", read_questions(path)["it"])
    said = str(error.value)
    assert said.startswith("notebooks/page.questions.yml: the question 'it'")
    assert told in said
    assert said.endswith(".")
    assert "\n" not in said


def test_a_faulty_file_or_place_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "page.questions.yml"
    assert read_questions(path) == {}
    for text, told in (("- one\n", "must be a mapping"), ("a: [", "is not readable YAML")):
        path.write_text(text)
        with pytest.raises(MomabError, match=rf"^notebooks/page.questions.yml .*{told}.*\.$"):
            read_questions(path)
    path.write_text(yaml.safe_dump({"it": GOOD}))
    asked = read_questions(path)
    with pytest.raises(MomabError, match=r"asks the question 'other', but its questions are it\.$"):
        write_out(":::{question} other\n:::\n", "page", asked)
    with pytest.raises(MomabError, match=r"the question 'it' must not be in a list\.$"):
        write_out("- so\n\n- :::{question} it\n  :::\n", "page", asked)


def test_a_question_is_written_out_once_and_reads_well_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "page.questions.yml"
    path.write_text(yaml.safe_dump({"it": GOOD, "count": NUMBER}))
    text = "Before.\n\n:::{question} it\n:::\n\nAfter.\n\n:::{question} count\n:::\n"
    whole = write_out(text, "page", read_questions(path))
    assert whole.startswith("Before.\n\n:::::{question} it\n")
    assert write_out(whole, "page", {}) == whole
    assert plain_markdown(whole) == (
        "Before.\n\n> **Why?**\n>\n> Is it so?\n>\n> **A.** Yes.\n>\n> **B.** No.\n\n"
        "<details><summary>Answer</summary>\n\n**A: no.** It is.\n\n**B: right.** It is not.\n\n"
        "</details>\n\nAfter.\n\n> **Work it out**\n>\n> How many?\n\n"
        "<details><summary>Answer</summary>\n\n**3.** So.\n\n**Anything else:** Count.\n\n"
        "</details>"
    )


def test_an_answer_shows_numbers_as_the_pages_do() -> None:
    numbers = [17_683.8, 100.0, 147.78, 0.012, 1.2e-8]
    shown = [shown_number(number) for number in numbers]
    assert shown == ["17,684", "100", "147.8", "0.012", "1.2 × 10⁻⁸"]


# ---- pages -----------------------------------------------------------------------------------


def without_scripts(parsed: ParsedSite, page: str) -> None:
    """A page that asks has question, choices and folded answers before any script runs."""
    boxes = parsed.page(page).select("[data-question]")
    wanted = QUESTIONS.get(page, {})
    assert sorted(str(box["id"]) for box in boxes) == sorted(f"question-{name}" for name in wanted)
    for box in boxes:
        short = str(box["id"]).removeprefix("question-")
        question = wanted[short]
        assert len(box.select(".question-choices > li")) == len(question.choices)
        count = len(question.choices) or len(question.slips) + 2
        assert len(box.select("details .question-reason")) == count
        assert box.select_one("details")["class"] == ["question-answer", "fold"]
        assert not box.select("input, button, form")
        assert int(box["data-right"]) == fill(page, short, question).right
    assert ('src="_static/questions.js' in parsed.text(page)) == bool(boxes)


@pytest.mark.parametrize(
    "edition", ["parsed", pytest.param("student_site", marks=pytest.mark.slow)]
)
def test_pages_without_a_script_have_question_choices_and_answers(
    edition: str, request: pytest.FixtureRequest
) -> None:
    parsed: ParsedSite = request.getfixturevalue(edition)
    for page in parsed.names:
        if page in QUESTIONS or "data-question" in parsed.text(page):
            without_scripts(parsed, page)
    for page, asked in QUESTIONS.items():
        download = (parsed.root / f"downloads/{page}.ipynb").read_text()
        assert download.count("<summary>Answer</summary>") == len(asked)
        assert "{question}" not in download
        assert (parsed.root / f"downloads/{page}.md").read_text().count("{ask}") == len(asked)


# ---- in a browser; every choice of every question is tried in test_site -----------------------


@pytest.fixture
def asking(browser: Any, address: str) -> Iterator[Visit]:
    """A visitor who has answered nothing yet; nothing goes wrong on his way."""
    with Visit(browser, address) as visit:
        yield visit
        assert visit.trouble == []


def boxes_of(page: Any) -> tuple[Any, Any]:
    """A question with choices, and one with a number."""
    box = page.locator("[data-question]")
    return box.filter(has=page.locator("input[type=radio]")).first, box.filter(
        has=page.locator("input[type=text]")
    ).first


def text_of(box: Any) -> str:
    return str(box.locator(".question-status").inner_text()).strip()


def test_keys_answer_and_answers_stay_until_they_are_forgotten(asking: Visit) -> None:
    page = asking.go("model")
    box, number = boxes_of(page)
    field = number.locator("input")
    assert page.get_by_role("group", name=re.compile("Predict first|Why")).count() > 0
    box.locator("button[type=submit]").click()
    assert text_of(box) == "Choose an answer first."
    box.locator("input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert box.locator("input").nth(1).is_checked()
    said = text_of(box)
    assert re.match(r"(Right|Not quite)\. ", said)
    assert box.locator('[role="status"]').count() == 1
    for typed_in in ("", "many", "1/", "1.2.3", "<b>"):
        field.fill(typed_in)
        field.press("Enter")
        assert text_of(number).startswith("Give a number")
    field.fill("7")
    field.press("Enter")
    counted = text_of(number)
    assert counted.startswith("Not quite. ")
    page.reload()
    asking.ready()
    assert box.locator("input").nth(1).is_checked()
    assert (text_of(box), text_of(number)) == (said, counted)
    box.get_by_role("button", name="Forget my answers").click()
    assert text_of(box) == "All your answers in this book are forgotten."
    assert not box.locator("input").nth(1).is_checked()
    assert field.input_value() == ""
    assert page.evaluate("localStorage.getItem('momab-answers')") == "{}"
    page.reload()
    asking.ready()
    assert text_of(box) == ""


OURS = re.compile(r"\b(questions|momab|statements|search)\.js\b")


@pytest.mark.slow
@pytest.mark.parametrize(
    "storage",
    [
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }})",
        "localStorage.setItem('momab-answers', '[1')",
        "localStorage.setItem('momab-answers', '\"text\"')",
        "localStorage.setItem('momab-answers', '{\"__proto__\": 1, \"other\": {}}')",
        "Storage.prototype.setItem = () => { throw new Error('full'); }",
    ],
)
def test_the_page_works_whatever_storage_does(browser: Any, address: str, storage: str) -> None:
    with Visit(browser, address) as visit:
        ours: list[str] = []
        visit.page.on("pageerror", lambda e: ours.append(e.stack) if OURS.search(e.stack) else None)
        visit.context.add_init_script(storage)
        box, _ = boxes_of(visit.go("zero-gap"))
        box.locator("input").first.click()
        box.locator("button[type=submit]").click()
        assert re.match(r"(Right|Not quite)\. ", text_of(box))
        box.get_by_role("button", name="Forget my answers").click()
        assert text_of(box) == "All your answers in this book are forgotten."
        assert ours == []
        theme = re.compile(
            "error (refused|full)|.*invalid theme mode" if "throw" in storage else "$"
        )
        assert [line for line in visit.trouble if not theme.match(line)] == []


def test_pages_without_scripts_unfold_their_answers(browser: Any, address: str) -> None:
    with Visit(browser, address, java_script_enabled=False) as visit:
        visit.page.goto(f"{address}zero-gap.html")
        box = visit.page.locator("[data-question]").first
        assert box.locator("> .question-ask").is_visible()
        assert not box.locator(".question-reason").first.is_visible()
        box.locator("summary").click()
        assert box.locator(".question-reason").first.is_visible()


def test_a_single_page_asks_too(browser: Any, site: Path, tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text(RenderedPage.read(site, "zero-gap").file)
    with Visit(browser, f"{tmp_path.as_uri()}/", "one") as visit:
        box = visit.page.locator("[data-question]").first
        box.locator("summary").click()
        assert box.locator("form").is_visible()
