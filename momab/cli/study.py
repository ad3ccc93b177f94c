"""The commands about results: `momab study`, `reproduce` and `audit`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momab.cli import tables
from momab.cli.terminal import (
    AsJson,
    Dask,
    Horizon,
    Runs,
    Seed,
    interruptible,
    mention_numba,
    print_json,
    print_wide,
    runs_folder,
    safe_name,
    short,
    typed_number,
)

if TYPE_CHECKING:
    from momab.study.own import Request
    from momab.study.parts import Parts


def study_command(
    table: Annotated[
        Path, typer.Argument(help="A CSV, Parquet or Excel file, one row per reward.")
    ],
    objectives: Annotated[
        str, typer.Option(help="The reward columns, separated by commas; one with a comma quoted.")
    ],
    arm: Annotated[str, typer.Option(help="The column that names the arm.")] = "arm",
    scale: tables.Scale = None,
    minimize: tables.Minimize = None,
    unit: tables.Units = None,
    missing: tables.Missing = "error",
    delimiter: tables.Delimiter = None,
    encoding: tables.Encoding = None,
    horizon: Horizon = 100_000,
    runs: Runs = 20,
    seed: Seed = 1,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder; one per table and options if absent."),
    ] = None,
    dask: Dask = None,
) -> None:
    """Report on your own table: which arms are good, how sure that is, which policy to use.

    Writes report.html, which needs no other file, and report.ipynb.  Works in any folder.
    """
    from momab._util.cluster import on_cluster
    from momab._util.extras import require
    from momab._util.files import require_ours, write_ours

    require("plots", "a report")
    from momab.book.report import make_report

    columns = (table, objectives, arm, scale, minimize, unit, missing, delimiter, encoding)
    asked = study_request(*columns, horizon, runs, seed)
    if output is not None:
        require_ours(output, REPORT)
    asked.clean()  # what is wrong with the table is said before anything else
    folder = output or runs_folder() / f"study-{safe_name(table.stem)}-{asked.digest}"
    require_ours(folder, REPORT)
    mention_numba()
    with on_cluster(dask), interruptible("stopped; nothing was written."):
        report = make_report("study", asked.values, asked.command)
    write_ours(folder, dict(zip(REPORT, (report.page, report.notebook), strict=True)))
    print(report.answer)
    print("\n".join(short(folder / name) for name in REPORT))


REPORT = ("report.html", "report.ipynb")
"""The files of a report."""


def study_request(
    table: Path,
    objectives: str,
    arm: str,
    scale: list[str] | None,
    minimize: list[str] | None,
    unit: list[str] | None,
    missing: str,
    delimiter: str | None,
    encoding: str | None,
    horizon: float,
    runs: int,
    seed: int,
) -> Request:
    """What the words of a command line ask for."""
    from momab._util.validate import whole_number
    from momab.model.tables import DELIMITERS, parse_scale
    from momab.study import own

    return own.Request(
        table=str(table.resolve()),
        arm=arm.strip(),
        objectives=own.split_columns(objectives),
        units=own.parse_units(unit or ()),
        scale=parse_scale(scale or ()),
        minimize=[name.strip() for name in minimize or ()],
        missing=missing,
        delimiter=DELIMITERS.get(delimiter or "", delimiter or ""),
        encoding=encoding or "",
        horizon=whole_number(horizon, "the horizon T", least=1),
        runs=whole_number(runs, "runs", least=2),
        seed=whole_number(seed, "the seed", least=0, most=2**64 - 1),
    )


def audit_command(
    trace: Annotated[Path, typer.Argument(help="An .npz file: arms, rewards, means, c, horizon.")],
    event: Annotated[
        str, typer.Option(help="two-sided: the paper's; one-sided: the sides its proofs use.")
    ] = "two-sided",
    rounding: Annotated[
        float, typer.Option(help="Tolerance for means that another program computed.")
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Check every lemma of the paper at every round of a trace; exit code 1 if one is violated.

    Two lines of Python write a trace: `import momab` and
    `momab.trace(momab.synthetic(0.1, 1), momab.WidthGuided(), 10_000, seed=1).save("run.npz")`.
    """
    from momab.ledger.auditing import audit
    from momab.ledger.auditing.trace import Trace

    report = audit(Trace.load(trace), claimed_on=event, rounding=rounding)
    if as_json:
        print_json(report.table())
    else:
        print_wide(report, width=140, highlight=False)
    if not report.ok:
        raise SystemExit(1)


