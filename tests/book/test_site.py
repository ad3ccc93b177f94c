"""The built site, and every page of it in a real browser: light and dark, desk and phone."""

from __future__ import annotations

import inspect
import re
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup

import momab
from momab import metrics, pareto, theory
from momab.book import pdf, plain
from momab.book.pdf import one_document
from momab.book.single_page import run_page
from tests import browsing
from tests.accessibility import violations_of_all_parts
from tests.browsing import DESK, PHONE, Visit, broken_links
from tests.conftest import PROJECT

CHAPTERS = PROJECT.pages
NOTEBOOKS = [name for name in PROJECT.names if name in CHAPTERS]
PAGES = [*CHAPTERS, "genindex", "search", "404"]
# One page of each kind for every day; all of them in the long tests.
KINDS = {"index", "zero-gap", "claims", "api", "search", "404"}
EACH = [page if page in KINDS else pytest.param(page, marks=pytest.mark.slow) for page in PAGES]
# Every choice of every question of a page, and what the page says to it.
CHECKED = "\n```{code-cell} ipython3\n" + plain.CHECK + "\n```\n"

ANSWER_ALL = """() => [...document.querySelectorAll("[data-question]")].map((box) => {
  const check = () => { box.querySelector("button[type=submit]").click();
    return [box.dataset.verdict, box.querySelector(".question-status").textContent.trim()]; };
  const radios = [...box.querySelectorAll("input[type=radio]")];
  const field = box.querySelector("input");
  const told = radios.length ? radios.map((radio) => { radio.click(); return check(); })
    : [...JSON.parse(box.dataset.numbers), -123456.7].map((x) => {
        field.value = String(x); return check(); });
  return {right: Number(box.dataset.right), told}; })"""
PAPER = """() => {
  const shown = (query) => [...document.querySelectorAll(query)].filter((e) => e.checkVisibility());
  return {
    answers: shown("details.fold:is(.solution, .teaching)").length,
    forms: shown("[data-question] form, [data-live]").length,
    asks: shown("[data-question] > .question-ask").length,
    proofs: [...document.querySelectorAll("details.proof-fold > p")]
      .filter((e) => e.getBoundingClientRect().height < 10).length,
  }; }"""
FACTS = """() => {
  const count = (query) => document.querySelectorAll(query).length;
  const all = (query, of) => [...document.querySelectorAll(query)].map(of);
  return {
    formulas: count("article .math"), typeset: count("article .math .katex-html"),
    text: document.querySelector("main").innerText,
    fonts: [...document.fonts].filter((font) => font.status === "error").length,
    boxes: count("article div.highlight"),
    copies: all("button.copy", (one) => one.getAttribute("aria-label")),
    words: all(".live-words", (one) => one.textContent),
    stages: all(".live-stage", (one) => one.innerHTML).join(),
    open: all("details.proof-fold > p", (one) => one.checkVisibility()).filter(Boolean).length,
    questions: count("[data-question]"),
    wide: all(".momab-question", (e) => e).filter((e) => e.offsetParent
      && e.scrollWidth > e.clientWidth + 1).map((e) => e.id),
    sideways: document.documentElement.scrollWidth - innerWidth,
  }; }"""


def answers_every_choice(page: Any) -> None:
    """The right choice is called right, the others are not, each with words of its own."""
    for box in page.evaluate(ANSWER_ALL):
        verdicts = [verdict for verdict, _ in box["told"]]
        words = [said for _, said in box["told"]]
        place = box["right"]
        assert verdicts == ["right" if n == place else "wrong" for n in range(len(words))]
        assert len(set(words)) == len(words)
        assert words.pop(place).startswith("Right. ")
        assert all(said.startswith("Not quite. ") for said in words)


def prints_well(page: Any, questions: int) -> None:
    """On paper proofs are open, questions are asked in words, and answers are not there."""
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(PAPER) == {"answers": 0, "forms": 0, "asks": questions, "proofs": 0}
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")


