"""The ledger's checks of our own claims about Pareto IMED."""

from __future__ import annotations

import numpy as np

from momab import study
from momab.engine.loop import play_block
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.ledger.claims import ClaimOutcome
from momab.model import families, imed, pareto, theory
from momab.model.instances import bernoulli, duplicated_coordinates, synthetic
from momab.model.metrics import weighted_pulls
from momab.model.statistics import mean_interval, rates
from momab.study.standings import most_runs, standings

MAX, SUM = ParetoIMED(), ParetoIMED("sum")


def luck() -> ClaimOutcome:
    """Both sides of the lemma, summed exactly for coins."""
    quotients = [
        imed.luck_of_coins(n, p, share * p) / imed.luck_bound(n, p, share * p)
        for n in (1, 2, 5, 20, 100)
        for p in np.linspace(0.05, 0.95, 10).tolist()
        for share in (0.05, 0.3, 0.6, 0.9, 0.99)
    ]
    return ClaimOutcome(
        holds=max(quotients) <= 1 + 1e-9,
        numbers={"cases": len(quotients), "largest": max(quotients)},
    )


def logarithmic() -> ClaimOutcome:
    """The sign of the evidence, and regrets that grow no faster than the theorem allows."""
    rng = np.random.default_rng(1)
    drawn = [rng.integers(0, 11, (2000, K, d)) / 10 for K, d in ((3, 2), (6, 2), (6, 4))]
    least = min(_least_evidence(means, kind) for means in drawn for kind in ("sum", "max"))
    # two instances that are not settled: a free arm twice, and two of the same price
    shares = []
    for means in ([[0.8, 0.3], [0.8, 0.3], [0.4, 0.2]], [[0.6, 0.4], [0.4, 0.6], [0.3, 0.3]]):
        instance = bernoulli(means)
        gaps = instance.geometry.gaps
        block = play_block(instance, MAX, 100_000, 1, 0, 40, checkpoints=[1_000, 100_000])
        early, late = (block.checkpoint_pulls @ gaps).mean(axis=0)
        D = theory.evidence(instance.means, "max")[:, gaps == 0].min(axis=-1)
        most = float((gaps[gaps > 0] / D[gaps > 0]).sum())
        shares.append(float(late - early) / np.log(100) / most)
    return ClaimOutcome(
        holds=least > 0 and max(shares) < 1.2,
        numbers={"instances": sum(map(len, drawn)), "least": least, "shares": shares},
    )


def _least_evidence(means: np.ndarray, kind: str) -> float:
    """The least evidence of a paid arm against a free one, over a stack of instances."""
    free = pareto.gaps(means) == 0
    D = theory.evidence(means, kind)
    return float(D[~free[:, :, None] & free[:, None, :]].min())


def at_the_limit() -> ClaimOutcome:
    """Settled instances: how much the regret grows per unit of log T, over the price."""
    first, last = 1_000, 100_000
    problems = [
        ("sum", synthetic(0.02, 8), 10),
        ("sum", bernoulli([[0.8, 0.3], [0.35, 0.75], [0.6, 0.2], [0.2, 0.5]]), 40),
        ("max", duplicated_coordinates([0.7, 0.5, 0.3], 3), 40),
        ("sum", bernoulli([[0.8, 0.5], [0.8, 0.3], [0.3, 0.2]]), 40),  # a tie on objective 1
    ]
    slopes = []
    for kind, instance, runs in problems:
        policy = ParetoIMED(kind)
        block = play_block(instance, policy, last, 1, 0, runs, checkpoints=[first, last])
        regret = (block.checkpoint_pulls @ instance.geometry.gaps).mean(axis=0)
        cost = float(theory.price(instance.means, kind).value)
        slopes.append(float((regret[1] - regret[0]) / np.log(last / first) / cost))
    settled = all(imed.is_settled(instance.means, kind) for kind, instance, _ in problems)
    return ClaimOutcome(
        holds=settled and min(slopes) > 0.6 and max(slopes) < 1.4,
        numbers={"first": first, "last": last, "slopes": slopes},
    )


