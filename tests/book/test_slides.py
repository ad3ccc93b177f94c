"""Slides: what is on a deck and what is not, on a tiny book and on the real one."""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from docutils import nodes
from docutils.utils import new_document
from myst_nb.sphinx_ import HideCodeCellNode

from momab.book import build as pipeline
from momab.book.pages import PageBuilder
from momab.book.pdf import serve
from momab.book.plain import plain_markdown
from momab.book.project import Project
from momab.book.sphinx.slides.deck import Deck
from momab.book.sphinx.slides.directives import slide_block, step_block
from momab.errors import BuildError
from tests import tiny
from tests.accessibility import violations
from tests.browsing import ParsedSite, Visit
from tests.conftest import PROJECT, ROOT

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
from momab.figures import show

fig = Figure(figsize=(6, 3))
fig.add_subplot().plot([1, seed, 3])
show.show_figure(fig, alt="A line that goes up and down.", caption="The line $x$.")
```

```{code-cell} ipython3
:name: product

print("printed", 6 * 7)
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
""".replace("LONG", "\n".join(f"{n}. " + "many words here " * 25 for n in range(1, 16)))
PAGE_ONLY = ("Prose that stays", "Prose between the cells", "Prose after the cells")
DECK_ONLY = ("Plan with", "terse bullet", "A long one", "many words here", "a remark below")
NOBODY = ("for the teacher alone", "the answer is")


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


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny book with a deck, built."""
    book = make(tmp_path_factory.mktemp("book"), CHAPTER, DECK)
    build(book)
    return book


def deck_of(site: Path, page: str = "other") -> BeautifulSoup:
    return ParsedSite(site).page(f"slides/{page}")


def slides_of(soup: BeautifulSoup) -> list[Tag]:
    return soup.select(".slides > section")


def text_of(tag: Tag) -> str:
    """The text of a tag; a formula is read from its MathML."""
    tag = copy.copy(tag)
    for drawn in tag.select(".katex-html"):
        drawn.decompose()
    return " ".join(tag.get_text(" ").split())


# ---- pages -----------------------------------------------------------------------------------


def test_deck_text_is_neither_on_the_page_nor_in_the_search(small):
    html = small / "_build/html"
    page = (html / "other.html").read_text()
    index = (html / "search.json").read_text()
    download = (html / "downloads/other.ipynb").read_text()
    for words in (*DECK_ONLY, "whispered"):
        assert words not in page
        assert words not in download
        assert words not in index
    assert all(words in index for words in PAGE_ONLY)
    for words in PAGE_ONLY:
        assert words in page
    assert "deck" not in plain_markdown("Before.\n\n:::{slide} On the deck\n- deck\n:::\n")


def test_pages_link_to_their_deck_and_only_they(small):
    html = small / "_build/html"
    for path in html.rglob("*.html"):
        loaded = ParsedSite(html).page(path.relative_to(html).with_suffix("").as_posix())
        assert "thebe" not in str(loaded.head).lower(), "nothing asks for live code from elsewhere"
    assert 'href="slides/other.html"' in (html / "other.html").read_text()
    assert "slides/" not in (html / "index.html").read_text()
    assert not (html / "slides/index.html").read_text().count("slides/index.html")
    listed = BeautifulSoup((html / "slides/index.html").read_text(), "html.parser")
    links = [a["href"] for a in listed.select("article li a")]
    assert [(html / "slides" / link).resolve() for link in links] == [html / "slides/other.html"]


def test_a_page_without_slides_loses_its_deck(small, tmp_path):
    book = make(tmp_path, "\nNothing to show.\n")
    assert not (build(book) / "slides").exists()


