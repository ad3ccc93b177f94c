"""Parameters of a notebook: how its cell states them, and how a value is checked.

The cell tagged ``parameters`` states them, one per line, in the form that papermill reads::

    horizon: int = 100_000  # rounds per run [10, 10_000_000]
    radius: float = 2.0  # coefficient c of the confidence radius (0, 10]
    family: str = "crowd"  # which instance to draw {crowd, duplicated}
    deltas: list[float] = [0.12, 0.02]  # Pareto gaps to compare (0, 0.5]

The comment is the meaning, and its end is what is allowed: an interval for numbers (square
brackets include the end, round ones do not; for a list it holds for every entry), a set of
words for strings.  Imports may stand in the same cell.

A downloaded notebook checks itself: `check`, in the cell behind the parameters, looks
the cell up among those that were run, so a reader who sets values there (by hand,
with papermill) is told in one sentence what is allowed.
"""

from __future__ import annotations

import ast
import io
import math
import re
import sys
import tokenize
from dataclasses import dataclass, replace
from typing import Any

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
        """Write it as a notebook has it."""
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
            raise MomabError(f"{self.name} must be {self.allowed}; it is {_quoted(raw)}.")
        assert value is not None
        return value

    def fit(self, raw: object) -> Value | None:
        """The allowed value next to a number outside the range; None where there is none."""
        value = _convert(raw, self.kind)
        if self.interval is None or isinstance(value, bool | str | list) or value is None:
            return None
        low, high = self.interval.low, self.interval.high
        edge = low if value < low else high
        return self.check(edge) if edge in self.interval else None


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
    number: int | float
    try:
        number = int(raw) if kind == "int" and not isinstance(raw, float) else float(raw)
    except (ValueError, OverflowError):
        try:
            number = float(raw)
        except (ValueError, OverflowError):
            return None
    if isinstance(number, int):  # of any number of digits
        return number
    if not math.isfinite(number):
        return None
    if kind == "int":
        return int(number) if number.is_integer() else None
    return number


def _quoted(raw: object) -> str:
    """A value as a sentence may end with it: in quotes where it has no letter and no digit."""
    text = cut_text(raw)
    return text if re.search(r"\w$", text) else repr(text)


def cut_text(raw: object) -> str:
    """A value as a sentence can hold it."""
    try:
        text = raw if isinstance(raw, str) else repr(raw)
    except ValueError:  # Python refuses to write whole numbers of thousands of digits
        return "a number of thousands of digits"
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:40]}… ({len(text)} characters)"


def parse_cell(source: str, where: str, defaults: bool = True) -> dict[str, Parameter]:
    """The parameters that a ``parameters`` cell states, in its order, perhaps with defaults."""
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
        if isinstance(statement, ast.Import | ast.ImportFrom):  # a page's first cell has both
            continue
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            raise MomabError(
                f"{where}: the parameters cell may only hold imports and lines such as "
                f"'horizon: int = 1000  # rounds per run [10, 1_000_000]'; "
                f"it has '{ast.unparse(statement)}'."
            )
        comment = comments.get(statement.end_lineno or 0, "")
        found[statement.target.id] = _parse_one(statement, comment, where, defaults)
    return found


def _parse_one(statement: ast.AnnAssign, meaning: str, where: str, defaults: bool) -> Parameter:
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
    if not defaults:
        return parameter
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


def check() -> None:
    """Check the parameters of the notebook that calls this, and give them their types.

    The last cell that was run and states parameters says what is allowed; ``1e5`` becomes a whole
    number where one is asked for.  Outside of a notebook there is nothing to check.

    Raises
    ------
    MomabError
        If a value is not allowed; the sentence says what is.
    """
    shell = _shell()
    if shell is None:
        return
    stated = next(filter(None, map(_stated, reversed(shell.user_ns.get("In", [])))), {})
    for name, parameter in stated.items():
        if name in shell.user_ns:
            shell.user_ns[name] = parameter.check(shell.user_ns[name])


def _shell() -> Any:
    """IPython, if it runs this."""
    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _stated(source: str) -> dict[str, Parameter]:
    """The parameters that a cell states; none if it is a cell of another kind."""
    try:
        return parse_cell(source, "the notebook", defaults=False)
    except (MomabError, tokenize.TokenError):
        return {}
