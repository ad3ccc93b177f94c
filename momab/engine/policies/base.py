r"""What a policy is, and the registry that everything else reads.

A policy is a class with options and up to three short methods::

    @dataclass(frozen=True)
    class Greedy(Policy):
        name: ClassVar[str] = "greedy"                   # keys its coins, and the command line
        label: ClassVar[str] = "Greedy"                  # in tables and figures
        style: ClassVar[tuple[str, str]] = ("gold", "v")  # palette colour and marker

        def start(self):                 # when a run starts: what it wants to remember
            self.score = np.zeros(self.K)

        def moved(self, arm):            # after each pull: one arm has moved
            self.score[arm] = self.means[arm, 0]

        def select(self, t, coin):       # after the warm start: the arm of round t
            return choose_top(self.score, 0, coin)

In all three, ``self`` holds the options, the numbers ``K``, ``d``, ``T`` (the horizon),
``front_size`` and ``champion_objective`` (which only a policy that is told may use), the driver's
arrays ``counts`` (K,), ``sums`` and ``means`` (K, d), and what ``start`` puts there.  ``moved`` and
``select`` are written in the plain-loop subset (see :mod:`momab.engine.tools`), so that CPython
and numba run the same text; they change arrays, not attributes.  A class that says
``compiled = False`` is never compiled and may do anything.

Conventions: t counts the pulls already made, so the first decision has t = K, after every arm was
pulled once, in order; ties are values within TIE of the maximum, broken uniformly by a coin;
slots number the coins of one round, so that adding a coin moves no other; a policy commits by
:func:`momab.engine.tools.commit`, and the driver keeps the commitment.

A module in this package registers itself by being there.  A record may also have

* ``family``, if ``name`` depends on the options: the name on the command line;
* ``coins``: the key of its coin stream, if that is not its name: two policies with one key take
  the same coins, so that they play the same path for as long as they decide alike;
* ``place``: its number in the lists that name no policies (`momab simulate`, `momab tools bench`);
  without one it is played only by name;
* ``good_options`` and ``bad_options``: values of every option that the conformance test draws
  from, and that it must see refused;
* ``as_published(instance)``: the record as the paper ran it on this kind of instance;
* ``rounds_played(instance, horizon)``: a ceiling on the rounds before it commits, for planning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import ModuleType
from typing import Any, ClassVar, cast

import numpy as np

from momab._util.validate import FloatArray, IntArray, whole_number
from momab.engine.streams import Coins
from momab.engine.tools import UNTIL, choose
from momab.errors import MomabError
from momab.model import pareto
from momab.model.instances import Instance

Values = Mapping[str, tuple[Any, ...]]
"""Some values of every option of a record."""

COEFFICIENTS = (0.001, 0.02, 0.1, 0.5, 2.0)
"""Confidence coefficients that play differently: hasty, tuned, the theorem's."""


class Policy:
    """What every policy is: options, a name, a label, and what it does in a run."""

    compiled: ClassVar[bool] = True
    """Whether ``moved`` and ``select`` are in the plain-loop subset."""

    # in a run:
    K: int
    d: int
    T: int
    front_size: int
    champion_objective: int
    counts: IntArray
    sums: FloatArray
    means: FloatArray
    commitment: IntArray

    @property
    def name(self) -> str:
        """The kebab-case name that keys the coin stream and the tables."""
        return "-".join(_words(type(self).__name__)).lower()

    @property
    def label(self) -> str:
        """The name in figures."""
        return " ".join(_words(type(self).__name__))

    def start(self) -> None:
        """Make what a run remembers: arrays, and numbers that do not change."""

    def moved(self, arm: int) -> None:
        """Hear that the count, the sums and the means of an arm have changed."""

    def select(self, t: int, coin: Coins) -> int:
        """Return the arm to pull when t pulls have been made."""
        raise NotImplementedError


def _words(name: str) -> list[str]:
    """Split a class name such as "EpsilonGreedy" or "MyUCB1" into its words."""
    return re.findall(r"[A-Z]+[0-9]*(?![a-z])|[A-Z]?[a-z0-9]+", name) or [name]


@dataclass(frozen=True)
class Certificate:
    """Objective ``objective`` proved ``arm`` its unique maximiser when ``t`` pulls were made."""

    t: int
    arm: int
    objective: int


@dataclass(frozen=True)
class Given:
    """What a policy may be told of the instance beforehand, if one of its options needs it."""

    front_size: int
    champion_objective: int


