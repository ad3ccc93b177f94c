"""The ledger's checks of our claims about Sticky Pareto IMED."""

from __future__ import annotations

import numpy as np

from momab.ledger.claims import ClaimOutcome
from momab.model import pareto, theory
from momab.model.kinf import kinf, luck_of_law
from momab.study import every_instance

PAIRS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


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


def luck_in_several_dimensions() -> ClaimOutcome:
    """Both sides of the lemma, added up over all outcomes of up to eight draws."""
    laws = [
        (PAIRS, [0.3, 0.1, 0.1, 0.5]),  # dependent
        (PAIRS, [0.16, 0.24, 0.24, 0.36]),  # independent
        (PAIRS, [0.1, 0.4, 0.4, 0.1]),  # rewards that compensate each other
        (PAIRS[[0, 3]], [0.4, 0.6]),  # copies
        (0.5 + PAIRS[:3] / 4, [0.2, 0.3, 0.5]),  # never 1
        (PAIRS[[0, 3], :1], [0.4, 0.6]),  # one objective
    ]
    quotients = []
    for rows, chances in laws:
        means = np.array(chances) @ rows
        for delta in (0.05, 0.2, 0.4):
            for n in (1, 3, 8):
                for least in (0.0, 0.04, 0.3):
                    target = np.maximum(means - delta, 0.0)
                    left = luck_of_law(rows, chances, target, n, least)
                    right = np.e * (n + 1) ** rows.shape[1] * (1 - delta * least / 2) ** n
                    quotients.append(left / right)
    return ClaimOutcome(max(quotients) <= 1, {"cases": len(quotients), "largest": max(quotients)})


def all_joint_laws() -> ClaimOutcome:
    """What the proof uses of the evidence, on random laws with ties and copies."""
    rng, laws, holds, error = np.random.default_rng(1), 60, True, 0.0
    draws = 20_000
    for number in range(laws):
        d = 1 + number % 3
        rows = rng.integers(0, 5, (6, d)) / 4
        if number % 4 == 0:
            rows = np.repeat(rows[:, :1], d, axis=1)
        chances = rng.dirichlet(np.ones(6))
        q = rng.integers(0, 8, d) / 8
        eta, e = 1 - q.max(), 0.05
        here, above = kinf(rows, q, chances), kinf(rows, np.minimum(q + e, 1), chances)
        holds &= here <= -np.log(eta) + 1e-9
        holds &= here - 1e-9 <= above <= here - np.log1p(-e / eta) + 1e-9
        found = kinf(rows, q, rng.multinomial(draws, chances))
        error = max(error, abs(found - here))
    holds &= error < draws**-0.25
    return ClaimOutcome(bool(holds), {"laws": laws, "draws": draws, "error": error})