@pytest.mark.parametrize("name", EACH)
def test_a_page_works_and_fits_and_can_be_read_by_all(tour: Visit, name: str) -> None:
    """Everything that one visit can show."""
    page = tour.go(name)
    facts = page.evaluate(FACTS)
    assert facts["typeset"] >= facts["formulas"]
    assert not re.search(r"\\\(|\$\$|\\mathrm|\\Delta", facts["text"]), "unset mathematics"
    assert facts["fonts"] == facts["open"] == 0
    assert facts["copies"] == ["Copy this code"] * facts["boxes"]
    assert all(len(words) > 40 and "…" not in words for words in facts["words"])
    assert "NaN" not in facts["stages"]
    assert name == "search" or not [url for url in tour.asked if "search" in url]
    prints_well(page, facts["questions"])
    answers_every_choice(page)
    assert tour.trouble == []
    page.set_viewport_size(PHONE)
    narrow = page.evaluate(FACTS)
    assert narrow["sideways"] <= 0
    assert narrow["wide"] == []
    page.set_viewport_size(DESK)
    dark = name in KINDS or not name.startswith("api-")  # those have the colours of api-web
    assert violations_of_all_parts(page, dark) == []


def test_a_request_that_never_ends_is_a_failure(browser, address, monkeypatch):
    with Visit(browser, address) as visit:
        visit.page.route("**/never", lambda route: None)
        visit.page.add_init_script("fetch('/never')")
        monkeypatch.setattr(browsing, "PATIENCE", 300)
        with pytest.raises(AssertionError, match=r"in vain for the requests of .*404\.html"):
            visit.go("404")


def test_every_picture_says_what_it_shows(parsed):
    """A formula that is drawn has its words beside it, and is hidden from who cannot see it."""
    for name in PAGES:
        if not re.search(r"(?s)<main.*<(img|svg)\b", parsed.text(name)):
            continue
        for picture in parsed.page(name).select("main :is(img, svg):not([aria-hidden=true])"):
            said = picture.get("alt") or picture.get("aria-label") or ""
            assert len(said.split()) >= 3 + (picture.name == "svg"), (name, picture)


def test_no_identifier_is_given_twice(parsed):
    for name in parsed.names:
        assert len(parsed.anchors(name)) == len(set(parsed.anchors(name))), name


def test_every_internal_link_and_anchor_resolves(parsed):
    assert broken_links(parsed) == []


def test_nothing_is_loaded_from_elsewhere(parsed):
    for name in parsed.names:
        for tag in parsed.tags(name, "script", "link", "img", "iframe"):
            if tag[""] != "link" or tag["rel"] in ("stylesheet", "preload", "icon"):
                source = tag.get("src") or tag.get("href") or ""
                assert not source.startswith(("http:", "https:", "//")), name


def test_a_notion_shows_its_definition_and_a_proof_unfolds(tour):
    page = tour.go("certificates")
    notion = page.locator("a.notion").first
    assert len(notion.get_attribute("data-definition")) > 20
    notion.hover()
    assert len(notion.evaluate("e => getComputedStyle(e, '::after').content")) > 20
    proof = page.locator("details.proof-fold > p").first
    assert not proof.is_visible()
    page.locator("details.proof-fold > summary").first.click()
    assert proof.is_visible()


def test_the_page_for_lost_readers_works_at_any_depth(parsed):
    head = parsed.page("404").head
    base = head.find("base")
    assert base["href"].startswith("/")
    assert not base.find_all_previous(["link", "script"]), "it must come before all addresses"


def test_the_page_of_the_library_has_every_public_name(parsed):
    listed = {code.get_text() for code in parsed.page("api").select("article td:first-child code")}
    names = {f"momab.{name}" for name in momab.__all__} - {"momab.__version__"}
    modules = {"metrics": metrics, "pareto": pareto, "theory": theory}
    names -= {f"momab.{name}" for name in modules}
    for name, module in modules.items():
        functions = inspect.getmembers(module, inspect.isfunction)
        public = {key for key, f in functions if f.__module__ == module.__name__ and key[0] != "_"}
        names |= {f"momab.model.{name}.{key}" for key in public}
    assert listed == names


