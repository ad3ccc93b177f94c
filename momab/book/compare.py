"""A run beside the default: figures in pairs, and what reads differently marked.

Both are renderings of the same source, so their blocks (paragraphs, cells of tables, captions)
are aligned by what they say apart from numbers, and within a block word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

_BLOCKS = (
    "p",
    "pre",
    "li",
    "td",
    "th",
    "dt",
    "dd",
    "figcaption",
    "caption",
    "h1",
    "h2",
    "h3",
    "h4",
)
_WIDE = 430.0  # points; half a column would make such a drawing illegible
_WORD = re.compile(r"[-−+]?\d[\d,.]*(?<![.,])(?:e[-+]?\d+)?(?:\s?%)?|\w+|[^\w\s]")
_ID = re.compile(r'(\bid="|\bhref="#|url\(#|\baria-(?:labelledby|describedby)=")([^")]+)')


@dataclass(frozen=True)
class Comparison:
    """A run's article with its marks, and how much is marked."""

    article: str
    numbers: int
    figures: int


def compare_pages(default: str, new: str) -> Comparison:
    """The article of a run, set beside the default's."""
    from bs4 import BeautifulSoup

    old_soup, soup = (BeautifulSoup(text, "html.parser") for text in (default, new))
    numbers = 0
    for mine, theirs in _aligned(_blocks(soup), _blocks(old_soup)):
        numbers += _mark(soup, mine, theirs)
    figures = _pair_figures(soup, old_soup)
    return Comparison(str(soup), numbers, figures)


def figures_of(article: str) -> list[str]:
    """The figures of an article, in order."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(article, "html.parser")
    return [str(figure) for figure in soup.select("figure.momab-figure")]


def drawings_of(article: str) -> list[str]:
    """The drawings of an article's figures, without their identifiers."""
    return [
        _ID.sub(r"\1", "".join(re.findall(r"<svg.*?</svg>", f, re.DOTALL)))
        for f in figures_of(article)
    ]


def small_multiples(articles: Sequence[str]) -> list[list[str]]:
    """The figures that differ between renderings of one page: a row each, an entry per rendering.

    An entry is empty where a rendering has fewer figures.
    """
    columns = [figures_of(article) for article in articles]
    drawn = [drawings_of(article) for article in articles]
    rows = []
    for n in range(max(map(len, columns))):
        if len({column[n] if n < len(column) else "" for column in drawn}) > 1:
            cells = [c[n] if n < len(c) else "" for c in columns]
            rows.append([renamed(cell, f"run-{k}-") for k, cell in enumerate(cells)])
    return rows


@dataclass(frozen=True)
class ChangingNumber:
    """A number that reads differently in the runs of a sweep, and the words around it."""

    says: str
    texts: tuple[str, ...]

    @property
    def values(self) -> list[float]:
        """The numbers, one per run."""
        return [_number(text) for text in self.texts]


def changing_numbers(articles: Sequence[str]) -> list[ChangingNumber]:
    """The numbers that differ between renderings of one page, where the words around are the same.

    Blocks are aligned with those of the first rendering; one that some rendering lacks, or that
    says something else there, is left out.
    """
    from bs4 import BeautifulSoup

    first, *others = [_blocks(BeautifulSoup(text, "html.parser")) for text in articles]
    twins: dict[int, list[Any]] = {id(block): [block] for block in first}
    for blocks in others:
        for theirs, block in _aligned(blocks, first):
            twins[id(block)].append(theirs)
    found: dict[tuple[str, ...], ChangingNumber] = {}
    for block in first:
        same = twins[id(block)]
        if block.name == "td" and block.find_previous_sibling(["td", "th"]) is None:
            continue  # it names the line
        tokens = [[token[0] for token in _tokens(one)] for one in same]
        if len(same) < len(articles) or len({len(words) for words in tokens}) > 1:
            continue
        columns = list(zip(*tokens, strict=True))
        changed = [n for n, column in enumerate(columns) if len(set(column)) > 1]
        if any(not _is_number(word) for n in changed for word in columns[n]):
            continue
        for n in changed:
            says = _around(block, [column[0] for column in columns], n)
            found.setdefault((says, *columns[n]), ChangingNumber(says, columns[n]))
    return list(found.values())


