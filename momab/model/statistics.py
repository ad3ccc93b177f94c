r"""The intervals of the whole book, each method once.

* :func:`mean_interval`: a mean, from few runs, by Student's t;
* :func:`normal_half_width`: anything with a standard error, by the normal law;
* :func:`bootstrap_interval`: a mean of skewed values, by the percentile bootstrap;
* :func:`clopper_pearson` and, for tables, :func:`rates`: a probability, from few or rare hits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from momab._util.validate import FloatArray, real_array, whole_number
from momab.errors import MomabError

Z95 = 1.96
"""The 97.5 % point of the normal law as it is usually written.

To two decimals on purpose: the figures and the recorded results were made with it, and the third
decimal (1.95996...) could not be seen in them.
"""


def _level(level: float) -> float:
    if not 0 < level < 1:
        raise MomabError(f"level must lie in (0, 1); it is {level!r}.")
    return float(level)


def mean_interval(values: ArrayLike) -> tuple[float, float, float]:
    r"""Compute a mean and its 95 % interval by Student's t, which allows for few runs.

    The interval is :math:`\bar x \pm t_{n-1,\,0.975}\, s/\sqrt n` with the standard deviation s
    of ddof = 1.

    Parameters
    ----------
    values : array_like
        The n observations; one alone is its own interval.

    Returns
    -------
    mean, low, high : float
    """
    from scipy.special import stdtrit

    array = real_array(values, "values")
    n, mean = len(array), float(array.mean())
    if n < 2:
        return mean, mean, mean
    half = float(stdtrit(n - 1, 0.975)) * float(array.std(ddof=1)) / math.sqrt(n)
    return mean, mean - half, mean + half


def normal_half_width(deviation: Any, n: float = 1) -> Any:
    r"""Half the width of a 95 % interval by the normal law, :math:`1.96\,s/\sqrt n`.

    Parameters
    ----------
    deviation : float or array_like
        The standard deviation of one observation, or of the estimate itself (its standard
        error) when n is 1.  Arrays and table columns are taken entry by entry.
    n : float, optional
        How many observations the estimate is the mean of.

    Returns
    -------
    float or array_like
        Of the same kind as ``deviation``.
    """
    return Z95 * deviation / math.sqrt(n)


def bootstrap_interval(
    values: FloatArray, level: float = 0.95, resamples: int = 2000
) -> tuple[float, float]:
    """Compute the percentile-bootstrap interval of a mean, with a fixed seed.

    Parameters
    ----------
    values : array of float
        The observations; a single or a constant one is its own interval.
    level : float, optional
        The coverage that is aimed at.
    resamples : int, optional
        How many samples are drawn from the sample.

    Returns
    -------
    low, high : float
    """
    from scipy.stats import bootstrap

    level = _level(level)
    if len(values) < 2 or values.min() == values.max():
        return float(values.mean()), float(values.mean())
    interval = bootstrap(
        (values,),
        np.mean,
        confidence_level=level,
        n_resamples=resamples,
        batch=max(1, 4_000_000 // len(values)),
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def clopper_pearson(hits: int, n: int, level: float = 0.95) -> tuple[float, float]:
    r"""Compute the exact interval of a probability that was hit ``hits`` times in n draws.

    Its ends are the probabilities at which as many hits or more, and as many or fewer, have
    chance :math:`(1-\text{level})/2`; it never covers less often than it says.

    Parameters
    ----------
    hits, n : int
        The hits and the draws, 0 <= hits <= n.
    level : float, optional
        The coverage.

    Returns
    -------
    low, high : float
    """
    from scipy.stats import binomtest

    n = whole_number(n, "the number of draws", least=1)
    hits = whole_number(hits, "the number of hits", least=0, most=n)
    interval = binomtest(hits, n).proportion_ci(_level(level), method="exact")
    return float(interval.low), float(interval.high)


def rates(hits: Any, name: str = "", level: float = 0.95) -> dict[str, float]:
    """Compute a rate with its exact interval (:func:`clopper_pearson`), ready for a table.

    Parameters
    ----------
    hits : array of bool
        Which draws were hits.
    name : str, optional
        What the keys begin with.
    level : float, optional
        The coverage.

    Returns
    -------
    dict
        Under "rate", "low" and "high", or "<name>_rate", "<name>_low" and "<name>_high".
    """
    count, n = int(hits.sum()), len(hits)
    low, high = clopper_pearson(count, n, level)
    prefix = f"{name}_" if name else ""
    return {f"{prefix}rate": count / n, f"{prefix}low": low, f"{prefix}high": high}
