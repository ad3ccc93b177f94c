"""Checks without their answers: what students install instead of the judges.

A judge (`momab.exercises.core`) has a solution and plays it.  A sealed check has only *seals* of
what the solution gives for the prepared arguments: digests, from which a number cannot be read,
but with which a number can be compared.  It says the same as the judge, hints included; only the
slips of a copy about other data (`momab.exercises.core.Redrawn`) are not known to it.

A seal of whole numbers, truth values and texts is one digest of all of them.  Any other number x is
sealed by itself, through the cell that log|x| falls into on a grid as wide as the relative
tolerance; a number in the same cell or in one of its two neighbours opens the seal.  So a sealed
check accepts whatever the judge accepts, and nothing that is off by more than twice its tolerance.

What this hides is the answer, not the way to try answers: whoever wants to can guess true or false
a few hundred times.  `momab.course.sealing` makes the seals.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from momab.exercises.core import Aspect, Case, Exercise, Outcome, Personal, Redrawn, Slip
from momab.exercises.draws import Draw

Digests = tuple[str, ...]
_ZERO = 1e-12
_LARGEST_WHOLE = 10**9


# ---- seals ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seal:
    """The digests of one outcome; ``key`` says of which exercise, call and answer."""

    key: str
    digests: Digests
    tolerance: float = 1e-6
    members: bool = False  # whether the entries of a list may come in any order

    def opens(self, found: Any) -> bool:
        """Whether this is the value that was sealed, up to the tolerance."""
        frame, numbers = _flat(found)
        if len(self.digests) == 1:
            whole = [_whole(x, self.tolerance) for x in numbers]
            return None not in whole and self.digests[0] == self._digest(frame, whole)
        if len(self.digests) != len(numbers) + 1 or self.digests[0] != self._digest(frame, []):
            return False
        return all(
            digest in {self._digest(place, cell) for cell in _cells(x, self.tolerance)}
            for place, (x, digest) in enumerate(zip(numbers, self.digests[1:], strict=True))
        )

    def _digest(self, frame: object, content: object) -> str:
        if self.members and isinstance(content, list):
            content = sorted(content)
        text = json.dumps([self.key, frame, content])
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    @classmethod
    def of(cls, value: Any, key: str, tolerance: float = 1e-6, members: bool = False) -> Seal:
        """Seal a value."""
        empty = cls(key, (), tolerance, members)
        frame, numbers = _flat(value)
        whole = [_whole(x, 0.0) for x in numbers]
        if all(n is not None and abs(n) * tolerance < 0.25 for n in whole):  # no other is as near
            digests = [empty._digest(frame, whole)]
        else:
            digests = [empty._digest(frame, [])]
            digests += [
                empty._digest(place, _cells(x, tolerance)[0]) for place, x in enumerate(numbers)
            ]
        return cls(key, tuple(digests), tolerance, members)


def _flat(value: Any) -> tuple[Any, list[float]]:
    """Plain data as a frame without its numbers, and the numbers in order."""
    if isinstance(value, list):
        parts = [_flat(item) for item in value]
        return [part[0] for part in parts], [x for part in parts for x in part[1]]
    if isinstance(value, dict):
        parts = [_flat(value[key]) for key in sorted(value)]
        frame = {key: part[0] for key, part in zip(sorted(value), parts, strict=True)}
        return frame, [x for part in parts for x in part[1]]
    if isinstance(value, bool | int | float):
        return 0, [float(value)]
    return f"text {value}", []


def _whole(x: float, tolerance: float) -> int | None:
    """The whole number that x is up to the tolerance, if it is one."""
    if not math.isfinite(x) or abs(x) > _LARGEST_WHOLE:
        return None
    return round(x) if math.isclose(x, round(x), rel_tol=tolerance, abs_tol=_ZERO) else None


def _cells(x: float, tolerance: float) -> list[str]:
    """The cell of a number on the logarithmic grid, and the two beside it."""
    if not math.isfinite(x) or abs(x) <= _ZERO:
        return [str(x) if not math.isfinite(x) else "0"]
    sign, cell = "-" if x < 0 else "+", math.floor(math.log(abs(x)) / tolerance)
    return [f"{sign}{cell + step}" for step in (0, -1, 1)]


# ---- exercises -----------------------------------------------------------------------------


def _open(found: Any, seal: Any) -> bool:
    return bool(seal.opens(found))


@dataclass(frozen=True)
class SealedExercise(Exercise):
    """An exercise that knows seals of the right outcomes and of those of known slips."""

    wanted: tuple[Seal, ...] = ()
    shapes: tuple[str, ...] = ()
    slipped: tuple[tuple[Seal | str, ...], ...] = ()

    @property
    def _wanted(self) -> list[Any]:
        return list(self.wanted)

    @property
    def _shapes(self) -> Sequence[str]:
        return self.shapes

    @property
    def _lengths(self) -> bool:
        return not any(seal.members for seal in self.wanted)

    def _redrawn(self, own: Redrawn, draw: Draw) -> tuple[str, Exercise]:
        bare = replace(self, slipped=())  # those that it knows are of the usual data
        return Exercise._redrawn(bare, own, draw)

    def _slip_hint(self, outcomes: Sequence[Outcome]) -> str:
        for slip, seals in zip(self.slips, self.slipped, strict=True):
            if len(seals) == len(outcomes) and all(map(_same_outcome, outcomes, seals)):
                return slip.hint
        return ""


def _same_outcome(outcome: Outcome, seal: Seal | str) -> bool:
    if isinstance(seal, str):
        return outcome.error == seal
    return not outcome.error and seal.opens(outcome.value)


def load_sealed(
    path: Path,
    aspects: Mapping[str, Sequence[Aspect]],
    personal: Mapping[str, Personal | Redrawn],
) -> tuple[SealedExercise, ...]:
    """The sealed exercises of a chapter; what must hold of a value is stated by its module."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return tuple(
        _exercise(entry, aspects.get(entry["name"], ()), personal.get(entry["name"]))
        for entry in data
    )


