"""The cell magics, executed by a real IPython shell as a notebook's kernel does."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import momab
from momab._util import prose as texts
from momab.chapters.figures import show, style
from momab.errors import MomabError
from tests.conftest import ROOT

SETUP = """
import pandas as pd
from momab.chapters.figures.style import new_axes

runs, rate, means, found = 12345, 0.0625, [0.25, 0.5], None
frame = pd.DataFrame({"n": [1000, 2], "x": [0.12345, 1.0]}, index=["a", "b"])

def line():
    fig, (axes,) = new_axes()
    axes.plot([0, 1], [0, 1])
    return fig
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[InteractiveShell]:
    """A shell with the magics and a few names; it leaves nothing behind."""
    main = sys.modules["__main__"]
    quiet = Config()
    quiet.HistoryManager.enabled = False
    made = InteractiveShell.instance(config=quiet, colors="nocolor")
    momab._register_magics()
    made.run_cell(SETUP).raise_error()
    yield made
    InteractiveShell.clear_instance()
    sys.modules["__main__"] = main


def run(shell: InteractiveShell, cell: str) -> list[dict[str, Any]]:
    """Execute a cell and return what it shows; its error is raised."""
    with capture_output() as seen:
        result = shell.run_cell(cell)
    result.raise_error()
    return [output.data for output in seen.outputs]


def refuse(shell: InteractiveShell, cell: str) -> str:
    """Execute a cell that is refused and return the complaint, which is one sentence."""
    with pytest.raises(MomabError) as refused:
        run(shell, cell)
    text = str(refused.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def prose(shell: InteractiveShell, text: str) -> str:
    (data,) = run(shell, f"%%prose\n{text}")
    assert set(data) == {"text/markdown", "text/plain"}
    assert data["text/markdown"] == data["text/plain"]
    return str(data["text/markdown"])


# --- fields and filters ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("runs", "12345"),
        ("rate | fixed(2)", "0.06"),
        ("rate | fixed", "0"),
        ("-2.5 | fixed(1)", "-2.5"),
        ("runs | comma", "12,345"),
        ("12345.678 | comma(1)", "12,345.7"),
        ("rate | percent", "6%"),
        ("rate | percent(1)", "6.2%"),
        ("0.10 | general", "0.1"),
        ("1234567.0 | general", "1.23457e+06"),
        ("0.123456 | general(2)", "0.12"),
        ('rate | spec("+.1e")', "+6.2e-02"),
        ('runs | spec("08d")', "00012345"),
        ("[] | words", ""),
        ('["a"] | words', "a"),
        ('["a", "b"] | words', "a and b"),
        ('["a", "b", 3] | words', "a, b and 3"),
        ('["a", "b", "c"] | words("or")', "a, b or c"),
        ('means | map("fixed", 1) | words', "0.2 and 0.5"),
        ('"<b>\\n  x y\\n</b>" | joined', "<b>x y</b>"),
        ("max(means) - min(means)", "0.25"),
        ("len(means) + sum(means) + abs(-1)", "3.75"),
        ("round(2.345, 1)", "2.3"),
        ("1.9e-7 | tens", "1.9 × 10⁻⁷"),
        ("0.0123 | tens", "0.012"),
        ("2e-4 | tens", "2 × 10⁻⁴"),
        ("31000 | tens", "3.1 × 10⁴"),
        ("1449 | tens", "1,400"),
        ("30 | tens", "30"),
        ("0 | tens", "0"),
        ('frame["n"].sum() | comma', "1,002"),
        ('frame.loc["a", "x"] | fixed(3)', "0.123"),
        ('"few" if runs < 100 else "many"', "many"),
    ],
)
def test_fields_are_filled_in(shell: InteractiveShell, field: str, text: str) -> None:
    assert prose(shell, f"It is {{{{ {field} }}}}!") == f"It is {text}!"


def test_sentences_adapt_and_loops_run(shell: InteractiveShell) -> None:
    text = """
Of {{ runs | comma }} runs
{%- if rate > 0.5 %} most{% elif rate > 0 %} some{% else %} none{% endif %} fail;
the means are {% for mean in means %}{{ "" if loop.first else ", " }}{{ mean }}{% endfor %}.
{% set twice = 2 * rate %}Twice the rate is {{ twice }}.
"""
    assert prose(shell, text) == (
        "Of 12,345 runs some fail;\nthe means are 0.25, 0.5.\nTwice the rate is 0.125."
    )


def test_formulas_pass_unharmed(shell: InteractiveShell) -> None:
    text = r"$\Delta_{\max}\le\frac{1}{2}$, <b>bold</b> & *more*, $g_{ {{- runs -}} }$"
    assert prose(shell, text) == (
        r"$\Delta_{\max}\le\frac{1}{2}$, <b>bold</b> & *more*, $g_{12345}$"
    )


def test_a_text_sees_what_later_cells_define(shell: InteractiveShell) -> None:
    run(shell, "later = 1")
    assert prose(shell, "{{ later }}") == "1"
    run(shell, "later = 2")
    assert prose(shell, "{{ later }}") == "2"


