"""Notebook parameters: where they are stated, how a value is checked.

A notebook states its parameters once, in the cell tagged ``parameters``, one per line, in the
form that papermill reads::

    horizon: int = 100_000  # rounds per run [10, 10_000_000]
    radius: float = 2.0  # coefficient c of the confidence radius (0, 10]
    family: str = "crowd"  # which instance to draw {crowd, duplicated}
    deltas: list[float] = [0.12, 0.02]  # Pareto gaps to compare (0, 0.5]

The comment is the meaning, and its end is what is allowed: an interval for numbers (square
brackets include the end, round ones do not; for a list it holds for every entry), a set of
words for strings.  Everything is checked before a kernel starts, and every complaint is one
sentence that says what is allowed.
"""

from __future__ import annotations

import ast
import io
import itertools
import math
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from momab.book.yaml_files import Strict, read_yaml
from momab.errors import MomabError

Value = int | float | bool | str | list[int] | list[float]
Values = dict[str, Value]

_NUMBER = r"[-+]?[\d._]+(?:[eE][-+]?\d+)?"
_INTERVAL = re.compile(rf"\s*([\[(])\s*({_NUMBER})\s*,\s*({_NUMBER})\s*([\])])\s*$")
_CHOICES = re.compile(r"\s*\{([^{}]*)\}\s*$")
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "list[int]": "a list of whole numbers such as [1,2]",
    "list[float]": "a list of numbers such as [0.1,0.2]",
}
_BOOLS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Interval:
    """The numbers a parameter may take."""

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, value: object) -> bool:
        """Whether a number lies inside."""
        if not isinstance(value, int | float):
            return False
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below

    def __str__(self) -> str:
        """Write it as it stands in a notebook."""
        left, right = "(" if self.low_open else "[", ")" if self.high_open else "]"
        return f"{left}{number_text(self.low)}, {number_text(self.high)}{right}"


@dataclass(frozen=True)
class Parameter:
    """One parameter of one notebook, as its ``parameters`` cell states it."""

    name: str
    kind: str
    default: Value
    meaning: str
    interval: Interval | None = None
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        kind = _KINDS[self.kind]
        return f"{kind} in {self.interval}" if self.interval else kind

    def check(self, raw: object) -> Value:
        """Turn a value from a command line or a YAML file into one of the right type.

        Raises MomabError, naming what is allowed, when it is of the wrong type or outside
        the range.  ``1e5`` is a whole number.
        """
        value = _convert(raw, self.kind)
        bad = value is None
        entries = value if isinstance(value, list) else [value]
        if not bad and self.interval is not None:
            bad = not entries or any(entry not in self.interval for entry in entries)
        if not bad and self.choices:
            bad = value not in self.choices
        if bad:
            shown = raw if isinstance(raw, str) else repr(raw)
            raise MomabError(f"{self.name} must be {self.allowed}; it is {shown}.")
        assert value is not None
        return value


def number_text(value: float) -> str:
    """Write a number the way people read it: 10,000,000 rather than 1e+07."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def value_text(value: Value) -> str:
    """Write a value the way ``-p name=value`` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ",".join(value_text(entry) for entry in value) + "]"
    return str(value)


def _convert(raw: object, kind: str) -> Value | None:
    """A value of the given kind, or None if that cannot be."""
    if kind.startswith("list["):
        if isinstance(raw, str):
            try:
                raw = ast.literal_eval(raw)
            except (ValueError, SyntaxError):
                return None
        if not isinstance(raw, list | tuple):
            return None
        entries = [_convert(entry, kind[5:-1]) for entry in raw]
        return None if any(entry is None for entry in entries) else entries  # type: ignore[return-value]
    if kind == "str":
        return raw if isinstance(raw, str) else None
    if kind == "bool":
        return raw if isinstance(raw, bool) else _BOOLS.get(str(raw).strip().lower())
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        return None
    try:
        number = int(raw) if kind == "int" and not isinstance(raw, float) else float(raw)
    except (ValueError, OverflowError):
        try:
            number = float(raw)
        except (ValueError, OverflowError):
            return None
    if not math.isfinite(number):
        return None
    if kind == "int":
        return int(number) if float(number).is_integer() else None
    return float(number)


