r"""What a policy is, and the registry that everything else reads.

A policy is a frozen record and a selection function, registered where it is defined::

    @dataclass(frozen=True)
    class Greedy:
        name: ClassVar[str] = "greedy"                   # keys its coins, and the command line
        label: ClassVar[str] = "Greedy"                  # in tables and figures
        style: ClassVar[tuple[str, str]] = ("gold", "v")  # palette colour and marker

    @selection(Greedy)
    def select_greedy(policy: Greedy, view: View, coin: Coins) -> int:
        return coin.choose(top(view.means.mean(axis=1)), slot=0)

A selection function sees a :class:`View` of the run after the warm start (every arm pulled once,
in order) and returns the arm to pull.  It may keep private state in ``view.memory`` and commit
for good by setting ``view.certificate``.  Conventions: t counts the pulls already made, so the
first decision has t = K; ties are values within :data:`TIE` of the maximum, broken uniformly by
a coin; slots number the coins of one round, so that adding a coin moves no other.

A module in this package registers itself by being there.  A record may also have

* ``family``, if ``name`` depends on the options: the name on the command line;
* ``coins``: the key of its coin stream, if that is not its name: two policies with one key take
  the same coins, so that they play the same path for as long as they decide alike;
* ``place``: its number in the lists that name no policies (`momab simulate`, `momab bench`);
  without one it is played only by name;
* ``good_options`` and ``bad_options``: values of every option that the conformance test draws
  from, and that it must see refused;
* ``as_published(instance)``: the record as the paper ran it on this kind of instance;
* ``rounds_played(instance, horizon)``: a ceiling on the rounds before it commits, for planning.

A kernel in ``momab.engine._kernels`` registers itself there.  The conformance test of the
engine runs over all registered policies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from momab._util.validate import BoolArray, FloatArray, IntArray, whole_number
from momab.engine.streams import Coins
from momab.errors import MomabError
from momab.model import pareto
from momab.model.instances import Instance

TIE = 1e-12
"""Values this close to the largest are tied with it."""

Values = Mapping[str, tuple[Any, ...]]
"""Some values of every option of a record."""

COEFFICIENTS = (0.001, 0.02, 0.1, 0.5, 2.0)
"""Confidence coefficients that play differently: hasty, tuned, the theorem's."""


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
"""The registry: the selection function of every policy record."""


S = TypeVar("S", bound=Selection)


def selection(record: type) -> Callable[[S], S]:
    """Register the selection function of a policy record: a decorator.

    Parameters
    ----------
    record : type
        The policy's record, a frozen dataclass with a ``name`` and a ``label``.

    Returns
    -------
    callable
        The decorator, which leaves the selection function as it is.  The function takes the
        policy, a :class:`View` and the round's :class:`~momab.engine.streams.Coins`, and returns
        the arm to pull.
    """

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


def coins_of(policy: Policy) -> str:
    """Return the key of a policy's coin stream: its ``coins``, or else its name."""
    return str(getattr(policy, "coins", policy.name))


def family_of(record: type) -> str:
    """Return the name of a record on the command line, whatever its options."""
    return cast(str, getattr(record, "family", None) or record.name)  # type: ignore[attr-defined]


def registered() -> list[Any]:
    """Return all policy records: those with a place in their order, then the others by name."""
    return sorted(SELECTIONS, key=lambda r: (getattr(r, "place", np.inf), family_of(r)))


def standard() -> list[Any]:
    """Return the records that are played when no policy is named, in their order."""
    return [record for record in registered() if hasattr(record, "place")]


def as_published(record: Any, instance: Instance) -> Policy:
    """Build a policy as the paper ran it on this kind of instance, by default without options."""
    build = getattr(record, "as_published", None)
    return cast(Policy, build(instance) if build else record())


def make_policy(name: str, **options: Any) -> Policy:
    """Build a policy from its family name, such as "pareto-ucb1", and its options."""
    families = {family_of(record): record for record in SELECTIONS}
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


OBJECTIVE_CHOICES = ("oracle", "random")
"""How the objective of a scalar policy is found if it is not given by its number."""

OBJECTIVE_SLOT = 1
"""The slot of the coin that draws the objective."""


@dataclass(frozen=True)
class OneObjective:
    """What policies share that look at one objective only: how it is chosen.

    ``objective`` is its number, counted from 0; or "oracle", the champion objective, which the
    policy is told; or "random", one that a coin of the first decision draws uniformly and that
    is kept for the whole run.  A subclass has a ``family`` and a ``title``.
    """

    objective: int | str = 0

    family: ClassVar[str]
    title: ClassVar[str]

    def __post_init__(self) -> None:
        """Validate the objective."""
        if isinstance(self.objective, str):
            one_of(self.objective, OBJECTIVE_CHOICES, "objective", or_else="a whole number >= 0")
        else:
            number = whole_number(self.objective, "objective", least=0)
            object.__setattr__(self, "objective", number)

    @property
    def name(self) -> str:
        """The name that keys the coin stream and the tables; objective 0 goes without saying."""
        return self.family if self.objective == 0 else f"{self.family}-{self.objective}"

    @property
    def label(self) -> str:
        """The name in figures, which count objectives from 1."""
        if isinstance(self.objective, str):
            return f"{self.title} ({self.objective})"
        return (
            self.title if self.objective == 0 else f"{self.title} (objective {1 + self.objective})"
        )

    def known_objective(self, d: int, given: Given) -> int | None:
        """Return the objective among d if it is known beforehand, None if a coin draws it."""
        if isinstance(self.objective, str):
            return given.champion_objective if self.objective == "oracle" else None
        if self.objective >= d:
            raise MomabError(
                f"objective must be one of 0..{d - 1} on this instance; it is {self.objective}."
            )
        return self.objective

    def watched(self, view: View, coin: Coins) -> int:
        """Return the objective of this run; the first call settles it for good."""
        if "objective" not in view.memory:
            known = self.known_objective(view.d, view.given)
            drawn = coin.choose(range(view.d), slot=OBJECTIVE_SLOT) if known is None else known
            view.memory["objective"] = drawn
        return cast(int, view.memory["objective"])
