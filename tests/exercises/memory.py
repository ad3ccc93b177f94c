"""Pupils who remember and pupils who think, for exercises with other numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np

from momab.exercises import _situations, core
from momab.exercises.core import Exercise
from momab.model import theory

_BETA = float(theory.confidence_radius(400, 10_000, 2.0))


def _situation(means: Any, estimates: Any, counts: Any) -> dict[str, Any]:
    return _situations.situation(means, estimates, counts)


# how somebody who has understood an exercise meets the demand of a copy
SOLVED: dict[str, Callable[[float], Any]] = {
    "certificates-6": lambda x: _situation(
        [[0.5, x], [0.5, 0.6]], [[0.5 + _BETA, x], [0.5 - _BETA, 0.6]], [400, 400]
    ),
    "fairness-5": lambda x: [[x, 0.9, 0.0], [0.2, 0.2, 0.7], [0.4, 0.4, 0.4]],
    "limit-7": lambda x: [[x, 0.1], [0.1, 0.9], [0.08, 0.88]],
    "local-charge-5": lambda x: _situation([[x], [0.1]], [[0.35], [0.1]], [50, 4000]),
    "lower-bound-6": lambda a: [
        [[a, 0.5 - a], [0.5 - a, a]],
        [[0.29, 0.01], [0.01, 0.69]],
    ],
    "one-objective-5": lambda x: {"weights": [1.5, -0.5], "means": [[x, 0.0], [x + 0.1, 0.5]]},
    "one-objective-6": lambda x: [[x, 0.8], [0.1, 0.85], [x - 0.1, 0.1]],
    "own-data-6": lambda x: [[x, 0.9, 0.4], [x, 0.4, 0.9], [0.4, 0.9, 0.9], [0.2, 0.2, 0.2]],
    "pareto-ucb1-7": lambda x: [
        [x, 0.1],
        [x - 0.1, 0.15],
        [0.1, x],
        [0.15, x - 0.1],
        [0.5, 0.5],
        [0.4, 0.4],
    ],
    "price-4": lambda x: [[0.9, 0.8995], [0.8995, 0.9], [x, 0.4]],
    "real-data-4": lambda x: [[x, x], [0.0, -60.0]],
    "sixty-runs-5": lambda x: [0.004, x, 10_000 * x],
    "synthetic-5": lambda p: {"delta": 0.05, "p": p, "g": 0.1, "eta": 0.2, "filler": 0.05},
    "width-floor-5": lambda x: _situation([[x], [0.1]], [[x], [x]], [2000, 2000]),
    "zero-gap-2": lambda x: [[x, 0.9], [0.9, 0.5], [x, 0.6]],
    "zero-gap-5": lambda x: [[0.9, 0.9, x], [0.9, 0.2, 0.1], [0.3, 0.9, 0.1]],
}


def solved(exercise: Exercise, copy: Exercise) -> Any:
    """A right answer to somebody's own copy of an exercise."""
    if exercise.name not in SOLVED:
        return copy.solution
    return SOLVED[exercise.name](demanded(copy))


def demanded(copy: Exercise) -> float:
    """The number that a copy asks for."""
    return float(copy.aspects[-1].what.rpartition(" ")[2])


def _flat(call: object) -> list[Any]:
    if isinstance(call, list | tuple | np.ndarray):
        return [leaf for item in call for leaf in _flat(item)]
    return [call]


def _distance(first: object, second: object) -> float:
    a, b = _flat(first), _flat(second)
    if len(a) != len(b):
        return float("inf")
    numbers = (int, float, np.number, bool, np.bool_)
    return sum(
        abs(float(x) - float(y)) if isinstance(x, numbers) and isinstance(y, numbers) else x != y
        for x, y in zip(a, b, strict=True)
    )


def memorisers(exercise: Exercise) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Answers that know all outcomes of the check by heart, and nothing else."""
    known = list(
        zip(exercise.calls, (o.value for o in exercise.outcomes(exercise.solution)), strict=True)
    )

    def exact(*call: Any) -> Any:
        return {repr(a): value for a, value in known}[repr(call)]

    def nearest(*call: Any) -> Any:
        return min(known, key=lambda pair: _distance(pair[0], call))[1]

    def usual(*call: Any) -> Any:
        outcomes = [core.plain(value) for _, value in known]
        often = max(outcomes, key=outcomes.count)
        return {repr(a): value for a, value in known}.get(repr(call), often)

    order = cycle(value for _, value in known)
    yield "exact", exact
    yield "nearest", nearest
    yield "most frequent", usual
    yield "in turn", lambda *call: next(order)
