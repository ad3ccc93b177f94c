"""Slides: what is on a deck and what is not, what a browser makes of it, and paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from bs4 import Tag
from docutils import nodes
from docutils.utils import new_document
from myst_nb.sphinx_ import HideCodeCellNode

from momab.book import editions, questions
from momab.book.plain import plain_markdown
from momab.book.sphinx.slides.deck import Deck
from momab.book.sphinx.slides.directives import notes_block, slide_block, step_block
from tests.accessibility import COLOURS, violations
from tests.browsing import DESK, PHONE, ParsedSite, Visit
from tests.conftest import PROJECT

DECKS = [
    name for name in PROJECT.pages if (PROJECT.root / "notebooks" / f"{name}.slides.md").is_file()
]


def source_of(name: str) -> str:
    return (PROJECT.root / "notebooks" / f"{name}.slides.md").read_text("utf-8")


def slides_of(parsed: ParsedSite, page: str) -> list[Tag]:
    return parsed.page(f"slides/{page}").select(".slides > section")


def text_of(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


def letters(text: str) -> str:
    """A text without layout and signs, which quotes and dashes change."""
    return " ".join(re.findall(r"[a-z]+", text.lower()))


# ---- the decks of the book -------------------------------------------------------------------


def check_deck(parsed: ParsedSite, page: str) -> None:
    """Links lead somewhere, nothing comes from elsewhere, no identifier is there twice."""
    soup, html = parsed.page(f"slides/{page}"), parsed.root
    ids = [tag["id"] for tag in soup.select("[id]")]
    assert len(ids) == len(set(ids))
    assert {tag["href"][1:] for tag in soup.select("use")} <= set(ids)
    for tag in soup.select("a[href], link[href], script[src], img[src]"):
        target = str(tag.get("href") or tag.get("src"))
        if tag.name == "a" and re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (html / "slides" / path).resolve()
        assert file.is_file(), target
        if anchor:
            name = file.relative_to(html.resolve()).with_suffix("").as_posix()
            assert anchor in parsed.anchors(name), target


@pytest.mark.parametrize("name", DECKS)
def test_a_chapters_deck_is_what_its_file_says(parsed, name):
    check_deck(parsed, name)
    opening, *slides, closing = slides_of(parsed, name)
    source = source_of(name)
    titles = re.findall(r"^:::\{slide\} (.*)$", source, re.M)
    assert len(slides) == len(titles) > 2
    for slide, title in zip(slides, titles, strict=True):
        plain = re.sub(r"\$.*?\$|\{.*?\}|`", " ", title)
        assert set(letters(plain).split()) <= set(letters(text_of(slide.h2)).split())
        assert text_of(slide.select_one(".content")), title
    notes = parsed.page(f"slides/{name}").select("aside.notes")
    assert len(notes) == len(re.findall(r"^:{3,}\{notes\}", source, re.M))
    assert "{notes}" not in editions.student_text(source)
    assert parsed.page(f"slides/{name}").select(".solution, .teaching") == []
    assert closing.select_one(f"a[href='../{name}.html']")
    assert len(closing.select(".exercises li")) == len(
        parsed.page(name).select("article div.exercise")
    )
    assert text_of(opening.h1) in text_of(parsed.page(name).h1)


@pytest.mark.parametrize("name", DECKS)
def test_a_question_has_its_answer_as_the_next_step(parsed, name):
    asked = questions.read_questions(PROJECT.root / "notebooks" / f"{name}.questions.yml")
    shown = re.findall(r"\bquestion-([\w-]+)", source_of(name))
    boxes = parsed.page(f"slides/{name}").select(".momab-question")
    assert len(boxes) == len(shown) > 0
    for box, short in zip(boxes, shown, strict=True):
        filled = questions.fill(name, short, asked[short])
        assert not box.select("details, [data-question]")
        assert len(box.select(".question-choices > li")) == len(filled.choices)
        [answer] = box.select(".fragment")
        reason = letters(filled.reasons[filled.right].split("$")[0][:30])
        assert reason.rpartition(" ")[0] in letters(answer.get_text(" "))
        assert box.select_one(".question-ask") not in answer.find_all(True)


def test_what_is_said_or_shown_on_a_deck_alone_is_nowhere_else(parsed):
    """Speakers' notes are on no page, in no download and not found by the search."""
    index = letters((parsed.root / "search.json").read_text("utf-8"))
    for name in DECKS:
        said = re.findall(r"^:{3,}\{notes\}\n(.*?)^:{3,}$", source_of(name), re.M | re.S)
        assert said
        elsewhere = letters(parsed.page(name).get_text(" "))
        elsewhere += letters((parsed.root / f"downloads/{name}.md").read_text("utf-8"))
        for words in said:
            run = letters(words.split("$")[0].split("{")[0])
            if len(run.split()) >= 8:
                assert run not in index + elsewhere, name
    assert "deck" not in plain_markdown("Before.\n\n:::{slide} On the deck\n- deck\n:::\n")


