"""The `momab` command."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from momab.cli import course, data
from momab.errors import MomabError

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(
    name="momab",
    help="The executable companion to the paper on stochastic multi-objective bandits.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data.data, name="data")
app.command()(data.subsets)
app.command()(course.handout)
app.command()(course.grade)

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
    profile: Profile = "quick",
    parameter: Assignments = None,
    workers: Workers = None,
    edition: Annotated[
        str, typer.Option(help="instructor (everything), or student (no solutions).")
    ] = "instructor",
) -> None:
    """Execute what has changed and build the site: _build/html, or _build/student."""
    from momab.book.build import build
    from momab.book.notebook import Project

    report = build(Project.find(), profile, parameter or (), workers, edition=edition)
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
    from momab.book.notebook import Project
    from momab.book.single_page import run as run_notebook

    for page in run_notebook(Project.find(), notebook, profile, parameter or (), output, workers):
        print(_short(page))


@app.command()
def params(
    notebook: Annotated[str | None, typer.Argument(help="One notebook; all if absent.")] = None,
) -> None:
    """List every parameter: type, default, what is allowed, meaning, and who takes it."""
    from rich.console import Console
    from rich.table import Table

    from momab.book.notebook import Project
    from momab.book.parameters import summary

    project = Project.find()
    names = [project.notebook(notebook).name] if notebook else project.names
    headers = ("parameter", "type", "default", "allowed", "meaning", "notebooks")
    table = Table(*headers, box=None, pad_edge=False)
    for row in summary({name: project.notebook(name).parameters for name in names}):
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console.width = 400  # a pipe has no width; words stay whole
    console.print(table)


@app.command()
def pdf(
    output: Annotated[
        Path | None, typer.Option(help="The file; _build/momab.book.pdf if absent.")
    ] = None,
) -> None:
    """Print the whole book that stands in _build/html to one PDF with headless Chromium."""
    from momab.book.notebook import Project
    from momab.book.pdf import print_book

    print(_short(print_book(Project.find(), output)))


@app.command()
def simulate(
    instance: Annotated[
        list[str] | None,
        typer.Argument(
            help="synthetic:delta=0.02,m=8, duplicated:delta=0.1,K=5,d=3, zero-gap, "
            "random:K=5,d=3,seed=1; several are allowed."
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="For example width-guided:c=2 or pareto-ucb1:q=synthetic; repeatable; "
            "all the paper's if absent."
        ),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Your own table instead of a family.")] = None,
    arm: Annotated[str, typer.Option(help="With --csv: the column that names the arm.")] = "arm",
    objectives: Annotated[
        str, typer.Option(help="With --csv: the reward columns, separated by commas.")
    ] = "",
    horizon: Annotated[float, typer.Option("-T", "--horizon", help="Rounds per run.")] = 1e5,
    runs: Annotated[int, typer.Option("-n", "--runs", help="Runs of every policy.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of all streams.")] = 1,
    checkpoints: Annotated[int, typer.Option(help="Log-spaced rounds of the trajectories.")] = 200,
    front_metrics: Annotated[
        bool, typer.Option("--front-metrics", help="Front precision and recall, too (slower).")
    ] = False,
    workers: Annotated[int | None, typer.Option(help="Cores to use; all if absent.")] = None,
    store: Annotated[Path | None, typer.Option(help="Folder that keeps finished runs.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the tables; runs are kept in it, too."),
    ] = None,
    engine: Annotated[str, typer.Option(help="auto, numba or python: the digits agree.")] = "auto",
) -> None:
    """Play policies on instances and print what they achieved.

    Ctrl-C stops cleanly; with --store or --output the same command goes on where it stopped.
    """
    from momab.engine import specs
    from momab.engine.simulate import SimulationInterrupted
    from momab.engine.simulate import simulate as play
    from momab.model.instances import from_csv

    built = [specs.instance(spec) for spec in instance or []]
    if csv is not None:
        built.append(from_csv(csv, arm, [name for name in objectives.split(",") if name]))
    if not built:
        raise MomabError("name an instance, for example synthetic:delta=0.02,m=8, or give --csv.")
    try:
        results = play(
            built,
            specs.policies(policy or ()),
            horizon,  # type: ignore[arg-type]  # 1e6 is a whole number, too
            runs,
            seed,
            checkpoints=checkpoints,
            front_metrics=front_metrics,
            workers=workers,
            store=store or (output and output / "store"),
            engine=engine,
        )
    except SimulationInterrupted as stop:
        print(f"momab: {stop}", file=sys.stderr)
        raise SystemExit(130) from None
    _print_summary(results.summary())
    if output:
        print(f"tables in {_short(results.save(output))}")


def _print_summary(summary: "pd.DataFrame") -> None:
    """Print a simulation's summary: one table per instance, one line per policy."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console.width = 160  # a pipe has no width
    headers = ("policy", "runs", "mean regret", "95 % interval", "sd", "median", "95 % quantile")
    for name, rows in summary.groupby("instance", sort=False):
        table = Table(*headers, "dominated at the end", "certified", title=str(name), box=None)
        for row in rows.to_dict("records"):
            table.add_row(
                row["policy"],
                str(row["runs"]),
                f"{row['mean']:.2f}",
                f"{row['mean_low']:.2f} to {row['mean_high']:.2f}",
                f"{row['sd']:.2f}",
                f"{row['median']:.2f}",
                f"{row['q95']:.2f}",
                f"{row['error_rate']:.2%} ({row['error_low']:.2%} to {row['error_high']:.2%})",
                f"{row['certified_rate']:.0%}",
            )
        console.print(table)


