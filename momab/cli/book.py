"""The commands for the book: `momab book`, `run`, `params`, `pdf` and `proofs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momab._util.files import find_checkout
from momab.cli.terminal import AsJson, Dask, interruptible, print_json, print_wide, short

Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "-p", "--parameter", metavar="NAME=VALUE", help="Or notebook.name=value; repeatable."
    ),
]
Profile = Annotated[str, typer.Option(help="quick, paper, or the path of your own YAML file.")]
Workers = Annotated[int | None, typer.Option(help="How many notebooks run at once.", min=1)]


def _notebooks(incomplete: str) -> list[str]:
    """The notebooks that a shell may complete a word to."""
    from momab.book.project import Project

    names = Project(folder).names if (folder := find_checkout()) else []
    return [name for name in names if name.startswith(incomplete)]


def book_command(
    profile: Profile = "quick",
    parameter: Assignments = None,
    workers: Workers = None,
    edition: Annotated[
        str, typer.Option(help="instructor (everything), or student (no solutions).")
    ] = "instructor",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder of the site, if neither of these."),
    ] = None,
    timings: Annotated[
        bool, typer.Option("--timings", help="Say where the time went: steps and notebooks.")
    ] = False,
) -> None:
    """Execute what has changed and build the site: _build/html, or _build/student.

    A value outside the range of a notebook is brought into it there, and the command says so.
    """
    from momab.book.build import build
    from momab.book.project import Project

    with interruptible("stopped; the last good site stays."):
        report = build(
            Project.find(), profile, parameter or (), workers, edition=edition, output=output
        )
    print(
        f"{'built' if report.built else 'nothing has changed'} in {report.seconds:.1f} s "
        f"({report.executed} notebooks executed, {report.reused} reused): "
        f"{short(report.site / 'index.html')}"
    )
    if timings:
        for kind, found in (("step", report.steps), ("notebook", report.notebooks)):
            for name, seconds in sorted(found.items(), key=lambda item: -item[1]):
                print(f"{seconds:8.1f} s  {kind} {name}")


def run_command(
    notebook: Annotated[
        str,
        typer.Argument(help="Its name, as `momab params` lists it.", autocompletion=_notebooks),
    ],
    parameter: Assignments = None,
    profile: Profile = "quick",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder; one per set of values if absent.")
    ] = None,
    workers: Workers = None,
    edition: Annotated[
        str, typer.Option(help="instructor (everything), or student (no solutions).")
    ] = "instructor",
    compare: Annotated[
        bool, typer.Option("--compare", help="Set the book's page beside it, and mark changes.")
    ] = False,
    dask: Dask = None,
) -> None:
    """Execute one notebook and write it as a page that needs no other file, and as .ipynb.

    Several values for a parameter, as in -p horizon=1e4,1e5,1e6, make one page each, and an index
    that shows what changes.  Every set of values has a folder of its own in _build/runs.
    """
    from momab._util.cluster import on_cluster
    from momab.book.project import Project

    project = Project.find()  # what is missing without a checkout is no news
    from momab.book.single_page import run_page

    with on_cluster(dask), interruptible():
        pages = run_page(
            project, notebook, profile, parameter or (), output, workers, edition, compare
        )
    print("\n".join(map(short, pages)))


def params_command(
    notebook: Annotated[
        str | None,
        typer.Argument(help="One notebook; all if absent.", autocompletion=_notebooks),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List every parameter: type, default, what is allowed, meaning, and its notebooks."""
    from rich.table import Table
    from rich.text import Text

    from momab.book.parameters import parameter_summary
    from momab.book.project import Project

    project = Project.find()
    names = [project.notebook(notebook).name] if notebook else project.names
    found = {name: project.notebook(name).parameters for name in names}
    headers = ("parameter", "type", "default", "allowed", "meaning", "notebooks")
    rows = parameter_summary(found)
    if as_json:
        print_json(dict(zip(headers, row, strict=True)) for row in rows)
        return
    table = Table(*headers, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    print_wide(table, width=400)


def pdf_command(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file; _build/momab.pdf if absent.")
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Print solutions and teaching notes, too.")
    ] = False,
) -> None:
    """Print the whole book in _build/html to one PDF with headless Chromium."""
    from momab._util.files import require_file
    from momab.book.pdf import print_book
    from momab.book.project import Project

    if output is not None:
        require_file(output)
    with interruptible("stopped; nothing was written."):
        print(short(print_book(Project.find(), output, answers)))


def proofs_command() -> None:
    """Check the formal proofs from cold with Coq and record the outcome in proofs/checked.json."""
    import time

    from momab.book.gate import AXIOMS
    from momab.book.project import Project
    from momab.book.proofs import record_proofs

    project, start = Project.find(), time.perf_counter()
    with interruptible("stopped; the record of the last check stays."):
        record = record_proofs(project.root / "proofs", project.build / "proofs")
    print(
        f"Coq {record.coq} has checked {len(record.theorems)} theorems "
        f"in {time.perf_counter() - start:.1f} s; they rest on these axioms:"
    )
    for name in sorted(set().union(*(theorem.axioms for theorem in record.theorems))):
        print(f"  {name}: {AXIOMS[name]}")
