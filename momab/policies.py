r"""The policies: what each one is (a frozen record) and how it chooses (a selection function).

Adding a policy takes one record and one function::

    @dataclass(frozen=True)
    class Greedy:
        name: ClassVar[str] = "greedy"        # keys the policy's coins
        label: ClassVar[str] = "Greedy"       # for figures

    @selection(Greedy)
    def select_greedy(policy: Greedy, view: View, coin: Coins) -> int:
        return coin.choose(top(view.means.mean(axis=1)), slot=0)

A selection function sees a :class:`View` of the run after the warm start (every arm pulled once,
in order) and returns the arm to pull.  It may keep private state in ``view.memory`` and commit
for good by setting ``view.certificate``.  Conventions: t counts the pulls already made, so the
first decision has t = K; ties are values within :data:`TIE` of the maximum, broken uniformly by
a coin; slots number the coins of one round, so that adding a coin moves no other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import combinations, product
from typing import Any, ClassVar, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from momab import pareto
from momab.checks import BoolArray, FloatArray, IntArray, positive_number
from momab.errors import MomabError
from momab.streams import Coins, log

TIE = 1e-12
OBJECTIVE_RULES = ("widest", "random", "round-robin", "oracle")
Q_RULES = ("original", "real", "synthetic")


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
    """Mask of the rows that no row dominates, by exact comparisons (see momab.pareto.front)."""
    covers = (vectors[:, None, :] >= vectors[None, :, :]).all(axis=2)
    return cast(BoolArray, ~(covers & ~covers.T).any(axis=0))


# Width-guided first-certification UCB (Algorithm 1).


@dataclass(frozen=True)
class WidthGuided:
    """Algorithm 1, with radius sqrt(c log T / N); c = 2 is the theorem's.

    ``objective_rule`` says which race is sampled while nothing is certified: the widest one
    (the paper), a random one, one after the other, or always the champion objective's, which
    an oracle tells.  The certificate is checked on all objectives whatever the rule.
    """

    c: float = 2.0
    objective_rule: str = "widest"

    family: ClassVar[str] = "width-guided"

    def __post_init__(self) -> None:
        """Check the options."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))
        _one_of(self.objective_rule, OBJECTIVE_RULES, "objective_rule")

    @property
    def name(self) -> str:
        """The name that keys the coin stream and the tables."""
        rule = self.objective_rule
        return self.family if rule == "widest" else f"{self.family}-{rule}"

    @property
    def label(self) -> str:
        """The name in figures."""
        rule = self.objective_rule
        return "Width-guided" if rule == "widest" else f"Width-guided ({rule})"


@dataclass(frozen=True)
class Races:
    """Every objective's race at one decision: the bounds, the top two arms, the widths."""

    U: FloatArray
    L: FloatArray
    beta: FloatArray
    b: NDArray[np.intp]
    c: NDArray[np.intp]
    W: FloatArray
    certified: BoolArray
    """Objectives with L[b_j, j] > U[c_j, j]."""


def races(policy: WidthGuided, view: View, coin: Coins) -> Races:
    """Lines 5-11 of Algorithm 1: slot 2j breaks the ties of b_j, slot 2j + 1 those of c_j."""
    beta = np.sqrt(policy.c * log(view.horizon) / view.counts)
    U = view.means + beta[:, None]
    L = view.means - beta[:, None]
    objectives = np.arange(view.d)
    b = _leaders(U, coin, 0)
    others = U.copy()
    others[b, objectives] = -np.inf
    c = _leaders(others, coin, 1)
    certified = L[b, objectives] > U[c, objectives]
    return Races(U, L, beta, b, c, beta[b] + beta[c], certified)


def _leaders(bounds: FloatArray, coin: Coins, first_slot: int) -> NDArray[np.intp]:
    """The arm with the largest bound per objective; ties of objective j take slot 2j + first."""
    tied = bounds >= bounds.max(axis=0) - TIE
    leaders: NDArray[np.intp] = tied.argmax(axis=0)
    for j in np.flatnonzero(tied.sum(axis=0) > 1):
        leaders[j] = coin.choose(np.flatnonzero(tied[:, j]), slot=2 * int(j) + first_slot)
    return leaders


@selection(WidthGuided)
def select_width_guided(policy: WidthGuided, view: View, coin: Coins) -> int:
    """Lines 12-19 of Algorithm 1."""
    d = view.d
    if view.certificate is not None:
        return view.certificate.arm
    race = view.details = races(policy, view, coin)
    if race.certified.any():
        proved = np.flatnonzero(race.certified)
        j = coin.choose(proved[top(race.W[proved])], slot=2 * d)
        view.certificate = Certificate(view.t, int(race.b[j]), j)
        return view.certificate.arm
    if policy.objective_rule == "widest":
        j = coin.choose(top(race.W), slot=2 * d + 1)
    elif policy.objective_rule == "random":
        j = coin.choose(range(d), slot=2 * d + 1)
    elif policy.objective_rule == "round-robin":
        j = (view.t - view.K) % d
    else:
        j = view.given.champion_objective
    pair = np.sort([race.b[j], race.c[j]])
    return coin.choose(pair[top(race.beta[pair])], slot=2 * d + 2)


# Pareto UCB1.


