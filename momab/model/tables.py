"""Instances from tables that people have: CSV files of all dialects, Parquet, Excel, data frames.

A table has one row per observed reward vector: a column that names the arm, and columns of rewards.
Nothing is guessed that changes a number.  The delimiter is the one that splits the first line into
the columns that were asked for; a byte order mark says what the encoding is, and without one it is
UTF-8; a comma in a number is a decimal comma where no other reading is possible.  Everything else
is named by the caller, or refused with the rows that are the trouble.
"""

from __future__ import annotations

import codecs
import gzip
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momab._util.extras import require
from momab._util.validate import FloatArray
from momab.errors import MomabError
from momab.model.instances import Instance, from_rows

if TYPE_CHECKING:
    import pandas as pd

Scale = Mapping[str, tuple[float, float]]

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
MISSING = ("error", "drop")
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DECIMAL_COMMA = r"[+-]?\d+,\d+"


def from_frame(
    frame: pd.DataFrame,
    arm: str,
    objectives: Sequence[str],
    scale: Scale | None = None,
    name: str = "table",
    *,
    minimize: Sequence[str] = (),
    missing: str = "error",
) -> Instance:
    """An instance from a user's table: one row per observed reward vector.

    Column ``arm`` says which arm a row belongs to, the columns ``objectives`` are its
    rewards.  Rewards must lie in [0, 1]; ``scale={"loudness": (-60, 0)}`` maps a column
    affinely from that range onto [0, 1] first, and ``{"latency_ms": (2000, 0)}`` maps 2000 to 0 and
    0 to 1, for a column of which less is better; so does ``minimize`` for columns in [0, 1] or with
    a rising scale.  Names are stripped of blanks around them, and arms are sorted by name.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observed reward vector.
    arm : str
        The column that names the arm.
    objectives : sequence of str
        The columns of the rewards.
    scale : mapping, optional
        The range of a column that does not lie in [0, 1].
    name : str, optional
        The name of the instance.
    minimize : sequence of str, optional
        The objectives of which less is better.
    missing : {"error", "drop"}, optional
        What becomes of rows in which a value is missing.

    Returns
    -------
    Instance

    Raises
    ------
    MomabError
        If a column is missing, or a reward is missing or outside [0, 1].
    """
    cleaned = clean_frame(frame, arm, objectives, scale, minimize=minimize, missing=missing)
    tables = {label: cleaned.rewards[cleaned.arms == label] for label in cleaned.names}
    return from_rows(tables, objective_names=list(objectives), name=name)


@dataclass(frozen=True)
class Cleaned:
    """A table as it is used: the rows that are kept, in the units of the file and as rewards."""

    arms: Any  # the name of the arm of every row
    values: FloatArray  # one column per objective, as the file has them
    rewards: FloatArray  # the same on [0, 1], where more is better
    rows: int  # of the file
    absent: dict[str, int]  # how many rows lack a value, by column

    @property
    def names(self) -> list[str]:
        """The arms, sorted."""
        return sorted(set(self.arms))


def clean_frame(
    frame: pd.DataFrame,
    arm: str,
    objectives: Sequence[str],
    scale: Scale | None = None,
    *,
    minimize: Sequence[str] = (),
    missing: str = "error",
) -> Cleaned:
    """Make numbers of a table and leave out what is missing; all faults are said at once.

    Parameters and errors are those of :func:`from_frame`.
    """
    columns, ranges, downwards = list(objectives), dict(scale or {}), set(minimize)
    if missing not in MISSING:
        raise MomabError(f"missing must be one of {', '.join(MISSING)}; it is {missing!r}.")
    frame = frame.rename(columns=lambda column: str(column).strip())
    _require_columns(frame, arm, columns, ranges, downwards)
    if frame.empty:
        raise MomabError("the table has no rows.")
    frame = frame[[arm, *columns]].reset_index(drop=True)
    labels = frame[arm].astype("string").str.strip()
    labels = labels.mask(labels == "")
    numbers, faults = _every(columns, lambda column: as_numbers(frame[column], column))
    absent = {arm: labels.isna().to_numpy()} | {c: np.isnan(n) for c, n in numbers.items()}
    keep = ~np.logical_or.reduce(list(absent.values()))
    gaps = [(column, where) for column, where in absent.items() if where.any()]
    if missing == "error" and gaps:
        faults += [f"column {column!r} has no value in {_rows(where)}" for column, where in gaps]
        faults[-1] += (
            "; fill it in, or leave such rows out with missing='drop' (on the command line "
            "--missing drop)"
        )
    if not keep.any():
        raise MomabError("every row of the table has a missing value.")
    scaled, wrong = _every(
        list(numbers),
        lambda c: _scaled(numbers[c], c, ranges.get(c, (0.0, 1.0)), c in downwards),
    )
    faults += wrong + _outside(numbers, scaled, keep, ranges)
    if faults:
        raise MomabError("; and ".join(faults) + ".")
    return Cleaned(
        labels[keep].to_numpy(dtype=str),
        np.column_stack([numbers[c][keep] for c in columns]),
        np.column_stack([scaled[c][keep] for c in columns]),
        len(frame),
        {column: int(where.sum()) for column, where in absent.items()},
    )


