"""YAML that people write, read into models: every fault is one sentence with its place."""

from __future__ import annotations

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
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        reason = str(error).splitlines()[0]
        raise MomabError(f"{what} is not readable YAML ({reason}).") from None
    return fit(content, model, what)


def fit(content: Any, model: type[Model], what: str) -> Model:
    """Some YAML content as a model; raises MomabError that names the first fault."""
    try:
        return model.model_validate({} if content is None else content)
    except ValidationError as error:
        raise MomabError(f"{what} {_fault(error, model)}.") from None


def _fault(error: ValidationError, model: type[Strict]) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"has the key {place!r}; it may only hold the keys {', '.join(model.model_fields)}"
    if first["type"] == "model_type":
        subject = f"has a {place!r} that" if place else ""
        return f"{subject} may only hold the keys {', '.join(model.model_fields)}".strip()
    if first["type"] == "missing":
        return f"lacks the key {place!r}"
    return f"has a {place!r} that does not fit: {first['msg'].lower()}"
