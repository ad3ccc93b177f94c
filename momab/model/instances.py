"""What a bandit instance is: mean vectors, a source of rewards, and names.

A pull of arm a returns one reward vector in :math:`[0,1]^d` from the arm's source.  Four sources
cover the paper and users' own data:

* :class:`Bernoulli`: independent 0/1 coordinates with the given means;
* :class:`Duplicated`: one 0/1 draw copied into every coordinate (the lower bound's subclass);
* :class:`Rows`: a whole row of a table, drawn with replacement from the arm's rows;
* :class:`Samples`: every coordinate drawn with replacement from its own list of samples.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from momab._util.memory import require_memory
from momab._util.validate import (
    FloatArray,
    IntArray,
    mean_array,
    name_tuple,
    positive_number,
    real_array,
    shown,
    unit_interval,
    whole_number,
)
from momab.errors import MomabError
from momab.model import pareto

if TYPE_CHECKING:
    pass


def _frozen(array: Any) -> Any:
    array = np.ascontiguousarray(array).copy()
    array.setflags(write=False)
    return array


def _mean(values: FloatArray) -> float:
    """The mean from an exactly rounded sum, so that every machine gets the same digits."""
    return math.fsum(values) / len(values)


def _digest(kind: str, *arrays: Any) -> str:
    """Name the content of a source: equal digests mean equal rewards for equal seeds."""
    sha = hashlib.sha256(kind.encode())
    for array in arrays:
        sha.update(repr((array.dtype.str, array.shape)).encode())
        sha.update(array.tobytes())
    return sha.hexdigest()


@dataclass(frozen=True, eq=False)
class Bernoulli:
    """Independent Bernoulli coordinates: coordinate j of arm a has mean ``means[a, j]``."""

    means: FloatArray

    @property
    def digest(self) -> str:
        """A hash of the content."""
        return _digest("bernoulli", self.means)


@dataclass(frozen=True, eq=False)
class Duplicated:
    """One Bernoulli(theta[a]) draw per pull, copied into all d coordinates."""

    theta: FloatArray
    d: int

    @property
    def means(self) -> FloatArray:
        """The (K, d) means."""
        return np.repeat(self.theta[:, None], self.d, axis=1)

    @property
    def digest(self) -> str:
        """A hash of the content."""
        return _digest(f"duplicated {self.d}", self.theta)


@dataclass(frozen=True, eq=False)
class Rows:
    """Whole reward rows: arm a draws from ``table[offsets[a]:offsets[a + 1]]``."""

    table: FloatArray
    offsets: IntArray

    @property
    def means(self) -> FloatArray:
        """The (K, d) means."""
        pieces = [self.table[lo:hi] for lo, hi in zip(self.offsets, self.offsets[1:])]
        return np.array([[_mean(column) for column in piece.T] for piece in pieces])

    @property
    def digest(self) -> str:
        """A hash of the content."""
        return _digest("rows", self.table, self.offsets)


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples per arm and objective: ``values[offsets[a * d + j]:offsets[a * d + j + 1]]``."""

    values: FloatArray
    offsets: IntArray
    d: int

    @property
    def means(self) -> FloatArray:
        """The (K, d) means."""
        flat = [_mean(self.values[lo:hi]) for lo, hi in zip(self.offsets, self.offsets[1:])]
        return np.array(flat).reshape(-1, self.d)

    @property
    def digest(self) -> str:
        """A hash of the content."""
        return _digest(f"samples {self.d}", self.values, self.offsets)


RewardSource = Bernoulli | Duplicated | Rows | Samples


