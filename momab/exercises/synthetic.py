"""The exercises of the chapter on the synthetic family."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.errors import MomabError
from momab.exercises.core import Aspect, Case, Exercise, Slip, function, value
from momab.exercises.draws import Draw, unit
from momab.model import instances, pareto, theory

Term = Callable[[float, float], float]

# ---- what pins the fillers down ------------------------------------------------------------

_SCALE = 8 * 0.55 / 20


def filler_gap(c: float, delta: float, m: int, T: int) -> float:
    """The gap x of a filler, from C = 8 (g/K) (m/delta + (18 - m)/x) rho."""
    return (18 - m) / (c / (_SCALE * _rho(T)) - _crowd(delta, m))


def _rho(T: int, inside: float = 4.0) -> float:
    return 1 + math.log(inside) / (4 * math.log(T))


def _crowd(delta: float, m: int) -> float:
    return m / delta


def _row(delta: float, m: int, T: int, filler: float) -> tuple[float, float, int, int]:
    """The arguments that a family with this filler mean gives."""
    return theory.c_pucb(instances.synthetic(delta, m, filler=filler).means, T), delta, m, T


def _other_row(draw: Draw, call: Any) -> Any:
    """Another crowd, and the coefficient that fillers with another mean give."""
    _, delta, m, T = call
    other = max(0, min(16, m + draw.whole(-1, 2))) if m else 0
    return _row(
        delta * draw.between(0.7, 1.2), other, round(T * draw.between(0.5, 2)), draw.between(0, 0.2)
    )


_FILLER = function(
    "synthetic-2",
    filler_gap,
    [
        Case(
            "the paper's rows",
            ((21.05, 0.12, 1, 10**6), (60.89, 0.02, 4, 10**6), (142.08, 0.02, 12, 10**6)),
            "Solve C = 8 (g / K) (m / delta + (18 - m) / x) rho for x.",
        ),
        Case(
            "fillers with another mean",
            (_row(0.05, 3, 10**6, 0.15), _row(0.01, 10, 10**6, 0.01)),
            "The gap must follow from C; nothing in it may rest on the paper's 0.05.",
        ),
        Case(
            "another horizon",
            (_row(0.04, 2, 10**3, 0.05), _row(0.04, 2, 10**9, 0.1)),
            "The factor rho depends on T.",
        ),
        Case(
            "no crowd at all",
            (_row(0.02, 0, 10**6, 0.1),),
            "Without a crowd all eighteen dominated arms are fillers.",
        ),
    ],
    [
        Slip(
            lambda c, delta, m, T: (18 - m) / (c / _SCALE - _crowd(delta, m)),
            "The coefficient contains rho, a little more than 1; divide by it, too.",
        ),
        Slip(
            lambda c, delta, m, T: (18 - m) / (c / (_SCALE * _rho(T, 2.0)) - _crowd(delta, m)),
            "Inside the logarithm of rho stands the number of objectives times the size of the "
            "front; you have only one of the two.",
        ),
        Slip(
            lambda c, delta, m, T: (18 - m) / (c / (_SCALE * _rho(T, 40.0)) - _crowd(delta, m)),
            "Inside the logarithm of rho stands the size of the front, not the number of arms.",
        ),
    ],
    vary=_other_row,
)


# ---- the sharper coefficient ---------------------------------------------------------------


def c_sharp(means: NDArray[np.float64]) -> float:
    """The sharper bound's exploration term over K log T / g-dagger."""
    T = 10**6  # any horizon: it cancels
    scale = len(means) * math.log(T) / float(pareto.g_dagger(means))
    return theory.sharper_bound(means, T).exploration / scale


def _summed(means: NDArray[np.float64], term: Term) -> float:
    """Compute 32 (g/K) times the sum of term(gap, g) over the positive gaps."""
    g = float(pareto.g_dagger(means))
    return 32 * g / len(means) * sum(term(gap, g) for gap in _positive(means))


def _positive(means: NDArray[np.float64]) -> list[float]:
    return [gap for gap in pareto.gaps(means).tolist() if gap > 0]


_FAMILY = (instances.synthetic(0.02, 8).means, instances.synthetic(0.12, 1).means)
_HOPELESS = (instances.synthetic(0.05, 4, p=0.7, g=0.1).means, np.array([[0.9, 0.85], [0.2, 0.1]]))
_RNG = np.random.default_rng(8)

