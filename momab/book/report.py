"""A report: a notebook that comes with the package, filled in, executed here, and one HTML file.

It needs no checkout and no kernel: the cells run in this process, so Ctrl-C and the progress bars
of simulations work as in any command.  `momab serve` executes the same notebook in its workers.
"""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from momab.book.dates import today
from momab.book.policy import alone_policy, seal_page
from momab.book.templating import fill_page
from momab.errors import BuildError, MomabError

_CELL = re.compile(r"^```\{code-cell\}.*?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TAGS = re.compile(r"\A:tags: \[(.*)\]\n\n?")


def report_cells(name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cells of the report of this name; the first one sets the values."""
    source = resources.files("momab.book") / "templates" / f"{name}.md"
    cells: list[dict[str, Any]] = []
    for number, found in enumerate(_CELL.finditer(source.read_text(encoding="utf-8"))):
        text, tags = found[1].rstrip("\n"), _TAGS.match(found[1])
        metadata: dict[str, Any] = {}
        if tags:
            text = _TAGS.sub("", found[1]).rstrip("\n")
            metadata["tags"] = [tag.strip() for tag in tags[1].split(",")]
        if "parameters" in metadata.get("tags", []):
            text = "\n".join(f"{key} = {value!r}" for key, value in values.items())
        cells.append(
            {
                "cell_type": "code",
                "id": f"{name}-{number}",
                "metadata": metadata,
                "source": text,
                "outputs": [],
                "execution_count": None,
            }
        )
    return cells


def notebook_of(cells: list[dict[str, Any]], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Cells as a notebook."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "momab": dict(facts)}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def execute_here(cells: list[dict[str, Any]]) -> None:
    """Execute cells in this process and keep what they show."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    from momab import _register_magics

    InteractiveShell.clear_instance()
    shell: Any = InteractiveShell.instance(user_ns={})
    shell.history_manager.enabled = False
    _register_magics()
    try:
        for number, cell in enumerate(cells):
            with capture_output(stderr=False) as shown:
                result = shell.run_cell(cell["source"], store_history=False)
            error = result.error_before_exec or result.error_in_exec
            if isinstance(error, MomabError | KeyboardInterrupt):
                raise error
            if error is not None:
                raise BuildError(f"cell {number + 1} raised {type(error).__name__}: {error}")
            cell["execution_count"] = number + 1
            cell["outputs"] = [
                {"output_type": "display_data", "data": dict(one.data), "metadata": {}}
                for one in shown.outputs
            ]
    finally:
        InteractiveShell.clear_instance()


def shown_article(cells: list[dict[str, Any]]) -> str:
    """What executed cells show, as HTML in which nothing of a reader's table runs."""
    return "\n".join(_pieces(cells))


def _pieces(cells: list[dict[str, Any]]) -> Iterator[str]:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False})
    for cell in cells:
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/markdown" in data:
                yield markdown.render(_text(data["text/markdown"])).strip()
            elif "text/html" in data:
                yield _text(data["text/html"])


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def report_page(title: str, article: str, made: Mapping[str, str]) -> str:
    """One file that shows a report without any other, in light and dark and on paper."""
    folder = resources.files("momab.book") / "templates"
    style = "".join((folder / f"{name}.css").read_text("utf-8") for name in ("report", "compare"))
    page = fill_page("report.html", title=title, style=style, article=article, made=made)
    return seal_page(page, alone_policy(page))


@dataclass(frozen=True)
class Report:
    """A finished report: its article, one file that shows it, and the executed notebook."""

    title: str
    article: str
    page: str
    notebook: str

    @property
    def answer(self) -> str:
        """Its first paragraph, as text."""
        found = re.search(r"<p>(.*?)</p>", self.article, re.DOTALL)
        text = html.unescape(re.sub(r"<[^>]+>", "", found[1])) if found else ""
        return " ".join(text.split())


def finish_report(
    cells: list[dict[str, Any]], command: str, seconds: float, body: str = ""
) -> Report:
    """Write down what executed cells show, when that was, and how to make it again.

    ``body`` is HTML that follows.
    """
    from momab.book.execute import versions

    article = shown_article(cells) + body
    title, when = title_of(article), today()
    with_what = ", ".join(f"{name} {version}" for name, version in versions().items())
    made = {
        "Made on": f"{when} in {seconds:.1f} s with {with_what}.",
        "To make this report again:": command,
    }
    facts = {"command": command, "date": when, "versions": versions()}
    notebook = json.dumps(notebook_of(cells, facts), indent=1, ensure_ascii=False) + "\n"
    return Report(title, article, report_page(title, article, made), notebook)


def make_report(name: str, values: Mapping[str, Any], command: str, body: str = "") -> Report:
    """Execute the report of this name in this process."""
    cells, started = report_cells(name, values), time.perf_counter()
    execute_here(cells)
    return finish_report(cells, command, time.perf_counter() - started, body)


def title_of(article: str) -> str:
    """The first heading of an article, as text."""
    found = re.search(r"<h1>(.*?)</h1>", article, re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", found[1])) if found else "A report"
