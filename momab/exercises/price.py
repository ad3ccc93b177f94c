"""The exercises of the chapter on the price of an instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Aspect, Case, Exercise, Slip, function, value
from momab.exercises.draws import moved, unit, whole
from momab.model import pareto, theory
from momab.study.price import final_log_ratios

Floats = NDArray[np.float64]


# ---- the price -----------------------------------------------------------------------------


def least_price(means: Floats) -> float:
    """The least sum over paid arms of gap / evidence, over all free arms."""
    return float(theory.price(means).value)


def _weighed(means: Floats, evidence: Floats) -> Floats:
    """The sum over paid arms of gap / evidence for every free arm; evidence is [b, a]."""
    gaps = pareto.gaps(means)
    free, paid = gaps == 0, gaps > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = gaps[paid, None] / evidence[np.ix_(paid, free)]
    return np.asarray(np.nan_to_num(parts.sum(axis=0), posinf=1e9))


def _two_sided(means: Floats) -> Floats:
    """The sum of kl over all objectives, ahead or behind."""
    p, q = means[:, None, :], means[None, :, :]
    kl = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    return np.asarray(kl.sum(axis=-1))


_THREE = np.array([[0.8, 0.3], [0.62, 0.62], [0.3, 0.8], [0.5, 0.52], [0.7, 0.15], [0.15, 0.65]])
_MIXED = np.array([[0.9, 0.5], [0.5, 0.9], [0.4, 0.6]])
_CUBE = np.array([[0.7, 0.6, 0.2], [0.3, 0.5, 0.9], [0.2, 0.3, 0.1], [0.6, 0.35, 0.15]])

_PRICE = function(
    "price-2",
    least_price,
    [
        Case(
            "one objective: Lai and Robbins",
            ((np.array([[0.7], [0.5], [0.4]]),), (np.array([[0.2], [0.6], [0.6], [0.3]]),)),
            "With one objective the best arms are free, and the price is the sum of gap / kl.",
        ),
        Case(
            "two objectives",
            ((_THREE,), (_MIXED,)),
            "Compute the price of every free arm as a candidate, then take the least.",
        ),
        Case(
            "three objectives",
            ((_CUBE,),),
            "An objective on which the paid arm is ahead of the candidate adds nothing.",
        ),
        Case(
            "no arm has a positive gap",
            ((np.array([[0.8, 0.25], [0.25, 0.8]]),),),
            "A sum over no arm is zero.",
        ),
    ],
    [
        Slip(
            lambda m: _weighed(m, theory.evidence(m).T.copy()).min(),
            "The samples come from the paid arm, so its mean stands first in kl.",
        ),
        Slip(
            lambda m: _weighed(m, _two_sided(m)).min(),
            "Where the paid arm is already ahead of the candidate it need not be raised: kl counts "
            "only where it is behind.",
        ),
        Slip(
            lambda m: _weighed(m, theory.evidence(m)).max(),
            "The policy chooses the candidate, and it may choose the cheapest.",
        ),
    ],
    vary=[unit("Kd")],
)


# ---- a chance under another instance -------------------------------------------------------


def _ratio(pulls: Any, hits: Floats, p: Any, q: Any) -> Floats:
    return final_log_ratios(pulls, hits, np.asarray(p), np.asarray(q))


def other_chance(pulls: Floats, hits: Floats, p: Any, q: Any, n: int) -> float:
    """The mean of exp(-L) on the event that there are at most n pulls."""
    return float(np.mean((pulls <= n) * np.exp(-_ratio(pulls, hits, p, q))))


def _runs(seed: int, p: list[float]) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    pulls = rng.integers(1, 20, 40)
    return pulls, rng.binomial(pulls[:, None], p).astype(np.float64)


_ONE, _TWO, _BOTH = [0.5], [0.4, 0.7], [0.3, 0.6, 0.2]

_CHANCE = function(
    "price-3",
    other_chance,
    [
        Case(
            "one objective",
            ((*_runs(1, _ONE), _ONE, [0.7], 8), (*_runs(2, _ONE), _ONE, [0.4], 12)),
            "L adds log(p/q) for every success and log((1-p)/(1-q)) for every failure.",
        ),
        Case(
            "several objectives",
            (
                (*_runs(3, _TWO), _TWO, [0.6, 0.75], 10),
                (*_runs(4, _BOTH), _BOTH, [0.4, 0.6, 0.3], 9),
            ),
            "Independent objectives: their log-likelihood ratios add up.",
        ),
        Case(
            "the same means",
            ((*_runs(5, _TWO), _TWO, _TWO, 7),),
            "If q equals p, all weights are one, and the share of the runs is left.",
        ),
        Case(
            "an event that never occurs",
            ((*_runs(6, _ONE), _ONE, [0.7], 0),),
            "No run has so few pulls.",
        ),
    ],
    [
        Slip(
            lambda pulls, hits, p, q, n: np.mean((pulls <= n) * np.exp(_ratio(pulls, hits, p, q))),
            "The runs were made under p: divide by their likelihood, multiply by the other one.",
        ),
        Slip(
            lambda pulls, hits, p, q, n: np.mean(pulls <= n),
            "This is the chance under p; each run must be weighed by its likelihood ratio.",
        ),
        Slip(
            lambda pulls, hits, p, q, n: np.mean(np.exp(-_ratio(pulls, hits, p, q))),
            "You forgot the event: runs with more than n pulls count as zero.",
        ),
    ],
    vary=[moved("R"), moved("Rd"), unit("d"), unit("d"), whole()],
)


# ---- a tiny lead ---------------------------------------------------------------------------

_LEAD, _GAP, _MOST = 0.001, 0.3, 0.5


def _three_arms(means: Any) -> Floats:
    """The answer as an array (3, 2)."""
    if np.shape(means) != (3, 2):
        raise ValueError("three rows, one per arm, with two means each are needed")
    return np.array(means, dtype=np.float64)


def _inside(means: Any) -> bool:
    found = _three_arms(means)
    return bool(((found > 0) & (found < 1)).all())


def _tiny_lead(means: Any) -> bool:
    lead = float(pareto.g_dagger(_three_arms(means)))
    return 0 < lead <= _LEAD * (1 + 1e-9)


def _cheap(means: Any) -> bool:
    found = _three_arms(means)
    return _inside(means) and float(theory.price(found).value) <= _MOST


_TINY = value(
    "price-4",
    "a list of three rows, one per arm, with two means each",
    [[0.9, 0.8995], [0.8995, 0.9], [0.4, 0.4]],
    [
        Aspect("all means lie in (0, 1)", _inside, "Means of 0 and 1 are excluded."),
        Aspect(
            "the largest lead is positive and at most 0.001",
            _tiny_lead,
            "On each objective compare the best mean with the second best.",
        ),
        Aspect(
            "some arm has a Pareto gap of at least 0.3",
            lambda means: bool(pareto.gaps(_three_arms(means)).max() >= _GAP - 1e-9),
            "An arm has a gap if another one beats it on both objectives, by that much.",
        ),
        Aspect(
            "the price is at most 0.5",
            _cheap,
            "The paid arm should be far below a free arm on both objectives.",
        ),
    ],
    [
        Slip(
            [[0.9, 0.9], [0.9, 0.9], [0.4, 0.4]],
            "Two equal arms have no lead at all; it must be tiny, but positive.",
        ),
        Slip(
            [[0.9, 0.8995], [0.4, 0.4], [0.3, 0.3]],
            "One arm is far ahead of all others: that is a large lead.",
        ),
        Slip(
            [[0.9, 0.8995], [0.8995, 0.9], [0.8, 0.8]],
            "The leads are tiny, but no arm is far behind; move the third arm down.",
        ),
    ],
)

EXERCISES: tuple[Exercise, ...] = (_PRICE, _CHANCE, _TINY)
