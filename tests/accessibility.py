"""What axe finds on a page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
ALL = {"type": "tag", "values": TAGS}
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
# What no reader is told of goes, a formula is its text, and code keeps one piece of every kind: axe
# takes seconds for the rest, and reports nothing in it.
THIN = """() => {
  for (const box of document.querySelectorAll(".katex-html, svg[role=img]")) box.replaceChildren();
  for (const formula of document.querySelectorAll("math")) formula.textContent += "";
  const seen = new Set();
  for (const piece of document.querySelectorAll("pre span, pre a, code span, dt.sig *")) {
    const kinds = [piece, piece.parentElement].map((node) => `${node.tagName} ${node.className}`);
    if (!seen.has(kinds.join())) seen.add(kinds.join());
    else if (!piece.id && !piece.matches(".headerlink")) piece.replaceWith(...piece.childNodes);
  }
  document.body.normalize();
}"""


def violations(page: Any, rules: Any = ALL) -> list[tuple[str, list[str]]]:
    """The rules that an open page violates, with the first places."""
    options = {"runOnly": rules, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [(v["id"], [node["html"][:160] for node in v["nodes"]][:3]) for v in found]


def violations_of_all_parts(page: Any, dark: bool) -> list[tuple[str, list[str]]]:
    """The same of a page that is not used afterwards; in the dark only what depends on colours."""
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    page.evaluate(THIN)
    found = violations(page)
    if dark:
        page.emulate_media(color_scheme="dark")
        page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
        found += violations(page, COLOURS)
    return found
