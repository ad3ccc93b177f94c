"""Simulations: instances x policies x runs -> tidy tables.

>>> from momab import instances, policies, simulate
>>> results = simulate.simulate(
...     instances.synthetic(delta=0.02, m=8),
...     [policies.WidthGuided(), policies.ParetoUCB1(q="synthetic")],
...     horizon=10_000, runs=4, seed=1, progress=False,
... )
>>> list(results.summary()["runs"])
[4, 4]

Run r of a policy depends on (seed, r) alone: the number of workers, the order of execution,
the kind of engine, interruptions and later additions change no digit.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momab._util.validate import FloatArray, IntArray, horizon_for, whole_number
from momab.engine.loop import has_kernel, play_block
from momab.engine.policies.base import SELECTIONS, Policy, Selection, selection_for
from momab.engine.store import Columns, Store, missing
from momab.errors import MomabError
from momab.model import metrics, pareto
from momab.model.instances import Instance

if TYPE_CHECKING:
    import pandas as pd

#: Modules whose source decides what a run does; a store remembers their hash.
ENGINE_SOURCES = (
    "_util/validate.py",
    "model/numerics.py",
    "model/instances.py",
    "model/pareto.py",
    "model/metrics.py",
    "engine/streams.py",
    "engine/policies/*.py",
    "engine/loop.py",
    "engine/_kernels.py",
    "engine/simulate.py",
)
#: About a second of work for a kernel: what an interruption can lose per worker.
PIECE_ROUNDS = 8_000_000


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation; ``results`` holds the runs that were finished."""

    def __init__(self, results: Results, store: Path | None) -> None:
        """Say how much is kept and how to go on."""
        done, wanted = len(results.runs), results.provenance["wanted_runs"]
        kept = (
            f"they are kept in {store}, and the same command goes on from there"
            if store
            else "give a run store to keep them"
        )
        super().__init__(f"stopped with {done} of {wanted} runs finished; {kept}.")
        self.results = results


