"""Simulations: instances x policies x runs -> tidy tables.

>>> from momab import ParetoUCB1, WidthGuided, simulate, synthetic
>>> results = simulate(
...     synthetic(delta=0.02, m=8),
...     [WidthGuided(), ParetoUCB1(q="synthetic")],
...     horizon=10_000, runs=4, seed=1, progress=False,
... )
>>> list(results.summary()["runs"])
[4, 4]

Run r of a policy depends on (seed, r) alone: the number of workers, the order of execution,
the kind of engine, interruptions and later additions change no digit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from momab._util.cluster import named_client, watched
from momab._util.memory import require_memory
from momab._util.processes import end_with_parent
from momab._util.progress import progress as progress_bar
from momab._util.validate import LONGEST, IntArray, horizon_for, shown, whole_number
from momab.engine.loop import is_compiled, play_block, to_compile
from momab.engine.policies.base import Policy, require_policy
from momab.errors import MomabError
from momab.model import metrics, pareto
from momab.model.instances import Instance
from momab.study.provenance import describe_policy, provenance_versions
from momab.study.results import Results, SimulationTask
from momab.study.store import Columns, Store, missing_runs

PIECE_ROUNDS = 8_000_000
"""About a second of compiled work: what an interruption can lose per worker."""


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation; ``results`` holds the runs that were finished."""

    def __init__(self, results: Results, store: Path | None) -> None:
        """Say how much is kept and how to go on."""
        done, wanted = len(results.runs), results.provenance["wanted_runs"]
        if not done:
            super().__init__(f"stopped before the first of {wanted} runs was finished.")
        else:
            kept = (
                f"they are kept in {store}, and the same command goes on from there"
                if store
                else "give a run store to keep them"
            )
            super().__init__(f"stopped with {done} of {wanted} runs finished; {kept}.")
        self.results = results


def play_piece(task: SimulationTask, runs: range) -> Columns:
    """Play some runs of a task and judge them."""
    instance = task.instance
    block = play_block(
        instance,
        task.policy,
        task.horizon,
        task.seed,
        runs.start,
        len(runs),
        task.checkpoints,
        final_sums=task.front_metrics,
        engine=task.engine,
    )
    geo = instance.geometry
    on_front = pareto.front(instance.means)
    gaps, unfair = geo.gaps, metrics.fairness_costs(instance.means)
    recommended = metrics.recommendation(block.tail_pulls)
    certified = block.cert_round >= 0
    unique = geo.objective_gaps[block.cert_objective] > 0
    best = instance.means.argmax(axis=0)[block.cert_objective]
    columns: Columns = {
        "pareto_regret": metrics.weighted_pulls(block.pulls, gaps),
        "fairness_regret": metrics.weighted_pulls(block.pulls, unfair),
        "recommended": recommended,
        "detected": on_front[recommended],
        "coverage_entropy": metrics.coverage_entropy(block.pulls, on_front),
        "certified": certified,
        "cert_round": block.cert_round,
        "cert_arm": block.cert_arm,
        "cert_objective": block.cert_objective,
        "cert_true": certified & unique & (best == block.cert_arm),
        "cert_on_front": certified & on_front[block.cert_arm],
        "pulls": block.pulls,
        "regret_path": metrics.weighted_pulls(block.checkpoint_pulls, gaps),
        "fairness_path": metrics.weighted_pulls(block.checkpoint_pulls, unfair),
    }
    if block.sums.size:
        scores = metrics.front_precision_recall(block.sums, block.pulls, instance.means)
        columns["front_precision"], columns["front_recall"] = scores.T
    return columns


def log_checkpoints(horizon: int, count: int) -> IntArray:
    """About ``count`` distinct rounds from 1 to the horizon, evenly spaced on a log scale."""
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    if count == 1:
        return np.array([horizon])
    return np.unique(np.rint(np.geomspace(1, horizon, count)).astype(np.int64))


