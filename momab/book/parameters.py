"""Notebook parameters: values from profiles and the command line, checked and swept.

A notebook states its parameters once, in the cell tagged ``parameters``, one per line, in the
form that papermill reads (`momab._util.parameters` says how)::

    horizon: int = 100_000  # rounds per run [10, 10_000_000]

Everything is checked before a kernel starts, and every complaint is one sentence that says what is
allowed.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from momab._util.parameters import Interval as Interval
from momab._util.parameters import Parameter as Parameter
from momab._util.parameters import Value as Value
from momab._util.parameters import Values as Values
from momab._util.parameters import cut_text
from momab._util.parameters import parse_cell as parse_cell
from momab._util.parameters import value_text as value_text
from momab._util.yaml_files import Strict, read_yaml
from momab.errors import MomabError


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


def only_for(settings: Settings, name: str, parameters: Mapping[str, Parameter]) -> Settings:
    """Of some settings only what concerns one notebook."""
    taken = {key: value for key, value in settings.everywhere.items() if key in parameters}
    return Settings({}, {name: {**taken, **settings.per_notebook.get(name, {})}})


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
        if not short or (dot and not notebook):
            raise MomabError(
                f"-p takes name=value or notebook.name=value; before the = stands {name!r}."
            )
        target = per_notebook.setdefault(notebook, {}) if dot else everywhere
        key = short if dot else name
        if key in target:
            raise MomabError(
                f"-p {name} is given twice; for a sweep write -p {name}={target[key]},"
                f"{value.strip()}."
            )
        target[key] = value.strip()
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
    books: Mapping[str, Mapping[str, Parameter]],
    layers: Sequence[Settings],
    tell: Callable[[str], None] = lambda sentence: None,
) -> dict[str, Values]:
    """Every notebook's values: its defaults, overridden layer by layer, all checked.

    A value for every notebook must fit one of them.  In the others it is brought into the range,
    or left out where there is no nearest value; ``tell`` hears a sentence about it.
    """
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
            for book, value in _everywhere(name, raw, {b: books[b][name] for b in takers}, tell):
                values[book][name] = value
        for book, settings in layer.per_notebook.items():
            if book not in books:
                raise MomabError(f"no notebook {book!r}; there are {', '.join(sorted(books))}.")
            for name, raw in settings.items():
                if name not in books[book]:
                    raise MomabError(
                        _unknown(name, list(books[book]), f"the notebook {book} takes no")
                    )
                values[book][name] = _checked(books[book][name], raw, book)
    return values


def _checked(parameter: Parameter, raw: object, book: str) -> Value:
    """A value for one notebook; a complaint names it."""
    try:
        return parameter.check(raw)
    except MomabError as error:
        raise MomabError(f"{book}: {error}") from None


def _everywhere(
    name: str, raw: object, takers: Mapping[str, Parameter], tell: Callable[[str], None]
) -> list[tuple[str, Value]]:
    """The value of a parameter in every notebook that takes it."""
    found: dict[str, Value] = {}
    errors: dict[str, MomabError] = {}
    for book, parameter in takers.items():
        try:
            found[book] = _checked(parameter, raw, book)
        except MomabError as error:
            errors[book] = error
    if errors and not found:
        raise next(iter(errors.values()))
    for book in errors:
        nearest = takers[book].fit(raw)
        if nearest is None:
            tell(f"{book}: {name}={cut_text(raw)} is left out; allowed is {takers[book].allowed}.")
        else:
            tell(
                f"{book}: {name}={value_text(nearest)} instead of {cut_text(raw)}; "
                f"allowed is {takers[book].allowed}."
            )
            found[book] = nearest
    return list(found.items())


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
