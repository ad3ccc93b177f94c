"""The ledger's checks of our claims about certificates and small coefficients."""

from __future__ import annotations

import math

import numpy as np

from momab.engine.loop import play_block
from momab.engine.policies.anytime import AnytimeWidthGuided
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.claims import ClaimOutcome
from momab.model import instances, metrics, pareto, theory, two_arms
from momab.model.numerics import log


def kl_certificates() -> ClaimOutcome:
    """In the same run a kl certificate comes no later than Hoeffding's."""
    T, late, tried = 3_000, 0, 0
    for seed in range(40):
        K, d = 2 + seed % 5, 1 + seed % 4
        means = instances.random_means(K, d, seed=seed, levels=(None, 5)[seed % 2])
        instance = instances.bernoulli(means * (1.0, 0.2)[seed // 2 % 2])
        c = (2.0, 0.5, 0.1)[seed % 3]
        hoeffding, kl = _rounds(instance, c, T, runs=10)
        late += int((kl > hoeffding).sum())
        tried += len(kl)
    factors = []
    for low in (0.02, 0.5):
        means = low + np.array([[0.15, 0.0], [0.0, 0.13], [0.02, 0.02]])
        hoeffding, kl = _rounds(instances.bernoulli(means), 2.0, 100_000, runs=10)
        factors.append(float(np.median(hoeffding) / np.median(kl)))
    return ClaimOutcome(
        holds=late == 0 and min(factors) >= 1,
        numbers={"tried": tried, "late": late, "factors": factors},
    )


def _rounds(
    instance: instances.Instance, c: float, T: int, runs: int
) -> tuple[np.ndarray, np.ndarray]:
    """The rounds of both certificates in the same runs; the horizon where there is none."""
    found = []
    for kind in ("hoeffding", "kl"):
        block = play_block(instance, WidthGuided(c=c, certificate=kind), T, 1, 0, runs)
        found.append(np.where(block.cert_round >= 0, block.cert_round, T))
    return found[0], found[1]


def quarter_is_enough() -> ClaimOutcome:
    """The exact cost of paired races, and runs of Algorithm 1, stay below the bound at c = 1/4."""
    shares = []
    for gap in (0.1, 0.3):
        for T in (55, 10**3, 10**6):
            race = two_arms.paired_race(0.5 + gap, 0.5, T, 0.25)
            cost = gap * (race.pairs + T * race.wrong)
            shares.append(cost / two_arms.two_arm_bound(gap, T))
    instance = instances.bernoulli([[0.6], [0.5]])
    block = play_block(instance, WidthGuided(c=0.25), 20_000, 1, 0, 400)
    mean = float(metrics.pareto_regret(block.pulls, instance.means).mean())
    constant = max(two_arms.wrong_bound(1.0, T, 0.25) * T for T in (55, 56, 100, 10**9))
    return ClaimOutcome(
        holds=max(shares) < 1 and mean < two_arms.two_arm_bound(0.1, 20_000) and constant < 2.05,
        numbers={
            "share": max(shares),
            "mean": mean,
            "bound": two_arms.two_arm_bound(0.1, 20_000),
            "constant": constant,
        },
    )


def less_is_not() -> ClaimOutcome:
    """The exact slope of wrong certificates is c kappa, and kappa falls to 4 with the gap."""
    errors = []
    for gap, c in ((0.2, 1 / 4), (0.2, 1 / 8), (0.1, 1 / 8), (0.1, 1 / 16)):
        wrong = [two_arms.paired_race(0.5 + gap, 0.5, 10**k, c).wrong for k in (6, 12)]
        slope = math.log(wrong[0] / wrong[1]) / math.log(10**6)
        errors.append(abs(slope / (c * two_arms.wrong_exponent(0.5 + gap, 0.5)) - 1))
    kappas = [two_arms.wrong_exponent(0.5 + gap, 0.5) for gap in (0.2, 0.05, 1e-3, 1e-5)]
    return ClaimOutcome(
        holds=max(errors) < 0.05 and min(kappas) > 4 and kappas[-1] < 4.02,
        numbers={"error": max(errors), "kappas": kappas},
    )


def exact_ties() -> ClaimOutcome:
    """No two Bernoulli arms with up to 60 samples have bounds that meet, unless they are equal."""
    nearest, twins = math.inf, math.inf
    pairs = [(n, s) for n in range(1, 61) for s in range(n + 1)]
    n, s = np.array(pairs).T
    for T, c in ((10**4, 2.0), (10**5, 0.02)):
        radius = np.sqrt(c * log(T) / n)
        upper, lower = s / n + radius, s / n - radius
        nearest = min(nearest, float(np.abs(upper[:, None] - lower).min()))
        apart = np.abs(upper[:, None] - upper) + np.where(n[:, None] == n, np.inf, 0.0)
        twins = min(twins, float(apart.min()))
    return ClaimOutcome(
        holds=nearest > 1e-12 and twins > 1e-12,
        numbers={"nearest": nearest, "twins": twins, "states": len(pairs)},
    )


def half_is_enough() -> ClaimOutcome:
    """The peeling bound is above the exact probability, and T times it vanishes for c > 1/2."""
    T = 2_000
    ratios = [
        theory.crossing_probability(p, T, T, c) / theory.peeling_bound(2, 1, T, c) * 2
        for p in (0.5, 0.1)
        for c in (0.6, 1.0)
    ]
    tails = [10.0**k * theory.peeling_bound(2, 1, 10**k, 0.6) for k in (20, 40, 80)]
    return ClaimOutcome(
        holds=max(ratios) <= 1 and tails[0] > tails[1] > tails[2] and tails[2] < 1e-6,
        numbers={"largest": max(ratios), "tail": tails[2]},
    )


def without_a_horizon() -> ClaimOutcome:
    """The anytime version's regret is below its bound, and its price is a factor below 2."""
    instance = instances.synthetic(0.02, 8)
    geometry, ratios, shares = pareto.geometry(instance.means), [], []
    for T in (10**4, 10**5):
        means = []
        for policy in (WidthGuided(), AnytimeWidthGuided()):
            block = play_block(instance, policy, T, 1, 0, 20)
            means.append(float(metrics.pareto_regret(block.pulls, instance.means).mean()))
        ratios.append(means[1] / means[0])
        bound = 128 * geometry.K * math.log(T) / geometry.g_dagger
        shares.append(means[1] / bound)
    return ClaimOutcome(
        holds=max(shares) < 1,
        numbers={"ratios": ratios, "share": max(shares)},
    )
