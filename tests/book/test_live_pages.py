"""The explorables in a real browser: keyboard, pointer, address, the same digits in Python."""

from __future__ import annotations

import re
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from momab.book import live
from momab.book.plain import plain_markdown
from momab.book.single_page import RenderedPage
from tests.accessibility import COLOURS, violations
from tests.book.conftest import EXPLORABLE
from tests.book.exploring import Explorable
from tests.browsing import FRAME, ParsedSite, Visit
from tests.conftest import ROOT

FOLDER = ROOT / "book" / "live"
NAMES = live.explorables(FOLDER)
TOLD = yaml.safe_load((ROOT / "tests" / "book" / "explorables.yml").read_text())
IMPOSSIBLE = ("b=9,9", "c=1e99", "n=100.5", "seed=-1", "__proto__=1", "%E0%A4%A=%", "means=abc")
# Three are driven every day: by a handle, by sliders, and one that plays runs.
DAILY = {"zero-gap", "confidence-event", "lower-bound"}
EACH = [name if name in DAILY else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]


def numbers(said: str) -> np.ndarray:
    return np.array(re.findall(r"[\d.]+", said), dtype=float)


@pytest.mark.parametrize("name", NAMES)
def test_python_and_the_page_give_the_same_digits(bench: Visit, tmp_path: Path, name: str) -> None:
    told = TOLD[name]
    it = Explorable(bench.go(name, f"#live-{name}?{told['at']}"))
    said = it.words
    assert it.status == ""
    printed, found = it.printed(tmp_path)
    assert printed.split() == told["prints"].split()
    assert said == it.filled(told["says"], found)
    for asked, part in told.get("odd", {}).items():
        it.go(f"live-{name}?{asked}")
        assert it.status == ""
        assert part in it.words
        shown = it.page.inner_html(".live-stage") + it.words
        assert not re.search(r"NaN|Infinity|undefined|not a number", shown)
    assert bench.trouble == []


@pytest.mark.parametrize("name", EACH)
def test_an_explorable_can_be_used_by_all(bench: Visit, name: str) -> None:
    """What it shows first, keys, pointer, addresses, paper, a phone, and what axe says."""
    it = Explorable(bench.go(name))
    start, words = it.fields, it.words
    first_sight(it)
    moves_by_keys(it, name)
    it.click("Reset")
    assert (it.fields, it.words, it.address) == (start, words, f"#live-{name}")
    moves_by_pointer(it, name)
    seen = it.fields, it.words, it.python, it.address
    it = Explorable(bench.go(name, it.address))
    assert (it.fields, it.words, it.python, it.address) == seen
    for asked in IMPOSSIBLE:
        it.go(f"live-{name}?{asked}")
        assert re.fullmatch(r"The address asks for .+ is shown\.", it.status), asked
        assert (it.fields, it.words) == (start, words)
    it.press("ArrowUp")
    assert it.fields != start
    assert it.status == ""
    legible_on_a_phone(it)
    assert bench.trouble == []


def first_sight(it: Explorable) -> None:
    assert len(it.words) > 40
    assert "…" not in it.words
    assert "NaN" not in it.page.inner_html(".live-stage")
    assert (it.status, it.address) == ("", "")
    assert not it.page.is_visible("#before")
    it.page.emulate_media(media="print")
    assert it.page.is_visible("#before")
    assert not it.page.is_visible("[data-live]")
    it.page.emulate_media(media="screen")


def moves_by_keys(it: Explorable, name: str) -> None:
    """With Shift a step is smaller."""
    start = it.fields
    places = [it.press(key) for key in ("ArrowUp", "ArrowUp", "Shift+ArrowUp", "ArrowUp")]
    steps = [np.abs(numbers(b) - numbers(a)).max() for a, b in pairwise(places[1:])]
    assert 0 < steps[0] < 0.6 * steps[1], places
    assert it.fields != start
    assert it.address.startswith(f"#live-{name}?")


def moves_by_pointer(it: Explorable, name: str) -> None:
    start = it.fields
    handle = it.page.locator(".live-handle, input[type=range]").last
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    it.page.mouse.move(x, y)
    it.page.mouse.down()
    it.page.mouse.move(x + 7, y - 41, steps=4)
    it.page.mouse.up()
    it.settle()
    assert it.fields != start
    assert it.address.startswith(f"#live-{name}?")


