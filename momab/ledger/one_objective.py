"""The ledger's checks of the chapter on one objective: each recomputes one claim in seconds."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from momab._util.validate import FloatArray
from momab.engine.loop import play_block
from momab.engine.policies.single_ucb1 import SingleUCB1
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.claims import ClaimOutcome
from momab.model import instances, metrics, pareto, theory
from momab.model.statistics import mean_interval
from momab.study import one_objective

DELTA, K, T, RUNS = 0.05, 12, 20_000, 16


def _stacks() -> list[FloatArray]:
    """Random means in stacks: continuous, and on grids of 2, 3 and 5 levels."""
    return [
        instances.random_means(arms, d, seed=31 * arms + d, levels=levels, instances=500)
        for arms, d in ((2, 1), (3, 2), (6, 3), (9, 5))
        for levels in (None, 2, 3, 5)
    ]


def pareto_below_marginal() -> ClaimOutcome:
    """O1: gaps are at most deficits, and so are their sums over any pulls; some are equal."""
    pairs, equal, worst = 0, 0, -math.inf
    paths = True
    rng = np.random.default_rng(2)
    for stack in _stacks():
        excess = pareto.gaps(stack)[..., None] - pareto.objective_deficits(stack)
        pairs, equal = pairs + excess.size, equal + int((excess == 0).sum())
        worst = max(worst, float(excess.max()))
        for means in stack[:50]:
            pulls = rng.integers(0, 1000, len(means))
            regret = float(metrics.pareto_regret(pulls, means))
            marginal = pulls @ pareto.objective_deficits(means)
            paths &= bool((regret <= marginal * (1 + 1e-12)).all())
    return ClaimOutcome(holds=worst <= 0 and paths, numbers={"pairs": pairs, "equal": equal})


def ucb1_on_one_objective() -> ClaimOutcome:
    """O2: the bound against those of policies that look at all objectives, and against runs."""
    every = champion = -math.inf
    for means in (means for stack in _stacks() for means in stack[:60]):
        if not (pareto.gaps(means) > 0).any():
            continue
        bounds = one_objective.ucb1_bounds(means, T)
        every = max(every, float(bounds.max()) / theory.pareto_ucb1_bound(means, T).total)
        leading = 8 * math.log(T) * one_objective.pull_weights(means)[pareto.j_dagger(means)]
        champion = max(champion, float(leading) / theory.deficit_bound(means, T).exploration)
    used = []
    for game in one_objective.three_games(DELTA, K).values():
        for j, bound in enumerate(one_objective.ucb1_bounds(game.means, T)):
            regret = one_objective.regret_paths(game, SingleUCB1(objective=j), [T], RUNS, 1)
            used.append(mean_interval(regret[:, 0])[2] / float(bound))
    return ClaimOutcome(
        holds=every <= 1 + 1e-12 and champion <= 0.25 + 1e-12 and max(used) < 1,
        numbers={"every": every, "champion": champion, "used": max(used)},
    )


def ties_at_the_top() -> ClaimOutcome:
    """O3: tied winners are free, and with a copy of the winner the counts stay below the bound."""
    free, tied = True, 0
    for stack in _stacks():
        best = pareto.marginal_maximisers(stack)
        shared = best & (pareto.objective_gaps(stack) == 0)[..., None, :]
        gaps = np.broadcast_to(pareto.gaps(stack)[..., None], best.shape)
        free &= bool((gaps[best] == 0).all())
        tied += int(shared.sum())
    game = one_objective.three_games(DELTA, K)["doubled winner"]
    deficits = pareto.objective_deficits(game.means)[:, 0]
    pulls = play_block(game, SingleUCB1(), T, 1, 0, RUNS).pulls.mean(axis=0)[deficits > 0]
    limit = 8 * math.log(T) / deficits[deficits > 0] ** 2 + one_objective.RARE
    all_tied = np.array([[0.8, 0.3], [0.8, 0.3], [0.3, 0.8], [0.3, 0.8], [0.7, 0.2]])
    silent = math.isinf(theory.theorem_bound(all_tied, T).exploration)
    bound = float(one_objective.ucb1_bounds(all_tied, T).max())
    return ClaimOutcome(
        holds=free and tied > 0 and silent and bool((pulls < limit).all()) and math.isfinite(bound),
        numbers={"tied": tied, "share": float((pulls / limit).max()), "bound": bound},
    )


def no_objective_is_good() -> ClaimOutcome:
    """O4: at the crowded ends both constants of the proposition, and that they part."""
    good, ratios = True, []
    for delta in (0.12, 0.05, 0.02, 0.01, 0.001):
        means = one_objective.three_games(delta, K)["crowded ends"].means
        gaps = pareto.gaps(means)
        paid = gaps > 0
        good &= bool(np.allclose(gaps[paid], delta) and paid.sum() == K - 3)
        limits = theory.marginal_price(means)
        below = np.isclose(means, 0.8 - delta).sum(axis=0)
        good &= bool((limits >= 0.16 * below / delta).all())
        average = means.mean(axis=1)
        deficits = average.max() - average[paid]
        leading = 8 * float((gaps[paid] / deficits**2).sum())
        good &= leading <= 160 * (K - 3) * delta and average.argmax() == 2
        ratios.append(float(limits.min()) / leading)
    rising = all(a < b for a, b in pairwise(ratios))
    return ClaimOutcome(
        holds=good and rising and ratios[-1] > 100,
        numbers={"first": ratios[0], "last": ratios[-1]},
    )


def _final(game: str) -> dict[str, FloatArray]:
    """Final regret of UCB1 on each objective, of the coin and of Width-guided, run by run."""
    instance = one_objective.three_games(DELTA, K)[game]
    paths = one_objective.each_objective(instance, SingleUCB1, [T], RUNS, 1)
    paths["guided"] = one_objective.regret_paths(instance, WidthGuided(), [T], RUNS, 1)
    return {name: path[:, 0] for name, path in paths.items()}


def price_of_not_knowing() -> ClaimOutcome:
    """O5: the champion below Width-guided below the coin, with intervals that do not meet."""
    spans = {name: mean_interval(regret) for name, regret in _final("clear lead").items()}
    told, guided, coin = (spans[name] for name in ("objective 1", "guided", "by a coin"))
    return ClaimOutcome(
        holds=told[2] < guided[1] and guided[2] < coin[1],
        numbers={"told": told[0], "guided": guided[0], "coin": coin[0]},
    )


def doubled_winner() -> ClaimOutcome:
    """O6: a copy of a free arm multiplies Width-guided's regret and not UCB1's."""
    before, after = _final("clear lead"), _final("doubled winner")
    (_, _, high), (mean, low, _) = (mean_interval(run["guided"]) for run in (before, after))
    one = [mean_interval(run["objective 1"]) for run in (before, after)]
    return ClaimOutcome(
        holds=low > 2 * high and one[1][2] < one[0][1],
        numbers={
            "guided": [float(before["guided"].mean()), mean],
            "single": [one[0][0], one[1][0]],
        },
    )
