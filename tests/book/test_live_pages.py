"""The explorables in a real browser: keyboard, pointer, address, the same digits in Python."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from momab.book import live
from momab.book.plain import plain_markdown
from momab.book.single_page import _single_file
from tests.accessibility import violations
from tests.browsing import ParsedSite, Visit
from tests.conftest import ROOT

FOLDER = ROOT / "book" / "live"
NAMES = live.explorables(FOLDER)
PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{name}</title>
<link rel="icon" href="data:,"><style>/* style */</style></head>
<body style="margin: 8px; background: var(--pst-color-background)"><main><h1>{name}</h1>
<p id="before">A recorded picture.</p>
<div class="momab-live" id="live-{name}" data-live="{name}" data-instead=""></div></main>
<script defer src="core.js"></script><script defer src="{name}.js"></script></body></html>"""
#: A change of every explorable by its first slider or handle, and what Python prints of it:
#: numbers that the words of the page must show, with so many digits.
CHANGES = {
    "local-charge": "lead=0.3&a=0.06&b=0.09&at=0.65,0.52",
    "width-floor": "n=900&lead=0.44&errors=-0.7,0.6",
    "regret-theorem": "c=1.5&horizon=50000&seed=4&means=0.8,0.4;0.4,0.6;0.5,0.3;0.3,0.35",
    "lower-bound": "a=0.62&b=0.44&arms=7&horizon=9000",
    "price": "horizon=30000&means=0.8,0.3;0.62,0.62;0.3,0.8;0.55,0.5;0.7,0.2;0.15,0.65;0.2,0.1",
    "index": "first=0.2&arms=5",
    "model": "means=0.75,0.35;0.35,0.75;0.55,0.6;0.35,0.3;0.6,0.2;0.75,0.1",
    "zero-gap": "b=0.62,0.8",
    "confidence-event": "c=0.25&p=0.45&n=700&seed=5",
    "algorithm": "c=0.04&seed=9&certificate=kl",
    "own-data": "horizon=5000&c=0.05&seed=3&out=2,4",
    "sixty-runs": "group=kuairec-misleading&drawn=37&seed=4294967295",
    "pareto-ucb1": "at=0.73,4&T=30000&seed=6",
    "tuning": "w=0.005&s=0.002&which=validated",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page for every explorable; it is opened without a server."""
    target = tmp_path_factory.mktemp("pages")
    live.write_scripts(FOLDER, target)
    sheets = ROOT / "book" / "_static" / "momab.css", FOLDER / "live.css"
    style = "".join(sheet.read_text() for sheet in sheets)
    for name in NAMES:
        page = PAGE.format(name=name).replace("/* style */", style)
        (target / f"{name}.html").write_text(page)
    return target


# After a picture and after the clock of the address, which was set before this one.
LATER = "() => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 300)))"


class Explorable:
    """An explorable in a page, as somebody who reads it would use it."""

    def __init__(self, page: Any, name: str) -> None:
        self.page, self.name = page, name
        self.settle()

    def settle(self) -> None:
        """Wait until the address is written and all runs are played."""
        self.page.wait_for_selector("[data-live][data-ready]")
        self.page.evaluate(LATER)
        self.page.wait_for_selector('[data-live]:not([aria-busy="true"])')

    def text(self, what: str) -> str:
        return str(self.page.inner_text(f".live-{what}")).strip()

    @property
    def address(self) -> str:
        return str(self.page.evaluate("location.hash"))

    @property
    def fields(self) -> Any:
        """What every control and every handle says."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll("[data-live] input, [data-live] select")]
                 .map((node) => node.type === "checkbox" ? node.checked : node.value)
                 .concat([...document.querySelectorAll(".live-handle")]
                   .map((node) => node.getAttribute("aria-valuetext")))"""
        )

    @property
    def python(self) -> str:
        """The code that is said to give the same digits."""
        self.page.click("text=The same in Python")
        self.page.wait_for_selector(".live-python:not([hidden])")
        return str(self.page.inner_text(".live-python code"))

    def press(self, key: str) -> Any:
        """Press a key on the first slider or handle, and say where it stands then."""
        self.page.focus(".live-controls input[type=range], .live-handle")
        self.page.keyboard.press(key)
        self.settle()
        return self.page.evaluate(
            """() => { const node = document.activeElement;
                 return node.value ?? node.getAttribute("transform"); }"""
        )


@contextmanager
def opened(
    browser: Any, folder: Path, name: str, asked: str | None = None, **options: Any
) -> Iterator[Explorable]:
    """Open an explorable, at an address if asked for; nothing may go wrong meanwhile."""
    place = "" if asked is None else f"#{asked}"
    with Visit(browser, f"{folder.as_uri()}/", name, place, **options) as visit:
        yield Explorable(visit.page, name)
        assert visit.trouble == []


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_is_there_before_any_touch(browser: Any, folder: Path, name: str) -> None:
    with opened(browser, folder, name) as it:
        assert len(it.text("words")) > 40
        assert "…" not in it.text("words")
        assert "NaN" not in it.page.inner_html(".live-stage")
        assert it.text("status") == ""
        assert it.address == ""
        assert not it.page.is_visible("#before")
        it.page.emulate_media(media="print")
        assert it.page.is_visible("#before")
        assert not it.page.is_visible("[data-live]")


@pytest.mark.parametrize("name", NAMES)
def test_keys_move_it_and_shift_moves_it_less(browser: Any, folder: Path, name: str) -> None:
    def numbers(said: str) -> np.ndarray:
        return np.array(re.findall(r"[\d.]+", said), dtype=float)

    with opened(browser, folder, name) as it:
        start, words = it.fields, it.text("words")
        places = [it.press(key) for key in ("ArrowUp", "ArrowUp", "Shift+ArrowUp", "ArrowUp")]
        steps = [np.abs(numbers(b) - numbers(a)).max() for a, b in pairwise(places[1:])]
        assert 0 < steps[0] < 0.6 * steps[1], places
        assert it.fields != start
        assert it.address.startswith(f"#live-{name}?")
        it.page.click("text=Reset")
        it.settle()
        assert (it.fields, it.text("words"), it.address) == (start, words, f"#live-{name}")


@pytest.mark.parametrize("name", NAMES)
def test_a_pointer_moves_it(browser: Any, folder: Path, name: str) -> None:
    with opened(browser, folder, name) as it:
        start = it.fields
        box = it.page.locator(".live-handle, input[type=range]").last.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        it.page.mouse.move(x, y)
        it.page.mouse.down()
        it.page.mouse.move(x + 7, y - 41, steps=4)
        it.page.mouse.up()
        it.settle()
        assert it.fields != start
        assert it.address.startswith(f"#live-{name}?")


@pytest.mark.parametrize("name", NAMES)
def test_an_address_shows_what_was_seen(browser: Any, folder: Path, name: str) -> None:
    with opened(browser, folder, name) as it:
        for key in ("ArrowRight", "ArrowUp", "Shift+ArrowUp"):
            it.press(key)
        seen = it.fields, it.text("words"), it.python, it.address
        assert it.address != ""
    with opened(browser, folder, name, seen[-1].removeprefix("#")) as it:
        assert (it.fields, it.text("words"), it.python, it.address) == seen


@pytest.mark.parametrize("name", NAMES)
def test_an_impossible_address_is_a_sentence(browser: Any, folder: Path, name: str) -> None:
    with opened(browser, folder, name, f"live-{name}?means=abc") as it:
        start, words = it.fields, it.text("words")
        assert it.text("status").startswith("The address asks for means = abc")
        for asked in ("b=9,9", "c=1e99", "n=100.5", "seed=-1", "__proto__=1", "%E0%A4%A=%"):
            it.page.evaluate("(asked) => { location.hash = asked; }", f"live-{name}?{asked}")
            it.settle()
            assert re.fullmatch(r"The address asks for .+ is shown\.", it.text("status")), asked
            assert (it.fields, it.text("words")) == (start, words)
        it.press("ArrowUp")
        assert it.fields != start
        assert it.text("status") == ""


def local_charge_words(printed: str, tidy: Any) -> list[str]:
    (leader, low, high, proved), (arm, cost, width), missing = (
        line.split(maxsplit=3) for line in printed.splitlines()
    )
    assert (leader, proved, missing) == ("A", "False", ["['B']"])
    return [
        f"L of A = {tidy(low)} is not above U of B = {tidy(high)}. The width is W = {tidy(width)}.",
        f"{arm} has the larger radius and is pulled; it costs {tidy(cost)} of its radii.",
        "misses its true mean (B)",
    ]


def width_floor_words(printed: str, tidy: Any) -> list[str]:
    first, last = printed.splitlines()
    leader, low, high, width, ratio = first.split()
    other = "B" if leader == "A" else "A"
    common, worst = re.findall(r"\d+", last)
    relation = "above" if float(low) > float(high) else "not above"
    return [
        f"L of {leader} = {tidy(low, 4)} is {relation} U of {other} = {tidy(high, 4)}",
        f"W = {tidy(width, 4)} is {tidy(ratio, 4)} times the floor",
        f"open for {tidy(common, 6)} samples, with the worst ones for {tidy(worst, 6)},",
    ]


def regret_theorem_words(printed: str, tidy: Any) -> list[str]:
    paid, charged, uncertified, sharper, theorem, trivial = printed.split()
    assert uncertified == "0"
    times = str(float(theorem) / float(paid))
    more = f", and more than anybody can pay, {tidy(trivial, 4)}"
    return [
        f"Paid: {tidy(paid, 4)}, the mean of 20 runs. Four radii",
        f"every pull make {tidy(charged, 4)}.",
        f"Theorem 4, {tidy(theorem, 4)}: {tidy(times)} times what is paid"
        + (more if float(theorem) > float(trivial) else "."),
        f"sharper bound, {tidy(sharper, 4)}.",
    ]


def lower_bound_words(printed: str, tidy: Any) -> list[str]:
    told, pulls, least, optimal, guided, upper = printed.split()
    return [
        f"kl(b, a) = {tidy(told)} against",
        f"log T / kl = {tidy(pulls)} pulls",
        f"a regret of {tidy(least)} in all. Measured in 10 runs: KL-UCB pays {tidy(optimal)}",
        f"Algorithm 1 pays {tidy(guided)}. The main term of Theorem 4 is {tidy(upper)},",
    ]


def price_words(printed: str, tidy: Any) -> list[str]:
    first, evidence, bounds = printed.splitlines()
    mask, rest = first.strip("[").split("]")
    free = [word == "True" for word in mask.split(", ")]
    arm, value, limit = rest.split()
    lead, bound = bounds.split()
    told = evidence.strip("[]").split(", ")
    pulls = [f"{tidy(x)} (arm {b})" for b, x in enumerate(told, 1) if not free[b - 1]]
    return [
        f"Free: arms {', '.join(str(a) for a, known in enumerate(free, 1) if known)}.",
        f"candidate is arm {arm}:",
        f"a pull tells {', '.join(pulls)}. The price is C = {tidy(value)}:",
        f"per unit of log T; C log T is {tidy(limit)} here.",
        f"g = {tidy(lead)} one would only know C ≤ (K − 1)/(2g) = {tidy(bound)}.",
    ]


PROOFS = {
    "local-charge": local_charge_words,
    "width-floor": width_floor_words,
    "regret-theorem": regret_theorem_words,
    "lower-bound": lower_bound_words,
    "price": price_words,
}


def expected(name: str, printed: str, tidy: Any) -> list[str]:
    """What the words of a page must contain, from what Python printed."""
    if name in PROOFS:
        return PROOFS[name](printed, tidy)
    if name == "model":
        front, gaps, leads = re.findall(r"\[(.*?)\]", printed, re.DOTALL)
        price, arm = printed.splitlines()[-1].split()
        on = [a for a, truth in zip("ABCDEF", front.split(), strict=True) if truth == "True"]
        listed = [f"{a} {tidy(x)}" for a, x in zip("ABCDEF", gaps.split(), strict=True) if float(x)]
        g1, g2 = (tidy(x) for x in leads.split())
        return [
            f"On the front: {', '.join(on)}.",
            f"gaps: {', '.join(listed)}.",
            f"are {g1} and {g2}",
            f"The price is {tidy(price)}, attained by arm {'ABCDEF'[int(arm)]}.",
        ]
    if name == "index":
        costs = [tidy(line.split("] ")[1]) for line in printed.splitlines()]
        return ["plays only costs {}, at saves only {}, at both {}.".format(*costs)]
    if name == "zero-gap":
        assert printed.split() == ["[0.", "0.]", "[", "True", "False]"]
        return ["A still dominates B, but it costs nothing"]
    if name == "confidence-event":
        ever, end = printed.split()
        return [f"paths {ever} leave", f" {end} are outside" if end != "1" else " 1 is outside"]
    if name == "own-data":
        names, geometry, _, *lines = printed.splitlines()
        gap, lead, price, arm = geometry.split(";")
        ends = [line.split(";") for line in lines if line]
        return [
            f"On the front: {', '.join(ast.literal_eval(names))}. ",
            f"gap is {tidy(gap)} (",
            f"lead {tidy(lead)} (",
            f"price {tidy(price)} (settling on {arm}).",
            *(f"{policy} {tidy(mean)}" for policy, mean in ends),
        ]
    if name == "sixty-runs":
        mean, last, wrong, blind, below, close = printed.split()
        commit = {0: "none commits", 1: "1 commits"}.get(
            int(float(wrong)), f"{float(wrong):g} commit"
        )
        return [
            f"Experiment 37 has the average {tidy(last)}: {commit} to a dominated arm. ",
            f"Of 37 experiments {blind} saw no such run; {below} have an average below the mean, ",
            f"{close} are within a factor of two of it. Of all 60,000 runs 546 commit",
            f"; their mean is {tidy(mean)}, the paper’s average of 60 is 8.",
        ]
    if name == "pareto-ucb1":
        theorem, sharper, theirs, trivial, *lost = map(tidy, printed.split())
        return [
            "Width-guided lost {} on average, Pareto UCB1 {}.".format(*lost),
            f"Theorem 4 {theorem}, sharper {sharper}, Pareto UCB1’s {theirs}.",
            trivial,
        ]
    if name == "tuning":
        found = [
            ast.literal_eval(f"[{line.replace('} {', '}, {')}]") for line in printed.splitlines()
        ]
        names = "Width-guided", "Pareto UCB1", "Scalarized UCB"
        return [
            ", ".join(f"{n} {first[n]} (mean rank {tidy(rank[n])})" for n in names) + "."
            for rank, first in found
        ]
    *_, first, counts, regrets = printed.splitlines()
    wrong, _ = counts.split()
    median, most = regrets.split()
    _, when, arm, objective, _ = first.split()
    return [
        f"After {tidy(when, 6)} pulls arm {'ABCDE'[int(arm)]} is",
        f"best on objective {int(objective) + 1}.",
        f"rounds {wrong} certif",
        f"regret of at most {tidy(median)}, the worst has {tidy(most, 4)}.",
    ]


def python_agrees(it: Explorable, name: str, place: Path) -> None:
    """What the copied code prints, executed in a folder, is what the words of a page say."""
    told = subprocess.run(
        [sys.executable, "-c", it.python],
        capture_output=True,
        text=True,
        cwd=place,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
        check=False,
    )
    assert told.returncode == 0, told.stderr

    def tidy(number: str, digits: int = 3) -> str:
        script = "([x, n]) => momabLive.modules.kit.tidy(x, n)"
        return str(it.page.evaluate(script, [float(number), digits]))

    for said in expected(name, told.stdout, tidy):
        assert said in it.text("words")


@pytest.mark.parametrize("name", NAMES)
def test_python_gives_the_same_digits(
    browser: Any, folder: Path, name: str, tmp_path: Path
) -> None:
    late = "&pulls=20000" if name == "algorithm" else ""
    with opened(browser, folder, name, f"live-{name}?{CHANGES[name]}{late}") as it:
        assert it.text("status") == ""
        python_agrees(it, name, tmp_path)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_accessible_and_legible_on_a_phone(
    browser: Any, folder: Path, name: str, theme: str
) -> None:
    with opened(browser, folder, name, viewport={"width": 320, "height": 700}) as it:
        it.page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        it.page.click("text=The same in Python")
        assert violations(it.page) == []
        assert it.page.evaluate("document.documentElement.scrollWidth") <= 320
        sizes = it.page.evaluate(
            """() => { const stage = document.querySelector(".live-stage");
                 const unit = stage.getScreenCTM().a;
                 return [...stage.querySelectorAll("text")]
                   .map((node) => unit * parseFloat(getComputedStyle(node).fontSize)); }"""
        )
        assert min(sizes) >= 11
        it.page.set_viewport_size({"width": 1000, "height": 700})
        it.settle()
        assert violations(it.page) == []


#: States at the edge of what is possible, and what is said about them.
ODD = (
    ("local-charge", "lead=0.6&a=0.3&b=0.02&at=0,1", "B is certified"),
    ("local-charge", "lead=0.02&a=0.3&b=0.3&at=1,0", "miss"),
    ("width-floor", "n=30&lead=0.8&errors=1.5,-1.5", "still open"),
    ("width-floor", "n=50000&lead=0.1&errors=-1.5,1.5", "the lemma promises nothing"),
    ("regret-theorem", "means=0.5,0.5;0.5,0.5&horizon=1000", "Every arm is free"),
    ("regret-theorem", "means=0.7,0.6;0.7,0.6;0.1,0.2&horizon=2000&c=0.2", "Theorem 4 is silent"),
    ("lower-bound", "a=0.4&b=0.6", "Move b below a"),
    ("lower-bound", "a=0.06&b=0.05&arms=20&horizon=1000", "so here it says nothing"),
    ("price", "means=0.8,0.2;0.2,0.8", "Every arm is free"),
    ("price", "means=0.6,0.6;0.6,0.6;0.2,0.2", "and still the price is finite"),
    ("price", "means=0.98,0.98;0.97,0.97;0.02,0.02;0.979,0.02", "The price is C"),
)


@pytest.mark.parametrize(("name", "asked", "said"), ODD)
def test_odd_states_are_drawn(browser: Any, folder: Path, name: str, asked: str, said: str) -> None:
    with opened(browser, folder, name, f"live-{name}?{asked}") as it:
        assert it.text("status") == ""
        assert said in it.text("words")
        stage = it.page.inner_html(".live-stage") + it.text("words")
        assert not re.search(r"NaN|Infinity|undefined|not a number", stage)


def test_who_wants_no_motion_sees_the_end_at_once(browser: Any, folder: Path) -> None:
    with opened(browser, folder, "algorithm", reduced_motion="reduce") as it:
        assert "nothing is certified yet" in it.text("words")
        it.page.click("text=Play or pause")
        it.settle()
        assert "certified as the only best" in it.text("words")


def test_a_run_can_be_watched_and_paused(browser: Any, folder: Path) -> None:
    with opened(browser, folder, "algorithm") as it:
        start = it.text("words")
        it.page.click("text=Play or pause")
        it.page.wait_for_timeout(500)
        it.page.click("text=Play or pause")
        it.settle()
        paused = it.text("words")
        assert start != paused
        it.settle()
        assert it.text("words") == paused


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


def test_a_single_page_carries_its_explorable(browser: Any, folder: Path, tmp_path: Path) -> None:
    """Everything is inside, and the picture of the parameters asked for is not hidden."""
    article = PAGE.format(name="zero-gap").partition("<main>")[2].partition("</main>")[0]
    site = tmp_path / "site"
    live.write_scripts(FOLDER, site / "_static" / "live")
    for sheet in ("pygments.css", "katex/katex.css", "momab.css", "statements.css"):
        (site / "_static" / sheet).parent.mkdir(exist_ok=True)
        (site / "_static" / sheet).write_text("")
    for name, body in (("zero-gap", article), ("plain", "<p>Nothing moves.</p>")):
        page = f'<title>x</title><article class="bd-article">{body}</article>'
        (site / f"{name}.html").write_text(page)
    assert "momabLive" not in _single_file(site, "plain")
    out = tmp_path / "out"
    out.mkdir()
    (out / "zero-gap.html").write_text(_single_file(site, "zero-gap"))
    with opened(browser, out, "zero-gap") as it:
        it.press("ArrowRight")
        assert it.address == "#live-zero-gap?b=0.52%2C0.3"
        assert it.page.is_visible("#before")


def test_a_plain_notebook_has_no_place_for_it() -> None:
    assert plain_markdown("Try it:\n\n:::{live} model\n:instead:\n:::\n\nSo.") == "Try it:\n\n\nSo."


def loaded(parsed: ParsedSite, page: str) -> list[str]:
    """The files of the explorables that a page loads."""
    tags = parsed.page(page).find_all(["script", "link"])
    files = [str(tag.get("src") or tag.get("href") or "") for tag in tags]
    return sorted(re.sub(r".*/live/|\?.*", "", file) for file in files if "/live/" in file)


@pytest.mark.parametrize("edition", ["parsed", "student_site"])
def test_only_pages_with_an_explorable_load_it(
    edition: str, request: pytest.FixtureRequest
) -> None:
    parsed: ParsedSite = request.getfixturevalue(edition)
    found = []
    for page in parsed.names:
        places = [str(tag["data-live"]) for tag in parsed.page(page).select("[data-live]")]
        found += places
        wanted = ["core.js", "live.css", *(f"{name}.js" for name in places)] if places else []
        assert loaded(parsed, page) == sorted(wanted), page
    assert sorted(found) == NAMES
    for name in ("core.js", "live.css", *(f"{name}.js" for name in NAMES)):
        assert (parsed.root / "_static" / "live" / name).is_file()
    sheet = (parsed.root / "_static" / "live" / "live.css").read_text()
    assert sheet == (FOLDER / "live.css").read_text()
