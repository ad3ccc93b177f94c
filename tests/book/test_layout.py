"""The frame of a page, in a real browser: folds, switches, marks and the search dialog."""

from __future__ import annotations

from tests.browsing import Visit

ON_PAGE = "#pst-page-toc-nav a[aria-current]"


def test_exercises_beyond_the_second_are_folded_and_open_for_a_link(tour: Visit) -> None:
    page = tour.go("zero-gap")
    shown = page.locator("#exercises .exercise:visible")
    assert shown.count() == 2
    page.goto(f"{page.url.partition('#')[0]}#zero-gap-5")
    page.locator("#zero-gap-5").wait_for(state="visible")
    assert shown.count() == page.locator("#exercises .exercise").count() > 5
    assert tour.trouble == []


def test_one_switch_shows_the_teaching_notes_of_every_page(tour: Visit) -> None:
    page = tour.go("zero-gap")
    notes = page.locator("details.teaching:visible")
    assert notes.count() == 0
    page.get_by_role("button", name="Show teaching notes").click()
    assert notes.count() > 0
    page = tour.go("model")
    assert notes.count() > 0
    page.get_by_role("button", name="Hide teaching notes").click()
    assert notes.count() == 0
    page.evaluate("localStorage.clear()")


def test_on_this_page_follows_the_reader(tour: Visit) -> None:
    page = tour.go("zero-gap")
    for place in ("how-often-it-happens", "two-arms-are-enough"):
        page.evaluate("id => document.getElementById(id).scrollIntoView()", place)
        page.locator(f"{ON_PAGE}[href='#{place}']").wait_for()
        assert page.locator(ON_PAGE).count() == 1


def test_running_the_page_is_offered_at_its_foot(tour: Visit) -> None:
    page = tour.go("zero-gap")
    button = page.get_by_role("button", name="Run this page with your values")
    order = "(button) => button.compareDocumentPosition(document.querySelector('.colophon'))"
    assert button.evaluate(order) & 4  # the colophon follows
    assert page.locator("#exercises > h2").bounding_box()["y"] < button.bounding_box()["y"]


def test_the_search_dialog_answers_while_one_types(tour: Visit) -> None:
    page = tour.go("zero-gap")
    page.keyboard.press("Control+k")
    page.locator("#pst-search-dialog input").fill("width floor")
    first = page.locator("#pst-search-dialog li > a:first-child").first
    first.wait_for()
    assert first.get_attribute("href") == "width-floor.html"
    assert tour.trouble == []
