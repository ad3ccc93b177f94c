"""Light pages: what is not used is not sent."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from momab.book.drawings import short_path, slim
from momab.book.styles import Vocabulary, only_used

SHEET = """
.used > a:hover { color: red } .unused, p.used { margin: 0 } #gone { top: 0 }
@media print { .unused { left: 0 } table { right: 0 } }
@font-face { font-family: "Font Awesome 6" } @keyframes turn { to { top: 1px } }
.used:not(.unused) { bottom: 0 }
"""


def test_only_rules_that_may_apply_remain() -> None:
    words = Vocabulary()
    words.read_page('<p class="used other"><a id="here">x</a></p><table></table>')
    kept = only_used(SHEET, words)
    for name in ("color: red", "p.used{", "right: 0", "@keyframes turn", "bottom: 0"):
        assert name in kept
    for name in (".unused,", "#gone", "left: 0", "Awesome"):
        assert name not in kept


def points(path: str) -> list[float]:
    """The absolute coordinates of a path."""
    found: list[float] = []
    at, start, command = (0.0, 0.0), (0.0, 0.0), ""
    size = {"M": 2, "L": 2, "Q": 4, "C": 6}
    tokens = re.findall(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)", path)
    while tokens:
        if tokens[0].isalpha():
            command = tokens.pop(0)
        if command in "zZ":
            at = start
            continue
        values = [float(tokens.pop(0)) for _ in range(size[command.upper()])]
        if command.islower():
            values = [value + at[i % 2] for i, value in enumerate(values)]
        at = values[-2], values[-1]
        start = at if command == "M" else start
        found += values
    return found


@pytest.mark.parametrize(
    "path",
    [
        "M 38.180865 223.91976 \nL 265.31976 223.91976 \nL 265.31976 67.23272 \nz\n",
        "M 0 3 \nC 0.795609 3 1.55874 2.683901 2.12132 2.12132 \nQ -1 -0.5 0 0 \nz\nM 1 1 \nL 0 0",
        "M 1594 -77 \nQ 979 -77 630 476 \nL 630 476 \nL 0.00004 -0.00004",
    ],
)
def test_a_short_path_leads_through_the_same_points(path: str) -> None:
    assert len(short_path(path)) < len(path)
    assert points(short_path(path)) == pytest.approx(points(path), abs=0.0051)


def test_a_path_of_another_kind_stays() -> None:
    assert short_path("M0,0h5v5z") == "M0,0h5v5z"


def test_markers_share_their_style_and_keep_their_names_apart() -> None:
    svg = (
        '<svg viewBox="0 0 518.4 200" role="img" style="width: 9px"><defs>'
        '<path id="f12345678-mabc" d="M 0 0 \nL 1 1"/></defs><g>'
        '<use xlink:href="#f12345678-mabc" x="1.23456" y="2" style="fill: red"/>\n'
        '<use xlink:href="#f12345678-mabc" x="3" y="4" style="fill: red"/></g></svg>'
    )
    found = slim(svg)
    assert found.count('style="fill: red"') == 1
    assert found.count('href="#f12345678-0"') == 2
    assert 'id="f12345678-0"' in found
    assert 'x="1.23"' in found
    assert "--natural: 518px; width: 9px" in found


def test_a_swarm_of_markers_is_one_line_with_a_marker_at_every_corner() -> None:
    mark, places = "#f12345678-m1", [(3.5 * i, 100.25 - i) for i in range(9)]
    swarm = "".join(
        f'<use xlink:href="{mark}" x="{x}" y="{y}" style="fill: red"/>' for x, y in places
    )
    head = '<svg viewBox="0 0 518.4 200" role="img" style="width: 9px"><defs>'
    svg = (
        f'{head}<path id="{mark[1:]}" d="M 0 0 \nL 1 1"/></defs><g>{swarm}</g><g>{swarm}</g></svg>'
    )
    found = slim(svg)
    lines = re.findall(r'<path d="([^"]*)" style="[^"]*marker: url\(#([^)]*)\)', found)
    assert [points(line) for line, _ in lines] == [pytest.approx(np.ravel(places).tolist())] * 2
    names = re.findall(r'<marker id="([^"]*)"', found)
    assert names == [name for _, name in lines]
    assert len(set(names)) == 2
    assert found.count('<use href="#f12345678-0" style="fill: red"/></marker>') == 2


def test_strokes_of_one_look_are_one_path_unless_they_shine_through() -> None:
    head = '<svg viewBox="0 0 518.4 200" role="img" style="width: 9px">'
    two = '<path d="M 1 2 \nL 3 4" style="{0}"/><path d="M 5 6 \nL 7 8" style="{0}"/>'
    found = slim(head + two.format("fill: none; stroke: red") + "</svg>")
    assert points(re.findall(r' d="([^"]*)"', found)[0]) == [1, 2, 3, 4, 5, 6, 7, 8]
    for style in ("fill: none; stroke-opacity: 0.5", "fill: red"):
        assert slim(head + two.format(style) + "</svg>").count("<path") == 2


def test_nothing_heavy_is_asked_for(parsed: Any) -> None:
    for name in parsed.names:
        scripts = [tag.get("src", "") for tag in parsed.tags(name, "script")]
        assert not [
            s for s in scripts if re.search("fontawesome|bootstrap|mathjax|searchindex|thebe", s)
        ]
    sheets = sum(path.stat().st_size for path in (parsed.root / "_static").rglob("*.css"))
    assert sheets < 300_000


def test_a_first_visit_stays_within_its_budget(parsed: Any) -> None:
    for name in parsed.names:
        files = {tag["src"] for tag in parsed.tags(name, "script") if "src" in tag}
        links = parsed.tags(name, "link")
        files |= {tag["href"] for tag in links if tag["rel"] == "stylesheet"}
        files |= set(re.findall(r'"([\w./-]+\.woff2)"', parsed.text(name).partition("</head>")[0]))
        files |= {f"{name}.html", "_static/fonts/serif-italic.woff2"}
        paths = [parsed.root / file.partition("?")[0].removeprefix("/") for file in files]
        assert sum(path.stat().st_size for path in paths) <= 1_500_000, name
