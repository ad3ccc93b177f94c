"""The HTML of formulas, written shortly: the same boxes in about two thirds of the characters.

KaTeX names the kind of every atom, although no rule of its style sheet asks for it, and repeats
the sizes of a few frequent boxes in every formula.  Here atoms that need no box of their own
become plain letters, and the frequent boxes get classes, whose rules `RULES` adds to the sheet.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"<span([^>]*)>|</span>")
_CLASS = re.compile(r' class="([^"]*)"')
_STYLE = re.compile(r' style="([^"]*)"')
_KINDS = {"mord", "mop", "mbin", "mrel", "mopen", "mclose", "mpunct", "minner", "mtight"}
#: Below these, and below boxes without a class, the sheet has rules for children of any kind.
_SPEAKS_OF_CHILDREN = {"katex-inner", "delim-size1", "delim-size4"}

# What stands in many formulas: class and style as KaTeX writes them, and their common name.
_FREQUENT = {
    ("mspace", "margin-right:.1667em"): "kx3",
    ("mspace", "margin-right:.2222em"): "kx4",
    ("mspace", "margin-right:.2778em"): "kx5",
    ("pstrut", "height:2.7em"): "pstrut",
    ("pstrut", "height:3em"): "pstrut kxp",
    ("vlist", "height:.15em"): "vlist kxv",
    ("mathnormal", "margin-right:.1389em"): "mathnormal kxt",
    ("vlist-t vlist-t2", ""): "vlist-t kx2",
    ("katex-strut", "height:1em;vertical-align:-.25em"): "katex-strut kx1",
    ("katex-sizing reset-size6 size3", ""): "kx7",
    ("", "top:-2.55em;margin-right:.05em"): "kxd",
    ("", "top:-3.063em;margin-right:.05em"): "kxu",
}
RULES = """
.katex :is(.kx3,.kx4,.kx5){display:inline-block}
.katex .kx3{margin-right:.1667em}.katex .kx4{margin-right:.2222em}.katex .kx5{margin-right:.2778em}
.katex .pstrut{height:2.7em}.katex .kx1{height:1em;vertical-align:-.25em}.katex .kx7{font-size:.7em}
.katex .kx2{margin-right:-2px}.katex .kxp{height:3em}.katex .kxv{height:.15em}
.katex .kxt{margin-right:.1389em}
.katex .kxd{top:-2.55em;margin-right:.05em}.katex .kxu{top:-3.063em;margin-right:.05em}
"""


def short_boxes(formula: str) -> str:
    """What KaTeX wrote, with the same look."""
    kept: list[bool] = []  # of every open box, whether it stays one
    strict: list[bool] = [True]  # of every box that stays, whether its children must stay boxes

    def write(match: re.Match[str]) -> str:
        if match[0] == "</span>":
            if not kept:
                return match[0]  # of what is around the drawn part
            stays = kept.pop()
            if stays:
                strict.pop()
            return match[0] if stays else ""
        names, style = _read(match[1])
        unnamed = not _CLASS.search(match[1])
        kept.append(bool(names or style or unnamed or strict[-1]))
        if not kept[-1]:
            return ""
        strict.append(unnamed or not _SPEAKS_OF_CHILDREN.isdisjoint(names))
        return _written(" ".join(names), style, _STYLE.sub("", _CLASS.sub("", match[1])))

    start = formula.find('<span class="katex-html"')
    return formula[:start] + _TAG.sub(write, formula[start:]) if start >= 0 else formula


def _read(attributes: str) -> tuple[list[str], str]:
    """The classes of a box that matter, and its style."""
    found, styled = _CLASS.search(attributes), _STYLE.search(attributes)
    names = [name for name in found[1].split() if name not in _KINDS] if found else []
    style = re.sub(r"(?<![\d.])0\.(?=\d)", ".", styled[1] if styled else "").rstrip(";")
    return names, style.replace("margin-left:0em;", "")


def _written(names: str, style: str, rest: str) -> str:
    """The beginning of a box."""
    if (names, style) in _FREQUENT:
        names, style = _FREQUENT[names, style], ""
    said = f' class="{names}"' if names else ""
    return f"<span{said}{rest}" + (f' style="{style}">' if style else ">")
