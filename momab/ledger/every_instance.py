"""The ledger's checks of our claims about Sticky Pareto IMED."""

from __future__ import annotations

import numpy as np

from momab.ledger.claims import ClaimOutcome
from momab.model import pareto, theory
from momab.study import every_instance


def settles(means: np.ndarray, n: float, rng: np.random.Generator) -> bool:
    """Whether from every target, with the errors of n pulls, the target becomes a cheapest arm.

    And stays there when the errors change; and the candidate asks for the same pulls.
    """
    price = theory.price(means)
    cheap = price.per_arm <= price.value * (1 + 1e-9)
    D, paid = theory.evidence(means), pareto.gaps(means) > 0
    target, fixed = np.arange(len(means)), False
    error = np.sqrt(np.log(np.log(n)) / n)
    for _ in range(6):
        noise = rng.uniform(-error, error, (len(means), *means.shape))
        mu = np.where(means == 0, 0.0, np.clip(means + noise, 0, 1))
        gaps, evidence = every_instance.pairwise(mu)
        least = np.full(len(means), n)
        before = target
        target, above = every_instance.sticky_candidate(mu, gaps, evidence, least, target)
        rows = np.arange(len(means))
        if (gaps[rows, above] > 0).any() or not cheap[target].all():
            return False
        if fixed and (target != before).any():
            return False
        fixed = True
        if not np.allclose(D[paid][:, above], D[paid][:, target], rtol=1e-6):
            return False
    return True


def on_every_instance() -> ClaimOutcome:
    """The steps of the proof on grids with ties, copies and zeros, and the recorded runs."""
    rng, count, holds = np.random.default_rng(1), 0, True
    for K, d in ((2, 1), (3, 2), (5, 2), (4, 3), (4, 30)):
        for _ in range(60):
            means = rng.integers(0, 6, (K, d)) / 8
            means[-1] = means[0] if rng.random() < 0.3 else means[-1]
            if (pareto.gaps(means) > 0).any():
                count += 1
                holds &= settles(means, 1e20, rng)
    lines = every_instance.recorded_log_scale()
    last = lines[lines["log_T"] == lines["log_T"].max()].set_index(["instance", "rule"])
    name = "two mirrored pairs"
    rows = {rule: last.loc[(name, rule)] for rule in every_instance.RULES}
    plain, sticky = (float(rows[rule]["mean"]) for rule in every_instance.RULES)
    apart = float(rows["sticky"]["high"]) < float(rows["plain"]["low"])
    return ClaimOutcome(
        holds=bool(holds and apart and abs(sticky - 1) < 0.03),
        numbers={"count": count, "plain": plain, "sticky": sticky},
    )
