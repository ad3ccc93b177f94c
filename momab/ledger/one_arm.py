"""The ledger's checks of our claims about naming one optimal arm."""

from __future__ import annotations

import numpy as np

from momab.ledger.claims import ClaimOutcome
from momab.model import instances, pareto
from momab.model.identification import naming_cost, naming_rate
from momab.study import one_arm


def naming_bound() -> ClaimOutcome:
    """The best weights against random ones; and two answers at once, below the false bound."""
    best, count, rng = 0.0, 0, np.random.default_rng(1)
    for mu in instances.random_means(4, 2, seed=5, instances=25):
        cost = naming_cost(mu)
        for w in rng.dirichlet(np.ones(4), 40):
            best = max(best, naming_rate(mu, cost.arm, w) * cost.value)
            count += 1
    mirrored = naming_cost([[0.7, 0.3], [0.3, 0.7]]).value
    times = one_arm.mirrored_times(1600.0, 300, seed=1) / (1600 * mirrored)
    mean, error = float(times.mean()), float(1.96 * times.std() / np.sqrt(len(times)))
    return ClaimOutcome(
        holds=best <= 1 + 1e-9 and mean + error < 1,
        numbers={"count": count, "best": best, "mean": mean, "error": error},
    )


def certificates() -> ClaimOutcome:
    """Wrong answers of the likelihood ratio, near a tie, and the recorded stopping times."""
    means = np.array([[0.52, 0.52], [0.5, 0.5], [0.2, 0.6]])
    times, wrong = one_arm.stopping_times(
        means, "uniform", ["likelihood ratio"], np.log(10), 200, seed=1, most=20_000
    )
    assert pareto.gaps(means)[1] > 0
    lines = one_arm.recorded_times()
    own = lines[(lines["sampling"] == "Algorithm 1") & (lines["log_risk"] > 30)]
    wide = own.pivot_table(index="instance", columns="stopping", values="mean").dropna()
    saved = float((wide["Hoeffding intervals"] / wide["likelihood ratio"]).min())
    return ClaimOutcome(
        holds=float(wrong.mean()) <= 0.1 and saved > 1,
        numbers={
            "runs": times.shape[1],
            "stopped": int(np.isfinite(times).sum()),
            "errors": int(wrong.sum()),
            "saved": saved,
        },
    )
