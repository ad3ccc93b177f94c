"""The colophon: the box at the end of a page that says how it was made and is made again."""

from __future__ import annotations

from collections.abc import Sequence

from momab._util.commands import command_line
from momab.book.execute import Job
from momab.book.notebook import Node
from momab.book.parameters import value_text
from momab.book.templating import fill_page


def rerun_command(jobs: Sequence[Job], edition: str = "instructor") -> str:
    """The command that makes a page again, or several of a sweep, with every value spelled out."""
    texts: dict[str, str] = {}
    for name in jobs[0].values:
        found = dict.fromkeys(value_text(job.values[name]) for job in jobs)
        texts[name] = ",".join(found)
    options = [("--edition", "" if edition == "instructor" else edition)]
    return command_line("run", [jobs[0].notebook.name], options, texts)


def add_colophon(node: Node, job: Job, edition: str = "instructor") -> None:
    """Append the box that says what the page was made with and how to make it again."""
    import nbformat

    facts = node.metadata["momab"]
    rows = [
        {
            "name": name,
            "value": value_text(value),
            "text": isinstance(value, str) and bool(value),
            "meaning": job.notebook.parameters[name].meaning,
            "allowed": job.notebook.parameters[name].allowed,
        }
        for name, value in job.values.items()
    ]
    box = fill_page(
        "colophon.html",
        rows=rows,
        seconds=facts["seconds"],
        versions=", ".join(f"{name} {version}" for name, version in facts["versions"].items()),
        command=rerun_command([job], edition),
    )
    cell = nbformat.v4.new_markdown_cell(box.replace("\n", " "))
    cell.id = f"{job.notebook.name}-colophon"
    node.cells.append(cell)
