"""YAML that people write, read into models: every fault is one sentence with its place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from momab.errors import MomabError

Model = TypeVar("Model", bound="Strict")


class Strict(BaseModel):
    """A part of a YAML file that may hold the stated keys only."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Open(Strict):
    """A part of a YAML file that others read, too; its other keys are theirs."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def read_yaml(path: Path, model: type[Model], what: str) -> Model:
    """A YAML file as a model; ``what`` names the file in complaints."""
    return fit(load_yaml(path, what), model, what)


def load_yaml(path: Path, what: str) -> Any:
    """What a YAML file holds."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise MomabError(f"{what} is not readable YAML (it is not a text in UTF-8).") from None
    except ValueError as error:  # no file has a null byte in its name
        raise FileNotFoundError(str(error)) from None
    return parse_yaml(text, what)


def parse_yaml(text: str, what: str) -> Any:
    """What a text in YAML holds."""
    import yaml

    try:
        # the compiled one reads the ledger in a tenth of the time
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise MomabError(f"{what} is not readable YAML ({reason}).") from None


def fit(content: Any, model: type[Model], what: str) -> Model:
    """Some YAML content as a model; raises MomabError that names the first fault."""
    try:
        return model.model_validate({} if content is None else content)
    except ValidationError as error:
        raise MomabError(f"{what} {_fault(error, model)}.") from None


def _fault(error: ValidationError, model: type[Strict]) -> str:
    """The first fault in words."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    keys = ", ".join(_keys(model, first["loc"]))
    if first["type"] == "value_error":
        why = str(first["ctx"]["error"])
        return f"is not right: {place!r} {why}" if place else f"is not right: {why}"
    if first["type"] == "extra_forbidden":
        return f"has the key {place!r}; it may only hold the keys {keys}"
    if not place:
        return f"may only hold the keys {keys}"
    if first["type"] in ("missing", "string_too_short"):
        return f"lacks the key {place!r}"
    expected = first["msg"].removeprefix("Input should be ")
    return f"has a {place!r} that is not {expected}; it may only hold the keys {keys}"


def _keys(model: type[Strict], place: Sequence[int | str]) -> list[str]:
    """The keys that are allowed around a place, as deep as it goes into models."""
    for part in place:
        field = model.model_fields.get(str(part))
        if field is None or not isinstance(field.annotation, type):
            break
        if issubclass(field.annotation, Strict):
            model = field.annotation
    return list(model.model_fields)