def piece_size(task: SimulationTask) -> int:
    """Runs per piece: about :data:`PIECE_ROUNDS` rounds that are really played."""
    rounds = float(task.horizon)
    ceiling = getattr(task.policy, "rounds_played", None)
    if ceiling is not None and not task.front_metrics:
        rounds = ceiling(task.instance, task.horizon)
    return int(np.clip(PIECE_ROUNDS / rounds, 1, 1024))


def memory_of(tasks: Sequence[SimulationTask], runs: int, workers: int) -> float:
    """About how many bytes a simulation needs.

    That is what all runs leave, twice while it is joined, and what the workers keep of the
    pieces they play.
    """
    left, playing = 0, 0.0
    for task in tasks:
        arms, rounds = task.instance.K, len(task.checkpoints)
        left += 2 * runs * (8 * arms + 16 * rounds + 120)
        piece = min(runs, piece_size(task))
        playing = max(playing, workers * piece * arms * 8.0 * (rounds + task.instance.d + 2))
    return left + int(playing)


class Execution(TypedDict, total=False):
    """How runs are computed, which changes no digit."""

    workers: int | None
    client: Any
    store: str | os.PathLike[str] | None
    engine: str
    progress: bool | None


def simulate(
    instances: Instance | Sequence[Instance] | Mapping[str, Instance],
    policies: Policy | Sequence[Policy] | Mapping[str, Policy],
    horizon: int,
    runs: int,
    seed: int = 0,
    checkpoints: int = 200,
    front_metrics: bool = False,
    **how: Unpack[Execution],
) -> Results:
    """Play every policy on every instance, ``runs`` times each, for ``horizon`` rounds.

    Parameters
    ----------
    instances : Instance, sequence or mapping
        What is played on; a mapping gives the names in the tables.
    policies : Policy, sequence or mapping
        The policies that play, with names as above.
    horizon : int
        The rounds T of a run, at least the number of arms.
    runs : int
        The runs of every policy on every instance.
    seed : int, optional
        The seed of all streams, in 0..2**64 - 1.
    checkpoints : int, optional
        The number of log-spaced rounds at which trajectories are kept.
    front_metrics : bool, optional
        Ask for front precision and recall, which need the rewards after a commitment and so
        cost the whole horizon.
    workers : int, optional
        Cores to use; all unless told.
    client : dask.distributed.Client, optional
        Spread the same work over its cluster instead; unless told, over the one whose address
        is in the environment variable ``MOMAB_DASK``, if there is one.
    store : path, optional
        A folder that keeps finished runs, which are never computed again.
    engine : {"auto", "numba", "driver", "python"}, optional
        Compiled if possible; compiled; compiled without accelerators; not compiled.  The digits
        agree.
    progress : bool, optional
        Show a bar with the time left; unless told, when standard error is a terminal.

    Returns
    -------
    Results
        The tables.

    Raises
    ------
    MomabError
        If an argument is not as above, in one sentence, before anything runs.
    SimulationInterrupted
        After Ctrl-C; it holds the runs that were finished.
    """
    for name in how.keys() - Execution.__annotations__.keys():
        raise TypeError(f"simulate() got an unexpected keyword argument {name!r}")
    runs = whole_number(runs, "runs", least=1)
    client, workers, engine = how.get("client"), how.get("workers"), how.get("engine", "auto")
    client = client if client is not None else named_client()
    tasks = _plan(instances, policies, horizon, seed, checkpoints, front_metrics, engine)
    workers = (os.cpu_count() or 1) if workers is None else workers
    count = whole_number(workers, "workers", least=1)
    require_memory(memory_of(tasks, runs, count), f"{shown(len(tasks) * runs)} runs")
    provenance = _provenance(tasks, runs, engine)
    folder = how.get("store")
    made_by = {key: provenance[key] for key in ("momab", "source")}
    pieces = _Pieces(tasks, runs, None if folder is None else Store(folder, made_by))
    quiet = None if how.get("progress") is None else not how["progress"]
    started = time.perf_counter()
    if client is None:
        _compile_first([tasks[i] for i in dict.fromkeys(i for i, _ in pieces.todo)], quiet)
    total, left = len(tasks) * runs, sum(len(piece) for _, piece in pieces.todo)
    with progress_bar(total, "simulating", "runs", done=total - left, quiet=quiet) as bar:
        try:
            for (i, piece), columns in _play_all(tasks, pieces.todo, count, client):
                pieces.add(i, piece, columns)
                bar.advance(len(piece))
        except KeyboardInterrupt:
            where = pieces.store.folder if pieces.store else None
            raise SimulationInterrupted(pieces.collect(provenance), where) from None
    provenance["seconds"] = round(time.perf_counter() - started, 3)
    return pieces.collect(provenance)


