"""How heavy the pages of a built site are, and when their formulas stand.

    python benchmarks/pages.py _build/html [another site to compare with]

Every page is opened in Chromium, served from this machine: once as a first visit with nothing
kept, and once as the page after the opening page. ``formulas`` is the time from the first
paint to the last change of a formula or of one of its fonts, in milliseconds. Sites take turns
page by page, so that their ratio is fair on a busy machine.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from momab.book.pdf import find_chromium, serve

WATCH = """
window.settled = 0;
const note = () => { window.settled = performance.now(); };
const isFormula = (node) => node.nodeType === 1 && (node.matches?.("mjx-container, .katex, math")
  || node.querySelector?.("mjx-container, .katex, math"));
new MutationObserver((all) => {
  if (all.some((one) => [...one.addedNodes].some(isFormula))) note();
}).observe(document, { childList: true, subtree: true });
document.fonts.addEventListener("loadingdone", (event) => {
  if (event.fontfaces.some((font) => /KaTeX|MJX/.test(font.family))) note();
});
"""
TIMES = """() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
  return { paint, formulas: Math.max(0, window.settled - paint) };
}"""


class Weigher:
    """Counts the bytes that come over the wire into one window."""

    def __init__(self, page: Any) -> None:
        self.bytes = 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", self._add)

    def _add(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])


def visit(browser: Any, address: str, name: str) -> dict[str, float]:
    """Bytes of a first visit and of the next page, and when formulas stand on a first visit."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(WATCH)
    weigher = Weigher(page)
    page.goto(f"{address}{name}.html", wait_until="load")
    page.wait_for_load_state("networkidle")
    page.evaluate("() => window.MathJax?.startup?.promise")
    page.wait_for_timeout(300)
    times = page.evaluate(TIMES)
    first = weigher.bytes
    context.close()
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}index.html", wait_until="networkidle")
    weigher = Weigher(page)
    page.goto(f"{address}{name}.html", wait_until="networkidle")
    following = weigher.bytes
    context.close()
    return {"first": first / 1e6, "next": following / 1e6, **times}


def main(sites: list[Path]) -> None:
    """Print a line per page: for every site megabytes first and next, and milliseconds."""
    names = sorted(path.stem for path in sites[0].glob("*.html"))
    rows: list[list[dict[str, float]]] = []
    head = " | ".join("first MB  next MB  paint ms  formulas ms" for _ in sites)
    print(f"{'page':<20} {head}")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for name in names:
            row = []
            for site in sites:
                with serve(site) as address:
                    row.append(visit(browser, address, name))
            rows.append(row)
            print(f"{name:<20} " + " | ".join(_line(one) for one in row), flush=True)
        browser.close()
    for what in ("first", "next", "paint", "formulas"):
        columns = list(zip(*[[one[what] for one in row] for row in rows], strict=True))
        said = [f"median {statistics.median(c):.2f}, largest {max(c):.2f}" for c in columns]
        print(f"{what}: " + " | ".join(said))


def _line(one: dict[str, float]) -> str:
    sizes = f"{one['first']:8.2f} {one['next']:8.2f}"
    return f"{sizes} {one['paint']:9.0f} {one['formulas']:12.0f}"


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