@pytest.mark.parametrize(
    "field", ["nowhere", "runs.nowhere", "nowhere | fixed(2)", "frame.nowhere"]
)
@pytest.mark.parametrize("magic", ["%%prose", "%%figure line()", "%%table frame"])
def test_a_name_that_nobody_defines_is_refused(
    shell: InteractiveShell, magic: str, field: str
) -> None:
    assert "nowhere" in refuse(shell, f"{magic}\n{{{{ {field} }}}}\n\nAlt: A line that goes up.")


@pytest.mark.parametrize(
    "text", ["{{ runs", "{% if runs %}x", "{{ runs | nofilter }}", "{{ 1 + }}"]
)
def test_a_broken_field_is_refused_with_its_line(shell: InteractiveShell, text: str) -> None:
    assert refuse(shell, f"%%prose\nFine.\n{text}").startswith("line 2 of the text: ")


WRONG_TABLE = "has the options --index, --decimals N and --fold"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%%prose frame\nText.", "takes no arguments"),
        ("%%figure line()\nA caption only.", "needs a paragraph 'Alt: ...'"),
        ("%%figure line()\nNot at the start of a line, Alt: no.", "needs a paragraph 'Alt: ...'"),
        ("%%figure line()\nA caption.\n\nAlt: Too short.", "describe the picture in a sentence"),
        ("%%figure line()\nA $caption.\n\nAlt: A line that goes up.", "odd number of dollars"),
        ("%%figure\nA caption.\n\nAlt: A line that goes up.", "its caption behind a line '---'"),
        ("%%figure\nx = 1\n---\nAlt: A line that goes up.", "plots one figure; it has 0"),
        ("%%table\nA caption.", "say after %%table"),
        ("%%table frame --decimals\nA caption.", WRONG_TABLE),
        ("%%table frame --decimals two\nA caption.", WRONG_TABLE),
        ("%%table frame --decimals -1\nA caption.", WRONG_TABLE),
        ("%%table frame --fold 1\nA caption.", WRONG_TABLE),
    ],
)
def test_a_wrong_cell_is_refused(shell: InteractiveShell, cell: str, message: str) -> None:
    assert message in refuse(shell, cell)


@pytest.mark.parametrize(
    "cell",
    [
        "%%prose\n{% if rate > 1 %}Impossible.{% endif %}\n",
        "%%table found\nOf {{ found.shape[0] }} runs.",
        "%%figure found\nNo picture.\n\nAlt: Nothing at all to be seen.",
    ],
)
def test_no_text_no_figure_and_no_table_show_nothing(shell: InteractiveShell, cell: str) -> None:
    assert run(shell, cell) == []


# --- %%figure -------------------------------------------------------------------------------

FIGURE = """%%figure line()
A line,
  drawn {{ runs | comma }} times;
$x<1$.

Alt: Line plot. It goes up
from 0 to {{ means[1] }}.
"""


def test_a_figure_has_one_line_of_caption_and_of_alt(shell: InteractiveShell) -> None:
    (data,) = run(shell, FIGURE)
    assert data["text/plain"] == "Line plot. It goes up from 0 to 0.5."
    assert 'aria-label="Line plot. It goes up from 0 to 0.5."' in data["text/html"]
    caption = r">A line, drawn 12,345 times; \(x&lt;1\).</figcaption>"
    assert caption in data["text/html"]
    assert data["text/html"].count("<svg") == 1
    assert run(shell, FIGURE) == [data], "equal data give equal bytes"


def test_caption_and_alt_may_share_a_sentence(shell: InteractiveShell) -> None:
    cell = """%%figure line()
{% set end -%}
{% if rate < 1 %}It ends well.{% else %}It fails.{% endif %}
{%- endset %}
A line. {{ end }}

Alt: A line that goes up. {{ end }}
"""
    (data,) = run(shell, cell)
    assert data["text/plain"] == "A line that goes up. It ends well."
    assert ">A line. It ends well.</figcaption>" in data["text/html"]
    (data,) = run(shell, "%%figure line()\nAlt: A line that goes up.\n")
    assert "<figcaption" not in data["text/html"]


PLOT = """%%figure
import seaborn as sns
axes = sns.lineplot(x=[0, 1], y=means, color=momab.palette["Pareto UCB1"], marker="o")
top = axes.get_ylim()[1]
---
It ends below {{ top | fixed(1) }}.

Alt: A line that goes up, in --- the colour of a policy.
"""


def test_a_figure_may_hold_the_code_that_plots_it(shell: InteractiveShell) -> None:
    before = dict(mpl.rcParams)
    run(shell, "import momab")
    (data,) = run(shell, PLOT)
    assert data["text/plain"] == "A line that goes up, in --- the colour of a policy."
    assert ">It ends below 0.5.</figcaption>" in data["text/html"]
    assert "var(--fig-orange, #d55e00)" in data["text/html"]
    assert "var(--fig-edge, #ffffff)" in data["text/html"], "the edge of a marker"
    assert run(shell, PLOT) == [data], "equal data give equal bytes"
    assert dict(mpl.rcParams) == before, "the style of a figure is its own"
    assert plt.get_fignums() == []


