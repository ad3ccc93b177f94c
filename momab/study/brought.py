"""A policy in a file of one's own: its class, and one sentence where the file is at fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exception
from types import ModuleType
from typing import TypeGuard

from momab.engine.policies.base import Policy
from momab.errors import MomabError


def brought_class(path: Path, name: str = "") -> type[Policy]:
    """Load a policy's class from a file, which is run as a program would be.

    Without a name it is the only policy that the file defines.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a text"
        raise MomabError(f"cannot read {path}: {why}.") from None
    # what "__main__" defines is sent to workers by value; they do not have the file
    module = ModuleType("__main__")
    module.__file__ = str(path)
    try:
        exec(compile(text, str(path), "exec"), vars(module))
    except Exception as error:
        raise MomabError(f"{path}{_line_of(path, error)}: {_words(error)}") from None
    if not name:
        return _only_class(path, module)
    kind = vars(module).get(name)
    if not _is_policy(kind):
        raise MomabError(f"{path} defines no class {name} derived from momab.Policy.")
    return kind


def _is_policy(thing: object) -> TypeGuard[type[Policy]]:
    return isinstance(thing, type) and issubclass(thing, Policy)


def _only_class(path: Path, module: ModuleType) -> type[Policy]:
    kinds = [kind for kind in vars(module).values() if _is_policy(kind)]
    own = [kind for kind in dict.fromkeys(kinds) if kind.__module__ == module.__name__]
    if not own:
        raise MomabError(f"{path} defines no class derived from momab.Policy.")
    if len(own) > 1:
        names = ", ".join(kind.__name__ for kind in own)
        raise MomabError(f"{path} defines {len(own)} policies ({names}); leave one of them.")
    return own[0]


@contextmanager
def explained(paths: Sequence[Path]) -> Iterator[None]:
    """Say in one sentence what goes wrong in the file of a policy that plays, and where."""
    try:
        yield
    except MomabError:
        raise
    except Exception as error:
        for path in paths:
            if line := _line_of(path, error):
                raise MomabError(f"{path}{line}: {_words(error)}") from None
        raise


def _line_of(path: Path, error: Exception) -> str:
    """The last line of a file that an error passed through, in this process or in a worker."""
    text = "".join(format_exception(error))
    lines = re.findall(rf'File "{re.escape(str(path))}", line (\d+)', text)
    return f", line {lines[-1]}" if lines else ""


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": .") + "."