@dataclass(frozen=True, eq=False)
class Instance:
    """A stochastic multi-objective bandit: K arms, d objectives, rewards in [0, 1]^d.

    Made by the builders of this module, which validate what they are given.

    Parameters
    ----------
    source : Bernoulli, Duplicated, Rows or Samples
        What a pull draws from.
    arm_names, objective_names : tuple of str
        The names in tables and figures, one per arm and objective.
    name : str
        The name of the instance.
    """

    source: RewardSource
    arm_names: tuple[str, ...]
    objective_names: tuple[str, ...]
    name: str

    @cached_property
    def means(self) -> FloatArray:
        """The (K, d) mean vectors."""
        means: FloatArray = _frozen(self.source.means)
        return means

    @property
    def K(self) -> int:  # noqa: N802
        """The number of arms."""
        return len(self.arm_names)

    @property
    def d(self) -> int:
        """The number of objectives."""
        return len(self.objective_names)

    @cached_property
    def geometry(self) -> pareto.Geometry:
        """Front, gaps and consistency of the means."""
        return pareto.geometry(self.means)

    @cached_property
    def digest(self) -> str:
        """A hash of the reward source: what the rewards are, whatever their names."""
        return self.source.digest

    def subset(self, arms: Sequence[int], name: str | None = None) -> Instance:
        """The instance with only these arms, in this order."""
        chosen = [whole_number(a, "an arm index", least=0, most=self.K - 1) for a in arms]
        if len(set(chosen)) != len(chosen):
            raise MomabError("a subset must not name an arm twice.")
        if len(chosen) < 2:
            raise MomabError(f"a subset must have at least 2 arms; it has {len(chosen)}.")
        return Instance(
            source=_pick(self.source, chosen),
            arm_names=tuple(self.arm_names[a] for a in chosen),
            objective_names=self.objective_names,
            name=name if name is not None else f"{self.name} ({len(chosen)} arms)",
        )


def _pick(source: RewardSource, arms: list[int]) -> RewardSource:
    """The same source with only these arms."""
    if isinstance(source, Bernoulli):
        return Bernoulli(_frozen(source.means[arms]))
    if isinstance(source, Duplicated):
        return Duplicated(_frozen(source.theta[arms]), source.d)
    if isinstance(source, Rows):
        pieces = [source.table[source.offsets[a] : source.offsets[a + 1]] for a in arms]
        return Rows(_frozen(np.concatenate(pieces)), _offsets(pieces))
    d = source.d
    pieces = [
        source.values[source.offsets[a * d + j] : source.offsets[a * d + j + 1]]
        for a in arms
        for j in range(d)
    ]
    return Samples(_frozen(np.concatenate(pieces)), _offsets(pieces), d)


def _offsets(pieces: Sequence[FloatArray]) -> IntArray:
    offsets: IntArray = _frozen(np.cumsum([0, *(len(p) for p in pieces)], dtype=np.int64))
    return offsets


def bernoulli(
    means: ArrayLike,
    arm_names: Sequence[str] | None = None,
    objective_names: Sequence[str] | None = None,
    name: str = "Bernoulli",
) -> Instance:
    """An instance with independent Bernoulli coordinates and the given (K, d) means.

    Parameters
    ----------
    means : array_like
        The means, shape (K, d), in [0, 1].
    arm_names : sequence of str, optional
        The names of the arms; made up unless given.
    objective_names : sequence of str, optional
        The names of the objectives; made up unless given.
    name : str, optional
        The name of the instance.

    Returns
    -------
    Instance

    Raises
    ------
    MomabError
        If a mean lies outside [0, 1], or names are missing or repeated.
    """
    mu = unit_interval(_one_instance(means), "means")
    K, d = mu.shape
    return Instance(
        source=Bernoulli(_frozen(mu)),
        arm_names=name_tuple(arm_names, K, "arm", "arm_names"),
        objective_names=name_tuple(objective_names, d, "objective", "objective_names"),
        name=name,
    )


def _one_instance(means: ArrayLike) -> FloatArray:
    mu = mean_array(means)
    if mu.ndim != 2:
        raise MomabError(f"means must have shape (arms, objectives); the shape is {mu.shape}.")
    return mu


def _arms(K: int, d: int, least: int, instances: int = 1) -> int:
    """The number of arms, if as many arms with d objectives fit into memory."""
    K = whole_number(K, "K", least=least)
    d = whole_number(d, "d", least=1)
    count = whole_number(instances, "instances", least=1)
    require_memory(count * K * (200 + 32 * d), f"{shown(K)} arms with {shown(d)} objectives")
    return K


