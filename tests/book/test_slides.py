"""Slides: what is on a deck and what is not, on the real book and on a tiny one."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from bs4 import Tag
from docutils import nodes
from docutils.utils import new_document
from filelock import FileLock
from myst_nb.sphinx_ import HideCodeCellNode

from momab.book import build as pipeline
from momab.book import editions, questions
from momab.book.pdf import serve
from momab.book.plain import plain_markdown
from momab.book.project import Project
from momab.book.sphinx.building import build_pages
from momab.book.sphinx.slides.deck import Deck
from momab.book.sphinx.slides.directives import slide_block, step_block
from momab.errors import BuildError
from tests import tiny
from tests.accessibility import COLOURS, violations
from tests.browsing import DESK, PHONE, ParsedSite, Visit
from tests.conftest import PROJECT, ROOT

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


def test_a_name_that_the_page_does_not_have_is_complained_about():
    found, said = read(paragraph("a"), slide("One", show="nothing"))
    assert found == [("One", [[]])]
    assert said == ["shows 'nothing', but nothing on the page has this name"]


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


# ---- a tiny book -----------------------------------------------------------------------------

CHAPTER = r"""
Prose that stays on the page.

(ground)=
## The ground

:::{prf:lemma} Floor
:label: paper-lemma-11

For all $t$,

$$
W(t)\ \ge\ \frac{g}{2}.
$$
:::

Prose between the cells.

```{code-cell} ipython3
:tags: [remove-input]
:name: line

from matplotlib.figure import Figure
from momab.chapters.figures import show

fig = Figure(figsize=(6, 3))
fig.add_subplot().plot([1, seed, 3])
show.show_figure(fig, alt="A line that goes up and down.", caption="The line $x$.")
```

```{code-cell} ipython3
:name: product

print("printed", 6 * 7)
```

```{code-cell} ipython3
:tags: [remove-input]
:name: pair

fig = Figure(figsize=(6, 3))
for axes in fig.subplots(1, 2):
    axes.plot([1, 2, 3])
    axes.set_title("a title")
show.show_figure(fig, alt="Two lines that rise side by side.", caption="Two lines.")
```

(told)=
## A heading of its own

Told in a section.

### Below it

Told after a second heading.

## After

Prose after the cells.

:::{admonition} Teaching note
:class: teaching dropdown
for the teacher alone
:::

:::{exercise} Sum of $n$
:label: other-1
:class: warm-up

Add them.
:::

:::{solution} other-1
:class: dropdown
the answer is n(n+1)/2
:::
"""
DECK = r"""
:::{slide} Plan with $x^2$
- a terse bullet, $y\ge\frac12$
- see {prf:ref}`paper-lemma-11` and {ref}`the section <ground>`
:::

:::{notes}
whispered words about $\beta_a\le 1$
:::

:::{slide} The ground
:show: paper-lemma-11
:::

:::{fragment}
:show: line
:::

:::{slide} Code for $z$
:show: product
with a remark below
:::

:::{slide} A heading of its own
:show: told
:::

:::{slide} A long one
LONG
:::

:::{slide} Enlarged
:show: pair
:panels: zoom
:::

:::{slide} Built up
:show: pair
:panels: build
:::
""".replace("LONG", "\n".join(f"{n}. " + "many words here " * 25 for n in range(1, 16)))
PAGE_ONLY = ("Prose that stays", "Prose between the cells", "Prose after the cells")
DECK_ONLY = ("Plan with", "terse bullet", "A long one", "many words here", "a remark below")
NOBODY = ("for the teacher alone", "the answer is")
TITLES = [
    *("Other", "Plan with x 2", "The ground", "Code for z", "A heading of its own"),
    *("A long one", "Enlarged", "Built up", "Read on"),
]


def make(folder: Path, chapter: str, deck: str = "") -> Path:
    """The tiny book with the real book's assets and a chapter with slides."""
    tiny.make(folder)
    config = (folder / "_config.yml").read_text()
    config = config.replace(
        "[momab.book.sphinx]", "[sphinx_proof, sphinx_exercise, momab.book.sphinx]"
    ) + (
        "    html_static_path: [book/_static]\n    html_css_files: [momab.css]\n"
        "    templates_path: [book/_templates]\n"
        "parse:\n  myst_enable_extensions: [amsmath, colon_fence, dollarmath]\n"
    )
    (folder / "_config.yml").write_text(config)
    for name in ("_static", "_templates"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name, dirs_exist_ok=True)
    source = folder / "notebooks/other.md"
    source.write_text(source.read_text() + chapter)
    if deck:
        source.with_suffix(".slides.md").write_text(deck)
    return folder