def changing_lines(articles: Sequence[str], runs: Sequence[Mapping[str, str]]) -> list[list[str]]:
    """The numbers that change, as lists of words and texts, without the values of the runs."""
    given = {tuple(run[name] for run in runs) for name in runs[0]}
    plain = {tuple(text.replace(",", "") for text in texts) for texts in given}
    return [
        [found.says, *found.texts]
        for found in changing_numbers(articles)
        if tuple(text.replace(",", "") for text in found.texts) not in plain
    ]


def _is_number(word: str) -> bool:
    return bool(re.fullmatch(r"[-−+]?\d[\d,.]*(?:e[-+]?\d+)?(?:\s?%)?", word))


def _number(word: str) -> float:
    plain = word.replace(",", "").replace("−", "-")
    return float(plain.rstrip("% ")) / (100 if "%" in plain else 1)


def _around(block: Any, words: Sequence[str], n: int, before: int = 7, after: int = 3) -> str:
    """What a number is about: its place in a table, or the words around it."""
    if block.name == "td":
        row = block.find_parent("tr")
        table = block.find_parent("table")
        place = row.find_all(["td", "th"]).index(block)
        heads = table.select("thead th, thead td")
        head = heads[place].get_text(" ", strip=True) if place < len(heads) else ""
        line = row.find(["td", "th"]).get_text(" ", strip=True) if place else ""
        return ", ".join(part for part in (head, line) if part)
    left, right = words[max(0, n - before) : n], words[n + 1 : n + 1 + after]
    text = " ".join([*left, "▢", *right])
    text = re.sub(r" (?=[.,;:!?)’%])|(?<=[(‘]) ", "", text)
    return ("… " if n > before else "") + text + (" …" if n + 1 + after < len(words) else "")


def renamed(html: str, prefix: str) -> str:
    """A piece of a page with other identifiers, so that it can stand beside its twin."""

    def replace(match: re.Match[str]) -> str:
        return match[1] + " ".join(prefix + name for name in match[2].split())

    return _ID.sub(replace, html)


# ---- figures -------------------------------------------------------------------------------


def _pair_figures(soup: Any, old_soup: Any) -> int:
    """Put the default's figure beside every figure that differs; how many do."""
    from bs4 import BeautifulSoup

    count = 0
    mine, theirs = (s.select("figure.momab-figure") for s in (soup, old_soup))
    pairs = zip(mine, theirs) if len(mine) == len(theirs) else _aligned(mine, theirs)
    for number, (figure, old) in enumerate(list(pairs)):
        drawn = [one.select_one("svg") for one in (figure, old)]
        if not all(drawn):
            continue
        pictures = list(map(str, drawn))
        if _same(*pictures):
            continue
        count += 1
        text = renamed(str(old), f"default-{number}-")
        twin: Any = BeautifulSoup(text, "html.parser").select_one("figure")
        del twin["id"]
        box = soup.new_tag("div", attrs={"class": "serve-pair", "role": "group"})
        if any(_width(picture) > _WIDE for picture in pictures):
            box["class"] = ["serve-pair", "wide-figures"]
        box["aria-label"] = "A figure with the default values, then with yours"
        figure.replace_with(box)
        for label, one in (("Default", twin), ("Yours", figure)):
            side = soup.new_tag("div", attrs={"class": "serve-side"})
            name = soup.new_tag("p", attrs={"class": "serve-label"})
            name.string = label
            side.extend([name, one])
            box.append(side)
    return count


def _width(drawing: str) -> float:
    """How wide a drawing was drawn, in points."""
    found = re.search(r'viewbox="[-\d.]+ [-\d.]+ ([\d.]+)', drawing, re.IGNORECASE)
    return float(found[1]) if found else 0.0


