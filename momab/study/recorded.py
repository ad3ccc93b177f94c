"""The results that are kept with the package, what they were made with, and whether they hold.

The results in ``momab/data/results`` were made by ``momab reproduce all --record``; the book
shows them where the data sets are absent, and ``momab reproduce all --check`` recomputes them to
the last digit.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momab._util.files import write_text
from momab.errors import MomabError
from momab.study import datasets
from momab.study.design import DATASETS, VALIDATION_SEED
from momab.study.limit import CONTENDERS
from momab.study.parts import PARTS, Parts
from momab.study.provenance import provenance_versions

if TYPE_CHECKING:
    import pandas as pd

RESULTS = Path(__file__).parents[1] / "data" / "results"


def recorded_results(part: str) -> pd.DataFrame:
    """The results of a part of the study as they are kept with the package."""
    import pandas as pd

    path = RESULTS / f"{part}.csv"
    if part not in PARTS or not path.exists():
        raise MomabError(f"there are no recorded results for {part!r}; parts: {', '.join(PARTS)}.")
    frame = pd.read_csv(path, dtype={"subset": str})
    kinds = {"cert_round": "Int64", "cert_arm": "Int64", "cert_objective": "Int64"}
    kinds |= {"cert_true": "boolean", "cert_on_front": "boolean"}
    return frame.astype({name: kind for name, kind in kinds.items() if name in frame})


def recorded_policies() -> tuple[str, ...]:
    """The policies of the part ``limit`` that have recorded lines."""
    return tuple(recorded_results("limit")["policy"].unique())


def recorded_provenance() -> dict[str, Any]:
    """What the recorded results were made with."""
    found: dict[str, Any] = json.loads((RESULTS / "provenance.json").read_text())
    return found


def record_results(parts: Parts, names: Iterable[str]) -> None:
    """Write parts to the package's results, each file whole or not at all."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / "provenance.json"
    made_with = json.loads(file.read_text()) if file.exists() else {}
    for name in names:
        frame: pd.DataFrame = getattr(parts, name)
        if name == "limit":  # the lines of one policy depend on no other
            made_with[name] = made_with.get(name, {}) | {
                policy: limit_made_with(parts.options.seed, policy) for policy in parts.policies
            }
            frame = _with_recorded(frame, parts.policies)
        else:
            made_with[name] = _made_with(parts)
        write_text(RESULTS / f"{name}.csv", str(frame.to_csv(index=False)))
        write_text(file, json.dumps(made_with, indent=2) + "\n")


def _with_recorded(lines: pd.DataFrame, policies: Sequence[str]) -> pd.DataFrame:
    """New lines of some policies of the part ``limit``, and the recorded ones of the others."""
    import pandas as pd

    if not (RESULTS / "limit.csv").exists():
        return lines
    kept = recorded_results("limit")
    both = pd.concat([kept[~kept["policy"].isin(policies)], lines], ignore_index=True)
    order = {name: i for i, name in enumerate(CONTENDERS)}
    return both.sort_values("policy", key=lambda names: names.map(order), kind="stable")


def limit_made_with(seed: int, policy: str) -> dict[str, Any]:
    """What the lines of one policy of the part ``limit`` are made with."""
    return {
        **provenance_versions(),
        "seed": seed,
        "validation_seed": VALIDATION_SEED,
        "sizes": [list(size) for size in CONTENDERS[policy].sizes],
    }


def _made_with(parts: Parts) -> dict[str, Any]:
    options = parts.options
    return {
        **provenance_versions(),
        "horizon": options.horizon,
        "runs": options.runs,
        "risk_runs": parts.risk_runs,
        "coefficients": list(parts.coefficients),
        "seed": options.seed,
        "validation_seed": VALIDATION_SEED,
    }


def require_recorded_sizes(parts: Parts, names: Iterable[str]) -> None:
    """Refuse to compare runs of other sizes with the recorded ones."""
    made_with = recorded_provenance()
    again = _made_with(parts)
    for name in names:
        kept = made_with.get(name, {})
        for key in ("horizon", "runs", "risk_runs", "seed"):
            if key in kept and kept[key] != again[key]:
                raise MomabError(
                    f"the recorded results of {name} have {key.replace('_', ' ')} {kept[key]:,}, "
                    f"not {again[key]:,}; leave the sizes out to compare with them."
                )


def differences(parts: Parts, names: Iterable[str]) -> dict[str, str]:
    """Compare recomputed parts with the recorded ones, digit by digit; "" means identical."""
    found = {}
    for name in names:
        frame = recorded_results(name)
        if name == "limit":
            frame = frame[frame["policy"].isin(parts.policies)]
        kept = frame.to_csv(index=False)
        again = getattr(parts, name).to_csv(index=False)
        found[name] = "" if kept == again else _first_difference(kept, again)
    return found


def _first_difference(kept: str, again: str) -> str:
    old, new = kept.splitlines(), again.splitlines()
    for number, (left, right) in enumerate(zip(old, new), start=1):
        if left != right:
            return f"line {number}: recorded {left!r}, recomputed {right!r}"
    return f"{len(old)} lines recorded, {len(new)} recomputed"


def absent_data(data_dir: str | None = None) -> list[str]:
    """The data sets that are not on this machine."""
    with warnings.catch_warnings():
        # importing the downloader inside a notebook makes its progress bar ask for widgets
        warnings.simplefilter("ignore")
        return [name for name in DATASETS if datasets.find(name, data_dir) is None]
