"""What simulations find, as tidy tables, and their summaries."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momab._util.validate import FloatArray, IntArray
from momab.engine.policies.base import Policy
from momab.errors import MomabError
from momab.model.instances import Instance
from momab.model.statistics import bootstrap_interval, rates
from momab.study.provenance import describe_policy
from momab.study.store import Columns

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SimulationTask:
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


@dataclass(frozen=True, repr=False)
class Results:
    """What a simulation found, as tidy tables; made by :func:`momab.simulate`.

    Parameters
    ----------
    tasks : tuple of SimulationTask
        The (instance, policy) pairs.
    columns : tuple of dict
        What their runs did.
    provenance : dict
        What made them: parameters, versions, and a hash of the source.
    """

    tasks: tuple[SimulationTask, ...]
    columns: tuple[Columns, ...]
    """Per task, the finished runs in ascending order; "run" holds their numbers."""
    provenance: dict[str, Any]

    def __repr__(self) -> str:
        """Say on one line what was played."""
        instances = dict.fromkeys(task.instance_name for task in self.tasks)
        policies = dict.fromkeys(task.policy_name for task in self.tasks)
        return (
            f"Results({len(self.runs) if self.tasks else 0:,} runs; instances: "
            f"{_few(instances)}; policies: {_few(policies)})"
        )

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run, with every metric of the paper's tables.

        Arms and objectives are numbered from 0; certificate columns are missing where no
        certificate was given, front precision and recall where they were not asked for.
        """
        return _stack([self._run_frame(task, columns) for task, columns in self._pairs()])

    def _pairs(self) -> Iterator[tuple[SimulationTask, Columns]]:
        return zip(self.tasks, self.columns)

    def _run_frame(self, task: SimulationTask, columns: Columns) -> pd.DataFrame:
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

        Parameters
        ----------
        metric : str, optional
            A column of :attr:`runs`.
        level : float, optional
            The coverage of the intervals.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        MomabError
            If there is no such metric, or the level does not lie in (0, 1).
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
                        **rates(~columns["detected"], "error", level),
                        **rates(
                            columns["certified"] & ~columns["cert_on_front"], "wrong_commit", level
                        ),
                        "certified_rate": columns["certified"].mean(),
                    }
                )
        return pd.DataFrame(rows)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write runs, trajectories, pulls, summary (CSV) and provenance (JSON) to a folder.

        Parameters
        ----------
        folder : path
            It is made if need be.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        MomabError
            If it cannot be written.
        """
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


def _few(names: Iterable[str], most: int = 6) -> str:
    """Names in a list that ends after a few."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _long(
    task: SimulationTask, columns: Columns, axis: str, labels: IntArray, names: Mapping[str, str]
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
    low, high = bootstrap_interval(values, level, resamples)
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