_SHARP = function(
    "synthetic-3",
    c_sharp,
    [
        Case(
            "the paper's family, where every gap is below the lead",
            tuple((means,) for means in _FAMILY),
            "Each arm with a positive gap adds its gap over the squared lead.",
        ),
        Case(
            "gaps above the lead",
            tuple((means,) for means in _HOPELESS),
            "An arm that is further from the front than the lead is charged by its gap instead.",
        ),
        Case(
            "one objective",
            ((np.array([[0.8], [0.5], [0.5], [0.3]]),),),
            "With one objective gaps and lead are differences of means.",
        ),
        Case(
            "a dominated arm with gap zero, and no arm dominated",
            (
                (np.array([[0.8, 0.3], [0.8, 0.1], [0.2, 0.6], [0.1, 0.4]]),),
                (np.array([[0.9, 0.1], [0.1, 0.8]]),),
            ),
            "Arms without a positive gap cost nothing and add nothing.",
        ),
        Case(
            "many arms",
            tuple((_RNG.random(shape).round(2),) for shape in ((9, 2), (16, 3))),
            "Go through the formula factor by factor: the scale is g over K.",
        ),
    ],
    [
        Slip(
            lambda means: _summed(means, lambda gap, g: gap / min(gap, g) ** 2),
            "You divided by the smaller of gap and lead; pulls end at the larger one.",
        ),
        Slip(
            lambda means: _summed(means, lambda gap, g: gap / g**2),
            "This is right as long as no gap exceeds the lead; the formula has a maximum.",
        ),
        Slip(
            lambda means: _summed(means, lambda gap, g: gap / max(gap, g)),
            "The denominator is squared: pulls go with one over the square of a gap.",
        ),
    ],
    vary=[unit("Kd")],
)


# ---- when regret rises with the crowd ------------------------------------------------------

_NAMES = ("delta", "p", "g", "eta", "filler")
_RISING = {"delta": 0.05, "p": 0.7, "g": 0.1, "eta": 0.2, "filler": 0.05}
_PAPER = {"delta": 0.02, "p": 0.25, "g": 0.55, "eta": 0.2, "filler": 0.05}


def _means(choice: Any, m: int) -> NDArray[np.float64] | None:
    """The family's means with a crowd of m, or None where there is no such instance."""
    if set(choice) != set(_NAMES):
        raise ValueError("five named numbers are needed")
    try:
        delta, *others = (float(choice[name]) for name in _NAMES)
        return instances.synthetic(delta, m, 20, *others).means
    except MomabError:
        return None


def _is_family(choice: Any) -> bool:
    """Two arms on the front, and a crowd and fillers with positive gaps."""
    for m in (1, 16):
        means = _means(choice, m)
        if means is None:
            return False
        gaps = pareto.gaps(means)
        if pareto.front(means).tolist() != [True] * 2 + [False] * 18 or gaps[2:].min() < 1e-9:
            return False
    return True


def _crowd_gap_is_delta(choice: Any) -> bool:
    means = _means(choice, 1)
    return means is not None and bool(
        math.isclose(pareto.gaps(means)[2], float(choice["delta"]), abs_tol=1e-9)
    )


def _rises(choice: Any) -> bool:
    few, many = _means(choice, 1), _means(choice, 16)
    if few is None or many is None:
        return False
    few_bound, many_bound = (theory.sharper_bound(x, 10**6).exploration for x in (few, many))
    return many_bound >= 2 * few_bound


_RISE = value(
    "synthetic-5",
    "a dictionary with the numbers delta, p, g, eta and filler",
    _RISING,
    [
        Aspect(
            "all means lie in [0, 1], two arms are on the front, all others have positive gaps",
            _is_family,
            "Write the four kinds of mean vectors down and compare them: crowd and fillers must "
            "be below a front arm on both objectives.",
        ),
        Aspect(
            "a crowd arm has Pareto gap delta",
            _crowd_gap_is_delta,
            "A crowd arm is below the second front arm by eta on objective 1 and by delta on "
            "objective 2; its gap is the smaller one.",
        ),
        Aspect(
            "the sharper bound at least doubles from one crowd arm to sixteen",
            _rises,
            "Compare what a crowd arm and a filler add to the sum: gap over the square of the "
            "larger of gap and lead.",
        ),
    ],
    [
        Slip(
            _PAPER,
            "This is the paper's family; there a filler adds more to the bound than a crowd arm.",
        ),
        Slip(
            {**_PAPER, "delta": 0.001},
            "A smaller delta makes the crowd cheaper still; look at the fillers and at the lead.",
        ),
        Slip(
            {**_RISING, "filler": 0.65},
            "Your lead is small, but your fillers are near the front, too: each adds as much as a "
            "crowd arm. What does an arm with a huge gap add?",
        ),
    ],
)

EXERCISES: tuple[Exercise, ...] = (_FILLER, _SHARP, _RISE)