def reproduce_command(
    context: typer.Context,
    target: Annotated[
        list[str],
        typer.Argument(
            help="table1 to table4, figure1, figure2, retuned, risk, tails, rivals, prices, limit, "
            "or all."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the files.")] = Path(
        "_build/reproduce"
    ),
    data_dir: Annotated[Path | None, typer.Option(help="The folder with the data sets.")] = None,
    runs: Annotated[
        int, typer.Option("-n", "--runs", help="Runs per subset or setting.", parser=typed_number)
    ] = 20,
    horizon: Horizon = 1_000_000,
    seed: Seed = 20260704,
    risk_runs: Annotated[
        int, typer.Option(help="Runs per subset and coefficient.", parser=typed_number)
    ] = 20_000,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL", help="A policy of the target limit, by its label; repeatable."
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Cores to use; all if absent.")] = None,
    dask: Dask = None,
    check: Annotated[bool, typer.Option("--check", help="Compare with the recorded results.")] = (
        False
    ),
    record: Annotated[
        bool,
        typer.Option("--record", help="Replace the recorded results."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Recompute the paper's tables and figures and set our numbers beside the paper's.

    Finished runs are kept in the output folder: the same command continues where it stopped.
    """
    from momab import study
    from momab._util.cluster import on_cluster
    from momab._util.extras import require
    from momab._util.files import require_folder
    from momab._util.validate import LONGEST, whole_number

    names = study.wanted_parts(target)
    given = {
        option: name
        for option, name in study.OPTION_NAMES.items()
        if getattr(context.get_parameter_source(option), "name", "") == "COMMANDLINE"
    }
    study.require_taken(target, given)
    require("plots", "a figure or a table in LaTeX")
    require_folder(output)
    options = study.Options(
        whole_number(horizon, "the horizon T", least=1, most=LONGEST),
        whole_number(runs, "runs", least=1),
        whole_number(seed, "the seed", least=0, most=2**64 - 1),
        data_dir,
        output / "store",
        workers,
    )
    risk_runs = whole_number(risk_runs, "--risk-runs", least=1)
    study.require_data(names, options)
    chosen = policy or (study.recorded_policies() if check and not record else ())
    parts = study.Parts(options, risk_runs, policies=tuple(study.contenders(chosen)))
    if check and not record:
        study.require_recorded_sizes(parts, names)
    mention_numba()
    with on_cluster(dask), interruptible():
        if record:
            study.record_results(parts, names)
        if check:
            _print_differences(study.differences(parts, names))
        compared: dict[str, list[dict[Any, Any]]] = {}
        for name, cells in study.comparisons(parts, target).items():
            compared[name] = cells.to_dict("records")
            if as_json:
                continue
            agreed = int((cells["verdict"] == "agrees").sum())
            print(f"{name}: {agreed} of {len(cells)} cells within 3 standard errors of the paper's")
            print(cells.drop(columns=["paper_sd", "ours_sd"]).to_string(index=False))
        if not compared and {"table1", "table2", "table4", "all"} & set(target) and not as_json:
            print("not compared with the paper: its tables have T = 1,000,000 and several runs.")
        written = study.write_files(parts, target, output, FIGURES)
    if as_json:
        print_json({"target": name, **cell} for name, cells in compared.items() for cell in cells)
    else:
        print("\n".join(map(short, written)))


def _figure_1(parts: Parts) -> Any:
    from momab.chapters.synthetic import synthetic_comparison

    return synthetic_comparison(parts.synthetic)


def _figure_2(parts: Parts) -> Any:
    from momab.chapters.synthetic import synthetic_trajectories

    return synthetic_trajectories(parts.paths)


FIGURES: dict[str, Callable[[Parts], Any]] = {"figure1": _figure_1, "figure2": _figure_2}
"""How `momab reproduce` draws the figures among its targets."""


def _print_differences(found: dict[str, str]) -> None:
    """Say part by part whether recomputing gave the recorded digits; exit 1 if one did not."""
    for part, difference in found.items():
        print(f"{part}: {difference or 'identical to the recorded results'}")
    if any(found.values()):
        raise SystemExit(1)