def _exercise(
    entry: Mapping[str, Any],
    aspects: Sequence[Aspect],
    personal: Personal | Redrawn | None = None,
) -> SealedExercise:
    name, tolerance, members = entry["name"], entry["tolerance"], entry["members"]
    cases = tuple(
        Case(
            case["what"],
            tuple(tuple(map(read_argument, call)) for call in case["calls"]),
            case["hint"],
        )
        for case in entry["cases"]
    )
    return SealedExercise(
        name,
        entry["wants"],
        tuple(Slip(None, slip["hint"]) for slip in entry["slips"]),
        None,
        cases,
        tuple(aspects),
        _open,
        personal=personal,
        shapes=tuple(entry["shapes"]),
        wanted=tuple(
            Seal(key(name, 0, place), tuple(digests), tolerance, members)
            for place, digests in enumerate(entry["wanted"])
        ),
        slipped=tuple(
            tuple(
                sealed if isinstance(sealed, str) else Seal(key(name, n, place), tuple(sealed))
                for place, sealed in enumerate(slip["outcomes"])
            )
            for n, slip in enumerate(entry["slips"], start=1)
        ),
    )


def key(name: str, answer: int, call: int) -> str:
    """What tells the seals of an exercise apart: answer 0 is right, the others are its slips."""
    return f"{name}/{answer}/{call}"


def write(argument: Any) -> Any:
    """An argument of a call as JSON data that `read_argument` understands."""
    if isinstance(argument, np.ndarray):
        return {"array": argument.tolist(), "dtype": str(argument.dtype)}
    if isinstance(argument, np.generic):
        return argument.item()
    if isinstance(argument, tuple):
        return {"tuple": [write(item) for item in argument]}
    if isinstance(argument, list):
        return [write(item) for item in argument]
    if argument is None or isinstance(argument, bool | int | float | str):
        return argument
    raise TypeError(f"an argument of type {type(argument).__name__} cannot be written")


def read_argument(data: Any) -> Any:
    """The argument that was written."""
    if isinstance(data, dict) and "array" in data:
        return np.array(data["array"], dtype=data["dtype"])
    if isinstance(data, dict):
        return tuple(read_argument(item) for item in data["tuple"])
    return [read_argument(item) for item in data] if isinstance(data, list) else data
