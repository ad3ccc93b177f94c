"""Pages in a real browser, and the built pages parsed."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlparse

from bs4 import BeautifulSoup

from tests.waiting import until

PATIENCE = 120_000  # milliseconds that a page may take for one thing on a busy machine
DESK, PHONE = {"width": 1280, "height": 720}, {"width": 375, "height": 800}
SOON = "() => new Promise((done) => setTimeout(done, 20))"
FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
STILL = "* { transition: none !important; animation: none !important }"
# What a page says of itself: its fonts are there, its parts are mounted, nothing is due.
READY = """() => document.fonts.status === "loaded"
  && [...document.querySelectorAll("[data-live], [data-question]")]
    .every((node) => node.dataset.ready !== undefined)
  && document.querySelector("[data-due]") === null"""


class Visit:
    """One tab of a visitor of his own, with everything that goes wrong in it."""

    def __init__(
        self, browser: Any, address: str, page: str = "", place: str = "", **options: Any
    ) -> None:
        self.address = address
        self.size = options.setdefault("viewport", DESK)
        self.theme = options.get("color_scheme", "light")
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.trouble: list[str] = []
        self.asked: list[str] = []
        self._open: set[Any] = set()
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.trouble.append(f"error {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfinished", lambda request: self._open.discard(request))
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._response)
        if page:
            self.go(page, place)

    def go(self, page: str, place: str = "", size: Any = None) -> Any:
        """Open a page of the site as it is shown first, and wait until it is ready."""
        self.trouble.clear()
        self.asked.clear()
        self.page.set_viewport_size(size or self.size)
        self.page.emulate_media(media="screen", color_scheme=self.theme)
        before, to = self.page.url, f"{self.address}{page}.html{place}"
        self.page.goto(to)
        if "#" in to and before.partition("#")[0] == to.partition("#")[0]:
            self.page.reload()  # another place of the same page is no visit
        self.ready()
        self.page.add_style_tag(content=STILL)
        return self.page

    def ready(self) -> None:
        """Wait until the page says that it is ready, and all that it asked for has come."""
        self.page.evaluate("() => document.fonts.ready")
        self.page.wait_for_function(READY)
        until(
            lambda: not self._open,
            f"the requests of {self.page.url}",
            PATIENCE / 1000,
            between=lambda: self.page.evaluate(SOON),  # its events arrive while it works
        )

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.trouble.append(f"console {message.type}: {message.text}")

    def _request(self, request: Any) -> None:
        self._open.add(request)
        self.asked.append(request.url)
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.trouble.append(f"foreign {request.url}")

    def _failed(self, request: Any) -> None:
        self._open.discard(request)
        if request.failure != "net::ERR_ABORTED":  # the tab has left the page that asked
            self.trouble.append(f"failed {request.failure} {request.url}")

    def _response(self, response: Any) -> None:
        if response.status >= 400:
            self.trouble.append(f"{response.status} {response.url}")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


_DRAWN = re.compile(r'<span class="katex-html"|<(svg)\b[^>]*>')
_ATTRIBUTE = re.compile(r'([\w:-]+)="([^"]*)"')
_SPAN = re.compile(r"<(/?)span\b")


def outlined(text: str) -> str:
    """A page without the insides of its pictures and of the drawn parts of its formulas."""
    parts, at = [], 0
    while start := _DRAWN.search(text, at):
        parts.append(text[at : start.end()])
        if start[1]:
            at = text.index("</svg>", start.end())
            continue
        depth = 1
        for span in _SPAN.finditer(text, start.end()):
            depth += -1 if span[1] else 1
            if depth == 0:
                break
        parts.append(text[start.end() : text.index(">", start.end()) + 1])
        at = span.start()
    return "".join([*parts, text[at:]])


class ParsedSite:
    """A built site, each of whose pages is parsed once, by whichever test first looks at it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.text = cache(self._text)
        self.page = cache(self._page)
        self.whole = cache(self._whole)
        self.anchors = cache(self._anchors)

    @property
    def names(self) -> list[str]:
        """The pages at the root, decks not among them."""
        return sorted(path.stem for path in self.root.glob("*.html"))

    def _text(self, name: str) -> str:
        """A page, or a deck as slides/<page>, as it is written."""
        return (self.root / f"{name}.html").read_text("utf-8")

    def _page(self, name: str) -> BeautifulSoup:
        """A page without what its pictures and formulas draw."""
        return BeautifulSoup(outlined(self.text(name)), "html.parser")

    def _whole(self, name: str) -> BeautifulSoup:
        """A page with its pictures and formulas."""
        return BeautifulSoup(self.text(name), "html.parser")

    def tags(self, name: str, *kinds: str) -> list[dict[str, str]]:
        """The attributes of all tags of some kinds, found without parsing the page."""
        found = re.findall(rf"<({'|'.join(kinds)})\b([^<>]*)>", self.text(name))
        return [
            {"": kind} | {key: unescape(value) for key, value in _ATTRIBUTE.findall(rest)}
            for kind, rest in found
        ]

    def _anchors(self, name: str) -> list[str]:
        """What a link to a page may end in, as often as it is there."""
        text = re.sub(r"(?s)<(script|template)\b.*?</\1>", "", self.text(name))
        found = re.findall(r'<a\s[^<>]*?\bname="([^"]+)"', text)
        return found + re.findall(r'<[a-zA-Z][^<>]*?\sid="([^"]+)"', text)


def broken_links(parsed: ParsedSite) -> list[str]:
    """The links of a built site's pages that lead nowhere in it, anchors included."""
    broken = []
    for name in parsed.names:
        for tag in parsed.tags(name, "a", "link", "script", "img"):
            target = tag.get("href") or tag.get("src") or ""
            if not target or urlparse(target).scheme in ("http", "https", "mailto", "data"):
                continue
            path, anchor = urldefrag(urljoin(f"/{name}.html", target))
            file = parsed.root / (unquote(urlparse(path).path).lstrip("/") or "index.html")
            page = file.relative_to(parsed.root).with_suffix("").as_posix()
            known = file.suffix == ".html" and file.parent == parsed.root
            if not file.is_file() or (
                anchor and known and unquote(anchor) not in parsed.anchors(page)
            ):
                broken.append(f"{name}: {target}")
    return broken


class Tab:
    """A tab that came in with the token of a served page, and what went wrong in it."""

    def __init__(self, browser: Any, serving: Any, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.address = serving.server.address
        self.trouble: list[str] = []
        self.page = self.open()
        self.page.goto(serving.server.entrance)
        self.page.wait_for_url(self.address)

    def open(self) -> Any:
        """Another tab of the same visitor."""
        page = self.context.new_page()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.trouble.append(f"error {error}"))
        page.on("request", self._request)
        return page

    def _console(self, message: Any) -> None:
        self.trouble.append(f"{message.type}: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:")):
            self.trouble.append(f"foreign {request.url}")

    def go(self, path: str, page: Any = None) -> Any:
        """Go to a place of the site, and wait until its fonts are there and nothing is due."""
        page = page or self.page
        page.goto(self.address + path)
        page.evaluate("() => document.fonts.ready")
        page.wait_for_function(READY)
        return page