def _every(
    columns: Sequence[str], convert: Callable[[str], FloatArray]
) -> tuple[dict[str, FloatArray], list[str]]:
    """Convert every column that can be; and what is wrong with the others."""
    converted, faults = {}, []
    for column in columns:
        try:
            converted[column] = convert(column)
        except MomabError as error:
            faults.append(str(error).removesuffix("."))
    return converted, faults


def _require_columns(
    frame: pd.DataFrame, arm: str, columns: Sequence[str], ranges: Scale, downwards: Iterable[str]
) -> None:
    if not columns:
        raise MomabError("objectives must name at least one column.")
    if arm in columns:
        raise MomabError(f"the column {arm!r} names the arms; it cannot be an objective as well.")
    for column in columns:
        if columns.count(column) > 1:
            raise MomabError(f"objectives names {column!r} twice; name it once.")
    absent = [repr(column) for column in (arm, *columns) if column not in frame.columns]
    if absent:
        known = ", ".join(map(str, frame.columns))
        word = "column" if len(absent) == 1 else "columns"
        raise MomabError(f"the table has no {word} {', '.join(absent)}; its columns are: {known}.")
    twice = frame.columns[frame.columns.duplicated()]
    for column in [arm, *columns]:
        if column in twice:
            raise MomabError(f"the table has two columns {column!r}; rename one of them.")
    for what, named in (("scale", ranges), ("minimize", downwards)):
        for column in named:
            if column not in columns:
                raise MomabError(f"{what} names {column!r}, which is not one of the objectives.")


def _rows(where: Any, most: int = 3) -> str:
    """Row numbers, from 1, the first few of them."""
    numbers = [str(i + 1) for i in np.flatnonzero(where)]
    word = "row" if len(numbers) == 1 else "rows"
    more = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return f"{word} {', '.join(numbers[:most])}{more}"


def as_numbers(values: pd.Series[Any], column: str) -> FloatArray:
    """A column as numbers, NaN where there is none; texts are refused with their rows."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(values) or pd.api.types.is_numeric_dtype(values):
        array = values.to_numpy(dtype=float, na_value=np.nan)
    else:
        text = values.astype("string").str.strip()
        text = text.mask(text == "")
        comma = text.str.fullmatch(_DECIMAL_COMMA)
        plain = pd.to_numeric(text, errors="coerce")
        if comma.any() and bool((comma | plain.notna() | text.isna()).all()):
            text = text.where(~comma.fillna(False), text.str.replace(",", ".", regex=False))
            plain = pd.to_numeric(text, errors="coerce")
        wrong = (plain.isna() & text.notna()).to_numpy(dtype=bool)
        if wrong.any():
            entry = str(values.iloc[int(np.flatnonzero(wrong)[0])])[:40]
            raise MomabError(
                f"column {column!r} must hold numbers; in {_rows(wrong)} it does not, "
                f"the first being {entry!r}."
            )
        array = plain.to_numpy(dtype=float, na_value=np.nan)
    if np.isinf(array).any():
        where = _rows(np.isinf(array))
        raise MomabError(f"column {column!r} must be finite; it is not in {where}.")
    return array


def _scaled(
    values: FloatArray, column: str, span: tuple[float, float], downwards: bool
) -> FloatArray:
    """A column mapped from its range onto [0, 1], where more is better."""
    low, high = span
    if not (np.isfinite(low) and np.isfinite(high)) or low == high:
        raise MomabError(f"scale for {column!r} must be two different finite numbers.")
    if downwards and low > high:
        raise MomabError(
            f"minimize names {column!r}, whose scale falls from {low:g} to {high:g} already; "
            "say it once."
        )
    if downwards:
        low, high = high, low
    mapped: FloatArray = (values - low) / (high - low)
    return mapped


def _outside(
    numbers: Mapping[str, FloatArray], scaled: Mapping[str, FloatArray], keep: Any, ranges: Scale
) -> list[str]:
    """Which columns leave their ranges in the kept rows; the last sentence suggests others."""
    faults, wanted = [], {}
    for column, mapped in scaled.items():
        outside = keep & ((mapped < 0) | (mapped > 1))
        if outside.any():
            span, seen = ranges.get(column, (0.0, 1.0)), numbers[column][keep]
            wanted[column] = suggested_range(seen.min(), seen.max())
            faults.append(
                f"column {column!r} must lie in [{min(span):g}, {max(span):g}], but it ranges over "
                f"[{seen.min():g}, {seen.max():g}], outside in {_rows(outside)}"
            )
    if faults:
        scale = ", ".join(f"{c!r}: ({r.replace(':', ', ')})" for c, r in wanted.items())
        options = " ".join(f"--scale {shlex.quote(f'{c}={r}')}" for c, r in wanted.items())
        faults[-1] += (
            f"; say which range is mapped onto [0, 1], for example scale={{{scale}}} "
            f"(on the command line {options})"
        )
    return faults


def suggested_range(low: float, high: float) -> str:
    """Round numbers around a column's values, as ``low:high``; from 0 where that is near."""
    if low >= 0 and high <= 1:
        return "0:1"
    step = 10.0 ** np.floor(np.log10(max(high - low, abs(high) * 1e-6, 1e-12)))
    start = 0.0 if 0 <= low <= high / 2 else step * np.floor(low / step)
    end = step * np.ceil(high / step)
    return f"{start:g}:{max(end, start + step):g}"


