"""The commands `momab simulate` and `momab tools bench`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    short,
    typed_number,
)
from momab.errors import MomabError

if TYPE_CHECKING:
    import pandas as pd


def simulate_command(
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
            metavar="POLICY",
            help="As `momab policies` lists them, for example width-guided:c=0.1, or your own, "
            "my_policy.py:MyPolicy; repeatable; the paper's four if absent.",
        ),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Your own table instead of a family.")] = None,
    arm: Annotated[str, typer.Option(help="With --csv: the column that names the arm.")] = "arm",
    objectives: Annotated[
        str, typer.Option(help="With --csv: the reward columns, separated by commas.")
    ] = "",
    scale: tables.Scale = None,
    minimize: tables.Minimize = None,
    missing: tables.Missing = "error",
    delimiter: tables.Delimiter = None,
    encoding: tables.Encoding = None,
    horizon: Horizon = 100_000,
    runs: Runs = 20,
    seed: Seed = 1,
    checkpoints: Annotated[
        int, typer.Option(help="Log-spaced rounds of the trajectories.", parser=typed_number)
    ] = 200,
    workers: Annotated[int | None, typer.Option(help="Cores to use; all if absent.")] = None,
    store: Annotated[Path | None, typer.Option(help="Folder that keeps finished runs.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the tables; runs are kept in it, too."),
    ] = None,
    dask: Dask = None,
    engine: Annotated[
        str, typer.Option(help="auto, numba, driver or python: the digits agree.")
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Play policies on instances and print what they achieved.

    Ctrl-C stops cleanly; with --store or --output the same command continues where it stopped.
    """
    from momab._util.cluster import on_cluster
    from momab._util.files import require_folder
    from momab.cli import specs
    from momab.study.simulate import simulate

    for folder in (output, store):
        if folder is not None:
            require_folder(folder)
    built = [specs.instance(spec) for spec in instance or []]
    if csv is not None:
        options = tables.reading(scale, minimize, missing, delimiter, encoding)
        built.append(tables.read_instance(csv, arm, objectives, options))
    if not built:
        raise MomabError("name an instance, for example synthetic:delta=0.02,m=8, or give --csv.")
    players = specs.policies(policy or ())
    if engine == "auto":
        mention_numba()
    with on_cluster(dask), interruptible(), specs.files_explained(policy or ()):
        results = simulate(
            built,
            players,
            horizon,  # type: ignore[arg-type]  # 1e6 is a whole number, too
            runs,
            seed,
            checkpoints=checkpoints,
            workers=workers,
            store=store or (output and output / "store"),
            engine=engine,
        )
    if as_json:
        print_json(results.summary())
    else:
        _print_summary(results.summary())
    if output:
        folder = results.save(output)
        if not as_json:
            print(f"tables in {short(folder)}")


def _print_summary(summary: pd.DataFrame) -> None:
    """Print a simulation's summary: one table per instance, one line per policy."""
    from rich.table import Table
    from rich.text import Text

    headers = ("policy", "runs", "mean regret", "95 % interval", "sd", "median", "95 % quantile")
    for name, rows in summary.groupby("instance", sort=False):
        table = Table(
            *headers, "dominated at the end", "certified", title=Text(str(name)), box=None
        )
        for row in rows.to_dict("records"):
            table.add_row(
                Text(row["policy"]),
                str(row["runs"]),
                f"{row['mean']:.2f}",
                f"{row['mean_low']:.2f} to {row['mean_high']:.2f}",
                f"{row['sd']:.2f}",
                f"{row['median']:.2f}",
                f"{row['q95']:.2f}",
                f"{row['error_rate']:.2%} ({row['error_low']:.2%} to {row['error_high']:.2%})",
                f"{row['certified_rate']:.0%}",
            )
        print_wide(table, width=160)


def policies_command(as_json: AsJson = False) -> None:
    """List the policies: name, options with their defaults, and what each does."""
    from rich.table import Table
    from rich.text import Text

    from momab.cli.specs import describe_policies

    rows = describe_policies()
    if as_json:
        print_json({"name": n, "options": o, "what": what} for n, o, what in rows)
        return
    table = Table("policy", "options", "what it does", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    print_wide(table, width=200)


def bench_command(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A CSV file to write, too.")
    ] = None,
    smpybandits: Annotated[
        Path | None,
        typer.Option(help="A Python with SMPyBandits: only compare with it, d = 1."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure nanoseconds per round of every policy, and their ratios.

    ns, fast_ns and plain_us are the times per round of the compiled driver, of an accelerator
    where there is one, and of plain Python; draw_ns is that of drawing the rewards alone, and
    over_drawing how many times longer the faster of the first two takes.
    """
    from momab._util.files import require_file, write_text
    from momab.cli.bench import bench_instances, beside_smpybandits, measure
    from momab.study import datasets
    from momab.study.datasets import subsets

    if output is not None:
        require_file(output)
    mention_numba()
    found = bench_instances()
    if datasets.find("kuairec") is not None:
        first = subsets.frozen("kuairec")[0]
        whole = datasets.load("kuairec", verify=False)
        found.append(whole.subset(first.indices, name="KuaiRec, first subset"))
    with interruptible("stopped; nothing was written."):
        table = measure(found) if smpybandits is None else beside_smpybandits(smpybandits)
    if as_json:
        print_json(table)
    else:
        print(table.to_string(index=False))
    if output is not None:
        write_text(output, table.to_csv(index=False))