def build(book: Path, edition: str = "instructor") -> Path:
    project = Project(book, book / "momab_tiny")
    return pipeline.build(project, workers=2, quiet=True, edition=edition).site


@pytest.fixture(scope="session")
def small(of_run: Path) -> Path:
    """A tiny book with a deck, built in both editions by the first process that wants it."""
    book = of_run / "deck-book"
    with FileLock(of_run / "deck-book.lock"):
        if not (book / "_build/student").exists():
            make(book, CHAPTER, DECK)
            build(book)
            build(book, "student")
    return book


@pytest.mark.slow
def test_a_deck_has_what_its_file_says_in_order(small):
    parsed = ParsedSite(small / "_build/html")
    check_deck(parsed, "other")
    found = slides_of(parsed, "other")
    assert [text_of(slide.select_one("h1, h2")) for slide in found] == TITLES
    opening, plan, ground, code, heading, long, *_, closing = found
    assert "Tiny" in text_of(opening)
    assert "a terse bullet" in text_of(plan.select_one("li"))
    assert [item.get("class", []) for item in plan.select("li")] == [[], ["fragment"]]
    assert [a["href"] for a in plan.select("a")] == [
        "../other.html#paper-lemma-11",
        "../other.html#ground",
    ]
    assert "whispered words" in text_of(plan.select_one("aside.notes"))
    assert text_of(ground.select_one(".proof .admonition-title")) == "Lemma 11 (Floor)"
    assert len(ground.select(".part")) == 2
    assert "fragment" in ground.select(".part")[1]["class"]
    assert ground.select_one(".fragment svg[role=img]")["aria-label"].startswith("A line")
    assert ground.select_one("pre") is None, "remove-input"
    assert "6 * 7" in text_of(code.select_one(".cell_input"))
    assert "printed 42" in text_of(code.select_one(".cell_output"))
    assert text_of(code.select(".part > *")[-1]) == "with a remark below"
    assert text_of(heading.select_one(".part")) == (
        "A heading of its own Told in a section. Below it Told after a second heading."
    )
    assert len(long.select("li")) == 15
    assert closing.select_one("a[href='../other.html']")
    [exercise] = closing.select(".exercises li")
    assert text_of(exercise) == "1 Sum of n"
    assert exercise.a["href"] == "../other.html#other-1"


@pytest.mark.slow
def test_page_deck_and_student_edition_have_what_is_theirs(small):
    html = small / "_build/html"
    page = (html / "other.html").read_text()
    deck = (html / "slides/other.html").read_text()
    apart = page + (html / "downloads/other.ipynb").read_text() + (html / "search.json").read_text()
    assert not [words for words in (*DECK_ONLY, "whispered") if words in apart]
    index = json.dumps(json.loads((html / "search.json").read_text()))
    assert all(words in page and words in index and words not in deck for words in PAGE_ONLY)
    assert all(words in page and words not in deck for words in NOBODY)
    student = ParsedSite(small / "_build/student")
    assert len(slides_of(student, "other")) == len(TITLES)
    assert student.page("slides/other").select("aside.notes") == []
    assert "whispered" not in student.text("slides/other")
    assert "slides/" not in (html / "index.html").read_text()


@pytest.mark.slow
def test_a_plain_build_makes_the_same_deck(small, tmp_path):
    plain = tmp_path / "book"
    shutil.copytree(small, plain, ignore=shutil.ignore_patterns("_build"))
    config = (plain / "_config.yml").read_text()
    (plain / "_config.yml").write_text(config + "execute:\n  execute_notebooks: 'off'\n")
    html = tmp_path / "html"
    build_pages(plain, html, strict=False)
    page = (html / "notebooks/other.html").read_text()
    assert not [words for words in DECK_ONLY if words in page]
    assert 'href="../slides/notebooks/other.html"' in page
    ours = ParsedSite(html).page("slides/notebooks/other")
    assert [text_of(h2) for h2 in ours.select("h2")] == TITLES[1:]
    for link in ours.select("a[href], link[href]"):
        path = link["href"].partition("#")[0]
        assert (html / "slides/notebooks" / path).resolve().is_file(), path


WRONG = """
:::{fragment}
Too early.
:::

:::{notes}
Too early.
:::

:::{slide} One
:show: nowhere
:::

::::{admonition} Teaching note
:class: teaching

:::{slide} Two
- two
:::
::::
"""


