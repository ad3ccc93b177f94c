"""The chapter *Refresher*: the table of two worlds, and regret over log T."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momab._util.validate import FloatArray, IntArray
from momab.model.statistics import mean_interval
from momab.model.theory import bernoulli_kl

if TYPE_CHECKING:
    import pandas as pd


Rate = Mapping[str, float]
"""An observed frequency: ``rate``, and the ends ``low`` and ``high`` of its interval."""

World = tuple[float, Sequence[float], Rate, Rate]
"""A raised mean q, E[N] kl(p, q) with its interval, and the rates of E in the two worlds."""


def sure_divergence(one: Rate, two: Rate) -> float:
    """The divergence at the ends of two rates' intervals that lie closer together.

    Zero unless the first interval lies below the second.
    """
    return bernoulli_kl(one["high"], two["low"]) if one["high"] < two["low"] else 0.0


def number_or_infinity(value: float) -> str:
    """Two decimals, or the sign of infinity: an event that one world never shows."""
    return f"{value:.2f}" if math.isfinite(value) else "∞"


def world_table(worlds: Iterable[World]) -> pd.DataFrame:
    """Both sides of the change of measure, one row per raised mean, as the page prints them."""
    import pandas as pd

    def share(rate: Rate) -> str:
        return f"{rate['rate']:.3f} ({rate['low']:.3f} to {rate['high']:.3f})"

    return pd.DataFrame(
        {
            "Raised mean q": f"{q:.3f}",
            "E[N] kl(p, q)": "{:.2f} ({:.2f} to {:.2f})".format(*spent),
            "E, first world": share(one),
            "E, second world": share(two),
            "kl of the two": (
                f"{number_or_infinity(bernoulli_kl(one['rate'], two['rate']))} "
                f"(at least {sure_divergence(one, two):.2f})"
            ),
        }
        for q, spent, one, two in worlds
    )


def over_log(columns: Iterable[Any], times: Sequence[int] | IntArray) -> pd.DataFrame:
    """Mean regret over log t with its interval; one column of regrets per time t."""
    import pandas as pd

    spans: FloatArray = np.array([mean_interval(column) for column in columns])
    table = pd.DataFrame(spans / np.log(times)[:, None], columns=["mean", "low", "high"])
    return table.assign(t=times)
