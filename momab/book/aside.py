"""Formulas and drawings set aside while the rest of a page is worked on.

They are most of a page's tags, so a parser that does not see them is several times faster.
"""

from __future__ import annotations

import re

_PIECE = re.compile(r'(<svg\b.*?</svg>)|<span class="katex">', re.DOTALL)
_SPAN = re.compile(r"<(/?)span\b")
_TAG = re.compile(r"<[^>]*>")
_KEPT = re.compile(
    r'<svg data-kept="(?P<drawing>\d+)"></svg>'
    r'|<span class="(?P<names>katex[^"]*)" data-kept="(?P<formula>\d+)">[^<]*</span>'
)


class Aside:
    """Pieces of pages under numbers; a formula's place holds its text, a drawing's is empty."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.pieces: list[str] = []

    def keep(self, piece: str) -> int:
        """Keep a piece; its number."""
        self.pieces.append(piece)
        return len(self.pieces) - 1

    def without(self, html: str) -> str:
        """A page with places for its formulas and drawings, which are kept."""
        parts, at = [], 0
        while found := _PIECE.search(html, at):
            parts.append(html[at : found.start()])
            at = found.end() if found[1] else _end_of_span(html, found.end())
            piece = html[found.start() : at]
            if found[1]:
                parts.append(f'<svg data-kept="{self.keep(piece)}"></svg>')
            else:
                text = _TAG.sub("", piece.partition("</math>")[0])
                parts.append(f'<span class="katex" data-kept="{self.keep(piece)}">{text}</span>')
        return "".join([*parts, html[at:]])

    def within(self, html: str) -> str:
        """A page with the pieces in their places; a formula keeps the classes it was given."""

        def put(found: re.Match[str]) -> str:
            if found["drawing"]:
                return self.pieces[int(found["drawing"])]
            piece = self.pieces[int(found["formula"])]
            return piece.replace('"katex"', f'"{found["names"]}"', 1)

        return _KEPT.sub(put, html)


def _end_of_span(html: str, at: int) -> int:
    """Where the span ends whose content begins here."""
    depth = 1
    for tag in _SPAN.finditer(html, at):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return html.index(">", tag.end()) + 1
    return len(html)
