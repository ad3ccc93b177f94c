"""UCB1, KL-UCB and IMED of SMPyBandits, played in an environment of its own.

The package needs an old NumPy and an old SciPy::

    python -m venv other
    other/bin/pip install "numpy<2" "scipy<1.12" "pandas<2.3" matplotlib seaborn
    other/bin/pip install --no-deps SMPyBandits==0.9.7

``python -m momab.study.smpybandits other/bin/python`` records the runs that the page shows, and
``momab tools bench --smpybandits other/bin/python -o momab/data/smpybandits_speed.csv`` the times,
which are others on every machine.  Arms, horizon and numbers of runs were fixed before the first
run.  The other Python runs this file as a program, so nothing of momab is imported here.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

RESULTS = Path(__file__).parents[1] / "data" / "results" / "smpybandits.csv"
SPEED = RESULTS.parents[1] / "smpybandits_speed.csv"
MEANS = (0.7, 0.6, 0.5)
HORIZON = 2000
HEADER = "policy,run,horizon,regret,nanoseconds"
RUNS = {"UCB": 100, "klUCB": 100, "IMED": 10, "IMED with kl": 100}
"""Runs of each of its policies; its IMED takes two milliseconds per round."""


def output_of(python: str | Path, most: int = 100) -> str:
    """Let another Python play at most so many runs of each policy; return them as CSV."""
    command = [str(python), __file__, "--play", str(most)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return printed[printed.index(HEADER) :]  # its imports print, too


def their_policies() -> dict[str, Any]:
    """The policies, and IMED once more with the divergence in its index."""
    from SMPyBandits.Policies.IMED import IMED  # type: ignore[import-not-found]
    from SMPyBandits.Policies.klUCB import klUCB  # type: ignore[import-not-found]
    from SMPyBandits.Policies.kullback import klBern  # type: ignore[import-not-found]
    from SMPyBandits.Policies.UCB import UCB  # type: ignore[import-not-found]

    class RepairedIMED(IMED):  # type: ignore[misc]
        """Its own ``Dinf`` returns where the least divergence is attained, not how large it is."""

        def one_Dinf(self, x: float, mu: float) -> float:  # noqa: N802
            return float(klBern(x, mu)) if x < mu else 0.0

    return {"UCB": UCB, "klUCB": klUCB, "IMED": IMED, "IMED with kl": RepairedIMED}


def play_theirs(kind: Any, seed: int) -> tuple[float, float]:
    """Play one run; return its regret and the nanoseconds per round."""
    import numpy as np

    np.random.seed(seed)  # noqa: NPY002 (the package's own coins)
    rng = np.random.default_rng(seed)
    policy, regret = kind(len(MEANS)), 0.0
    policy.startGame()
    began = process_time()
    for _ in range(HORIZON):
        arm = policy.choice()
        policy.getReward(arm, float(rng.random() < MEANS[arm]))
        regret += max(MEANS) - MEANS[arm]
    return regret, (process_time() - began) / HORIZON * 1e9


def play_all(most: int) -> None:
    """Print all runs as CSV."""
    policies = their_policies()
    print(HEADER)
    for name, kind in policies.items():
        for run in range(min(RUNS[name], most)):
            regret, nanoseconds = play_theirs(kind, run)
            print(f"{name},{run},{HORIZON},{regret:.6g},{nanoseconds:.0f}", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--play", most]:
            play_all(int(most))
        case [python]:
            played = output_of(python).splitlines()
            kept = [line.rpartition(",")[0] for line in played]  # the same on every machine
            RESULTS.write_text("\n".join([*kept, ""]))
        case _:
            sys.exit("name the Python that has SMPyBandits, for example other/bin/python.")
