"""What a claim and its outcome are, and the ledger that lists the claims.

``book/claims.yml`` lists every numbered item of the paper, and after them the claims of this book
(kind ``ours``).  Each names a function of `momab.ledger` that recomputes the claim in seconds and
returns a :class:`ClaimOutcome`: whether the statement holds, whether it needed a caveat or a
correction, whether something stronger was seen to hold.  The verdict follows from these facts, and
:func:`audit_claims` compares it with the recorded one.  A claim of ours also has a status, which
says how far we got: proved, measured, conjectured or open.  All words are in the file; the
evidence there has fields, which are filled with the numbers that the check returns.  An entry
may name the statement's block on its page, and the entries that it uses; entries of kind
``background`` are definitions and known results, which others use and no check recomputes.

The book reads the same entries: for badges, cards, the graph of statements and what a machine has
checked.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pydantic import Field, field_validator, model_validator

from momab._util import prose
from momab._util.yaml_files import Strict, fit, parse_yaml
from momab.errors import MomabError

if TYPE_CHECKING:
    import pandas as pd

VERDICTS = ("verified", "verified with a caveat", "corrected", "sharpened")
STATUSES = ("proved", "measured", "conjectured", "open")
"""How far a claim of ours has got."""
OURS = "ours"
BACKGROUND = "background"
KINDS = (
    "theorem",
    "proposition",
    "lemma",
    "corollary",
    "remark",
    "definition",
    "algorithm",
    "table",
    "figure",
    "text",
    OURS,
    BACKGROUND,
)
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
NUMBERED = (
    ("proposition", 1),
    ("remark", 2),
    ("proposition", 3),
    ("theorem", 4),
    ("remark", 5),
    ("corollary", 6),
    ("remark", 7),
    ("proposition", 8),
    ("lemma", 9),
    ("lemma", 10),
    ("lemma", 11),
    ("definition", 1),
    ("algorithm", 1),
    *(("table", n) for n in (1, 2, 3, 4)),
    *(("figure", n) for n in (1, 2)),
)
"""Everything in the paper that bears a number; theorem-like items share one counter."""


@dataclass(frozen=True)
class ClaimOutcome:
    """What a check found, in facts; the verdict follows from them."""

    holds: bool
    """The statement, or what is right of it, was confirmed."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """What was computed, by the names that the claim's evidence has in its fields."""
    wrong: bool = False
    """A part of the paper's text was refuted by a computed example."""
    stronger: bool = False
    """A stronger statement was confirmed, and it is strictly stronger."""
    caveat: bool = False
    """The statement needs a remark, and the computation shows why."""

    @property
    def verdict(self) -> str:
        """One of :data:`VERDICTS`, or "refuted" if the check did not confirm the statement."""
        if not self.holds:
            return "refuted"
        if self.wrong:
            return "corrected"
        if self.stronger:
            return "sharpened"
        return "verified with a caveat" if self.caveat else "verified"


class Formal(Strict):
    """The formal theorems that check a claim, and what stands between them and the claim."""

    theorems: tuple[str, ...] = Field(min_length=1)
    hypothesis: str = ""
    """What the theorems assume beyond the claim."""
    part: str = ""
    """Which part of the claim they are about, if not all of it."""
    note: str = ""

    @property
    def extent(self) -> str:
        """How much is checked: yes, with a hypothesis, in part."""
        return "in part" if self.part else "with a hypothesis" if self.hypothesis else "yes"

    @property
    def remark(self) -> str:
        """The hypothesis or the part; empty if there is none."""
        return self.part or self.hypothesis


