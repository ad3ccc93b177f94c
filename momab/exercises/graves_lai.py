"""The exercises of the chapter on the programs of Graves and Lai."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from momab.exercises.core import Case, Exercise, Slip, function
from momab.exercises.draws import Draw
from momab.model.theory import kl_plus

Floats = NDArray[np.float64]

# ---- the program ---------------------------------------------------------------------------


def program_value(gaps: Floats, divergences: Floats) -> float:
    """The least cost of pulls that rule out every alternative."""
    found = linprog(gaps, A_ub=-divergences, b_ub=-np.ones(len(divergences)))
    return float(found.fun)


def _one_at_a_time(gaps: Floats, divergences: Floats) -> float:
    """As if each alternative were paid for by itself."""
    with np.errstate(divide="ignore"):
        cheapest = np.where(divergences > 0, gaps / divergences, np.inf).min(axis=1)
    return float(cheapest.sum())


def _dearest(gaps: Floats, divergences: Floats) -> float:
    with np.errstate(divide="ignore"):
        return float(np.where(divergences > 0, gaps / divergences, np.inf).min(axis=1).max())


def _other_program(draw: Draw, call: tuple[Any, ...]) -> tuple[Any, ...]:
    gaps, rows = call
    return (
        gaps * np.array([draw.between(0.6, 1.5) for _ in gaps]),
        rows * np.array([[draw.between(0.6, 1.5) for _ in row] for row in rows]),
    )


_PROGRAM = function(
    "graves-lai-2",
    program_value,
    [
        Case(
            "alternatives that raise one arm alone",
            (
                (np.array([0.2]), np.array([[0.5]])),
                (np.array([0.2, 0.1]), np.array([[0.5, 0.0], [0.0, 0.04]])),
                (np.array([0.2, 0.1]), np.array([[0.5, 0.0], [0.0, 0.04], [0.3, 0.0]])),
            ),
            "An arm alone needs one pull per unit of the smallest divergence in its rows.",
        ),
        Case(
            "alternatives that move several arms",
            (
                (np.array([0.2, 0.1]), np.array([[0.5, 0.1]])),
                (np.array([0.2, 0.1]), np.array([[0.5, 0.1], [0.1, 0.4], [0.9, 0.02]])),
                (
                    np.array([0.3, 0.2, 0.25]),
                    np.array([[0.5, 0.1, 0.0], [0.0, 0.6, 0.2], [0.3, 0.0, 0.7]]),
                ),
            ),
            "All constraints hold at once: add n times the divergence over the arms of a row.",
        ),
    ],
    [
        Slip(
            _one_at_a_time,
            "The same pulls rule out several alternatives; do not pay for each one anew.",
        ),
        Slip(
            _dearest,
            "Pulls for the hardest alternative need not rule out the others; keep all rows.",
        ),
        Slip(
            lambda gaps, rows: float(linprog(np.ones(len(gaps)), -rows, -np.ones(len(rows))).fun),
            "That is the number of pulls; weigh each pull with the gap of its arm.",
        ),
    ],
    vary=_other_program,
)

# ---- specialists ---------------------------------------------------------------------------


def specialist_quotient(d: int, q: float, r: float, p: float) -> float:
    """C(mu) over the textbook's value for d specialists and one poor arm."""
    return _quotient(d, *(float(kl_plus(q, x)) for x in (p, r)))


def _quotient(d: float, best: float, other: float) -> float:
    return d * best / (best + (d - 1) * other)


def _other_specialists(draw: Draw, call: tuple[Any, ...]) -> tuple[Any, ...]:
    d, q, r, p = call
    low, high = q * draw.between(0.5, 1), p + (1 - p) * draw.between(0, 0.5)
    return max(2, d + draw.whole(-1, 3)), low, low + (r - q) * draw.between(0.3, 1), high


_QUOTIENT = function(
    "graves-lai-3",
    specialist_quotient,
    [
        Case(
            "two objectives",
            ((2, 0.25, 0.3, 0.8), (2, 0.2, 0.5, 0.6), (2, 0.1, 0.101, 0.9)),
            "The price has kl(q, p) once and kl(q, r) on all other objectives.",
        ),
        Case(
            "many objectives",
            ((3, 0.25, 0.3, 0.8), (10, 0.4, 0.41, 0.5), (30, 0.2, 0.6, 0.7)),
            "The textbook's alternative puts the poor arm above p on all d objectives.",
        ),
    ],
    [
        Slip(
            lambda d, q, r, p: _quotient(d, float(kl_plus(1 - p, 1 - q)), float(kl_plus(q, r))),
            "The divergence goes from what the arm is to what it might be: kl(q, p).",
        ),
        Slip(
            lambda d, q, r, p: 1 / _quotient(d, float(kl_plus(q, p)), float(kl_plus(q, r))),
            "That is the textbook's value over the price; turn the quotient round.",
        ),
        Slip(
            lambda d, q, r, p: float(kl_plus(q, p)) / float(kl_plus(q, r)),
            "Count the objectives: d of them in one value, one and d - 1 in the other.",
        ),
    ],
    vary=_other_specialists,
)

EXERCISES: tuple[Exercise, ...] = (_PROGRAM, _QUOTIENT)
