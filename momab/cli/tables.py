"""The options that say how a user's table is read, the same for every command that takes one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from momab.model.instances import Instance

Scale = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=LOW:HIGH",
        help="What is mapped onto [0, 1]; latency=2000:0 where less is better; repeatable.",
    ),
]
Minimize = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A reward column of which less is better; repeatable."),
]
Units = Annotated[
    list[str] | None,
    typer.Option(
        "--unit", metavar="COLUMN=UNIT", help="As latency=ms, for the report; repeatable."
    ),
]
Missing = Annotated[
    str, typer.Option(help="Rows with a missing value: error names them, drop leaves them out.")
]
Delimiter = Annotated[
    str | None, typer.Option(help="comma, semicolon, tab, bar or a character; found if absent.")
]
Encoding = Annotated[
    str | None, typer.Option(help="Of a text that is not UTF-8, for example cp1252.")
]


def reading(
    scale: list[str] | None,
    minimize: list[str] | None,
    missing: str,
    delimiter: str | None,
    encoding: str | None,
) -> dict[str, Any]:
    """Gather the options of :func:`momab.from_csv`."""
    from momab.model.tables import parse_scale

    return {
        "scale": parse_scale(scale or ()),
        "minimize": minimize or (),
        "missing": missing,
        "delimiter": delimiter,
        "encoding": encoding,
    }


def read_instance(path: Path, arm: str, objectives: str, options: dict[str, Any]) -> Instance:
    """Read the table as an instance."""
    from momab.model.tables import from_csv
    from momab.study.own import split_columns

    return from_csv(path, arm.strip(), split_columns(objectives), **options)
