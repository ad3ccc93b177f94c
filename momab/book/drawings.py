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
_SWARM = re.compile(r'<g([^>]*?)( style="[^"]*")>((?:<use href="(?P<mark>[^"]*)"[^>]*/>){8,})</g>')
_USE = re.compile(r'<use href="([^"]*)" x="(-?[\d.]+)" y="(-?[\d.]+)"/>')
_STROKES = re.compile(r'<path d="(M[^"]*)"([^>]*)/>(?:<path d="M[^"]*"\2/>)+')
_SHIFT = re.compile(r"translate\((-?[\d.]+)[ ,]+(-?[\d.]+)\)")
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
    svg = _SWARM.sub(_as_one_line, svg)
    svg = _STROKES.sub(_as_one_stroke, svg)
    svg = _SHIFT.sub(lambda match: f"translate({_rounded(match[1])} {_rounded(match[2])})", svg)
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


def _as_one_line(match: re.Match[str]) -> str:
    """Many equal markers as the corners of one line, which is not drawn itself.

    Every marker is still painted on its own, so transparent ones add up as before.
    """
    places = _USE.findall(match[3])
    if len(places) != match[3].count("<use") or {mark for mark, _, _ in places} != {match["mark"]}:
        return match[0]
    name = f"{match['mark'].removeprefix('#')}m{match.start()}"
    corners = short_path("M " + " L ".join(f"{x} {y}" for _, x, y in places))
    return (
        f'<marker id="{name}" markerUnits="userSpaceOnUse" overflow="visible">'
        f'<use href="{match["mark"]}"{match[2]}/></marker>'
        f'<g{match[1]}><path d="{corners}" '
        f'style="fill: none; stroke: none; marker: url(#{name})"/></g>'
    )


def _as_one_stroke(match: re.Match[str]) -> str:
    """Lines of one look in one path, unless they shine through each other."""
    if "fill: none" not in match[2] or "opacity" in match[2] or " id=" in match[2]:
        return match[0]
    lines = re.findall(r'<path d="([^"]*)"', match[0])
    return f'<path d="{"".join(lines)}"{match[2]}/>'


def _rounded(number: str) -> str:
    return _short(float(number), 2)


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
