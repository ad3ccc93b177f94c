"""`momab serve` in a real browser, on a small book in the dress of the real one."""

from __future__ import annotations

import hashlib
import http.server
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from momab.book.project import Project
from tests.accessibility import violations
from tests.browsing import PATIENCE, Tab
from tests.serve.conftest import Served
from tests.serve.test_serve import GOOD, RUN

STILL = "* { transition: none !important; animation: none !important }"


class Forms(Tab):
    """A tab that finds the forms of pages; the theme's script may log what is no trouble."""

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            super()._console(message)

    def visit(self, path: str, page: Any = None) -> Any:
        page = self.go(path, page)
        page.add_style_tag(content=STILL)
        return page

    def form(self, path: str = "index.html", page: Any = None) -> Any:
        page = self.visit(path, page)
        page.get_by_role("button", name="Run this page with your values").click()
        page.get_by_role("button", name="Run", exact=True).wait_for()
        return page


@pytest.fixture
def tab(browser: Any, served: Served) -> Iterator[Forms]:
    tab = Forms(browser, served)
    yield tab
    assert tab.trouble == []
    tab.context.close()


def run(page: Any, **values: str) -> None:
    for name, value in values.items():
        page.get_by_label(name, exact=True).fill(value)
    page.get_by_role("button", name="Run", exact=True).click()


def test_from_the_form_to_the_page(tab: Forms) -> None:
    """By keyboard into the form, a value that is refused, presets, and a run beside the default."""
    page = tab.visit("index.html")
    page.get_by_role("button", name="Run this page with your values").focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("throws", exact=True)
    field.wait_for()
    page.get_by_label("preset").select_option("paper")
    assert field.input_value() == "500"
    page.get_by_label("preset").select_option("quick")
    assert field.input_value() == "40"
    page.get_by_label("throws, as a slider").focus()
    page.keyboard.press("ArrowRight")
    assert float(field.input_value()) > 40
    field.focus()
    field.fill("1")
    page.keyboard.press("Enter")
    alert = page.get_by_role("alert")
    alert.filter(has_text="Throws must be a whole number in [2, 100,000]; it is 1.").wait_for()
    assert field.get_attribute("aria-invalid") == "true"
    assert page.evaluate("() => document.activeElement.id") == "serve-throws"
    tab.trouble = [line for line in tab.trouble if "400 (Bad Request)" not in line]

    for name, value in RUN.items():
        page.get_by_label(name, exact=True).fill(value)
    page.get_by_text("momab run index -p seed=2 -p throws=60").wait_for()
    assert page.get_by_label("preset").input_value() == "yours"
    run(page)
    page.wait_for_url(re.compile(r"run=index-"))
    assert "throws 60 (default 40)" in page.locator(".serve-banner").inner_text()
    sides = page.locator(".serve-pair svg")
    assert sides.count() == 2
    left, right = (sides.nth(n).bounding_box() for n in range(2))
    assert left["x"] + left["width"] <= right["x"]  # side by side
    mark = page.locator("mark.serve-changed", has_text="60").first
    assert mark.get_attribute("data-was") == "40"
    page.get_by_label("show the default's numbers").check()
    after = mark.evaluate("m => getComputedStyle(m, '::after').content")
    assert "was" in after
    with page.expect_download() as found:
        page.get_by_role("link", name="notebook (.ipynb)").click()
    assert found.value.suggested_filename.endswith(".ipynb")


@pytest.mark.slow
def test_a_run_is_cancelled_and_a_table_is_studied(tab: Forms, served: Served) -> None:
    page = tab.form()
    run(page, wait="590")
    page.get_by_text(re.compile(r"cell \d+ of \d+")).wait_for()
    [job] = served.ask("GET", "/_serve/pages/index").json["jobs"]
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled; nothing is left of it.").wait_for()
    assert served.state(job)["state"] == "cancelled"
    assert page.get_by_role("button", name="Run", exact=True).is_enabled()

    page = tab.form("own-data.html")
    table = {"name": "cafes.csv", "mimeType": "text/csv", "buffer": GOOD.encode()}
    page.set_input_files("#serve-file", table)
    page.get_by_text("cafes: 18 rows.").wait_for()
    assert page.get_by_label("column that names the arm").input_value() == "cafe"
    assert page.get_by_label("coffee", exact=True).is_checked()
    assert not page.get_by_label("price", exact=True).is_checked()
    assert page.get_by_label("range of price, as low:high").input_value() == "0:80"
    page.get_by_label("price", exact=True).check()
    page.get_by_label("less is better of price").check()
    page.get_by_label("unit of price").fill("euros")
    shown = page.locator(".serve-form code")
    shown.filter(has_text="--minimize price").wait_for()
    assert "--unit price=euros" in shown.inner_text()
    run(page, horizon="100", runs="2")
    page.wait_for_url(re.compile(r"run=study-"))
    assert page.locator("article h1").inner_text().startswith("Which arm? A report on cafes")
    assert "price euros less" in " ".join(page.locator("article").inner_text().split())


