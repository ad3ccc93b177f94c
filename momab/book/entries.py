"""The entries of the ledger as the book needs them: names, verdicts, places, and who uses whom.

The book knows no mathematics, so it reads ``book/claims.yml`` as a list of names; `momab.ledger`
validates it and runs the checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

OURS, BACKGROUND = "ours", "background"
LOOSE = ("text", "table", "figure")
"""Kinds of entries that are statements only if they have a block on a page."""
LEDGERS = {OURS: "referee", BACKGROUND: ""}
"""The page with the entry of a kind; of all others it is the paper's ledger."""
MARKS = {
    "verified": "verified",
    "verified with a caveat": "caveat",
    "corrected": "corrected",
    "sharpened": "sharpened",
    "proved": "proved",
    "measured": "measured",
    "conjectured": "conjectured",
    "open": "open",
    "": "background",
}
"""The class of a verdict or status in the style sheet."""


@dataclass(frozen=True)
class FormalCheck:
    """The theorems behind an entry, what they assume beyond it, which part they are about."""

    theorems: tuple[str, ...]
    hypothesis: str = ""
    part: str = ""
    note: str = ""

    @property
    def extent(self) -> str:
        """How much a machine has checked: yes, with a hypothesis, in part."""
        return "in part" if self.part else "with a hypothesis" if self.hypothesis else "yes"

    @property
    def remark(self) -> str:
        """The hypothesis or the part; empty if there is none."""
        return self.part or self.hypothesis


@dataclass(frozen=True)
class LedgerEntry:
    """One entry of the ledger."""

    id: str
    kind: str
    label: str
    title: str
    page: str
    block: str = ""
    uses: tuple[str, ...] = ()
    verdict: str = ""
    """The verdict on a claim of the paper, the status of one of ours; empty for background."""
    formal: FormalCheck | None = None
    """What a machine has checked of it."""

    @property
    def ledger(self) -> str:
        """The page of the ledger that has the entry; empty for background."""
        return LEDGERS.get(self.kind, "claims")

    @property
    def anchor(self) -> str:
        """Where the entry stands on that page."""
        return f"claim-{self.id}"

    @property
    def mark(self) -> str:
        """The class of its verdict."""
        return MARKS.get(self.verdict, "background")

    @property
    def name(self) -> str:
        """Label and title, as in "Lemma 9: Certification"."""
        return self.title if self.kind == BACKGROUND else f"{self.label}: {self.title}"


def read_entries(root: Path) -> tuple[LedgerEntry, ...]:
    """The entries of a book's source, in the order of the file; none if there is no ledger."""
    path = root / "book" / "claims.yml"
    return _parsed(path.read_text(encoding="utf-8")) if path.is_file() else ()


@lru_cache(maxsize=4)  # a build asks for it on every page
def _parsed(text: str) -> tuple[LedgerEntry, ...]:
    import yaml

    return tuple(_entry(found) for found in yaml.safe_load(text))


def _entry(found: Mapping[str, Any]) -> LedgerEntry:
    kind, number = found["kind"], str(found.get("number", ""))
    named = number if kind in ("text", OURS) else f"{kind.title()} {number}"
    return LedgerEntry(
        id=found["id"],
        kind=kind,
        label=found["title"] if kind == BACKGROUND else named,
        title=found["title"],
        page=found["page"],
        block=found.get("block") or "",
        uses=tuple(found.get("uses") or ()),
        verdict=found.get("status") or found.get("verdict") or "",
        formal=_formal(found.get("formal")),
    )


def _formal(found: Mapping[str, Any] | None) -> FormalCheck | None:
    return FormalCheck(**{**found, "theorems": tuple(found["theorems"])}) if found else None


def statements(entries: Iterable[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    """The entries that the graph shows: all but tables, figures and passages without a block."""
    return tuple(entry for entry in entries if entry.kind not in LOOSE or entry.block)


def by_block(entries: Iterable[LedgerEntry]) -> dict[str, list[LedgerEntry]]:
    """The entries of each block that has some."""
    found: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        if entry.block:
            found.setdefault(entry.block, []).append(entry)
    return found