@dataclass(frozen=True)
class ParetoUCB1:
    """Uniform choice on the nondominated set of mean + sqrt(c log(t q) / N).

    ``q`` is (d |A*|)^(1/4) ("original"), (d K)^(1/4) ("real": the paper's real-data runs),
    (4 d K)^(1/4) ("synthetic": its synthetic runs), or a number >= 1.
    """

    q: str | float = "original"
    c: float = 2.0

    family: ClassVar[str] = "pareto-ucb1"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Pareto UCB1"

    def __post_init__(self) -> None:
        """Check the options."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))
        if isinstance(self.q, str):
            _one_of(self.q, Q_RULES, "q", or_else="a number >= 1")
            return
        q = positive_number(self.q, "q")
        if q < 1:
            raise MomabError(f"q must be at least 1, so that log(t q) is positive; it is {q!r}.")
        object.__setattr__(self, "q", q)

    def scale(self, K: int, d: int, given: Given) -> float:
        """Return q as a number; a fourth root is two square roots, which IEEE rounds exactly."""
        if isinstance(self.q, str):
            size = {"original": d * given.front_size, "real": d * K, "synthetic": 4 * d * K}
            return math.sqrt(math.sqrt(size[self.q]))
        return self.q


@selection(ParetoUCB1)
def select_pareto_ucb1(policy: ParetoUCB1, view: View, coin: Coins) -> int:
    """Slot 0 chooses among the optimistic vectors that no other dominates."""
    q = policy.scale(view.K, view.d, view.given)
    radius = np.sqrt(policy.c * log(view.t * q) / view.counts)
    optimistic = view.means + radius[:, None]
    return coin.choose(np.flatnonzero(nondominated(optimistic)), slot=0)


# Annealing-Pareto.


@dataclass(frozen=True)
class AnnealingPareto:
    """Uniform choice on a candidate set whose tolerance decay^s / (K d) anneals to zero.

    At step s = t - K the candidates are the arms within the tolerance of the empirical best on
    at least one objective, and those previous candidates (at first: all arms) that no arm's
    empirical mean vector dominates.
    """

    decay: float = 0.4

    family: ClassVar[str] = "annealing-pareto"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Annealing-Pareto"

    def __post_init__(self) -> None:
        """Check the options."""
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


# Scalarized UCB.


@dataclass(frozen=True)
class ScalarizedUCB:
    """UCB with radius sqrt(c log T / N) on one weighted sum of the objectives per round.

    The weight vectors take turns.  "paper" means :func:`paper_weights`; otherwise give them,
    one per row, nonnegative with sum 1.
    """

    weights: str | tuple[tuple[float, ...], ...] = "paper"
    c: float = 2.0

    family: ClassVar[str] = "scalarized-ucb"
    name: ClassVar[str] = family
    label: ClassVar[str] = "Scalarized UCB"

    def __post_init__(self) -> None:
        """Check the options."""
        object.__setattr__(self, "c", positive_number(self.c, "c"))
        if isinstance(self.weights, str):
            _one_of(self.weights, ("paper",), "weights", or_else="the weight vectors themselves")
            return
        object.__setattr__(self, "weights", _weight_rows(self.weights))

    def matrix(self, d: int) -> FloatArray:
        """Return the weight vectors for d objectives, one per row."""
        rows = paper_weights(d) if isinstance(self.weights, str) else self.weights
        if len(rows[0]) != d:
            raise MomabError(
                f"the weight vectors must have one entry per objective, {d}; "
                f"they have {len(rows[0])}."
            )
        return np.array(rows, dtype=np.float64)


@cache
def paper_weights(d: int) -> tuple[tuple[float, ...], ...]:
    """Return the weight vectors of the paper's runs, duplicates removed.

    d <= 6: the uniform vector u, then all vectors with entries in {0, 1/4, 1/2, 3/4, 1} and
    sum 1, in ascending order.  d > 6: u, then the unit vectors e_j, then u/2 + e_j/2, then
    0.1 u + 0.9 e_j, then e_i/2 + e_j/2 for i < j.
    """
    u = np.full(d, 1.0 / d)
    e = np.eye(d)
    if d <= 6:
        grid = [np.array(w) / 4 for w in product(range(5), repeat=d) if sum(w) == 4]
        rows = [u, *grid]
    else:
        rows = [u, *e, *(u / 2 + e / 2), *(0.1 * u + 0.9 * e)]
        rows += [(e[i] + e[j]) / 2 for i, j in combinations(range(d), 2)]
    return tuple(dict.fromkeys(tuple(map(float, row)) for row in rows))


def _weight_rows(weights: Any) -> tuple[tuple[float, ...], ...]:
    try:
        rows = tuple(tuple(float(w) for w in row) for row in weights)
    except (TypeError, ValueError):
        rows = ()
    good = bool(rows) and all(
        len(row) == len(rows[0])
        and all(math.isfinite(w) and w >= 0 for w in row)
        and abs(math.fsum(row) - 1) <= 1e-9
        for row in rows
    )
    if not good:
        raise MomabError(
            "weights must be 'paper' or weight vectors of equal length, nonnegative with sum 1."
        )
    return rows


@selection(ScalarizedUCB)
def select_scalarized_ucb(policy: ScalarizedUCB, view: View, coin: Coins) -> int:
    """Slot 0 breaks the ties of the largest score."""
    if "weights" not in view.memory:
        view.memory["weights"] = policy.matrix(view.d)
    weights = view.memory["weights"]
    weight = weights[(view.t - view.K) % len(weights)]
    score = np.zeros(view.K)
    for j in range(view.d):  # in index order, so that every engine adds in the same order
        score += weight[j] * view.means[:, j]
    score += np.sqrt(policy.c * log(view.horizon) / view.counts)
    return coin.choose(top(score), slot=0)


def _one_of(value: object, allowed: Sequence[str], what: str, or_else: str = "") -> None:
    if value not in allowed:
        choice = ", ".join(allowed) + (f", or {or_else}" if or_else else "")
        raise MomabError(f"{what} must be one of {choice}; it is {value!r}.")