def test_statements_carry_the_papers_numbers(parsed):
    titles = [t.get_text() for t in parsed.page("zero-gap").select("div.proof p.admonition-title")]
    assert [title.split("(")[0].strip() for title in titles] == ["Proposition 1", "Definition 1"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_downloads_are_readable_notebooks(site, parsed, name):
    node = nbformat.read(site / "downloads" / f"{name}.ipynb", as_version=4)
    nbformat.validate(node)
    [at] = [n for n, c in enumerate(node.cells) if "parameters" in c.metadata.get("tags", [])]
    assert node.cells[at + 1].source == plain.CHECK
    prose = "\n".join(c.source for c in node.cells if c.cell_type == "markdown")
    assert not re.search(r"^[`:]{3,}\{|\{[\w:]+\}`|^\([\w-]+\)=", prose, flags=re.MULTILINE)
    source = (site / "downloads" / f"{name}.md").read_text("utf-8")
    assert source.count(CHECKED) == 1
    assert source.replace(CHECKED, "") == PROJECT.notebook(name).text
    links = {tag["href"] for tag in parsed.page(name).select("a[href^=downloads]")}
    assert {f"downloads/{name}.ipynb", f"downloads/{name}.md"} <= links
    assert all((site / link).stat().st_size for link in links)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_page_says_how_it_was_made(parsed, name):
    box = parsed.page(name).select_one("details.colophon")
    assert box is not None
    text = box.get_text()
    assert f"momab run {name}" in text
    assert "numpy" in text
    for parameter in PROJECT.notebook(name).parameters:
        assert parameter in text


@pytest.mark.slow
def test_a_run_is_one_file_that_needs_nothing_else(browser, tmp_path):
    index, *pages = run_page(PROJECT, "zero-gap", assignments=["draws=200,300"], output=tmp_path)
    assert [page.suffix for page in pages] == [".html", ".html"]
    assert all(page.with_suffix(".ipynb").is_file() for page in pages)
    assert all(page.name in index.read_text() for page in pages)
    with Visit(browser, pages[0].parent.as_uri() + "/", pages[0].stem) as visit:
        assert visit.trouble == []
        assert visit.page.locator("svg[role=img]").count() >= 2
        assert visit.page.locator(".katex-html").count() > 3
        assert "200 random instances" in visit.page.locator("main").inner_text()


def keeps_together(text: str) -> None:
    """Links of one document lead somewhere in it, and everything is open."""
    ids = re.findall(r'<[a-zA-Z][^<>]*?\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    targets = re.findall(r'<use [^<>]*href="#([^"]+)"', text)
    assert len(targets) > 50
    main = text[text.index("<main") :]
    assert {*targets, *re.findall(r'<a [^<>]*href="#([^"]+)"', main)} <= set(ids)
    assert all("open" in fold for fold in re.findall(r"<details\b[^>]*>", text))
    assert not re.search(r'class="[^"]*\b(?:solution|teaching)\b', text)


def test_two_pages_become_one_document(site):
    keeps_together(one_document(site, ["index", "zero-gap"]))
    asked = BeautifulSoup(one_document(site, ["zero-gap"], answers=True), "html.parser")
    assert asked.select("details.solution[open]")


@pytest.mark.slow
def test_the_book_prints_to_one_pdf(site, tmp_path, monkeypatch):
    printed: list[str] = []

    def remembered(*arguments: Any) -> str:
        printed.append(one_document(*arguments))
        return printed[-1]

    monkeypatch.setattr(pdf, "one_document", remembered)
    content = pdf.print_book(PROJECT, tmp_path / "book.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") >= len(CHAPTERS)
    assert not (site / "_whole.html").exists()
    keeps_together(printed[0])


def test_works_have_links():
    """Every entry of the bibliography but two, which nobody could find, leads to the work."""
    text = (PROJECT.root / "book/references.bib").read_text()
    works = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}$", text, re.MULTILINE | re.DOTALL)
    assert len(works) == text.count("\n@")
    without = {key for key, work in works if not re.search(r"^  (doi|eprint|url) = ", work, re.M)}
    assert without == {"groetzner2022multiobjective", "huang2024direct"}
    forms = {"doi": r"10\.\d{4,}/\S+", "eprint": r"\d{4}\.\d{4,5}", "url": r"https://\S+"}
    for kind, form in forms.items():
        for value in re.findall(rf"^  {kind} = \{{(.*)\}},$", text, re.M):
            assert re.fullmatch(form, value), value
