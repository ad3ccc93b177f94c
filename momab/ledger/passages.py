"""The ledger's checks of passages of the paper's text: each recomputes one in seconds."""

from __future__ import annotations

import numpy as np

from momab.engine.loop import play_block
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.auditing import audit_all
from momab.ledger.auditing.hand_made import play_sequences
from momab.ledger.auditing.trace import trace
from momab.ledger.claims import ClaimOutcome
from momab.model import instances, metrics, pareto, theory


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


def no_dimension() -> ClaimOutcome:
    """Another objective never raises a gap nor lowers the lead; d stays in the vanishing term."""
    gaps = leads = 0
    tried = 0
    for levels in (None, 3, 5):
        for K, d in ((3, 2), (6, 4), (10, 8)):
            means = instances.random_means(K, d, seed=7 * K + d, levels=levels, instances=400)
            fewer = means[..., :-1]
            gaps += int((pareto.gaps(means) > pareto.gaps(fewer)).sum())
            leads += int((pareto.g_dagger(means) < pareto.g_dagger(fewer)).sum())
            tried += len(means)
    bound = theory.theorem_bound(np.repeat([[0.7], [0.5]], 1000, axis=1), 10**4)
    share = bound.tail / bound.exploration
    return ClaimOutcome(
        holds=gaps == 0 and leads == 0,
        caveat=0 < share < 1e-3,
        numbers={"tried": tried, "share": share},
    )


def more_objectives() -> ClaimOutcome:
    """An objective that reverses the order frees every arm: gaps, regret and bound fall to zero."""
    one = np.array([[0.8], [0.6], [0.5]])
    two = np.hstack([one, 1 - one])
    T = 10**6
    bounds = [theory.pareto_ucb1_bound(means, T).exploration for means in (one, two)]
    runs = []
    for means in (one, two):
        instance = instances.bernoulli(means)
        block = play_block(instance, ParetoUCB1(), 5_000, 1, 0, 10)
        runs.append(float(metrics.pareto_regret(block.pulls, instance.means).mean()))
    copies = [theory.pareto_ucb1_bound(np.repeat(one, d, axis=1), T).exploration for d in (1, 26)]
    return ClaimOutcome(
        holds=copies[1] > copies[0],  # at fixed gaps the bound does grow, like log d
        wrong=bounds[1] < bounds[0] and runs[1] < runs[0],
        numbers={"bounds": bounds, "runs": runs, "growth": copies[1] / copies[0] - 1},
    )


def separation() -> ClaimOutcome:
    """A path on the event with a certificate whose radii are far above the true lead."""
    means, T, c = np.array([[0.55], [0.45]]), 10_000, 2.0
    lucky = np.repeat([[[1.0]], [[0.0]]], 200, axis=1)
    path = play_sequences(lucky, means, T, c)
    held = audit_all([path]).event.holds
    assert path.certificate is not None
    radius = float(path.rounds().beta[-1].max())
    lead = float(path.geometry.g_dagger)
    ordinary = [trace(instances.bernoulli([[0.8], [0.4]]), WidthGuided(), T, s) for s in range(40)]
    usual = [float(run.rounds().beta[-1].max()) for run in ordinary if run.certificate]
    return ClaimOutcome(
        holds=len(usual) == len(ordinary) and max(usual) < 0.4,
        wrong=held and radius > lead,
        numbers={"radius": radius, "lead": lead, "usual": max(usual), "runs": len(usual)},
    )
