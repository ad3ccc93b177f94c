"""Tables that people bring to the page: good ones are played, bad ones are a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from momab.chapters import minimax, own_data, sixty_runs, tuning
from tests.book.exploring import Explorable
from tests.browsing import Visit
from tests.conftest import ROOT

FOLDER = ROOT / "book" / "live"
GOOD = "who,speed,taste\n" + "".join(
    f"{who},{x},{y}\n"
    for who, x, y in (("a", 0.9, 0.2), ("a", 0.8, 0.1), ("b", 0.3, 0.9), ("c", 0.2, 0.1))
)
#: What somebody may bring by mistake or malice, and how the sentence about it begins.
BAD = {
    "empty": ("", "The table is empty"),
    "blank lines": ("\n\n \n", "The table is empty"),
    "header only": ("who,speed\n", "The table has a header and no rows."),
    "one column": ("who\na\nb\n", "The table has one column"),
    "one arm": ("who,x\na,0.1\na,0.2\n", "Column “who” names one arm only"),
    "no numbers": ("who,x\na,red\nb,blue\n", "Beside “who” no column of numbers"),
    "missing cell": ("who,x\na,0.1\nb,\n", "Row 2 of column “x” is empty."),
    "NaN": ("who,x\na,0.1\nb,NaN\n", "Row 2 of column “x” is “NaN”, which is no number."),
    "formula": ("who,x\na,0.1\nb,=1+1\n", "Row 2 of column “x” is “=1+1”, which is no number."),
    "too large": ("who,x\na,1e999\nb,1\n", "Row 1 of column “x” is too large."),
    "huge": ("who,x\na,1e308\nb,-1e308\n", "The numbers of column “x” are too large."),
    "constant": ("who,x\na,7\nb,7\n", "Column “x” has the same number everywhere"),
    "ragged": ("who,x\na,0.1\nb,0.2,0.3\n", "Row 2 has 3 cells, the header has 2."),
    "same name": ("who,x,x\na,0.1,1\nb,0.2,1\n", "Two columns are called “x”."),
    "open quote": ('who,x\n"a,0.1\nb,0.2\n', "Row 1 has a quotation mark"),
    "no name": ("who,x\na,0.1\n,0.2\n", "Row 2 does not say who"),
    "many arms": ("id,x\n" + "".join(f"n{k},0.5\n" for k in range(101)), "Column “id” names 101"),
    "wide": (
        "who," + ",".join(f"x{j}" for j in range(21)) + "\n" + 2 * ("a" + 21 * ",0.5" + "\n"),
        "A page plays with at most 20 objectives",
    ),
    "too many rows": ("who,x\n" + 51_000 * "a,0.5\nb,0.6\n", "A page plays with at most 100,000"),
    "21 MB": ("who,x\n" + "a" * 21_000_000, "A page plays with at most 20 MB"),
    "bytes": (bytes(range(256)) * 40, "This is not a table in plain text"),
    "a workbook": (b"PK\x03\x04\x00\x00", "This is not a table in plain text"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00", "This is not a table in plain text"),
}
#: What the page says of a table of one's own, with the numbers that Python prints.
OWN = (
    "my own.csv: 4 arms, 2 objectives, 160 rows. On the front: NA, Zoë. Brought to [0, 1] by least "
    "and largest: loud. The largest gap is {0} (9), the largest lead {1} (loud), the price {2} "
    "(settling on NA). Regret after 16,000 rounds, least first: Annealing-Pareto {7}; "
    "Width-guided (c = {4}) {5}; Scalarized UCB {8}; Width-guided {3}; Pareto UCB1 {6}."
)


@pytest.fixture
def it(bench: Visit) -> Iterator[Explorable]:
    """The explorable, at which nothing may go wrong."""
    page = bench.go("own-data")
    yield Explorable(page)
    assert bench.trouble == []


def bring(it: Explorable, content: str | bytes, name: str = "mine.csv") -> None:
    """Choose a file."""
    data = content.encode() if isinstance(content, str) else content
    file = {"name": name, "mimeType": "text/csv", "buffer": data}
    it.page.set_input_files("input[type=file]", file)
    it.settle()


def paste(it: Explorable, text: str) -> None:
    """Put a text into the field, as a paste does."""
    it.page.fill(".live-panel textarea", text)
    it.settle()


@pytest.mark.parametrize(
    "chapter", [own_data, sixty_runs, tuning, pytest.param(minimax, marks=pytest.mark.slow)]
)
def test_the_data_of_a_page_are_those_of_its_chapter(chapter: Any) -> None:
    name = chapter.__name__.rpartition(".")[2].replace("_", "-")
    kept = json.loads((FOLDER / "data" / f"{name}.json").read_text())
    assert kept == json.loads(json.dumps(chapter.live_data()))


def test_every_data_file_belongs_to_an_explorable() -> None:
    assert {path.stem for path in (FOLDER / "data").iterdir()} == {
        *("minimax", "own-data", "sixty-runs", "tuning")
    }


@pytest.mark.slow
def test_what_is_no_table_is_a_sentence_and_the_page_goes_on(it: Explorable) -> None:
    words = it.words
    for what, (content, sentence) in BAD.items():
        bring(it, content)
        assert sentence in f"{it.status} {it.words}", what
        assert "NaN" not in it.page.inner_html(".live-stage"), what
        it.click("Reset")
        assert (it.words, it.status) == (words, ""), what


def test_names_are_shown_as_text(it: Explorable) -> None:
    evil = "<img src=x onerror=alert(1)>"
    table = (
        f'"<b>who</b>","{evil}"\n"<script>alert(2)</script>",0.9\n"=cmd|x",0.1\n{"é" * 5000},0.2\n'
    )
    dialogs: list[str] = []
    it.page.once("dialog", lambda dialog: dialogs.append(dialog.message) or dialog.dismiss())
    bring(it, table, "<i>x</i>.csv")
    assert it.words.startswith("<i>x</i>.csv: 3 arms, 1 objective, 3 rows.")
    assert "=cmd|x" in it.page.text_content(".live-stage")
    assert it.page.locator("[data-live] :is(img, script, b, i)").count() == 0
    assert it.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert it.status == ""
    assert dialogs == []


def test_columns_can_be_chosen_and_a_long_paste_is_taken(it: Explorable) -> None:
    paste(it, GOOD)
    assert it.words.startswith("table.csv: 3 arms, 2 objectives, 4 rows. On the front: a, b.")
    it.page.uncheck('[data-column="2"]')
    it.settle()
    assert "1 objective, 4 rows. On the front: a." in it.words
    it.page.uncheck('[data-column="1"]')
    it.settle()
    assert "no column of numbers is chosen" in it.words
    it.page.evaluate(
        """(text) => { const data = new DataTransfer();
             data.setData("text/plain", text);
             document.querySelector(".live-panel textarea").dispatchEvent(
               new ClipboardEvent("paste", {clipboardData: data, cancelable: true})); }""",
        "who,x\n" + 20_000 * "a,0.5\nb,0.6\n",
    )
    it.settle()
    assert "2 arms, 1 objective, 40,000 rows. On the front: b." in it.words
    paste(it, " ")
    assert it.words.startswith("The example")


def test_a_file_can_be_dropped_and_a_link_does_not_carry_it(it: Explorable, bench: Visit) -> None:
    """The link says so, and shows the example."""
    words = it.words
    it.page.evaluate(
        """(text) => { const data = new DataTransfer();
             data.items.add(new File([text], "dropped.csv", {type: "text/csv"}));
             document.querySelector(".live-panel").dispatchEvent(
               new DragEvent("drop", {dataTransfer: data, cancelable: true})); }""",
        GOOD,
    )
    it.settle()
    assert it.words.startswith("dropped.csv: 3 arms, 2 objectives, 4 rows.")
    assert "speed" not in it.address
    again = Explorable(bench.go("own-data", it.address))
    assert again.status.startswith("The address asks for table = yours")
    assert again.words == words


def own_table(style: str) -> bytes:
    """Four arms with odd names and a column to be scaled, as different programs write it."""
    rng = np.random.default_rng(5)
    lines = [("who", "loud", "nice, they say")]
    for arm, loud, nice in (("NA", -9, 0.8), ("10", -20, 0.7), ("9", -30, 0.3), ("Zoë", -40, 0.9)):
        for _ in range(40):
            x = loud + rng.normal()
            lines.append((arm, f"{x:.17g}", f"{np.clip(nice + rng.normal() / 9, 0, 1):.3f}"))
    if style == "semicolons":
        rows = [";".join(cell.replace(".", ",") for cell in line) for line in lines]
        return "\r\n".join(rows).encode("cp1252")
    rows = [f'{a},{x},"{y}"' for a, x, y in lines]
    return ("\ufeff" + "\n".join(rows) + "\n\n").encode()


@pytest.mark.parametrize("style", ["commas", "semicolons"])
def test_python_reads_the_same_table(it: Explorable, style: str, tmp_path: Path) -> None:
    table = own_table(style)
    (tmp_path / "my own.csv").write_bytes(table)
    bring(it, table, "my own.csv")
    it.press("ArrowDown")
    said = it.words
    printed, numbers = it.printed(tmp_path)
    assert printed.startswith("['NA', 'Zoë']\n#;#;#;NA\n")
    assert said == it.filled(OWN, numbers)
