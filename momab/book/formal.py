"""The formal proofs as readers meet them: statements taken apart, explained, and set as code.

`proofs/checked.json` says what Coq has checked, `proofs/gloss.yml` says it in plain words.  Nothing
here needs Coq.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from momab.book.gate import without_comments
from momab.book.proofs import RECORD, Record, Theorem, read_record, sources
from momab.errors import MomabError
from momab.ledger.claims import Claim

GLOSS = "gloss.yml"
STALE = "not re-checked since the sources changed"
_WORDS = ("Definition", "Fixpoint", "Inductive", "Theorem", "Lemma")
_DEFINING = re.compile(rf"^\s*({'|'.join(_WORDS)})\s+([\w']+)")
_BRACKET_OR_ARROW = re.compile(r"[(\[{]|[)\]}]|(?<!<)->|\b(?:exists|forall|fun)\b")


@dataclass(frozen=True)
class Gloss:
    """Plain words for theorems, for their hypotheses, and for the names in them."""

    theorems: Mapping[str, str]
    hypotheses: Mapping[str, str]
    names: Mapping[str, str]


@dataclass(frozen=True)
class Checked:
    """What a machine has checked, and whether the sources are still the same."""

    folder: Path
    record: Record
    gloss: Gloss
    current: bool

    @cached_property
    def theorems(self) -> dict[str, Theorem]:
        """The advertised theorems by name, in the order of the sources."""
        return {theorem.name: theorem for theorem in self.record.theorems}

    @property
    def when(self) -> str:
        """One sentence: who checked it and when, and whether that is still so."""
        said = f"Checked by Coq {self.record.coq} on {self.record.date}"
        return f"{said}; {STALE}." if not self.current else f"{said}."

    def explained(self, name: str) -> list[tuple[str, str]]:
        """The hypotheses of a theorem, each with what it means."""
        found, _ = antecedents(self.theorems[name].statement)
        return [(text, self.gloss.hypotheses[text]) for text in dict.fromkeys(found)]


def read_checked(root: Path) -> Checked | None:
    """What stands in the folder ``proofs`` of a book's source; None if there is no such record."""
    folder = root / "proofs"
    if not (folder / RECORD).is_file():
        return None
    record = read_record(folder)
    return Checked(folder, record, read_gloss(folder), record.current(folder))


def read_gloss(folder: Path) -> Gloss:
    """The plain words; the hypotheses in one line each."""
    import yaml

    try:
        found = yaml.safe_load((folder / GLOSS).read_text(encoding="utf-8"))
        hypotheses = {_one_line(text): says for text, says in found["hypotheses"].items()}
        return Gloss(found["theorems"], hypotheses, found["names"])
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError):
        raise MomabError(f"{folder / GLOSS} is missing or damaged.") from None


def _one_line(text: str) -> str:
    """A text with its line breaks and indentation taken out."""
    return " ".join(text.split())


def formal_uses(
    entries: Iterable[Claim], theorems: Mapping[str, Theorem]
) -> dict[str, tuple[str, ...]]:
    """Which checked entries the formal proof of each of them uses, as Coq has resolved it.

    Theorems that belong to no other entry are passed through.  Two entries may share theorems; then
    the one whose first theorem comes later in the sources uses the other.
    """
    checked = [entry for entry in entries if entry.formal]
    order = {name: place for place, name in enumerate(theorems)}
    owners = dict[str, set[str]]()
    place = dict[str, int]()
    for entry in checked:
        assert entry.formal
        place[entry.id] = order[entry.formal.theorems[0]]
        for name in entry.formal.theorems:
            owners.setdefault(name, set()).add(entry.id)
    found = dict[str, tuple[str, ...]]()
    for entry in checked:
        assert entry.formal
        seen, others = set[str](), set[str]()
        waiting = list(entry.formal.theorems)
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            foreign = {o for o in owners.get(name, ()) if place[o] < place[entry.id]}
            others |= foreign
            if not foreign:
                waiting += theorems[name].uses
        found[entry.id] = tuple(other.id for other in checked if other.id in others)
    return found


# ---- statements ----------------------------------------------------------------------------


def antecedents(statement: str) -> tuple[list[str], str]:
    """The hypotheses of a closed statement, each in one line, and what is said under them.

    Quantifiers at the front are passed over; an arrow within brackets belongs to a hypothesis, one
    under a further quantifier to the claim.
    """
    rest, found = _one_line(statement), list[str]()
    while True:
        if rest.startswith("forall "):
            rest = rest[_comma(rest) + 1 :].lstrip()
            continue
        arrow = _arrow(rest)
        if arrow is None:
            return found, rest
        found.append(rest[: arrow.start()].rstrip())
        rest = rest[arrow.end() :].lstrip()


def _comma(text: str) -> int:
    """Where the comma of the quantifier stands with which a text begins."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            return place
    raise MomabError(f"this quantifier has no end: {text}.")


def _arrow(text: str) -> re.Match[str] | None:
    """The first arrow outside brackets, if no quantifier stands before it."""
    depth = 0
    for match in _BRACKET_OR_ARROW.finditer(text):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
        elif depth == 0:
            return match if match[0] == "->" else None
    return None


# ---- sources -------------------------------------------------------------------------------


def anchor(name: str) -> str:
    """Where a definition or a theorem stands on the page of the sources."""
    return f"coq-{name}"


def defined(folder: Path) -> dict[str, tuple[str, int]]:
    """Every definition, lemma and theorem of the sources: its file and its line."""
    found = {}
    for path in sources(folder):
        lines = without_comments(path.read_text(encoding="utf-8")).splitlines()
        for number, line in enumerate(lines, start=1):
            if match := _DEFINING.match(line):
                found[match[2]] = (path.name, number)
    return found


def code_html(text: str, href: Callable[[str], str]) -> str:
    """Coq code as highlighted HTML; names for which ``href`` has an answer are links."""
    return "".join(_written(kind, value, href(value)) for kind, value in _tokens(text))


def source_html(path: Path, names: Mapping[str, tuple[str, int]]) -> str:
    """A source file as highlighted HTML: a target for every name, links from where it is used.

    Proof scripts are for the machine, so only statements and definitions have links, to what
    stands before them.
    """
    order = [source.name for source in sources(path.parent)]
    known = {
        name for name, (file, _) in names.items() if order.index(file) < order.index(path.name)
    }
    pieces, fresh, proof = [], False, False
    for kind, value in _tokens(path.read_text(encoding="utf-8")):
        if value in ("Proof", "Qed", "Defined"):
            proof = value == "Proof"
        if fresh and value in names:
            pieces.append(
                f'<span id="{anchor(value)}" class="coq-name">{html.escape(value)}</span>'
            )
            known.add(value)
            fresh = False
            continue
        if value.strip():
            fresh = value in _WORDS
        linked = not proof and value in known
        pieces.append(_written(kind, value, f"#{anchor(value)}" if linked else ""))
    return "".join(pieces)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """The tokens of Coq code with the short names of their kinds; operators are plain."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import STANDARD_TYPES, Token

    for token, value in get_lexer_by_name("coq", stripnl=False).get_tokens(text):
        plain = token in Token.Name or token in Token.Operator or token in Token.Text
        yield "" if plain else STANDARD_TYPES.get(token, ""), value


def _written(kind: str, value: str, target: str) -> str:
    text = html.escape(value, quote=False)
    if target and not kind.startswith("c"):
        return f'<a href="{html.escape(target)}">{text}</a>'
    return f'<span class="{kind}">{text}</span>' if kind and value.strip() else text
