"""The search, in a real browser: the right page first, words instead of TeX, never an error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import Visit

WANTED = {
    "width floor": "width-floor",
    "Pareto gap": "model",
    "union bound": "confidence-event",
    "local charge": "local-charge",
    "regret theorem": "regret-theorem",
    "lower bound": "lower-bound",
    "Pareto UCB1": "pareto-ucb1",
    "certificate": "certificates",
    "Lai-Robbins": "refresher",
    "fairness": "fairness",
    "own data": "own-data",
    "price": "price",
    "Pareto IMED": "limit",
}
ODD = [
    *("constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "prototype", "length"),
    *('"', "'", '"width floor"', "`", "<b>", "&amp;", "<script>alert(1)</script>", "%", "%20", "#"),
    *(".*", "(", ")", "[", "]", "{", "}", "\\", "+", "?", "^", "$", "|", "a|b", "(?<x>", "\\d+"),
    *("", " ", "x" * 500, "width " * 100, "é", "μ", "Δ", "∑", "日本", "😀", "0", "-1", "null"),
    *("undefined", "NaN", "true", "[object Object]", "../", "http://", "width-floor", "T^2", "the"),
]


def ask(page: Any, query: str) -> list[str]:
    """Type a query; the pages found, the best first."""
    field = page.locator(".bd-search-container input[type=search]")
    field.fill("")
    page.wait_for_function("document.querySelectorAll('#search-results li').length === 0")
    field.fill(query)
    page.wait_for_timeout(60)
    links = page.locator("#search-results li > a:first-child")
    return [link.removesuffix(".html") for link in links.evaluate_all(HREFS)]


HREFS = "all => all.map(one => one.getAttribute('href'))"


def test_the_right_page_comes_first(browser: Any, address: str) -> None:
    with Visit(browser, address, "search") as visit:
        ask(visit.page, "warm up")
        visit.calm.wait()
        first = {query: (ask(visit.page, query) or [""])[0] for query in WANTED}
        assert first == WANTED


def test_no_query_is_an_error(browser: Any, address: str) -> None:
    assert len(ODD) >= 50
    with Visit(browser, address, "search") as visit:
        for query in ODD:
            ask(visit.page, query)
        assert visit.trouble == []
        assert visit.page.locator("#search-results script").count() == 0


def test_a_question_in_the_address_is_answered(browser: Any, address: str) -> None:
    with Visit(browser, address, "search") as visit:
        visit.page.goto(f"{address}search.html?q=width+floor")
        visit.page.wait_for_selector("#search-results li")
        assert visit.page.locator("#search-results li mark").count() > 3


def test_the_index_is_words(site: Path) -> None:
    for entry in json.loads((site / "search.json").read_text("utf-8")):
        text = " ".join(f"{heading} {words}" for _, heading, words in entry["sections"])
        if not entry["page"].startswith("api"):
            assert not re.search(r"\\[a-zA-Z]{2,}|\$|</?(?:a|b|i|em|p|div|span|code)\b", text), (
                entry["page"]
            )


@pytest.mark.parametrize("page", ["index", "width-floor"])
def test_nobody_fetches_the_index_who_does_not_search(
    browser: Any, address: str, page: str
) -> None:
    fetched: list[str] = []
    with Visit(browser, address, page) as visit:
        visit.page.on("request", lambda request: fetched.append(request.url))
        visit.page.reload()
        visit.calm.wait()
    assert fetched
    assert not [url for url in fetched if "search" in url]


def test_a_search_without_its_index_says_so(browser: Any, address: str) -> None:
    with Visit(browser, address, "search") as visit:
        visit.page.route("**/search.json", lambda route: route.abort())
        assert ask(visit.page, "width floor") == []
        assert "could not be read" in visit.page.locator("#search-results").inner_text()
        visit.page.unroute("**/search.json")
        visit.page.locator(".bd-search-container input[type=search]").fill("price")
        visit.page.wait_for_selector("#search-results li")
