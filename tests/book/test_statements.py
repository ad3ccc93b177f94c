"""Statements in the built book: badges, entries, cards, the filter and the graph."""

import re

import pytest
from docutils import nodes

from momab.book.sphinx import ledger
from momab.ledger import claims
from tests.browsing import Visit
from tests.conftest import ROOT

ENTRIES = claims.claims_of(ROOT)
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
    assert badge.get_text().endswith(entry.standing)
    back = parsed.page(entry.ledger).find(id=entry.anchor).select("a.statement-link")
    assert f"{entry.page}.html#{entry.block}" in [link["href"] for link in back]


def test_an_entry_says_its_verdict_first(parsed):
    for entry in JUDGED:
        said = parsed.page(entry.ledger).find(id=entry.anchor).p
        assert said.em.get_text() == entry.standing
        assert said.strong.get_text().startswith(f"{entry.label}: ")


def test_every_reference_to_a_statement_has_its_card(parsed):
    for name in parsed.names:
        if not re.search("statement-link|data-card", parsed.text(name)):
            continue
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
    with Visit(browser, address) as visit:
        visit.page.clock.install()
        page = visit.go("claims")
        link = page.locator("#claim-lemma-9 a.statement-link").first
        link.hover()
        card = page.locator(".statement-card")
        card.wait_for()
        assert "Lemma 9" in card.inner_text()
        assert link.get_attribute("aria-describedby") == card.get_attribute("id")
        card.hover()
        page.clock.run_for(2_000)
        assert card.is_visible(), "it stays under the pointer"
        page.keyboard.press("Escape")
        assert card.count() == 0
        page.mouse.move(0, 0)
        link.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        card.wait_for()
        page.keyboard.press("Tab")
        assert card.count() == 0


def test_the_filter_shows_what_is_asked_for_and_remembers_it(tour):
    wanted = [e for e in JUDGED if e.ledger == "claims" and e.standing == "corrected"]
    tables = [entry for entry in wanted if entry.kind == "table"]
    page = tour.go("claims")
    page.get_by_label("Verdict").select_option("corrected")
    shown = page.locator(".ledger-entry:not([hidden])")
    assert shown.count() == len(wanted)
    said = page.locator(".ledger-filter [role=status]").inner_text()
    assert said.startswith(f"{len(wanted)} of ")
    assert "verdict=corrected" in page.url
    page.get_by_label("Kind").select_option("table")
    assert shown.count() == len(tables)
    page.reload()
    assert page.get_by_label("Verdict").input_value() == "corrected"
    assert shown.count() == len(tables)
    # an address that names a hidden entry shows it
    page.evaluate("location.hash = 'claim-lemma-9'")
    page.locator("#claim-lemma-9").wait_for(state="visible")
    page.get_by_role("button", name="Show all").click()
    assert "verdict" not in page.url
    page.get_by_label("Machine-checked").select_option("yes")
    checked = [e for e in ENTRIES if e.ledger == "claims" and e.formal and e.formal.extent == "yes"]
    assert shown.count() == len(checked)


def test_without_a_script_everything_is_there(browser, address):
    with Visit(browser, address, java_script_enabled=False) as visit:
        visit.page.goto(f"{address}referee.html")
        assert visit.page.locator(".ledger-entry:visible").count() == len(
            [entry for entry in JUDGED if entry.ledger == "referee"]
        )
        visit.page.goto(f"{address}statements.html")
        graph = visit.page.locator("#every-statement a.graph-node:visible")
        assert graph.count() == len(claims.statements(ENTRIES))


def test_every_box_of_the_graph_is_a_link_to_its_statement(parsed):
    page = parsed.whole("statements")
    boxes = {box["data-id"]: box["href"] for box in page.select("a.graph-node")}
    for entry in claims.statements(ENTRIES):
        wanted = f"{entry.page}.html#{entry.block}"
        assert boxes[entry.id] == (wanted if entry.block else f"{entry.ledger}.html#{entry.anchor}")
    assert len(page.select("section#in-words li")) == len(boxes)


def test_the_page_opens_on_theorem_4_and_what_it_rests_on(parsed):
    first = parsed.whole("statements").select_one(".graph-box")
    boxes = {box["data-id"] for box in first.select("a.graph-node")}
    assert {"theorem-4", "lemma-9", "lemma-10", "lemma-11", "proposition-8"} <= boxes
    assert "remark-5" not in boxes  # it rests on the theorem


def test_the_graph_fits_its_column_and_a_box_shows_what_it_rests_on(tour):
    """Nothing is pushed aside, nor out of sight, on an ordinary screen."""
    page = tour.go("statements")
    bar = page.locator(".bd-sidebar-primary")
    for box in page.locator(".graph-box").all():
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert bar.evaluate("bar => bar.getBoundingClientRect().left") == 0
    whole = page.locator("#every-statement")
    whole.locator("[data-id=theorem-4]").focus()
    on = whole.locator(".graph-node.on").evaluate_all("all => all.map(a => a.dataset.id)")
    assert {"theorem-4", "lemma-9", "algorithm-1", "remark-5"} <= set(on)
    assert "price-theorem" not in on
