"""Instances and policies as words on the command line: ``name:option=value,option=value``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from momab._util.validate import shown
from momab.engine.policies import family_of, make_policy, registered, standard
from momab.engine.policies.base import Policy, with_options
from momab.errors import MomabError
from momab.model import instances
from momab.model.instances import Instance
from momab.study import brought

INSTANCES: dict[str, Callable[..., Instance]] = {
    "synthetic": instances.synthetic,
    "duplicated": instances.duplicated,
    "zero-gap": instances.zero_gap,
    "random": instances.random_bernoulli,
}


LARGEST = 10**18
"""No option of an instance is larger."""


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """Split ``name:a=1,b=x`` into the name and its options; numbers become numbers.

    ``true`` and ``false`` become truth values, in either case of letters.
    """
    name, _, rest = spec.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key or not value:
            raise MomabError(
                f"{spec!r} is not understood; write name:option=value,option=value "
                "(for example synthetic:delta=0.02,m=8)."
            )
        options[key.strip().replace("-", "_")] = _value(value.strip())
    return name.strip(), options


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def instance(spec: str) -> Instance:
    """Build an instance of a named family, for example ``synthetic:delta=0.02,m=8``."""
    name, options = parse(spec)
    if name not in INSTANCES:
        raise MomabError(f"there is no instance {name!r}; choose from {', '.join(INSTANCES)}.")
    build = INSTANCES[name]
    signature = inspect.signature(build).parameters
    for option in options:
        if option not in signature:
            known = ", ".join(signature) or "none"
            raise MomabError(f"{name} has no option {option!r}; its options: {known}.")
    for option, parameter in signature.items():
        if parameter.default is inspect.Parameter.empty and option not in options:
            raise MomabError(f"{name} needs a value for {option}: {name}:{option}=...")
    for option, value in options.items():
        if isinstance(value, str):
            raise MomabError(f"{option} of {name} must be a number; it is {value!r}.")
        if abs(value) > LARGEST:
            raise MomabError(
                f"{option} of {name} must be a number of at most {LARGEST:.0e}; "
                f"it is {shown(value)}."
            )
    return build(**options)


def describe_policies() -> list[tuple[str, str, str]]:
    """One line per policy: its name, its options with defaults, the first line of its text."""
    lines = []
    for kind in registered():
        default = kind()
        options = ",".join(
            f"{f.name.replace('_', '-')}={getattr(default, f.name)}" for f in fields(kind) if f.init
        )
        first = (inspect.getdoc(kind) or "").partition("\n")[0]
        lines.append((family_of(kind), options, first))
    return lines


def policy(spec: str) -> Policy:
    """Build a policy from its name and options, for example ``width-guided:c=0.02``.

    ``my_policy.py:MyPolicy:option=value`` is a policy of one's own, in a file.
    """
    own = re.fullmatch(r"(.+\.py):(\w+)(:.*)?", spec)
    if own:
        kind = brought.brought_class(Path(own[1]), own[2])
        _, options = parse(own[2] + (own[3] or ""))
        return with_options(kind, own[2], options)
    name, options = parse(spec)
    return make_policy(name, **options)


@contextmanager
def files_explained(specs: Sequence[str]) -> Iterator[None]:
    """Say in one sentence what goes wrong in the file of a policy that plays, and where."""
    with brought.explained([Path(s.rpartition(".py:")[0] + ".py") for s in specs if ".py:" in s]):
        yield


def policies(specs: Sequence[str]) -> list[Policy]:
    """Build the policies that are named, or the standard ones if none is."""
    return [policy(spec) for spec in specs] or [record() for record in standard()]
