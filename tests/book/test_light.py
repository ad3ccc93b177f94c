"""Light pages: what is not used is not sent."""

from __future__ import annotations

import re
from typing import Any

from momab.book.sphinx.assets import _UNUSED_RULES, short_figure


def test_a_figure_loses_blanks_digits_and_repeated_styles() -> None:
    mark = '<use href="#m" x="{}" y="2" style="{}"/>'
    svg = (
        '<svg viewBox="0 0 518.4 200" role="img" style="width: 9px">\n <g clip-path="url(#p)">\n'
        f" {mark.format(1.23456, 'fill: red')}\n{mark.format(3, 'fill: red')}</g>"
        f"<g>{mark.format(1, 'opacity: 0.5')}{mark.format(2, 'opacity: 0.5')}</g>"
        '<path d="M 38.180865 223.91976 \nL 1594 -7.5 \nz\n" transform="scale(0.015625)"/></svg>'
    )
    found = short_figure(svg)
    assert '<g clip-path="url(#p)" style="fill: red"><use href="#m" x="1.23" y="2"/><use' in found
    assert found.count("opacity: 0.5") == 2  # what shines through adds up
    assert 'd="M38.18 223.91L1594 -7.5z"' in found
    assert "scale(0.015625)" in found
    assert "--natural: 518px; width: 9px" in found


def test_only_pictures_of_icons_and_colours_of_terminals_are_dropped() -> None:
    sheet = ".a .fa-b{top:0}.fa-c:before,.fa-d::before{content:x}.e .-Color{top:0}.fa-lg{left:0}"
    assert _UNUSED_RULES.sub("", sheet) == ".a .fa-b{top:0}.fa-lg{left:0}"


def test_a_first_visit_stays_within_its_budget(parsed: Any) -> None:
    for name in parsed.names:
        files = {tag["src"] for tag in parsed.tags(name, "script") if "src" in tag}
        assert not re.search("fontawesome|bootstrap|mathjax|searchindex|thebe", " ".join(files))
        links = parsed.tags(name, "link")
        files |= {tag["href"] for tag in links if tag["rel"] == "stylesheet"}
        files |= set(re.findall(r'"([\w./-]+\.woff2)"', parsed.text(name).partition("</head>")[0]))
        files |= {f"{name}.html", "_static/fonts/serif-italic.woff2"}
        paths = [parsed.root / file.partition("?")[0].removeprefix("/") for file in files]
        assert sum(path.stat().st_size for path in paths) <= 2_000_000, name
