"""The `momab` command: its list of commands, and how it ends."""

import sys

import typer

from momab._util.extras import named_extras
from momab.cli import book, course, data, simulate, study
from momab.errors import MomabError

app = typer.Typer(
    name="momab",
    help="The executable companion to the paper on stochastic multi-objective bandits.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("book")(book.book_command)
app.command("run")(book.run_command)
app.command("params")(book.params_command)
app.command("pdf")(book.pdf_command)
app.command("proofs")(book.proofs_command)
app.command("simulate")(simulate.simulate_command)
app.command("bench")(simulate.bench_command)
app.command("study")(study.study_command)
app.command("reproduce")(study.reproduce_command)
app.command("audit")(study.audit_command)
app.command("subsets")(data.subsets_command)
app.command("student")(course.student_command)
app.command("handout")(course.handout_command)
app.command("grade")(course.grade_command)
app.add_typer(data.data, name="data")


def main() -> None:
    """Run the command line; bad input prints one sentence and exits with code 2."""
    try:
        with named_extras("this command"):
            app()
    except MomabError as error:
        print(f"momab: {error}", file=sys.stderr)
        raise SystemExit(getattr(error, "exit_code", 2)) from None
