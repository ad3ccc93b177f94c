"""What a notebook shows: pictures with alt text, tables, and sentences with computed numbers.

A picture is drawn in the house style, by the code of a cell (`plotted`) or by a chapter, and shown
by `show_figure`, which insists on an alt text. It becomes an inline SVG whose house colours are CSS
variables with the light colours as fallback: the book's style sheet recolours it in dark mode and
in print, and a notebook viewer without that style sheet shows it on white. The SVG has no date and
no random identifiers, so equal data give equal bytes.
"""

from __future__ import annotations

import hashlib
import html
import io
import re
import warnings
from types import CodeType
from typing import TYPE_CHECKING, Any

from momab._util.prose import one_blank
from momab.errors import MomabError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_CARD = "background: var(--fig-paper, #ffffff); color: var(--fig-ink, #1f2933)"


def plotted(code: CodeType, names: dict[str, Any]) -> Figure:
    """The one figure that some code plots in the house style."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    from momab.chapters.figures.style import set_theme

    plt.close("all")
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The figure layout has changed")  # seaborn's
        set_theme()
        exec(code, names)
        figures = [plt.figure(number) for number in plt.get_fignums()]
        if len(figures) != 1:
            raise MomabError(f"the code of a %%figure plots one figure; it has {len(figures)}.")
        figures[0].set_layout_engine("constrained")  # whatever a grid of seaborn's made of it
    return figures[0]


def figure_html(fig: Figure, alt: str, caption: str = "") -> str:
    """A figure as an inline SVG inside <figure>, with its alt text and caption.

    Mathematics in the caption stands between dollars.
    """
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    from momab.chapters.figures.style import PALETTE, STYLE

    if len(alt.split()) < 4:
        raise MomabError(f"alt must describe the picture in a sentence; it is {alt!r}.")
    buffer = io.StringIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": "momab", "svg.fonttype": "path"}):
        fig.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    plt.close(fig)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    for name, colour in PALETTE.items():
        svg = re.sub(colour, f"var(--fig-{name}, {colour})", svg, flags=re.IGNORECASE)
    svg = svg.replace("#000000", f"var(--fig-ink, {PALETTE['ink']})")  # what has no colour
    svg = svg.replace("stroke: #ffffff", "stroke: var(--fig-edge, #ffffff)")  # of markers
    svg = _private_ids(svg)
    x, y, width, height = map(float, re.findall(r'viewBox="([^"]+)"', svg)[0].split())
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{x:g} {y:g} {width:g} {height:g}" role="img" aria-label="{html.escape(alt)}" '
        f'style="width: {width * 1.6:.0f}px; max-width: 100%; height: auto">'
    )
    svg = root + svg[svg.index(">") + 1 :]
    below = f'<figcaption class="tex2jax_process">{_inline(caption)}</figcaption>'
    return (
        f'<figure class="momab-figure" style="{_CARD}">{svg.strip()}{below if caption else ""}'
        f"</figure>"
    )


def _private_ids(svg: str) -> str:
    """Drop identifiers that nothing refers to, and make the others unique on a page."""
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', svg))
    mark = hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="f{mark}-{m[1]}"' if m[1] in used else "", svg)
    return re.sub(r'(href="|url\()#', rf"\1#f{mark}-", svg)


_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_RANGE = re.compile(r"<td>((?=[^<]*\d)(?=[^<]*[ –])(?:[\d.,%()±×–−-]| |to|inf)+)</td>")
_NUMERAL = re.compile(r"[(<>≤≥≈~ ]*[-+−±]?(?:\d|\.\d|∞|inf|nan)|[–—-]?$")
_DOLLAR = re.compile(r"(?<!\\)((?:\\\\)*)\$")


def spoken(text: str) -> str:
    """A text without the backslashes before signs that would mean something in Markdown."""
    return _ESCAPED.sub(r"\1", text)


def unset(name: str) -> str:
    """A name for the cell of a table or the label of a figure, where it must stay what it is.

    Behind a backslash that would begin a formula comes a sign without width.
    """
    return re.sub(r"\\(?=[(\[])", "\\\\\u2060", one_blank(name))


def _inline(text: str) -> str:
    """Escape a caption, turning $...$ into the delimiters that every MathJax reads.

    Backslashes before signs outside of formulas take away the meaning of these.
    """
    parts = _DOLLAR.sub("\\1\0", text).split("\0")
    if len(parts) % 2 == 0:
        raise MomabError(f"the caption has an odd number of dollars: {text!r}.")
    return "".join(
        rf"\({html.escape(part, quote=False)}\)" if odd else _text_html(spoken(part))
        for part, odd in zip(parts, [i % 2 for i in range(len(parts))], strict=True)
    )


def _text_html(text: str) -> str:
    """A text as HTML in which nothing looks like a formula."""
    return html.escape(text, quote=False).replace("\\", "&#92;").replace("$", "&#36;")


def _text_columns(frame: pd.DataFrame, index: bool) -> list[str]:
    """Classes that name the columns of words, which the style sheet aligns to the left."""
    columns = [frame[name] for name in frame.columns]
    entries = [frame.index.to_series(), *columns] if index else columns
    return [
        f"text-{place}"
        for place, column in enumerate(entries, 1)
        if column.dtype.kind not in "iufc"
        and not all(_NUMERAL.match(str(entry)) for entry in column)
    ]


def table_html(
    frame: pd.DataFrame, caption: str, index: bool = False, decimals: int = 3, fold: bool = False
) -> str:
    """A data frame as an HTML table with a caption, scrolling sideways when it must.

    A folded one shows its caption, and the table opens below it.  Captions and the names of columns
    may have $mathematics$.
    """
    import pandas as pd

    with pd.option_context("display.max_colwidth", None):  # no name is cut
        body = frame.to_html(
            index=index,
            border=0,
            justify="left",
            classes=["momab-table", *_text_columns(frame, index)],
            float_format=lambda number: f"{number:,.{decimals}f}",
            formatters={
                name: lambda entry: f"{entry:,}"
                for name in frame.columns
                if frame[name].dtype.kind in "iu"
            },
        )
    body = _RANGE.sub(r'<td class="whole">\1</td>', body)
    body = body.replace("<th>", '<th scope="col">').replace('<th scope="col"></th>', "<td></td>")
    for name in map(str, frame.columns):
        if "$" in name:
            plain = f'scope="col">{html.escape(name, quote=False)}</th>'
            body = body.replace(plain, f'scope="col" class="tex2jax_process">{_inline(name)}</th>')
    if fold:
        summary = f'<summary class="tex2jax_process">{_inline(caption)}</summary>'
        box = f'<div class="momab-table-box">{body}</div>'
        return f'<details class="fold">{summary}{box}</details>'
    caption = f'<caption class="tex2jax_process">{_inline(caption)}</caption>'
    body = body.replace("<thead>", caption + "\n  <thead>", 1)
    return f'<div class="momab-table-box">{body}</div>'


def show_figure(fig: Figure, alt: str, caption: str = "") -> None:
    """Show a figure in a notebook; ``alt`` says in a sentence what is to be seen."""
    bundle({"text/html": figure_html(fig, alt, caption), "text/plain": alt})


def show_table(
    frame: pd.DataFrame, caption: str, index: bool = False, decimals: int = 3, fold: bool = False
) -> None:
    """Show a table in a notebook, folded or not."""
    text = frame.to_string(index=index)
    bundle({"text/html": table_html(frame, caption, index, decimals, fold), "text/plain": text})


def say(text: str) -> None:
    """Show prose whose numbers the cell has just computed; Markdown with $mathematics$."""
    bundle({"text/markdown": text, "text/plain": text})


def bundle(forms: dict[str, str]) -> None:
    """Show one thing in several forms, of which a viewer takes the richest it knows."""
    from IPython.display import display

    display(forms, raw=True)