def given_for(means: FloatArray) -> Given:
    """Read off the true means what some options ask for: |A*| and the champion objective."""
    return Given(int(pareto.front(means).sum()), int(pareto.j_dagger(means)))


@cache
def _player_class(kind: type) -> type:
    """The class of a policy's players: the policy's methods, and attributes that can be set."""
    return type(kind.__name__, (kind,), {"__setattr__": object.__setattr__})


def require_policy(policy: object) -> None:
    """Refuse what is not a policy, and say what is."""
    if not isinstance(policy, Policy):
        known = ", ".join(sorted(record.__name__ for record in RECORDS))
        raise MomabError(
            f"{policy!r} is not a policy; policies are objects of classes derived from "
            f"momab.Policy, such as {known}."
        )
    name = type(policy).__name__
    if type(policy).select is Policy.select:
        raise MomabError(f"{name} needs a method select(self, t, coin), which returns an arm.")


def seat(
    policy: Policy, K: int, d: int, horizon: int, given: Given, kind: type | None = None
) -> Any:
    """Return a player of a policy: its options, the driver's arrays, and what ``start`` makes.

    ``kind`` is the class of an accelerator.
    """
    player: Any = object.__new__(_player_class(kind or type(policy)))
    vars(player).update(vars(policy))
    player.K, player.d, player.T = K, d, horizon
    player.front_size, player.champion_objective = given.front_size, given.champion_objective
    player.counts = np.zeros(K, dtype=np.int64)
    player.sums, player.means = np.zeros((K, d)), np.zeros((K, d))
    player.commitment = np.full(UNTIL + 1, -1, dtype=np.int64)
    player.start()
    return player


RECORDS: list[type[Policy]] = []
"""The registry: every policy of this package."""


def register_all(module: ModuleType) -> None:
    """Add the policies that a module defines to the registry: classes with a name of their own."""
    for thing in vars(module).values():
        if isinstance(thing, type) and thing.__module__ == module.__name__:
            own = issubclass(thing, Policy) and thing not in (Policy, OneObjective)
            if own and thing not in RECORDS:
                RECORDS.append(thing)


def coins_of(policy: Policy) -> str:
    """Return the key of a policy's coin stream: its ``coins``, or else its name."""
    return str(getattr(policy, "coins", policy.name))


def family_of(record: type) -> str:
    """Return the name of a record on the command line, whatever its options."""
    return cast(str, getattr(record, "family", None) or record.name)  # type: ignore[attr-defined]


def registered() -> list[Any]:
    """Return all policy records: those with a place in their order, then the others by name."""
    return sorted(RECORDS, key=lambda r: (getattr(r, "place", np.inf), family_of(r)))


def standard() -> list[Any]:
    """Return the records that are played when no policy is named, in their order."""
    return [record for record in registered() if hasattr(record, "place")]


def as_published(record: Any, instance: Instance) -> Policy:
    """Build a policy as the paper ran it on this kind of instance, by default without options."""
    build = getattr(record, "as_published", None)
    return cast(Policy, build(instance) if build else record())


def make_policy(name: str, **options: Any) -> Policy:
    """Build a policy from its family name, such as "pareto-ucb1", and its options."""
    families = {family_of(record): record for record in RECORDS}
    if name not in families:
        raise MomabError(f"there is no policy {name!r}; choose from {', '.join(sorted(families))}.")
    return with_options(families[name], name, options)


def with_options(record: type[Policy], name: str, options: Mapping[str, Any]) -> Policy:
    """Build a policy with its options; say which ones it has if there is another."""
    known: Any = fields(record) if is_dataclass(record) else ()
    allowed = [option.name for option in known]
    for option in options:
        if option not in allowed:
            choice = ", ".join(allowed) if allowed else "none"
            raise MomabError(f"{name} has no option {option!r}; its options: {choice}.")
    return record(**options)


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
class OneObjective(Policy):
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

    def start(self) -> None:
        """Settle the objective, unless a coin of the first decision draws it."""
        known: int | str = self.objective
        if known == "oracle":
            known = self.champion_objective
        if not isinstance(known, str) and known >= self.d:
            raise MomabError(
                f"objective must be one of 0..{self.d - 1} on this instance; it is {known}."
            )
        self.watched = np.array([-1 if isinstance(known, str) else known])


def watched_objective(self: Any, coin: Coins) -> int:
    """Return the objective of this run; the first decision draws it if it is not known."""
    if self.watched[0] < 0:
        self.watched[0] = choose(self.d, OBJECTIVE_SLOT, coin)
    return self.watched[0]
