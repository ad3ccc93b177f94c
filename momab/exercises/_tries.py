"""Calls that a page lets its readers try: they type what their function gives, the page checks it.

A chapter's module names them in ``TRIES``: for an exercise the arguments of some calls, as Python
text; for an exercise whose answer is a list of numbers, one empty text.  The page gets digests of
the right numbers, not the numbers: whoever looks into its source does not stumble on the answer.
Somebody who computes the digests of all numbers with four digits finds it, and so does
whoever reads this library, so this is no lock.  The full check is `momab.check`.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import Any

import numpy as np

from momab.exercises import find_exercise, module_of
from momab.exercises.core import Exercise, close, plain

_WORD = 0xFFFFFFFF
_ROUNDS = 20
Number = bool | int | float


@dataclass(frozen=True)
class Try:
    """A call, the digests of the numbers that it should give, and hints for known wrong ones.

    ``exact`` says for each number whether it is a whole number or a truth value, of which nothing
    may be missing; others are compared up to one unit of their fourth digit.
    """

    code: str
    right: tuple[str, ...]
    exact: tuple[bool, ...]
    hints: dict[str, str]


def written_number(number: float, exact: bool = False) -> str:
    """A number as it is digested: whole, or four digits and an exponent, as in ``1653e-1``."""
    if exact and number == int(number):
        return str(int(number))
    if abs(number) < 1e-9:
        return "0"
    if not np.isfinite(number):
        return "inf" if number > 0 else "-inf"
    digits, _, power = f"{number:.3e}".partition("e")
    return f"{digits.replace('.', '')}e{int(power)}"


def sealed_digest(text: str) -> str:
    """Twelve hexadecimal digits of an ASCII text; the page's script has a twin of this."""
    a, b = 0xDEADBEEF, 0x41C6CE57
    for _ in range(_ROUNDS):
        for sign in text.encode("ascii"):
            a = ((a ^ sign) * 2654435761) & _WORD
            b = ((b ^ sign) * 1597334677) & _WORD
        a = (((a ^ (a >> 16)) * 2246822507) & _WORD) ^ (((b ^ (b >> 13)) * 3266489909) & _WORD)
        b = (((b ^ (b >> 16)) * 2246822507) & _WORD) ^ (((a ^ (a >> 13)) * 3266489909) & _WORD)
    return f"{a:08x}{b >> 16:04x}"


def arguments_of(name: str) -> tuple[str, ...]:
    """The arguments of the calls that a page lets one try; none for most exercises."""
    module = module_of(name.rpartition("-")[0])
    try:
        given: dict[str, tuple[str, ...]] = pkgutil.resolve_name(f"{module}:TRIES")
    except (ImportError, AttributeError):
        return ()
    return given.get(name, ())


def tries_of(name: str) -> list[Try]:
    """What the page of an exercise lets one try."""
    return [_try(find_exercise(name), n, text) for n, text in enumerate(arguments_of(name))]


def numbers_of(answer: object, arguments: str) -> list[Number]:
    """The numbers that an answer gives for some arguments, or that it is."""
    value = answer
    if callable(answer):
        value = answer(*eval(f"({arguments},)", {"np": np}))
    return [n.item() if isinstance(n, np.generic) else n for n in _flat(value)]


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple | np.ndarray):
        return [number for item in value for number in _flat(item)]
    return [value]


def _try(exercise: Exercise, place: int, arguments: str) -> Try:
    right = numbers_of(exercise.solution, arguments)
    exact = tuple(isinstance(number, bool | int) for number in right)
    salt = f"{exercise.name}|{place}|"
    texts = [written_number(number, whole) for number, whole in zip(right, exact, strict=True)]
    hints: dict[str, str] = {}
    for slip in exercise.slips:
        try:
            found = plain(numbers_of(slip.answer, arguments))
        except Exception:  # many a slip fails on some arguments
            continue
        if len(found) == len(right) and np.isfinite(found).all() and not close(found, right, 2e-3):
            slipped = [written_number(n, whole) for n, whole in zip(found, exact, strict=True)]
            hints.setdefault(sealed_digest(salt + " ".join(slipped)), slip.hint)
    name = getattr(exercise.solution, "__name__", "").lstrip("_")  # as the page calls it
    return Try(
        f"{name}({arguments})" if name else "your answer",
        tuple(sealed_digest(f"{salt}{n}|{text}") for n, text in enumerate(texts)),
        exact,
        hints,
    )
