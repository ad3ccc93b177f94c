"""The chapter on the algorithm: when certificates come under several rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from momab._util import prose
from momab.engine.policies.base import Policy
from momab.model.instances import Instance
from momab.study.simulate import simulate

if TYPE_CHECKING:
    import pandas as pd


def certificate_rounds(
    instance: Instance, rules: Mapping[str, Policy], horizon: int, runs: int, seed: int
) -> pd.DataFrame:
    """When the certificate comes under several rules: quartiles of its round, as in the paper."""
    import pandas as pd

    played = simulate(
        instance, rules, horizon, runs, seed, checkpoints=1, workers=1, progress=False
    ).runs
    rows: list[dict[str, Any]] = []
    for name, mine in played.groupby("policy", sort=False):
        found = mine["cert_round"].dropna().astype(float) + 1
        quartiles = found.quantile([0.25, 0.5, 0.75]).tolist()
        shown = dict(zip(("lower quartile", "median round", "upper quartile"), quartiles))
        rows.append({"rule": name, "runs": runs, "certify": len(found), **shown})
    return pd.DataFrame(rows)


_PLACES = {"lower quartile": 0, "median round": 1, "upper quartile": 0}


def _written(found: pd.DataFrame, column: str) -> pd.Series[str]:
    return found[column].map(f"{{:,.{_PLACES[column]}f}}".format).replace("nan", "none")


def written_rounds(found: pd.DataFrame) -> pd.DataFrame:
    """The table of :func:`certificate_rounds` as printed, bounds with two digits.

    Quartiles are whole rounds; a median has its half, so that ratios of what is printed are right.
    """
    printed = found.rename(columns={"rule": "c"})
    for column in _PLACES:
        printed[column] = _written(found, column)
    printed["bound on failure"] = found["bound on failure"].map(prose.tens)
    return printed


def written_medians(found: pd.DataFrame) -> pd.Series[str]:
    """Per rule of :func:`certificate_rounds` the median round, with how many runs it is of."""
    rows = found.set_index("rule")
    return _written(rows, "median round") + " (" + rows["certify"].astype(str) + ")"
