"""The ledger's checks of four passages of the paper's text: each recomputes one in seconds."""

from __future__ import annotations

import numpy as np

from momab.auditing.trace import trace
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.claims import ClaimOutcome
from momab.model import instances, pareto, theory


def matching_bounds() -> ClaimOutcome:
    """The bounds match over the class, on the lower bound's family; not on every instance."""
    factors = [
        64 * K / delta / theory.lower_bound(K, delta).exact
        for K in (2, 10, 100)
        for delta in (0.01, 0.1, 0.25)
    ]
    free = np.array([[0.8, 0.25], [0.25, 0.8]])
    lead, largest = float(pareto.g_dagger(free)), float(pareto.gaps(free).max())
    return ClaimOutcome(
        holds=max(factors) <= 64 * 2 * 8 / 3,  # kl is at most 8/3 of the squared gap
        wrong=lead > 0 and largest == 0,
        numbers={
            "lead": lead,
            "largest": largest,
            "bound": theory.theorem_bound(free, 10**6).exploration,
            "factors": (min(factors), max(factors)),
        },
    )


def hardest_objective() -> ClaimOutcome:
    """Pareto UCB1's bound adds up inverse Pareto gaps; the smallest lead does not occur in it."""
    T = 10**6
    ties = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    finite = theory.pareto_ucb1_bound(ties, T).total
    leads = pareto.objective_gaps(ties)
    # both objectives have a lead of 0.4, and a dominated arm is close to the front
    close = np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.09]])
    large = theory.pareto_ucb1_bound(close, T).exploration
    scale = float(np.log(T) / pareto.objective_gaps(close).min())
    return ClaimOutcome(
        holds=bool(np.isfinite(finite)) and large > scale,
        wrong=bool(leads.max() == 0 and np.isfinite(finite)),
        numbers={"leads": leads.max(), "finite": finite, "times": large / scale},
    )


def allocated_exploration() -> ClaimOutcome:
    """The sampled race is the widest; widths depend on counts only and not on any gap."""
    shares = []
    examples = ([[0.6, 0.5], [0.2, 0.48]], [[0.6, 0.5], [0.3, 0.5], *[[0.05, 0.5]] * 6])
    for means in examples:
        instance = instances.bernoulli(means)
        sampled, champion = 0, 0
        for seed in range(8):
            run = trace(instance, WidthGuided(), 20_000, seed)
            rounds = run.rounds()
            waiting = rounds.noncertifying
            sampled += int(waiting.sum())
            champion += int((rounds.objective[waiting] == instance.geometry.j_dagger).sum())
        shares.append(champion / sampled)
    leads = [pareto.objective_gaps(means) for means in examples]
    return ClaimOutcome(
        holds=all(float(lead.max()) > 10 * float(lead.min()) for lead in leads),
        wrong=abs(shares[0] - 0.5) < 0.03 and shares[1] < 0.4,
        numbers={"shares": shares},
    )


def marginal_regret() -> ClaimOutcome:
    """On every instance an arm's Pareto gap is at most its deficit on each objective."""
    worst, tried, inconsistent = -np.inf, 0, 0
    for levels in (None, 2, 3, 5):
        for K, d in ((2, 2), (4, 3), (7, 5)):
            means = instances.random_means(K, d, seed=K + d, levels=levels, instances=300)
            excess = pareto.gaps(means)[..., None] - pareto.objective_deficits(means)
            worst = max(worst, float(excess.max()))
            tried += len(means)
            inconsistent += int((~pareto.is_consistent(means)).sum())
    return ClaimOutcome(
        holds=worst <= 1e-15,
        stronger=inconsistent > 0,
        numbers={"worst": worst, "tried": tried, "inconsistent": inconsistent},
    )