@dataclass(frozen=True)
class Task:
    """One (instance, policy) pair of a simulation."""

    instance_name: str
    policy_name: str
    instance: Instance
    policy: Policy
    horizon: int
    seed: int
    checkpoints: IntArray
    front_metrics: bool
    engine: str

    @cached_property
    def description(self) -> dict[str, Any]:
        """Everything that decides the digits of its runs, and nothing else."""
        return {
            "instance": self.instance.digest,
            "K": self.instance.K,
            "d": self.instance.d,
            "policy": describe_policy(self.policy),
            "horizon": self.horizon,
            "seed": self.seed,
            "checkpoints": self.checkpoints.tolist(),
            "front_metrics": self.front_metrics,
        }

    @property
    def key(self) -> str:
        """The name of its folder in a run store."""
        text = json.dumps(self.description, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def piece_size(self) -> int:
        """Runs per piece: about :data:`PIECE_ROUNDS` rounds that are really played."""
        rounds = float(self.horizon)
        if self.policy.name.startswith("width-guided") and not self.front_metrics:
            g, c = self.instance.geometry.g_dagger, getattr(self.policy, "c", 2.0)
            if g > 0:
                # The proof's ceiling on the pulls before a certificate is several times too
                # large, which errs on the side of small pieces.
                ceiling = 16.0 * c * np.log(self.horizon) / g**2
                rounds = min(rounds, self.instance.K * (1.0 + ceiling))
        return int(np.clip(PIECE_ROUNDS / rounds, 1, 1024))


def describe_policy(policy: Policy) -> dict[str, Any]:
    """Name a policy's record, its options and, if it is the user's, its selection function."""
    kind = type(policy)
    names: list[str] = [f.name for f in fields(policy)] if is_dataclass(policy) else []
    options = {name: getattr(policy, name) for name in names}
    description: dict[str, Any] = {"name": policy.name, "options": options}
    if not kind.__module__.startswith("momab."):
        select = selection_for(policy)
        try:
            text = inspect.getsource(select)
        except (OSError, TypeError):
            text = f"{select.__module__}.{select.__qualname__}"
        description["selection"] = hashlib.sha256(text.encode()).hexdigest()
    return json.loads(json.dumps(description))  # type: ignore[no-any-return]


def play_piece(task: Task, runs: range, select: Selection) -> Columns:
    """Play some runs of a task and judge them.

    A worker in another process may not have registered the user's policy, so its selection
    function comes along.
    """
    SELECTIONS.setdefault(type(task.policy), select)
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
    if block.sums is not None:
        scores = metrics.front_precision_recall(block.sums, block.pulls, instance.means)
        columns["front_precision"], columns["front_recall"] = scores.T
    return columns


@dataclass(frozen=True)
class Results:
    """What a simulation found, as tidy tables."""

    tasks: tuple[Task, ...]
    columns: tuple[Columns, ...]
    """Per task, the finished runs in ascending order; "run" holds their numbers."""
    provenance: dict[str, Any]

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run, with every metric of the paper's tables.

        Arms and objectives are numbered from 0; certificate columns are missing where no
        certificate was given, front precision and recall where they were not asked for.
        """
        return _stack([self._run_frame(task, columns) for task, columns in self._pairs()])

    def _pairs(self) -> Iterator[tuple[Task, Columns]]:
        return zip(self.tasks, self.columns)

    def _run_frame(self, task: Task, columns: Columns) -> pd.DataFrame:
        import pandas as pd

        flat = {key: values for key, values in columns.items() if values.ndim == 1}
        frame = pd.DataFrame(flat)
        certified = frame["certified"].to_numpy()
        for name in ("cert_round", "cert_arm", "cert_objective"):
            frame[name] = frame[name].astype("Int64").where(certified)
        for name in ("cert_true", "cert_on_front"):
            frame[name] = frame[name].astype("boolean").where(certified)
        for name in ("front_precision", "front_recall"):
            if name not in frame:
                frame[name] = np.nan
        frame.insert(0, "instance", task.instance_name)
        frame.insert(1, "policy", task.policy_name)
        return frame

    @cached_property
    def pulls(self) -> pd.DataFrame:
        """One row per run and arm: how often it was pulled."""
        return _stack(
            [
                _long(task, columns, "arm", np.arange(task.instance.K), {"pulls": "pulls"})
                for task, columns in self._pairs()
            ]
        )

    @cached_property
    def trajectories(self) -> pd.DataFrame:
        """One row per run and checkpoint: regrets after that many pulls."""
        paths = {"pareto_regret": "regret_path", "fairness_regret": "fairness_path"}
        return _stack(
            [_long(task, columns, "t", task.checkpoints, paths) for task, columns in self._pairs()]
        )

    def summary(self, metric: str = "pareto_regret", level: float = 0.95) -> pd.DataFrame:
        """One row per instance and policy: location, spread, tails and error rates of a metric.

        Standard deviations use ddof = 1.  The interval of the mean is a percentile bootstrap
        with a fixed seed.  ``error_rate`` is the share of runs whose terminal recommendation
        is dominated, ``wrong_commit_rate`` the share that committed to a dominated arm; both
        come with their exact (Clopper-Pearson) interval.
        """
        import pandas as pd

        if metric not in self.runs.columns or self.runs[metric].dtype.kind != "f":
            numeric = [c for c in self.runs.columns if self.runs[c].dtype.kind == "f"]
            raise MomabError(f"metric must be one of {', '.join(numeric)}; it is {metric!r}.")
        if not 0 < level < 1:
            raise MomabError(f"level must lie in (0, 1); it is {level!r}.")
        rows = []
        for task, columns in self._pairs():
            if metric in columns and len(columns["run"]):
                rows.append(
                    {
                        "instance": task.instance_name,
                        "policy": task.policy_name,
                        **summarise(columns[metric], level),
                        **rate_interval("error", ~columns["detected"], level),
                        **rate_interval(
                            "wrong_commit", columns["certified"] & ~columns["cert_on_front"], level
                        ),
                        "certified_rate": columns["certified"].mean(),
                    }
                )
        return pd.DataFrame(rows)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write runs, trajectories, pulls, summary (CSV) and provenance (JSON) to a folder."""
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
            self.runs.to_csv(target / "runs.csv", index=False)
            self.pulls.to_csv(target / "pulls.csv", index=False)
            self.trajectories.to_csv(target / "trajectories.csv", index=False)
            self.summary().to_csv(target / "summary.csv", index=False)
            (target / "provenance.json").write_text(json.dumps(self.provenance, indent=2) + "\n")
        except OSError as error:
            raise MomabError(f"cannot write to {target}: {error.strerror}.") from None
        return target


def _long(
    task: Task, columns: Columns, axis: str, labels: IntArray, names: Mapping[str, str]
) -> pd.DataFrame:
    """One row per run and entry of the second axis of some (runs, entries) columns."""
    import pandas as pd

    return pd.DataFrame(
        {
            "instance": task.instance_name,
            "policy": task.policy_name,
            "run": np.repeat(columns["run"], len(labels)),
            axis: np.tile(labels, len(columns["run"])),
            **{name: columns[source].ravel() for name, source in names.items()},
        }
    )


def _stack(frames: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def summarise(values: FloatArray, level: float = 0.95, resamples: int = 2000) -> dict[str, Any]:
    """Location, spread, quantiles, and a bootstrap interval of the mean."""
    from scipy.stats import bootstrap

    low = high = float(values.mean())
    if len(values) > 1 and values.min() < values.max():
        interval = bootstrap(
            (values,),
            np.mean,
            confidence_level=level,
            n_resamples=resamples,
            batch=max(1, 4_000_000 // len(values)),
            method="percentile",
            rng=np.random.default_rng(0),
        ).confidence_interval
        low, high = float(interval.low), float(interval.high)
    sd = float(values.std(ddof=1)) if len(values) > 1 else np.nan
    q05, q25, median, q75, q95 = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
    return {
        "runs": len(values),
        "mean": float(values.mean()),
        "mean_low": low,
        "mean_high": high,
        "sd": sd,
        "se": sd / np.sqrt(len(values)),
        "median": median,
        "q05": q05,
        "q25": q25,
        "q75": q75,
        "q95": q95,
        "max": float(values.max()),
    }


def rate_interval(name: str, hits: Any, level: float = 0.95) -> dict[str, float]:
    """A rate with its exact (Clopper-Pearson) confidence interval."""
    from scipy.stats import binomtest

    test = binomtest(int(hits.sum()), len(hits))
    interval = test.proportion_ci(level, method="exact")
    return {
        f"{name}_rate": test.statistic,
        f"{name}_low": float(interval.low),
        f"{name}_high": float(interval.high),
    }


def log_checkpoints(horizon: int, count: int) -> IntArray:
    """About ``count`` distinct rounds from 1 to the horizon, evenly spaced on a log scale."""
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    if count == 1:
        return np.array([horizon])
    return np.unique(np.rint(np.geomspace(1, horizon, count)).astype(np.int64))


def source_hash() -> str:
    """A hash of the source files that decide what a run does."""
    sha = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted(path for pattern in ENGINE_SOURCES for path in root.glob(pattern)):
        # line endings are the checkout's business
        text = path.read_bytes().replace(b"\r\n", b"\n")
        sha.update(path.relative_to(root).as_posix().encode() + text)
    return sha.hexdigest()[:16]


def simulate(
    instances: Instance | Sequence[Instance] | Mapping[str, Instance],
    policies: Policy | Sequence[Policy] | Mapping[str, Policy],
    horizon: int,
    runs: int,
    seed: int = 0,
    *,
    checkpoints: int = 200,
    front_metrics: bool = False,
    workers: int | None = None,
    client: Any = None,
    store: str | os.PathLike[str] | None = None,
    engine: str = "auto",
    progress: bool | None = None,
) -> Results:
    """Play every policy on every instance, ``runs`` times each, for ``horizon`` rounds.

    ``checkpoints`` is the number of log-spaced rounds at which trajectories are kept.
    ``front_metrics`` asks for front precision and recall, which need the rewards after a
    commitment and so cost the whole horizon.  ``workers`` defaults to all cores; ``client``, a
    ``dask.distributed.Client``, spreads the same work over its cluster instead.  With a
    ``store`` finished runs are kept in that folder and never computed again.  ``progress``
    shows a bar with the time left (default: when standard error is a terminal).
    """
    runs = whole_number(runs, "runs", least=1)
    tasks = _plan(instances, policies, horizon, seed, checkpoints, front_metrics, engine)
    count = whole_number(
        workers if workers is not None else (os.cpu_count() or 1), "workers", least=1
    )
    provenance = _provenance(tasks, runs, engine)
    made_by = {key: provenance[key] for key in ("momab", "source")}
    kept = Store(store, made_by) if store is not None else None

    pieces: list[dict[range, Columns]] = [{} for _ in tasks]
    todo: list[tuple[int, range]] = []
    for i, task in enumerate(tasks):
        done: list[range] = []
        if kept is not None:
            kept.begin(task.key, {"instance_name": task.instance_name, **task.description})
            done = kept.finished(task.key)
        # loaded at the end: a piece may hold more runs than were asked for
        pieces[i] = {piece: {} for piece in done if piece.start < runs}
        todo += [(i, piece) for piece in missing(runs, done, task.piece_size)]

    def collect() -> Results:
        for task, parts in zip(tasks, pieces):
            for piece, columns in parts.items():
                if not columns and kept is not None:
                    parts[piece] = kept.load(task.key, piece)
        begun = [(task, _join(parts, runs)) for task, parts in zip(tasks, pieces) if parts]
        return Results(tuple(t for t, _ in begun), tuple(c for _, c in begun), provenance)

    started = time.perf_counter()
    with _progress(tasks, todo, runs, progress) as advance:
        try:
            for (i, piece), columns in _play_all(tasks, todo, count, client):
                if kept is not None:
                    kept.save(tasks[i].key, piece, columns)
                pieces[i][piece] = columns
                advance(piece)
        except KeyboardInterrupt:
            raise SimulationInterrupted(collect(), kept.folder if kept else None) from None
    provenance["seconds"] = round(time.perf_counter() - started, 3)
    return collect()


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
                raise MomabError(f"{what} {name!r} is given twice; name them with a mapping.")
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


def _checked(things: Any, what: str, check: Callable[[Any], None]) -> dict[str, Any]:
    """Name the instances or policies, once each has passed its check."""
    single = not isinstance(things, (Mapping, Sequence)) or isinstance(things, str)
    parts = things.values() if isinstance(things, Mapping) else [things] if single else things
    for part in parts:
        check(part)
    return _named(things, single, what)


def _plan(
    instances: Any,
    policies: Any,
    horizon: int,
    seed: int,
    checkpoints: int,
    front_metrics: bool,
    engine: str,
) -> list[Task]:
    """Check everything before anything runs."""

    def check_instance(thing: Any) -> None:
        if not isinstance(thing, Instance):
            raise MomabError(f"an instance is made by momab.model.instances; {thing!r} is not one.")

    def check_policy(thing: Any) -> None:
        selection_for(thing)
        has_kernel(thing, engine)

    named_instances = _checked(instances, "instance", check_instance)
    named_policies = _checked(policies, "policy", check_policy)
    seed = whole_number(seed, "the seed", least=0, most=2**64 - 1)
    count = whole_number(checkpoints, "checkpoints", least=0)
    tasks = []
    for instance_name, instance in named_instances.items():
        T = horizon_for(horizon, instance.K)
        rounds = log_checkpoints(T, count)
        for policy_name, policy in named_policies.items():
            names = instance_name, policy_name
            tasks.append(
                Task(*names, instance, policy, T, seed, rounds, bool(front_metrics), engine)
            )
    return tasks


def _play_all(
    tasks: Sequence[Task], todo: Sequence[tuple[int, range]], workers: int, client: Any
) -> Iterator[tuple[tuple[int, range], Columns]]:
    """Play all pieces and yield them as they finish."""
    from joblib import Parallel, delayed, parallel_config

    def call(i: int, piece: range) -> Any:
        task = tasks[i]
        return delayed(_labelled)((i, piece), task, piece, selection_for(task.policy))

    if client is not None:
        backend: dict[str, Any] = {"backend": "dask", "client": client}
    elif all(has_kernel(task.policy, task.engine) for task in tasks):
        # Kernels release the interpreter lock: threads share compiled code and memory.
        backend = {"backend": "threading", "n_jobs": workers}
    else:
        backend = {"backend": "loky", "n_jobs": workers}
    with parallel_config(**backend):
        yield from Parallel(return_as="generator_unordered", batch_size=1)(
            call(i, piece) for i, piece in todo
        )


def _labelled(
    label: tuple[int, range], task: Task, piece: range, select: Selection
) -> tuple[tuple[int, range], Columns]:
    return label, play_piece(task, piece, select)


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


@contextmanager
def _progress(
    tasks: Sequence[Task], todo: Sequence[tuple[int, range]], runs: int, wanted: bool | None
) -> Iterator[Callable[[range], None]]:
    """Show a bar over runs with the time left; nothing where it is not wanted."""
    if wanted is None:
        wanted = sys.stderr.isatty()
    if not wanted:
        yield lambda piece: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs, elapsed"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    total = len(tasks) * runs
    with Progress(*columns, console=Console(stderr=True)) as bar:
        left = sum(len(piece) for _, piece in todo)
        line = bar.add_task("simulating", total=total, completed=total - left)
        yield lambda piece: bar.advance(line, len(piece))


def _provenance(tasks: Sequence[Task], runs: int, engine: str) -> dict[str, Any]:
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


def provenance_versions() -> dict[str, str]:
    """The versions and the source that decide what a run does."""
    return {
        "momab": _version("momab"),
        "source": source_hash(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": _version("numba"),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
