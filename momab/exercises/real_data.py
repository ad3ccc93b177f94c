"""The exercises of the chapter on the real data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momab.exercises.core import Aspect, Case, Exercise, Slip, function, value
from momab.exercises.draws import Draw, unit
from momab.model import metrics, pareto
from momab.study.datasets import subsets

Front = Callable[[NDArray[np.float64]], NDArray[np.bool_]]

# ---- precision and recall ------------------------------------------------------------------


def front_scores(estimates: NDArray[np.float64], means: NDArray[np.float64]) -> list[float]:
    """Precision and recall of the front of the estimates."""
    once = np.ones(len(estimates), dtype=np.int64)
    found: list[float] = metrics.front_precision_recall(estimates, once, means).tolist()
    return found


def _counts(
    estimates: NDArray[np.float64], means: NDArray[np.float64], front: Front = pareto.front
) -> tuple[int, int, int]:
    """The sizes of: both fronts' common part, the estimated front, the true front."""
    found, true = front(estimates), front(means)
    return int((found & true).sum()), int(found.sum()), int(true.sum())


def _scores(
    estimates: NDArray[np.float64], means: NDArray[np.float64], front: Front
) -> list[float]:
    hits, found, true = _counts(estimates, means, front)
    return [hits / found, hits / true]


def _unbeaten(means: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Arms that no arm exceeds on every objective: those with gap zero."""
    return np.asarray(pareto.gaps(means) == 0)


def _leaders(means: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(pareto.marginal_maximisers(means).any(axis=1))


_TRUE = np.array([[0.9, 0.2], [0.2, 0.9], [0.6, 0.6], [0.5, 0.5], [0.1, 0.1]])
_EXTRA = np.array([[0.9, 0.2], [0.2, 0.9], [0.6, 0.6], [0.5, 0.7], [0.1, 0.1]])
_LOST = np.array([[0.9, 0.2], [0.2, 0.9], [0.15, 0.18], [0.1, 0.15], [0.1, 0.1]])
_BORDER = np.array([[0.8, 0.3], [0.8, 0.1], [0.2, 0.6]])
_RNG = np.random.default_rng(3)
_NOISY = _RNG.random((12, 3)).round(2)

_SCORES = function(
    "real-data-2",
    front_scores,
    [
        Case(
            "perfect estimates",
            ((_TRUE, _TRUE),),
            "When the two fronts are equal, both numbers are 1.",
        ),
        Case(
            "a false member",
            ((_EXTRA, _TRUE),),
            "Precision asks how many of the arms that you found belong to the true front.",
        ),
        Case(
            "a lost member",
            ((_LOST, _TRUE),),
            "Recall asks how many of the arms of the true front were found.",
        ),
        Case(
            "ties: equal rows, and a row that ties on one objective",
            (
                (np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]]), _BORDER),
                (_BORDER, np.array([[0.8, 0.3], [0.1, 0.9], [0.2, 0.6]])),
            ),
            "Equal rows do not dominate each other; a row that ties on one objective and is worse "
            "on another is dominated.",
        ),
        Case(
            "one objective, and many arms",
            (
                (np.array([[0.7], [0.4], [0.7]]), np.array([[0.6], [0.5], [0.3]])),
                ((_NOISY + _RNG.normal(0, 0.2, _NOISY.shape)).round(2), _NOISY),
            ),
            "Compute both fronts by the same rule, then count common members.",
        ),
    ],
    [
        Slip(
            lambda estimates, means: front_scores(estimates, means)[::-1],
            "Both numbers are there, in the wrong order: precision comes first.",
        ),
        Slip(
            lambda estimates, means: _scores(estimates, means, _unbeaten),
            "Your fronts hold every arm with gap zero; a dominated arm can have gap zero.",
        ),
        Slip(
            lambda estimates, means: _scores(estimates, means, _leaders),
            "Your fronts hold the best arm of each objective only; an arm that is best at nothing "
            "can be undominated.",
        ),
    ],
    vary=[unit("Ed"), unit("Kd")],
)


# ---- which group ---------------------------------------------------------------------------


def label_of(gaps: Sequence[float]) -> str:
    """The first word of the group that subsets with these gaps belong to, or ''."""
    # one objective whose best mean is 0 has exactly these gaps
    return str(subsets.label(-np.array(gaps)[:, None])).partition("_")[0]


def _sorted(
    gaps: Sequence[float],
    tiny: Callable[[float], bool] = lambda gap: gap <= 0.002,
    near: Callable[[float], bool] = lambda gap: gap <= 0.02,
    several: int = 3,
) -> str:
    """The rule with some of its details changed."""
    cheap = sum(gap > 0 and tiny(gap) for gap in gaps)
    misleading = sum(gap > 0 and not tiny(gap) and near(gap) for gap in gaps)
    separated = sum(not near(gap) for gap in gaps)
    if misleading >= several:
        return "misleading"
    if misleading + separated == 0 and cheap >= 1:
        return "friendly"
    if misleading == 0 and cheap == 0 and separated >= several:
        return "easy"
    return ""


def _other_gaps(draw: Draw, call: Any) -> Any:
    """Gaps of all classes, the thresholds among them; one arm keeps gap zero."""
    kinds = ((0.0, 0.0), (0.0001, 0.002), (0.002, 0.002), (0.003, 0.02), (0.02, 0.02), (0.03, 0.4))
    wanted = draw.choose([(0, 1, 2), (0, 5), (0, 3, 4, 5), (0, 1, 3, 5), range(6)])
    gaps = [draw.between(*kinds[draw.choose(wanted)]) for _ in range(draw.whole(3, 8))]
    gaps[draw.whole(0, len(gaps) - 1)] = 0.0
    return (gaps,)


_GROUP = function(
    "real-data-3",
    label_of,
    [
        Case(
            "one clear subset of each group",
            (
                ([0.0, 0.0, 0.009, 0.012, 0.015, 0.2],),
                ([0.0, 0.0, 0.0, 0.001, 0.0015],),
                ([0.0, 0.0, 0.05, 0.1, 0.2, 0.3],),
                ([0.0, 0.003, 0.003, 0.003],),
                ([0.0, 0.001],),
                ([0.0, 0.03, 0.03, 0.03],),
            ),
            "Count the arms of each class first, then compare with the three definitions.",
        ),
        Case(
            "gaps exactly at 0.002 and at 0.02",
            (
                ([0.0, 0.002, 0.001],),
                ([0.0, 0.002],),
                ([0.0, 0.02, 0.02, 0.02],),
                ([0.0, 0.002, 0.01, 0.01, 0.05],),
                ([0.0, 0.02, 0.3, 0.3, 0.3],),
            ),
            "An arm at a threshold belongs to the class below it.",
        ),
        Case(
            "subsets without a group",
            (
                ([0.0, 0.01, 0.01, 0.3],),
                ([0.0, 0.0, 0.0],),
                ([0.0, 0.0, 0.05, 0.1],),
                ([0.0, 0.001, 0.1, 0.2, 0.3],),
            ),
            "Each definition has several conditions, and a subset may fail all three definitions.",
        ),
        Case(
            "misleading arms among separated ones",
            (([0.0, 0.01, 0.01, 0.01, 0.001, 0.3, 0.3, 0.3],),),
            "Three misleading arms are enough, whatever the other arms are.",
        ),
    ],
    [
        Slip(
            lambda gaps: _sorted(gaps, tiny=lambda gap: gap < 0.002),
            "A gap of exactly 0.002 is still cheap.",
        ),
        Slip(
            lambda gaps: _sorted(gaps, near=lambda gap: gap < 0.02),
            "A gap of exactly 0.02 is still misleading.",
        ),
        Slip(
            lambda gaps: _sorted(gaps, several=1),
            "A single misleading or separated arm does not make a group; how many does it take?",
        ),
    ],
    vary=_other_gaps,
)


# ---- another loudness ----------------------------------------------------------------------

_CLEAR = 0.05


def _genres(pair: Any) -> list[NDArray[np.float64]]:
    """Two lists of loudness."""
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueError("two lists are needed")
    arrays = [np.array(genre, dtype=np.float64) for genre in pair]
    if any(array.ndim != 1 or not len(array) for array in arrays):
        raise ValueError("two lists of numbers are needed")
    return arrays


def _scaled(pair: Any, lowest: float) -> list[float]:
    """The mean rewards when loudness is scaled from [lowest, 0] to [0, 1] and clipped."""
    return [float(np.clip(1 - genre / lowest, 0, 1).mean()) for genre in _genres(pair)]


def _audible(pair: Any) -> bool:
    return all(len(g) <= 10 and ((g >= -60) & (g <= 0)).all() for g in _genres(pair))


def _first_louder(pair: Any, lowest: float) -> float:
    first, second = _scaled(pair, lowest)
    return first - second


_LOUDNESS = value(
    "real-data-4",
    "a list of two lists of decibels, [first, second]",
    [[-15.0, -15.0], [0.0, -60.0]],
    [
        Aspect(
            "one to ten tracks per genre, each between -60 and 0 decibels",
            _audible,
            "Loudness is given in decibels below full scale, as in the data: from -60 to 0.",
        ),
        Aspect(
            "scaled from [-60, 0], the first genre has the larger mean, by 0.05 or more",
            lambda pair: _first_louder(pair, -60.0) >= _CLEAR - 1e-12,
            "On the wide scale nothing is clipped: the mean reward is the mean loudness, scaled.",
        ),
        Aspect(
            "scaled from [-20, 0] and clipped, the second has the larger mean, by 0.05 or more",
            lambda pair: -_first_louder(pair, -20.0) >= _CLEAR - 1e-12,
            "On the narrow scale everything below -20 decibels counts as 0. Which genre loses "
            "nothing by that?",
        ),
    ],
    [
        Slip(
            [[-3.0, -5.0], [-10.0, -12.0]],
            "Nothing is clipped here; then both scales are increasing straight lines and agree.",
        ),
        Slip(
            [[0.0, -60.0], [-15.0, -15.0]],
            "You have found such a pair, in the wrong order.",
        ),
        Slip(
            [[-25.0, -30.0], [-50.0, -55.0]],
            "Everything is clipped here; on the narrow scale both genres get 0.",
        ),
    ],
)

EXERCISES: tuple[Exercise, ...] = (_SCORES, _GROUP, _LOUDNESS)
