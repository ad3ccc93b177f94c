"""The search, in a real browser: the right page first, words instead of TeX, never an error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

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
    "Lai-Robbins": "two-coins",
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
    page.locator(".bd-search-container input[type=search]").fill(query)
    page.wait_for_function(ANSWERED, arg=query)
    links = page.locator("#search-results li > a:first-child")
    return [link.removesuffix(".html") for link in links.evaluate_all(HREFS)]


ANSWERED = "(query) => document.getElementById('search-results').dataset.answered === query"
HREFS = "all => all.map(one => one.getAttribute('href'))"


def test_the_right_page_comes_first_and_no_query_is_an_error(tour: Visit) -> None:
    page = tour.go("search")
    first = {query: (ask(page, query) or [""])[0] for query in WANTED}
    assert first == WANTED
    assert len(ODD) >= 50
    for query in ODD:
        ask(page, query)
    assert tour.trouble == []
    assert page.locator("#search-results script").count() == 0


def test_a_question_in_the_address_is_answered(tour: Visit) -> None:
    page = tour.go("search", "?q=width+floor")
    page.wait_for_selector("#search-results li")
    assert page.locator("#search-results li mark").count() > 3


def test_the_index_is_words(site: Path) -> None:
    for entry in json.loads((site / "search.json").read_text("utf-8")):
        text = " ".join(f"{heading} {words}" for _, heading, words in entry["sections"])
        markup = re.search(r"\\[a-zA-Z]{2,}|\$|</?(?:a|b|i|em|p|div|span|code)\b", text)
        assert not markup, entry["page"]


def test_a_search_without_its_index_says_so(tour: Visit) -> None:
    page = tour.go("search")
    page.route("**/search.json", lambda route: route.abort())
    page.locator(".bd-search-container input[type=search]").fill("width floor")
    page.locator("#search-results", has_text="could not be read").wait_for()
    page.unroute("**/search.json")
    page.locator(".bd-search-container input[type=search]").fill("price")
    page.wait_for_selector("#search-results li")
