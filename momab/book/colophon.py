"""The colophon: the box at the end of a page that says how it was made and is made again."""

from __future__ import annotations

import shlex

from momab.book.execute import Job
from momab.book.notebook import Node
from momab.book.parameters import Values, value_text
from momab.book.templating import fill_page


def rerun_command(job: Job) -> str:
    """The command that makes this page again, with every value spelled out, quoted for a shell."""
    if job.notebook.name == "own-data" and job.values.get("table"):
        return _study_command(job.values)
    values = [f"{name}={value_text(value)}" for name, value in job.values.items()]
    return " ".join(["momab run", job.notebook.name, *(f"-p {shlex.quote(v)}" for v in values)])


def _study_command(values: Values) -> str:
    """The page about a reader's own table is made by `momab study`."""
    said = {name: value_text(value) for name, value in values.items()}
    words = [said["table"], "--arm", said["arm"]]
    words += ["--objectives", said["objectives"].replace(";", ",")]
    for scale in filter(None, said["scale"].split(";")):
        words += ["--scale", scale]
    words += ["-T", said["horizon"], "-n", said["runs"]]
    words += ["--coefficient", said["coefficient"], "--seed", said["seed"]]
    return f"momab study {shlex.join(words)}"


def add_colophon(node: Node, job: Job) -> None:
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
        command=rerun_command(job),
    )
    cell = nbformat.v4.new_markdown_cell(box.replace("\n", " "))
    cell.id = f"{job.notebook.name}-colophon"
    node.cells.append(cell)