class _Pieces:
    """The finished pieces of a simulation, and those that are still to be played."""

    def __init__(self, tasks: list[SimulationTask], runs: int, store: Store | None) -> None:
        self.tasks, self.runs, self.store = tasks, runs, store
        self.done: list[dict[range, Columns]] = [{} for _ in tasks]
        self.todo: list[tuple[int, range]] = []
        for i, task in enumerate(tasks):
            stored: list[range] = []
            if store is not None:
                store.begin(task.key, {"instance_name": task.instance_name, **task.description})
                stored = store.finished(task.key)
            # loaded at the end: a piece may hold more runs than were asked for
            self.done[i] = {piece: {} for piece in stored if piece.start < runs}
            self.todo += [(i, piece) for piece in missing_runs(runs, stored, piece_size(task))]

    def add(self, i: int, piece: range, columns: Columns) -> None:
        """Keep a piece that has just been played."""
        if self.store is not None:
            self.store.save(self.tasks[i].key, piece, columns)
        self.done[i][piece] = columns

    def collect(self, provenance: dict[str, Any]) -> Results:
        """Join what there is; tasks that have not begun are left out."""
        for task, parts in zip(self.tasks, self.done):
            for piece, columns in parts.items():
                if not columns and self.store is not None:
                    parts[piece] = self.store.load(task.key, piece)
        begun = [
            (task, _join(parts, self.runs)) for task, parts in zip(self.tasks, self.done) if parts
        ]
        return Results(tuple(t for t, _ in begun), tuple(c for _, c in begun), provenance)


def _named(things: Any, single: bool, what: str) -> dict[str, Any]:
    """Give each thing a distinct name: the mapping's, its own, or its own with its options."""
    if isinstance(things, Mapping):
        named = {str(name): thing for name, thing in things.items()}
    else:
        listed = [things] if single else list(things)
        labels = [str(getattr(thing, "label", None) or thing.name) for thing in listed]
        named = {}
        for thing, label in zip(listed, labels):
            alike = [other for other, name in zip(listed, labels) if name == label]
            name = label + _what_differs(thing, alike)
            if name in named:
                raise MomabError(f"{what} {name!r} is given twice; leave one out.")
            named[name] = thing
    if not named:
        raise MomabError(f"at least one {what} is needed.")
    return named


def _what_differs(policy: Any, alike: list[Any]) -> str:
    """The options in which a policy differs from others of its label, such as " (c=0.02)"."""
    kinds = {type(other) for other in alike}
    if len(kinds) > 1 or isinstance(policy, Instance) or not is_dataclass(policy):
        return ""
    values = {f.name: [getattr(other, f.name) for other in alike] for f in fields(policy)}
    different = [name for name, seen in values.items() if any(v != seen[0] for v in seen)]
    options = ", ".join(f"{name}={_short(getattr(policy, name))}" for name in different)
    return f" ({options})" if options else ""


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _validated(things: Any, what: str, validate: Callable[[Any], None]) -> dict[str, Any]:
    """Name the instances or policies, once each is found valid."""
    single = not isinstance(things, (Mapping, Sequence)) or isinstance(things, str)
    parts = things.values() if isinstance(things, Mapping) else [things] if single else things
    for part in parts:
        validate(part)
    return _named(things, single, what)