class Claim(Strict):
    """One entry of the ledger."""

    id: str
    kind: str
    number: int | str = ""
    title: str = Field(min_length=1)
    statement: str = Field(min_length=1)
    page: str
    block: str = ""
    """The label of the statement on its page, if it has one."""
    uses: tuple[str, ...] = ()
    """The entries that its proof, or its meaning, rests on."""
    formal: Formal | None = None
    """The theorems that a machine has checked; the book compares them with its record."""
    status: str | None = None
    check: str | None = None
    verdict: str | None = None
    proof: str = ""
    """The proof, if it stands on no page."""
    reason: str = ""
    evidence: str = ""
    versions: str = ""
    """How versions of the paper differ here; the book follows version 2."""
    pending: str | None = None

    @field_validator("kind")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in KINDS:
            raise ValueError(f"must be one of {', '.join(KINDS)}; it is {value!r}")
        return value

    @model_validator(mode="after")
    def _settled_or_pending(self) -> Claim:
        if self.kind == BACKGROUND:
            if self.check or self.pending or self.verdict or self.number:
                raise ValueError("background has no number, no check and no verdict")
            return self
        if self.number == "":
            raise ValueError("'number' is missing")
        if (self.pending is None) == (self.check is None):
            raise ValueError("give either a check or why it is pending")
        if self.check and (self.verdict not in VERDICTS or not self.reason):
            raise ValueError(
                f"a checked claim needs a reason and a verdict, one of {', '.join(VERDICTS)}"
            )
        if self.check and not self.evidence:
            raise ValueError("a checked claim needs evidence, a text with fields")
        return self

    @model_validator(mode="after")
    def _ours_has_a_status(self) -> Claim:
        if self.kind != OURS:
            if self.status is not None:
                raise ValueError("only a claim of kind ours has a status")
            return self
        if self.status not in STATUSES:
            raise ValueError(
                f"a claim of kind ours needs a status, one of {', '.join(STATUSES)};"
                f" it is {self.status!r}"
            )
        if not re.fullmatch(r"[A-Z]\d+", str(self.number)):
            raise ValueError(
                "the number of a claim of kind ours is a capital letter and a number, such as P1;"
                f" it is {self.number!r}"
            )
        return self

    @property
    def label(self) -> str:
        """What the paper calls it, such as "Lemma 10", or we, such as "P1"."""
        if self.kind == BACKGROUND:
            return self.title
        if self.kind in ("text", OURS):
            return str(self.number)
        return f"{self.kind.title()} {self.number}"

    @property
    def standing(self) -> str:
        """The verdict on a claim of the paper, the status of one of ours; empty for background."""
        return self.status or self.verdict or ""

    @property
    def mark(self) -> str:
        """The class of its standing in the style sheet."""
        return MARKS.get(self.standing, "background")

    @property
    def name(self) -> str:
        """Label and title, as in "Lemma 9: Certification"."""
        return self.title if self.kind == BACKGROUND else f"{self.label}: {self.title}"

    @property
    def ledger(self) -> str:
        """The page of the ledger that has the entry; empty for background."""
        return LEDGERS.get(self.kind, "claims")

    @property
    def anchor(self) -> str:
        """The label of the entry on that page."""
        return f"claim-{self.id}"

    def function(self) -> Callable[[], ClaimOutcome] | None:
        """Return the check's function; None if the entry is pending."""
        if self.check is None:
            return None
        module, _, name = self.check.rpartition(".")
        function = getattr(importlib.import_module(module), name, None) if module else None
        if not callable(function):
            raise MomabError(f"claim {self.id}: there is no check {self.check!r}.")
        found: Callable[[], ClaimOutcome] = function
        return found


@dataclass(frozen=True)
class ClaimResult:
    """A claim and what its check returned; no outcome for a pending claim."""

    claim: Claim
    outcome: ClaimOutcome | None
    seconds: float = 0.0

    @property
    def agrees(self) -> bool:
        """Whether the check ran and its verdict is the recorded one, or the claim is pending."""
        if self.outcome is None:
            return self.claim.pending is not None
        return self.outcome.verdict == self.claim.verdict

    @property
    def evidence(self) -> str:
        """One or two sentences with the numbers that the check computed."""
        if self.outcome is None:
            return ""
        text = prose.one_line(prose.render(self.claim.evidence, self.outcome.numbers))
        return _NOTATION.sub(_as_power, text)


_NOTATION = re.compile(r"(?<![\w.$])(\d(?:\.\d+)?)e([+-]\d+)\b")


def _as_power(match: re.Match[str]) -> str:
    r"""A number such as 4e-17 as people write it, :math:`4\times10^{-17}`."""
    times = "" if match[1] == "1" else rf"{match[1]}\times"
    return f"${times}10^{{{int(match[2])}}}$"


# --- the file ---------------------------------------------------------------------------


def default_path() -> Path:
    """The ledger's file in a checkout of the book."""
    return Path(__file__).resolve().parents[2] / "book" / "claims.yml"


def read_claims(path: str | Path | None = None) -> tuple[Claim, ...]:
    """Read and validate the ledger's file."""
    path = default_path() if path is None else Path(path)
    try:
        return _parsed(path.read_text(encoding="utf-8"), path)
    except OSError:
        raise MomabError(f"there is no claims file {path}.") from None


@lru_cache(maxsize=4)  # a build asks for them on every page
def _parsed(text: str, path: Path) -> tuple[Claim, ...]:
    entries = parse_yaml(text, str(path))
    if not isinstance(entries, list) or not entries:
        raise MomabError(f"{path} must hold a list of claims.")
    claims = tuple(_claim(entry) for entry in entries)
    ids = [claim.id for claim in claims]
    for name in ids:
        if ids.count(name) > 1:
            raise MomabError(f"the claims file has two entries with the id {name!r}.")
    dependency_order(claims)
    return claims


def claims_of(root: Path) -> tuple[Claim, ...]:
    """The claims of a book's source, in the order of the file; none if it has no ledger."""
    path = root / "book" / "claims.yml"
    return read_claims(path) if path.is_file() else ()


