"""Style sheets without the rules that no page has a use for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

_TAG = re.compile(r"<([a-zA-Z][\w-]*)([^>]*)>")
_ATTRIBUTE = re.compile(r"""\b(class|id)=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_NESTED = {"media", "supports", "layer", "container"}
_DROPPED = {"charset"}


class Vocabulary:
    """The names that pages and scripts use: elements, classes, identifiers."""

    def __init__(self) -> None:
        """Begin with the elements that browsers add themselves."""
        self.elements = {"html", "head", "body", "tbody", "tr", "td", "th"}
        self.names: set[str] = set()

    def read_page(self, page: str) -> None:
        """Take in the names of a page."""
        for element, attributes in set(_TAG.findall(page)):
            self.elements.add(element.lower())
            for _, *values in _ATTRIBUTE.findall(attributes):
                self.names.update("".join(values).split())

    def read_script(self, script: str) -> None:
        """Take in every word of a script, since it may be a name that it gives."""
        self.names.update(re.findall(r"[A-Za-z][\w-]*", script))
        self.elements.update(re.findall(r"[a-z][a-z0-9]*", script))


def only_used(sheet: str, words: Vocabulary) -> str:
    """The rules of a style sheet that may apply to something."""
    return "".join(_kept(_rules(sheet), words))


@lru_cache(maxsize=32)  # a process that builds one page after another meets the same sheets
def _rules(sheet: str) -> tuple[Any, ...]:
    import tinycss2

    return tuple(tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True))


def _kept(rules: Iterable[Any], words: Vocabulary) -> Iterator[str]:
    import tinycss2

    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [s for s in _split(rule.prelude) if _may_apply(s, words)]
            body = tinycss2.serialize(rule.content).strip()
            if selectors and body:
                prelude = ",".join(tinycss2.serialize(s).strip() for s in selectors)
                yield f"{prelude}{{{body}}}\n"
        elif rule.type == "at-rule":
            yield from _kept_at_rule(rule, words)


def _kept_at_rule(rule: Any, words: Vocabulary) -> Iterator[str]:
    import tinycss2

    name, prelude = rule.lower_at_keyword, tinycss2.serialize(rule.prelude)
    if name in _NESTED and rule.content is not None:
        inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
        if body := "".join(_kept(inner, words)):
            yield f"@{name}{prelude}{{{body}}}\n"
    elif name == "font-face" and "Awesome" in tinycss2.serialize(rule.content):
        return  # icons are drawings of our own
    elif name not in _DROPPED:
        body = f"{{{tinycss2.serialize(rule.content)}}}" if rule.content is not None else ";"
        yield f"@{name}{prelude}{body}\n"


def _split(prelude: list[Any]) -> Iterator[list[Any]]:
    """The selectors of a list, which commas separate."""
    selector: list[Any] = []
    for token in prelude:
        if token == ",":
            yield selector
            selector = []
        else:
            selector.append(token)
    yield selector


def _may_apply(selector: list[Any], words: Vocabulary) -> bool:
    """Whether all names of a selector are used; what is in brackets is not looked at."""
    before = ""
    for token in selector:
        if token.type == "ident":
            known = words.names if before == "." else words.elements if before != ":" else None
            if known is not None and token.value not in known:
                return False
        if token.type == "hash" and token.value not in words.names:
            return False
        before = token.value if token.type == "literal" else ""
    return True
