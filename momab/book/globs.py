"""What the formal proofs refer to, as Coq has resolved it: read from its ``.glob`` files.

From there come the definitions that one must read to trust a statement, and which theorems a proof
rests on.  Nothing here is written by hand, so nothing can be forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from momab.book.gate import PACKAGE, without_comments

_ITEM = re.compile(r"(def|prf|ind|abbrev|constr) (\d+):\d+ \S+ (\S+)")
_REFERENCE = re.compile(rf"R(\d+):\d+ {PACKAGE}\.(\w+) \S+ (\S+) (def|thm|ind|constr|abbrev)")
_SENTENCE_END = re.compile(r"\.(?=\s|$)")


@dataclass(frozen=True)
class Item:
    """A definition or a theorem: what its text refers to, and what its proof does."""

    file: str
    kind: str
    text: frozenset[str] = frozenset()
    proof: frozenset[str] = frozenset()


def read_globs(paths: Iterable[Path], build: Path) -> dict[str, Item]:
    """All definitions, lemmas and theorems of the sources by name.

    A constructor stands for its type, and a local abbreviation for what it abbreviates.
    """
    found = dict[str, Item]()
    for path in paths:
        source = without_comments(path.read_bytes().decode("latin-1"))  # a letter is a byte
        lines = (build / f"{path.stem}.glob").read_text(encoding="utf-8").splitlines()
        items = [match.groups() for line in lines if (match := _ITEM.fullmatch(line))]
        short, owner = dict[str, set[str]](), ""
        aliases = dict[str, str]()
        for kind, _, name in items:
            if kind == "constr":
                aliases[name] = owner
            else:
                owner = name
        uses = [match.groups() for line in lines if (match := _REFERENCE.fullmatch(line))]
        for kind, start, name in items:
            if kind == "constr":
                continue
            first, last, begin = _spans(source, int(start), kind)
            text, proof = set[str](), set[str]()
            for place, module, other, what in uses:
                if not first <= int(place) < last or (module == path.stem and other == name):
                    continue
                names = short.get(other, set()) if what == "abbrev" else {aliases.get(other, other)}
                (text if int(place) < begin else proof).update(names)
            if kind == "abbrev":
                short[name] = text
            else:
                found[name] = Item(path.stem, kind, frozenset(text), frozenset(proof))
        found |= {
            alias: Item(path.stem, "constr", frozenset({to})) for alias, to in aliases.items()
        }
    return found


def _spans(source: str, start: int, kind: str) -> tuple[int, int, int]:
    """Where an item begins and ends, and where its proof begins."""
    match = _SENTENCE_END.search(source, start)
    end = match.start() if match else len(source)
    if kind != "prf":
        return start, end, end
    close = source.find("Qed.", end)
    return start, close if close > 0 else len(source), end


def to_read(statement: str, items: Mapping[str, Item]) -> tuple[str, ...]:
    """The definitions behind a closed statement, all the way down, in the order of the sources."""
    words = {word.rpartition(".")[2] for word in re.findall(r"[\w'.]+", statement)}
    waiting, found = [word for word in words if word in items], set[str]()
    while waiting:
        name = waiting.pop()
        item = items[name]
        if name in found or item.kind == "prf":
            continue
        found.add(name)
        waiting += [other for other in item.text if other in items]
    return tuple(name for name, item in items.items() if name in found and item.kind != "constr")


def rests_on(name: str, items: Mapping[str, Item], theorems: Iterable[str]) -> tuple[str, ...]:
    """The theorems that a proof uses, directly or through lemmas that are not advertised."""
    known, seen, found = set(theorems), {name}, set[str]()
    waiting = list(items[name].proof)
    while waiting:
        other = waiting.pop()
        if other in seen or other not in items or items[other].kind != "prf":
            continue
        seen.add(other)
        if other in known:
            found.add(other)
        else:
            waiting += items[other].proof
    return tuple(other for other in items if other in found)
