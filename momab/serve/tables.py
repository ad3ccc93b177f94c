"""A visitor's own table: taken if it is one, kept under its name, described by its columns."""

from __future__ import annotations

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

from momab.errors import MomabError
from momab.model.tables import DELIMITERS, parse_scale, read_table

if TYPE_CHECKING:
    import pandas as pd

LIMIT = 20 * 2**20
"""The largest table that is taken, in bytes."""

_COLUMNS = 500
_KEEP = 50
_keeping = threading.Lock()


def keep_table(folder: Path, name: str, data: bytes) -> dict[str, Any]:
    """Keep a CSV table below a folder; return its name and what its columns hold."""
    first = _text(data).partition("\n")[0]
    if max(map(first.count, DELIMITERS.values())) >= _COLUMNS:
        raise MomabError(f"a table may have {_COLUMNS} columns; this one has more.")
    id = hashlib.sha256(data).hexdigest()[:16]
    stem = re.sub(r"[^\w -]+", "-", Path(name).stem).strip(" -")[:60] or "table"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as temporary:
        new, old = Path(temporary, "new"), Path(temporary, "old")
        new.mkdir()
        (new / f"{stem}.csv").write_bytes(data)
        frame = _read(new / f"{stem}.csv")
        described = {
            "id": id,
            "name": stem,
            "rows": len(frame),
            "columns": [_column(str(name), frame[name]) for name in frame.columns],
        }
        (new / "table.json").write_text(json.dumps(described), encoding="utf-8")
        with _keeping:  # two tabs may drop the same table at once
            if (folder / id).exists():
                os.rename(folder / id, old)
            os.rename(new, folder / id)
            _forget_old(folder)
    return described


def _read(path: Path) -> pd.DataFrame:
    """The table as the study will read it."""
    try:
        frame = read_table(path, [])
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


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MomabError("this is not a CSV table in UTF-8.") from None
    if "\0" in text:
        raise MomabError("this is not a CSV table: it has bytes that no text has.")
    return text


def _column(name: str, values: Any) -> dict[str, Any]:
    """What a column holds: numbers with their range, or texts with how many there are."""
    import pandas as pd

    number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    found: dict[str, Any] = {"name": name, "number": bool(number), "distinct": values.nunique()}
    if number and values.notna().any():
        low, high = float(values.min()), float(values.max())
        if all(abs(x) < 1e300 for x in (low, high)):
            found |= {"low": low, "high": high}
    return found


def _forget_old(folder: Path) -> None:
    kept = sorted(folder.glob("[!.]*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[_KEEP:]:
        shutil.rmtree(path, ignore_errors=True)


def study_of(folder: Path, request: Mapping[str, Any], values: Mapping[str, str]) -> list[str]:
    """The values of the page on own data for a table that was taken; it is read and checked here.

    The request names the table, its column of arms, its reward columns and their ranges.
    """
    from momab.chapters.own_data import study_assignments

    id, arm = request.get("table"), request.get("arm")
    objectives, scale = request.get("objectives"), request.get("scale") or {}
    found = (
        sorted((folder / str(id)).glob("*.csv")) if re.fullmatch(r"[0-9a-f]{16}", str(id)) else []
    )
    if not found:
        raise MomabError("that table is not here any more; drop it again.")
    if not isinstance(arm, str) or not arm:
        raise MomabError("choose the column that names the arm.")
    if not isinstance(objectives, list) or not all(isinstance(o, str) for o in objectives):
        raise MomabError("choose the reward columns.")
    if not objectives:
        raise MomabError("choose at least one reward column.")
    if not isinstance(scale, dict):
        raise MomabError("the ranges of the columns are not readable.")
    ranges = parse_scale(f"{column}={low_high}" for column, low_high in scale.items())
    reading = {"scale": ranges, "missing": values.get("missing", "error")}
    return study_assignments(found[0], arm, objectives, reading, values)