def parse_cell(source: str, where: str) -> dict[str, Parameter]:
    """The parameters that a ``parameters`` cell states, in its order."""
    try:
        statements = ast.parse(source).body
    except SyntaxError as error:
        raise MomabError(f"{where}: the parameters cell is not Python ({error.msg}).") from None
    comments = {
        token.end[0]: token.string.lstrip("#").strip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    found = {}
    for statement in statements:
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            raise MomabError(
                f"{where}: the parameters cell may only hold lines such as "
                f"'horizon: int = 1000  # rounds per run [10, 1_000_000]'; "
                f"it has '{ast.unparse(statement)}'."
            )
        comment = comments.get(statement.end_lineno or 0, "")
        found[statement.target.id] = _parse_one(statement, comment, where)
    return found


def _parse_one(statement: ast.AnnAssign, meaning: str, where: str) -> Parameter:
    name, kind = ast.unparse(statement.target), ast.unparse(statement.annotation)
    if kind not in _KINDS:
        raise MomabError(
            f"{where}: parameter {name} has the type {kind}; allowed: {', '.join(_KINDS)}."
        )
    interval: Interval | None = None
    choices: tuple[str, ...] = ()
    if match := _INTERVAL.search(meaning):
        left, low, high, right = match.groups()
        interval = Interval(float(low), float(high), left == "(", right == ")")
    elif match := _CHOICES.search(meaning):
        choices = tuple(word.strip().strip("\"'") for word in match[1].split(","))
    elif kind not in ("str", "bool"):
        raise MomabError(
            f"{where}: parameter {name} states no range; end its comment with one such as [1, 100]."
        )
    if match:
        meaning = meaning[: match.start()]
    parameter = Parameter(name, kind, 0, meaning, interval, choices)
    try:
        default = parameter.check(_literal(statement.value))
    except MomabError as error:
        raise MomabError(f"{where}: the default of {error}") from None
    return replace(parameter, default=default)


def _literal(value: ast.expr | None) -> object:
    """The value of a constant expression; None, which no parameter may be, of any other."""
    try:
        return ast.literal_eval(value) if value is not None else None
    except ValueError:
        return None


def rewrite_cell(source: str, values: Mapping[str, Value]) -> str:
    """The ``parameters`` cell with other defaults, everything else as it was."""
    lines = source.splitlines()
    for statement in reversed(ast.parse(source).body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        old, name = statement.value, statement.target.id
        if old is None or name not in values or ast.literal_eval(old) == values[name]:
            continue
        value = values[name]
        text = f"{value:_}" if type(value) is int else repr(value)
        assert old.end_lineno is not None
        assert old.end_col_offset is not None
        first, last = lines[old.lineno - 1], lines[old.end_lineno - 1]
        joined = first[: old.col_offset] + text + last[old.end_col_offset :]
        lines[old.lineno - 1 : old.end_lineno] = [joined]
    return "\n".join(lines)


@dataclass(frozen=True)
class Settings:
    """Requested values: for every notebook that takes the parameter, and per notebook."""

    everywhere: Mapping[str, object]
    per_notebook: Mapping[str, Mapping[str, object]]


def read_assignments(assignments: Iterable[str]) -> Settings:
    """Settings from ``name=value`` and ``notebook.name=value`` on the command line."""
    everywhere: dict[str, object] = {}
    per_notebook: dict[str, dict[str, object]] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name or not value.strip():
            raise MomabError(f"-p takes name=value, for example -p seed=7; it is {text!r}.")
        notebook, dot, short = name.rpartition(".")
        target = per_notebook.setdefault(notebook, {}) if dot else everywhere
        target[short if dot else name] = value.strip()
    return Settings(everywhere, per_notebook)


def profile_names(folder: Path) -> list[str]:
    """The profiles that come with the book."""
    return sorted((path.stem for path in folder.glob("*.yml")), key=lambda n: (n != "quick", n))


class ProfileFile(Strict):
    """A profile's file: values for every notebook that takes them, and for one notebook."""

    description: str = ""
    parameters: dict[str, Any] | None = None
    notebooks: dict[str, dict[str, Any]] | None = None


def read_profile(profile: str, folder: Path) -> Settings:
    """Settings from a profile: one that comes with the book, or the user's own YAML file.

    The file has up to three keys: ``description``, ``parameters`` (values for every notebook
    that takes them) and ``notebooks`` (values for one notebook).
    """
    path = folder / f"{profile}.yml"
    if not path.is_file():
        path = Path(profile)
    try:
        content = read_yaml(path, ProfileFile, f"the profile {path}")
    except OSError:
        known = ", ".join(profile_names(folder))
        raise MomabError(
            f"no profile {profile!r}: it must be one of {known}, or the path of a YAML file."
        ) from None
    return Settings(content.parameters or {}, content.notebooks or {})


def resolve(
    books: Mapping[str, Mapping[str, Parameter]], layers: Sequence[Settings]
) -> dict[str, Values]:
    """Every notebook's values: its defaults, overridden layer by layer, all checked."""
    everything = sorted({name for parameters in books.values() for name in parameters})
    values: dict[str, Values] = {
        book: {name: parameter.default for name, parameter in parameters.items()}
        for book, parameters in books.items()
    }
    for layer in layers:
        for name, raw in layer.everywhere.items():
            takers = [book for book, parameters in books.items() if name in parameters]
            if not takers:
                raise MomabError(_unknown(name, everything, "no notebook takes a"))
            for book in takers:
                values[book][name] = books[book][name].check(raw)
        for book, settings in layer.per_notebook.items():
            if book not in books:
                raise MomabError(f"no notebook {book!r}; there are {', '.join(sorted(books))}.")
            for name, raw in settings.items():
                if name not in books[book]:
                    raise MomabError(
                        _unknown(name, list(books[book]), f"the notebook {book} takes no")
                    )
                values[book][name] = books[book][name].check(raw)
    return values


def _unknown(name: str, known: Sequence[str], who: str) -> str:
    return f"{who} parameter {name!r}; known parameters: {', '.join(known) or 'none'}."


def sweep(settings: Settings) -> list[Settings]:
    """One Settings per combination of the comma-separated values (``horizon=1e4,1e5``)."""
    spots: list[tuple[str, str]] = [("", name) for name in settings.everywhere]
    spots += [(book, name) for book, values in settings.per_notebook.items() for name in values]
    options = []
    for book, name in spots:
        raw = settings.per_notebook[book][name] if book else settings.everywhere[name]
        options.append(re.split(r",(?![^\[]*\])", raw) if isinstance(raw, str) else [raw])
    combinations = list(itertools.product(*options))
    if len(combinations) > 200:
        raise MomabError(f"a sweep makes at most 200 pages; this one has {len(combinations)}.")
    result = []
    for combination in combinations:
        everywhere: dict[str, object] = {}
        per_notebook: dict[str, dict[str, object]] = {}
        for (book, name), value in zip(spots, combination, strict=True):
            (per_notebook.setdefault(book, {}) if book else everywhere)[name] = value
        result.append(Settings(everywhere, per_notebook))
    return result


def parameter_summary(books: Mapping[str, Mapping[str, Parameter]]) -> list[tuple[str, ...]]:
    """One row per distinct parameter: name, type, default, allowed, meaning, notebooks."""
    takers: dict[Parameter, list[str]] = {}
    for book, parameters in books.items():
        for parameter in parameters.values():
            takers.setdefault(_hashable(parameter), []).append(book)
    return [
        (p.name, p.kind, value_text(p.default), p.allowed, p.meaning, ", ".join(names))
        for p, names in sorted(takers.items(), key=lambda item: (item[0].name, item[1]))
    ]


def _hashable(parameter: Parameter) -> Parameter:
    default = parameter.default
    frozen: Any = tuple(default) if isinstance(default, list) else default
    return replace(parameter, default=frozen)