@pytest.mark.slow
def test_decks_are_made_again_refused_and_taken_away(small, tmp_path):
    """Two builds give the same deck; wrong use is a sentence; a page without slides has none."""
    again = tmp_path / "again"
    shutil.copytree(small, again, ignore=shutil.ignore_patterns("html", "stage*", "student"))
    build(again)
    for name in ("other", "index"):
        first, second = (book / f"_build/html/slides/{name}.html" for book in (small, again))
        assert first.read_bytes() == second.read_bytes()
    (again / "notebooks/other.slides.md").write_text(WRONG)
    with pytest.raises(BuildError) as error:
        build(again)
    _, *complaints = str(error.value).splitlines()
    assert complaints == [
        "notebooks/other.slides.md has a fragment before its first slide; put it behind a slide.",
        "notebooks/other.slides.md has speaker notes before its first slide; "
        "put them behind a slide.",
        "notebooks/other.slides.md shows 'nowhere', but nothing on the page has this name.",
        "notebooks/other.slides.md has a slide or speaker notes inside a solution or a "
        "teaching note; take them out, because a deck shows neither.",
    ]
    (again / "notebooks/other.slides.md").unlink()
    assert not (build(again) / "slides").exists()


@pytest.mark.slow
def test_a_deck_on_a_desk(browser, small):
    """Little text is large and much is small, panels come one by one, the speaker has notes."""
    with serve(small / "_build/html") as address, Visit(browser, address, "slides/other") as visit:
        page = visit.page
        assert runs_through(visit) == len(TITLES)
        page.wait_for_url("**/slides/other.html#/8")
        assert page.locator(".slide-number").inner_text().split() == ["9", "/", "9"]
        sizes = page.evaluate(
            "[...document.querySelectorAll('.content')]"
            ".map(e => parseFloat(getComputedStyle(e).fontSize))"
        )
        assert sizes[0] == max(sizes) == 36, "little text is enlarged"
        assert min(sizes) == sizes[4] >= 18
        page.evaluate("Reveal.slide(5, 0, 99)")
        page.keyboard.press("ArrowDown")
        assert page.evaluate("Reveal.getCurrentSlide().querySelector('.content').scrollTop") > 0
        panels_come_one_by_one(page)
        page.evaluate("Reveal.slide(1)")
        with page.expect_popup() as popup:
            page.keyboard.press("s")
        popup.value.wait_for_selector(".speaker-controls-notes math")
        notes = popup.value.locator(".speaker-controls-notes").inner_text()
        assert "whispered words" in notes
        popup.value.close()
        assert visit.trouble == []
        for theme, rules in (("light", None), ("dark", COLOURS)):
            page.emulate_media(color_scheme=theme)
            page.wait_for_selector(f"html[data-theme={theme}]", state="attached")
            for place in range(len(TITLES)):
                page.evaluate(f"Reveal.slide({place}, 0, 9)")
                found = violations(page, rules) if rules else violations(page)
                assert found == [], (theme, place)


def panels_come_one_by_one(page):
    """A picture of two panels is enlarged panel by panel on one slide, and built up on the next."""
    view = "Reveal.getCurrentSlide().querySelector('figure svg').getAttribute('viewBox')"
    hidden = "Reveal.getCurrentSlide().querySelectorAll('svg g.fragment:not(.visible)').length"
    page.evaluate("Reveal.slide(6, 0, -1)")
    seen = [page.evaluate(view)]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        seen.append(page.evaluate(view))
    whole, left, right, again = seen
    assert again == whole
    boxes = [[float(x) for x in one.split()] for one in (whole, left, right)]
    assert boxes[1][0] < boxes[2][0], "from left to right"
    assert all(box[2] < 0.6 * boxes[0][2] for box in boxes[1:])
    page.evaluate("Reveal.slide(7, 0, -1)")
    assert page.evaluate(hidden) == 1
    page.keyboard.press("ArrowRight")
    assert page.evaluate(hidden) == 0
    assert page.evaluate("Reveal.getIndices().h") == 7


@pytest.mark.slow
def test_a_deck_on_a_phone_and_on_paper(browser, small):
    """On paper a slide is a page, light, and nothing of it is cut off."""
    with (
        serve(small / "_build/html") as address,
        Visit(browser, address, color_scheme="dark") as visit,
    ):
        visit.go("slides/other", size=PHONE)
        assert runs_through(visit) == len(TITLES)
        page = visit.go("slides/other", "?print-pdf")
        page.wait_for_selector("html[data-deck=ready]", state="attached")
        page.wait_for_selector(".pdf-page")
        assert page.locator(".pdf-page").count() == len(TITLES)
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        cut = page.evaluate(
            "[...document.querySelectorAll('.pdf-page .content')]"
            ".filter(e => e.scrollHeight > e.clientHeight + 1).length"
        )
        assert cut == 0
        paper = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) == len(TITLES)
