r"""The notation table against the paper's source, symbol by symbol, and the glossary.

A symbol is a letter with its decoration: ``\widehat\mu_a^{(j)}``.  What fills an index does not
matter, so every index is reduced to its kind (arm a, objective j, round t, count n); marks that
belong to the symbol (star, dagger, P, max, cert, ...) are kept.  Arguments are not part of it.
"""

import contextlib
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "book" / "notation.md"
GLOSSARY = ROOT / "book" / "glossary.md"

IGNORED = {
    r"\pi": "the number 3.14..., in Pareto UCB1's constant; the page says so in a sentence",
}

# ---- symbols of a formula ------------------------------------------------------------------

MACROS = {
    r"\R": r"\mathbb{R}",
    r"\E": r"\mathbb{E}",
    r"\ones": r"\mathbf{1}",
    r"\cF": r"\mathcal{F}",
    r"\hat": r"\widehat",
}
GREEK = [
    *("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta"),
    *("iota", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "varphi"),
    *("chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi"),
    *("Psi", "Omega", "ell"),
]
DECORATIONS = ["widehat", "bar", "overline", "mathbb", "mathbf", "mathcal", "mathrm"]
SIGNS = ["succ", "succeq", "emptyset", "Pr"]
WORDS = ["text"]

Node = Any  # a token, or the list of nodes in a pair of braces


def commands(names: list[str]) -> set[str]:
    return {"\\" + name for name in names}


def tree(formula: str) -> list[Node]:
    """A formula as tokens, with the contents of braces in lists."""
    for short, long in MACROS.items():
        formula = re.sub(re.escape(short) + r"(?![A-Za-z])", lambda _, long=long: long, formula)
    stack: list[list[Node]] = [[]]
    for token in re.findall(r"\\[A-Za-z]+|\\.|\S", formula):
        if token == "{":
            stack.append([])
        elif token == "}":
            group = stack.pop()
            stack[-1].append(group)
        elif token not in (r"\,", r"\!"):
            stack[-1].append(token)
    assert len(stack) == 1, f"unbalanced braces in {formula!r}"
    return stack[0]


def flat(node: Node) -> str:
    return node if isinstance(node, str) else "".join(map(flat, node))


def base_at(nodes: list[Node], i: int) -> tuple[str, int] | None:
    """The letter that starts at i, with its hat or font, and where it ends."""
    token = nodes[i]
    if isinstance(token, list):
        return None
    if token in commands(DECORATIONS):
        inner = flat(nodes[i + 1])
        if token == r"\mathbf" and inner == "1":
            brace = i + 2 < len(nodes) and nodes[i + 2] == r"\{"
            return ("indicator" if brace else "ones"), i + 2
        return (f"{token}{inner}", i + 2) if re.fullmatch(r"\\?[A-Za-z]+", inner) else None
    known = re.fullmatch("[A-Za-z]", token) or token in commands(GREEK + SIGNS)
    return (token, i + 1) if known else None


def index_kind(text: str, base: str, place: int) -> str:
    """What an index stands for; marks stay as they are."""
    if text in (r"\max", r"\min", "(1)"):
        return text
    if mark := re.fullmatch(r"\\mathrm(\w+)", text):
        return mark[1]
    head = text.removeprefix(r"\widehat")[0]
    if place > 0:
        return "j" if head == "j" else "n"
    if text.isdigit():
        return "j" if base == "g" else "t" if base in "AX" else "a"
    kinds = {"j": "j", "t": "t", "s": "t", "T": "T"} | dict.fromkeys("aAbciu", "a")
    return kinds[head]


def subscript_of(nodes: list[Node], base: str) -> str:
    parts, depth = [""], 0
    for text in map(flat, nodes):
        depth += {"(": 1, ")": -1}.get(text, 0)
        if text == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += text
    return ",".join(index_kind(part, base, place) for place, part in enumerate(parts))


def superscript_of(nodes: list[Node], base: str) -> str | None:
    """The mark, or None for an exponent."""
    text = flat(nodes)
    if re.fullmatch(r"\((j.*|\d|d)\)", text):
        return "(j)"
    if mark := re.fullmatch(r"\\mathrm(P|init)", text):
        return mark[1]
    return text if text in (r"\star", r"\dagger", "+") or (text, base) == ("c", r"\Omega") else None