def test_policies_have_colours_of_their_own() -> None:
    hues = [hue for name, hue in style.POLICY_HUES.items() if name != "Single UCB1"]
    assert len(set(hues)) == len(hues)
    assert set(style.POLICY_STYLE) <= set(style.palette)
    sheet = (ROOT / "book/_static/momab.css").read_text()
    for name, colour in style.PALETTE.items():
        assert len(re.findall(rf"--fig-{name}: #", sheet)) == 3, "light, dark and print"
        assert f"--fig-{name}: {colour};" in sheet


def test_what_the_expression_raises_is_raised(shell: InteractiveShell) -> None:
    with pytest.raises(NameError, match="nowhere"):
        run(shell, "%%figure nowhere()\nA caption.\n\nAlt: A line that goes up.")
    with pytest.raises(SyntaxError):
        run(shell, "%%table frame[\nA caption.")


# --- %%table --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "index", "number"),
    [
        ("", False, "0.123"),
        ("--index", True, "0.123"),
        ("--decimals 1", False, "0.1"),
        ("--decimals 4 --index", True, "0.1235"),
        ("--index   --decimals 0", True, "0"),
    ],
)
def test_options_of_a_table(
    shell: InteractiveShell, options: str, index: bool, number: str
) -> None:
    (data,) = run(shell, f"%%table frame {options}\nRuns: {{{{ runs }}}},\nand\n  more.\n")
    html = data["text/html"]
    assert ">Runs: 12345, and more.</caption>" in html
    assert f"<td>{number}</td>" in html
    assert "<td>1,000</td>" in html, "whole numbers have commas"
    assert ("<th>a</th>" in html.replace(' scope="col"', "")) == index
    assert "0.12345" in data["text/plain"]


def test_names_of_columns_may_be_formulas(shell: InteractiveShell) -> None:
    (data,) = run(shell, '%%table frame.assign(**{"$a<b_1$": frame["n"] - -1}) --index\nA caption.')
    html = data["text/html"]
    assert '<th scope="col" class="tex2jax_process">\\(a&lt;b_1\\)</th>' in html
    assert '<th scope="col">n</th>' in html
    assert "<td>1,001</td>" in html


@pytest.mark.parametrize("index", [False, True])
def test_columns_of_words_are_named_for_the_style_sheet(index: bool) -> None:
    frame = pd.DataFrame(
        {"who": ["UCB1", "2nd"], "n": [1, 2], "x": ["(1 ± 0.1)·10⁵", "–"], "on": [True, False]},
        index=pd.Index([3, 4]),
    )
    found = re.search(r'class="dataframe ([^"]*)"', show.table_html(frame, "Numbers.", index))
    assert found
    assert found[1].split() == ["momab-table", *(f"text-{n + index}" for n in (1, 4))]


@pytest.mark.parametrize(
    ("entry", "whole"),
    [
        ("50.90 (49.03 to 52.72)", True),
        ("13.41–530.74", True),
        ("-0.01 ± 0.20", True),
        ("0.03× (0.026× to 0.035×)", True),
        ("12.5", False),  # it cannot break anyway
        ("3 arms", False),
        ("Pareto UCB1 (tuned)", False),
        ("to", False),
    ],
)
def test_a_number_and_its_interval_stay_on_a_line(entry: str, whole: bool) -> None:
    made = show.table_html(pd.DataFrame({"x": [entry]}), "Numbers.")
    assert (f'<td class="whole">{entry}</td>' in made) == whole
    assert f">{entry}</td>" in made


def test_a_folded_table_opens_below_its_caption(shell: InteractiveShell) -> None:
    (data,) = run(shell, "%%table frame --fold --decimals 1\nAll of $n$.")
    html = data["text/html"]
    assert html.startswith('<details class="fold"><summary class="tex2jax_process">All of')
    assert "<caption" not in html
    assert html.endswith("</div></details>")


# --- files ----------------------------------------------------------------------------------


def test_every_template_can_be_read() -> None:
    environment = texts.environment()
    names = environment.list_templates()
    assert "prose.md.j2" in names
    for name in names:
        environment.get_template(name)


# --- how they come into a notebook ----------------------------------------------------------


def test_importing_momab_in_a_shell_registers_the_magics() -> None:
    code = """
import sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
quiet = Config()
quiet.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=quiet)
shell.run_cell("from momab.model import pareto").raise_error()
assert {"prose", "figure", "table"} <= set(shell.magics_manager.magics["cell"])
assert "jinja2" not in sys.modules, "the magics load when they are used"
shell.run_cell("%%prose\\nOne and one is {{ 1 + 1 }}.").raise_error()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "One and one is 2." in ran.stdout
