"""The colophon: the box at the end of a page that says how it was made and is made again."""

from __future__ import annotations

import html

from momab.book.execute import Job
from momab.book.notebook import Node
from momab.book.parameters import value_text


def rerun_command(job: Job) -> str:
    """The command that makes this page again, with every value spelled out."""
    values = [f" -p {name}={value_text(value)}" for name, value in job.values.items()]
    return f"momab run {job.notebook.name}" + "".join(values)


def add_colophon(node: Node, job: Job) -> None:
    """Append the box that says what the page was made with and how to make it again."""
    import nbformat

    facts = node.metadata["momab"]
    rows = "".join(
        f"<tr><td><code>{name}</code></td><td>{html.escape(value_text(value))}</td>"
        f"<td>{html.escape(job.notebook.parameters[name].meaning)}</td>"
        f"<td>{html.escape(job.notebook.parameters[name].allowed)}</td></tr>"
        for name, value in job.values.items()
    )
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    command = html.escape(rerun_command(job))
    box = f"""<details class="colophon"><summary>How this page was made</summary>
<div class="momab-table-box"><table class="momab-table">
<thead><tr><th scope="col">Parameter</th><th scope="col">Value here</th>
<th scope="col">Meaning</th><th scope="col">Allowed</th></tr></thead>
<tbody>{rows}</tbody></table></div>
<p>Executed in {facts["seconds"]:.1f} s with {html.escape(versions)}.
To make this page again, or with other values:</p>
<pre tabindex="0"><code>{command}</code></pre></details>"""
    cell = nbformat.v4.new_markdown_cell(box.replace("\n", " "))
    cell.id = f"{job.notebook.name}-colophon"
    node.cells.append(cell)
