"""Statements in the built book: badges, entries, cards, the filter and the graph."""

import re

import pytest
from docutils import nodes

from momab.book import entries
from momab.book.sphinx import ledger
from tests.accessibility import violations
from tests.browsing import PATIENCE, Visit
from tests.conftest import ROOT

ENTRIES = entries.read_entries(ROOT)
JUDGED = [entry for entry in ENTRIES if entry.ledger]


def test_every_entry_has_an_anchor_on_its_ledger(parsed):
    for page in ("claims", "referee"):
        found = {tag["id"] for tag in parsed.page(page).select(".ledger-entry")}
        assert found == {entry.anchor for entry in JUDGED if entry.ledger == page}


@pytest.mark.parametrize(
    "entry", [entry for entry in JUDGED if entry.block], ids=lambda entry: entry.id
)
def test_statement_and_entry_point_at_each_other(parsed, entry):
    statement = parsed.page(entry.page).find(id=entry.block)
    to = f"{entry.ledger}.html#{entry.anchor}"
    [badge] = statement.select(f'.admonition-title a.verdict-link[href="{to}"]')
    assert badge.get_text().endswith(entry.verdict)
    back = parsed.page(entry.ledger).find(id=entry.anchor).select("a.statement-link")
    assert f"{entry.page}.html#{entry.block}" in [link["href"] for link in back]


def test_an_entry_says_its_verdict_first(parsed):
    for entry in JUDGED:
        said = parsed.page(entry.ledger).find(id=entry.anchor).p
        assert said.em.get_text() == entry.verdict
        assert said.strong.get_text().startswith(f"{entry.label}: ")


def test_every_reference_to_a_statement_has_its_card(parsed):
    for name in parsed.names:
        page = parsed.page(name)
        wanted = {a["href"].rpartition("#")[2] for a in page.select("a.statement-link")}
        cards = {card["data-card"]: card for card in page.select("template[data-card]")}
        assert wanted == cards.keys(), name
        for label, card in cards.items():
            assert len(card.get_text().split()) > 8, label
            assert not card.select("[id], a")
            if paper := re.fullmatch(r"paper-([a-z]+)-(\d+)", label):
                assert card.strong.string == f"{paper[1].title()} {paper[2]}"


def test_what_a_page_says_does_not_contain_its_cards():
    """A card becomes part of the page when it is written, after the search has read the page."""
    card = ledger.statement_card("", nodes.paragraph("", "On the event"), label="paper-lemma-9")
    assert ledger.statement_cards("", cards=[card]).astext() == ""


def test_a_card_opens_for_pointer_and_keyboard_and_goes(browser, address):
    with Visit(browser, address, "claims") as visit:
        page = visit.page
        link = page.locator("#claim-lemma-9 a.statement-link").first
        link.hover()
        card = page.locator(".statement-card")
        card.wait_for()
        assert "Lemma 9" in card.inner_text()
        assert link.get_attribute("aria-describedby") == card.get_attribute("id")
        card.hover()  # it stays under the pointer
        page.wait_for_timeout(400)
        assert card.is_visible()
        page.keyboard.press("Escape")
        assert page.locator(".statement-card").count() == 0
        page.mouse.move(0, 0)
        link.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        page.locator(".statement-card").wait_for()
        page.keyboard.press("Tab")
        assert page.locator(".statement-card").count() == 0


def test_the_filter_shows_what_is_asked_for_and_remembers_it(browser, address):
    wanted = [e for e in JUDGED if e.ledger == "claims" and e.verdict == "corrected"]
    with Visit(browser, address, "claims") as visit:
        page = visit.page
        page.get_by_label("Verdict").select_option("corrected")
        shown = page.locator(".ledger-entry:not([hidden])")
        assert shown.count() == len(wanted)
        said = page.locator(".ledger-filter [role=status]").inner_text()
        assert said.startswith(f"{len(wanted)} of ")
        assert "verdict=corrected" in page.url
        page.get_by_label("Kind").select_option("table")
        assert shown.count() == len([e for e in wanted if e.kind == "table"])
        page.reload()
        assert page.get_by_label("Verdict").input_value() == "corrected"
        assert shown.count() == len([e for e in wanted if e.kind == "table"])
        # an address that names a hidden entry shows it
        page.evaluate("location.hash = 'claim-lemma-9'")
        page.locator("#claim-lemma-9").wait_for(state="visible")
        page.get_by_role("button", name="Show all").click()
        assert "verdict" not in page.url


def test_without_a_script_everything_is_there(browser, address):
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(PATIENCE)
    try:
        page = context.new_page()
        page.goto(f"{address}referee.html")
        assert page.locator(".ledger-entry:visible").count() == len(
            [entry for entry in JUDGED if entry.ledger == "referee"]
        )
        page.goto(f"{address}statements.html")
        assert page.locator("a.graph-node:visible").count() == len(entries.statements(ENTRIES))
    finally:
        context.close()


def test_every_box_of_the_graph_is_a_link_to_its_statement(parsed):
    page = parsed.page("statements")
    boxes = {box["data-id"]: box["href"] for box in page.select("a.graph-node")}
    for entry in entries.statements(ENTRIES):
        wanted = f"{entry.page}.html#{entry.block}"
        assert boxes[entry.id] == (wanted if entry.block else f"{entry.ledger}.html#{entry.anchor}")
    assert len(page.select("section#in-words li")) == len(boxes)


def test_the_graph_fits_its_column(browser, address):
    """Nothing is pushed aside, nor out of sight, on an ordinary screen."""
    with Visit(browser, address, "statements", viewport={"width": 1280, "height": 900}) as visit:
        box, bar = map(visit.page.locator, (".graph-box", ".bd-sidebar-primary"))
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
        assert bar.evaluate("bar => bar.getBoundingClientRect().left") == 0


def test_a_box_shows_what_it_rests_on(browser, address):
    with Visit(browser, address, "statements") as visit:
        visit.page.locator("[data-id=theorem-4]").focus()
        on = visit.page.locator(".graph-node.on").evaluate_all("all => all.map(a => a.dataset.id)")
        assert {"theorem-4", "lemma-9", "algorithm-1", "remark-5"} <= set(on)
        assert "price-theorem" not in on


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["statements", "claims", "referee"])
def test_the_pages_are_accessible(browser, address, name, theme):
    with Visit(browser, address, name, color_scheme=theme) as visit:
        assert violations(visit.page) == []


@pytest.mark.parametrize("name", ["statements", "claims", "referee"])
def test_the_pages_fit_a_phone(browser, address, name):
    with Visit(browser, address, name, viewport={"width": 375, "height": 800}) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 375