def symbols(nodes: list[Node]) -> Iterator[str]:
    """The symbols of a formula in order; those in an index come after the one that has it."""
    i = 0
    while i < len(nodes):
        node = nodes[i]
        if isinstance(node, list):
            yield from symbols(node)
            i += 1
            continue
        if node in commands(WORDS):
            i += 2
            continue
        if node == "[" and flat(nodes[i : i + 3]) in ("[K]", "[d]"):
            yield flat(nodes[i : i + 3])
        found = base_at(nodes, i)
        if found is None:
            i += 1
            continue
        base, i = found
        sub = sup = ""
        inside: list[list[Node]] = []
        while i < len(nodes) and nodes[i] in ("_", "^"):
            mark, script = nodes[i], nodes[i + 1]
            i += 2
            if script == r"\mathrm":
                script = [script, nodes[i]]
                i += 1
            script = script if isinstance(script, list) else [script]
            named = flat(script).startswith(r"\mathrm")
            if mark == "_":
                sub = subscript_of(script, base)
            else:
                sup = superscript_of(script, base) or ""
            if not named and not (mark == "^" and sup and sup != "(j)"):
                inside.append(script)
        yield base + (f"_{sub}" if sub else "") + (f"^{sup}" if sup else "")
        for script in inside:
            yield from symbols(script)


def symbol(formula: str) -> str:
    """The symbol that a formula starts with."""
    return next(symbols(tree(formula)))


# ---- the paper and the page ----------------------------------------------------------------


def sections(tex: str) -> list[tuple[str, str]]:
    """The paper's sections by number, in order; the abstract is section 0."""
    body = re.sub(r"(?<!\\)%.*", "", tex[tex.index(r"\begin{document}") :])
    found, counts, start, number, appendix = [], [0, 0, 0], 0, "0", False
    for match in re.finditer(r"\\appendix\b|\\((?:sub){0,2})section\{", body):
        found.append((number, body[start : match.start()]))
        start = match.end()
        if match[1] is None:
            appendix, counts = True, [0, 0, 0]
            continue
        level = match[1].count("sub")
        counts[level] += 1
        counts[level + 1 :] = [0] * (2 - level)
        head = "ABC"[counts[0] - 1] if appendix else str(counts[0])
        number = ".".join([head, *map(str, counts[1 : level + 1])])
    return [*found, (number, body[start:])]


def formulas(text: str) -> list[str]:
    pattern = r"\\\((.+?)\\\)|\\\[(.+?)\\\]|\$(.+?)\$|\\begin\{align\*\}(.+?)\\end\{align\*\}"
    return ["".join(groups) for groups in re.findall(pattern, text, flags=re.DOTALL)]


@pytest.fixture(scope="session")
def first_used(shared) -> dict[str, str]:
    """Every symbol of the paper, and the section that first uses it after the introduction."""
    found: dict[str, str] = {}
    early = set()
    for number, text in sections((shared / "paper" / "paper.tex").read_text(encoding="utf-8")):
        for formula in formulas(text):
            for name in symbols(tree(formula)):
                if number in ("0", "1"):
                    early.add(name)
                else:
                    found.setdefault(name, number)
    assert early <= found.keys()
    return found


def tables(header: str) -> list[list[str]]:
    """The rows of all tables of the page that have this header."""
    rows, inside = [], False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells == header.split(" | "):
                inside = True
            elif inside and not set(line) <= set("| -"):
                rows.append(cells)
        else:
            inside = False
    return rows


class Row(NamedTuple):
    """A row of the notation table: its symbols, their sections, and what the library calls them."""

    symbols: list[str]
    paper: list[str]
    library: list[tuple[str, str]]


@cache
def notation() -> list[Row]:
    rows = []
    for first, _, paper, _, library in tables("Symbol | Meaning | Paper | Book | Library"):
        names = re.findall(r"\{py:obj\}`([\w.]+) <([\w.]+)>`", library)
        assert names or library == "none", library
        places = re.findall(r"(?<![\w.])[A\d](?:\.\d)*(?=,|$)", paper)
        rows.append(Row([symbol(formula) for formula in formulas(first)], places, names))
    return rows


def listed() -> Counter[str]:
    return Counter(name for row in notation() for name in row.symbols)


def test_the_table_has_the_symbols_of_the_paper(first_used):
    assert IGNORED.keys() <= first_used.keys()
    assert sorted(listed()) == sorted(first_used.keys() - IGNORED.keys())


def test_the_sections_are_those_of_the_paper(first_used):
    """A symbol with one row stands where it is first used; with several, one of them does."""
    places: dict[str, set[str]] = {}
    for row in notation():
        assert row.paper, row
        for number, name in enumerate(row.symbols):
            place = row.paper[number] if len(row.paper) == len(row.symbols) else None
            places.setdefault(name, set()).update([place] if place else row.paper)
    wrong = {name: p for name, p in places.items() if first_used[name] not in p}
    assert wrong == {}


