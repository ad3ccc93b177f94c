"""An explorable in a page, as somebody who reads it would use it, and its Python."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path
from typing import Any

from tests.browsing import FRAME

_NUMBER = re.compile(r"-?\d+\.\d+|-?[1-9]\d*\.(?!\d)")


class Explorable:
    """The explorable of an open page."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.settle()

    def settle(self) -> None:
        """Wait until the explorable says that nothing is due: picture, address and runs."""
        self.page.evaluate(FRAME)
        self.page.wait_for_selector("[data-live][data-ready]:not([data-due])")

    def text(self, what: str) -> str:
        return str(self.page.inner_text(f".live-{what}")).strip()

    @property
    def words(self) -> str:
        return self.text("words")

    @property
    def status(self) -> str:
        return self.text("status")

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

    def click(self, what: str) -> None:
        self.page.click(f"text={what}")
        self.settle()

    def press(self, key: str) -> Any:
        """Press a key on the first slider or handle, and say where it stands then."""
        self.page.focus(".live-controls input[type=range], .live-handle")
        self.page.keyboard.press(key)
        self.settle()
        return self.page.evaluate(
            """() => { const node = document.activeElement;
                 return node.value ?? node.getAttribute("transform"); }"""
        )

    def go(self, place: str) -> None:
        """Change the address while the page is open."""
        self.page.evaluate(
            """(place) => new Promise((done) => {
                 addEventListener("hashchange", done, {once: true}); location.hash = place; })""",
            place,
        )
        self.settle()

    def printed(self, place: Path) -> tuple[str, list[str]]:
        """What the copied code prints, executed in a folder, with # for its numbers; and those."""
        out = io.StringIO()
        with (
            contextlib.chdir(place),
            contextlib.redirect_stdout(out),
            warnings.catch_warnings(action="ignore"),
        ):
            exec(compile(self.python, "copied", "exec"), {"__name__": "__main__"})
        return _NUMBER.sub("#", out.getvalue()), _NUMBER.findall(out.getvalue())

    def filled(self, template: str, numbers: list[str]) -> str:
        """A text with numbers in its places, written as the page writes them."""
        script = "([x, n]) => momabLive.modules.kit.tidy(x, n)"

        def written(slot: re.Match[str]) -> str:
            value = float(numbers[int(slot[1])])
            return str(self.page.evaluate(script, [value, int(slot[2] or 3)]))

        return re.sub(r"\{(\d+)(?::(\d))?\}", written, template)
