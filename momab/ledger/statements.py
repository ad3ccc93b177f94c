"""The ledger's checks of our statements beside the paper's: sharper sums, sharp constants."""

from __future__ import annotations

import math

import numpy as np

from momab.engine.loop import play_block
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.auditing import audit_all, hand_made
from momab.ledger.auditing.trace import trace
from momab.ledger.claims import ClaimOutcome
from momab.model import instances, metrics, pareto, theory


def _instances() -> list[instances.Instance]:
    """Small instances with and without a lead, with ties, on which short runs certify."""
    tables = (
        [[0.9, 0.2], [0.3, 0.7], [0.2, 0.1]],
        [[0.8, 0.5], [0.8, 0.5], [0.3, 0.2]],
        [[0.9, 0.9], [0.9, 0.2], [0.1, 0.5], [0.1, 0.1]],
    )
    return [instances.bernoulli(table) for table in tables]


def counted_by_gaps() -> ClaimOutcome:
    """Regrets of runs with and without a lead below the sum; the sum below half of Theorem 4."""
    T, shares = 5_000, []
    for instance in _instances():
        block = play_block(instance, WidthGuided(), T, 1, 0, 40)
        regret = metrics.pareto_regret(block.pulls, instance.means).mean()
        shares.append(float(regret) / theory.sharper_bound(instance.means, T).total)
    halves = []
    for means in instances.random_means(6, 3, seed=3, instances=400):
        whole = theory.theorem_bound(means, T).exploration
        halves.append(theory.sharper_bound(means, T).exploration / whole)
    tied = _instances()[1].means
    finite = theory.sharper_bound(tied, T).total
    silent = math.isinf(theory.theorem_bound(tied, T).exploration)
    return ClaimOutcome(
        holds=max(shares) < 1 and max(halves) <= 0.5 * (1 + 1e-12) and silent,
        numbers={"share": max(shares), "half": max(halves), "finite": finite},
    )


def counted_by_deficits() -> ClaimOutcome:
    """Pulls before the certificate against the least deficit, in runs and in the formula."""
    T, worst = 5_000, 0.0
    for number, instance in enumerate(_instances()):
        deficits = np.maximum(
            pareto.objective_deficits(instance.means).min(axis=-1), instance.geometry.g_dagger
        )
        for seed in range(10):
            run = trace(instance, WidthGuided(), T, 10 * number + seed)
            if not audit_all([run]).event.holds:
                continue
            waiting = run.rounds().arm[run.rounds().noncertifying]
            pulls = np.bincount(waiting, minlength=instance.K)
            with np.errstate(divide="ignore"):
                limit = 32 * math.log(T) / deficits**2
            worst = max(worst, float((pulls / limit).max()))
    ratios = []
    for means in instances.random_means(6, 3, seed=4, instances=400):
        low, middle = (
            bound(means, T).exploration for bound in (theory.deficit_bound, theory.sharper_bound)
        )
        if middle > 0:
            ratios.append(low / middle)
    return ClaimOutcome(
        holds=worst < 1 and max(ratios) <= 1 + 1e-12,
        numbers={"worst": worst, "largest": max(ratios), "smallest": min(ratios)},
    )


def one_sided() -> ClaimOutcome:
    """Every arm off the front that a run stored, at small c, came from one of the stated sides."""
    explained, sides = 0, [0, 0]
    runs = hand_made.random_traces(1_000, 300, [0.05, 0.02], 1)
    stored = [
        run for run in runs if run.certificate and run.certificate.arm not in run.geometry.front
    ]
    for run in stored:
        assert run.certificate is not None
        arm, j = run.certificate.arm, run.certificate.objective
        best = pareto.marginal_maximisers(run.means)[:, j] & pareto.front(run.means)
        winner = int(np.flatnonzero(best)[0])
        rounds = run.rounds()
        last = int(np.flatnonzero(rounds.t == run.certificate.t)[0])
        too_high = rounds.L[last, arm, j] > run.means[arm, j]
        too_low = rounds.U[last, winner, j] < run.means[winner, j]
        explained += bool(winner != arm and (too_high or too_low))
        sides[0] += bool(too_high)
        sides[1] += bool(too_low)
    half, whole = (theory.union_bound(20, 2, 10**6) / part for part in (2, 1))
    return ClaimOutcome(
        holds=explained == len(stored) > 10,
        numbers={"stored": len(stored), "sides": sides, "half": half, "whole": whole},
    )


def sharp_constants() -> ClaimOutcome:
    """Rewards on the edges of the intervals bring the two constants of Lemma 10 up to 4 and 2."""
    found: dict[int, float] = {}
    held = True
    for rivals in (1, 2):
        run = hand_made.edge_run(0.3, 10_000, 2.0, rivals=rivals)
        report = audit_all([run])
        held &= report.event.holds and report.ok
        rounds = run.rounds()
        waiting = rounds.noncertifying
        ratio = run.geometry.gaps[rounds.arm] / rounds.beta[np.arange(len(rounds.arm)), rounds.arm]
        for case in (0, 1, 2):
            chosen = ratio[waiting & (rounds.case == case)]
            if chosen.size:
                found[case] = max(found.get(case, 0.0), float(chosen.max()))
    return ClaimOutcome(
        holds=held and 3.98 < found[1] <= 4 and 1.98 < min(found[0], found[2]) <= 2,
        numbers={"four": found[1], "two": [found[0], found[2]]},
    )


def half_the_lead() -> ClaimOutcome:
    """The ratio of the leading terms, arm by arm, and where it is 1."""
    d, front, T = 2, 2, 10**6
    rho = math.log(T * (d * front) ** 0.25) / math.log(T)
    g, error = 0.4, 0.0
    for gap in np.linspace(0.01, 1, 100).tolist():
        ratio = (32 * gap / max(gap, g) ** 2) / (8 * rho / gap)
        error = max(error, abs(ratio / (4 / rho * min(1, gap / g) ** 2) - 1))
    means = np.array([[0.8, 0.3], [0.3, 0.8], [0.25, 0.25]])
    gap = float(pareto.gaps(means).max())
    lead = float(pareto.g_dagger(means))
    found = theory.sharper_bound(means, T).exploration
    found /= theory.pareto_ucb1_bound(means, T).exploration
    error = max(error, abs(found / (4 / rho * min(1, gap / lead) ** 2) - 1))
    return ClaimOutcome(
        holds=error < 1e-9, numbers={"error": error, "edge": math.sqrt(rho) / 2, "rho": rho}
    )


def price_of_a_commitment() -> ClaimOutcome:
    """The fairness regret after a certificate grows by the same amount every round."""
    instance = instances.synthetic(0.02, 8)
    T = 20_000
    last = [10_000, T]
    block = play_block(instance, WidthGuided(c=0.5), T, 1, 0, 20, checkpoints=last)
    worst = instance.means.min(axis=1)
    prices = worst.max() - worst
    growth = (block.checkpoint_pulls @ prices)[:, 1] - (block.checkpoint_pulls @ prices)[:, 0]
    early = (block.cert_round >= 0) & (block.cert_round < last[0])
    expected = (T - last[0]) * prices[block.cert_arm]
    apart = float(np.abs(growth - expected)[early].max())
    return ClaimOutcome(
        holds=bool(early.all()) and apart < 1e-6,
        numbers={"runs": int(early.sum()), "apart": apart},
    )