def test_pages_link_to_their_deck_and_the_decks_are_listed_in_order(parsed):
    for name in parsed.names:
        assert ('href="slides/' + name + '.html"' in parsed.text(name)) == (name in DECKS)
        assert "thebe" not in parsed.text(name).partition("</head>")[0].lower()
    links = parsed.page("slides/index").select("article li a")
    assert [Path(link["href"]).stem for link in links] == DECKS
    reveal = parsed.root / "_static/reveal"
    assert sorted(path.name for path in reveal.iterdir()) == [
        "LICENSE",
        "notes.js",
        "reset.css",
        "reveal.css",
        "reveal.js",
    ]
    assert "sourceMappingURL" not in (reveal / "reveal.js").read_text()


# ---- what a deck makes of a page -------------------------------------------------------------


def paragraph(text: str) -> nodes.paragraph:
    return nodes.paragraph("", text)


def slide(title: str, *text: nodes.Node, show: str = "") -> nodes.Element:
    return slide_block("", nodes.inline("", title), *text, show=show.split())


def fragment(*text: nodes.Node, show: str = "") -> nodes.Element:
    return step_block("", *text, show=show.split())


def code(name: str, *children: nodes.Node) -> nodes.container:
    cell = nodes.container("", *children, nb_element="cell_code")
    cell["cell_metadata"] = {"name": name}
    return cell


def read(*blocks: nodes.Node) -> tuple[list[tuple[str, list[list[str]]]], list[str]]:
    """The slides of a document of one section with the texts of their steps; the complaints."""
    tree = new_document("")
    tree += nodes.section("", nodes.title("", "Top"), *blocks)
    said: list[str] = []
    found = [
        (
            "".join(node.astext() for node in slide.title),
            [[block.astext() for block in step.blocks] for step in slide.steps],
        )
        for slide in Deck(tree, said.append).slides
    ]
    return found, said


def test_a_slide_shows_blocks_by_name_and_then_its_own_text():
    lemma = nodes.admonition("", paragraph("claim"), ids=["paper-lemma-11"])
    inner = nodes.section("", nodes.title("", "Inner"), paragraph("b"), ids=["inner"])
    inner += nodes.section("", nodes.title("", "Deeper"), paragraph("c"))
    shown = slide("One", paragraph("own"), show="paper-lemma-11 cell")
    steps = [shown, fragment(paragraph("later")), slide("Two", show="inner")]
    found, said = read(paragraph("a"), lemma, code("cell", paragraph("out")), inner, *steps)
    assert found == [
        ("One", [["claim", "out", "own"], ["later"]]),
        ("Two", [["Inner", "b", "Deeper\n\nc"]]),
    ]
    assert said == []


def test_items_come_one_by_one_unless_they_shall_come_at_once():
    def items(**options):
        bullets = nodes.bullet_list("", *(nodes.list_item("", paragraph(x)) for x in "abc"))
        block = slide("One", bullets)
        block.attributes |= options
        tree = new_document("")
        tree += nodes.section("", nodes.title("", "Top"), block)
        [found] = Deck(tree, lambda _: None).slides
        [step] = found.steps
        return [item["classes"] for item in step.blocks[0].children], step.panels

    assert items() == ([[], ["fragment"], ["fragment"]], "")
    assert items(at_once=True, panels="zoom") == ([[], [], []], "zoom")


def test_a_cell_comes_before_a_section_whose_heading_reads_like_its_name():
    inner = nodes.section("", nodes.title("", "Along"), paragraph("text"), ids=["along"])
    inner += code("along", paragraph("output"))
    assert read(inner, slide("One", show="along")) == ([("One", [["output"]])], [])


def test_what_a_deck_cannot_show_is_complained_about():
    note = nodes.admonition("", slide("Two"), classes=["teaching"])
    blocks = [fragment(paragraph("b")), notes_block(""), slide("One", show="nothing"), note]
    found, said = read(paragraph("a"), *blocks)
    assert found == [("One", [[]])]
    assert said == [
        "has a fragment before its first slide; put it behind a slide",
        "has speaker notes before its first slide; put them behind a slide",
        "shows 'nothing', but nothing on the page has this name",
        "has a slide or speaker notes inside a solution or a teaching note; "
        "take them out, because a deck shows neither",
    ]