def test_numbered_items_are_in_the_section_that_the_table_says(shared):
    r"""Theorem-like items share a counter; the algorithm and the definition have their own."""
    tex = (shared / "paper" / "paper.tex").read_text(encoding="utf-8")
    home, counter = {}, 0
    for number, text in sections(tex):
        kinds = r"\\begin\{(theorem|proposition|lemma|corollary|remark|algorithm)\}"
        for kind in re.findall(kinds, text):
            counter += kind != "algorithm"
            home[f"{kind.title()} {1 if kind == 'algorithm' else counter}"] = number
    assert counter == 11
    for row in tables("Symbol | Meaning | Paper | Book | Library"):
        if named := re.search(r"[A-Z][a-z]+ \d+", row[2]):
            assert row[2] == f"{home[named[0]]}, {named[0]}"


def test_the_list_of_letters_with_several_meanings_is_complete():
    letters = [flat(tree(formulas(row[0])[0])) for row in tables(LETTERS)]
    bare = [letter.replace(r"\mathbf", "") for letter in letters]
    assert bare == sorted(set(bare), key=bare.index)
    shared_by: dict[str, int] = Counter()
    for row in notation():
        for letter in {re.split(r"[_^]", name)[0] for name in row.symbols}:
            shared_by[{"ones": "1", "indicator": "1"}.get(letter, letter)] += 1
    assert {letter for letter in bare if shared_by[letter] < 2} == set()
    twice = {re.split(r"[_^]", name)[0] for name, count in listed().items() if count > 1}
    assert twice <= set(bare)


LETTERS = "Letter | Meanings | To tell them apart"


def test_the_symbols_in_the_lists_of_coincidences_are_in_the_table():
    known = listed().keys()
    for header, column in ((LETTERS, 1), ("Thing | Symbols | Remark", 1)):
        rows = tables(header)
        assert len(rows) >= 9
        for row in rows:
            for formula in formulas(row[column]):
                assert symbol(formula) in known, formula


# ---- names and labels ----------------------------------------------------------------------


def cut(name: str) -> tuple[str, list[str]]:
    """The module that a dotted name begins with, and what follows."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(".".join(parts[:length]))
            return ".".join(parts[:length]), parts[length:]
    raise AssertionError(name)


def resolve(name: str) -> Any:
    """What a dotted name stands for; the field of a record counts."""
    module, path = cut(name)
    thing: Any = importlib.import_module(module)
    for part in path:
        fields = getattr(thing, "__dataclass_fields__", {})
        thing = fields[part] if part in fields else inspect.getattr_static(thing, part)
    return thing


def library_names() -> list[tuple[str, str]]:
    return sorted({name for row in notation() for name in row.library})


@pytest.mark.parametrize(("text", "target"), library_names())
def test_every_library_name_exists(text, target):
    """What is shown is a function with its module, or a record and a part of it."""
    module, _ = cut(target)
    full = f"{module if text[0].isupper() else module.rpartition('.')[0]}.{text}"
    assert resolve(full) is not None
    assert full.startswith(target)
    assert resolve(target) is not None


# ---- the glossary --------------------------------------------------------------------------


def glossary() -> dict[str, str]:
    """Every word with the first paragraph of its definition."""
    [block] = re.findall(
        r"^```\{glossary\}\n(.*?)^```$", GLOSSARY.read_text(encoding="utf-8"), re.M | re.S
    )
    entries = re.findall(r"^(\S.*)\n((?:  \S.*\n)+)", block, re.M)
    assert len(entries) == len(re.findall(r"^\S", block, re.M))
    return {word: " ".join(text.split()) for word, text in entries}


def test_words_are_in_alphabetical_order():
    words = list(glossary())
    assert words == sorted(words, key=str.casefold)
    assert len({word.casefold() for word in words}) == len(words)


def test_the_notions_of_the_paper_are_explained():
    wanted = (
        "arm, objective, instance, policy, horizon, Pareto order, dominated, Pareto set, front, "
        "Pareto gap, Pareto regret, marginal maximiser, marginal regret, objective gap, "
        "largest objective gap, optimal arm, consistency, confidence radius, leader, "
        "challenger, pair width, race, certificate, commitment, non-certifying round, warm start, "
        "confidence event, union bound, local charge, deficit, width floor, uniformly good, "
        "duplicated coordinates, KL divergence, near-optimal arm, terminal recommendation, "
        "fairness regret"
    )
    assert set(wanted.split(", ")) <= glossary().keys()


def test_first_paragraphs_read_well_as_plain_text():
    """They are shown where the word is used, without mathematics."""
    for word, text in glossary().items():
        assert not set(text) & set("\\{}"), word
        assert text.endswith("."), word
