"""Pages in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlparse

from bs4 import BeautifulSoup


class Visit:
    """One page in one browser window, with everything that went wrong on the way."""

    def __init__(self, browser: Any, address: str, page: str, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.trouble: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.trouble.append(f"error {error}"))
        self.page.on("requestfailed", lambda request: self.trouble.append(f"failed {request.url}"))
        self.page.on("request", lambda request: self._request(request, address))
        self.page.on("response", self._response)
        self.page.goto(f"{address}{page}.html")
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate("() => window.MathJax?.startup?.promise")
        self.page.add_style_tag(content="* { transition: none !important }")

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.trouble.append(f"console {message.type}: {message.text}")

    def _request(self, request: Any, address: str) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            self.trouble.append(f"foreign {request.url}")

    def _response(self, response: Any) -> None:
        if response.status >= 400:
            self.trouble.append(f"{response.status} {response.url}")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def broken_links(site: Path) -> list[str]:
    """The links of a built site's pages that lead nowhere in it, anchors included."""
    pages = {
        path.name: BeautifulSoup(path.read_text("utf-8"), "html.parser")
        for path in site.glob("*.html")
    }
    anchors = {
        name: {tag["id"] for tag in soup.select("[id]")}
        | {tag["name"] for tag in soup.select("a[name]")}
        for name, soup in pages.items()
    }
    broken = []
    for name, soup in pages.items():
        for tag in soup.select("a[href], link[href], script[src], img[src]"):
            target = tag.get("href") or tag.get("src") or ""
            if urlparse(target).scheme in ("http", "https", "mailto", "data"):
                continue
            path, anchor = urldefrag(urljoin(f"/{name}", target))
            file = unquote(urlparse(path).path).lstrip("/") or "index.html"
            missing = not (site / file).is_file()
            if missing or (anchor and file in anchors and unquote(anchor) not in anchors[file]):
                broken.append(f"{name}: {target}")
    return broken
