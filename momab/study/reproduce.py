"""Recomputing the paper's tables and figures, and the results that are kept with the package.

`momab reproduce TARGET` runs the parts of :mod:`momab.study` that the target needs, resuming
from a run store, and writes CSV, LaTeX (booktabs) and SVG files.  The results in
``momab/data/results`` were made by ``momab reproduce all --record``; the book shows them where
the data sets are absent, and ``momab reproduce all --check`` recomputes them to the last digit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momab import datasets, study
from momab._util.files import atomically
from momab.engine.provenance import provenance_versions
from momab.errors import MomabError
from momab.study.design import Options

if TYPE_CHECKING:
    import pandas as pd

RESULTS = Path(__file__).parents[1] / "data" / "results"

#: Which parts of the study each target needs.
TARGETS: dict[str, tuple[str, ...]] = {
    "table1": ("real",),
    "table2": ("synthetic",),
    "table3": ("validation",),
    "table4": ("real",),
    "figure1": ("synthetic",),
    "figure2": ("paths",),
    "retuned": ("validation", "retuned"),
    "risk": ("risk",),
    "rivals": ("rivals",),
}
#: Parts that cannot be computed without the data sets.
NEED_DATA = ("real", "validation", "retuned", "risk", "rivals")


@dataclass(frozen=True)
class Parts:
    """The parts of the study for some options, each computed when first asked for."""

    options: Options
    risk_runs: int = 20_000
    coefficients: tuple[float, ...] = study.COEFFICIENTS

    @cached_property
    def synthetic(self) -> pd.DataFrame:
        """Runs of Table 2."""
        return study.synthetic(self.options).runs.drop(columns=["front_precision", "front_recall"])

    @cached_property
    def paths(self) -> pd.DataFrame:
        """Mean and quantiles of the regret, and the certified share, along Figure 2's runs."""
        return study.paths(self.options)

    @cached_property
    def real(self) -> pd.DataFrame:
        """Runs of Tables 1 and 4."""
        return study.real(self.options)

    @cached_property
    def validation(self) -> pd.DataFrame:
        """Runs of the tuning."""
        columns = ["dataset", "subset_type", "subset", "policy", "c", "run", "pareto_regret"]
        return study.validation(self.options, self.coefficients)[[*columns, "detected"]]

    @cached_property
    def retuned(self) -> pd.DataFrame:
        """Runs of the frozen subsets with everybody's tuned coefficient."""
        runs = study.retuned(self.options, study.choose(self.validation))
        columns = ["dataset", "subset_type", "subset", "policy", "c", "run", "pareto_regret"]
        return runs[[*columns, "fairness_regret", "detected"]]

    @cached_property
    def risk(self) -> pd.DataFrame:
        """Summaries of many Width-guided runs per subset and coefficient."""
        return study.risk(self.options, self.coefficients, self.risk_runs)

    @cached_property
    def rivals(self) -> pd.DataFrame:
        """Summaries of more Annealing-Pareto runs per subset: 300 to 20,000 of Width-guided."""
        return study.rivals(self.options, max(2, round(self.risk_runs * 0.015)))


PARTS = ("synthetic", "paths", "real", "validation", "retuned", "risk", "rivals")


def wanted_parts(targets: Iterable[str]) -> list[str]:
    """The parts behind some targets, "all" among them, in the order of computation."""
    names = set()
    for target in targets:
        if target != "all" and target not in TARGETS:
            raise MomabError(
                f"there is no target {target!r}; choose from {', '.join(TARGETS)}, all."
            )
        names |= set(PARTS if target == "all" else TARGETS[target])
    return [part for part in PARTS if part in names]


def check_data(parts: Iterable[str], options: Options) -> None:
    """Say at once, not after minutes, that a data set is missing."""
    if any(part in NEED_DATA for part in parts):
        for dataset in study.DATASETS:
            datasets.load(dataset, options.data_dir)


# --- recorded results -----------------------------------------------------------------------


def recorded(part: str) -> pd.DataFrame:
    """The results of a part of the study as they are kept with the package."""
    import pandas as pd

    path = RESULTS / f"{part}.csv"
    if part not in PARTS or not path.exists():
        raise MomabError(f"there are no recorded results for {part!r}; parts: {', '.join(PARTS)}.")
    frame = pd.read_csv(path, dtype={"subset": str})
    kinds = {"cert_round": "Int64", "cert_arm": "Int64", "cert_objective": "Int64"}
    kinds |= {"cert_true": "boolean", "cert_on_front": "boolean"}
    return frame.astype({name: kind for name, kind in kinds.items() if name in frame})


