"""Figures written shortly: the same lines in a third of the characters.

Matplotlib writes coordinates with six decimals and a style with every marker.  A hundredth of a
point is finer than any screen, lines are written as steps from point to point, and a group says
once what its markers have in common.
"""

from __future__ import annotations

import re

_DRAWING = re.compile(r'<svg\b[^>]*\brole="img".*?</svg>', re.DOTALL)
_PATH = re.compile(r'(<path\b[^>]*? d=")([^"]*)(")')
_PLACE = re.compile(r'( (?:x|y)=")(-?[\d.]+)(")')
_MARKERS = re.compile(r"<g((?: clip-path=\"[^\"]*\")?)>((?:<use\b[^>]*/>)+)</g>")
_STYLE = re.compile(r' style="([^"]*)"')
_MARK = re.compile(r'(?<= id=")(f[0-9a-f]{8})-[^"]+')


def slim_drawings(text: str) -> str:
    """HTML whose figures are written shortly."""
    return _DRAWING.sub(lambda match: slim(match[0]), text)


def slim(svg: str) -> str:
    """A figure of Matplotlib, written shortly; anything else stays as it is."""
    if "<text" in svg or "<script" in svg:
        return svg
    svg = re.sub(r'(viewBox="0 0 ([\d.]+) [^>]* style=")', _natural, svg, count=1)
    svg = re.sub(r">\s+<", "><", svg)
    svg = _PATH.sub(lambda match: match[1] + short_path(match[2]) + match[3], svg)
    svg = _PLACE.sub(lambda match: match[1] + _short(float(match[2]), 2) + match[3], svg)
    svg = _MARKERS.sub(_share_style, svg)
    svg = svg.replace("xlink:href=", "href=")
    for number, (name, mark) in enumerate({m[0]: m[1] for m in _MARK.finditer(svg)}.items()):
        svg = re.sub(rf'(?<=["#]){re.escape(name)}(?=[")])', f"{mark}-{number}", svg)
    return svg


def _natural(match: re.Match[str]) -> str:
    """Say how wide a figure is when its letters have their own size; a phone keeps most."""
    return f"{match[1]}--natural: {_short(float(match[2]), 0)}px; "


def _share_style(match: re.Match[str]) -> str:
    """Say the style of a group of markers once, if they have one in common."""
    styles = set(_STYLE.findall(match[2]))
    if len(styles) != 1 or match[2].count(" style=") != match[2].count("<use"):
        return match[0]
    return f'<g{match[1]} style="{styles.pop()}">{_STYLE.sub("", match[2])}</g>'


_IS_NUMBER = re.compile(r"-?[\d.]+(?:e-?\d+)?")
_STEPS = {"M": 2, "L": 2, "Q": 4, "C": 6, "z": 0}


def short_path(data: str) -> str:
    """A path of absolute commands with one set of numbers each, as steps from point to point.

    Points are rounded, then subtracted, so that no error adds up along a path.
    """
    tokens = data.split()
    numbers = [token for token in tokens if token not in _STEPS]
    if not all(map(_IS_NUMBER.fullmatch, numbers)):
        return data  # not of this kind
    places = 2 if any(abs(float(number)) > 20 for number in numbers) else 3
    written, last, at, start = list[str](), "", (0.0, 0.0), (0.0, 0.0)
    rest = iter(tokens)
    for command in rest:
        values = [round(float(next(rest)), places) for _ in range(_STEPS[command])]
        new = command if command == "M" else command.lower()
        if new != last or new in "Mz":
            written.append(new)
        origin = (0.0, 0.0) if new == "M" else at
        written += [_short(value - origin[i % 2], places) for i, value in enumerate(values)]
        at = (values[-2], values[-1]) if values else start
        start = at if new == "M" else start
        last = new
    text = re.sub(r" ?([A-Za-z]) ?", r"\1", " ".join(written))
    return text.replace(" -", "-")


def _short(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    text = text.rstrip("0").rstrip(".") if places else text
    return "0" if text == "-0" else re.sub(r"^(-?)0\.", r"\1.", text)