def test_a_plain_build_makes_the_same_deck(small, tmp_path):
    plain = tmp_path / "book"
    shutil.copytree(small, plain, ignore=shutil.ignore_patterns("_build"))
    config = (plain / "_config.yml").read_text()
    (plain / "_config.yml").write_text(config + "execute:\n  execute_notebooks: 'off'\n")
    html = tmp_path / "html"
    with closing(PageBuilder(plain)) as builder:
        builder.build(plain, html, strict=False)
    page = (html / "notebooks/other.html").read_text()
    assert not [words for words in DECK_ONLY if words in page]
    assert 'href="../slides/notebooks/other.html"' in page
    ours, staged = deck_of(html, "notebooks/other"), deck_of(small / "_build/html")
    titles = [text_of(h2) for h2 in staged.select("h2")]
    assert [text_of(h2) for h2 in ours.select("h2")] == titles
    for link in ours.select("a[href], link[href]"):
        path = link["href"].partition("#")[0]
        assert (html / "slides/notebooks" / path).resolve().is_file(), path


# ---- decks -----------------------------------------------------------------------------------


def test_a_deck_has_what_its_file_says_in_order(small):
    found = slides_of(deck_of(small / "_build/html"))
    titles = [text_of(slide.select_one("h1, h2")) for slide in found]
    assert titles == [
        "Other",
        "Plan with x 2",
        "The ground",
        "Code for z",
        "A heading of its own",
        "A long one",
        "Read on",
    ]
    opening, plan, ground, code, heading, long, closing = found
    assert "Tiny" in text_of(opening)
    assert "a terse bullet" in text_of(plan.select_one("li"))
    assert [item.get("class", []) for item in plan.select("li")] == [[], ["fragment"]]
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


def test_nothing_for_the_teacher_alone_is_on_a_deck(small):
    text = (small / "_build/html/slides/other.html").read_text()
    page = (small / "_build/html/other.html").read_text()
    for words in NOBODY:
        assert words in page
        assert words not in text
    for words in PAGE_ONLY:
        assert words not in text


def test_links_identifiers_and_files_of_a_deck_are_sound(small):
    html = small / "_build/html"
    check_deck(ParsedSite(html), "other")
    plan = slides_of(deck_of(html))[1]
    assert [a["href"] for a in plan.select("a")] == [
        "../other.html#paper-lemma-11",
        "../other.html#ground",
    ]
    reveal = html / "_static/reveal"
    assert sorted(path.name for path in reveal.iterdir()) == [
        "LICENSE",
        "notes.js",
        "reset.css",
        "reveal.css",
        "reveal.js",
    ]
    assert "sourceMappingURL" not in (reveal / "reveal.js").read_text()


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


def test_the_student_edition_has_the_deck_without_the_speakers_words(small):
    soup = deck_of(build(small, "student"))
    assert soup.select("aside.notes") == []
    assert len(slides_of(soup)) == 7
    assert "whispered" not in str(soup)


def test_two_builds_give_the_same_deck(small, tmp_path):
    again = tmp_path / "again"
    shutil.copytree(small, again, ignore=shutil.ignore_patterns("html", "stage*", "student"))
    build(again)
    for name in ("other", "index"):
        first, second = (book / f"_build/html/slides/{name}.html" for book in (small, again))
        assert first.read_bytes() == second.read_bytes()


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


def test_wrong_use_gets_one_sentence_that_names_the_file(tmp_path):
    with pytest.raises(BuildError) as error:
        build(make(tmp_path, "\nNothing.\n", WRONG))
    _, *complaints = str(error.value).splitlines()
    assert complaints == [
        "notebooks/other.slides.md has a fragment before its first slide; put it behind a slide.",
        "notebooks/other.slides.md has speaker notes before its first slide; "
        "put them behind a slide.",
        "notebooks/other.slides.md shows 'nowhere', but nothing on the page has this name.",
        "notebooks/other.slides.md has a slide or speaker notes inside a solution or a "
        "teaching note; take them out, because a deck shows neither.",
    ]


# ---- in a browser ----------------------------------------------------------------------------

DESK, PHONE = {"width": 1280, "height": 720}, {"width": 375, "height": 700}
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


