"""Pages in a real browser."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlparse

from bs4 import BeautifulSoup

PATIENCE = 120_000  # milliseconds that a page may take for one thing on a busy machine
SOON = "() => new Promise((done) => setTimeout(done, 50))"


class Calm:
    """The requests of a window that are under way.

    Playwright's own `networkidle` now and then never comes, on a page that has long been loaded.
    """

    def __init__(self, page: Any) -> None:
        self.page = page
        self._open: set[Any] = set()
        page.on("request", lambda request: self._open.add(request))
        page.on("requestfinished", lambda request: self._open.discard(request))
        page.on("requestfailed", lambda request: self._open.discard(request))

    def wait(self) -> None:
        """Wait until nothing is under way at three looks in a row, between which the page works."""
        self.page.wait_for_load_state("load")
        deadline = time.monotonic() + 30
        calm = 0
        while calm < 3 and time.monotonic() < deadline:
            self.page.evaluate(SOON)
            calm = 0 if self._open else calm + 1


class Visit:
    """One page in one browser window, with everything that went wrong on the way."""

    def __init__(
        self, browser: Any, address: str, page: str, place: str = "", **options: Any
    ) -> None:
        self.name = page
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.calm = Calm(self.page)
        self.trouble: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.trouble.append(f"error {error}"))
        self.page.on("requestfailed", lambda request: self.trouble.append(f"failed {request.url}"))
        self.page.on("request", lambda request: self._request(request, address))
        self.page.on("response", self._response)
        self.page.goto(f"{address}{page}.html{place}")
        self.calm.wait()
        self.page.evaluate("() => document.fonts.ready")
        self.page.add_style_tag(
            content="* { transition: none !important; animation: none !important }"
        )

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


class ParsedSite:
    """A built site, each of whose pages is parsed once, by whichever test first looks at it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._pages: dict[str, BeautifulSoup] = {}
        self._anchors: dict[str, set[str]] = {}

    @property
    def names(self) -> list[str]:
        """The pages at the root, decks not among them."""
        return sorted(path.stem for path in self.root.glob("*.html"))

    def page(self, name: str) -> BeautifulSoup:
        """A page, or a deck as slides/<page>."""
        if name not in self._pages:
            text = (self.root / f"{name}.html").read_text("utf-8")
            self._pages[name] = BeautifulSoup(text, "html.parser")
        return self._pages[name]

    def anchors(self, name: str) -> set[str]:
        """What a link to a page may end in."""
        if name not in self._anchors:
            page = self.page(name)
            self._anchors[name] = {str(tag["id"]) for tag in page.find_all(id=True)}
            named = page.find_all("a", attrs={"name": True})
            self._anchors[name] |= {str(tag["name"]) for tag in named}
        return self._anchors[name]


def broken_links(parsed: ParsedSite) -> list[str]:
    """The links of a built site's pages that lead nowhere in it, anchors included."""
    site = parsed.root
    anchors = {f"{name}.html": parsed.anchors(name) for name in parsed.names}
    broken = []
    for name in anchors:
        soup = parsed.page(name.removesuffix(".html"))
        for tag in soup.find_all(["a", "link", "script", "img"]):
            target = tag.get("href") or tag.get("src") or ""
            if not target:
                continue
            if urlparse(target).scheme in ("http", "https", "mailto", "data"):
                continue
            path, anchor = urldefrag(urljoin(f"/{name}", target))
            file = unquote(urlparse(path).path).lstrip("/") or "index.html"
            missing = not (site / file).is_file()
            if missing or (anchor and file in anchors and unquote(anchor) not in anchors[file]):
                broken.append(f"{name}: {target}")
    return broken


class Tab:
    """A tab that came in with the token of a served page, and what went wrong in it."""

    def __init__(self, browser: Any, serving: Any, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.address = serving.server.address
        self.trouble: list[str] = []
        self._calm: dict[Any, Calm] = {}
        self.page = self.open()
        self.page.goto(serving.server.entrance)
        self.page.wait_for_url(self.address)

    def open(self) -> Any:
        """Another tab of the same visitor."""
        page = self.context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.trouble.append(f"error {error}"))
        page.on("request", self._request)
        self._calm[page] = Calm(page)
        return page

    def _console(self, message: Any) -> None:
        self.trouble.append(f"{message.type}: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:")):
            self.trouble.append(f"foreign {request.url}")

    def go(self, path: str, page: Any = None) -> Any:
        """Go to a place of the site."""
        page = page or self.page
        page.goto(self.address + path)
        self._calm[page].wait()
        return page