def test_what_is_inside_a_solution_is_never_shown():
    solution = nodes.admonition("", code("answer", paragraph("secret")), classes=["solution"])
    found, said = read(solution, slide("One", show="answer"))
    assert found == [("One", [[]])]
    assert said == [
        "shows 'answer', which is in a solution or a teaching note; a deck shows neither"
    ]
    box = nodes.admonition("", paragraph("b"), solution.deepcopy(), ids=["box"])
    assert read(box, slide("One", show="box")) == ([("One", [["b"]])], [])


def test_input_that_the_page_folds_is_not_on_the_deck():
    folded = HideCodeCellNode("", nodes.container("", paragraph("code")))
    found, said = read(code("cell", folded, paragraph("output")), slide("Given", show="cell"))
    assert (found, said) == ([("Given", [["output"]])], [])


# ---- in a browser ----------------------------------------------------------------------------

OUTSIDE = """() => {
  const slide = Reveal.getCurrentSlide(), found = [];
  const see = (tag) => {
    const r = tag.getBoundingClientRect();
    const out = r.left < -1 || r.top < -1 || r.right > innerWidth + 1 || r.bottom > innerHeight + 1;
    if (out || !r.width || !r.height) found.push(tag.tagName + " is outside the window");
  };
  for (const tag of slide.querySelectorAll(":scope > h1, :scope > h2, :scope > .content")) see(tag);
  const content = slide.querySelector(".content");
  if (!content) return found;
  const scrolls = getComputedStyle(content).overflowY === "auto" && content.tabIndex === 0;
  if (content.scrollHeight > content.clientHeight + 1 && !scrolls) found.push("content is cut off");
  if (content.clientHeight < 0.5 * slide.clientHeight) found.push("the title takes the slide");
  const edge = content.getBoundingClientRect().right + 1;
  for (const tag of content.querySelectorAll("pre, .momab-table-box, div.math, figure, p, li")) {
    const inside = tag.parentElement.closest("pre, .momab-table-box, div.math");
    if (!inside && tag.getBoundingClientRect().right > edge) found.push(tag.tagName + " is wide");
  }
  return found;
}"""
# The whole deck, step by step: what is outside where, and how many slides there were.
ALL_STEPS = f"""() => {{
  const outside = {OUTSIDE}, found = [], seen = new Set();
  Reveal.slide(0, 0, -1);
  for (;;) {{
    const at = Reveal.getIndices();
    seen.add(at.h);
    found.push(...outside().map((what) => `${{at.h}}/${{at.f}}: ${{what}}`));
    if (Reveal.isLastSlide() && !Reveal.availableFragments().next) break;
    Reveal.next();
  }}
  const shown = [...document.querySelectorAll("h1, h2, .content")].map((e) => e.innerText);
  const count = (query) => document.querySelectorAll(query).length;
  return {{outside: found, seen: seen.size, total: Reveal.getTotalSlides(), text: shown.join(" "),
    unset: count(".slides .math") - count(".slides .math .katex-html")}};
}}"""


def runs_through(visit: Visit) -> int:
    """Go through a whole deck; say how many slides there were."""
    visit.page.wait_for_selector("html[data-deck=ready]", state="attached")
    found = visit.page.evaluate(ALL_STEPS)
    assert found["outside"] == []
    assert found["unset"] <= 0
    assert not re.search(r"\\\(|\$\$|\\mathrm|\\Delta", found["text"]), "unset mathematics"
    assert found["seen"] == found["total"]
    assert visit.trouble == []
    return int(found["total"])


@pytest.mark.parametrize(
    "size", [DESK, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["desk", "phone"]
)
@pytest.mark.parametrize(
    "name", [DECKS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in DECKS[1:])]
)
def test_a_chapters_deck_runs_without_trouble(tour, name, size):
    tour.go(f"slides/{name}", size=size)
    assert runs_through(tour) > 3


def test_keys_go_through_a_deck_and_change_its_theme(tour):
    background = "getComputedStyle(document.body).backgroundColor"
    page = tour.go("slides/index")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("article li a").first.click()
    page.wait_for_selector("html[data-deck=ready][data-theme=light]", state="attached")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("Reveal.getIndices().h") == 1
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("html[data-theme=dark]", state="attached")
    assert page.evaluate(background) != light
    page.keyboard.press("t")
    assert page.evaluate(background) == light
    assert tour.trouble == []


