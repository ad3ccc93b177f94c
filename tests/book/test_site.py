"""The built site in a real browser: every page, light and dark, desk and phone.

The site is the one `momab book` builds, made here if it is not there yet (or not current); what
is unchanged comes from the cache.  Without Chromium the browser tests are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup

from momab.book.pdf import find_chromium, one_document, print_book
from tests.accessibility import Remembered, violations
from tests.browsing import Visit, broken_links
from tests.conftest import PROJECT

CHAPTERS = PROJECT.pages
NOTEBOOKS = [name for name in PROJECT.names if name in CHAPTERS]
PAGES = [*CHAPTERS, "genindex", "search", "404"]


# One page of each kind for every day; all of them in the long tests.
KINDS = {"index", "algorithm", "claims", "api-engine", "search", "404"}
EACH = [page if page in KINDS else pytest.param(page, marks=pytest.mark.slow) for page in PAGES]


@pytest.fixture(scope="module", params=EACH)
def visit(request: Any, browser: Any, address: str) -> Iterator[Visit]:
    """Each page, opened once for all the tests below."""
    with Visit(browser, address, request.param) as visit:
        yield visit


def test_a_page_loads_without_trouble_and_sets_its_mathematics(visit):
    assert visit.trouble == []
    formulas = visit.page.locator("article .math").count()
    typeset = visit.page.locator("article .math .katex-html").count()
    assert typeset >= formulas
    text = visit.page.locator("main").inner_text()
    assert not re.search(r"\\\(|\$\$|\\mathrm|\\Delta", text), "unset mathematics"


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_a_page_is_accessible(visit, site, theme):
    before = Remembered(site, visit.name, theme)
    if before:
        return
    visit.page.emulate_media(color_scheme=theme)
    visit.page.wait_for_selector(f"html[data-theme={theme}]", state="attached")
    visit.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert violations(visit.page) == []
    before.keep()


def test_a_page_fits_a_phone(visit):
    visit.page.set_viewport_size({"width": 375, "height": 800})
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 375


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_says_what_it_shows(parsed, page):
    soup = parsed.page(page)
    for image in soup.select("main img"):
        assert len(image.get("alt", "").split()) >= 3, image.get("src")
    for drawing in soup.select("main svg"):
        if drawing.find_parent(attrs={"aria-hidden": "true"}):  # part of a formula
            continue
        label = drawing.get("aria-label", "")
        assert drawing.get("aria-hidden") == "true" or len(label.split()) >= 4


def test_every_internal_link_and_anchor_resolves(parsed):
    assert broken_links(parsed) == []


def test_nothing_is_loaded_from_elsewhere(parsed):
    for name in parsed.names:
        for tag in parsed.page(name).select(
            "script[src], link[rel=stylesheet], link[rel=preload], img[src], iframe[src]"
        ):
            assert not (tag.get("src") or tag.get("href")).startswith(("http:", "https:", "//"))


def test_answers_are_not_printed(browser, address):
    with Visit(browser, address, "zero-gap") as visit:
        answers = visit.page.locator("details.fold:is(.solution, .teaching)")
        assert answers.count() > 2
        visit.page.emulate_media(media="print")
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert not any(answer.is_visible() for answer in answers.all())


def test_every_copy_button_has_a_name(browser, address):
    with Visit(browser, address, "using") as visit:
        boxes = visit.page.locator("article div.highlight").count()
        names = visit.page.locator("button.copy").evaluate_all(
            "all => all.map(one => one.getAttribute('aria-label'))"
        )
        assert names == ["Copy this code"] * boxes
        assert boxes


def test_proofs_fold_and_are_open_in_print(browser, address):
    with Visit(browser, address, "certificates") as visit:
        proof = visit.page.locator("details.proof-fold > p").first
        height = "e => e.getBoundingClientRect().height"
        assert not proof.is_visible()
        visit.page.emulate_media(media="print")
        assert proof.evaluate(height) > 10
        visit.page.emulate_media(media="screen")
        visit.page.locator("details.proof-fold > summary").first.click()
        assert proof.is_visible()


def test_notions_show_their_definition(browser, address):
    with Visit(browser, address, "model") as visit:
        link = visit.page.locator("a.notion").first
        assert len(link.get_attribute("data-definition")) > 20
        link.hover()
        shown = link.evaluate("e => getComputedStyle(e, '::after').content")
        assert len(shown) > 20


def test_no_identifier_is_given_twice(parsed):
    for name in parsed.names:
        ids = [tag["id"] for tag in parsed.page(name).select("main [id]")]
        assert len(ids) == len(set(ids)), name


def test_the_page_for_lost_readers_works_at_any_depth(parsed):
    head = parsed.page("404").head
    base = head.find("base")
    assert base["href"].startswith("/")
    assert not base.find_all_previous(["link", "script"]), "it must come before all addresses"


def test_every_package_has_a_page_with_its_public_modules(parsed):
    packages = {path.parent.name for path in PROJECT.library.glob("*/__init__.py")}
    for name in packages - {"_util"}:
        page = parsed.page(f"api-{name}")
        assert page.h1.get_text().startswith(f"momab.{name}")
        modules = {p.stem for p in (PROJECT.library / name).glob("*.py") if p.stem[0] != "_"}
        modules = {"core"} if name == "exercises" else modules  # the others know the answers
        headings = {heading.get_text().rstrip("#¶") for heading in page.select("h2")}
        assert {f"momab.{name}.{module}" for module in modules} <= headings
        assert not [heading for heading in headings if "._" in heading]


def test_statements_carry_the_papers_numbers(parsed):
    titles = [t.get_text() for t in parsed.page("zero-gap").select("div.proof p.admonition-title")]
    assert [title.split("(")[0].strip() for title in titles] == ["Proposition 1", "Definition 1"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_downloads_are_readable_notebooks(site, parsed, name):
    node = nbformat.read(site / "downloads" / f"{name}.ipynb", as_version=4)
    nbformat.validate(node)
    tagged = [c for c in node.cells if "parameters" in c.metadata.get("tags", [])]
    assert len(tagged) == 1
    prose = "\n".join(c.source for c in node.cells if c.cell_type == "markdown")
    assert not re.search(r"^[`:]{3,}\{|\{[\w:]+\}`|^\([\w-]+\)=", prose, flags=re.MULTILINE)
    source = PROJECT.notebook(name).text
    assert (site / "downloads" / f"{name}.md").read_text("utf-8") == source
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


def test_a_run_is_one_file_that_needs_nothing_else(browser, tmp_path):
    from momab.book.single_page import run_page

    index, *pages = run_page(PROJECT, "zero-gap", assignments=["draws=200,300"], output=tmp_path)
    assert [page.suffix for page in pages] == [".html", ".html"]
    assert all(page.with_suffix(".ipynb").is_file() for page in pages)
    assert all(page.name in index.read_text() for page in pages)
    with Visit(browser, pages[0].parent.as_uri() + "/", pages[0].stem) as visit:
        assert visit.trouble == []
        assert visit.page.locator("svg[role=img]").count() >= 2
        assert visit.page.locator(".katex-html").count() > 3
        assert "200 random instances" in visit.page.locator("main").inner_text()


FIRST = CHAPTERS[:4]


@pytest.mark.parametrize("pages", [FIRST, pytest.param(CHAPTERS, marks=pytest.mark.slow)])
def test_the_whole_document_keeps_links_and_figures_together(site, pages):
    soup = BeautifulSoup(one_document(site, pages), "html.parser")
    ids = [tag["id"] for tag in soup.select("[id]")]
    assert len(ids) == len(set(ids))
    targets = [tag["href"][1:] for tag in soup.select("use")]
    assert len(targets) > 50
    assert set(targets) <= set(ids)
    assert all(fold.has_attr("open") for fold in soup.select("details"))
    assert not soup.select(".solution, .teaching")
    asked = BeautifulSoup(one_document(site, pages, answers=True), "html.parser")
    assert asked.select("details.solution[open]")
    inside = [tag["href"][1:] for tag in soup.select("main a[href^='#']")]
    assert set(inside) <= set(ids)


@pytest.mark.slow
def test_the_book_prints_to_one_pdf(site, tmp_path):
    if find_chromium() is None:
        pytest.skip("skipped: needs Chromium")
    target = print_book(PROJECT, tmp_path / "book.pdf")
    content = target.read_bytes()
    assert content.startswith(b"%PDF")
    assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") >= len(CHAPTERS)
    assert not (site / "_whole.html").exists()


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