def step_through(visit: Visit) -> int:
    """Go through a whole deck by keyboard; say how many slides there were."""
    page = visit.page
    page.wait_for_selector("html[data-deck=ready]", state="attached")
    total: int = page.evaluate("Reveal.getTotalSlides()")
    seen: set[int] = set()
    while True:
        seen.add(page.evaluate("Reveal.getIndices().h"))
        assert page.evaluate(OUTSIDE) == [], page.url
        if page.evaluate("Reveal.isLastSlide() && !Reveal.availableFragments().next"):
            break
        page.keyboard.press("ArrowRight")
    assert seen == set(range(total))
    formulas = page.locator(".slides .math").count()
    assert page.locator(".slides .math .katex-html").count() >= formulas
    raw = page.evaluate(
        "[...document.querySelectorAll('h1, h2, .content')].map(e => e.innerText).join(' ')"
    )
    assert not re.search(r"\\\(|\$\$|\\mathrm|\\Delta", raw), "unset mathematics"
    assert visit.trouble == []
    return total


@pytest.fixture(scope="module")
def small_address(small: Path) -> Iterator[str]:
    with serve(small / "_build/html") as url:
        yield url


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_a_deck_runs_from_first_to_last_slide(browser, small_address, viewport):
    with Visit(browser, small_address, "slides/other", viewport=viewport) as visit:
        assert step_through(visit) == 7
        visit.page.wait_for_url("**/slides/other.html#/6")
        assert visit.page.locator(".slide-number").inner_text().split() == ["7", "/", "7"]


PANELS = """
```{code-cell} ipython3
:tags: [remove-input]
:name: pair

from matplotlib.figure import Figure
from momab.figures import show

fig = Figure(figsize=(6, 3))
for axes in fig.subplots(1, 2):
    axes.plot([1, 2, 3])
    axes.set_title("a title")
show.show_figure(fig, alt="Two lines that rise side by side.", caption="Two lines.")
```
"""
STEPS = """
:::{slide} Enlarged
:show: pair
:panels: zoom
:::

:::{slide} Built up
:show: pair
:panels: build
:::
"""


def test_the_panels_of_a_picture_are_enlarged_or_come_one_by_one(browser, tmp_path):
    build(make(tmp_path, PANELS, STEPS))
    view = "Reveal.getCurrentSlide().querySelector('figure svg').getAttribute('viewBox')"
    hidden = "Reveal.getCurrentSlide().querySelectorAll('svg g.fragment:not(.visible)').length"
    with (
        serve(tmp_path / "_build/html") as address,
        Visit(browser, address, "slides/other", viewport=DESK) as visit,
    ):
        page = visit.page
        page.wait_for_selector("html[data-deck=ready]", state="attached")
        page.evaluate("Reveal.slide(1)")
        seen = [page.evaluate(view)]
        for _ in range(3):
            page.keyboard.press("ArrowRight")
            seen.append(page.evaluate(view))
        whole, left, right, again = seen
        assert again == whole
        boxes = [[float(x) for x in one.split()] for one in (whole, left, right)]
        assert boxes[1][0] < boxes[2][0], "from left to right"
        assert all(box[2] < 0.6 * boxes[0][2] for box in boxes[1:])
        page.keyboard.press("ArrowRight")
        assert page.evaluate(hidden) == 1
        page.keyboard.press("ArrowRight")
        assert page.evaluate(hidden) == 0
        assert page.evaluate("Reveal.getIndices().h") == 2
        assert visit.trouble == []


def test_an_overfull_slide_shrinks_no_further_than_can_be_read(browser, small_address):
    with Visit(browser, small_address, "slides/other", viewport=DESK) as visit:
        visit.page.wait_for_selector("html[data-deck=ready]", state="attached")
        sizes = visit.page.evaluate(
            "[...document.querySelectorAll('.content')]"
            ".map(e => parseFloat(getComputedStyle(e).fontSize))"
        )
        assert sizes[0] == max(sizes) == 36, "little text is enlarged"
        assert min(sizes) == sizes[4] >= 18
        visit.page.evaluate("Reveal.slide(5)")
        visit.page.keyboard.press("ArrowDown")
        assert (
            visit.page.evaluate("Reveal.getCurrentSlide().querySelector('.content').scrollTop") > 0
        )


