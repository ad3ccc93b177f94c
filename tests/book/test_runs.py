"""A run looks like a run: its folder, its banner, and what it shares with the book."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup

from momab import MomabError
from momab.book import single_page
from momab.book.parameters import read_assignments
from momab.book.single_page import RenderedPage, planned_runs
from tests.conftest import PROJECT


def planned(*assigned: str) -> list[Any]:
    return planned_runs(PROJECT, PROJECT.notebook("model"), "quick", assigned)


@pytest.mark.parametrize(
    ("assigned", "folder"),
    [
        ([], "book"),
        (["arms=9"], "book"),
        (["arms=8"], "arms=8"),
        (["arms=5,10,20"], "arms=5,10,20"),
        (["arms=8", "seed=1"], "seed=1_arms=8"),
    ],
)
def test_every_set_of_values_has_a_folder(assigned: list[str], folder: str) -> None:
    [book] = planned()
    assert single_page._folder_name(planned(*assigned), book) == folder


def test_a_long_set_of_values_has_a_short_name_of_its_own() -> None:
    [book] = planned()
    names = {
        single_page._folder_name(planned(f"seed={','.join(map(str, range(n)))}"), book)
        for n in (60, 61)
    }
    assert len(names) == 2
    assert max(map(len, names)) <= 80


def drawn(*marks: str) -> str:
    return "".join(
        f'<figure class="momab-figure"><svg viewBox="0 0 9 9">{m}</svg></figure>' for m in marks
    )


def node(*marks: str) -> Any:
    output = nbformat.v4.new_output("display_data", {"text/html": drawn(*marks)})
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])


def page(folder: Path, text: str, *marks: str) -> RenderedPage:
    static = folder / "_static"
    (static / "katex").mkdir(parents=True, exist_ok=True)
    for name in ("pygments.css", "katex/katex.css", "momab.css", "statements.css"):
        (static / name).write_text("")
    body = f'<article class="bd-article"><h1>Dice</h1><p>{text}</p>{drawn(*marks)}</article>'
    return RenderedPage(body, "", "Dice", folder)


def test_a_banner_says_what_differs_and_figures_that_do_not_say_so(tmp_path: Path) -> None:
    [book], [job] = planned(), planned("arms=8")
    shown = page(tmp_path, "Eight 8.", "<i/>", "<u/>")
    made = single_page._with_banner(
        shown, job, book, node("<i/>", "<u/>"), node("<i/>", "<b/>"), None
    )
    soup = BeautifulSoup(made, "html.parser")
    said = " ".join(soup.select_one("h1 + .run-banner").get_text().split())
    assert "A run of " in said
    assert "Different from the book: arms = 8 (the book: 9). As in the book: seed = 33," in said
    assert "1 of 2 figures is the same as in the book" in said
    first, second = soup.select("figure")
    assert first.find_next_sibling().get_text() == single_page._SAME
    assert second.find_next_sibling() is None

    plain = single_page._with_banner(shown, book, book, node(), None, None)
    assert "All values are those of the book." in plain
    alone = single_page._with_banner(shown, job, book, node("<i/>"), None, None)
    assert "With <code>--compare</code> the book's page stands beside it." in alone


def test_a_run_is_set_beside_the_book_on_request(tmp_path: Path) -> None:
    [book], [job] = planned(), planned("arms=8")
    default = page(tmp_path, "There are 9 arms.", "<i/>")
    mine = page(tmp_path, "There are 8 arms.", "<b/>")
    made = single_page._with_banner(mine, job, book, node("<b/>"), node("<i/>"), default)
    soup = BeautifulSoup(made, "html.parser")
    assert [m.get_text() for m in soup.select("mark.serve-changed")] == ["8"]
    assert len(soup.select(".serve-pair svg")) == 2
    assert "1 number and 1 figure differ" in soup.select_one(".run-banner").get_text()
    assert ".serve-pair" in made


def test_a_parameter_that_is_given_twice_is_refused() -> None:
    with pytest.raises(MomabError, match=r"-p arms is given twice; .* write -p arms=5,8\."):
        read_assignments(["arms=5", "seed=1", "arms=8"])
    with pytest.raises(MomabError, match=r"-p model.arms is given twice"):
        read_assignments(["model.arms=5", "model.arms=5"])