def zero_gap() -> Instance:
    """Build the counterexample of Proposition 1: (1, 1) dominates (1, 0), whose gap is 0."""
    return bernoulli([[1.0, 1.0], [1.0, 0.0]], name="zero-gap counterexample")


SYNTHETIC_SETTINGS = (
    (0.12, 1),
    (0.08, 1),
    (0.04, 1),
    (0.02, 1),
    (0.01, 1),
    (0.02, 4),
    (0.02, 8),
    (0.02, 12),
)
"""The eight settings (delta, m) of the paper's Table 2, in its order."""


def synthetic(
    delta: float,
    m: int,
    K: int = 20,
    p: float = 0.25,
    g: float = 0.55,
    eta: float = 0.20,
    filler: float = 0.05,
) -> Instance:
    """Build the paper's synthetic family (d = 2).

    Two arms (p + g, p) and (p, p + g) make the front; a crowd of m arms sits at
    (p - eta, p + g - delta), a Pareto gap of delta below it; the rest are fillers with both
    means equal to ``filler``.  The paper does not state the filler mean; 0.05 is the value
    that reproduces its C_PUCB column.

    Parameters
    ----------
    delta : float
        The Pareto gap of the crowd.
    m : int
        The size of the crowd, at most K - 2.
    K : int, optional
        The number of arms, at least 3.
    p : float, optional
        The low mean of the front's arms.
    g : float, optional
        The lead of each of them on its objective.
    eta : float, optional
        How far the crowd is below p on the first objective.
    filler : float, optional
        Both means of the fillers.

    Returns
    -------
    Instance

    Raises
    ------
    MomabError
        If the numbers make no instance with means in [0, 1].
    """
    K = _arms(K, 2, least=3)
    m = whole_number(m, "the crowd size m", least=0, most=K - 2)
    crowd = (p - eta, p + g - delta)
    means = np.array([(p + g, p), (p, p + g), *[crowd] * m, *[(filler, filler)] * (K - 2 - m)])
    names = ["front 1", "front 2", *(f"crowd {i + 1}" for i in range(m))]
    names += [f"filler {i + 1}" for i in range(K - 2 - m)]
    return bernoulli(means, arm_names=names, name=f"synthetic (delta={delta:g}, m={m})")


def duplicated(delta: float, K: int, d: int) -> Instance:
    """Build the lower bound's instance: one Bernoulli draw copied into all d coordinates.

    Arm 0 has mean 1/2 + delta, the others 1/2, so every objective gap and every positive
    Pareto gap equals delta.

    Parameters
    ----------
    delta : float
        The scalar gap, > 0.
    K : int
        The number of arms, at least 2.
    d : int
        The number of objectives, at least 1.

    Returns
    -------
    Instance

    Raises
    ------
    MomabError
        If delta or a size is not allowed.
    """
    K = _arms(K, d, least=2)
    theta = np.full(K, 0.5)
    theta[0] += positive_number(delta, "delta")
    return duplicated_coordinates(theta, d, name=f"duplicated (delta={delta:g}, K={K}, d={d})")


def duplicated_coordinates(theta: ArrayLike, d: int, name: str = "duplicated") -> Instance:
    """An instance whose arm a copies one Bernoulli(theta[a]) draw into all d coordinates."""
    scalar = unit_interval(real_array(theta, "theta"), "theta")
    if scalar.ndim != 1 or len(scalar) < 2:
        raise MomabError(f"theta must hold at least 2 scalar means; its shape is {scalar.shape}.")
    d = whole_number(d, "d", least=1)
    return Instance(
        source=Duplicated(_frozen(scalar), d),
        arm_names=name_tuple(None, len(scalar), "arm", "arm_names"),
        objective_names=name_tuple(None, d, "objective", "objective_names"),
        name=name,
    )


