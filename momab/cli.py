"""The `momab` command."""

import sys

import typer

from momab.errors import MomabError

app = typer.Typer(
    name="momab",
    help="The executable companion to the paper on stochastic multi-objective bandits.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _root() -> None:
    """Keep `momab COMMAND` a group even while it holds a single command."""


def main() -> None:
    """Run the command line; bad input prints one sentence and exits with code 2."""
    try:
        app()
    except MomabError as error:
        print(f"momab: {error}", file=sys.stderr)
        raise SystemExit(2) from None
