"""The `momab` command: its list of commands, and how it ends."""

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from momab import __version__
from momab._util.extras import named_extras
from momab.cli import book, course, data, serve, simulate, study
from momab.errors import MomabError

SECTIONS = {
    "Read and run again": ("serve", "run", "params", "book", "reproduce"),
    "Play, and your own table": ("simulate", "policies", "study"),
    "More, in groups": ("data", "course", "tools"),
}
"""The commands as `momab --help` lists them."""

START = (
    ("momab serve", "in a checkout"),
    ("momab simulate synthetic:delta=0.1,m=2", "anywhere"),
)
"""What a newcomer types first, and where."""


class Sectioned(TyperGroup):
    """Lists commands in sections, one line each, and says where to start."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        with formatter.section("Start with"):
            formatter.write_dl(START, col_max=40)
        for title, names in SECTIONS.items():
            with formatter.section(title):
                commands = [(name, self.commands[name]) for name in names]
                formatter.write_dl(
                    [(n, c.short_help or c.get_short_help_str(70)) for n, c in commands]
                )
        formatter.write_paragraph()
        formatter.write_text(
            "momab COMMAND --help explains each. Also: --version, --install-completion."
        )


app = typer.Typer(
    name="momab", cls=Sectioned, no_args_is_help=True, rich_markup_mode=None,
    pretty_exceptions_enable=False,
)  # fmt: skip

app.command("serve", short_help="the book in your browser, with a form on every page")(
    serve.serve_command
)
app.command("run", short_help="one page with other values, or a sweep of values")(book.run_command)
app.command("book", short_help="the whole site")(book.book_command)
app.command("reproduce", short_help="the paper's tables and figures, beside the paper's numbers")(
    study.reproduce_command
)
app.command("simulate", short_help="policies on instances, or on a table")(
    simulate.simulate_command
)
app.command("study", short_help="a report on your own table: which arm, how sure, which policy")(
    study.study_command
)
app.command("params", short_help="what can be set on each page")(book.params_command)
app.command("policies", short_help="the policies and their options, one line each")(
    simulate.policies_command
)
app.add_typer(data.data, name="data", short_help="get, where, build: the data sets")

teaching = typer.Typer(help="For teachers.", no_args_is_help=True, rich_markup_mode=None)
teaching.command("student")(course.student_command)
teaching.command("handout")(course.handout_command)
teaching.command("grade")(course.grade_command)
teaching.command("mark")(course.mark_command)
teaching.command("questions")(course.questions_command)
app.add_typer(
    teaching, name="course", short_help="student, handout, grade, mark, questions: for teachers"
)

tools = typer.Typer(help="Checks, print, speed.", no_args_is_help=True, rich_markup_mode=None)
tools.command("audit")(study.audit_command)
tools.command("proofs")(book.proofs_command)
tools.command("pdf")(book.pdf_command)
tools.command("bench")(simulate.bench_command)
app.add_typer(tools, name="tools", short_help="audit, proofs, pdf, bench: checks, print, speed")


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