def test_a_deck_follows_the_theme_and_its_key(browser, small_address):
    background = "getComputedStyle(document.body).backgroundColor"
    with Visit(browser, small_address, "slides/other", color_scheme="light") as visit:
        page = visit.page
        page.wait_for_selector("html[data-deck=ready][data-theme=light]", state="attached")
        light = page.evaluate(background)
        page.emulate_media(color_scheme="dark")
        page.wait_for_selector("html[data-theme=dark]", state="attached")
        assert page.evaluate(background) != light
        page.keyboard.press("t")
        assert page.evaluate(background) == light


def test_speaker_notes_bring_their_mathematics_along(browser, small_address):
    with Visit(browser, small_address, "slides/other") as visit:
        page = visit.page
        page.wait_for_selector("html[data-deck=ready]", state="attached")
        page.keyboard.press("ArrowRight")
        with page.expect_popup() as popup:
            page.keyboard.press("s")
        speaker = popup.value
        speaker.wait_for_selector(".speaker-controls-notes math")
        assert "whispered words" in speaker.locator(".speaker-controls-notes").inner_text()
        assert visit.trouble == []


@pytest.mark.slow
def test_a_deck_prints_one_slide_per_page(browser, small_address, tmp_path):
    with Visit(
        browser, small_address, "slides/other.html?print-pdf#", color_scheme="dark"
    ) as visit:
        page = visit.page
        page.wait_for_selector("html[data-deck=ready]", state="attached")
        page.wait_for_selector(".pdf-page")
        assert page.locator(".pdf-page").count() == 7
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        cut = page.evaluate(
            "[...document.querySelectorAll('.pdf-page .content')]"
            ".filter(e => e.scrollHeight > e.clientHeight + 1).length"
        )
        assert cut == 0
        paper = page.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 7


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_a_deck_is_accessible(browser, small_address, theme):
    with Visit(browser, small_address, "slides/other", color_scheme=theme) as visit:
        visit.page.wait_for_selector("html[data-deck=ready]", state="attached")
        for place in range(7):
            visit.page.evaluate(f"Reveal.slide({place}, 0, 9)")
            assert violations(visit.page) == [], place


# ---- the real book ---------------------------------------------------------------------------


DECKS = [
    name for name in PROJECT.pages if (PROJECT.root / "notebooks" / f"{name}.slides.md").is_file()
]


@pytest.mark.parametrize("name", DECKS)
def test_a_chapters_deck_is_sound(parsed, name):
    check_deck(parsed, name)
    assert parsed.page(name).find("a", href=f"slides/{name}.html")
    soup = parsed.page(f"slides/{name}")
    assert soup.select(".solution, .teaching") == []
    for slide in slides_of(soup)[1:]:
        assert text_of(slide.select_one("h2"))
        assert text_of(slide.select_one(".content")), text_of(slide.select_one("h2"))


# One deck on a desk for every day; all of them, on a phone as well, in the long tests.
@pytest.mark.parametrize(
    "viewport", [DESK, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["desk", "phone"]
)
@pytest.mark.parametrize(
    "name", [DECKS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in DECKS[1:])]
)
def test_a_chapters_deck_runs_without_trouble(browser, address, name, viewport):
    with Visit(browser, address, f"slides/{name}", viewport=viewport) as visit:
        assert step_through(visit) > 3


def test_the_decks_are_listed_in_the_order_of_the_book(browser, address):
    if not DECKS:
        pytest.skip("skipped: no chapter has slides")
    with Visit(browser, address, "slides/index", viewport=PHONE) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 375
        links = visit.page.locator("article li a")
        addresses = links.evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert [Path(link).stem for link in addresses] == DECKS
        links.first.click()
        visit.page.wait_for_selector("html[data-deck=ready]", state="attached")
        assert visit.trouble == []