def legible_on_a_phone(it: Explorable) -> None:
    """Accessible in both themes and widths; nothing is wide, no word is small."""
    it.page.click("text=The same in Python")
    assert violations(it.page) == []
    it.page.set_viewport_size({"width": 320, "height": 700})
    it.settle()
    assert violations(it.page) == []
    it.page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    assert violations(it.page, COLOURS) == []
    assert it.page.evaluate("document.documentElement.scrollWidth") <= 320
    sizes = it.page.evaluate(
        """() => { const stage = document.querySelector(".live-stage");
             const unit = stage.getScreenCTM().a;
             return [...stage.querySelectorAll("text")]
               .map((node) => unit * parseFloat(getComputedStyle(node).fontSize)); }"""
    )
    assert min(sizes) >= 11


def test_a_run_can_be_watched_and_paused_and_shown_at_once(bench: Visit) -> None:
    it = Explorable(bench.go("algorithm"))
    start = it.words
    it.page.click("text=Play or pause")
    it.page.wait_for_function(
        "(start) => document.querySelector('.live-words').textContent !== start", arg=start
    )
    it.click("Play or pause")
    paused = it.words
    assert start != paused
    for _ in range(5):  # ten frames, of which a run that goes on needs three
        it.page.evaluate(FRAME)
    assert it.words == paused
    it.page.emulate_media(reduced_motion="reduce")
    it.click("Reset")
    assert "nothing is certified yet" in it.words
    it.click("Play or pause")
    it.page.emulate_media(reduced_motion="no-preference")
    assert "certified as the only best" in it.words


# ---- scripts and pages -----------------------------------------------------------------------


def test_a_page_grows_by_little(folder: Path) -> None:
    common = sum((folder / file).stat().st_size for file in ("core.js", "live.css"))
    assert max(common + (folder / f"{name}.js").stat().st_size for name in NAMES) <= 120_000


def test_comments_are_left_out_and_texts_are_not() -> None:
    source = '// why\n  /** what */\nexport const x = "http://a/**/"; // how\n'
    assert live.classic(source, "m").splitlines()[1:-1] == [
        'const x = "http://a/**/"; // how',
        "",
        "return {x};",
    ]


def test_a_single_page_carries_its_explorable(browser: Any, tmp_path: Path) -> None:
    """Everything is inside, and the picture of the parameters asked for is not hidden."""
    article = EXPLORABLE.format(name="zero-gap").partition("<main>")[2].partition("</main>")[0]
    site = tmp_path / "site"
    live.write_scripts(FOLDER, site / "_static" / "live")
    for sheet in ("pygments.css", "katex/katex.css", "momab.css", "statements.css"):
        (site / "_static" / sheet).parent.mkdir(exist_ok=True)
        (site / "_static" / sheet).write_text("")
    for name, body in (("zero-gap", article), ("plain", "<p>Nothing moves.</p>")):
        page = f'<title>x</title><article class="bd-article">{body}</article>'
        (site / f"{name}.html").write_text(page)
    assert "momabLive" not in RenderedPage.read(site, "plain").file
    (tmp_path / "zero-gap.html").write_text(RenderedPage.read(site, "zero-gap").file)
    with Visit(browser, f"{tmp_path.as_uri()}/", "zero-gap") as visit:
        it = Explorable(visit.page)
        it.press("ArrowRight")
        assert it.address == "#live-zero-gap?b=0.52%2C0.3"
        assert it.page.is_visible("#before")
        assert visit.trouble == []


def test_a_plain_notebook_has_no_place_for_it() -> None:
    assert plain_markdown("Try it:\n\n:::{live} model\n:instead:\n:::\n\nSo.") == "Try it:\n\n\nSo."


@pytest.mark.parametrize(
    "edition", ["parsed", pytest.param("student_site", marks=pytest.mark.slow)]
)
def test_only_pages_with_an_explorable_load_it(
    edition: str, request: pytest.FixtureRequest
) -> None:
    """The addresses of scripts carry checksums, so that no browser shows an older one."""
    parsed: ParsedSite = request.getfixturevalue(edition)
    scripts = parsed.root / "_static" / "live"
    found = []
    for page in parsed.names:
        places = re.findall(r'<[^<>]* data-live="([\w-]+)"', parsed.text(page))
        loaded = re.findall(r'(?:src|href)="_static/live/([\w.-]+)\?v=(\w+)"', parsed.text(page))
        found += places
        wanted = ["core.js", "live.css", *(f"{name}.js" for name in places)] if places else []
        assert sorted(name for name, _ in loaded) == sorted(wanted), page
        assert parsed.text(page).count('"_static/live/') == len(wanted), page
        for name, stamp in loaded:
            assert f"{zlib.crc32((scripts / name).read_bytes()):08x}" == stamp
    assert sorted(found) == NAMES
    assert (scripts / "live.css").read_text() == (FOLDER / "live.css").read_text()
