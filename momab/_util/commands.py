"""The commands that pages and forms print: what makes a result again, quoted for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping


def command_line(
    command: str,
    arguments: Iterable[str] = (),
    options: Iterable[tuple[str, str]] = (),
    values: Mapping[str, str] | None = None,
) -> str:
    """A command with its arguments, its options, and its parameters with ``-p``.

    An option or a parameter with an empty text is left out: that is its default.
    """
    words = ["momab", *command.split(), *arguments]
    for name, text in options:
        if text:
            words += [name, text]
    for name, text in (values or {}).items():
        if text:
            words += ["-p", f"{name}={text}"]
    return shlex.join(words)