def from_csv(
    path: str | Path,
    arm: str,
    objectives: Sequence[str],
    scale: Scale | None = None,
    name: str | None = None,
    *,
    minimize: Sequence[str] = (),
    missing: str = "error",
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Instance:
    """An instance from a file: CSV (also .csv.gz), Parquet or Excel; see :func:`from_frame`.

    Parameters
    ----------
    path : path
        The file; its ending says what it is.
    arm : str
        The column that names the arm.
    objectives : sequence of str
        The columns of the rewards.
    scale : mapping, optional
        The range of a column that does not lie in [0, 1].
    name : str, optional
        The name of the instance; the file's unless given.
    minimize : sequence of str, optional
        The objectives of which less is better.
    missing : {"error", "drop"}, optional
        What becomes of rows in which a value is missing.
    delimiter : str, optional
        What separates the columns of a text, a character or its name; found unless given.
    encoding : str, optional
        How a text is encoded; by its byte order mark, or UTF-8, unless given.

    Returns
    -------
    Instance

    Raises
    ------
    MomabError
        If the file cannot be read, or is not such a table.
    """
    path = Path(path)
    frame = read_table(path, [arm, *objectives], delimiter, encoding)
    return from_frame(
        frame, arm, objectives, scale, name or path.stem, minimize=minimize, missing=missing
    )


def read_table(
    path: Path,
    columns: Sequence[str],
    delimiter: str | None = None,
    encoding: str | None = None,
) -> pd.DataFrame:
    """Read a file of any of the kinds; the columns that are wanted help to tell the delimiter."""
    import pandas as pd

    kind = path.suffix.lower()
    try:
        if kind in (".parquet", ".pq"):
            require("tables", "a Parquet file")
            return pd.read_parquet(path)
        if kind in (".xlsx", ".xlsm"):
            require("tables", "an Excel file")
            return pd.read_excel(path)
        encoding = encoding or _encoding(path)
        delimiter = DELIMITERS.get(delimiter or "", delimiter or "")
        if len(delimiter) > 1:
            known = ", ".join(DELIMITERS)
            raise MomabError(
                f"delimiter must be one character or one of {known}; it is {delimiter!r}."
            )
        delimiter = delimiter or _delimiter(path, columns, encoding)
        options: dict[str, Any] = {"sep": delimiter, "encoding": encoding, "skipinitialspace": True}
        # Refuses a second line that is longer than the first, from which the columns would shift.
        pd.read_csv(path, header=None, nrows=2, **options)
        frame: pd.DataFrame = pd.read_csv(path, **options)
        return frame
    except LookupError:
        raise MomabError(
            f"there is no encoding {encoding!r}; common ones are utf-8, utf-16, cp1252 and latin-1."
        ) from None
    except UnicodeError:
        raise MomabError(
            f"{path} cannot be read as {encoding or 'utf-8'}; name its encoding with "
            "encoding='cp1252' or another one (--encoding cp1252 on the command line)."
        ) from None
    except (OSError, ValueError) as error:
        what = "CSV" if kind not in (".parquet", ".pq", ".xlsx", ".xlsm") else kind[1:]
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise MomabError(f"cannot read {path} as a {what} table: {reason}.") from None


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _encoding(path: Path) -> str:
    """What the byte order mark says; UTF-8 where there is none."""
    with _opened(path) as file:
        head = file.read(4)
    return next((name for mark, name in _MARKS.items() if head.startswith(mark)), "utf-8")


def _delimiter(path: Path, columns: Sequence[str], encoding: str) -> str:
    """The delimiter that finds most of the wanted columns in the first line, then most columns."""
    with _opened(path) as file:
        first = file.read(1 << 16).decode(encoding, "ignore").lstrip("\r\n").splitlines()[:1]
    wanted = set(columns)

    def found(delimiter: str) -> tuple[int, int]:
        cells = [cell.strip().strip("\"'").strip() for cell in "".join(first).split(delimiter)]
        return len(wanted.intersection(cells)), len(cells)

    return max(DELIMITERS.values(), key=found)


def delimiter_name(delimiter: str) -> str:
    """The word for a delimiter, where it has one."""
    return next((word for word, sign in DELIMITERS.items() if sign == delimiter), delimiter)


def parse_scale(assignments: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Read ``column=low:high`` as the command line takes it."""
    found = {}
    for text in assignments:
        column, equals, bounds = text.rpartition("=")
        low, colon, high = bounds.partition(":")
        try:
            found[column.strip()] = (float(low), float(high))
        except ValueError:
            colon = ""
        if not (equals and colon and column.strip()):
            raise MomabError(
                f"--scale takes column=low:high, for example loudness=-60:0; it is {text!r}."
            )
    return found