def _plan(
    instances: Any,
    policies: Any,
    horizon: int,
    seed: int,
    checkpoints: int,
    front_metrics: bool,
    engine: str,
) -> list[SimulationTask]:
    """Validate everything before anything runs."""

    def validate_instance(thing: Any) -> None:
        if not isinstance(thing, Instance):
            raise MomabError(f"an instance is made by momab.model.instances; {thing!r} is not one.")

    def validate_policy(thing: Any) -> None:
        require_policy(thing)
        is_compiled(thing, engine)

    named_instances = _validated(instances, "instance", validate_instance)
    named_policies = _validated(policies, "policy", validate_policy)
    seed = whole_number(seed, "the seed", least=0, most=2**64 - 1)
    count = whole_number(checkpoints, "checkpoints", least=0, most=1_000_000)
    tasks = []
    for instance_name, instance in named_instances.items():
        T = horizon_for(horizon, instance.K, LONGEST)
        rounds = log_checkpoints(T, count)
        for policy_name, policy in named_policies.items():
            names = instance_name, policy_name
            how = engine if is_compiled(policy, engine) else "python"  # workers need not ask again
            tasks.append(
                SimulationTask(*names, instance, policy, T, seed, rounds, bool(front_metrics), how)
            )
    return tasks


def _compile_first(tasks: Sequence[SimulationTask], quiet: bool | None) -> None:
    """Compile what this machine has not compiled yet, and say so: it can take a minute."""
    fresh = to_compile((task.policy, task.engine) for task in tasks)
    if not fresh:
        return
    what = "compiling once for this machine"
    with progress_bar(len(fresh), what, "policies", quiet=quiet) as bar:
        for kind in fresh:
            task = next(task for task in tasks if type(task.policy) is kind)
            short = replace(task, horizon=task.instance.K, checkpoints=task.checkpoints[:0])
            play_piece(short, range(1))
            bar.advance()


def _play_all(
    tasks: Sequence[SimulationTask], todo: Sequence[tuple[int, range]], workers: int, client: Any
) -> Iterator[tuple[tuple[int, range], Columns]]:
    """Play all pieces and yield them as they finish."""
    from joblib import Parallel, delayed, parallel_config

    def call(i: int, piece: range) -> Any:
        return delayed(_labelled)((i, piece), tasks[i])

    if client is not None:
        backend: dict[str, Any] = {"backend": "dask", "client": client}
    elif all(is_compiled(task.policy, task.engine) for task in tasks):
        # Compiled code releases the interpreter lock: threads share compiled code and memory.
        backend = {"backend": "threading", "n_jobs": workers}
    else:
        backend = {"backend": "loky", "n_jobs": workers, "initializer": end_with_parent}

    def play() -> Iterator[tuple[tuple[int, range], Columns]]:
        with parallel_config(**backend):
            yield from Parallel(return_as="generator_unordered", batch_size=1)(
                call(i, piece) for i, piece in todo
            )

    yield from play() if client is None else watched(play, client)


def _labelled(label: tuple[int, range], task: SimulationTask) -> tuple[tuple[int, range], Columns]:
    return label, play_piece(task, label[1])


def _join(parts: Mapping[range, Columns], runs: int) -> Columns:
    """Put a task's pieces in run order, each run once."""
    ordered = sorted(parts, key=lambda piece: piece.start)
    numbers = np.array([r for piece in ordered for r in piece], dtype=np.int64)
    _, first = np.unique(numbers, return_index=True)
    first = first[numbers[first] < runs]
    joined = {"run": numbers[first]}
    for key in parts[ordered[0]]:
        joined[key] = np.concatenate([parts[piece][key] for piece in ordered])[first]
    return joined


def _provenance(tasks: Sequence[SimulationTask], runs: int, engine: str) -> dict[str, Any]:
    """Say what made the results: parameters, versions, source."""
    return {
        **provenance_versions(),
        "engine": engine,
        "seed": tasks[0].seed,
        "horizon": tasks[0].horizon,
        "runs": runs,
        "wanted_runs": runs * len(tasks),
        "checkpoints": len(tasks[0].checkpoints),
        "front_metrics": tasks[0].front_metrics,
        "instances": {t.instance_name: t.instance.digest for t in tasks},
        "policies": {t.policy_name: describe_policy(t.policy) for t in tasks},
    }