def recorded_provenance() -> dict[str, Any]:
    """What the recorded results were made with."""
    found: dict[str, Any] = json.loads((RESULTS / "provenance.json").read_text())
    return found


def record(parts: Parts, names: Iterable[str]) -> None:
    """Write parts to the package's results, each file whole or not at all."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / "provenance.json"
    made_with = json.loads(file.read_text()) if file.exists() else {}
    for name in names:
        frame: pd.DataFrame = getattr(parts, name)
        _write_text(RESULTS / f"{name}.csv", _csv(frame))
        made_with[name] = _made_with(parts)
        _write_text(file, json.dumps(made_with, indent=2) + "\n")


def _made_with(parts: Parts) -> dict[str, Any]:
    options = parts.options
    return {
        **provenance_versions(),
        "horizon": options.horizon,
        "runs": options.runs,
        "risk_runs": parts.risk_runs,
        "coefficients": list(parts.coefficients),
        "seed": options.seed,
        "validation_seed": study.VALIDATION_SEED,
    }


def check(parts: Parts, names: Iterable[str]) -> dict[str, str]:
    """Compare recomputed parts with the recorded ones, digit by digit; "" means identical."""
    found = {}
    for name in names:
        kept = recorded(name).to_csv(index=False)
        again = getattr(parts, name).to_csv(index=False)
        found[name] = "" if kept == again else _first_difference(kept, again)
    return found


def _first_difference(kept: str, again: str) -> str:
    old, new = kept.splitlines(), again.splitlines()
    for number, (left, right) in enumerate(zip(old, new), start=1):
        if left != right:
            return f"line {number}: recorded {left!r}, recomputed {right!r}"
    return f"{len(old)} lines recorded, {len(new)} recomputed"


# --- output ---------------------------------------------------------------------------------


def write(parts: Parts, targets: Iterable[str], folder: Path) -> list[Path]:
    """Write the files of some targets and return their paths."""
    from momab.chapters import synthetic

    makers: Mapping[str, Callable[[], Any]] = {
        "table1": lambda: study.table1(parts.real),
        "table2": lambda: study.table2(parts.synthetic),
        "table3": lambda: study.table3(study.choose(parts.validation)),
        "table4": lambda: study.table4(parts.real),
        "retuned": lambda: study.table1(parts.retuned),
        "risk": lambda: parts.risk,
        "rivals": lambda: parts.rivals,
        "figure1": lambda: synthetic.synthetic_comparison(study.table2(parts.synthetic)),
        "figure2": lambda: synthetic.synthetic_trajectories(parts.paths),
    }
    written = []
    for target in _expand(targets):
        made = makers[target]()
        if target.startswith("figure"):
            with atomically(folder / f"{target}.svg") as file:
                made.savefig(file, format="svg", metadata={"Date": None})
            written.append(folder / f"{target}.svg")
        else:
            written.append(_write_text(folder / f"{target}.csv", _csv(made)))
            written.append(_write_text(folder / f"{target}.tex", _latex(made)))
    return written


def _write_text(path: Path, text: str) -> Path:
    with atomically(path) as file:
        file.write(text.encode())
    return path


def _expand(targets: Iterable[str]) -> list[str]:
    asked = set(targets)
    return [target for target in TARGETS if target in asked or "all" in asked]


def _csv(frame: pd.DataFrame) -> str:
    return str(frame.to_csv(index=False))


def _latex(frame: pd.DataFrame) -> str:
    plain = frame.rename(columns=lambda name: str(name).replace("_", " "))
    plain = plain.map(lambda entry: entry.replace("_", " ") if isinstance(entry, str) else entry)
    return str(plain.to_latex(index=False, float_format="%.3f"))


def comparisons(parts: Parts, targets: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Our cells beside the paper's, for the tables among the targets that it prints."""
    sources = {"table1": "real", "table2": "synthetic", "table4": "real"}
    return {
        target: study.compare(int(target[-1]), getattr(parts, sources[target]))
        for target in _expand(targets)
        if target in sources
    }
