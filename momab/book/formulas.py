"""Formulas set by KaTeX while the book is built, so that a page needs no script to show them.

KaTeX runs in an engine that comes as a Python wheel.  A formula becomes HTML for eyes and MathML
for screen readers; `in_words` writes it on one line of plain text, for search results and
definitions that appear on hovering.
"""

from __future__ import annotations

import base64
import html
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from momab.book.timings import step

KATEX = Path(__file__).parent / "katex"
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?!\d)")
_NUMBERED = re.compile(r"(\\(?:begin|end)\{)(align|equation|gather|alignat)\}")
_ANNOTATION = re.compile(r"<annotation .*?</annotation>|</?semantics>", re.DOTALL)
_LAYOUT = re.compile(  # of MathML, which is not drawn
    r" (?:stretchy|fence|separator|lspace|rspace|minsize|maxsize|scriptlevel|displaystyle"
    r'|columnalign|columnspacing|rowspacing|linethickness|width)="[^"]*"'
    r"|<mspace[^>]*></mspace>|<mspace[^>]*/>"
)
_ATTRIBUTE = re.compile(r' (class|style)="([^"]*)"')
_NAMED_BY_NO_RULE = {"mord", "mop", "mbin", "mrel", "mopen", "mclose", "mpunct", "minner", "mtight"}
_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'


_MOST = 10_000  # formulas that are kept in memory

Formulas: TypeAlias = dict[tuple[str, bool, str], str]
"""What formulas look like: by TeX, whether it is displayed, and the kind of output."""


class FormulaError(ValueError):
    """KaTeX does not know what a formula says."""


class Typesetter:
    """Sets formulas, each once; close it, because the engine keeps threads of its own."""

    def __init__(
        self, macros: Mapping[str, str] | None = None, known: Formulas | None = None
    ) -> None:
        """Know the book's own commands; the engine starts with the first formula not known."""
        self._macros = dict(macros or {})
        self._engine: Any = None
        self._known: Formulas = {} if known is None else known

    def close(self) -> None:
        """Stop the engine."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def page(self, tex: str, display: bool = False, tail: str = "") -> str:
        """A formula as HTML with MathML; ``tail`` is punctuation that must stay with it."""
        found = self._set(tex, display, "htmlAndMathml").replace(_NAMESPACE, "")
        told, mark, drawn = _ANNOTATION.sub("", found).partition("</math>")
        found = _LAYOUT.sub("", told) + mark + _ATTRIBUTE.sub(_short_attribute, drawn)
        if tail:
            end, mark = "</span></span></span>", html.escape(tail)
            found = found.removesuffix(end) + f'<span class="tail">{mark}</span>{end}'
            found = found.replace("</math>", f"<mtext>{mark}</mtext></math>", 1)
        return found

    def mathml(self, tex: str, display: bool = False) -> str:
        """A formula as MathML alone."""
        return self._set(tex, display, "mathml")

    def in_words(self, tex: str) -> str:
        """A formula on one line of plain text, such as μ_b ≤ 1/2."""
        found = re.search(r"<semantics>(.*?)<annotation", self.mathml(tex), re.DOTALL)
        text = _flat(ET.fromstring(found[1])) if found else tex
        return " ".join(text.replace(_APPLIED, " ").replace("\u200b", "").split())

    def _set(self, tex: str, display: bool, output: str) -> str:
        key = tex, display, output
        if key not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            with step("formulas"):
                self._known[key] = self._render(prepared(tex), display, output)
        return self._known[key]

    def _render(self, tex: str, display: bool, output: str) -> str:
        from py_mini_racer import JSEvalException, MiniRacer

        if self._engine is None:
            self._engine = MiniRacer()
            self._engine.eval((KATEX / "katex.min.js").read_text(encoding="utf-8"))
        options = {"displayMode": display, "output": output, "macros": self._macros}
        try:
            return str(self._engine.call("katex.renderToString", tex, {**options, **_STRICT}))
        except JSEvalException as error:
            said = re.search(r"ParseError: (?:KaTeX parse error: )?(.*)", str(error))
            why = said[1] if said else str(error).splitlines()[0]
            why = re.split(r" at (?:position|end of input)", why)[0]
            raise FormulaError(f"the formula ${tex.strip()}$ cannot be set: {why}.") from None


def _short_attribute(match: re.Match[str]) -> str:
    """The class of a box without the kind of its atom, its style without needless signs."""
    name, value = match.groups()
    if name == "class":
        value = " ".join(word for word in value.split() if word not in _NAMED_BY_NO_RULE)
    else:
        value = re.sub(r"(?<!\d)0(?=\.)|;$", "", value)
    return f' {name}="{value}"' if value else ""


_STRICT = {"throwOnError": True, "strict": "error"}


def prepared(tex: str) -> str:
    """TeX as KaTeX needs it: 100,000 is one number, and displays have no numbers of their own."""
    tex = _THOUSANDS.sub(lambda match: match[0].replace(",", "{,}"), tex)
    return _NUMBERED.sub(r"\1\2*}", tex)


def styles() -> str:
    """KaTeX's style sheet, with the one format of fonts that every browser reads."""
    sheet = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    return re.sub(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)', "", sheet)