def mean_of_one() -> ClaimOutcome:
    """The price with a mean of 1, and the runs in which a paid arm is still pulled late."""
    means = np.random.default_rng(1).integers(0, 11, (2000, 4, 2)) / 10
    means = means[(means == 1).any(axis=(1, 2)) & (pareto.gaps(means) > 0).any(axis=1)]
    prices = [float(theory.price(means, kind).value.max()) for kind in ("sum", "max")]
    instance = bernoulli([[1.0, 0.2], [0.3, 0.6], [0.2, 0.5]])
    first, last, runs = 1_000, 20_000, 400
    pulls = play_block(instance, MAX, last, 1, 0, runs, checkpoints=[first, last]).checkpoint_pulls
    late = rates(pulls[:, 1, 2] > pulls[:, 0, 2], "late")
    return ClaimOutcome(
        holds=max(prices) == 0 and bool(late["late_high"] < 0.1),
        numbers={"instances": len(means), "last": last, "runs": runs},
    )


def copies() -> ClaimOutcome:
    """An arm that shows zeros is left alone too soon by `sum`, and whole runs are lost."""
    theta, d, T, runs = (0.7, 0.5, 0.5, 0.5, 0.5), 5, 20_000, 200
    unlucky = duplicated_coordinates([0.0, 0.5], d)
    tries = {p.name: play_block(unlucky, p, T, 1, 0, 20).pulls[:, 0].max() for p in (MAX, SUM)}
    instance = duplicated_coordinates(list(theta), d)
    lost = {}
    for policy in (MAX, SUM):
        block = play_block(instance, policy, T, 1, 0, runs)
        regret = weighted_pulls(block.pulls, instance.geometry.gaps)
        lost[policy.name] = rates(regret > 0.1 * T * instance.geometry.max_gap, "lost")
    bad, good = lost[SUM.name], lost[MAX.name]
    return ClaimOutcome(
        holds=bool(tries[SUM.name] < tries[MAX.name] and bad["lost_low"] > good["lost_rate"]),
        numbers={
            "tries": tries[SUM.name],
            "safe_tries": tries[MAX.name],
            "power": imed.copied_exponent(theta, d),
            "runs": runs,
            "lost": bad,
            "safe": good,
        },
    )


def hidden_gap() -> ClaimOutcome:
    """Three arms on which the regret is many times the price at a horizon that one can play."""
    instance, T, runs = families.unseen_gap(), 20_000, 40
    gaps = instance.geometry.gaps
    cost = float(theory.price(instance.means).value) * np.log(T)
    regret = weighted_pulls(play_block(instance, MAX, T, 1, 0, runs).pulls, gaps)
    mean, low, high = mean_interval(regret)
    return ClaimOutcome(
        holds=low > 10 * cost and imed.is_settled(instance.means, "max"),
        numbers={"mean": mean, "low": low, "high": high, "cost": cost, "runs": runs},
    )


def balance() -> ClaimOutcome:
    """The regret on the synthetic family against the one at which all indices balance."""
    T, runs, quotients = 20_000, 10, []
    for delta, m in ((0.12, 1), (0.02, 8)):
        instance = synthetic(delta, m)
        block = play_block(instance, SUM, T, 1, 0, runs)
        regret = weighted_pulls(block.pulls, instance.geometry.gaps).mean()
        quotients.append(float(regret / imed.balanced_regret(instance.means, T)))
    return ClaimOutcome(
        holds=min(quotients) > 0.8 and max(quotients) < 1.3,
        numbers={"quotients": quotients, "horizon": T, "runs": runs},
    )


def recorded_ratios() -> ClaimOutcome:
    """The recorded comparison: is it complete, and how does Pareto IMED compare?"""
    recorded = study.recorded_results("limit")
    short, long = sorted(recorded["horizon"].unique())[-2:]
    tables = {T: standings(recorded, T).set_index("policy") for T in (short, long)}
    ours = tables[short].loc[[MAX.label, SUM.label]]
    full = most_runs(recorded, short).groupby("policy").size()
    return ClaimOutcome(
        holds=bool(full.nunique() == 1 and {MAX.label, SUM.label} <= set(tables[long].index)),
        numbers={
            "short": int(short),
            "policies": len(full),
            "instances": int(full.iloc[0]),
            "safe": ours.loc[MAX.label],
            "sum": ours.loc[SUM.label],
        },
    )