def random_means(
    K: int, d: int, seed: int, levels: int | None = None, instances: int | None = None
) -> FloatArray:
    """Draw means uniformly: from [0, 1], or from a grid of ``levels`` equally spaced values.

    Shape (K, d), or (instances, K, d) for a stack to sweep over.
    """
    K = _arms(K, d, least=2, instances=1 if instances is None else instances)
    d = whole_number(d, "d", least=1)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    shape: tuple[int, ...] = (K, d)
    if instances is not None:
        shape = (whole_number(instances, "instances", least=1), K, d)
    if levels is None:
        return rng.random(shape)
    levels = whole_number(levels, "levels", least=2)
    grid: FloatArray = rng.integers(0, levels, shape) / (levels - 1)
    return grid


def random_bernoulli(K: int, d: int, seed: int, levels: int | None = None) -> Instance:
    """Build a Bernoulli instance with :func:`random_means`."""
    grid = "" if levels is None else f", {levels} levels"
    return bernoulli(
        random_means(K, d, seed, levels), name=f"random (K={K}, d={d}, seed={seed}{grid})"
    )


def from_rows(
    tables: Mapping[str, ArrayLike] | Sequence[ArrayLike],
    objective_names: Sequence[str] | None = None,
    name: str = "reward rows",
) -> Instance:
    """An instance whose pulls draw whole rows: one (n_a, d) table of rewards per arm."""
    arm_names, parts = _per_arm(tables)
    pieces: list[FloatArray] = []
    for arm, part in zip(arm_names, parts):
        table = real_array(part, f"the rewards of {arm!r}")
        if table.ndim != 2:
            raise MomabError(
                f"the rewards of {arm!r} must have shape (rows, objectives); "
                f"the shape is {table.shape}."
            )
        if pieces and table.shape[1] != pieces[0].shape[1]:
            raise MomabError(
                f"every arm needs the same objectives; {arm!r} has {table.shape[1]}, "
                f"{arm_names[0]!r} has {pieces[0].shape[1]}."
            )
        pieces.append(unit_interval(table, f"the rewards of {arm!r}"))
    return Instance(
        source=Rows(_frozen(np.concatenate(pieces)), _offsets(pieces)),
        arm_names=arm_names,
        objective_names=name_tuple(
            objective_names, pieces[0].shape[1], "objective", "objective_names"
        ),
        name=name,
    )


def from_samples(
    samples: Mapping[str, Sequence[ArrayLike]] | Sequence[Sequence[ArrayLike]],
    objective_names: Sequence[str] | None = None,
    name: str = "reward samples",
) -> Instance:
    """An instance whose coordinates are drawn independently: d lists of rewards per arm."""
    arm_names, parts = _per_arm(samples)
    d = len(parts[0])
    if d == 0:
        raise MomabError(f"{arm_names[0]!r} must have samples for at least one objective.")
    pieces: list[FloatArray] = []
    for arm, lists in zip(arm_names, parts):
        if len(lists) != d:
            raise MomabError(
                f"every arm needs the same objectives; {arm!r} has {len(lists)}, "
                f"{arm_names[0]!r} has {d}."
            )
        for j, values in enumerate(lists):
            what = f"the samples of {arm!r}, objective {j}"
            column = real_array(values, what)
            if column.ndim != 1:
                raise MomabError(f"{what} must be a list; the shape is {column.shape}.")
            pieces.append(unit_interval(column, what))
    return Instance(
        source=Samples(_frozen(np.concatenate(pieces)), _offsets(pieces), d),
        arm_names=arm_names,
        objective_names=name_tuple(objective_names, d, "objective", "objective_names"),
        name=name,
    )


def _per_arm(parts: Mapping[str, Any] | Sequence[Any]) -> tuple[tuple[str, ...], list[Any]]:
    names = tuple(str(k) for k in parts) if isinstance(parts, Mapping) else None
    values = list(parts.values()) if isinstance(parts, Mapping) else list(parts)
    if len(values) < 2:
        raise MomabError(f"an instance must have at least 2 arms; {len(values)} were given.")
    return name_tuple(names, len(values), "arm", "arm names"), values