@pytest.mark.slow
def test_two_tabs_at_once_and_a_sweep_of_what_they_ran(tab: Forms) -> None:
    pages = {throws: tab.form(page=tab.open()) for throws in ("81", "82")}
    for throws, page in pages.items():
        run(page, throws=throws)
    for throws, page in pages.items():
        page.wait_for_url(re.compile(r"run=index-"))
        assert f"throws {throws} (default 40)" in page.locator(".serve-banner").inner_text()
    page = tab.form()
    run(page, throws="81,82")
    page.wait_for_url(re.compile(r"sweep="))
    assert page.locator(".serve-multiple svg").count() == 2
    page.get_by_role("link", name="throws = 82").click()
    page.wait_for_url(re.compile(r"run=index-"))
    assert "throws 82" in page.locator(".serve-banner").inner_text()


class Evil(http.server.BaseHTTPRequestHandler):
    """Another site."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><link rel=icon href=data:,><p>evil")

    def log_message(self, *_: object) -> None:
        pass


ATTACK = """async ([form, tables, table]) => {
  const tries = [
    fetch(form, {credentials: "include"}),
    fetch(tables, {method: "POST", credentials: "include", body: table}),
    fetch(tables, {method: "POST", mode: "no-cors", credentials: "include", body: table}),
  ];
  const ended = await Promise.allSettled(tries);
  return ended.map((e) => (e.status === "rejected" ? "no" : `${e.value.type}`));
}"""


@pytest.mark.slow
def test_another_site_cannot_ask(tab: Forms, served: Served) -> None:
    """A page of another origin in the same browser, cookie and all, gets nothing."""
    with http.server.HTTPServer(("127.0.0.1", 0), Evil) as evil:
        threading.Thread(target=evil.serve_forever, daemon=True).start()
        page = tab.context.new_page()
        page.goto(f"http://127.0.0.1:{evil.server_port}/")
        places = [f"{tab.address}_serve/{name}" for name in ("pages/index", "tables")]
        got = page.evaluate(ATTACK, [*places, table := GOOD.replace("cafe", "evil")])
        evil.shutdown()
    assert got[:2] == ["no", "no"]
    id = hashlib.sha256(table.encode()).hexdigest()[:16]
    assert not (served.book.build / "serve/tables" / id).exists()
    assert served.upload(table.encode()).json["id"] == id


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 375)])
def test_forms_are_accessible(browser: Any, served: Served, theme: str, width: int) -> None:
    size = {"width": width, "height": 800}
    tab = Forms(browser, served, color_scheme=theme, viewport=size)
    page = tab.form()
    run(page, **RUN)
    page.wait_for_url(re.compile(r"run=index-"))
    found = {"run": violations(page)}
    for path in ("index.html", "own-data.html", "bring-your-policy.html", "_serve/history"):
        page = tab.visit(path) if path == "_serve/history" else tab.form(path)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        found[path] = violations(page)
    assert [problem for problem in found.items() if problem[1]] == []
    assert tab.trouble == []
    tab.context.close()


@pytest.mark.slow
def test_without_a_server_the_button_says_how_to_start_one(
    browser: Any, small_book: Project
) -> None:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto((small_book.build / "html/index.html").as_uri())
    page.get_by_role("button", name="Run this page with your values").click()
    dialog = page.get_by_role("dialog")
    assert "momab serve" in dialog.inner_text()
    assert ".venv/bin/momab run index -p seed=1" in dialog.inner_text()
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    context.close()
