"""The `momab` command: its list of commands, and how it ends."""

import sys
from typing import Annotated

import typer

from momab import __version__
from momab._util.extras import named_extras
from momab.cli import book, course, data, serve, simulate, study
from momab.errors import MomabError

app = typer.Typer(
    name="momab",
    help="The executable companion to the paper on stochastic multi-objective bandits.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


app.command("book")(book.book_command)
app.command("run")(book.run_command)
app.command("serve")(serve.serve_command)
app.command("params")(book.params_command)
app.command("pdf")(book.pdf_command)
app.command("proofs")(book.proofs_command)
app.command("simulate")(simulate.simulate_command)
app.command("bench")(simulate.bench_command)
app.command("study")(study.study_command)
app.command("reproduce")(study.reproduce_command)
app.command("audit")(study.audit_command)
app.command("student")(course.student_command)
app.command("handout")(course.handout_command)
app.command("grade")(course.grade_command)
app.command("mark")(course.mark_command)
app.command("questions")(course.questions_command)
app.add_typer(data.data, name="data")


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"momab {__version__}")
        raise typer.Exit


@app.callback()
def _momab(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Say which version this is.", callback=_say_version, is_eager=True
        ),
    ] = False,
) -> None:
    """The executable companion to the paper on stochastic multi-objective bandits."""


def main() -> None:
    """Run the command line; bad input prints one sentence and exits with code 2."""
    try:
        with named_extras("this command"):
            app()
    except MomabError as error:
        _end(str(error), getattr(error, "exit_code", 2))
    except MemoryError:
        _end("there is not enough memory for this; choose smaller sizes.", 2)
    except OSError as error:  # a disk that is full, a file that vanished
        place = f"{error.filename}: " if error.filename else ""
        _end(f"{place}{error.strerror or error}.", 1)


def _end(sentence: str, code: int) -> None:
    print(f"momab: {sentence}", file=sys.stderr)
    raise SystemExit(code) from None
