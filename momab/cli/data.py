"""The commands `momab data`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from momab.cli.terminal import AsJson, interruptible, print_json
from momab.errors import MomabError

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Look for the data in this folder only.")
]
Mirror = Annotated[
    str | None, typer.Option(help="A folder on the web that holds the files (or MOMAB_MIRROR).")
]

data = typer.Typer(
    help="Find, download and build the data sets; they are not part of this project.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@data.command("get")
def get_command(
    dataset: Annotated[str, typer.Argument(help="Its name, as `momab data where` lists it.")],
    data_dir: DataDir = None,
    mirror: Mirror = None,
) -> None:
    """Download a data set, continuing where an earlier attempt broke off, and verify it."""
    from momab._util.files import require_folder
    from momab.study import datasets

    require_folder(datasets.folders(data_dir)[0])
    with interruptible("stopped; what was downloaded is kept, and the same command goes on."):
        path = datasets.get(dataset, data_dir, mirror, progress=sys.stderr.isatty())
    print(f"{datasets.named(dataset).title}: {path}")


@data.command("where")
def where_command(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Say where each data set is, or where it was looked for."""
    from momab.study import datasets

    if as_json:
        found = {name: datasets.find(name, data_dir) for name in datasets.REGISTRY}
        print_json(
            {
                "dataset": name,
                "path": str(path) if path else None,
                "address": datasets.named(name).address,
            }
            for name, path in found.items()
        )
        return
    for dataset, source in datasets.REGISTRY.items():
        path = datasets.find(dataset, data_dir)
        print(f"{dataset}: {path or f'not found; `momab data get {dataset}` fetches it'}")
        print(f"  public address: {source.address}")
    print("looked in:")
    for folder in datasets.folders(data_dir):
        print(f"  {folder}")


@data.command("build")
def build_command(
    release: Annotated[Path, typer.Argument(help="The unpacked KuaiRec 2.0 release.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")],
) -> None:
    """Build the KuaiRec cohort instance from the raw release."""
    from momab._util.files import require_file
    from momab.study import datasets
    from momab.study.datasets import kuairec

    if output.suffix != ".npz":
        raise MomabError(f"the output must be an .npz file; it is {str(output)!r}.")
    require_file(output)
    instance = kuairec.kuairec_from_release(release)
    datasets.write_cohorts(instance, output)
    same = datasets.checksum(instance) == datasets.named("kuairec").content
    print(
        f"{output}: {instance.K} videos x {instance.d} cohorts, "
        f"{'the very instance' if same else 'not the instance'} that the paper used"
    )