# ---- panels, notes, themes and paper, on two decks of the book ---------------------------------

ZOOMED, BUILT = "many-runs", "synthetic"
MORE = "() => Reveal.availableFragments().next"


def panels(visit: Visit, name: str, kind: str) -> Any:
    """The deck of a page at its first slide whose picture comes panel by panel."""
    page = visit.go(f"slides/{name}")
    page.wait_for_selector("html[data-deck=ready]", state="attached")
    find = f"slide => slide.querySelector('[data-panels={kind}]')"
    place = page.evaluate(f"() => Reveal.getSlides().findIndex({find})")
    assert place > 0
    page.evaluate(f"Reveal.slide({place}, 0, -1)")
    return page


@pytest.mark.slow
def test_a_picture_is_enlarged_panel_by_panel(tour):
    view = "Reveal.getCurrentSlide().querySelector('figure svg').getAttribute('viewBox')"
    page = panels(tour, ZOOMED, "zoom")
    seen = [page.evaluate(view)]
    while page.evaluate(MORE):
        page.keyboard.press("ArrowRight")
        seen.append(page.evaluate(view))
    assert seen[-1] == seen[0]
    whole, *parts = [[float(x) for x in one.split()] for one in seen[:-1]]
    assert len(parts) > 1
    assert parts[0][0] < parts[1][0], "from left to right"
    assert all(box[2] < 0.6 * whole[2] for box in parts)


@pytest.mark.slow
def test_a_picture_is_built_up_panel_by_panel(tour):
    hidden = "Reveal.getCurrentSlide().querySelectorAll('svg g.fragment:not(.visible)').length"
    page = panels(tour, BUILT, "build")
    slide = page.evaluate("Reveal.getIndices().h")
    assert page.evaluate(hidden) > 0
    while page.evaluate(MORE):
        page.keyboard.press("ArrowRight")
    assert page.evaluate(hidden) == 0
    assert page.evaluate("Reveal.getIndices().h") == slide


@pytest.mark.slow
def test_a_deck_on_a_desk(tour):
    """Little text is large and much is small, the speaker has notes, both themes can be read."""
    page = tour.go(f"slides/{ZOOMED}")
    total = runs_through(tour)
    assert page.locator(".slide-number").inner_text().split() == [str(total), "/", str(total)]
    sizes = page.evaluate(
        "[...document.querySelectorAll('.content')]"
        ".map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert 18 <= min(sizes) < max(sizes) == 36
    page.evaluate("Reveal.slide(1)")
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    notes = popup.value.locator(".speaker-controls-notes")
    said = re.search(r"^:{3,}\{notes\}\n([\w ]+)", source_of(ZOOMED), re.M)[1]
    notes.get_by_text(said).wait_for()
    popup.value.close()
    assert tour.trouble == []
    for theme, rules in (("light", None), ("dark", COLOURS)):
        page.emulate_media(color_scheme=theme)
        page.wait_for_selector(f"html[data-theme={theme}]", state="attached")
        for place in range(0, total, 2):
            page.evaluate(f"Reveal.slide({place}, 0, 9)")
            found = violations(page, rules) if rules else violations(page)
            assert found == [], (theme, place)


@pytest.mark.slow
def test_in_a_small_window_an_arrow_scrolls_what_is_long(tour):
    page = tour.go(f"slides/{ZOOMED}", size={"width": 320, "height": 240})
    page.wait_for_selector("html[data-deck=ready]", state="attached")
    long = "slide => slide.querySelector('.content')?.tabIndex === 0"
    place = page.evaluate(f"() => Reveal.getSlides().findIndex({long})")
    assert place > 0
    page.evaluate(f"Reveal.slide({place}, 0, 99)")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("Reveal.getCurrentSlide().querySelector('.content').scrollTop") > 0


@pytest.mark.slow
def test_on_paper_a_slide_is_a_page_light_and_whole(browser, address):
    with Visit(browser, address, color_scheme="dark") as visit:
        page = visit.go(f"slides/{ZOOMED}", "?print-pdf")
        page.wait_for_selector("html[data-deck=ready]", state="attached")
        page.wait_for_selector(".pdf-page")
        slides = source_of(ZOOMED).count(":::{slide}") + 2  # with title and the way back
        assert page.locator(".pdf-page").count() == slides
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        cut = page.evaluate(
            "[...document.querySelectorAll('.pdf-page .content')]"
            ".filter(e => e.scrollHeight > e.clientHeight + 1).length"
        )
        assert cut == 0
        paper = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) == slides