def statements(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims that the graph shows: all but tables, figures and passages without a block."""
    return tuple(claim for claim in claims if claim.kind not in LOOSE or claim.block)


def by_block(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """The claims of each block that has some."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.block:
            found.setdefault(claim.block, []).append(claim)
    return found


def dependency_order(claims: tuple[Claim, ...]) -> tuple[str, ...]:
    """The ids of the claims such that every claim comes after those that it uses."""
    uses = {claim.id: claim.uses for claim in claims}
    for name, used in uses.items():
        if unknown := [other for other in used if other not in uses]:
            raise MomabError(f"claim {name} uses {unknown[0]!r}, which is not in the file.")
    try:
        return tuple(TopologicalSorter(uses).static_order())
    except CycleError as error:
        circle = ", ".join(error.args[1])
        raise MomabError(f"claims use each other in a circle: {circle}.") from None


def _claim(entry: Any) -> Claim:
    if not isinstance(entry, dict) or "id" not in entry:
        raise MomabError(f"every claim must be a mapping with an id; one is {entry!r}.")
    return fit(entry, Claim, f"claim {entry['id']}")


# --- auditing ---------------------------------------------------------------------------


def uncovered(claims: tuple[Claim, ...]) -> tuple[tuple[str, int], ...]:
    """The numbered items of the paper that no claim covers."""
    covered = {(claim.kind, claim.number) for claim in claims}
    return tuple(item for item in NUMBERED if item not in covered)


def paper_claims(claims: tuple[Claim, ...] | None = None) -> tuple[Claim, ...]:
    """The claims of the paper, in the order of the file."""
    claims = read_claims() if claims is None else claims
    return tuple(claim for claim in claims if claim.kind not in (OURS, BACKGROUND))


def our_claims(claims: tuple[Claim, ...] | None = None) -> tuple[Claim, ...]:
    """Our own claims, by letter and then by number: P2 stands before P10."""
    claims = read_claims() if claims is None else claims
    ours = [claim for claim in claims if claim.kind == OURS]
    return tuple(sorted(ours, key=lambda claim: (claim.label[0], int(claim.label[1:]))))


def audit_claim(claim: Claim) -> ClaimResult:
    """Run the check of one claim."""
    function = claim.function()
    if function is None:
        return ClaimResult(claim, None)
    start = perf_counter()
    outcome = function()
    return ClaimResult(claim, outcome, perf_counter() - start)


def audit_claims(claims: tuple[Claim, ...] | None = None) -> tuple[ClaimResult, ...]:
    """Run every check of the ledger."""
    return tuple(audit_claim(claim) for claim in (read_claims() if claims is None else claims))


COLUMNS = (
    *("id", "item", "kind", "title", "statement", "page", "block", "status"),
    *("verdict", "recorded", "formal", "checked", "proof", "reason", "evidence"),
    *("versions", "seconds"),
)


def ledger_table(results: tuple[ClaimResult, ...]) -> pd.DataFrame:
    """One row per claim, for the ledger's pages; a claim of the paper has no status.

    Where a proof, a reason or the evidence names one of our claims, such as B1, it is a reference.
    """
    import pandas as pd

    entries = {claim.label: claim.id for claim in our_claims()}
    return pd.DataFrame(
        (
            {
                "id": result.claim.id,
                "item": result.claim.label,
                "kind": result.claim.kind,
                "title": result.claim.title,
                "statement": _referring(result.claim.statement, entries),
                "page": result.claim.page,
                "block": result.claim.block,
                "status": result.claim.status or "",
                "verdict": result.outcome.verdict if result.outcome else "pending",
                "recorded": result.claim.verdict or "pending",
                "formal": result.claim.formal.extent if result.claim.formal else "no",
                "checked": machine_checked(result.claim.formal),
                "proof": _referring(result.claim.proof, entries),
                "reason": _referring(result.claim.reason or result.claim.pending or "", entries),
                "evidence": result.evidence,
                "versions": _referring(result.claim.versions, entries),
                "seconds": round(result.seconds, 2),
            }
            for result in results
        ),
        columns=list(COLUMNS),
    )


def machine_checked(formal: Formal | None) -> str:
    """What a machine has checked of a claim, in one sentence."""
    if formal is None:
        return "No."
    said = formal.extent.capitalize() + (f" ({formal.remark})" if formal.remark else "")
    return f"{said}: {', '.join(f'`{name}`' for name in formal.theorems)}."


def _referring(text: str, entries: Mapping[str, str]) -> str:
    """The text in one line, the labels of entries in it as references to them."""

    def reference(match: re.Match[str]) -> str:
        name = entries.get(match[0])
        return f"{{ref}}`{match[0]} <claim-{name}>`" if name else match[0]

    return re.sub(r"\b[A-Z]\d+\b", reference, " ".join(text.split()))


def status_counts(claims: tuple[Claim, ...]) -> dict[str, int]:
    """How many of the claims have each status, in the order of :data:`STATUSES`."""
    return {status: sum(claim.status == status for claim in claims) for status in STATUSES}
