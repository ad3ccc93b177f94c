"""engine.policies.base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import BoolArray, FloatArray, IntArray
from momab.engine.streams import Coins
from momab.errors import MomabError
from momab.model import pareto

TIE = 1e-12


@runtime_checkable
class Policy(Protocol):
    """What every policy record has: a kebab-case name, which keys its coins, and a label."""

    @property
    def name(self) -> str:
        """The name that keys the coin stream and the tables."""

    @property
    def label(self) -> str:
        """The name in figures."""


@dataclass(frozen=True)
class Certificate:
    """Objective ``objective`` proved ``arm`` its unique maximiser when ``t`` pulls were made."""

    t: int
    arm: int
    objective: int


@dataclass
class View:
    """What a policy sees of one run when t pulls have been made."""

    horizon: int
    counts: IntArray
    """Pulls of each arm, shape (K,)."""
    sums: FloatArray
    """Sums of rewards in pull order, shape (K, d)."""
    means: FloatArray
    """sums / counts, shape (K, d)."""
    given: Given
    t: int = 0
    memory: dict[str, Any] = field(default_factory=dict)
    """The policy's private state, empty when the run starts."""
    certificate: Certificate | None = None
    """Set by a policy that commits: from then on it pulls ``certificate.arm``."""
    details: Any = None
    """Whatever the selection function wants an observer to see of this round."""

    @property
    def K(self) -> int:  # noqa: N802
        """The number of arms."""
        return int(self.means.shape[0])

    @property
    def d(self) -> int:
        """The number of objectives."""
        return int(self.means.shape[1])


@dataclass(frozen=True)
class Given:
    """What a policy may be told of the instance beforehand, if one of its options needs it."""

    front_size: int
    champion_objective: int


def given_for(means: FloatArray) -> Given:
    """Read off the true means what some options ask for: |A*| and the champion objective."""
    return Given(int(pareto.front(means).sum()), int(pareto.j_dagger(means)))


Selection = Callable[[Any, View, Coins], int]


SELECTIONS: dict[type, Selection] = {}
"""The selection function of every policy record."""


S = TypeVar("S", bound=Selection)


def selection(record: type) -> Callable[[S], S]:
    """Register the selection function of a policy record."""

    def register(function: S) -> S:
        SELECTIONS[record] = function
        return function

    return register


def selection_for(policy: Policy) -> Selection:
    """Return the selection function of a policy, or say which policies have one."""
    if type(policy) in SELECTIONS:
        return SELECTIONS[type(policy)]
    known = ", ".join(sorted(record.__name__ for record in SELECTIONS))
    raise MomabError(
        f"{policy!r} is not a policy; policies are records with a registered selection "
        f"function: {known}."
    )


def make_policy(name: str, **options: Any) -> Policy:
    """Build a policy from its family name, such as "pareto-ucb1", and its options."""
    families = {cast(str, getattr(record, "family", record.name)): record for record in SELECTIONS}  # type: ignore[attr-defined]
    if name not in families:
        raise MomabError(f"there is no policy {name!r}; choose from {', '.join(sorted(families))}.")
    record = families[name]
    allowed = [option.name for option in fields(cast(Any, record))]
    for option in options:
        if option not in allowed:
            choice = ", ".join(allowed) if allowed else "none"
            raise MomabError(f"{name} has no option {option!r}; its options: {choice}.")
    return cast(Policy, record(**options))


def top(values: FloatArray) -> NDArray[np.intp]:
    """Return the indices of all values within :data:`TIE` of the largest, in order."""
    return np.flatnonzero(values >= values.max() - TIE)


def nondominated(vectors: FloatArray) -> BoolArray:
    """Mask of the rows that no row dominates, by exact comparisons (see `pareto.front`)."""
    covers = (vectors[:, None, :] >= vectors[None, :, :]).all(axis=2)
    return cast(BoolArray, ~(covers & ~covers.T).any(axis=0))


def one_of(value: object, allowed: Sequence[str], what: str, or_else: str = "") -> None:
    """Refuse a value that is none of the allowed words."""
    if value not in allowed:
        choice = ", ".join(allowed) + (f", or {or_else}" if or_else else "")
        raise MomabError(f"{what} must be one of {choice}; it is {value!r}.")
