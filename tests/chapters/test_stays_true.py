"""What a page says stays true for other values of its parameters, the ends of their ranges too."""

import re
from typing import Any

import matplotlib.pyplot as plt
import pytest

from momab._util import prose
from momab.book.notebook import Notebook
from momab.book.parameters import Values
from momab.chapters.figures import magics
from tests.chapters.drawn import parameter_sets
from tests.chapters.running import loud, run_chapter, text_of
from tests.conftest import PROJECT, ROOT

SETS, QUICK = 12, 1  # sets of values for a page: in the long tests, and every day
# Not a number in a sentence or a table, a table without rows, a share of more than everything.
NONSENSE = re.compile(
    r"\bnan\b|\bNaN\b|\binf\b|\bNone\b(?! of)|Empty DataFrame|\b1 (?:runs|pulls|arms|rounds)\b"
)


def cases() -> list[Any]:
    found = []
    for name in PROJECT.names:
        parameters = Notebook.read(ROOT / "notebooks" / f"{name}.md").parameters
        for number, values in enumerate(parameter_sets(name, parameters, SETS)):
            marks = [] if number < QUICK else [pytest.mark.slow]
            found.append(pytest.param(name, values, marks=marks, id=f"{name}-{number}"))
    return found


@pytest.mark.parametrize(("name", "values"), cases())
def test_a_page_says_nothing_false(name: str, values: Values, shown: list[dict[str, Any]]):
    prose.withheld.clear()
    run_chapter(name, **values)
    plt.close("all")
    assert prose.withheld == []
    assert loud(shown) == []
    text = text_of(shown)
    assert [text[max(m.start() - 60, 0) : m.end() + 20] for m in NONSENSE.finditer(text)] == []


def test_a_false_claim_is_withheld_and_remembered():
    prose.withheld.clear()
    text = "One. {% claim x > 1 %}Two is {{ x }}.{% endclaim %}"
    assert magics.render(text, {"x": 2}) == "One. Two is 2."
    assert prose.withheld == []
    assert magics.render(text, {"x": 1}) == "One."
    assert prose.withheld == ["Two is 1."]
