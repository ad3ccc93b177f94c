"""A visitor's own table: taken if it is one, kept under its name, described by its columns."""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momab.book.parameters import parse_cell
from momab.errors import MomabError
from momab.model.tables import DELIMITERS, as_numbers, parse_scale, read_table, suggested_range
from momab.study import own

if TYPE_CHECKING:
    import pandas as pd

LIMIT = 20 * 2**20
"""The largest table that is taken, in bytes."""

_COLUMNS = 500
_KEEP = 50
_keeping = threading.Lock()


def keep_table(folder: Path, name: str, data: bytes) -> dict[str, Any]:
    """Keep a CSV table below a folder; return its name and what its columns hold."""
    text, encoding = _text(data)
    first = text.partition("\n")[0]
    if max(map(first.count, DELIMITERS.values())) >= _COLUMNS:
        raise MomabError(f"a table may have {_COLUMNS} columns; this one has more.")
    id = hashlib.sha256(data).hexdigest()[:16]
    stem = re.sub(r"[^\w -]+", "-", Path(name).stem).strip(" -")[:60] or "table"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as temporary:
        new, old = Path(temporary, "new"), Path(temporary, "old")
        new.mkdir()
        (new / f"{stem}.csv").write_bytes(data)
        frame = _read(new / f"{stem}.csv", encoding)
        described = {
            "id": id,
            "name": stem,
            "rows": len(frame),
            "encoding": encoding,
            "columns": [_column(str(name), frame[name]) for name in frame.columns],
        }
        (new / "table.json").write_text(json.dumps(described), encoding="utf-8")
        with _keeping:  # two tabs may drop the same table at once
            if (folder / id).exists():
                os.rename(folder / id, old)
            os.rename(new, folder / id)
            _forget_old(folder)
    return described


def _read(path: Path, encoding: str) -> pd.DataFrame:
    """The table as the study will read it."""
    try:
        frame = read_table(path, [], encoding=encoding or None)
    except (OverflowError, MemoryError) as error:
        raise MomabError(f"this is not a CSV table: {type(error).__name__}.") from None
    except MomabError as error:
        raise MomabError(str(error).replace(f"{path}", "this", 1)) from None
    if len(frame.columns) < 2 or not len(frame):
        raise MomabError(
            "a table needs rows, a column that names the arm, and at least one of rewards, "
            f"separated by one of {', '.join(DELIMITERS)}."
        )
    return frame


def _text(data: bytes) -> tuple[str, str]:
    """A table's text, and its encoding unless that goes without saying.

    What is not UTF-8, nor UTF-16 with its mark, is read as cp1252, in which Western European
    spreadsheets write; only names can be wrong then, and they are shown.
    """
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding, name in (("utf-16", "") if marked else ("utf-8-sig", ""), ("cp1252", "cp1252")):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            raise MomabError("this is not a CSV table: it has bytes that no text has.")
        return text, name
    raise MomabError("this is not a CSV table in UTF-8 or cp1252; save it as UTF-8.")


def _column(name: str, values: pd.Series[Any]) -> dict[str, Any]:
    """What a column holds: numbers with their range, or texts with how many there are."""
    found: dict[str, Any] = {"name": name, "number": False, "distinct": values.nunique()}
    if values.dtype == bool:
        return found
    try:
        numbers = as_numbers(values, name)  # a decimal comma makes a number, too
    except MomabError:
        return found
    numbers = numbers[~np.isnan(numbers)]
    found["number"] = len(numbers) > 0
    if len(numbers) and np.abs(numbers).max() < 1e300:
        low, high = float(numbers.min()), float(numbers.max())
        found |= {"low": low, "high": high, "range": suggested_range(low, high)}
    return found


def _forget_old(folder: Path) -> None:
    kept = sorted(folder.glob("[!.]*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[_KEEP:]:
        shutil.rmtree(path, ignore_errors=True)


RACE = parse_cell(
    """missing: str = "error"  # rows with a missing value {error, drop}
horizon: int = 20_000  # rounds per run of the race [100, 10_000_000]
runs: int = 20  # runs per policy [2, 10_000]
seed: int = 1  # seed of the race and of the redrawn tables [0, 2_147_483_647]""",
    "the form of a study",
)
"""What a study is told besides its columns."""


def study_of(folder: Path, request: Mapping[str, Any]) -> own.Request:
    """What a form asks about a table that was taken; the table is read and checked here.

    The request names the table, its column of arms and its reward columns, with their ranges,
    their units, and those of which less is better.
    """
    id, arm = str(request.get("table")), request.get("arm")
    found = sorted((folder / id).glob("*.csv")) if re.fullmatch(r"[0-9a-f]{16}", id) else []
    if not found:
        raise MomabError("that table is not here any more; drop it again.")
    if not isinstance(arm, str) or not arm:
        raise MomabError("choose the column that names the arm.")
    objectives = _texts(request.get("objectives"), "choose the reward columns.")
    if not objectives:
        raise MomabError("choose at least one reward column.")
    minimize = _texts(request.get("minimize") or [], "say of which columns less is better.")
    scale = _mapping(request.get("scale"), "the ranges of the columns are not readable.")
    units = _mapping(request.get("units"), "the units of the columns are not readable.")
    values = _mapping(request.get("values"), "the values are not readable.")
    for name in values:
        if name not in RACE:
            raise MomabError(
                f"a study takes no parameter {name[:40]!r}; it takes {', '.join(RACE)}."
            )
    race: Any = {name: p.check(values.get(name, p.default)) for name, p in RACE.items()}
    described = json.loads((folder / id / "table.json").read_text(encoding="utf-8"))
    asked = own.Request(
        table=str(found[0].resolve()),
        arm=arm,
        objectives=objectives,
        units=units,
        scale=parse_scale(f"{column}={low_high}" for column, low_high in scale.items()),
        minimize=minimize,
        encoding=described.get("encoding", ""),
        **race,
    )
    asked.clean()
    return asked


def _texts(found: object, otherwise: str) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise MomabError(otherwise)
    return found


def _mapping(found: object, otherwise: str) -> dict[str, str]:
    found = {} if found is None else found
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise MomabError(otherwise)
    return found
