"""Tables that people bring to the page: good ones are played, bad ones are a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from momab.chapters import own_data, sixty_runs, tuning
from tests.book.test_live_pages import FOLDER, Explorable, folder, opened, python_agrees

assert folder  # the fixture
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
    "a million rows": ("who,x\n" + 500_000 * "a,0.5\nb,0.6\n", "A page plays with at most 100,000"),
    "25 MB": ("who,x\n" + "a" * 25_000_000, "A page plays with at most 20 MB"),
}


def bring(it: Explorable, content: str | bytes, name: str = "mine.csv") -> None:
    """Choose a file."""
    data = content.encode() if isinstance(content, str) else content
    file = {"name": name, "mimeType": "text/csv", "buffer": data}
    it.page.set_input_files("input[type=file]", file)
    it.settle()


def paste(it: Explorable, text: str) -> None:
    """Put a text into the field, as a paste does."""
    it.page.fill(".live-panel textarea", text)
    it.page.wait_for_timeout(600)
    it.settle()


@pytest.mark.parametrize("chapter", [own_data, sixty_runs, tuning])
def test_the_data_of_a_page_are_those_of_its_chapter(chapter: Any) -> None:
    name = chapter.__name__.rpartition(".")[2].replace("_", "-")
    kept = json.loads((FOLDER / "data" / f"{name}.json").read_text())
    assert kept == json.loads(json.dumps(chapter.live_data()))


def test_every_data_file_belongs_to_an_explorable() -> None:
    assert {path.stem for path in (FOLDER / "data").iterdir()} == {
        *("own-data", "sixty-runs", "tuning")
    }


def test_what_is_no_table_is_a_sentence_and_the_page_goes_on(browser: Any, folder: Path) -> None:
    with opened(browser, folder, "own-data") as it:
        words = it.text("words")
        for what, (text, sentence) in BAD.items():
            bring(it, text)
            said = f"{it.text('status')} {it.text('words')}"
            assert sentence in said, what
            assert "NaN" not in it.page.inner_html(".live-stage"), what
            it.page.click("text=Reset")
            it.settle()
            assert (it.text("words"), it.text("status")) == (words, ""), what
        paste(it, GOOD)
        assert it.text("words").startswith(
            "table.csv: 3 arms, 2 objectives, 4 rows. On the front: a, b."
        )


@pytest.mark.parametrize(
    "content", [bytes(range(256)) * 40, b"PK\x03\x04\x00\x00", b"\x89PNG\r\n\x1a\n\x00"]
)
def test_a_file_that_is_no_text_is_a_sentence(browser: Any, folder: Path, content: bytes) -> None:
    with opened(browser, folder, "own-data") as it:
        words = it.text("words")
        bring(it, content, "table.xlsx")
        assert it.text("status").startswith("This is not a table in plain text")
        assert it.text("words") == words


def test_names_are_shown_as_text(browser: Any, folder: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    table = (
        f'"<b>who</b>","{evil}"\n"<script>alert(2)</script>",0.9\n"=cmd|x",0.1\n{"é" * 5000},0.2\n'
    )
    with opened(browser, folder, "own-data") as it:
        it.page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
        bring(it, table, "<i>x</i>.csv")
        assert it.text("words").startswith("<i>x</i>.csv: 3 arms, 1 objective, 3 rows.")
        assert "=cmd|x" in it.page.text_content(".live-stage")
        assert it.page.locator("[data-live] :is(img, script, b, i)").count() == 0
        assert it.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert it.text("status") == ""


def test_a_link_does_not_carry_a_table(browser: Any, folder: Path) -> None:
    """It says so, and shows the example."""
    with opened(browser, folder, "own-data") as it:
        words = it.text("words")
        paste(it, GOOD)
        address = it.address
        assert "speed" not in address
    with opened(browser, folder, "own-data", address.removeprefix("#")) as it:
        assert it.text("status").startswith("The address asks for table = yours")
        assert it.text("words") == words


def test_columns_can_be_chosen_and_a_long_paste_is_taken(browser: Any, folder: Path) -> None:
    with opened(browser, folder, "own-data") as it:
        paste(it, GOOD)
        it.page.uncheck('[data-column="2"]')
        it.settle()
        assert "1 objective, 4 rows. On the front: a." in it.text("words")
        it.page.uncheck('[data-column="1"]')
        it.settle()
        assert "no column of numbers is chosen" in it.text("words")
        it.page.evaluate(
            """(text) => { const data = new DataTransfer();
                 data.setData("text/plain", text);
                 document.querySelector(".live-panel textarea").dispatchEvent(
                   new ClipboardEvent("paste", {clipboardData: data, cancelable: true})); }""",
            "who,x\n" + 20_000 * "a,0.5\nb,0.6\n",
        )
        it.settle()
        assert "2 arms, 1 objective, 40,000 rows. On the front: b." in it.text("words")
        it.page.fill(".live-panel textarea", " ")
        it.page.wait_for_timeout(600)
        it.settle()
        assert it.text("words").startswith("The example")


def test_a_file_can_be_dropped(browser: Any, folder: Path) -> None:
    with opened(browser, folder, "own-data") as it:
        it.page.evaluate(
            """(text) => { const data = new DataTransfer();
                 data.items.add(new File([text], "dropped.csv", {type: "text/csv"}));
                 document.querySelector(".live-panel").dispatchEvent(
                   new DragEvent("drop", {dataTransfer: data, cancelable: true})); }""",
            GOOD,
        )
        it.settle()
        assert it.text("words").startswith("dropped.csv: 3 arms, 2 objectives, 4 rows.")


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
def test_python_reads_the_same_table(
    browser: Any, folder: Path, style: str, tmp_path: Path
) -> None:
    with opened(browser, folder, "own-data") as it:
        table = own_table(style)
        (tmp_path / "my own.csv").write_bytes(table)
        bring(it, table, "my own.csv")
        it.press("ArrowDown")
        words = it.text("words")
        assert "4 arms, 2 objectives, 160 rows." in words
        assert "Brought to [0, 1] by least and largest: loud." in words
        python_agrees(it, "own-data", tmp_path)


def test_sums_are_rounded_as_in_python(browser: Any, folder: Path) -> None:
    import math

    rng = np.random.default_rng(2)
    lists = [(rng.normal(size=30) * 10.0 ** rng.integers(-12, 12, 30)).tolist() for _ in range(300)]
    lists += [[1.0, 2.0**-53, 2.0**-106], [1e16, 1.0, 1e-16], [], [0.1] * 10]
    with opened(browser, folder, "own-data") as it:
        script = "(lists) => lists.map(momabLive.modules.math.exactSum)"
        assert it.page.evaluate(script, lists) == [math.fsum(values) for values in lists]
