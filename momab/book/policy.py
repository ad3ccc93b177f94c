"""Which scripts a page may run: a Content-Security-Policy in the head of every page we write.

Scripts come from the site itself, or stand in the page and are known by their hash: those of the
theme's frame.  An inline script that comes from anywhere else, say from a name in a reader's
table, does not run, and neither do handlers in attributes; the only evaluation is that of
WebAssembly.  The rule stands in a ``<meta>`` element, so it holds from a folder, too.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_TYPE = re.compile(r"""\btype\s*=\s*["']?([^\s"'>]*)""", re.IGNORECASE)
_CODE = {"", "module", "text/javascript", "application/javascript", "importmap", "speculationrules"}
_CHARSET = re.compile(r"<meta\s+charset=[^>]*>", re.IGNORECASE)
_BEGINNING = re.compile(
    r"(?:\s*<!doctype[^>]*>)?(?:\s*<html[^>]*>)?(?:\s*<head[^>]*>)?", re.IGNORECASE
)


def script_hash(text: str) -> str:
    """An inline script as a policy names it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as a browser reads it
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def inline_hashes(page: str) -> list[str]:
    """The hashes of the scripts that stand in a page; data in script elements is none."""
    found = []
    for attributes, text in _SCRIPT.findall(page):
        kind = _TYPE.search(attributes)
        if not re.search(r"\bsrc\s*=", attributes) and (kind[1].lower() if kind else "") in _CODE:
            found.append(script_hash(text))
    return found


def site_policy(hashes: Iterable[str], base: bool = False) -> str:
    """The policy of a page of the site, which loads files beside it.

    A page that is opened from a folder has no origin in some browsers, hence ``file:``, which
    no page on the web may load anything from.  ``base`` allows the page to say where it is.
    """
    own = "'self' file:"
    return "; ".join(
        [
            "default-src 'none'",
            " ".join(["script-src", own, "'wasm-unsafe-eval'", *sorted(set(hashes))]),
            f"style-src {own} 'unsafe-inline'",
            f"img-src {own} data: blob:",
            f"font-src {own} data:",
            f"connect-src {own}",
            "worker-src blob:",
            f"frame-src {own}",
            f"manifest-src {own}",
            f"form-action {own}",
            "base-uri " + (own if base else "'none'"),
        ]
    )


def alone_policy(scripts: Iterable[str] = ()) -> str:
    """The policy of a page that needs no other file; ``scripts`` are the texts we put into it."""
    allowed = sorted({script_hash(text) for text in scripts})
    allowed = ["'wasm-unsafe-eval'", *allowed] if allowed else ["'none'"]
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(allowed)}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "font-src data:",
            "worker-src blob:",
            "form-action 'none'",
            "base-uri 'none'",
        ]
    )


def served_policy(page: str) -> str:
    """The policy of a page that a server of this machine sends, as a header.

    Scripts come from this server or stand in the page; whatever else is inline does not run.
    """
    return "; ".join(
        [
            "default-src 'self'",
            " ".join(["script-src 'self' 'wasm-unsafe-eval'", *sorted(set(inline_hashes(page)))]),
            "worker-src 'self' blob:",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


def seal_page(page: str, policy: str) -> str:
    """The page with its policy behind the charset, before anything that could be a script.

    Where a script comes before the charset, or there is none, it is at the beginning of the head.
    """
    place = _CHARSET.search(page)
    if place is None or "<script" in page[: place.start()].lower():
        place = _BEGINNING.match(page)
        assert place is not None  # it may be empty
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return f"{page[: place.end()]}\n{meta}{page[place.end() :]}"


def written_scripts(source: str) -> list[str]:
    """The inline scripts of the documents that a script writes, as in ``document.write("...")``."""
    found = []
    for literal in re.findall(r'document\.write\("((?:[^"\\]|\\.)*)"', source, re.DOTALL):
        found += inline_hashes(_decoded(literal))
    return found


def _decoded(literal: str) -> str:
    """The text of a string of JavaScript."""
    signs = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}

    def sign(match: re.Match[str]) -> str:
        if code := match[1] or match[2]:
            return chr(int(code, 16))
        return signs.get(match[3], match[3])

    return re.sub(r"\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))", sign, literal, flags=re.DOTALL)