# What in the HTML of formulas asks for a font; a page fetches its fonts before it needs them.
_FONTS = {
    "Main-Regular": r"katex",
    "Math-Italic": r"mathnormal",
    "Main-Bold": r"mathbf",
    "Main-Italic": r"mathit",
    "AMS-Regular": r"mathbb|amsrm",
    "Caligraphic-Regular": r"mathcal",
    "SansSerif-Regular": r"mathsf|textsf",
    "Typewriter-Regular": r"mathtt|texttt",
    "Size1-Regular": r"delimsizing size1|small-op|delim-size1",
    "Size2-Regular": r"large-op|delimsizing size2",
    "Size3-Regular": r"delimsizing size3",
    "Size4-Regular": r"delim-size4|delimsizing size4",
}


def fonts_of(body: str) -> list[str]:
    """The fonts that the formulas of a page need."""
    return [f"KaTeX_{name}.woff2" for name, sign in _FONTS.items() if re.search(sign, body)]


def inline_styles(body: str) -> str:
    """The style sheet for a page that stands alone, with the fonts it needs inside; '' for none."""
    if not (needed := fonts_of(body)):
        return ""

    def face(match: re.Match[str]) -> str:
        name = match[1]
        if name not in needed:
            return ""
        data = base64.b64encode((KATEX / "fonts" / name).read_bytes()).decode()
        return match[0].replace(f"fonts/{name}", f"data:font/woff2;base64,{data}")

    return re.sub(r"@font-face\{[^}]*url\(fonts/([^)]*)\)[^}]*\}", face, styles())


_JOINED = {"msub": "_", "msup": "^", "munder": "_", "mover": "^", "mfrac": "/"}
_SPACED = set("=≤≥<>≠≈∼→∈∪∩⊂+−⋅×∣:≺≻⪯⪰")


_APPLIED = "\u2061"  # stands behind max, log and their like

# Hats and bars over and under a letter, as the signs that combine with it.
_MARKS = {
    **{("mover", sign): "\u0302" for sign in "^ˆ"},
    **{("mover", sign): "\u0303" for sign in "~˜"},
    **{("mover", sign): "\u0304" for sign in "‾ˉ¯"},
    **{("munder", sign): "\u0332" for sign in "‾_"},
}


def _flat(node: ET.Element) -> str:
    """The text of MathML on one line."""
    parts = [_flat(child) for child in node]
    if len(parts) == 2 and len(parts[0]) == 1 and (node.tag, parts[1].strip()) in _MARKS:
        return unicodedata.normalize("NFC", parts[0] + _MARKS[node.tag, parts[1].strip()])
    if node.tag in _JOINED and len(parts) == 2:
        joined = _JOINED[node.tag].join(_bracketed(part) for part in parts)
        return f"{joined} " if _APPLIED in parts[0] and node.tag != "mfrac" else joined
    if node.tag in ("msubsup", "munderover") and len(parts) == 3:
        return f"{_bracketed(parts[0])}_{_bracketed(parts[1])}^{_bracketed(parts[2])}"
    if node.tag in ("msqrt", "mroot"):
        return f"√{_bracketed(''.join(parts[:1]))}"
    if node.tag in ("mtr", "mspace"):
        return "".join(parts) + " "
    own = (node.text or "").strip()
    if node.tag == "mo" and own in _SPACED:
        return f" {own} "
    return (f"{own} " if own in (",", ";") else own) + "".join(parts)


def _bracketed(text: str) -> str:
    text = text.strip().strip(_APPLIED)
    return text if re.fullmatch(r"[\w.†∗*′∑∏⋆\u0302-\u0332]*|\+|\([^()]*\)", text) else f"({text})"