@app.command()
def study(
    table: Annotated[Path, typer.Argument(help="A CSV file (also .csv.gz), one row per reward.")],
    objectives: Annotated[str, typer.Option(help="The reward columns, separated by commas.")],
    arm: Annotated[str, typer.Option(help="The column that names the arm.")] = "arm",
    scale: Annotated[
        list[str] | None,
        typer.Option(help="column=low:high maps a column onto [0, 1]; repeatable."),
    ] = None,
    horizon: Annotated[float, typer.Option("-T", "--horizon", help="Rounds per run.")] = 1e5,
    runs: Annotated[int, typer.Option("-n", "--runs", help="Runs of every policy.")] = 50,
    coefficient: Annotated[
        float, typer.Option(help="A tuned c for Width-guided, beside the theorem's 2.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of all streams.")] = 1,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder; _build/runs/own-data if absent.")
    ] = None,
) -> None:
    """Describe your own table as a bandit and play the policies on it; writes a page."""
    from momab.book.notebook import Project
    from momab.book.single_page import run as run_notebook
    from momab.chapters.own_data import study_assignments

    columns = [name for name in objectives.split(",") if name.strip()]
    values = {
        "horizon": horizon,
        "runs": runs,
        "coefficient": coefficient,
        "seed": seed,
    }
    assignments = study_assignments(table, arm, columns, scale or (), values)
    for page in run_notebook(Project.find(), "own-data", "quick", assignments, output):
        print(_short(page))


@app.command()
def audit(
    trace: Annotated[Path, typer.Argument(help="An .npz file: arms, rewards, means, c, horizon.")],
    event: Annotated[
        str, typer.Option(help="two-sided: the paper's; one-sided: the sides its proofs use.")
    ] = "two-sided",
    rounding: Annotated[
        float, typer.Option(help="Tolerance for means that another program computed.")
    ] = 0.0,
) -> None:
    """Check every lemma of the paper at every round of a trace; exit code 1 if one is violated."""
    from rich.console import Console

    from momab.auditing.claims import audit as check
    from momab.auditing.trace import Trace

    report = check(Trace.load(trace), claimed_on=event, rounding=rounding)
    console = Console()
    if not console.is_terminal:
        console.width = 140
    console.print(report, highlight=False)
    if not report.ok:
        raise SystemExit(1)


@app.command()
def bench(
    rounds: Annotated[
        int, typer.Option(help="Rounds that every kernel plays.", min=1000)
    ] = 300_000,
) -> None:
    """Measure nanoseconds per round of every policy, and the ratio to the plain loop."""
    from momab import datasets
    from momab.datasets import subsets
    from momab.engine.bench import bench_instances, measure

    found = bench_instances()
    if datasets.find("kuairec") is not None:
        whole = datasets.kuairec(verify=False)
        first = subsets.frozen("kuairec")[0]
        found.append(whole.subset(first.indices, name="KuaiRec, first subset"))
    print(measure(found, rounds).to_string(index=False))


@app.command()
def reproduce(
    target: Annotated[
        list[str],
        typer.Argument(help="table1 to table4, figure1, figure2, retuned, risk, rivals, or all."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the files.")] = Path(
        "_build/reproduce"
    ),
    data_dir: Annotated[Path | None, typer.Option(help="The folder with the data sets.")] = None,
    runs: Annotated[int, typer.Option("-n", "--runs", help="Runs per subset or setting.")] = 20,
    horizon: Annotated[float, typer.Option("-T", "--horizon", help="Rounds per run.")] = 1e6,
    seed: Annotated[int, typer.Option(help="Seed of all streams.")] = 20260704,
    risk_runs: Annotated[int, typer.Option(help="Runs per subset and coefficient.")] = 20_000,
    workers: Annotated[int | None, typer.Option(help="Cores to use; all if absent.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Compare with the recorded results.")] = (
        False
    ),
    record: Annotated[bool, typer.Option("--record", help="Replace the recorded results.")] = False,
) -> None:
    """Recompute the paper's tables and figures and set our numbers beside the paper's.

    Finished runs are kept in the output folder: the same command goes on where it stopped.
    """
    from momab.engine.simulate import SimulationInterrupted
    from momab.study import reproduce as work
    from momab.study.design import Options

    names = work.wanted_parts(target)
    options = Options(int(horizon), runs, seed, data_dir, output / "store", workers)
    work.check_data(names, options)
    parts = work.Parts(options, risk_runs)
    try:
        if record:
            work.record(parts, names)
        if check:
            _print_check(work.check(parts, names))
        for name, cells in work.comparisons(parts, target).items():
            agreed = int((cells["verdict"] == "agrees").sum())
            print(f"{name}: {agreed} of {len(cells)} cells within 3 standard errors of the paper's")
            print(cells.drop(columns=["paper_sd", "ours_sd"]).to_string(index=False))
        for path in work.write(parts, target, output):
            print(_short(path))
    except SimulationInterrupted as stop:
        print(f"momab: {stop}", file=sys.stderr)
        raise SystemExit(130) from None


def _print_check(found: dict[str, str]) -> None:
    """Say part by part whether recomputing gave the recorded digits; exit 1 if one did not."""
    for part, difference in found.items():
        print(f"{part}: {difference or 'identical to the recorded results'}")
    if any(found.values()):
        raise SystemExit(1)


def main() -> None:
    """Run the command line; bad input prints one sentence and exits with code 2."""
    try:
        app()
    except MomabError as error:
        print(f"momab: {error}", file=sys.stderr)
        raise SystemExit(getattr(error, "exit_code", 2)) from None
