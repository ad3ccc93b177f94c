"""KuaiRec: 300 videos are the arms, 26 cohorts of users the objectives.

A reward is a watch ratio, clipped to [0, 5] and divided by 5; a pull draws each cohort's
coordinate independently with replacement.  The authors' file is read as they prepared it and
kept in the plain layout of `momab.study.datasets.npz`; :func:`kuairec_from_release` prepares the
raw release.

Licence: CC BY-SA 4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from momab._util.validate import FloatArray, IntArray, positive_number, whole_number
from momab.errors import MomabError
from momab.model.instances import Instance, from_samples
from momab.study.datasets.content import text_table
from momab.study.datasets.npz import read_cohorts, write_cohorts
from momab.study.datasets.registry import Dataset, register_dataset

if TYPE_CHECKING:
    import pandas as pd

COHORTS = ("user_active_degree", "follow_user_num_range", "register_days_range")

register_dataset(
    Dataset(
        name="kuairec",
        title="KuaiRec",
        address="https://raw.githubusercontent.com/ChangkunGuan02/momab-width-guided-certification/main/data/kuairec_cohort_instance_d26.npz",
        file="kuairec_cohort_instance_d26.npz",
        sha256="a6ecfe7db615ea793abfed3718a0e9fffdac44068e004a0bf6140cf427bd3043",
        names=("kuairec_cohorts.npz", "kuairec_cohort_instance_d26.npz"),
        content="81553aab64f7ab02f6a9326d781179c49656040113da6137365423f5be8441c7",
        read=lambda path, verify: read_cohorts(path),
        write=write_cohorts,
        contamination=True,
    )
)


def kuairec_from_release(
    folder: str | Path,
    matrix: str = "small_matrix.csv",
    cohorts: int = 26,
    videos: int = 300,
    least_users: int = 10,
    least_samples: int = 10,
    cap: float = 5.0,
) -> Instance:
    """Build the cohort instance from the raw tables of KuaiRec 2.0.

    The paper says: arms are videos, objectives the 26 largest cohorts of users by activity,
    number of followed users and registration age, rewards normalised watch ratios.  The other
    choices made here are:

    * ``matrix``: the fully observed small matrix.  In the authors' file nearly every video has
      one sample from every user of a cohort, which only this matrix offers; with
      ``"big_matrix.csv"`` a user may count several times.
    * Only users who occur in the matrix count.  A cohort's name joins ``column=value`` with
      ``|``; empty values read ``unknown``, spaces and slashes ``_``.
    * Cohorts are sorted by (number of users, name), both descending, and need
      ``least_users``; the smallest of the authors' 26 has 10.
    * A reward is the watch ratio clipped to [0, cap] and divided by the cap; a ratio that is
      missing or not finite counts as 0.
    * A video needs ``least_samples`` samples in every cohort.  The ``videos`` with the largest
      sum of cohort means are kept, in descending order; ties go to the larger number of
      samples, then to the video that occurs first.
    * Samples keep the order of the file.

    Whether the result is the authors' instance is not promised;
    `momab.study.datasets.checksum` tells.
    """
    import pandas as pd

    cohorts = whole_number(cohorts, "cohorts", least=1)
    videos = whole_number(videos, "videos", least=2)
    cap = positive_number(cap, "cap")
    path, features = _release_file(folder, matrix), _release_file(folder, "user_features.csv")
    watched = text_table(path, ["user_id", "video_id", "watch_ratio"])
    users = text_table(features, ["user_id", *COHORTS]).drop_duplicates("user_id")
    users = users[users["user_id"].isin(watched["user_id"])]
    label = _cohort_labels(users)
    sizes = label.value_counts()
    kept = sorted(sizes[sizes >= least_users].index, key=lambda c: (sizes[c], c), reverse=True)
    kept = kept[:cohorts]
    if not kept:
        raise MomabError(f"no cohort of {features.name} has {least_users} users in {path.name}.")
    number = label.map({name: j for j, name in enumerate(kept)}).set_axis(users["user_id"])
    cohort = watched["user_id"].map(number).fillna(-1).to_numpy().astype(np.int64)
    watched, cohort = watched[cohort >= 0], cohort[cohort >= 0]
    ratio = pd.to_numeric(watched["watch_ratio"], errors="coerce").to_numpy().astype(np.float64)
    rewards = np.where(np.isfinite(ratio), ratio, 0.0).clip(0.0, cap) / cap
    video, names = pd.factorize(watched["video_id"])
    chosen = _best_videos(video, cohort, rewards, len(kept), least_samples)[:videos]
    if len(chosen) < 2:
        raise MomabError(
            f"fewer than 2 videos of {path.name} have {least_samples} samples in each of "
            f"{len(kept)} cohorts."
        )
    cells = _by_cell(video * len(kept) + cohort, rewards)
    d = len(kept)
    samples = {str(names[v]): [cells[v * d + j] for j in range(d)] for v in chosen}
    return from_samples(samples, objective_names=kept, name="KuaiRec, from the release")


def _release_file(folder: str | Path, name: str) -> Path:
    root = Path(folder).expanduser()
    for pattern in (name, f"*/{name}", f"*/*/{name}"):
        if found := sorted(root.glob(pattern)):
            return found[0]
    raise MomabError(f"there is no {name} in {folder}, nor in a folder of it.")


def _cohort_labels(users: pd.DataFrame) -> pd.Series[str]:
    def part(column: str) -> pd.Series[str]:
        value = users[column].str.strip().replace("", "unknown")
        return f"{column}=" + value.str.replace(r"[ /]", "_", regex=True)

    activity, follows, age = map(part, COHORTS)
    return activity + "|" + follows + "|" + age


def _best_videos(
    video: IntArray, cohort: IntArray, rewards: FloatArray, d: int, least: int
) -> list[int]:
    """The videos with enough samples everywhere, by descending sum of their cohort means."""
    shape = (int(video.max(initial=-1)) + 1, d)
    cell = video * d + cohort
    counts = np.bincount(cell, minlength=shape[0] * d).reshape(shape)
    sums = np.bincount(cell, weights=rewards, minlength=shape[0] * d).reshape(shape)
    enough = np.flatnonzero((counts >= max(least, 1)).all(axis=1))
    total = (sums[enough] / counts[enough]).sum(axis=1)
    order = np.lexsort((-counts[enough].sum(axis=1), -total))
    return [int(v) for v in enough[order]]


def _by_cell(cell: IntArray, rewards: FloatArray) -> Mapping[int, FloatArray]:
    """The rewards of every cell, in their order."""
    order = np.argsort(cell, kind="stable")
    keys, starts = np.unique(cell[order], return_index=True)
    return dict(zip(keys.tolist(), np.split(rewards[order], starts[1:])))
