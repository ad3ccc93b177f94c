"""The `momab` command."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from momab.errors import MomabError

app = typer.Typer(
    name="momab",
    help="The executable companion to the paper on stochastic multi-objective bandits.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Assignments = Annotated[
    list[str] | None,
    typer.Option("-p", "--parameter", help="name=value, or notebook.name=value; repeatable."),
]
Profile = Annotated[str, typer.Option(help="quick, paper, or the path of your own YAML file.")]
Workers = Annotated[int | None, typer.Option(help="How many notebooks run at once.", min=1)]


@app.callback()
def _root() -> None:
    """Keep `momab COMMAND` a group even while it holds a single command."""


@app.command()
def book(
    profile: Profile = "quick", parameter: Assignments = None, workers: Workers = None
) -> None:
    """Execute what has changed and build the site into _build/html."""
    from momab.notebooks import Project
    from momab.site import build

    report = build(Project.find(), profile, parameter or (), workers)
    print(
        f"{'built' if report.built else 'nothing has changed'} in {report.seconds:.1f} s "
        f"({report.executed} notebooks executed, {report.reused} reused): "
        f"{_short(report.site / 'index.html')}"
    )


def _short(path: Path) -> str:
    """A path as people type it: relative when it lies below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


@app.command()
def run(
    notebook: Annotated[str, typer.Argument(help="Its name, as `momab params` lists it.")],
    parameter: Assignments = None,
    profile: Profile = "quick",
    output: Annotated[Path | None, typer.Option(help="Folder; _build/runs/NAME if absent.")] = None,
    workers: Workers = None,
) -> None:
    """Execute one notebook and write it as a page that needs no other file, and as .ipynb.

    Several values for a parameter, as in -p horizon=1e4,1e5,1e6, make one page each and an index.
    """
    from momab.notebooks import Project
    from momab.runs import run as run_notebook

    for page in run_notebook(Project.find(), notebook, profile, parameter or (), output, workers):
        print(_short(page))


@app.command()
def params(
    notebook: Annotated[str | None, typer.Argument(help="One notebook; all if absent.")] = None,
) -> None:
    """List every parameter: type, default, what is allowed, meaning, and who takes it."""
    from rich.console import Console
    from rich.table import Table

    from momab.notebooks import Project
    from momab.parameters import summary

    project = Project.find()
    names = [project.notebook(notebook).name] if notebook else project.names
    headers = ("parameter", "type", "default", "allowed", "meaning", "notebooks")
    table = Table(*headers, box=None, pad_edge=False)
    for row in summary({name: project.notebook(name).parameters for name in names}):
        table.add_row(*row)
    console = Console()
    console.print(table, soft_wrap=not console.is_terminal)


@app.command()
def pdf(
    output: Annotated[
        Path | None, typer.Option(help="The file; _build/momab.pdf if absent.")
    ] = None,
) -> None:
    """Print the whole book that stands in _build/html to one PDF with headless Chromium."""
    from momab.notebooks import Project
    from momab.pdf import print_book

    print(_short(print_book(Project.find(), output)))


def main() -> None:
    """Run the command line; bad input prints one sentence and exits with code 2."""
    try:
        app()
    except MomabError as error:
        print(f"momab: {error}", file=sys.stderr)
        raise SystemExit(getattr(error, "exit_code", 2)) from None
