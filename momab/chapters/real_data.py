"""Songs and videos: what decides which objective certifies, and one subset played again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from momab import study
from momab.study.datasets import subsets
from momab.study.groups import KIND_NAMES, by_group

if TYPE_CHECKING:
    import pandas as pd


def first_certificates(runs: pd.DataFrame) -> pd.DataFrame:
    """Per subset, how close the second lead is to the first, and who certified first.

    ``ratio`` is the second largest lead over the largest; ``champion`` and ``three`` are the
    shares of certified Width-guided runs in which the objective with the largest lead, or one of
    the three largest, certified.  ``runs`` are those of Table 1.
    """
    import pandas as pd

    rows = []
    for dataset, kind, part in by_group(
        runs[(runs["policy"] == "Width-guided") & runs["certified"]]
    ):
        for number, subset in enumerate(subsets.frozen(dataset, kind), start=1):
            leads = np.array(subset.objective_gaps)
            first = part.loc[part["subset"] == str(number), "cert_objective"].astype(int).to_numpy()
            larger = (leads > leads[first][:, None]).sum(axis=1)
            second, largest = np.sort(leads)[-2:]
            rows.append((dataset, second / largest, (larger == 0).mean(), (larger < 3).mean()))
    return pd.DataFrame(rows, columns=["dataset", "ratio", "champion", "three"])


def play_subset(options: study.Options, dataset: str, group: str, subset: int) -> pd.DataFrame:
    """Runs of the paper's four policies on one frozen subset, summarised; needs the data.

    ``group`` is misleading, friendly or easy.
    """
    [kind] = [kind for kind, name in KIND_NAMES.items() if name == group]
    instance = study.real_instances(options, dataset, kind)[str(subset)]
    played: Any = options.simulate(instance, study.paper_policies(dataset, kind)).summary()
    columns = ["policy", "runs", "mean", "mean_low", "mean_high", "median", "error_rate"]
    found: pd.DataFrame = played[columns]
    return found
