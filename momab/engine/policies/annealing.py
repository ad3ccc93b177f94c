"""Annealing-Pareto: a candidate set whose tolerance falls to zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from momab._util.validate import positive_number
from momab.engine.policies.base import Values, View, nondominated, selection
from momab.engine.streams import Coins
from momab.errors import MomabError


@dataclass(frozen=True)
class AnnealingPareto:
    """Uniform choice on a candidate set whose tolerance decay^s / (K d) anneals to zero.

    At step s = t - K the candidates are the arms within the tolerance of the empirical best on
    at least one objective, and those previous candidates (at first: all arms) that no arm's
    empirical mean vector dominates.

    Parameters
    ----------
    decay : float, optional
        The factor of the tolerance per step, in (0, 1).

    Raises
    ------
    MomabError
        If the decay lies outside (0, 1).
    """

    decay: float = 0.4

    family: ClassVar[str] = "annealing-pareto"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Annealing-Pareto"
    style: ClassVar[tuple[str, str]] = ("green", "^")
    place: ClassVar[int] = 3
    good_options: ClassVar[Values] = {"decay": (0.05, 0.4, 0.9)}
    bad_options: ClassVar[Values] = {"decay": (1.0, 0.0, "fast")}

    def __post_init__(self) -> None:
        """Validate the options."""
        decay = positive_number(self.decay, "decay")
        if decay >= 1:
            raise MomabError(f"decay must be a number in (0, 1); it is {decay!r}.")
        object.__setattr__(self, "decay", decay)


@selection(AnnealingPareto)
def select_annealing_pareto(policy: AnnealingPareto, view: View, coin: Coins) -> int:
    """Slot 0 chooses among the candidates."""
    memory = view.memory
    power = memory.get("power", 1.0)  # decay^s, by repeated multiplication
    previous = memory.get("candidates", np.ones(view.K, dtype=np.bool_))
    epsilon = power / (view.K * view.d)
    near = (view.means >= view.means.max(axis=0) - epsilon).any(axis=1)
    candidates = near | (previous & nondominated(view.means))
    memory.update(power=power * policy.decay, candidates=candidates)
    return coin.choose(np.flatnonzero(candidates), slot=0)