def _same(mine: str, theirs: str) -> bool:
    """Whether two drawings are the same apart from their identifiers."""
    return _ID.sub(r"\1", mine) == _ID.sub(r"\1", theirs)


# ---- words and numbers -----------------------------------------------------------------------


def _blocks(soup: Any) -> list[Any]:
    """The innermost blocks of text."""
    found: list[Any] = []
    _find_blocks(soup, False, found)
    return found


def _find_blocks(tag: Any, hidden: bool, found: list[Any]) -> bool:
    """Add the blocks of a tag to a list; whether there are any, also ``hidden`` ones."""
    inside, below = False, hidden or _is_uncompared(tag)
    for child in tag.children:
        if getattr(child, "name", None):
            inside |= _find_blocks(child, below, found)
    if tag.name not in _BLOCKS:
        return inside
    if not inside and not hidden:
        found.append(tag)
    return True


def _is_uncompared(tag: Any) -> bool:
    classes = tag.get("class") or []
    return "colophon" in classes or "cell_input" in classes


def _aligned(mine: Sequence[Any], theirs: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Pairs of elements that say the same apart from numbers, or are in the same gap."""
    old, new = ([re.sub(r"\d[\d,.]*", "#", _said(e)) for e in found] for found in (theirs, mine))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal" or (kind == "replace" and i_end - i == j_end - j):
            yield from zip(mine[j:j_end], theirs[i:i_end], strict=True)


def _said(element: Any) -> str:
    return " ".join(text for text, *_ in _tokens(element))


def _tokens(element: Any) -> Iterator[tuple[str, Any, int, int]]:
    """The words of an element: text, its node, and where in it; a formula is one word."""
    for child in element.children:
        name = getattr(child, "name", None)
        if name is None:
            if type(child).__name__ == "NavigableString":
                for match in _WORD.finditer(child):
                    yield match[0], child, match.start(), match.end()
        elif "katex" in (child.get("class") or []):
            told = child.select_one("math") or child
            yield told.get_text().strip(), child, 0, 0
        elif name not in ("svg", "script", "style", "details"):
            yield from _tokens(child)


def _mark(soup: Any, mine: Any, theirs: Any) -> int:
    """Mark the words of a block that the default has not; how many numbers are among them."""
    new, old = list(_tokens(mine)), list(_tokens(theirs))
    if [token[0] for token in new] == [token[0] for token in old]:
        return 0
    matcher = SequenceMatcher(None, [t[0] for t in old], [t[0] for t in new], autojunk=False)
    changes: dict[int, list[tuple[int, int, str]]] = {}
    nodes: dict[int, Any] = {}
    numbers = 0
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind not in ("replace", "insert"):
            continue
        single = i_end - i == j_end - j
        for offset, (text, node, start, end) in enumerate(new[j:j_end]):
            was = old[i + offset][0] if single else " ".join(t[0] for t in old[i:i_end])
            was = was if single or offset == 0 else ""
            if not re.search(r"\w", text):
                continue
            numbers += bool(re.search(r"\d", text))
            if getattr(node, "name", None):
                node["class"] = [*node["class"], "serve-changed"]
                continue
            nodes[id(node)] = node
            changes.setdefault(id(node), []).append((start, end, was))
    for key, marks in changes.items():
        _wrap(soup, nodes[key], marks)
    return numbers


def _wrap(soup: Any, node: Any, marks: Sequence[tuple[int, int, str]]) -> None:
    """Replace a text by itself with marks around its changed words."""
    text, at, pieces = str(node), 0, []
    for start, end, was in marks:
        mark = soup.new_tag("mark", attrs={"class": "serve-changed"})
        mark.string = text[start:end]
        if was:
            mark["data-was"] = was
        pieces += [text[at:start], mark]
        at = end
    node.replace_with(*[piece for piece in [*pieces, text[at:]] if piece != ""])
