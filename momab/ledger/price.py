"""The ledger's checks of our claims about the price of an instance."""

from __future__ import annotations

import numpy as np

from momab._util.validate import BoolArray, FloatArray
from momab.engine.policies.kl_ucb import KLUCB
from momab.ledger.claims import ClaimOutcome
from momab.model import instances, pareto, theory
from momab.study import price

_ROUND = 1 + 1e-12


def _stacks() -> list[FloatArray]:
    """Random means in (0, 1) in stacks: continuous, and on grids with ties."""
    return [
        0.02 + 0.96 * instances.random_means(K, d, seed=19 * K + d, levels=levels, instances=900)
        for K, d in ((2, 2), (3, 1), (5, 2), (8, 3))
        for levels in (None, 4, 7)
    ]


def price_theorem() -> ClaimOutcome:
    """Steps 1 and 3 on random instances, the identity of Step 4, and KL-UCB above the price."""
    holds, pairs, ratio = True, 0, np.inf
    for stack in _stacks():
        gaps, D = pareto.gaps(stack), theory.evidence(stack)
        wanted = (gaps > 0)[..., :, None] & (gaps == 0)[..., None, :]
        holds &= bool((D[wanted] > 0).all())
        pairs += int(wanted.sum())
        found, scalar = theory.price(stack).value, theory.marginal_price(stack).min(axis=-1)
        holds &= bool((found <= scalar * _ROUND).all())
        ratio = min(ratio, float((scalar[found > 0] / found[found > 0]).min()))
        for means, n, b, a in zip(stack[::90], *_some_pairs(wanted[::90])):
            raised = price.raised_arm(means, b, a, 0.01)
            holds &= n == 0 or pareto.gaps(raised)[a] >= 0.01 * (1 - 1e-9)
    apart = _identity_gap()
    numbers = {"pairs": pairs, "ratio": ratio, "apart": apart}
    return ClaimOutcome(bool(holds) and apart < 4 and ratio >= 1 / _ROUND, numbers)


def _some_pairs(wanted: BoolArray) -> tuple[list[int], list[int], list[int]]:
    """For every instance how many pairs (paid, free) it has, and the last of them."""
    found = [np.argwhere(each) for each in wanted]
    last = [pairs[-1] if len(pairs) else (0, 0) for pairs in found]
    return [len(pairs) for pairs in found], [int(b) for b, _ in last], [int(a) for _, a in last]


def _identity_gap() -> float:
    """By how many standard errors counting and reweighting differ, at most."""
    means = np.array([[0.8, 0.3], [0.3, 0.8], [0.7, 0.15]])
    other = price.raised_arm(means, 2, 0)
    frame = price.reweighted_chances(means, other, 2, KLUCB(), 60, 2_000, seed=7)
    columns = frame.to_dict("list")
    error = {
        side: (np.array(columns[f"{side}_high"]) - columns[f"{side}_low"]) / 3.92
        for side in ("counted", "reweighted")
    }
    apart = np.abs(np.array(columns["counted"]) - columns["reweighted"])
    return float((apart / np.hypot(error["counted"], error["reweighted"])).max())


def price_special_cases() -> ClaimOutcome:
    """One objective is Lai and Robbins, copies are Proposition 3 with its exact constant."""
    worst = 0.0
    for seed in range(200):
        # on a grid, because the plain formula of kl loses digits where two means are close
        theta = 0.05 + 0.9 * instances.random_means(5, 1, seed=seed, levels=9)
        best = float(theta.max())
        lai = sum(
            (best - x) / theory.bernoulli_kl(x, best) for x in theta[:, 0].tolist() if x < best
        )
        copies = theory.price(np.repeat(theta, 3, axis=1), kind="max").value
        for found in (theory.price(theta).value, copies):
            worst = max(worst, abs(float(found) - lai) / max(lai, 1.0))
    joint = 0.0
    for delta in (0.05, 0.1, 0.2, 0.25):
        rows, target = [[0.0] * 3, [1.0] * 3], [0.5 + delta] * 3
        exact = theory.lower_bound(4, delta)
        means = [[0.5 + delta] * 3, *[[0.5] * 3] * 3]
        worst = max(worst, abs(float(theory.price(means, kind="max").value) / exact.exact - 1))
        joint = max(joint, abs(theory.kinf(rows, target) / exact.kl - 1))
    return ClaimOutcome(worst < 1e-12 and joint < 1e-9, {"worst": worst, "joint": joint})


def price_upper_bounds() -> ClaimOutcome:
    """The price, KL-UCB's constant, the deficits and the leads, in this order."""
    holds, count, largest = True, 0, 0.0
    for stack in _stacks():
        found = theory.price(stack).value[..., None]
        scalar, bounds = theory.marginal_price(stack), theory.price_bounds(stack)
        holds &= bool((found <= scalar * _ROUND).all())
        holds &= bool((scalar <= bounds.by_deficit * _ROUND).all())
        holds &= bool((bounds.by_deficit <= bounds.by_lead * _ROUND).all())
        lead = pareto.g_dagger(stack)
        share = found[..., 0] * 2 * lead / (stack.shape[-2] - 1)
        largest = max(largest, float(share.max()))
        count += len(stack)
    return ClaimOutcome(bool(holds) and largest <= 1, {"count": count, "largest": largest})


def lead_is_not_the_price() -> ClaimOutcome:
    """The lead vanishes and the price does not grow; the lead is large and the price is zero."""
    leads = (0.1, 0.01, 0.001, 0.0001)
    near = [np.array([[0.7, 0.7 - x], [0.7 - x, 0.7], [0.4, 0.4]]) for x in leads]
    found = [float(theory.price(means).value) for means in near]
    shrinks = all(
        abs(float(pareto.g_dagger(means)) - x) < 1e-12 for means, x in zip(near, leads, strict=True)
    )
    specialists = np.array([[0.8, 0.25], [0.25, 0.8]])
    lead, zero = float(pareto.g_dagger(specialists)), float(theory.price(specialists).value)
    holds = shrinks and max(found) < 1 and lead > 0.5 and zero == 0
    return ClaimOutcome(holds, {"found": found, "lead": lead, "zero": zero})


def agreement_costs() -> ClaimOutcome:
    """Evidence under all joint laws against the correlation, the sum and the ceiling."""
    holds, strict, beyond = True, np.inf, 0.0
    for p, m in ((0.5, 0.6), (0.5, 0.9), (0.3, 0.55), (0.1, 0.8), (0.4, 0.45)):
        rhos = np.linspace(price.least_correlation(p), 1, 21)
        found = price.by_correlation(p, m, rhos)
        one = float(theory.kl_plus(p, m))
        independent = float(price.by_correlation(p, m, np.zeros(1))[0])
        holds &= bool((np.diff(found) <= 1e-10).all() and (np.diff(found, 2) >= -1e-10).all())
        holds &= bool((found >= one - 1e-10).all())
        holds &= bool((found <= np.log((1 - p) / (1 - m)) + 1e-10).all())
        strict = min(strict, 2 * one - independent)
        beyond = max(beyond, float(found[0] / (2 * one)))
    pair = float(price.by_correlation(0.5, 0.6, np.zeros(1))[0])
    double = 2 * float(theory.kl_plus(0.5, 0.6))
    numbers = {"pair": pair, "double": double, "beyond": beyond}
    return ClaimOutcome(bool(holds) and strict > 0 and beyond > 1, numbers)
